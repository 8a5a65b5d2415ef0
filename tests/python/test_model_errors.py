"""The line of a report that says how far off the models were."""

import io

import pytest
import samples
from fabricmark import results
from fabricmark.report import model_errors, run_tables
from fabricmark.report.model_errors import Compared
from rich.console import Console


def rows(*errors, best=10.0, about="row", **more):
    return [Compared((about, place), best, error, **more) for place, error in enumerate(errors)]


def line(found):
    """The first one."""
    return model_errors.lines(found)[0]


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
    assert line(rows(*(share / 100 for share in range(1, 12)))) == (
        "errors of 11 rows: median 6 %, p90 10 %; 10 of 11 are off by at most 10 % or 2 times what a row's "
        "halves of its repetitions differ by"
    )
    assert line(rows(0.2, None, None)).startswith(
        "errors of 1 row: median 20 %, p90 20 %; 2 more have no model; 0 of 1 are off by"
    )
    assert model_errors.lines(rows(None)) == model_errors.lines([]) == []


def test_a_row_may_be_off_by_what_repeated_runs_differ_by():
    """Of two rows that are off by 15 % one is of a machine that differs by 10 % itself."""
    steady, moved = rows(0.15, about="steady"), rows(0.15, about="moved")
    again = [*rows(0.15, best=10.1, about="steady"), *rows(0.15, best=11.0, about="moved")]
    found = model_errors.errors([*steady, *moved, *again])
    assert found.spreads == [pytest.approx(0.01), pytest.approx(0.1)]
    assert found.within == 2
    said = line([*steady, *moved, *again])
    assert "; bests of repeated runs differ by a median of 6 %, p90 10 %; 2 of 4 are off" in said
    assert said.endswith("what a row's repeated runs differ by")


def test_a_run_that_was_not_repeated_tells_by_its_halves():
    known = [*rows(0.15, halves=0.04), *rows(0.15, halves=0.08, about="other"), *rows(0.15, about="none")]
    assert model_errors.errors(known).within == 1
    again = [*rows(0.15, halves=0.08), *rows(0.15, halves=0.08)]
    assert model_errors.errors(again).within == 0, "two runs know better than halves of one"


@pytest.mark.parametrize(
    ("seconds", "halves"), [([2.0, 1.0, 1.1, 1.2], 0.1), ([1.0, 1.5], 0.5), ([1.0], None)]
)
def test_halves_of_repetitions(place, seconds, halves):
    document = samples.result()
    document["measurements"] = [samples.measurement("copy", [seconds])]
    (entry,) = results.load(place.write("one.json", document)).measurements
    found = model_errors.halves(entry)
    assert found is None if halves is None else found == pytest.approx(halves)


def test_error_bars_and_the_kinds_that_carry_the_errors():
    known = [
        *rows(0.05, 0.06, kind="calm", held=True), *rows(0.4, 0.5, kind="wild", held=False),
        *rows(0.2, kind="odd"),
    ]  # fmt: skip
    first, second = model_errors.lines(known)
    assert first.endswith("; error bars hold 50 % of 4 rows")
    assert second == "most of it: wild (2 rows, median 45 %), odd (1 row, median 20 %)"
    assert len(model_errors.lines(rows(0.05, kind="calm"))) == 1


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
