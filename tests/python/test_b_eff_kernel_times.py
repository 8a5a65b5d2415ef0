"""Modelled times of b_eff between kernels: against what was published, and against the closed forms."""

import json

import numpy as np
import pytest
from b_eff_kernels import Boards
from boards import ENGINES
from fabricmark.results import published
from published_b_eff import curves
from simulated_runs import exported, predicted

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
MIB = 2**20
MEDIAN, NEARLY_ALL = 0.02, 0.05  # of the errors against published values; nearly all: nine of ten
CLOSED = 0.05  # between clock and closed form


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    return Boards(tmp_path_factory.mktemp("b_eff"))


def errors(boards, **how):
    """Of all published values over channels, relative."""
    found = []
    for run in curves("channels"):
        assert run.system == "noctua1"
        times = boards.times("channels", "--ranks", run.devices, **how)
        rates = [times["bandwidth", "exchange", size] * 1e9 for size in run.sizes]
        found += list(np.array(rates) / run.rates - 1)
        found.append(times["effective_bandwidth", None, None] * 1e9 / run.effective - 1)
    return np.abs(found)


def test_published_values_over_channels(boards):
    off = errors(boards)
    assert len(off) == 88
    assert np.median(off) <= MEDIAN
    assert np.quantile(off, 0.9) <= NEARLY_ALL


def test_another_latency_misses_the_published_values(boards, tmp_path):
    def slower(document):
        values = next(one["values"] for one in document["networks"] if one["kind"] == "direct")
        values["latency_seconds"]["value"] *= 1.5

    assert np.median(errors(boards, system=exported(tmp_path, change=slower))) > MEDIAN


def test_the_table_of_16_boards(boards):
    """Meyer 2024, Table 4.8: a board's bandwidth of long messages, and the latency of one of two messages."""
    times = boards.times("channels", "--ranks", 16)
    printed = {
        row.metric: row.value
        for row in published.printed()
        if (row.benchmark, row.transport, row.table, row.devices) == ("b_eff", "channels", "Table 4.8", 16)
    }
    assert times["bandwidth", "exchange", MIB] / 16 == pytest.approx(printed["bandwidth"], rel=0.1)
    assert times["latency", "exchange", 1] / 2 == pytest.approx(printed["latency"], rel=0.1)
    (run,) = (run for run in curves("channels") if run.devices == 16)
    assert times["effective_bandwidth", None, None] / 16 == pytest.approx(run.effective / 16e9, rel=0.1)


# What the network of the channels is changed to: factors by exported value.
NETWORKS = {
    "as it is": {},
    "latency": {"latency_seconds": 5},
    "no latency to speak of": {"latency_seconds": 0.1},
    "clock": {"clock_hz": 0.5},
    "wider": {"width_bytes": 2},
}


@pytest.mark.parametrize("ranks", [1, 2, 4, 16])
@pytest.mark.parametrize("factors", NETWORKS.values(), ids=NETWORKS)
def test_the_clock_is_near_the_closed_form(boards, tmp_path, factors, ranks):
    def changed(document):
        values = next(one["values"] for one in document["networks"] if one["kind"] == "direct")
        for name, factor in factors.items():
            values[name]["value"] *= factor

    file = exported(tmp_path, change=changed)
    width = int(8 * factors.get("width_bytes", 1))  # as wide as the link
    clock = boards.times("channels", "--ranks", ranks, "--channel-width", width, system=file)
    values = next(
        one["values"] for one in json.loads(file.read_text())["networks"] if one["kind"] == "direct"
    )
    network = {name: values[name]["value"] for name in factors}
    own = {"channel_width": width}
    form = predicted("b_eff", own, ranks, "520n_multi/b_eff", transport="channels", network=network)
    assert clock.keys() == form.keys() and len(clock) == 2 * 21 + 1
    for what, value in form.items():
        assert clock[what] == pytest.approx(value, rel=CLOSED), what


def test_time_alone_is_that_of_messages_that_are_carried(boards):
    for way in ("channels", *ENGINES):
        words = ("--ranks", 3, "--largest", 12)
        document = boards.valid(way, *words, "--repetitions", 1)
        carried = {
            (one["name"], one["axes"].get("operation"), one["axes"].get("message_bytes")): one["best"]
            for one in document["measurements"]
            if one["kind"] == "modelled"
        }
        assert boards.times(way, *words) == carried


def test_more_messages_in_a_row_take_the_same_time_each(boards):
    few, many = (boards.times("channels", "--ranks", 2, "--messages", count) for count in (2, 40))
    assert many == pytest.approx(few, rel=0.01)


# Engines: Meyer 2024, section 5.1.4.


@pytest.mark.parametrize("engine", ["accl-udp", "accl-rdma"])
def test_parts_of_a_call_from_the_host(boards, engine):
    """Eq. 5.1: 2 l_k + l_m + l_c, and l_k + l_c from kernel to kernel."""
    words = (engine, "--ranks", 2, "--issuer", "host", "--largest", 10)
    buffered = boards.latencies(*words)
    streamed = boards.latencies(*words, "--mode", "streaming")
    for size in (1, 64, 1024):
        call = buffered["call", size]
        assert call == pytest.approx(30, rel=0.01)  # l_k
        l_m, l_c = buffered["copy", size] - call, buffered["message", size] - call
        assert l_m > 1 and l_c > 1
        assert buffered["exchange", size] == pytest.approx(2 * call + l_m + l_c, rel=0.01)
        assert streamed["exchange", size] == pytest.approx(call + l_c, rel=0.01)


@pytest.mark.parametrize("engine", ENGINES)
def test_kernels_call_in_a_fraction_of_a_microsecond(boards, engine):
    words = (engine, "--ranks", 2, "--mode", "streaming", "--largest", 6)
    switched = boards.latencies(*words)
    direct = boards.latencies(*words, "--topology", "pair")
    assert direct["call", 64] < 0.3
    assert direct["message", 64] < 3  # section 5.1.4
    assert 2 < switched["message", 64] < 5  # section 5.1.5
    assert switched["message", 64] - direct["message", 64] == pytest.approx(1, abs=0.05)


def test_long_messages_wait_for_the_line(boards):
    words = ("accl-tcp", "--ranks", 2, "--largest", 22)
    found = boards.latencies(*words)
    rate = 2 * MIB / (found["message", 4 * MIB] - found["message", 2 * MIB]) * 1e-3
    assert rate == pytest.approx(12.3, rel=0.02)  # section 5.1.5
    unscaled = boards.latencies(*words, "--window-bytes", 65535, "--mtu-bytes", 1500)
    rate = 2 * MIB / (unscaled["message", 4 * MIB] - unscaled["message", 2 * MIB]) * 1e-3
    assert rate == pytest.approx(8.5, rel=0.04)
