"""No command prints a traceback: each wrong input ends in one line with cause and remedy, and not with 0."""

import shutil
import signal
import subprocess

import pytest
from conftest import REPOSITORY, Place, one_error_line
from fabricmark.base import kernels
from wrong_inputs import prepare, table

TABLE = table()
SECONDS = 60  # no input may be waited for


class TooLong(BaseException):
    """Nothing catches it."""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    """`fabricmark words...` with the repository's benchmarks, systems and data; programs are stand-ins."""
    place = Place(tmp_path_factory.mktemp("wrong"))
    for name in ("src", "kernels", "systems", "data"):
        shutil.rmtree(place.root / name, ignore_errors=True)
        (place.root / name).symlink_to(REPOSITORY / name)
    shutil.copy(place.programs / "fm_stream", place.programs / "fm_gemm")
    known = prepare(place.folder / "wrong")

    def run(words, **variables):
        def too_long(*_):
            raise TooLong

        before = signal.signal(signal.SIGALRM, too_long)
        signal.alarm(SECONDS)
        try:
            return place.run(*(fill(word, known) for word in words), **variables)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    run.command = lambda words: place.command(*(fill(word, known) for word in words))
    run.environment = place.environment
    return run


def fill(word, known):
    for name, path in known.items():
        word = word.replace(f"{{{name}}}", path)
    return word


def test_the_table_is_large_enough():
    assert len({tuple(words) for _, words in TABLE}) >= 200
    assert len(dict(TABLE)) == len(TABLE)  # as many names
    commands = {words[0] for _, words in TABLE}
    assert {"run", "list", "scale", "report", "compare", "ab", "systems", "predict", "validate"} <= commands


@pytest.mark.parametrize("words", [words for _, words in TABLE], ids=[ascii(name) for name, _ in TABLE])
def test_a_wrong_input_is_one_line(wrong, words):
    done = wrong(words)
    assert done.returncode in (2, 3), (done.returncode, done.stderr, done.stdout)
    line = one_error_line(done, done.returncode)
    assert "internal error" not in line, line
    assert len(line) < 2000 + sum(map(len, words))


@pytest.mark.parametrize("number", range(0, len(TABLE), len(TABLE) // 3))
def test_the_same_in_a_process_of_its_own(wrong, tmp_path, number):
    words = [word for word in TABLE[number][1] if word.isprintable()]
    done = subprocess.run(
        wrong.command(words), env=wrong.environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (2, 3)
    one_error_line(done, done.returncode)


def test_what_nothing_foresees_is_one_line_and_a_traceback_on_request(wrong, monkeypatch):
    def fails(*_):
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr(kernels, "kernel", fails)
    line = one_error_line(wrong(["list", "stream"]), 3)
    assert "internal error: ZeroDivisionError: two lines; please report it" in line
    with pytest.raises(ZeroDivisionError):
        wrong(["list", "stream"], FABRICMARK_DEBUG="1")


PROGRAMS = sorted(path.parent.name for path in (REPOSITORY / "kernels").glob("*/kernel.toml"))
WRONG_OPTIONS = (
    ["--nothing"],
    ["--repetitions", "-1"],
    ["--json"],
    ["--kernel-file", "/nowhere.cl"],
    ["\udcff"],
)


@pytest.mark.programs
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_say_it_in_one_line_too(name, tmp_path):
    program = REPOSITORY / "build" / "release" / "bin" / f"fm_{name}"
    for words in WRONG_OPTIONS:
        command = [str(program), *words]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120
        )
        assert done.returncode in (2, 3), (words, done.stderr)
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"fm_{name}: error: ") and "; " in line
