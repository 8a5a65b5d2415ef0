"""`fabricmark explore --calibrate`: designs have the values of a system that rows of one's own moved."""

import os
import re
from dataclasses import replace

import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.predict import calibrated
from fabricmark.validate import learned
from inspect_support import needs_clang
from test_predict_learning import ROWS, file_of

pytestmark = needs_clang
SHARE = 0.6


@pytest.fixture(name="explore")
def explore_of_the_repository(place):
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    return lambda *words: place.run("explore", *words, **own)


def slower(tmp_path, benchmark):
    """Published rows of Noctua 1, as of a machine that is slower."""
    rows = [row for _, row in ROWS if (row.benchmark, row.system) == (benchmark, "noctua1")]
    return file_of(tmp_path, [replace(row, value=SHARE * row.value) for row in rows])


def best_of(done):
    """Cells of the first design."""
    assert done.returncode == 0, done.stderr
    return next(line.split() for line in done.stdout.splitlines() if line.strip().startswith("1 "))


def test_designs_are_as_much_slower_as_the_rows_say(explore, tmp_path):
    words = ["stream", "--system", "noctua1", "--top", "1"]
    usual, now = explore(*words), explore(*words, "--calibrate", slower(tmp_path, "stream"))
    assert float(best_of(now)[5]) / float(best_of(usual)[5]) == pytest.approx(SHARE, rel=0.05)
    assert "all rates" in now.stdout and "as rows moved them" in now.stdout


def test_a_benchmark_of_which_no_row_tells_keeps_its_designs(tmp_path):
    rows = [(line, row) for line, row in ROWS if row.benchmark == "stream"]
    known = calibrated.read([file_of(tmp_path, [row for _, row in rows])], systems.load("noctua1"),
                            "noctua1", "fitted")  # fmt: skip
    system = systems.load("noctua1")
    assert calibrated.moved(known.learned, system, "gemm", "none") == system
    assert isinstance(known.learned, learned.Learned)


def test_rows_that_are_nowhere_are_refused(explore, one_error_line, tmp_path):
    done = explore("stream", "--system", "noctua1", "--calibrate", tmp_path / "nowhere.csv", "--top", "1")
    assert "there is no file" in one_error_line(done, 2)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("benchmark", "more"), [("gemm", ()), ("b_eff", ("--transport", "channels", "--devices", "2"))]
)
def test_the_clock_has_the_values_that_rows_moved(explore, tmp_path, benchmark, more):
    """Both are as much slower; with the values of the files the clock would be 1 / SHARE off."""
    words = [benchmark, "--system", "noctua1", "--top", "1", *more, "--confirm"]
    done = explore(*words, "--calibrate", slower(tmp_path, benchmark))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all rates" in done.stdout or "latency" in done.stdout
    assert re.search(r"([1-3]) of \1 confirmed", done.stdout)
