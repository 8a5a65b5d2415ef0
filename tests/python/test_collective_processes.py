"""Collective calls over links and hosts by several processes: results and modelled times as in threads."""

import subprocess
from pathlib import Path

from stream_program import mpirun

REPOSITORY = Path(__file__).parents[2]
PROGRAM = REPOSITORY / "build" / "release" / "bin" / "collective_ranks"
RANKS = 4
OPERATIONS = 9


def run(launcher: list[str]) -> list[str]:
    command = [*launcher, str(PROGRAM)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()


def test_processes_get_the_results_and_modelled_times_of_threads():
    expected = run([])
    assert len({line.split()[0] for line in expected}) == OPERATIONS
    assert all(": 0 wrong, " in line for line in expected)
    over_links = [line for line in expected if line.startswith("all_reduce ring:")]
    assert float(over_links[0].split()[-2]) > 0
    assert run(mpirun(RANKS)) == expected
