"""A launcher that hangs when all that it started has ended is killed: its children's exit code counts."""

import subprocess
import sys
import time

import pytest
from fabricmark.base import unreaped

HANGS = """
import subprocess, sys, time
print("said", flush=True)
print("an error", file=sys.stderr, flush=True)
kept = [subprocess.Popen([sys.executable, "-c", f"raise SystemExit({code})"]) for code in (0, 3)]
time.sleep(100)
"""
# A child that lives, beside one that has ended.
WORKS = """
import subprocess, sys, time
kept = [subprocess.Popen(["true"]), subprocess.Popen(["sleep", "1.5"])]
kept[1].wait()
raise SystemExit(1)
"""


def start(code):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], **pipes)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(unreaped, "INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(unreaped, "PATIENCE_SECONDS", 0.5)


def test_a_launcher_that_hangs_ends_with_the_code_of_its_children():
    with start(HANGS) as process:
        code, output, errors = unreaped.communicate(process, 60)
    assert (code, output, errors) == (3, "said\n", "an error\n")
    with start(HANGS) as process:
        assert unreaped.wait(process, unreaped.Launcher(process.pid)) == 3


@pytest.mark.parametrize(
    "ends, code",
    [(["exit 3", "kill -TERM $$"], 3), (["exit 0", "kill -TERM $$"], 143), (["exit 0", "exit 0"], 0)],
)
def test_a_child_that_a_signal_ended_counts_where_no_other_failed(ends, code):
    children = f'[subprocess.Popen(["sh", "-c", end]) for end in {ends}]'
    with start(f"import subprocess, time\nkept = {children}\ntime.sleep(100)") as process:
        assert unreaped.wait(process, unreaped.Launcher(process.pid)) == code


def test_one_whose_children_work_is_left_alone():
    with start(WORKS) as process:
        assert unreaped.communicate(process, 60)[0] == 1


def test_what_has_no_children_may_take_its_time():
    with start("import time; time.sleep(1)") as process:
        assert unreaped.wait(process, unreaped.Launcher(process.pid)) == 0


def test_a_time_limit_kills():
    with start("import time; time.sleep(100)") as process, pytest.raises(subprocess.TimeoutExpired):
        began = time.monotonic()
        unreaped.communicate(process, 0.2)
    assert process.returncode < 0 and time.monotonic() - began < 50
