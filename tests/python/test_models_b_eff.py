"""b_eff's equations against the source's numbers, the fit, and what the report makes of a run."""

import dataclasses
import json
import statistics

import numpy as np
import pytest
import samples
from fabricmark import models, results, systems
from fabricmark.base import paths
from fabricmark.models import MissingValue, b_eff
from fabricmark.models._fit import fit_latency_bandwidth
from fabricmark.report import run_tables
from fabricmark.systems import calibration, device_limits
from published_b_eff import (
    circuit_bytes_per_second,
    circuit_seconds,
    exchange_bytes_per_second,
    peak_bytes_per_second,
)

SIZES = 2.0 ** np.arange(21)
MIB = 2**20


def board(changes=None, **used):
    """Without measured limits: those that follow from the rates, which are easy to work out by hand."""
    return dataclasses.replace(calibration.board(samples.calibration()), limits=None, **used).having(
        changes or {}
    )


def gpu(changes=None, **used):
    device = {**samples.DEVICE, "class": "gpu"}
    return dataclasses.replace(calibration.board(samples.calibration(device)), limits=None, **used).having(
        changes or {}
    )


def measurements(place, document):
    return results.load(place.write("one.json", document)).measurements


def host_parameters(chunk_bytes=0, **others):
    return {"transport": "host", "chunk_bytes": chunk_bytes, "largest": 20, **others}


def found(predictions, name="bandwidth", operation="exchange", size=MIB):
    axes = {"operation": operation, "message_bytes": size} if operation else {}
    return next(entry for entry in predictions if (entry.name, dict(entry.axes)) == (name, axes))


def test_direct_channels():
    channels = systems.load("noctua1", "published").networks["channels"]  # Table 4.2
    rates = circuit_bytes_per_second(SIZES, channels)
    assert rates[-1] == pytest.approx(19.9e9, rel=1e-3)
    assert b_eff.effective_bytes_per_second(rates) == pytest.approx(7.77e9, rel=1e-3)
    cycles, messages = MIB / 64, 20
    expected = messages * (cycles / 156.25e6 + 520e-9)
    assert circuit_seconds(MIB, channels, messages) == pytest.approx(expected)
    more = circuit_seconds(65, channels) - circuit_seconds(64, channels)
    assert more == pytest.approx(6.4e-9)  # a cycle more


def test_peak_over_the_host():
    assert peak_bytes_per_second(12.5e9, 8e9) == pytest.approx(6.06e9, rel=1e-3)
    size = 2.0**40  # latencies do not count
    rate = exchange_bytes_per_second(size, 1e-5 + size / 8e9, 1e-6 + size / 12.5e9, 1e-5 + size / 8e9)
    assert rate == pytest.approx(peak_bytes_per_second(12.5e9, 8e9), rel=1e-5)


def test_effective_bandwidth_takes_the_best_repetition():
    assert b_eff.effective_bytes_per_second([[1, 3], [5, 2]]) == 4


def test_chunks_overlap():
    steps = [2e-6, 3e-6, 1e-6]
    assert b_eff.chunked_seconds(steps, 1) == pytest.approx(6e-6)
    assert b_eff.chunked_seconds(steps, 10) == pytest.approx(6e-6 + 9 * 3e-6)


@pytest.mark.parametrize("latency, rate", [(2e-6, 10e9), (40e-6, 1e9), (0.0, 5e9)])
def test_the_fit_recovers_what_it_was_made_from(latency, rate):
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(20):
        times = (latency + SIZES / rate) * rng.normal(1, 0.05, len(SIZES))
        fit = fit_latency_bandwidth(SIZES, times)
        assert fit.relative_error < 0.08
        errors.append(abs(fit.bytes_per_second / rate - 1))
        assert fit.latency_seconds == pytest.approx(latency, rel=0.05, abs=1e-10)
    assert statistics.median(errors) < 0.05 and max(errors) < 0.12


def test_the_fit_withstands_outliers_and_stays_positive():
    times = 2e-6 + SIZES / 10e9
    times[[3, 12, 19]] *= 10  # another process had the core
    fit = fit_latency_bandwidth(SIZES, times)
    assert fit.latency_seconds == pytest.approx(2e-6, rel=0.05)
    assert fit.bytes_per_second == pytest.approx(10e9, rel=0.10)
    falling = fit_latency_bandwidth([1, 2, 4], [3e-6, 2e-6, 1e-6])
    assert falling.latency_seconds > 0 and falling.bytes_per_second == np.inf
    rising = fit_latency_bandwidth([1e6, 2e6, 4e6], [1e-3, 3e-3, 9e-3])
    assert rising.latency_seconds == 0 and rising.bytes_per_second > 0


@pytest.mark.parametrize("sizes, times", [([8], [1e-6]), ([8, 8], [1e-6, 1e-6]), ([1, 2], [0, 1e-6])])
def test_no_fit_without_two_sizes_and_times(sizes, times):
    with pytest.raises(ValueError):
        fit_latency_bandwidth(sizes, times)


def test_more_bandwidth_is_never_slower_and_more_latency_never_faster():
    rng = np.random.default_rng(7)
    size = 2.0 ** rng.uniform(0, 30, 10_000)
    latency, message, read, write = 10 ** rng.uniform(-7, -3, (4, 10_000))
    rate, link = 10 ** rng.uniform(8, 11, (2, 10_000))
    more = 1 + rng.uniform(0, 3, 10_000)

    def exchange(latency, rate):
        return exchange_bytes_per_second(
            size, write + latency + size / rate, message, read + latency + size / rate
        )

    assert np.all(exchange(latency, rate * more) >= exchange(latency, rate))
    assert np.all(exchange(latency * more, rate) <= exchange(latency, rate))
    peak = peak_bytes_per_second
    assert np.all(peak(rate * more, link) >= peak(rate, link))
    assert np.all(peak(rate, link * more) >= peak(rate, link))
    chunks = np.ceil(rng.uniform(1, 50, 10_000))
    steps = [read, message, write]
    longer = b_eff.chunked_seconds([read * more, message, write], chunks)
    assert np.all(longer >= b_eff.chunked_seconds(steps, chunks))
    # Chunks are never slower than the same steps one after the other.
    assert np.all(b_eff.chunked_seconds(steps, chunks) <= sum(steps) * chunks * (1 + 1e-12))


def test_predictions_follow_the_board_monotonously():
    rng = np.random.default_rng(3)
    for make in (board, gpu):
        for _ in range(100):
            base = make(
                {
                    "host.launch_latency": 10 ** rng.uniform(-6, -3),
                    "host.write_bandwidth": 10 ** rng.uniform(9, 11),
                    "host.read_bandwidth": 10 ** rng.uniform(9, 11),
                }
            )
            faster = base.having({"host.write_bandwidth": 2 * base["host.write_bandwidth"]})
            later = base.having({"host.launch_latency": 2 * base["host.launch_latency"]})
            chunk = int(rng.choice([0, 4096, 262144]))
            old, up, down = (
                [entry.value for entry in b_eff.predict(host_parameters(chunk), one, 2) if entry.limit]
                for one in (base, faster, later)
            )
            assert len(old) == 22
            assert all(new >= value * (1 - 1e-12) for new, value in zip(up, old, strict=True))
            assert all(new <= value * (1 + 1e-12) for new, value in zip(down, old, strict=True))


def test_host_transport_sums_the_measured_steps(place):
    known = measurements(place, samples.b_eff(ranks=2))
    predicted = b_eff.predict(host_parameters(), board(), 2, measurements=known)
    steps = [
        next(e.best for e in known if e.axes == {"operation": step, "message_bytes": MIB})
        for step in ("read", "message", "write")
    ]
    assert found(predicted, "latency").value == pytest.approx(sum(steps))
    assert found(predicted).value == pytest.approx(2 * 2 * MIB / sum(steps) / 1e3)
    assert found(predicted).limit == pytest.approx(50 / 2 / 3)
    assert found(predicted).bottleneck == "message"  # twice as long as each copy
    assert "as this run measured" in found(predicted).explanation
    effective = found(predicted, "effective_bandwidth", None)
    values = [found(predicted, size=int(size)).value for size in SIZES]
    assert effective.value == pytest.approx(statistics.fmean(values))
    kernel = found(predicted, "latency", "kernel")
    assert (kernel.value, kernel.bottleneck) == (pytest.approx(20), "kernel start")
    assert found(predicted, "latency", "read", 1).bottleneck == "transfer latency"
    read = found(predicted, "latency", "read")
    assert (read.value, read.bottleneck) == (pytest.approx(20 + 4 * MIB / 25e3), "memory bandwidth")
    assert found(predicted, "latency", "message").explanation.startswith("fit")
    # Pinned memory of a GPU is not calibrated, so its copies are a fit.
    assert found(
        b_eff.predict(host_parameters(), gpu(), 2, measurements=known), "latency", "read"
    ).value == pytest.approx(steps[0], rel=0.05)


def test_without_measurements_copies_are_as_calibrated():
    predicted = b_eff.predict(host_parameters(), board(), 2)
    moved = 2 * 2 * MIB
    expected = 2 * 2e-5 + 3 * moved / 25e9  # two ranks fill the memory with each of three copies
    assert found(predicted, "latency").value == pytest.approx(expected * 1e6)
    shared = b_eff.predict(host_parameters(), gpu({"host.copy_bandwidth": 1e30}), 2)
    expected = 2 * 2 * 2e-5 + moved / 20e9 + moved / 22e9  # each waits for the start of both ranks' copies
    assert found(shared, "latency").value == pytest.approx(expected * 1e6)


def test_without_sub_steps_the_rest_is_a_fit(place):
    document = samples.b_eff(ranks=2)
    document["measurements"] = [
        entry
        for entry in document["measurements"]
        if entry["axes"].get("operation", "exchange") == "exchange"
    ]
    known = measurements(place, document)
    predicted = b_eff.predict(host_parameters(), board({"host.launch_latency": 1e-7}), 2, measurements=known)
    one = found(predicted)
    measured = next(e for e in known if e.name == "bandwidth" and e.axes["message_bytes"] == MIB)
    assert "fit" in one.explanation
    assert one.value == pytest.approx(measured.best, rel=0.05)


def test_memory_that_host_and_device_share_is_mapped_where_asked_and_for_long_messages_only():
    def value(size, maps, one):
        parameters = host_parameters(262144, map_memory=maps)
        return found(b_eff.predict(parameters, one, 2), size=size).value

    assert value(MIB, True, board()) > 1.5 * value(MIB, False, board())
    assert value(262144, True, board()) == value(262144, False, board())
    assert value(MIB, True, gpu()) == value(MIB, False, gpu())
    assert b_eff.mapped_seconds(1e-3, 1e-5) == pytest.approx(1.02e-3)


def test_shared_staging_leaves_out_the_message():
    for one in (board(), gpu()):
        private, shared = (
            found(b_eff.predict(host_parameters(0, staging=staging), one, 2))
            for staging in ("private", "shared")
        )
        assert shared.value > private.value and "without the message" in shared.explanation


def test_chunks_overlap_on_a_link_of_its_own_only():
    for one, gains in ((board(), False), (gpu(), True)):
        whole = found(b_eff.predict(host_parameters(0), one, 2)).value
        chunked = found(b_eff.predict(host_parameters(262144), one, 2)).value
        assert (chunked > whole) == gains
        small = [
            found(b_eff.predict(host_parameters(chunk), one, 2), size=1024).value for chunk in (0, 65536)
        ]
        assert small[0] == small[1]


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"host.read_bandwidth": 1e9}, "read from the device"),
        ({"host.write_bandwidth": 1e9}, "write to the device"),
        ({"host.copy_bandwidth": 1e9}, "message"),
    ],
)
def test_changing_one_limit_flips_the_bottleneck(changes, word):
    usual = {"host.write_bandwidth": 20e9, "host.read_bandwidth": 20e9, "host.copy_bandwidth": 40e9}
    balanced = gpu({**usual, "host.launch_latency": 1e-9})
    predicted = b_eff.predict(host_parameters(), balanced.having(changes), 2)
    assert found(predicted).bottleneck == word
    assert found(predicted, "effective_bandwidth", None).bottleneck == word


def test_the_report_gives_the_model_its_measurements(place):
    known = samples.calibration()
    paths.write_atomically(calibration.file_for(known), json.dumps(known))
    for transport, word in (("cpu", "memory bandwidth"), ("host", "message")):
        result = results.load(place.write(f"{transport}.json", samples.b_eff(transport=transport)))
        predicted = run_tables.predictions(result, device_limits.of_result(result))
        shown = run_tables.rows(result.measurements, predicted)
        longest = [row for row in shown if row.operation == "exchange 1 MiB" and row.unit == "GB/s"]
        assert [row.bottleneck for row in longest] == [word]
        assert longest[0].modelled > longest[0].best / 2


def test_cpu_transport_is_a_fit_with_the_memory_as_its_limit(place):
    known = measurements(place, samples.b_eff(transport="cpu"))
    predicted = b_eff.predict({"transport": "cpu"}, board(), 2, measurements=known)
    one = found(predicted)
    measured = next(e for e in known if e.name == "bandwidth" and e.axes["message_bytes"] == MIB)
    assert one.value == pytest.approx(measured.best, rel=0.05)
    assert one.limit == pytest.approx(25)
    assert one.explanation.startswith("fit of this run's curve: 2")
    # 2 us + L / 8 GB/s: half of the bandwidth at 16 KB
    assert found(predicted, size=8192).bottleneck == "latency"
    assert found(predicted, size=32768).bottleneck == "memory bandwidth"
    apart = b_eff.predict({"transport": "cpu"}, board(hosts=2, devices=2), 2, measurements=known)
    assert found(apart).bottleneck == "network"
    assert found(apart).limit == pytest.approx(50)


def test_nothing_is_made_up():
    without = b_eff.predict({"transport": "cpu"}, board(), 2)
    assert {entry.value for entry in without} == {None}
    assert {entry.limit for entry in without} == {25}
    unknown = board({"host.write_bandwidth": None, "host.copy_bandwidth": None})
    assert {entry.value for entry in b_eff.predict(host_parameters(), unknown, 2)} == {None}
    with pytest.raises(MissingValue, match="transport"):
        b_eff.predict({"transport": "pigeon"}, board(), 2)


def test_ranks_on_devices_of_their_own_add_up():
    one = found(b_eff.predict(host_parameters(), gpu(hosts=1), 1))
    two = found(b_eff.predict(host_parameters(), gpu(devices=2, hosts=1), 2))
    assert two.limit == one.limit  # the memory of one host
    assert one.value < two.value <= 2 * one.value
    apart = found(b_eff.predict(host_parameters(), gpu(devices=2, hosts=2), 2))
    assert (apart.limit, apart.value) == (2 * one.limit, None)  # nothing says how fast their network is


def test_the_model_is_found_by_its_name():
    assert models.find("b_eff") is b_eff
    assert not any(name.startswith("_") for name in models.names())
