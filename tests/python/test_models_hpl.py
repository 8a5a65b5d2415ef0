"""HPL's model against every published run, with parameters per bitstream only, and its behaviour."""

import dataclasses
import re
import statistics

import numpy as np
import pytest
import samples
from conftest import REPOSITORY
from fabricmark import calibration
from fabricmark.models import Board, _grid, hpl
from hypothesis import given
from hypothesis import strategies as st
from published_hpl import CYGNUS, CYGNUS_HZ, DESIGNS, point, runs

RUNS = {name: [point(figure) for figure in figures] for name, figures in runs().items()}
MEDIAN_BAR = 0.06
LEFT_OUT_BAR = 1.3
CPU = {"variant": "throughput", "size": 4096, "block_size": 256, "data_type": "double", "replications": 1}
CPU |= {"transport": "host", "grid_rows": 0}
STEPS = hpl.Steps(lu=3.0, panel=4.0, multiply=2.0, exchange=0.5, latency=1.0)


def errors(design, points):
    """|modelled / measured - 1| of each run."""
    return [abs(hpl.design_flops_per_second(size, grid, design) / rate - 1) for size, grid, rate in points]


def test_median_error_over_all_published_runs():
    found = [error for name, points in RUNS.items() for error in errors(DESIGNS[name], points)]
    assert len(found) == 77
    assert statistics.median(found) <= MEDIAN_BAR
    assert np.quantile(found, 0.9) <= 0.06  # 5.0 % when this was written
    assert max(found) <= 0.10


@pytest.mark.parametrize("name", DESIGNS)
def test_each_bitstream(name):
    assert statistics.median(errors(DESIGNS[name], RUNS[name])) <= 0.04


@pytest.mark.parametrize("name", DESIGNS)
def test_the_three_figures_are_those_of_the_fit(name):
    found = hpl.fit_design(DESIGNS[name], RUNS[name])
    assert found.multiply_efficiency == pytest.approx(DESIGNS[name].multiply_efficiency, rel=0.01)
    known = DESIGNS[name].exchange_bytes_per_second
    assert found.exchange_bytes_per_second == pytest.approx(known, rel=0.03)
    assert found.latency_seconds == pytest.approx(DESIGNS[name].latency_seconds, rel=0.05, abs=1e-6)


CHANGES = {
    "kernel clock": {"kernel_hz": 200e6},
    "replications": {"replications": 4},
    "efficiency": {"multiply_efficiency": 0.6},
    "register block": {"register_block": 7},
    "exchange": {"exchange_bytes_per_second": 1.2e9},
    "latency": {"latency_seconds": 4e-3},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_comparison_notices_a_wrong_figure(change):
    wrong = dataclasses.replace(DESIGNS["520N IEC"], **change)
    found = errors(wrong, RUNS["520N IEC"])
    assert statistics.median(found) > MEDIAN_BAR or max(found) > 0.10


def test_the_comparison_notices_phases_that_do_not_overlap():
    design = DESIGNS["520N IEC"]
    found = []
    for size, grid, rate in RUNS["520N IEC"]:
        made = hpl.phases(size // design.block_size, grid, design.steps())
        found.append(abs(hpl.lu_flops(size) / made.seconds(overlap=False) / rate - 1))
    assert statistics.median(found) > MEDIAN_BAR


def left_out(points, kind):
    """(runs to fit to, runs to predict)."""
    sizes = sorted({size for size, grid, _ in points if grid == (1, 1)})
    if kind == "sizes":
        away = [point for point in points if point[1] == (1, 1) and sizes.index(point[0]) % 2]
    else:
        away = [point for point in points if point[1] != (1, 1)]
    return [point for point in points if point not in away], away


@pytest.mark.parametrize("kind", ["sizes", "devices"])
def test_runs_that_are_left_out_are_predicted(kind):
    """Every second matrix size of single devices, or all runs on several devices."""
    predicted = 0
    for name, points in RUNS.items():
        known, away = left_out(points, kind)
        fitted = hpl.fit_design(DESIGNS[name], known)
        for size, grid, rate in away:
            ratio = hpl.design_flops_per_second(size, grid, fitted) / rate
            assert 1 / LEFT_OUT_BAR < ratio < LEFT_OUT_BAR
            predicted += 1
        if away:
            assert statistics.median(errors(fitted, away)) <= MEDIAN_BAR * LEFT_OUT_BAR
    assert predicted == {"sizes": 33, "devices": 8}[kind]


@pytest.mark.parametrize("width, size, tera", CYGNUS, ids=lambda value: str(value))
def test_another_system_with_the_same_sources(width, size, tera):
    design = dataclasses.replace(DESIGNS["520N IEC"], kernel_hz=CYGNUS_HZ)
    found = hpl.design_flops_per_second(size, (width, width), design)
    assert found == pytest.approx(tera * 1e12, rel=0.10)


def test_no_fit_of_three_figures_to_two_runs():
    with pytest.raises(ValueError, match="three runs"):
        hpl.fit_design(DESIGNS["520N IEC"], RUNS["520N IEC"][:2])


def test_operations():
    assert hpl.lu_flops(30) == pytest.approx(18000)
    assert hpl.hpl_flops(30) == pytest.approx(18000 + 1350)


def test_two_blocks_by_hand():
    """LU, left and top of the first iteration, one multiplication, then LU of the last block."""
    found = hpl.phases(2, (1, 1), STEPS)
    assert found.communication.tolist() == [1 + 3 + 4 + 2 * 0.5, 1 + 3]
    assert (found.first.tolist(), found.rest.tolist()) == ([2, 0], [0, 0])
    assert found.seconds() == pytest.approx(9 + 2 + 4)
    assert hpl.phases(1, (1, 1), STEPS).seconds() == pytest.approx(4)


def test_the_first_row_and_column_is_not_overlapped():
    found = hpl.phases(4, (1, 1), dataclasses.replace(STEPS, multipliers=2))
    assert found.first.tolist() == [3 * 2, 2 * 2, 1 * 2, 0]  # 5, 3 and 1 blocks on two multipliers
    assert found.rest.tolist() == [2 * 2, 1 * 2, 0, 0]
    communication = found.communication
    expected = communication[0] + 6 + max(4, communication[1]) + 4 + max(2, communication[2]) + 2
    assert found.seconds() == pytest.approx(expected + communication[3])


def test_the_grid_deals_out_blocks():
    one, six = hpl.phases(7, (1, 1), STEPS), hpl.phases(7, (2, 3), STEPS)
    assert one.rest[0] + one.first[0] == 36 * 2
    assert six.rest[0] + six.first[0] == 3 * 2 * 2
    assert six.panels[0] == 3 + 3 * 4  # three rows of left blocks, two columns of top ones at the same time
    assert six.exchange[0] == pytest.approx(5 * 0.5)


@pytest.mark.parametrize("ranks, shape", [(1, (1, 1)), (2, (1, 2)), (6, (2, 3)), (7, (1, 7)), (16, (4, 4))])
def test_grids_are_as_square_as_they_get(ranks, shape):
    assert _grid.shape(ranks) == shape
    assert _grid.shape(ranks, ranks) == (ranks, 1)
    with pytest.raises(ValueError, match="do not fill a grid of 5 rows"):
        _grid.shape(ranks, 5)


@given(
    st.integers(1, 60), st.integers(1, 5), st.integers(1, 5), st.integers(1, 6),
    st.lists(st.floats(1e-6, 1.0), min_size=5, max_size=5),
)  # fmt: skip
def test_overlap_never_hurts_and_never_hides_more_than_one_phase(blocks, rows, columns, multipliers, times):
    found = hpl.phases(blocks, (rows, columns), hpl.Steps(*times, multipliers=multipliers))
    alone = found.seconds(overlap=False)
    update, communication = np.sum(found.first + found.rest), np.sum(found.communication)
    assert max(update, communication) * (1 - 1e-9) <= found.seconds() <= alone * (1 + 1e-9)
    assert alone == pytest.approx(update + communication)


def fpga(name, banks):
    """A board of which the model knows only what is on its data sheet."""
    return Board(name, "fpga", banks, 19.2e9, DESIGNS[name].kernel_hz)


def parameters(name, size=24576):
    design = DESIGNS[name]
    fixed = {"variant": "base", "data_type": "float", "transport": "host", "grid_rows": 0, "size": size}
    fixed |= {name: getattr(design, name) for name in ("block_size", "register_block", "replications")}
    return fixed


def by_operation(predictions):
    return {entry.axes["operation"]: entry for entry in predictions}


@pytest.mark.parametrize("name, banks", [("520N IEC", 4), ("520N PCIe", 1), ("U280 PCIe", 1)])
def test_a_board_that_nobody_measured_is_predicted_within_half_as_much_again(name, banks):
    """Only the 520N's IEC version spreads its matrix over all banks."""
    measured = next(rate for size, grid, rate in RUNS[name] if (size, grid) == (24576, (1, 1)))
    found = by_operation(hpl.predict(parameters(name), fpga(name, banks), 1))["lu"]
    assert 1 <= found.value * 1e9 / measured < 1.5
    design = DESIGNS[name]
    assert found.limit == pytest.approx(design.replications * 1024 * design.kernel_hz / 1e9)
    assert found.bottleneck == "kernel width x frequency"
    assert by_operation(hpl.predict(parameters(name, 1024), fpga(name, banks), 1))["lu"].bottleneck == (
        "LU, left and top kernels"
    )
    slow = dataclasses.replace(fpga(name, 1), bank_bytes_per_second=1e9)
    assert by_operation(hpl.predict(parameters(name), slow, 1))["lu"].bottleneck == "memory bandwidth"


def test_processors():
    board = calibration.board(samples.calibration())
    found = by_operation(hpl.predict(CPU, board, 2))
    assert set(found) == {"lu", "lu+solve", "solve", "host_to_device", "device_to_host"}
    matrix = 4096**2 * 8
    assert found["solve"].value == pytest.approx(matrix / 22e9 + matrix / 50e9)
    assert found["lu"].limit == pytest.approx(100)
    assert 50 < found["lu"].value < 100
    assert found["lu"].bottleneck == "peak FLOP/s"
    assert found["lu+solve"].value < found["lu"].value  # the solve counts few operations and takes its time
    whole = by_operation(hpl.predict({**CPU, "size": 2**15}, board, 2))["lu"]
    assert whole.value > found["lu"].value
    tiny = {**CPU, "size": 64, "block_size": 4}
    assert by_operation(hpl.predict(tiny, board, 1))["lu"].bottleneck == "launch latency"
    assert by_operation(hpl.predict({**CPU, "data_type": "float"}, board, 1))["lu"].limit == pytest.approx(
        200
    )


def test_the_exchange_costs_time():
    board = calibration.board(samples.calibration())
    host = by_operation(hpl.predict(CPU, board, 2))["lu"].value
    straight = by_operation(hpl.predict({**CPU, "transport": "cpu"}, board, 2))["lu"].value
    assert host < straight
    slow = dataclasses.replace(board, host_to_device_bytes_per_second=1e7)
    assert by_operation(hpl.predict(CPU, slow, 2))["lu"].bottleneck == "exchange"
    assert by_operation(hpl.predict(CPU, slow, 1))["lu"].value > host  # one rank exchanges nothing


def test_overlap_counts_where_the_link_is_no_core():
    device = {**samples.DEVICE, "class": "gpu"}
    gpu = dataclasses.replace(calibration.board(samples.calibration(device)), devices=4)
    cpu = dataclasses.replace(gpu, device_class="cpu", cores=2, core_bytes_per_second=30e9)
    large = {**CPU, "size": 2**15}
    assert (
        by_operation(hpl.predict(large, gpu, 4))["lu"].value
        > by_operation(hpl.predict(large, cpu, 4))["lu"].value
    )


def test_without_lookahead_nothing_overlaps():
    device = {**samples.DEVICE, "class": "gpu"}
    gpu = dataclasses.replace(calibration.board(samples.calibration(device)), devices=4)
    plain, strict = (
        by_operation(hpl.predict({**CPU, "size": 2**15, "lookahead": lookahead}, gpu, 4))["lu"].value
        for lookahead in (True, False)
    )
    assert plain > strict


def test_nothing_is_made_up():
    board = calibration.board(samples.calibration())
    apart = dataclasses.replace(board, hosts=2, devices=2)
    found = by_operation(hpl.predict(CPU, apart, 2))
    assert (found["lu"].value, found["lu"].limit) == (None, pytest.approx(200))
    assert "messages" in found["lu"].explanation
    gpu = calibration.board(samples.calibration({**samples.DEVICE, "class": "gpu"}))
    one_work_item = by_operation(hpl.predict({**CPU, "variant": "base"}, gpu, 1))["lu"]
    assert one_work_item.value is None and "one work-item" in one_work_item.explanation
    for name in ("size", "block_size", "data_type"):
        with pytest.raises(KeyError, match=name):
            hpl.predict({key: value for key, value in CPU.items() if key != name}, board, 1)
    with pytest.raises(KeyError, match="half"):
        hpl.predict({**CPU, "data_type": "half"}, board, 1)
    with pytest.raises(ValueError, match="kernel_hz"):
        hpl.predict(parameters("U280 PCIe"), dataclasses.replace(fpga("U280 PCIe", 1), kernel_hz=None), 1)
    with pytest.raises(ValueError, match="do not fill"):
        hpl.predict({**CPU, "grid_rows": 3}, board, 4)


def test_the_picture_in_the_docs_is_of_this_model(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "tools"))
    import hpl_model

    drawn = hpl_model.svg()
    assert drawn == hpl_model.svg()
    assert numbers(hpl_model.PICTURE.read_text()) == pytest.approx(numbers(drawn.decode()), abs=1e-3), (
        "draw it again: .venv/bin/python tools/hpl_model.py"
    )


def numbers(svg):
    """Every coordinate of a picture, however matplotlib wrote it."""
    return [float(word) for word in re.findall(r"-?\d+\.\d+", svg)]
