"""`systems network`: latency and rate of messages as a launcher starts their ranks, as a system's files."""

import sys

import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import new_network

LATENCY, START, RATE, TEST = 20e-6, 2e-6, 2e9, 4e-7
# A launcher that answers for the programs: as OMB writes, of a network with exact values.
LAUNCHER = f"""
import os
import sys
if "silent" not in sys.argv[0] and "FABRICMARK_TRACE" in os.environ:
    with open(os.environ["FABRICMARK_TRACE"], "w") as file:
        file.write('{{"rank":0,"test":{TEST / 2}}}\\n{{"rank":1,"test":{TEST}}}\\n')
program, largest = sys.argv[1].rsplit("_", 1)[1], int(sys.argv[sys.argv.index("-m") + 1].rpartition(":")[2])
if "broken" in sys.argv[0]:
    sys.exit("no such network")
print(f"# OSU MPI {{'Latency' if program == 'latency' else 'Bandwidth'}} Test v7.4")
print("# Size  " + ("Avg Latency(us)" if program == "latency" else "Bandwidth (MB/s)"))
size = 1
while size <= largest:
    alone = {LATENCY} + size / {RATE}
    print(size, f"{{alone * 1e6 if program == 'latency' else size / max({START}, size / {RATE}) / 1e6:.6f}}")
    size *= 2
"""


@pytest.fixture
def launcher(place, monkeypatch):
    """Words that start it."""
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    place.environment["FABRICMARK_ROOT"] = str(REPOSITORY)
    (place.folder / "launcher.py").write_text(LAUNCHER)
    (place.folder / "broken.py").write_text(LAUNCHER)
    (place.folder / "silent.py").write_text(LAUNCHER)
    return [sys.executable, str(place.folder / "launcher.py")]


def test_the_files_have_what_was_measured(place, launcher):
    file = place.folder / "systems" / "wire.toml"
    done = place.run("systems", "network", "wire", "--passes", "2", "--output", str(file), "--", *launcher
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"wrote {file}: 20 us a message, of which 2 us to issue it, 2 GB/s, 0.4 us a test" in done.stdout
    network = systems.load(file).networks["cpu"]
    assert network["latency"] + network["start_latency"] == pytest.approx(LATENCY, rel=1e-3)
    assert network["start_latency"] == pytest.approx(START, rel=1e-3)
    assert network["links.bandwidth"] == pytest.approx(RATE, rel=1e-3)
    assert network["test_latency"] == pytest.approx(TEST, rel=1e-3)
    done = place.run("simulate", "exchange", "--ranks", "2", "--bytes", "1MiB", "--system", str(file),
                     "--csv", "-", "--no-simgrid"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_without_a_record_nothing_says_what_a_test_takes(place, launcher):
    file = place.folder / "systems" / "wire.toml"
    silent = [launcher[0], launcher[1].replace("launcher", "silent")]
    done = place.run("systems", "network", "wire", "--passes", "1", "--output", str(file), "--", *silent)
    assert done.returncode == 0 and "no time of a test" in done.stdout, done.stderr
    assert systems.load(file).networks["cpu"].get("test_latency") is None


def test_what_cannot_be_measured_is_one_line(place, launcher):
    done = place.run("systems", "network", "wire")
    assert done.returncode == 2 and "no launcher" in done.stderr
    broken = [launcher[0], launcher[1].replace("launcher", "broken")]
    done = place.run("systems", "network", "wire", "--", *broken)
    assert done.returncode == 3 and "no such network" in done.stderr and len(done.stderr.splitlines()) == 1
    done = place.run("systems", "network", "a b", "--", *launcher)
    assert done.returncode == 2 and "'a b' is no name" in done.stderr
    done = place.run("systems", "network", "wire", "--", str(place.folder / "nothing"))
    assert done.returncode == 2 and "cannot be started" in done.stderr


def test_times_that_fall_with_the_bytes_are_refused():
    falling = {"latency": {1: 2e-6, 1024: 1e-6}, "bw": {1: 1e-6, 1024: 1e-6}}
    with pytest.raises(FabricmarkError, match="do not grow"):
        new_network.fitted([falling])
