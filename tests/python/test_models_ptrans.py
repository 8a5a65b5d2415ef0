"""PTRANS' model against every published run, its equations, and what it says of processors."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
import samples
from fabricmark import models
from fabricmark.models import Board, MissingValue, ptrans
from fabricmark.models.ptrans import distribution
from fabricmark.systems import calibration
from published_ptrans import described, modelled, predictions, rows

CLAIM = 0.09  # largest error, of the one run on the HACC; nothing of PTRANS was fitted to it
CPU = {"variant": "throughput", "size": 4096, "block_size": 256, "data_type": "double", "replications": 1}
CPU |= {"transport": "host", "grid_rows": 0}


def errors(metric, transport=None, **changes):
    """|modelled / measured - 1| of the runs."""
    chosen = [one for one in rows() if one.metric == metric and transport in (None, one.transport)]
    return [abs(modelled(row, **changes) / row.value - 1) for row in chosen]


@pytest.mark.parametrize("metric", ["total_time", "transfer_time", "calc_time"])
def test_published_times(metric):
    found = errors(metric)
    assert len(found) == 11
    assert max(found) <= CLAIM
    assert np.median(found) <= 0.05


CHANGES = {
    "channels": ("calc_time", "channels", {"network": {"links.clock": 100e6}}),
    "efficiency": ("calc_time", "channels", {"bitstream": {"fitted.channel_efficiency": 0.8}}),
    "memory": ("calc_time", "channels", {"board": {"memory.bank_bandwidth": 10e9}}),
    "kernel clock": ("calc_time", "channels", {"board": {"clock": 100e6}}),
    "order": ("calc_time", "host", {"network": {"ordering_bandwidth": 3e9}}),
    "kernel": ("calc_time", "host", {"board": {"clock": 30e6}}),
    "copies": ("transfer_time", "host", {"board": {"host.write_bandwidth": 3e9}}),
    "staging": ("transfer_time", "channels", {"board": {"host.array_staging_bandwidth": 20e9}}),
}


@pytest.mark.parametrize("metric, transport, change", CHANGES.values(), ids=CHANGES)
def test_the_comparison_notices_a_wrong_figure(metric, transport, change):
    assert max(errors(metric, transport, **change)) > CLAIM


def test_the_published_bandwidth_follows_from_the_times():
    """Table 4.8: 293.45 GB/s on 16 boards over direct channels: bytes of one matrix over calc_time."""
    row = next(f for f in rows() if (f.devices, f.metric, f.scaling) == (16, "calc_time", ""))
    assert 4 * row.matrix_width**2 / row.value / 1e9 == pytest.approx(293.45, rel=1e-3)
    found = next(one for one in predictions(row) if one.axes == {"operation": "transpose"})
    assert found.value == pytest.approx(293.45, rel=0.02)
    assert found.value <= found.limit == pytest.approx(320)  # i r 32 B 156.25 MHz
    assert sum(found.phases.values()) > 4 * row.matrix_width**2 / found.value / 1e9  # they overlap


@pytest.mark.parametrize("width, share", [(1, 1 / 8), (4, 1 / 2), (8, 1), (16, 1), (32, 1)])
def test_narrow_words_leave_a_part_of_each_cycle_of_a_channel_empty(width, share):
    board, network, bitstream = described("noctua1", "channels")
    parameters = {**bitstream.parameters, "channel_width": width}
    found = ptrans.channels_bytes_per_second(parameters, board, network)
    assert found == pytest.approx(share * 4 * 32 * 156.25e6)


def test_packets_hold_words_of_any_width_without_gaps():
    board, network, bitstream = described("noctua1", "channels")
    packed = network.having({"links.width": None, "links.bandwidth": 5e9})
    parameters = {**bitstream.parameters, "channel_width": 4}
    found = ptrans.channels_bytes_per_second(parameters, board, packed)
    assert found == pytest.approx(4 * min(5e9, 16 * board["clock"]))


def test_more_channels_than_the_memory_can_feed():
    """Four channels of 100 Gb/s want more than the memory has (eq. 4.6)."""
    row = next(f for f in rows() if (f.devices, f.metric, f.transport) == (1, "calc_time", "channels"))
    fast = {"network": {"links.clock": 390.625e6}, "board": {"clock": 500e6}}
    found = next(one for one in predictions(row, **fast) if one.axes == {"operation": "transpose"})
    assert found.bottleneck == "memory bandwidth"
    assert found.limit == pytest.approx(4 * 19.2 / 3)
    kernel = {**fast, "board": {"clock": 100e6}}
    found = next(one for one in predictions(row, **kernel) if one.axes == {"operation": "transpose"})
    assert found.limit == pytest.approx(4 * 32 * 0.1)


def test_equations():
    # 512 x 512 floats, 16 a cycle at 380 MHz: 3 x 16384 cycles after the exchange.
    block = {"data_type": "float", "block_size": 512, "channel_width": 16, "replications": 1}
    board = Board("board", "fpga").having({"memory.banks": 1, "memory.bank_bandwidth": 1e12, "clock": 380e6})
    found = ptrans.kernel_of(4 * 512**2, block, board)
    assert found.seconds == pytest.approx(3 * 16384 / 380e6)
    slow = board.having({"clock": 190e6})
    # Eq. 4.5 as printed would be half as long.
    assert ptrans.kernel_of(4 * 512**2, block, slow).seconds == pytest.approx(2 * found.seconds)


def sent_by_counting(rows, columns, blocks):
    """The definition, block by block: the most to all others, and to one of them."""
    owned, sent = Counter(), Counter()
    for i in range(blocks):
        for j in range(blocks):
            rank, other = (i % rows, j % columns), (j % rows, i % columns)
            owned[rank] += 1
            sent[rank, other] += rank != other
    to_all = max(sum(count for (own, _), count in sent.items() if own == rank) for rank in owned)
    return to_all / owned[0, 0], max(sent.values()) / owned[0, 0]


@pytest.mark.parametrize("grid", [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (1, 4), (4, 4), (2, 4)])
def test_what_a_rank_sends(grid):
    to_all, to_one = sent_by_counting(*grid, 24)
    assert max(ptrans.shares_sent(grid)) == pytest.approx(to_all)
    parameters, ranks = {"grid_rows": grid[0]}, grid[0] * grid[1]
    assert distribution.most_to_one(parameters, ranks) == pytest.approx(to_one)
    assert distribution.most_to_one(parameters, np.array([[ranks]])) == pytest.approx(np.array([[to_one]]))


def test_what_a_rank_sends_along_diagonals():
    diagonal = {"distribution": "diagonal", "size": 1024, "block_size": 128}
    assert ptrans.sent(diagonal, 5).tolist() == [7 / 8] * 4 + [0.0]
    assert ptrans.sent({**diagonal, "distribution": "pq"}, 1).tolist() == [0.0]


def test_kernel_or_memory():
    board, _, bitstream = described("hacc", "host")
    part = 30720**2 * 4
    blocks = (30720 // 256) ** 2 // 2
    of_blocks = blocks * 3 * 256**2 / 16 / 283e6
    wide = board.having({"memory.bank_bandwidth": 1e12})
    assert ptrans.kernel_of(part, bitstream.parameters, wide).seconds == pytest.approx(of_blocks)
    slow = board.having({"memory.bank_bandwidth": 5e9})
    assert ptrans.kernel_of(part, bitstream.parameters, slow).seconds == pytest.approx(3 * part / 10e9)


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
    known, _, bitstream = described("noctua1", "host")
    board = Board("520N", "fpga").having(
        {"memory.banks": 4, "memory.bank_bandwidth": 19.2e9, "clock": known["clock"]}
    )
    parameters = {**CPU, "variant": "base", **bitstream.parameters, "size": 32768}
    found = transposition(parameters, board, 1)
    expected = 32768**2 * 4 / ptrans.kernel_of(32768**2 * 4, parameters, board).seconds / 1e9
    assert found.value == pytest.approx(expected)
    assert found.bottleneck == "memory bandwidth"
    assert found.value <= found.limit * (1 + 1e-9)
    slow = board.having({"clock": 100e6})
    assert transposition(parameters, slow, 1).bottleneck == "kernel width x frequency"
    with pytest.raises(MissingValue, match=r"bitstream\.clock"):
        ptrans.predict(parameters, board.having({"clock": None}), 1)


def test_nothing_is_made_up():
    board = calibration.board(samples.calibration())
    apart = transposition(CPU, dataclasses.replace(board, hosts=2, devices=2), 2)
    assert apart.value is None and "messages" in apart.explanation
    assert apart.limit is not None
    gpu = calibration.board(samples.calibration({**samples.DEVICE, "class": "gpu"}))
    alone = transposition({**CPU, "variant": "base"}, gpu, 1)
    assert alone.value is None and "one work-item" in alone.explanation
    for name in ("size", "data_type", "replications"):
        with pytest.raises(MissingValue, match=name):
            models.predict(ptrans, {key: value for key, value in CPU.items() if key != name}, board, 1)
    with pytest.raises(ValueError, match="do not fill"):
        ptrans.predict({**CPU, "grid_rows": 3}, board, 4)
