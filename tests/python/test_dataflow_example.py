"""The example of docs/dataflow.md: short, and the same in threads and in processes."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from stream_program import mpirun

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "docs" / "examples" / "two_devices"
PROGRAM = REPOSITORY / "build" / "release" / "bin" / "example_two_devices"
MOST_LINES = 80
WORDS = 1000
WORD_BYTES = 64


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def modelled_us(system: dict) -> float:
    """Launch, latency of the pipeline and of the link, and the words, each so many cycles of the link."""
    device = {name: entry["value"] for name, entry in system["devices"][0]["values"].items()}
    link = {name: entry["value"] for name, entry in system["networks"][0]["values"].items()}
    cycles = WORDS * WORD_BYTES / link["width_bytes"]
    depths = 2 * 20 + 1  # of two pipelines and a FIFO
    seconds = device["launch_seconds"] + link["latency_seconds"] + (cycles + depths) / link["clock_hz"]
    return 1e6 * seconds


def test_it_is_short():
    lines = sum(len(file.read_text().splitlines()) for file in FOLDER.glob("*.cpp"))
    assert lines < MOST_LINES


def test_it_says_the_same_in_every_way(system):
    alone = run(str(PROGRAM), str(system))
    found = re.fullmatch(r"33 in ([0-9.]+) us\n", alone)
    assert found, alone
    assert float(found[1]) == pytest.approx(modelled_us(json.loads(system.read_text())), rel=0.001)
    assert run(*mpirun(2), str(PROGRAM), str(system)) == alone


@pytest.mark.parametrize(
    "part, key, factor",
    [
        ("networks", "latency_seconds", 2),
        ("networks", "clock_hz", 0.5),
        ("networks", "width_bytes", 0.5),
        ("devices", "launch_seconds", 2),
    ],
)
def test_each_value_of_the_system_moves_its_time(system, tmp_path, part, key, factor):
    document = json.loads(system.read_text())
    before = modelled_us(document)
    entry = document[part][0]["values"][key]
    entry["value"] = type(entry["value"])(entry["value"] * factor)
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(document))
    seconds = float(run(str(PROGRAM), str(file)).split()[2])
    assert seconds == pytest.approx(modelled_us(document), rel=0.001)
    assert seconds > before * 1.005


def test_a_missing_system_is_one_line(tmp_path):
    ended = subprocess.run([str(PROGRAM), str(tmp_path / "none.json")], capture_output=True, text=True)
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "none.json" in ended.stderr
