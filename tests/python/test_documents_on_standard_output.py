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
    ("inspect", "stream", "--json"),
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


@pytest.mark.parametrize("file", ["-", "/dev/stdout"])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_nothing_stands_beside_a_document(place, words, file):
    for name in ("one", "two"):
        place.write(f"{name}.json", samples.result())
    (place.folder / "few.csv").write_text(PUBLISHED.read_text())
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    done = place.run(*words, file, **own)
    assert done.returncode == 0, done.stderr
    assert DOCUMENTS[words[-1]](done.stdout)
    joined = place.run(*words[:-1], f"{words[-1]}={file}", **own)
    assert joined.stdout == done.stdout
    alone = place.run(*words[:-1], **own)
    assert alone.stdout and alone.stdout != done.stdout
