"""Tables on terminals of 80, 100 and 140 columns: every name and every number is whole."""

import fcntl
import io
import itertools
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
import samples
from conftest import REPOSITORY
from fabricmark import results
from fabricmark.base import terminal
from fabricmark.base.terminal import Column
from fabricmark.report import families
from rich.console import Console

WIDTHS = (80, 100, 140)
LONG = {**samples.DEVICE, "name": "pthread-skylake-avx512-Intel(R) Xeon(R) Platinum 8368 Processor @ 2.40GHz"}


def shown(columns, rows, width):
    out = Console(file=io.StringIO(), width=width)
    return terminal.show(out, columns, rows), out.file.getvalue()


def words_of(text):
    """Runs of characters between two spaces or more, and the words of them."""
    return {*re.split(r"\s{2,}|, |\n", text), *(word.rstrip(",") for word in text.split())}


def check_whole(text, loaded, width):
    """Everything that a report says of results is there, and uncut."""
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    names = [result.device["name"] for result in loaded]
    for line in text.splitlines():
        assert len(line.rstrip()) <= width or any(name in line for name in names), line
    there = words_of(text)
    for result in loaded:
        assert result.device["name"] in text and result.benchmark in there
        for measurement, _ in families.condensed(result.measurements):
            for value in (measurement.best, measurement.median):
                assert terminal.number(value) in there
            assert measurement.unit in text and families.words(measurement.name) in text
            for axis, value in measurement.axes.items():
                assert families.cell_text(axis, value) in text


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_shows_every_name_and_number(place, width):
    makers = (samples.result, samples.b_eff, samples.host_transfer, samples.fft, samples.gemm)
    documents = [make() for make in makers]
    documents[0]["environment"]["device"] = LONG
    for number, document in enumerate(documents):
        place.write(f"{number}.json", document)
    done = place.run("report", "results", "--full", COLUMNS=str(width))
    assert done.returncode == 0, done.stderr
    check_whole(done.stdout, [results.load(file) for file in sorted(place.results.iterdir())], width)


@pytest.mark.programs
def test_real_results_on_three_terminals(with_programs):
    runs = {
        "b_eff": ["--ranks", "2", "--", "--messages", "2"],
        "host_transfer": ["--", "--largest", "20"],
        "gemm": ["--", "--size", "256"],
    }
    for name, words in runs.items():
        done = with_programs.run("run", name, *words, "--repetitions", "2", COLUMNS="80")
        assert done.returncode == 0, done.stderr
    loaded = [results.load(file) for file in sorted(with_programs.results.glob("*.json"))]
    for width in WIDTHS:
        done = with_programs.run("report", "results", "--full", COLUMNS=str(width))
        check_whole(done.stdout, loaded, width)


def on_a_terminal(place, width, *words):
    """What a command prints on a pseudo-terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {key: value for key, value in place.environment.items() if key != "COLUMNS"}
    with subprocess.Popen(
        place.command(*words), stdin=theirs, stdout=theirs, stderr=theirs, cwd=place.folder,
        env={**environment, "TERM": "xterm", "NO_COLOR": "1"},
    ) as process:  # fmt: skip
        os.close(theirs)
        read = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                more = b""
            if not more:
                break
            read += more
    os.close(ours)
    assert process.returncode == 0, read
    return re.sub(r"\x1b\[[0-9;]*m", "", read.decode()).replace("\r\n", "\n")


def test_a_terminal_of_80_columns(place):
    place.write("one.json", samples.b_eff())
    text = on_a_terminal(place, 80, "report", "results", "--full")
    check_whole(text, [results.load(place.results / "one.json")], 80)
    assert text == on_a_terminal(place, 80, "report", "results/one.json", "--full")


@pytest.mark.parametrize("width", WIDTHS)
def test_comparisons_are_whole(place, width):
    for side in ("a", "b"):
        folder = place.folder / side
        folder.mkdir()
        for number in range(3):
            document = samples.b_eff()
            document["run"]["started"] = f"2026-01-0{number + 1}T00:00:00.000000Z"
            (folder / f"{number}.json").write_text(json.dumps(document))
    done = place.run("compare", "a", "b", "--json", "found.json", COLUMNS=str(width))
    assert done.returncode == 0, done.stderr
    there = words_of(done.stdout)
    for row in json.loads((place.folder / "found.json").read_text())["metrics"]:
        interval = " to ".join(terminal.number(value) for value in row["interval"])
        for word in (terminal.number(row["base"]), f"{row['ratio']:.3f}", interval, row["verdict"]):
            assert word in there
    assert all(len(line) <= width for line in done.stdout.splitlines())


@pytest.mark.parametrize("width", WIDTHS)
def test_scaling_is_whole(place, width):
    done = place.run("scale", "stream", "--devices", "1,2,4", "--in-process", COLUMNS=str(width))
    assert done.returncode == 0, done.stderr
    (file,) = place.results.glob("scale-*/scaling.json")
    there = words_of(done.stdout)
    for entry in json.loads(file.read_text())["series"]:
        assert entry["operation"] in there and entry["unit"] in there
        for key in ("best", "median", "speed_up", "per_replication"):
            assert all(terminal.number(value) in there for value in entry[key] if value is not None)
    assert all(len(line) <= width for line in done.stdout.splitlines() if "summary" not in line)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["hpl", "b_eff"])
def test_predictions_are_whole(place, of_the_repository, width, name):
    words = ("predict", name, "--system", "noctua1", "--devices", "1..16", "--csv", "found.csv")
    done = place.run(*words, COLUMNS=str(width), FABRICMARK_ROOT=str(REPOSITORY))
    assert done.returncode == 0, done.stderr
    there = words_of(done.stdout)
    for count in ("1", "4", "16"):
        assert count in there
    assert all(len(line.rstrip()) <= width for line in done.stdout.splitlines())
    assert "\N{HORIZONTAL ELLIPSIS}" not in done.stdout


@pytest.mark.parametrize(
    "words, width",
    [
        *itertools.product(("list", "list gemm", "systems list", "systems show noctua1"), WIDTHS),
        ("validate", WIDTHS[0]),
        *(pytest.param("validate", one, marks=pytest.mark.full) for one in WIDTHS[1:]),
    ],
)
def test_listings_break_between_words_only(place, of_the_repository, width, words):
    own = {"FABRICMARK_ROOT": str(REPOSITORY)}
    narrow = place.run(*words.split(), COLUMNS=str(width), **own).stdout
    wide = place.run(*words.split(), COLUMNS="10000", **own).stdout
    assert "\N{HORIZONTAL ELLIPSIS}" not in narrow
    headings = {"quantity", "option", "-"}  # which blocks of lines have no need of
    units = set(re.findall(r"^ *unit: (\S+), ", narrow, re.MULTILINE))  # which a block's line goes on behind
    assert set(wide.split()) - headings <= set(narrow.replace(":", "").split()) | set(narrow.split()) | units


COLUMNS = (
    Column("operation", key=True),
    Column("kind", once=True),
    *terminal.numbers("best", "largest of all"),
    Column("note", prose=True),
)
ROWS = [["triad", "measured", "12.34", "-", "why it is so"], ["copy", "measured", "5.6", "-", ""]]


def test_empty_columns_are_left_out_and_constant_ones_said_once():
    headings, text = shown(COLUMNS, ROWS, 80)
    assert headings == {"operation", "kind", "best", "note"}
    assert text.splitlines()[0] == "kind: measured"
    assert text.count("measured") == 1 and "largest" not in text


def test_what_differs_stays_in_the_table():
    mixed = [ROWS[0], [*ROWS[1][:1], "emulated", *ROWS[1][2:]]]
    text = shown(COLUMNS, mixed, 80)[1]
    assert text.splitlines()[0].split() == ["operation", "kind", "best", "note"]


def test_too_many_columns_become_several_tables_each_with_the_keys():
    columns = [Column("operation", key=True), *terminal.numbers(*(f"number {i}" for i in range(20)))]
    rows = [[name, *(f"{i}.123456" for i in range(20))] for name in ("triad", "copy")]
    text = shown(columns, rows, 60)[1]
    assert text.count("triad") == text.count("operation") == text.count("\n\n") + 1 > 1
    assert all(text.count(f" {i}.123456") == 2 for i in range(20))
    assert all(len(line) <= 60 for line in text.splitlines())


def test_names_wider_than_the_terminal_get_a_line_of_their_own():
    name = "a name " * 20 + "end"
    text = shown(COLUMNS, [[name, "measured", "12.34", "7", "why"], ROWS[1]], 60)[1]
    assert name in text.splitlines()
    assert "  best: 12.34, largest of all: 7" in text.splitlines()


@pytest.mark.parametrize("width", range(1, 100, 7))
def test_nothing_is_lost_at_any_width(width):
    rows = [[f"row {i}", "measured", f"{10**i}", f"{i / 7:.6f}", "some words that go on"] for i in range(9)]
    text = shown(COLUMNS, rows, width)[1]
    for row in rows:
        assert all(word in text for word in row[:4])
    assert text.split().count("words") == 9


def test_prose_keeps_what_belongs_together():
    parts = [f"phase {i} (10 %)" for i in range(8)]
    columns = (Column("name", key=True), Column("phases", prose=True))
    text = shown(columns, [["x", terminal.items(parts)]], 40)[1]
    assert all(part in text for part in parts) and len(text.splitlines()) > 3


def test_the_width_of_a_pipe_is_that_of_columns(monkeypatch):
    for given, width in (("93", 93), ("0", 130), ("many", 130), ("", 130)):
        monkeypatch.setenv("COLUMNS", given)
        assert terminal.console().width == width
