"""Limits: by where the data fits, the best of all measurements, and a reason where a run was faster."""

import copy
import dataclasses
import json

import pytest
import samples
from fabricmark import models, results
from fabricmark.base import paths
from fabricmark.base.terminal import percent
from fabricmark.measure import calibrate, refine
from fabricmark.measure.launch import Job
from fabricmark.models import Prediction, _limits, b_eff, fft, gemm, host_transfer, ptrans, stream
from fabricmark.models._limits import Limits
from fabricmark.report import run_tables
from fabricmark.systems import calibration, device_limits

MIB = 2**20
BOARD = calibration.board(samples.calibration())
GPU = calibration.board(samples.calibration({**samples.DEVICE, "class": "gpu"}))
TRANSFER = {"direction": "to_device", "method": "queued", "memory": "page-aligned", "buffers": 1}
NO_LINK = {"link_gb_per_s": 0.0}


def test_a_working_set_has_the_rate_of_what_holds_it():
    points = ((2**14, 400.0), (2**20, 100.0), (2**25, 20.0), (2**28, 10.0))
    assert _limits.at(points, 1) == _limits.at(points, 2**14) == 400
    assert _limits.at(points, 2**20) == _limits.at(points, 2**25 - 1) == 100
    assert _limits.at(points, 2**25) == 20
    assert _limits.at(points, 2**40) == 10
    assert _limits.at((), 1) is None


def test_a_larger_set_that_was_faster_raises_the_smaller_ones():
    disturbed = ((2**14, 50.0), (2**20, 100.0), (2**28, 10.0))
    assert _limits.at(disturbed, 2**14) == 100


def test_reads_and_writes_are_told_apart():
    limits = Limits(
        memory={"copy": ((1.0, 10.0),), "triad": ((1.0, 12.0),)}, host_memory={"copy": ((1.0, 8.0),)}
    )
    assert (limits.moving("copy", 2), limits.moving("triad", 2), limits.moving("read", 2)) == (10, 12, None)
    assert limits.host_copy(1) == 4  # each byte is read and written
    assert Limits().host_copy(1) is None
    assert Limits().link("both") is None


def stream_limit(size, board=BOARD):
    parameters = {**samples.result()["parameters"], "size": size}
    found = stream.predict(parameters, board, 1)
    return {one.axes["operation"]: one.limit for one in found}


def test_stream_in_and_outside_of_caches():
    assert stream_limit(samples.SIZE)["triad"] == 50
    assert stream_limit(2**10)["triad"] == 400
    assert stream_limit(2**10)["host_to_device"] == 200
    assert stream_limit(samples.SIZE, GPU)["triad"] == 45
    assert stream_limit(samples.SIZE, GPU)["host_to_device"] == 25  # the link


@pytest.mark.parametrize(("size", "limit"), [(2**12, 200), (2**22, 200), (2**26, 25)])
def test_copies_of_a_cpu_are_limited_by_what_holds_them(size, limit):
    assert host_transfer.prediction({**TRANSFER, "bytes": size}, NO_LINK, BOARD, 1).limit == limit


def test_links_of_a_gpu_are_limited_as_measured():
    for direction, limit in (("to_device", 25), ("from_device", 26), ("both", 51)):
        axes = {**TRANSFER, "direction": direction, "bytes": 2**26}
        assert host_transfer.prediction(axes, {"link_gb_per_s": 64.0}, GPU, 1).limit == limit


def test_messages_are_limited_by_their_size_and_their_copies():
    about = {"transport": "cpu", "largest": 26}
    sizes = [2**10, 2**26]
    assert b_eff.limits_by_size(sizes, about, BOARD, 2) == [200e9, 25e9]
    staged = b_eff.limits_by_size(sizes, {**about, "transport": "host"}, BOARD, 2)
    assert staged == pytest.approx([200e9 / 3, 25e9 / 3])
    shared = {**about, "transport": "host", "staging": "shared", "map_memory": True}
    assert b_eff.limits_by_size(sizes, shared, BOARD, 2) == pytest.approx([100e9, 25e9 / 2])
    chosen = {**about, "transport": "host", "staging": "measured", "map_memory": False}
    assert b_eff.limits_by_size(sizes, {**chosen, "chunk_bytes": -1}, BOARD, 2) == pytest.approx(
        [100e9, 25e9 / 2]
    )
    assert b_eff.limits_by_size(sizes, {**chosen, "chunk_bytes": 0}, BOARD, 2) == staged
    mapped = {**about, "transport": "host", "chunk_bytes": 2**18, "map_memory": True}
    assert b_eff.limits_by_size(sizes, mapped, BOARD, 2) == pytest.approx([200e9 / 3, 25e9])
    assert b_eff.limits_by_size(sizes, mapped, GPU, 2) == [25e9, 25e9]
    shown = b_eff.predict({**mapped, "largest": 10}, BOARD, 2)
    effective = next(one for one in shown if one.name == "effective_bandwidth")
    assert effective.limit == pytest.approx(200 / 3)


def test_arithmetic_and_memory():
    faster = dataclasses.replace(BOARD.limits, flops={"float": 300e9})
    board = dataclasses.replace(BOARD, limits=faster)
    about = {"size": 2048, "data_type": "float", "variant": "throughput"}
    assert gemm.predict(about, board, 1)[0].limit == pytest.approx(300)
    small = {"log_size": 4, "batch": 2**22, "data_type": "float", "variant": "throughput"}
    large = fft.predict(small, board, 1)[1]  # GB/s of what no cache holds
    cached = fft.predict({**small, "batch": 2**10}, board, 1)[1]
    assert (large.unit, large.limit) == ("GB/s", pytest.approx(50))
    assert cached.limit > 2 * large.limit
    least = ptrans.limits_seconds(2.0**20, 0.0, BOARD, 1)[0]
    assert least == pytest.approx(3 * 2**20 / 400e9)


def test_no_prediction_is_faster_than_its_limit():
    fast = Prediction("bandwidth", {}, 43.7, "GB/s", 34.9, "memory bandwidth", "as measured")
    slow = dataclasses.replace(fast, value=30.0)
    late = dataclasses.replace(fast, unit="us")
    found = models.within_limits([fast, slow, late], BOARD)
    assert [one.value for one in found] == [34.9, 30.0, 43.7]
    assert "limit" in found[0].explanation
    described = dataclasses.replace(BOARD, limits=None)
    assert models.within_limits([fast], described) == [fast]


def test_merging_keeps_the_maxima():
    known, now = samples.calibration(), samples.calibration()
    now["created"] = "2026-12-01T00:00:00Z"
    now["host_copy"][0]["bytes_per_second"] = 99e9
    now["host_copy"][1]["bytes_per_second"] = 1e9
    now["host_memory"] = now["host_memory"][::-1]
    now["host_memory"][0]["bytes_per_second"] = 77e9
    now["launch_seconds"] = 5e-5
    now["link"]["to_device_bytes_per_second"] = 1e9
    found = calibrate.merged(known, now)
    assert [entry["bytes_per_second"] for entry in found["host_copy"]] == [99e9, 50e9]
    assert found["host_memory"][0]["bytes_per_second"] == 77e9
    assert found["host_memory"][1:] == known["host_memory"][::-1][1:]
    assert found["link"]["to_device_bytes_per_second"] == 25e9
    assert (found["launch_seconds"], found["created"], found["passes"]) == (5e-5, now["created"], 4)


def keep(document):
    paths.write_atomically(calibration.file_for(document), json.dumps(document))


def test_a_further_measurement_is_merged_and_a_new_one_is_not(place, monkeypatch):
    for name in ("FAKE_LOG", "PYTHONPATH"):
        monkeypatch.setenv(name, place.environment[name])
    fast = samples.calibration()
    fast["peak"][0]["flops_per_second"] = 999e9
    keep(fast)
    assert calibrate.measure("system", samples.DEVICE)["peak"][0]["flops_per_second"] == 999e9
    again = calibrate.ensure("system", samples.DEVICE, again=True)[0]
    assert again["peak"][0]["flops_per_second"] == 200e9


def slow_machine(factor):
    """A calibration of a machine whose memory is slower by a factor than what the sample run reached."""
    document = copy.deepcopy(samples.calibration())
    for entry in document["host_memory"] + document["device_memory"]:
        entry["bytes_per_second"] /= factor
    return document


@pytest.mark.parametrize("factor", [1, 4])
def test_a_row_above_its_limit_has_a_reason(place, factor):
    document = slow_machine(factor)
    keep(document)
    path = place.write("one.json", samples.result())
    done = place.run("report", path, "--full")
    result = results.load(path)
    known = device_limits.of_result(result)
    rows = run_tables.rows(result.measurements, run_tables.predictions(result, known))
    above = [
        row for row in rows if row.efficiency is not None and row.efficiency > run_tables.CREDIBLE_EFFICIENCY
    ]
    assert bool(above) == (factor > 1)
    assert ("above the limit: " in done.stdout) == bool(above)
    reason = run_tables.reason_above(known, rows)
    for row in above:
        assert f"{row.operation} {percent(row.efficiency)}" in reason and "2 measurements" in reason


def test_limits_are_measured_again_after_a_faster_run(place, monkeypatch):
    for name in ("FAKE_LOG", "PYTHONPATH"):
        monkeypatch.setenv(name, place.environment[name])
    keep(slow_machine(4))
    path = place.write("one.json", samples.result())
    job = Job("stream", "system", samples.DEVICE, 1, None, path.parent, ())
    assert refine.above(path)
    assert refine.after(job, path) == 1  # the machine is as fast as the sample's again
    assert not refine.above(path)
    (started,) = place.started("fm_calibrate")
    assert started["words"][-4:] == ["--only", "memory", "--only", "transfers"]  # no others were exceeded
    assert refine.after(job, path) == 0
    assert len(place.started("fm_calibrate")) == 1


def test_the_limits_of_a_slow_machine_are_not_raised_by_a_run(place, monkeypatch):
    for name in ("FAKE_LOG", "PYTHONPATH"):
        monkeypatch.setenv(name, place.environment[name])
    monkeypatch.setenv("FAKE_CALIBRATION", json.dumps(slow_machine(4)))
    keep(slow_machine(4))
    path = place.write("one.json", samples.result())
    job = Job("stream", "system", samples.DEVICE, 1, None, path.parent, ())
    assert refine.after(job, path) == refine.MOST_TRIES
    assert refine.above(path)
