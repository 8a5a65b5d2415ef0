"""Inputs that are valid in form: at least half give a figure, the others one line with cause and remedy."""

import os
import random
import subprocess

import pytest
import valid_inputs
from conftest import REPOSITORY, one_error_line
from declared import rows
from fabricmark.base.errors import FabricmarkError
from fabricmark.systems import export

HALF = 0.5
PROGRAMS = REPOSITORY / "build" / "release" / "bin"
pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository")]
# Seconds of each, on an emulated fabric or with many devices, that a test of forms need not spend.
LONG = ("hpl", "shallow_water")


def test_every_option_of_predict_is_drawn():
    known = set(valid_inputs.Prediction.MAKERS) | valid_inputs.PLACE | valid_inputs.ELSEWHERE
    assert valid_inputs.options_of_predict() == known


def predictions(source):
    """Command lines without end, over all that is declared and can be predicted."""
    while True:
        row = source.choice(rows())
        try:
            yield valid_inputs.Prediction(source, row).words()
        except FabricmarkError:
            continue  # test_declared.py tells why


def run_some(run, lines, count):
    """How many of so many command lines gave a figure."""
    passed = 0
    for _ in range(count):
        done = run(next(lines))
        assert "internal error" not in done.stderr, (done.args, done.stderr)
        if done.returncode == 0:
            passed += 1
        else:
            one_error_line(done, 2)
    return passed


@pytest.mark.parametrize("count", [24, pytest.param(700, marks=pytest.mark.full)])
def test_half_of_the_predictions_of_any_valid_options_are_figures(place, monkeypatch, count):
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull, "COLUMNS": "500"}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    passed = run_some(lambda words: place.run(*words, **own), predictions(random.Random(19)), count)
    assert passed >= HALF * count, f"{passed} of {count}"


def program_lines(source, folder):
    """Command lines of programs that simulate a described system: nothing is computed."""
    helps = {}
    while True:
        built = [one for one in rows() if one.bitstream and one.system != one.board]
        row = source.choice([one for one in built if one.benchmark not in LONG])
        program = PROGRAMS / f"fm_{row.benchmark}"
        if not program.exists() or row.transport == "channels":
            continue
        if program not in helps:
            helps[program] = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
        file = folder / f"{row.system}.json"
        if not file.exists():
            file.write_text(export.text(row.system))
        more = valid_inputs.of_program(source, row, helps[program])
        yield [program, "--timing-only", "--system", file, "--bitstream-id", row.bitstream, *more]


@pytest.mark.parametrize("count", [16, pytest.param(300, marks=pytest.mark.full)])
def test_half_of_the_runs_of_any_valid_options_give_times(tmp_path, count):
    lines, passed = program_lines(random.Random(19), tmp_path), 0
    for _ in range(count):
        words = next(lines)
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert done.returncode in (0, 2), (words, done.stderr)
        passed += done.returncode == 0
        if done.returncode != 0:
            (line,) = done.stderr.splitlines()
            assert ": error: " in line and "; " in line
    assert passed >= HALF * count, f"{passed} of {count}"
