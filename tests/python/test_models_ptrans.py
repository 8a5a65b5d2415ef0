"""PTRANS' model against every published run, its equations, and what it says of processors."""

import dataclasses

import numpy as np
import pytest
import samples
from fabricmark import calibration
from fabricmark.models import Board, ptrans
from published_b_eff import curves
from published_hpl import DESIGNS as HPL_DESIGNS
from published_ptrans import DESIGNS, EXACT, bitstream, figures, part_bytes

CLAIM = 0.055  # largest error; the copies of two boards in one node make most of it
CPU = {"variant": "throughput", "size": 4096, "block_size": 256, "data_type": "double", "replications": 1}
CPU |= {"transport": "host", "grid_rows": 0}


def modelled(figure, **changes):
    """What the model says of a published time [s]."""
    design = dataclasses.replace(DESIGNS[bitstream(figure)], **changes)
    part = part_bytes(figure)
    parts = {
        "calc_time": ptrans.calculation_seconds(part, design),
        "transfer_time": ptrans.transfer_seconds(part, design),
    }
    return parts.get(figure.metric, sum(parts.values()))


def errors(metric, **changes):
    """|modelled / measured - 1| of the runs that are a test."""
    tested = [figure for figure in figures() if bitstream(figure) != EXACT and figure.metric == metric]
    return [abs(modelled(figure, **changes) / figure.value - 1) for figure in tested]


@pytest.mark.parametrize("metric", ["total_time", "transfer_time", "calc_time"])
def test_published_times(metric):
    found = errors(metric)
    assert len(found) == 10
    assert max(found) <= CLAIM
    assert np.median(found) <= 0.03


def test_calculation_alone_is_closer():
    assert max(errors("calc_time")) <= 0.035


CHANGES = {
    "exchange": ("calc_time", {"exchange_bytes_per_second": 10e9}),
    "memory": ("calc_time", {"memory_bytes_per_second": 19.2e9}),
    "clock": ("calc_time", {"kernel_hz": 30e6}),
    "copies": ("transfer_time", {"copy_bytes_per_second": 2.5e9}),
    "one of them for all": ("total_time", {"over_channels": False}),
}


@pytest.mark.parametrize("metric, change", CHANGES.values(), ids=CHANGES)
def test_the_comparison_notices_a_wrong_figure(metric, change):
    assert max(errors(metric, **change)) > CLAIM


def test_the_published_bandwidth_follows_from_the_times():
    """Table 4.8: 293.45 GB/s on 16 boards over direct channels: bytes of one matrix over calc_time."""
    figure = next(f for f in figures() if (f.devices, f.metric, f.scaling) == (16, "calc_time", ""))
    assert 4 * figure.matrix_width**2 / figure.value / 1e9 == pytest.approx(293.45, rel=1e-3)


def test_the_exchange_over_the_host_is_that_of_other_benchmarks():
    (curve,) = [one for one in curves("host") if (one.system, one.devices) == ("noctua1", 1)]
    each_way = curve.rates[-1] / 2
    ours = DESIGNS["520N PCIe"].exchange_bytes_per_second
    assert ours == pytest.approx(each_way, rel=0.03)
    assert ours == pytest.approx(HPL_DESIGNS["520N PCIe"].exchange_bytes_per_second, rel=0.03)


def test_direct_channels_carry_92_percent_of_their_peak():
    design = DESIGNS["520N IEC"]
    peak = ptrans.channels_bytes_per_second(1, design.replications)
    assert peak == pytest.approx(20e9)
    assert ptrans.channels_bytes_per_second(16, 4) == pytest.approx(320e9)
    assert design.exchange_bytes_per_second / peak == pytest.approx(0.92, abs=0.005)


def test_equations():
    # 512 x 512 floats, 16 a cycle at 380 MHz: 3 x 16384 cycles after the exchange.
    assert ptrans.block_seconds(1e-3, 512, 16, 380e6) == pytest.approx(1e-3 + 3 * 16384 / 380e6)
    # Four channels of 32 B at 156.25 MHz want 60 GB/s of the memory.
    assert ptrans.needed_bytes_per_second(4, 32, 156.25e6) == pytest.approx(60e9)


def test_a_faster_clock_is_never_slower():
    fast, slow = (ptrans.block_seconds(0.0, 512, 16, clock) for clock in (400e6, 200e6))
    assert fast == pytest.approx(slow / 2)  # eq. 4.5 as printed would be twice as long


def sent_by_counting(rows, columns, blocks):
    """The definition, block by block."""
    owned, sent = {}, {}
    for i in range(blocks):
        for j in range(blocks):
            rank, other = (i % rows, j % columns), (j % rows, i % columns)
            owned[rank] = owned.get(rank, 0) + 1
            sent[rank] = sent.get(rank, 0) + (rank != other)
    return max(sent[rank] / owned[rank] for rank in owned)


@pytest.mark.parametrize("grid", [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (1, 4), (4, 4), (2, 4)])
def test_what_a_rank_sends(grid):
    assert max(ptrans.shares_sent(grid)) == pytest.approx(sent_by_counting(*grid, 24))


def test_what_a_rank_sends_along_diagonals():
    diagonal = {"distribution": "diagonal", "size": 1024, "block_size": 128}
    assert ptrans.sent(diagonal, 5).tolist() == [7 / 8] * 4 + [0.0]
    assert ptrans.sent({**diagonal, "distribution": "pq"}, 1).tolist() == [0.0]


def test_kernel_or_memory():
    design = DESIGNS["U280 PCIe"]
    part = 30720**2 * 4
    blocks = (30720 // 256) ** 2 // 2
    of_blocks = blocks * ptrans.block_seconds(0, 256, 16, 283e6)
    assert ptrans.kernel_seconds(part, dataclasses.replace(design, memory_bytes_per_second=1e12)) == (
        pytest.approx(of_blocks)
    )
    slow = dataclasses.replace(design, memory_bytes_per_second=10e9)
    assert ptrans.kernel_seconds(part, slow) == pytest.approx(3 * part / 10e9)


def predicted(parameters, board, ranks):
    """The GB/s of each operation."""
    found = ptrans.predict(parameters, board, ranks)
    return {entry.axes["operation"]: entry for entry in found if entry.name == "bandwidth"}


def transposition(parameters, board, ranks):
    return predicted(parameters, board, ranks)["transpose"]


def test_processors():
    board = calibration.board(samples.calibration())
    one = transposition(CPU, board, 1)
    assert one.limit == pytest.approx(50 / 3)  # A, B and C go through a memory of 50 GB/s
    assert one.value == pytest.approx(one.limit, rel=0.01)
    assert one.bottleneck == "memory bandwidth"
    two = transposition(CPU, board, 2)
    assert two.value < one.value and two.bottleneck == "exchange"
    straight = transposition({**CPU, "transport": "cpu"}, board, 2)
    assert two.value < straight.value < one.value
    assert transposition({**CPU, "size": 64}, board, 1).bottleneck == "launch latency"
    assert transposition({**CPU, "grid_rows": 2}, board, 4).value < transposition(CPU, board, 1).value


def test_the_parts_of_a_run_and_its_additions():
    board = calibration.board(samples.calibration())
    assert set(predicted(CPU, board, 1)) == {"transpose", "kernels", "host_to_device", "device_to_host"}
    found = predicted(CPU, board, 4)
    matrix, once = 4096**2 * 8 / 1e9, found["transpose"].value
    times = [3 * matrix / found["kernels"].value, matrix / 2 / found["exchange"].value]
    assert matrix / once == pytest.approx(sum(times))  # half of the ranks of 2 x 2 keep what they have
    assert found["kernels"].value == pytest.approx(50, rel=0.01)
    flops = next(entry for entry in ptrans.predict(CPU, board, 4) if entry.unit == "GFLOP/s")
    assert flops.value == pytest.approx(once / 8)
    straight = predicted({**CPU, "transport": "cpu"}, board, 1)
    assert straight["transpose"].value < transposition(CPU, board, 1).value  # A is written to the device
    device = {**samples.DEVICE, "class": "gpu"}
    gpu = dataclasses.replace(calibration.board(samples.calibration(device)), devices=4)
    found = predicted(CPU, gpu, 4)
    assert found["transpose"].value == pytest.approx(2 * found["exchange"].value)  # the additions are hidden


def test_boards():
    design = DESIGNS["520N PCIe"]
    board = Board("520N", "fpga", 4, 19.2e9, design.kernel_hz)
    parameters = {**CPU, "variant": "base", "data_type": "float", "size": 32768, "channel_width": 16}
    parameters |= {"replications": 4, "block_size": 512}
    found = transposition(parameters, board, 1)
    expected = 32768**2 * 4 / ptrans.kernel_seconds(32768**2 * 4, design) / 1e9
    assert found.value == pytest.approx(expected)
    assert found.bottleneck == "memory bandwidth"
    assert found.value <= found.limit * (1 + 1e-9)
    slow = dataclasses.replace(board, kernel_hz=100e6)
    assert transposition(parameters, slow, 1).bottleneck == "kernel width x frequency"
    with pytest.raises(ValueError, match="kernel_hz"):
        ptrans.predict(parameters, dataclasses.replace(board, kernel_hz=None), 1)


def test_nothing_is_made_up():
    board = calibration.board(samples.calibration())
    apart = transposition(CPU, dataclasses.replace(board, hosts=2, devices=2), 2)
    assert apart.value is None and "messages" in apart.explanation
    assert apart.limit is not None
    gpu = calibration.board(samples.calibration({**samples.DEVICE, "class": "gpu"}))
    alone = transposition({**CPU, "variant": "base"}, gpu, 1)
    assert alone.value is None and "one work-item" in alone.explanation
    for name in ("size", "data_type", "replications"):
        with pytest.raises(KeyError, match=name):
            ptrans.predict({key: value for key, value in CPU.items() if key != name}, board, 1)
    with pytest.raises(ValueError, match="do not fill"):
        ptrans.predict({**CPU, "grid_rows": 3}, board, 4)
