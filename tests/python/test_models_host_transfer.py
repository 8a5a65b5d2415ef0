"""The model of transfers: latency and rate, one way and both, and what a transfer waits for."""

import dataclasses
import itertools

import numpy as np
import pytest
import samples
from fabricmark import models, results
from fabricmark.models import host_transfer
from fabricmark.systems import calibration

MIB = 2**20
LINK = {"link_gb_per_s": 32.0}
NO_LINK = {"link_gb_per_s": 0.0}


def board(device_class="cpu", changes=None, **used):
    """Without measured limits: those that follow from the rates."""
    device = {**samples.DEVICE, "class": device_class}
    return dataclasses.replace(calibration.board(samples.calibration(device)), limits=None, **used).having(
        changes or {}
    )


def axes(direction="to_device", method="queued", memory="page-aligned", size=64 * MIB, buffers=1):
    return {
        "direction": direction,
        "method": method,
        "memory": memory,
        "bytes": size,
        "buffers": buffers,
    }


def gb_per_s(place, parameters=NO_LINK, one=None, ranks=1):
    return host_transfer.prediction(place, parameters, one or board(), ranks).value


def test_queued_copies_pay_one_latency_and_blocking_ones_one_each():
    size, latency, rate = 4 * MIB, 2e-5, 20e9
    for method, times in (("queued", 1), ("blocking", 16)):
        expected = size / (times * latency + size / rate) / 1e9
        assert gb_per_s(axes(method=method, size=size, buffers=16)) == pytest.approx(expected)
    assert gb_per_s(axes(method="blocking", buffers=1)) == gb_per_s(axes(method="queued", buffers=1))
    gpu = board("gpu")  # its driver handles one pageable buffer after the other
    staged = [gb_per_s(axes(method=method, buffers=16), LINK, gpu) for method in ("queued", "blocking")]
    assert staged[0] == staged[1]
    pinned = [
        gb_per_s(axes(method=method, memory="pinned", buffers=16), LINK, gpu)
        for method in ("queued", "blocking")
    ]
    assert pinned[0] > pinned[1]


def test_both_directions_share_a_memory_but_not_a_link():
    still = {"host.launch_latency": 0.0}
    both = gb_per_s(axes("both"), NO_LINK, board(changes=still))
    assert both == pytest.approx(25)  # 50 GB/s, read and written
    gpu = board("gpu", still)
    assert gb_per_s(axes("both", memory="pinned"), NO_LINK, gpu) == pytest.approx(40)  # the slower way is 20
    assert gb_per_s(axes("both", memory="pinned"), LINK, gpu) == pytest.approx(64)
    fpga = board("fpga", still)
    assert gb_per_s(axes("both"), LINK, fpga) == pytest.approx(40)
    # A driver copies one way after the other: half at 20 GB/s, half at 22 GB/s.
    for one, memory in ((gpu, "page-aligned"), (gpu, "pageable"), (fpga, "pageable")):
        assert gb_per_s(axes("both", memory=memory), LINK, one) == pytest.approx(2 / (1 / 20 + 1 / 22))
    assert host_transfer.prediction(axes("both"), LINK, gpu, 1).limit == 64


def test_limits():
    def limit(place, parameters, one):
        return host_transfer.prediction(place, parameters, one, 1).limit

    assert limit(axes(), NO_LINK, board()) == 25
    assert limit(axes("both"), NO_LINK, board()) == 25
    assert limit(axes(), NO_LINK, board("gpu")) == 25
    assert limit(axes(), LINK, board("gpu")) == 32
    assert limit(axes(), LINK, board("gpu", devices=2)) == 64
    assert limit(axes(), {"link_gb_per_s": 10.0}, board()) == 10
    assert limit(axes(), LINK, board()) == 25  # a copy in memory, whatever was given


def test_pinned_memory_goes_at_the_rate_of_the_link():
    gpu = board("gpu", {"host.launch_latency": 0.0})
    for method in ("map", "migrate", "sub-buffer"):
        assert gb_per_s(axes(method=method), LINK, gpu) == pytest.approx(32)
        assert gb_per_s(axes(method=method, memory="pageable"), LINK, gpu) == pytest.approx(32)
    assert gb_per_s(axes(memory="pinned"), LINK, gpu) == pytest.approx(32)
    assert gb_per_s(axes(memory="pageable"), LINK, gpu) == pytest.approx(20)
    assert gb_per_s(axes(memory="pageable"), {"link_gb_per_s": 8.0}, gpu) == pytest.approx(8)


@pytest.mark.parametrize(
    "place, parameters, one, word",
    [
        (axes(), NO_LINK, board(), "memory bandwidth"),
        (axes(), {"link_gb_per_s": 1.0}, board(), "link bandwidth"),
        (axes(), NO_LINK, board(changes={"host.launch_latency": 1.0}), "transfer latency"),
        (axes(size=4096), NO_LINK, board(), "transfer latency"),
        (axes(memory="pinned"), LINK, board("gpu"), "link bandwidth"),
        (axes(), LINK, board("gpu"), "link bandwidth"),
        (axes(), {"link_gb_per_s": 64.0}, board("gpu"), "memory bandwidth"),  # staged at 20 of 64 GB/s
        (axes("both"), {"link_gb_per_s": 64.0}, board("gpu"), "memory bandwidth"),
        (axes(), NO_LINK, board("gpu"), "link bandwidth"),
        (axes(memory="pinned"), LINK, board("gpu", {"host.launch_latency": 1.0}), "transfer latency"),
    ],
)
def test_changing_one_limit_flips_the_bottleneck(place, parameters, one, word):
    assert host_transfer.prediction(place, parameters, one, 1).bottleneck == word


def test_ranks():
    still = {"host.launch_latency": 0.0}
    two = gb_per_s(axes(), NO_LINK, board(changes=still), 2)
    assert two == pytest.approx(25)  # 2 x 20, but the memory ends it
    assert gb_per_s(axes(memory="pinned"), LINK, board("gpu", still), 4) == pytest.approx(32)  # one link
    two = board("gpu", still, devices=2)
    assert gb_per_s(axes(memory="pinned"), LINK, two, 2) == pytest.approx(64)


def test_a_board_that_was_not_calibrated_has_its_link():
    unknown = board("fpga", {"host.write_bandwidth": None, "host.read_bandwidth": None})
    unknown = unknown.having({"host.launch_latency": 0.0})
    assert gb_per_s(axes("both"), LINK, unknown) == pytest.approx(64)
    nothing = host_transfer.prediction(axes("both"), NO_LINK, unknown, 1)
    assert (nothing.value, nothing.bottleneck) == (None, "-")


def test_latency_is_that_of_the_smallest_transfer_where_it_was_measured(place):
    document = samples.host_transfer(methods=("queued",), memories=("pageable",), buffers=(1,))
    known = results.load(place.write("one.json", document)).measurements
    predicted = host_transfer.predict(
        NO_LINK, board(changes={"host.launch_latency": 1.0}), 1, measurements=known
    )
    assert len(predicted) == len(known)
    smallest = predicted[0]
    assert smallest.axes["bytes"] == 1024
    assert smallest.value == pytest.approx(known[0].best)
    assert "of this run's smallest transfer" in smallest.explanation
    assert smallest.bottleneck == "transfer latency"
    assert host_transfer.predict(NO_LINK, board(), 1) == []


def test_more_bandwidth_is_never_slower_and_more_latency_never_faster():
    rng = np.random.default_rng(11)
    ways = itertools.cycle(
        itertools.product(
            ("to_device", "from_device", "both"),
            ("queued", "blocking"),
            ("pageable", "pinned"),
            ("cpu", "gpu"),
        )
    )
    boards = {name: board(name) for name in ("cpu", "gpu")}
    for (direction, method, memory, name), numbers in zip(ways, rng.uniform(0, 1, (10_000, 6)), strict=False):
        place = axes(direction, method, memory, 2 ** int(12 + 20 * numbers[0]), 2 ** int(5 * numbers[1]))
        rates = {
            "host.write_bandwidth": 10 ** (9 + 2 * numbers[2]),
            "host.read_bandwidth": 10 ** (9 + 2 * numbers[3]),
            "host.launch_latency": 10 ** (-6 + 3 * numbers[4]),
        }
        parameters = {"link_gb_per_s": 100 * numbers[5] if numbers[5] > 0.5 else 0.0}
        one = boards[name].having(rates)
        value = gb_per_s(place, parameters, one)
        for key, factor, sign in (
            ("host.write_bandwidth", 3, 1),
            ("host.read_bandwidth", 3, 1),
            ("host.copy_bandwidth", 3, 1),
            ("host.launch_latency", 3, -1),
        ):
            changed = one.having({key: one[key] * factor})
            assert sign * gb_per_s(place, parameters, changed) >= sign * value * (1 - sign * 1e-12), key
        if parameters["link_gb_per_s"]:
            wider = {"link_gb_per_s": 2 * parameters["link_gb_per_s"]}
            assert gb_per_s(place, wider, one) >= value


def test_the_model_is_found_by_its_name():
    assert models.find("host_transfer") is host_transfer
