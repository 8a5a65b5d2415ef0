"""The line of a report that says how far off the models were."""

import io

import pytest
import samples
from fabricmark import results
from fabricmark.report import model_errors, run_tables
from fabricmark.report.model_errors import Compared
from rich.console import Console


def rows(*errors, best=10.0, about="row"):
    return [Compared((about, place), best, error) for place, error in enumerate(errors)]


def shown(place, *documents):
    """The report of these runs, its spaces and breaks of lines made one."""
    files = [place.write(f"{number}.json", document) for number, document in enumerate(documents)]
    console = Console(file=io.StringIO(), width=200)
    run_tables.show([results.load(file) for file in files], console)
    return " ".join(console.file.getvalue().split())


def slower(factor):
    """A run of STREAM that took so many times as long."""
    document = samples.result()
    document["measurements"] = [
        samples.measurement(operation, [[factor * 0.01, factor * 0.012, factor * 0.011]])
        for operation in samples.STREAMS
    ]
    return document


def test_median_and_most_of_the_rows():
    assert model_errors.line(rows(*(share / 100 for share in range(1, 12)))) == (
        "errors of 11 rows: median 6 %, p90 10 %"
    )
    assert model_errors.line(rows(0.2, None, None)) == (
        "errors of 1 row: median 20 %, p90 20 %; 2 more have no model"
    )
    assert model_errors.line(rows(None)) == model_errors.line([]) == ""


def test_a_row_may_be_off_by_what_repeated_runs_differ_by():
    """Of two rows that are off by 15 % one is of a machine that differs by 10 % itself."""
    steady, moved = rows(0.15, about="steady"), rows(0.15, about="moved")
    again = [*rows(0.15, best=10.1, about="steady"), *rows(0.15, best=11.0, about="moved")]
    found = model_errors.errors([*steady, *moved, *again])
    assert found.spreads == [pytest.approx(0.01), pytest.approx(0.1)]
    assert found.within == 0.5
    assert "; bests of repeated runs differ by a median of 6 %, p90 10 %; 50 % of the rows" in (
        model_errors.line([*steady, *moved, *again])
    )


def test_below_the_tables_of_several_runs(calibrated):
    assert "errors of" not in shown(calibrated, samples.result())
    several = shown(calibrated, samples.result(), samples.result(ranks=2))
    assert "errors of 12 rows: median" in several and "repeated" not in several
    assert "errors of 12 rows: median" in shown(calibrated, samples.result(), slower(1.5))
    assert "repeated runs differ by a median of 50 %" in shown(calibrated, samples.result(), slower(1.5))


def test_emulated_and_wrong_runs_do_not_count(calibrated):
    others = [samples.result(kind="emulated"), samples.result(status="failed")]
    assert "errors of" not in shown(calibrated, *others)
    assert "errors of 6 rows" in shown(calibrated, samples.result(), *others)
