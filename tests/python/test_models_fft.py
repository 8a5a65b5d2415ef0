"""FFT's model: equation 3.1 against every published board, and limits of processors."""

import dataclasses

import pytest
import samples
from fabricmark.models import Board, MissingValue, fft
from fabricmark.systems import calibration
from published_fft import RUNS

CLAIM = 0.85  # section 3.2.3: "a high efficiency of more than 85% for all FPGA"
CPU = {
    "variant": "throughput",
    "scope": "batched",
    "data_type": "float",
    "log_size": 10,
    "batch": 2**14,
    "replications": 1,
}


def by_name(predictions, operation="forward"):
    return {entry.name: entry for entry in predictions if entry.axes["operation"] == operation}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.board.name)
def test_published_runs_are_as_efficient_as_the_source_says(run):
    found = by_name(fft.predict(run.parameters(), run.board, 1))
    assert CLAIM < run.gflop_per_s / found["performance"].value < 1
    assert CLAIM < run.gb_per_s / found["bandwidth"].value < 1


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.board.name)
def test_the_claim_fails_for_a_bank_that_is_a_fifth_faster(run):
    board = run.board.having({"memory.bank_bandwidth": 1.2 * run.board["memory.bank_bandwidth"]})
    if board["memory.bank_bandwidth"] / (8 * 8) < board.get("clock"):  # eight values of 8 bytes
        found = by_name(fft.predict(run.parameters(), board, 1))["performance"]
        assert run.gflop_per_s / found.value < CLAIM


def test_equation():
    """5 s f r 8: two pipelines at 300 MHz, as 19.2 GB/s deliver eight values, too."""
    board = Board("board", "fpga").having(
        {"memory.banks": 4, "memory.bank_bandwidth": 19.2e9, "clock": 300e6}
    )
    run = {"scope": "batched", "data_type": "float", "log_size": 17, "batch": 64, "replications": 2}
    assert by_name(fft.predict(run, board, 1))["performance"].value == pytest.approx(408)
    assert fft.flops(3) == 120


def test_the_lower_clock_counts_and_is_named():
    bottlenecks = [by_name(fft.predict(r.parameters(), r.board, 1))["performance"].bottleneck for r in RUNS]
    memory = "memory bandwidth"
    assert bottlenecks == [memory, memory, memory, "kernel width x frequency", memory]


def test_no_prediction_exceeds_its_limit():
    for run in RUNS:
        for entry in fft.predict(run.parameters(), run.board, 1):
            assert entry.value <= entry.limit * (1 + 1e-12)


def test_more_replications_than_pairs_of_banks_bring_nothing():
    run = RUNS[0]
    more = {**run.parameters(), "replications": 4}
    board = run.board.having({"host.launch_latency": 0.0})
    values = [fft.predict(p, board, 1)[0].value for p in (run.parameters(), more)]
    assert values[0] == pytest.approx(values[1])


def test_processors():
    board = calibration.board(samples.calibration())
    found = by_name(fft.predict(CPU, board, 1))
    assert found["bandwidth"].limit == pytest.approx(32)  # 100 GFLOP/s over 5 x 10 / 16 operations a byte
    assert found["performance"].limit == pytest.approx(100)
    assert found["performance"].bottleneck == "peak FLOP/s"
    short = by_name(fft.predict({**CPU, "log_size": 3, "batch": 2**21}, board, 1))
    assert short["bandwidth"].limit == pytest.approx(50)
    assert short["bandwidth"].bottleneck == "memory bandwidth"
    assert set(found) == set(by_name(fft.predict(CPU, board, 1), "inverse"))


def test_stages_go_over_the_memory_each():
    board = calibration.board(samples.calibration())
    stages = {**CPU, "form": "stages", "log_size": 10, "batch": 2**16}
    found = by_name(fft.predict(stages, board, 1))["bandwidth"]
    assert found.value == pytest.approx(50 / 4, rel=0.01)  # radix 8, 8, 8 and 2, of former results
    whole = by_name(fft.predict({**stages, "radix_points": 1024}, board, 1))["bandwidth"]
    assert whole.value == pytest.approx(32, rel=0.01)  # one pass: the arithmetic is slower
    assert (found.limit, found.bottleneck) == (pytest.approx(32), "memory bandwidth")
    base = by_name(fft.predict({**stages, "variant": "base"}, board, 1))["bandwidth"]
    assert base.bottleneck == "peak FLOP/s"


def test_one_vector_over_the_ranks_goes_over_the_memory_several_times():
    board = calibration.board(samples.calibration())
    vector = {**CPU, "scope": "distributed", "log_size": 22}
    whole = by_name(fft.predict(vector, board, 2))["performance"]
    assert whole.value == pytest.approx(50 * 5 * 22 / (5 * 16), rel=0.01)  # 5 x 16 bytes a value
    assert (whole.limit, whole.bottleneck) == (pytest.approx(100), "memory bandwidth")
    apart = dataclasses.replace(board, devices=2, hosts=2)
    assert by_name(fft.predict(vector, apart, 2))["performance"].value is None


def test_missing_parameters_and_clock_are_named():
    run = RUNS[0]
    with pytest.raises(MissingValue, match="data_type"):
        fft.predict({**run.parameters(), "data_type": "half"}, run.board, 1)
    with pytest.raises(MissingValue, match=r"bitstream\.clock"):
        fft.predict(run.parameters(), run.board.having({"clock": None}), 1)
