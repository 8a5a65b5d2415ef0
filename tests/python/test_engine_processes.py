"""The engine of messages on devices of several processes: results and modelled times as in threads."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from stream_program import mpirun

REPOSITORY = Path(__file__).parents[2]
PROGRAM = REPOSITORY / "build" / "release" / "bin" / "engine_ranks"
DEVICES = 4
RUNS = 1
MANY_RUNS = 20
SUM = 1 + 2 + 3 + 4
SECONDS_TO_LEARN = 10
ENDLESS = "100000000"


def run(launcher: list[str], *arguments: str) -> str:
    command = [*launcher, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize("runs", [RUNS, pytest.param(MANY_RUNS, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "arguments",
    [["udp", "1000"], ["tcp", "1000"], ["rdma", "1000"], ["rdma", "20000", "4096"]],
    ids=["udp", "tcp", "rdma", "rdma-rendezvous"],
)
def test_processes_take_the_same_modelled_time_as_threads(arguments, runs):
    expected = run([], *arguments)
    times, result = expected.rsplit(", ", 1)
    assert float(result) == SUM
    assert len(set(times.split())) > 1  # ranks end at times of their own
    launcher = mpirun(DEVICES)
    for _ in range(runs):
        assert run(launcher, *arguments) == expected


def test_faults_and_protocols_change_it():
    protocols = ("udp", "tcp", "rdma")
    assert len({run([], protocol, "1000") for protocol in protocols}) == len(protocols)


def test_a_process_that_dies_ends_all_others():
    launcher = [word for word in mpirun(DEVICES) if word != "-q"]  # its launcher names the dead one
    with subprocess.Popen(
        [*launcher, str(PROGRAM), "tcp", "1000", "1000000", ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        time.sleep(2)
        found = subprocess.run(
            ["pgrep", "-f", f"{PROGRAM} tcp 1000 1000000 {ENDLESS}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        victim = next(pid for pid in found if int(pid) != started.pid)
        begun = time.monotonic()
        subprocess.run(["kill", f"-{signal.SIGKILL.value}", victim], check=True)
        _, told = started.communicate(timeout=60)
        assert time.monotonic() - begun < SECONDS_TO_LEARN
    assert started.returncode != 0
    assert "process rank" in told and "signal 9" in told, told
