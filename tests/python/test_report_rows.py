"""`report --csv` and `--markdown`: every metric of every run, with unit, kind, axes and verdict."""

import csv
import inspect
import io
import re

import pytest
import samples
from conftest import REPOSITORY
from fabricmark import cli, results
from fabricmark.base import cells


@pytest.fixture
def written(place):
    place.write("a.json", samples.result())
    place.write("b.json", samples.b_eff(kind="emulated"))
    place.write("c.json", samples.result(status="failed", ranks=2))
    return place


def test_csv_has_every_metric(written):
    done = written.run("report", "results", "--full", "--csv", "found.csv")
    assert done.returncode == 1 and "triad" in done.stdout  # one result is wrong
    rows = list(csv.DictReader(io.StringIO((written.folder / "found.csv").read_text())))
    loaded = [results.load(written.results / f"{name}.json") for name in "abc"]
    expected = [(result, entry) for result in loaded for entry in result.measurements]
    assert len(rows) == len(expected)
    for row, (result, entry) in zip(rows, expected, strict=True):
        assert (row["metric"], row["unit"], row["kind"]) == (entry.name, entry.unit, entry.kind)
        assert float(row["best"]) == pytest.approx(entry.best)
        assert {f"axis {axis}": str(value) for axis, value in entry.axes.items()}.items() <= row.items()
        assert (row["verdict"], row["ranks"]) == (result.verdict(), str(result.ranks))
        assert row["file"] == f"results/{result.path.name}"
        assert not row["modelled"] or entry.kind == "measured"


def test_markdown_goes_to_standard_output_alone(written):
    done = written.run("report", "results/a.json", "--markdown", "-")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert all(line.startswith("| ") and line.endswith(" |") for line in lines)
    assert len({line.count("|") for line in lines}) == 1
    assert len(lines) == 2 + len(results.load(written.results / "a.json").measurements)


def test_a_name_cannot_break_the_table(place):
    device = {**samples.DEVICE, "name": 'a|b\n,"c" \x1b[2J'}
    place.write("a.json", samples.result(device=device))
    lines = place.run("report", "results", "--markdown", "-").stdout.splitlines()
    assert "a\\|b" in lines[2] and "\x1b" not in lines[2]
    (row, *_) = csv.DictReader(io.StringIO(place.run("report", "results", "--csv", "-").stdout))
    assert row["device"] == 'a|b ,"c" \\x1b[2J'


def test_two_tables_in_one_place_are_refused(written, one_error_line):
    done = written.run("report", "results", "--csv", "-", "--markdown", "-")
    assert "--csv and --markdown both to -" in one_error_line(done, 2)


def test_a_place_that_cannot_be_written(written, one_error_line):
    (written.folder / "file").write_text("")
    done = written.run("report", "results/a.json", "--csv", "file/found.csv")
    assert "cannot write" in one_error_line(done, 2)


FORMS = {
    "--html": "page.html", "--png": "pictures", "--svg": "table.svg", "--csv": "rows.csv",
    "--markdown": "rows.md",
}  # fmt: skip


def test_every_output_form_of_a_calibrated_run(calibrated):
    """Results as `make run` leaves them: models and limits stand beside what was measured."""
    for number, document in enumerate((samples.result(), samples.b_eff(), samples.gemm(), samples.fft())):
        calibrated.write(f"{number}.json", document)
    words = [word for form in FORMS.items() for word in form]
    done = calibrated.run("report", "results", *words)
    assert done.returncode == 0, done.stderr
    assert all((calibrated.folder / name).exists() for name in FORMS.values())
    shown = (calibrated.folder / "rows.md").read_text()
    assert re.search(r"\| [+-]\d+ % \|", shown) and re.search(r"\| \d+ % \|", shown)  # errors, efficiencies


def test_the_forms_are_all_that_there_are():
    """A new output of `report` joins the test of all of them."""
    command = inspect.signature(cli.report_command)
    files = [name for name, one in command.parameters.items() if "Path | None" in str(one.annotation)]
    assert {f"--{name}" for name in files} - {"--reference"} == set(FORMS)


@pytest.mark.parametrize("name", ['=HYPERLINK("http://evil","x")', "+1+1", "-2-3", "@SUM(A1)", "<img src=x>"])
def test_a_name_is_no_formula_and_no_tag(place, name):
    document = samples.result(device={**samples.DEVICE, "name": name})
    document["environment"]["host"]["name"] = name
    place.write("a.json", document)
    place.run("report", "results", "--csv", "a.csv", "--markdown", "a.md")
    (row, *_) = csv.DictReader(io.StringIO((place.folder / "a.csv").read_text()))
    assert {row["device"], row["host"]} == {name if name[0] == "<" else f"'{name}"}
    assert "<" not in (place.folder / "a.md").read_text()


def test_cells_are_escaped_in_one_place():
    """No other code of the package writes CSV."""
    writers = [
        file.relative_to(REPOSITORY).as_posix()
        for file in (REPOSITORY / "python").rglob("*.py")
        if re.search(r"csv\.(writer|DictWriter)", file.read_text())
    ]
    assert writers == ["python/fabricmark/base/cells.py"]
    assert cells.as_csv([["a"], [-3], ["-3.5"], [None], ["-x"]]) == 'a\n-3\n-3.5\n""\n\'-x\n'
