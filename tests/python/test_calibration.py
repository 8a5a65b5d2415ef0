"""Calibration: measured once, kept by processor, device and driver, measured again when damaged."""

import copy
import json
from pathlib import Path

import pytest
import samples
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import calibrate
from fabricmark.systems import calibration

WORDS = ["--platform", "0", "--device", "0", "--passes", "2", "--json", "-"]
# As it was before arithmetic and random updates were measured.
OLD = json.dumps(
    {
        **{k: v for k, v in samples.calibration().items() if k not in ("peak", "random_updates")},
        "schema": "fabricmark-calibration/1",
    }
)


@pytest.fixture
def here(place, monkeypatch):
    """The stand-in repository for calls without the command."""
    for name in ("FAKE_LOG", "PYTHONPATH"):
        monkeypatch.setenv(name, place.environment[name])
    return place


def test_measured_once(here):
    first, now = calibrate.ensure("system", samples.DEVICE)
    again, later = calibrate.ensure("system", samples.DEVICE)
    assert (now, later) == (True, False)
    assert first == again == samples.calibration()
    started = here.started("fm_calibrate")
    assert [entry["words"] for entry in started] == [WORDS]
    calibrate.ensure("system", samples.DEVICE, again=True)
    assert len(here.started("fm_calibrate")) == 2


def test_key(here):
    calibrate.ensure("system", samples.DEVICE)
    assert calibration.find(samples.CPU, "sample-cpu", "1.0") is not None
    assert calibration.find("another CPU", "sample-cpu", "1.0") is None
    assert calibration.find(samples.CPU, "another", "1.0") is None
    assert calibration.find(samples.CPU, "sample-cpu", "1.1") is None
    assert calibration.find_here({**samples.DEVICE, "driver": "1.1"}) is None


def test_another_host_does_not_count(here, monkeypatch):
    calibrate.ensure("system", samples.DEVICE)
    monkeypatch.setattr(calibration, "processor", lambda: "another CPU")
    assert calibration.find_here(samples.DEVICE) is None


@pytest.mark.parametrize("damage", ["", "{", '{"schema": "fabricmark-calibration/9"}', OLD, '"x"'])
def test_a_damaged_cache_is_measured_again(here, damage):
    calibrate.ensure("system", samples.DEVICE)
    path = calibration.file_for(samples.calibration())
    path.write_text(damage)
    with pytest.raises(FabricmarkError):
        calibration.load(path)
    assert calibration.find(samples.CPU, "sample-cpu", "1.0") is None
    assert calibrate.ensure("system", samples.DEVICE)[1] is True
    assert calibration.load(path) == samples.calibration()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]  # no temporary files stay


def test_a_program_that_says_nonsense(here, monkeypatch):
    document = copy.deepcopy(samples.calibration())
    document["launch_seconds"] = -1
    for said in (json.dumps(document), "no JSON", ""):
        monkeypatch.setenv("FAKE_CALIBRATION", said)
        with pytest.raises(FabricmarkError, match="calibration of sample-cpu failed") as caught:
            calibrate.measure("system", samples.DEVICE)
        assert caught.value.exit_code == 3
    assert not calibration.folder().exists()


def test_cache_that_cannot_be_written(here, monkeypatch):
    (here.folder / "file").write_text("")
    monkeypatch.setenv("FABRICMARK_CACHE", str(here.folder / "file"))
    with pytest.raises(FabricmarkError, match="cannot write"):
        calibrate.measure("system", samples.DEVICE)


def test_processor_of_this_host():
    assert calibration.processor() in Path("/proc/cpuinfo").read_text()


def test_board():
    board = calibration.board(samples.calibration())
    assert (board.memory_bytes_per_second, board.get("processor.core_bandwidth")) == (50e9, 30e9)
    assert (board.get("host.write_bandwidth"), board.get("host.read_bandwidth")) == (20e9, 22e9)
    assert board.get("processor.cores") == 2
    assert (board.flops("float"), board.flops("double")) == (200e9, 100e9)
    assert board.updates_per_second == ((2.0**20, 8e8), (2.0**28, 1e8))
    gpu = calibration.board(samples.calibration({**samples.DEVICE, "class": "gpu"}))
    assert gpu.memory_bytes_per_second == 45e9
    assert gpu.get("processor.core_bandwidth") is None and gpu.get("processor.cores") is None
