"""The command that tests run under ends as what it starts does, whatever the system takes."""

import subprocess
import sys

import pytest
from conftest import REPOSITORY

TOOL = REPOSITORY / "tools" / "short_slices.py"


def started(*words):
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", [0, 7])
def test_the_command_runs_and_its_code_is_passed_on(code):
    done = started(sys.executable, "-c", f"print('ran'); raise SystemExit({code})")
    assert (done.returncode, done.stdout) == (code, "ran\n")


def test_without_a_command_it_says_what_it_is_for():
    done = started()
    assert done.returncode == 1 and "COMMAND" in done.stderr


def test_the_priority_stays():
    source = "import os; print(os.nice(3)); import short_slices; short_slices.ask(); print(os.nice(0))"
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=TOOL.parent, capture_output=True, text=True, check=False
    )
    before, after = done.stdout.split()
    assert before == after, done.stderr
