"""Dataflow kernels on devices of several processes: the same modelled time; all learn of mistakes."""

import json
import subprocess
from pathlib import Path

import pytest
from stream_program import mpirun

REPOSITORY = Path(__file__).parents[2]
PROGRAM = REPOSITORY / "build" / "release" / "bin" / "dataflow_ring"
DEVICES = 4
RUNS = 3
MANY_RUNS = 20
repeated = pytest.mark.parametrize("is_repeated", [False, pytest.param(True, marks=pytest.mark.full)])


@pytest.fixture(params=["threads", "processes"])
def launcher(request):
    return mpirun(DEVICES) if request.param == "processes" else []


def runs(launcher: list[str], is_repeated: bool) -> int:
    """Processes take a second to start: once in `make test`, beside the threads they are compared with."""
    if is_repeated:
        return MANY_RUNS
    return 1 if launcher else RUNS


def run(launcher: list[str], *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*launcher, str(PROGRAM), *arguments], capture_output=True, text=True, timeout=50, check=False
    )


@pytest.mark.parametrize("flow", ["credit:10", "xon-xoff:8,2,300", "credit-link:4,12,4,20"])
@repeated
def test_modelled_time_is_the_same_in_every_run(flow, launcher, is_repeated):
    expected = run([], flow).stdout
    assert len(set(expected.split())) == 2 * DEVICES, expected  # times and sums differ
    for _ in range(runs(launcher, is_repeated)):
        assert run(launcher, flow).stdout == expected


@pytest.mark.parametrize("flow", ["credit:10", "xon-xoff:8,2,300", "credit-link:4,12,4,20"])
@pytest.mark.parametrize("how", ["meet", "late"])
@repeated
def test_hosts_that_wait_for_each_other_change_nothing(flow, launcher, how, is_repeated):
    expected = run([], flow).stdout
    for _ in range(runs(launcher, is_repeated)):
        assert run(launcher, flow, how).stdout == expected


def test_a_flow_control_changes_it():
    assert run([], "credit:10").stdout != run([], "credit:2").stdout


@pytest.mark.parametrize(
    "mistake, told",
    [
        ("circle", "send_all_first (device 0) waits for a place in link 0:0 to 1:1 (10 of 10 words) -> "),
        (
            "silence",
            "listen (device 0) waits for a word of link 3:0 to 0:1 (0 of 10 words, which nobody writes)",
        ),
        (
            "barrier",
            "host (device 0) waits for another rank, host (device 2) waits for another rank, "
            "host (device 3) waits for another rank, "
            "listen (device 1) waits for a word of link 0:0 to 1:1 (0 of 10 words",
        ),
    ],
)
def test_a_mistake_is_named_by_one_line(launcher, mistake, told):
    ended = run(launcher, "credit:10", mistake)
    assert ended.returncode == 1
    lines = [line for line in ended.stderr.splitlines() if "error" in line]
    assert len(lines) == 1, ended.stderr
    assert told in lines[0]


def test_a_deadlock_writes_its_timeline(launcher, tmp_path):
    file = tmp_path / "circle.timeline.json"
    assert run(launcher, "credit:10", "circle", str(file)).returncode == 1
    series = json.loads(file.read_text())["series"]
    waits = {one["device"]: one for one in series if one["kind"] == "wait-for-space"}
    assert {(one["what"], one["whom"]) for one in waits.values()} == {
        (f"link {device}:0 to {(device + 1) % DEVICES}:1", "") for device in range(DEVICES)
    }
    busy = {one["device"]: one for one in series if one["kind"] == "compute"}
    for device in range(DEVICES):
        assert waits[device]["activities"][-1][0] >= busy[device]["activities"][-1][1]


def test_a_deadlock_without_a_timeline_says_why(launcher, tmp_path):
    """Each process says so: none ends, and ends the others with it, before the file is written or refused."""
    (tmp_path / "file").touch()
    ended = run(launcher, "credit:10", "circle", str(tmp_path / "file" / "circle.timeline.json"))
    assert ended.returncode == 1
    assert "; no timeline, as " in ended.stderr


def test_a_wrong_flow_control_is_one_line():
    ended = run([], "stop")
    assert ended.returncode == 2
    assert "flow control 'stop' is not known" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
