"""GEMM's model: equation 3.2 against every published board, and limits of processors."""

import dataclasses

import numpy as np
import pytest
import samples
from fabricmark.models import MissingValue, gemm
from fabricmark.systems import calibration
from published_gemm import PAC_RUN, RUNS

CLAIM = 0.018  # section 3.2.4: "not more than 1.8 %"
CPU = {"variant": "throughput", "size": 2048, "data_type": "float", "replications": 1}


def predicted(run, changes=None):
    return gemm.predict(run.parameters(), run.board.having(changes or {}), 1)[0]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.table}-{run.board.name}")
def test_published_runs_deviate_no_more_than_the_source_says(run):
    assert abs(run.gflop_per_s / predicted(run).value - 1) <= CLAIM


def test_shared_memory_over_pci_express_is_as_much_slower_as_the_source_says():
    assert 1 - PAC_RUN.gflop_per_s / predicted(PAC_RUN).value == pytest.approx(0.23, abs=0.01)


@pytest.mark.parametrize("change", [{"clock": 170e6}, {"memory.clock": 60e6}], ids=["kernel", "memory"])
def test_the_comparison_notices_a_wrong_clock(change):
    assert abs(RUNS[0].gflop_per_s / predicted(RUNS[0], change).value - 1) > CLAIM


@pytest.mark.parametrize("run", [*(run for run in RUNS if run.norm), PAC_RUN], ids=lambda run: run.board.name)
def test_normalised_figures_of_table_3_6(run):
    found = gemm.normalised(run.gflop_per_s, run.replications, run.board.get("clock"))
    assert found == pytest.approx(run.norm, abs=0.011)


def test_no_prediction_exceeds_its_limit_of_1024_operations_a_cycle():
    for run in [*RUNS, PAC_RUN]:
        found = predicted(run)
        assert found.limit == pytest.approx(run.replications * 1024 * run.board.get("clock") / 1e9)
        assert found.value < found.limit


def test_bottlenecks():
    assert predicted(RUNS[0]).bottleneck == "kernel width x frequency"
    assert predicted(RUNS[0], {"memory.clock": 5e6}).bottleneck == "memory bandwidth"


def test_a_matrix_that_blocks_do_not_fill_pays_for_whole_blocks():
    run = RUNS[0]
    whole = predicted(run).value
    odd = gemm.predict({**run.parameters(), "size": 4096 - 511}, run.board, 1)[0].value
    assert odd < 0.75 * whole


def dealt(size, replications, **more):
    """Of the first run's design, with the rows of blocks dealt whole."""
    known = {**RUNS[0].parameters(), gemm.EVEN_PARTS: False, "size": size, "replications": replications}
    return gemm.predict({**known, **more}, RUNS[0].board, 1)[0].value


def test_replications_wait_for_the_one_with_most_rows_of_blocks():
    block = RUNS[0].of_bitstream["block_size"]
    assert dealt(10 * block, 5) == pytest.approx(dealt(10 * block, 5, even_parts=True))
    assert dealt(8 * block, 5) == pytest.approx(dealt(8 * block, 4), rel=1e-3)  # one has none
    assert dealt(8 * block, 5) == pytest.approx(1.6 / 2 * dealt(8 * block, 5, even_parts=True), rel=1e-3)
    assert dealt(3 * block, 7) == pytest.approx(dealt(3 * block, 3), rel=0.02)  # but for their starts


def test_a_sweep_deals_each_of_its_points():
    points = {"size": np.array([4096.0, 5120.0]), "replications": np.array([5.0, 7.0])}
    known = {**RUNS[0].parameters(), gemm.EVEN_PARTS: False}
    found = gemm.headline({**known, **points}, RUNS[0].board, 1)
    assert found == pytest.approx([dealt(4096, 5), dealt(5120, 7)])


def test_published_rates_leave_no_replication_with_whole_rows_more_than_its_share():
    """Of 8 rows over 5 at 4096: two of them would take longer than at the published rate."""
    run = RUNS[0]
    assert run.gflop_per_s > 1.2 * dealt(run.size, run.replications)


def test_ranks_of_one_board_share_it_and_boards_add_up():
    run = RUNS[0]
    four = dataclasses.replace(run.board, devices=4)
    assert gemm.predict(run.parameters(), four, 4)[0].value == pytest.approx(4 * predicted(run).value)


def test_processors():
    board = calibration.board(samples.calibration())
    found = gemm.predict(CPU, board, 1)[0]
    assert found.limit == pytest.approx(200)
    assert found.value == pytest.approx(200, rel=0.01)
    assert found.bottleneck == "peak FLOP/s"
    double = gemm.predict({**CPU, "data_type": "double"}, board, 1)[0]
    assert double.limit == pytest.approx(100)
    assert gemm.predict({**CPU, "data_type": "mixed"}, board, 1)[0].limit == pytest.approx(200)
    assert gemm.predict({**CPU, "size": 16}, board, 1)[0].bottleneck == "launch latency"
    one_core = gemm.predict({**CPU, "variant": "base"}, board, 1)[0]
    assert (one_core.limit, one_core.value) == (pytest.approx(200), pytest.approx(100, rel=0.01))
    assert gemm.predict({**CPU, "variant": "base"}, board, 2)[0].value == pytest.approx(200, rel=0.01)


def test_what_was_not_calibrated_is_named():
    board = calibration.board(samples.calibration())
    with pytest.raises(MissingValue, match=r"board\.arithmetic\.half"):
        gemm.predict({**CPU, "data_type": "half"}, board, 1)
    halves = board.having({"arithmetic.half": 30e9})
    assert gemm.predict({**CPU, "data_type": "half"}, halves, 1)[0].limit == pytest.approx(200)
    with pytest.raises(MissingValue, match="data_type"):
        gemm.predict({**CPU, "data_type": "int"}, board, 1)
    with pytest.raises(MissingValue, match=r"bitstream\.clock"):
        predicted(RUNS[0], {"clock": None})


def test_one_work_item_of_a_graphics_processor_has_a_limit_but_no_model():
    board = calibration.board(samples.calibration({**samples.DEVICE, "class": "gpu"}))
    base = gemm.predict({**CPU, "variant": "base"}, board, 1)[0]
    assert base.value is None and base.limit == pytest.approx(200)
    assert gemm.predict(CPU, board, 1)[0].value == pytest.approx(200, rel=0.01)
