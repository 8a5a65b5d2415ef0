"""RandomAccess's model against what the source says and measured, and limits of processors."""

import dataclasses

import pytest
import samples
from fabricmark.models import Board, MissingValue, random_access
from fabricmark.systems import calibration
from published_random_access import RUNS, SCALED

SINGLE, MANY, BUFFERED_MANY, BUFFERED = RUNS
PLAIN = Board("plain", "fpga").having({"memory.banks": 4, "memory.bank_bandwidth": 19.2e9, "clock": 100e6})
CPU = {"variant": "throughput", "scope": "star", "log_size": 27, "replications": 1}


def predicted(run, ranks=1, devices=1, **changes):
    board = dataclasses.replace(run.board, devices=devices)
    return random_access.predict({**run.parameters(), **changes}, board, ranks)[0]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.board.name)
def test_published_runs_within_ten_percent(run):
    assert abs(predicted(run).value * 1e3 / run.muop_per_s - 1) < 0.10


def test_another_design_of_the_u280_checks_what_was_inferred():
    """Published as 0.04 GUOP/s."""
    assert round(predicted(SCALED).value, 2) == SCALED.muop_per_s / 1e3


def test_the_comparison_notices_a_wrong_latency():
    for change in ({"memory.update_latency": 0.0}, {"memory.burst_latency": 0.0}):
        wrong = dataclasses.replace(BUFFERED_MANY, board=BUFFERED_MANY.board.having(change))
        assert abs(predicted(wrong).value * 1e3 / wrong.muop_per_s - 1) > 0.10


def test_one_generator_never_gives_more_than_one_update_a_cycle():
    """Section 3.2.2, and 4.1.4: "even when scaled over multiple FPGAs"."""
    for replications in (4, 8, 32):
        many = MANY.board.having({"memory.banks": replications})
        found = random_access.predict({**MANY.parameters(), "replications": replications}, many, 1)[0]
        assert found.value < found.limit == pytest.approx(0.47778)
    scaled = [predicted(MANY, ranks, ranks, scope="global").value for ranks in (1, 2, 16)]
    assert scaled == sorted(scaled)
    assert scaled[-1] < 0.47778 < 1.02 * scaled[-1]


def test_the_gap_to_the_peak_is_larger_with_few_replications():
    """Section 3.2.2."""
    gaps = [1 - predicted(run).value / predicted(run).limit for run in (SINGLE, MANY)]
    published = [1 - r.muop_per_s / 1e3 / predicted(r).limit for r in (SINGLE, MANY)]
    assert gaps[0] > 5 * gaps[1]
    assert published[0] > 5 * published[1]


def test_enough_generators_reach_two_cycles_an_update():
    """Section 4.2.4: 50 million a second for a bank at 100 MHz, on any number of boards."""
    for ranks in (1, 16):
        board = dataclasses.replace(PLAIN, devices=ranks)
        parameters = {**MANY.parameters(), "replications": 4, "log_rngs": 7, "scope": "global"}
        found = random_access.predict(parameters, board, ranks)[0]
        assert found.value == found.limit == pytest.approx(0.05 * 4 * ranks)
        assert found.bottleneck == "random updates"


def test_two_pipelines_and_the_latency_of_the_memory_cost_more():
    """Section 4.2.4: the U280 stays further below the peak."""
    single = {**MANY.parameters(), "replications": 4, "log_rngs": 7}
    buffered = {**single, "buffer_size": 1024}
    slow = PLAIN.having({"memory.burst_latency": 1e-6})
    values = [random_access.predict(p, b, 1)[0].value for p, b in ((single, PLAIN), (buffered, slow))]
    assert values[1] < values[0]


def test_more_generators_help_and_are_the_bottleneck_before():
    found = [predicted(MANY, log_rngs=count) for count in (0, 2, 5)]
    assert found[0].value < found[1].value < found[2].value
    assert found[0].bottleneck == "generation of numbers"


def test_rate_between_calibrated_sizes():
    known = ((2.0**20, 8e8), (2.0**24, 2e8))
    rate = random_access.calibrated_rate
    assert rate(2**20, known) == pytest.approx(8e8)
    assert rate(2**22, known) == pytest.approx(4e8)
    assert rate(2**10, known) == pytest.approx(8e8)
    assert rate(2**30, known) == pytest.approx(2e8)
    assert rate(2**30, known[:1]) == pytest.approx(8e8)
    assert rate(2**30, ()) is None


def test_processors():
    board = calibration.board(samples.calibration())
    found = random_access.predict(CPU, board, 1)[0]
    assert found.limit == pytest.approx(0.1)
    assert found.value == pytest.approx(0.1, rel=0.01)
    small = random_access.predict({**CPU, "log_size": 14}, board, 1)[0]
    assert small.limit == pytest.approx(0.8)
    base = random_access.predict({**CPU, "variant": "base"}, board, 1)[0]
    assert base.value == pytest.approx(0.05, rel=0.01)
    assert base.bottleneck == "random updates"


def test_without_a_calibrated_rate_only_transfers_are_predicted():
    board = dataclasses.replace(calibration.board(samples.calibration()), updates_per_second=())
    assert {entry.name for entry in random_access.predict(CPU, board, 1)} == {"bandwidth"}


def test_a_network_between_hosts_is_not_predicted():
    board = dataclasses.replace(calibration.board(samples.calibration()), hosts=2, devices=2)
    assert random_access.predict({**CPU, "scope": "global"}, board, 2)[0].value is None
    with pytest.raises(MissingValue, match=r"bitstream\.clock"):
        random_access.predict(MANY.parameters(), PLAIN.having({"clock": None}), 1)
