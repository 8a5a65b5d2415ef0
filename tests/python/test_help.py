"""`--help` of the command: headings, a word for every value, and no word of typer's or of nobody's."""

import re
import subprocess
from collections import Counter

import pytest
import typer
from conftest import REPOSITORY
from fabricmark import cli
from fabricmark.base import help

PROGRAMS = REPOSITORY / "build" / "release" / "bin"
COMMAND = typer.main.get_command(cli.app)
OPTIONS = help.options_of(COMMAND)


def test_every_option_has_a_word_for_its_value():
    plain = [one.opts[0] for _, one in OPTIONS if not one.is_flag and not one.metavar]
    assert plain == []


def test_every_option_of_a_long_list_has_a_heading():
    lengths = Counter(tuple(words) for words, _ in OPTIONS)
    left = [
        (*words, one.opts[0])
        for words, one in OPTIONS
        if lengths[tuple(words)] >= help.FEW and help.heading(one) == help.OTHERS
    ]
    assert left == []


def test_headings_and_words_name_nothing_that_is_not_there():
    known = {one.opts[0] for _, one in OPTIONS} | {"--help"}
    named = [name for names in help.HEADINGS.values() for name in names.split()]
    assert set(named) | set(help.VALUES) <= known
    assert [name for name, times in Counter(named).items() if times > 1] == []
    assert sorted(name for door in help.DOORS.values() for name in door.split()) == sorted(COMMAND.commands)


def test_help_of_all_commands_at_80_columns(place):
    for words in dict.fromkeys(tuple(words) for words, _ in OPTIONS):
        command = COMMAND
        context = typer.Context(COMMAND, info_name="fabricmark", terminal_width=80)
        for word in words:
            command = command.commands[word]
            context = typer.Context(command, parent=context, info_name=word)
        text = command.get_help(context)
        assert all(len(line) <= 80 for line in text.splitlines()), words
        assert not re.search(r"<(str|int|float|path|list|file)\b|TEXT\.\.\.|<=x|x<=|x>=|INTEGER", text), words
        for _, option in (one for one in OPTIONS if tuple(one[0]) == words):
            own = rf"^  (-\w, )?{option.opts[0]}\b(?!-)"
            assert len(re.findall(own, text, re.MULTILINE)) == 1, option.opts


def test_many_options_stand_under_headings_and_few_in_one_list(place):
    shown = place.run("run", "--help", COLUMNS="80").stdout
    titles = re.findall(r"^(\w[\w ]*):$", shown, re.MULTILINE)
    assert titles == [
        "Arguments", "System and device", "Kernel", "Ranks and transport", "Measurement", "Output",
    ]  # fmt: skip
    assert "--ranks N " in shown and "[1 to 1024]" in shown and "-q, --quiet" in shown
    assert shown.startswith("Usage: fabricmark run [OPTIONS] NAME [-- OPTIONS OF THE PROGRAM]\n")
    few = place.run("verify", "--help").stdout
    assert re.findall(r"^(\w[\w ]*):$", few, re.MULTILINE) == ["Arguments", "Options"]


def test_commands_stand_under_the_doors_with_whole_sentences(place):
    shown = place.run("--help", COLUMNS="80").stdout
    assert re.findall(r"^(\w+):$", shown, re.MULTILINE) == ["Options", *help.DOORS]
    assert "..." not in shown.partition("Measure:")[2].replace("(GEBCO, ETOPO, ...)", "")
    below = place.run("mesh", "--help", COLUMNS="80").stdout
    assert re.findall(r"^(\w+):$", below, re.MULTILINE) == ["Options", "Commands"]
    assert "..." not in below.partition("Commands:")[2]


@pytest.mark.parametrize("words", [[], ["--full"]], ids=["one", "full"])
def test_a_run_prints_nothing_twice(place, words):
    done = place.run("run", "stream", *words, FAKE_SAYS="triad 1.2 GB/s of the program")
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    assert [line for line in lines if "of the program" in line] == []
    assert [line for line, times in Counter(lines).items() if times > 1] == []
    assert "size=2^25" in done.stdout  # what the program's own table says beside its values
    assert "valid: array a: largest relative error 0, at most 1e-06 allowed" in done.stdout


def test_a_program_that_leaves_no_result_is_heard(place):
    done = place.run("run", "stream", FAKE_SAYS="what it says", FAKE_SILENT="1", FAKE_EXIT="3")
    assert done.returncode == 3 and "what it says" in done.stdout


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_leaves_the_closing_line_and_errors(place, option):
    done = place.run("run", "stream", option, FAKE_SAYS="what it says")
    (line,) = done.stdout.splitlines()
    assert re.fullmatch(r"=+ 1 valid, 0 invalid, 0 failed, 0 skipped in \S+ s =+", line)
    assert place.run("run", "stream", option).stderr == ""
    said = {"FAKE_WORDS": "fm_stream: error: no device; install one\n", "FAKE_EXIT": "3", "FAKE_SILENT": "1"}
    assert place.run("run", "stream", option, **said).stderr == said["FAKE_WORDS"]


def test_a_quiet_campaign_ends_with_two_lines(place):
    file = place.folder / "two.toml"
    file.write_text('name = "two"\n[[runs]]\nbenchmark = "stream"\n[runs.matrix]\nbuffer_size = [16, 32]\n')
    done = place.run("run", file, "-q")
    assert "2 valid" in done.stdout.splitlines()[0] and "2 points: 2 run" in done.stdout.splitlines()[1]
    assert len(done.stdout.splitlines()) == 2 and "[1/2]" not in done.stderr


@pytest.mark.programs
def test_programs_name_the_values_of_their_options():
    """Numbers as N or X, texts by what they are; TEXT is left for transports of the user's own."""
    files = sorted(file for file in PROGRAMS.glob("fm_*") if file.name != "fm_omb")
    if not files:
        pytest.skip("the programs are not built")
    unnamed = []
    for file in files:
        shown = subprocess.run([file, "--help"], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^  -\S+ (?:TEXT|INT|UINT|FLOAT)\b", shown, re.MULTILINE)
        unnamed += [f"{file.name}: {line.strip()}" for line in found]
    assert unnamed == []
