"""A document that an option sends to standard output stands alone there, whatever else the command prints."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
import samples
import typer
from fabricmark import cli

REPOSITORY = Path(__file__).parents[2]
PUBLISHED = REPOSITORY / "data/published/hpcc_fpga_2021.csv"
DOCUMENTS = {"--json": json.loads, "--csv": lambda text: list(csv.DictReader(io.StringIO(text)))}
# Of each command with such an option, one that prints tables or lines beside the document.
COMMANDS = [
    ("report", "results", "--csv"),
    ("compare", "--base", "results/one.json", "--new", "results/two.json", "--json"),
    ("predict", "stream", "--system", "noctua1", "--csv"),
    ("simulate", "barrier", "--system", "leaf_spine", "--ranks", "4", "--csv"),
    ("inspect", "stream", "--json"),
    ("explore", "fft", "--system", "noctua1", "--json"),
    ("validate", "--fit", "--data", "few.csv", "--csv"),
]
# Runs programs for its document.
UNTRIED = {("ab", "--json")}


def options():
    """(command, option) of all that write a document to a file."""
    commands = typer.main.get_command(cli.app).commands
    return {
        (name, option)
        for name, command in commands.items()
        for parameter in command.params
        for option in {*parameter.opts} & {*DOCUMENTS}
    }


def test_every_option_for_a_document_is_tried():
    tried = {(command[0], command[-1]) for command in COMMANDS}
    assert options() == tried | UNTRIED


@pytest.fixture
def run(place):
    """`fabricmark words...` with the repository's systems, two results and a few published rows."""
    for name in ("one", "two"):
        place.write(f"{name}.json", samples.result())
    (place.folder / "few.csv").write_text(PUBLISHED.read_text())
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    return lambda *words: place.run(*words, **own)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_nothing_stands_beside_a_document(run, words):
    done = run(*words, "-")
    assert done.returncode == 0, done.stderr
    assert DOCUMENTS[words[-1]](done.stdout)
    alone = run(*words[:-1])
    assert alone.stdout and alone.stdout != done.stdout


@pytest.mark.parametrize("file", ["--csv=-", "--csv=/dev/stdout", "--csv=/dev/fd/1"])
def test_standard_output_by_other_names(run, file):
    words = COMMANDS[2][:-1]
    assert run(*words, file).stdout == run(*words, "--csv", "-").stdout
