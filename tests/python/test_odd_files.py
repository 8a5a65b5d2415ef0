"""Files that are not what their name says, folders that are not there, and outputs that take nothing."""

import os
import subprocess

import pytest
import samples
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import lock

PRECIOUS = "not to be lost\n"


def taken(folder):
    with lock.exclusive(folder, "this"):
        return (folder / lock.FILE_NAME).read_text()


def test_a_lock_is_taken_again_and_again(tmp_path):
    assert taken(tmp_path) == taken(tmp_path) != ""


def test_a_lock_does_not_follow_a_link(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text(PRECIOUS)
    (tmp_path / lock.FILE_NAME).symlink_to(precious)
    with pytest.raises(FabricmarkError, match=r"symbolic link; choose another --output"):
        taken(tmp_path)
    assert precious.read_text() == PRECIOUS


@pytest.mark.parametrize("make", [lambda path: path.write_text(PRECIOUS), os.mkfifo])
def test_a_lock_does_not_empty_what_is_not_its_own(tmp_path, make):
    make(tmp_path / lock.FILE_NAME)
    with pytest.raises(FabricmarkError, match="is not a lock of this suite; move it"):
        taken(tmp_path)
    if (tmp_path / lock.FILE_NAME).is_file():
        assert (tmp_path / lock.FILE_NAME).read_text() == PRECIOUS


def test_a_lock_does_not_reach_a_file_through_a_hard_link(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text(PRECIOUS)
    (tmp_path / lock.FILE_NAME).hardlink_to(precious)
    with pytest.raises(FabricmarkError):
        taken(tmp_path)
    assert precious.read_text() == PRECIOUS


def test_a_pipe_among_the_results_is_named_and_the_others_are_shown(place, one_error_line):
    place.write("a.json", samples.result())
    os.mkfifo(place.results / "x.json")
    done = place.run("report", "results", "--full")
    assert "x.json: cannot be read: not a regular file" in one_error_line(done, 2)
    assert "triad" in done.stdout


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_only_regular_files_are_read(place, one_error_line, make):
    make(place.folder / "odd.toml")
    for words in (
        ["run", "odd.toml"],
        ["predict", "odd.toml", "stream"],
        ["compare", "odd.toml", "odd.toml"],
    ):
        one_error_line(place.run(*words), 2)
    with pytest.raises(OSError, match="not a regular file"):
        paths.content(place.folder / "odd.toml")


def test_the_cache_is_never_in_the_folder_of_the_moment(monkeypatch, tmp_path):
    monkeypatch.delenv("FABRICMARK_CACHE", raising=False)
    for home, xdg in (("", ""), ("there", "cache"), (None, None)):
        for name, value in (("HOME", home), ("XDG_CACHE_HOME", xdg), ("XDG_CONFIG_HOME", xdg)):
            monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
        assert paths.cache().is_absolute() and paths.configuration().is_absolute()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.cache() == tmp_path / ".cache" / "fabricmark"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert str(paths.cache()) == "/elsewhere/fabricmark"


def test_a_user_without_a_home(monkeypatch):
    for name in ("FABRICMARK_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4294967294)
    with pytest.raises(FabricmarkError, match="no account that names a home folder; set HOME"):
        paths.cache()


@pytest.mark.parametrize(
    ("words", "redirection", "code", "line"),
    [
        (["list"], ">/dev/full", 3, "cannot write standard output: No space left on device; "),
        (["--help"], ">/dev/full", 3, "cannot write standard output: No space left on device; "),
        (["list"], ">&-", 3, "standard output is closed; "),
        (["list"], "2>&- >/dev/null", 0, ""),
        (["list"], "| true", 141, ""),
        (["--version"], "| true", 141, ""),
    ],
)
def test_output_that_takes_nothing(place, words, redirection, code, line):
    script = f'"$@" {redirection}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *place.command(*words)],
        env=place.environment, cwd=place.folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(f"fabricmark: error: {line}" if line else "")
    assert len(done.stderr.splitlines()) == (1 if line else 0)
