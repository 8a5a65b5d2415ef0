"""Man pages from help texts: every option is in them, and roff takes them without a warning."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(REPOSITORY / "tools"))
import man_pages

PROGRAMS = REPOSITORY / "build" / "release" / "bin"
OF_CLI11 = """Adds numbers: one after the other
Usage: fm_add [OPTIONS] [places...]

Positionals:
  places TEXT ...             memory of each side

Options:
  -h,--help                   Print this help message and exit
  --repetitions INT:INT in [1 - 100000000]
                              counted repetitions
  --path DIR\\NAME             a folder; 'quoted' and -dashed
                              .beginning with a full stop

"""
REQUESTS = (".TH", ".SH", ".SS", ".PP", ".TP", ".B")
DATE = "2026-01-02"


def warnings(text, folder):
    """What a formatter says of a page; without one, of its requests alone."""
    file = folder / "page.1"
    file.write_text(text, encoding="utf-8")
    unknown = [
        line for line in text.splitlines() if line[:1] in (".", "'") and line.split()[0] not in REQUESTS
    ]
    for words in (
        ["mandoc", "-T", "lint", "-W", "warning", file],
        ["groff", "-man", "-Tutf8", "-ww", "-z", file],
    ):
        if shutil.which(words[0]):
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
            unknown += (done.stdout + done.stderr).splitlines()
    return unknown


def shown(text, folder):
    """As a reader sees it, in one line; without `man` what is left without requests and escapes."""
    if shutil.which("mandoc"):
        file = folder / "page.1"
        file.write_text(text, encoding="utf-8")
        words = ["mandoc", "-T", "utf8", "-O", "width=500", file]
        text = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
        return " ".join(re.sub(".\b", "", text).split())
    text = re.sub(r"^\.\w+ ?", "", text, flags=re.MULTILINE)
    for escape, letter in (
        ("\\fB", ""),
        ("\\fI", ""),
        ("\\fR", ""),
        ("\\-", "-"),
        ("\\(aq", "'"),
        ("\\&", ""),
    ):
        text = text.replace(escape, letter)
    return " ".join(text.replace("\\e", "\\").split())


def test_the_parts_of_a_help_text():
    found = man_pages.parse(OF_CLI11)
    assert found.summary == "Adds numbers: one after the other"
    assert found.usage == "fm_add [OPTIONS] [places...]"
    assert [section.title for section in found.sections] == ["Positionals", "Options"]
    assert found.sections[1].items[1] == ("--repetitions INT:INT in [1 - 100000000]", "counted repetitions")
    assert found.sections[1].items[2][1].endswith("-dashed .beginning with a full stop")


def test_a_page_says_what_the_help_says_and_is_clean(tmp_path):
    text = man_pages.page("fm_add", man_pages.parse(OF_CLI11), "0.1.0", DATE)
    assert warnings(text, tmp_path) == []
    seen = shown(text, tmp_path)
    for part in (
        "--repetitions INT:INT in",
        "--path DIR\\NAME",
        "'quoted' and -dashed",
        "EXIT STATUS",
        "SEE ALSO",
    ):
        assert part in seen, (part, seen)
    assert "INVALID" in seen


def test_a_damaged_page_would_be_found(tmp_path):
    text = man_pages.page("fm_add", man_pages.parse(OF_CLI11), "0.1.0", DATE)
    assert warnings(text.replace(".TP", ".XY", 1), tmp_path)


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60))
def test_no_text_becomes_a_request(words):
    lines = man_pages.roff(words).splitlines() or [""]
    assert len(lines) == 1 or all(lines)
    assert not lines[0].startswith((".", "'"))
    assert not re.search(r"\\(?![e&(-])", lines[0])


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_parsed(text):
    for section in man_pages.parse(text).sections:
        assert section.items


@pytest.mark.programs
@pytest.mark.parametrize("name", ["fm_stream", "fm_latency", "fm_tune", "fabricmark-mesh"])
def test_every_option_of_a_program_is_in_its_page(name, tmp_path):
    program = PROGRAMS / name
    if not program.exists():
        pytest.skip("the programs are not built")
    said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    text = man_pages.page(name, man_pages.of_program(program), "0.1.0", DATE)
    assert warnings(text, tmp_path) == []
    seen = shown(text, tmp_path)
    options = re.findall(r"^ +(?:-\w,)?(--[\w-]+)", said, re.MULTILINE)
    assert len(options) >= 2 and [one for one in options if one not in seen] == []


def test_the_page_of_the_command_has_all_commands_and_options(tmp_path):
    import typer
    from fabricmark import cli
    from fabricmark.base import help

    found, more = man_pages.of_command()
    text = man_pages.page("fabricmark", found, "0.1.0", DATE, more)
    assert warnings(text, tmp_path) == []
    command = typer.main.get_command(cli.app)
    for words, option in help.options_of(command):
        title = man_pages.roff(" ".join(["fabricmark", *words]).upper())
        section = text.partition(f".SH {title}\n")[2].partition("\n.SH FABRICMARK")[0] if words else text
        assert man_pages.roff(option.opts[0]) in section, (words, option.opts)
    assert all(f"\\fB{man_pages.roff(name)}\\fR" in text for name in command.commands)


@pytest.mark.parametrize("epoch", ["0", "1767312000"])
def test_pages_are_the_same_each_time(tmp_path, monkeypatch, epoch, capsys):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    monkeypatch.setattr(man_pages, "of_command", lambda: (man_pages.Help(paragraphs=["The command"]), []))
    (tmp_path / "bin").mkdir()
    silent = tmp_path / "bin" / "fm_silent"
    silent.write_text("#!/bin/sh\nexit 3\n")
    silent.chmod(0o755)
    (file,) = man_pages.write(tmp_path, "0.1.0")
    assert {"0": "1970-01-01", "1767312000": "2026-01-02"}[epoch] in Path(file).read_text()
    assert "fm_silent has no help" in capsys.readouterr().err
