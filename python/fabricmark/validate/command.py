"""`fabricmark validate`: options in, a table of errors out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fabricmark import systems
from fabricmark.base import cells, choices, paths, terminal
from fabricmark.base.errors import FabricmarkError, check_known, printable
from fabricmark.base.terminal import Column, percent
from fabricmark.validate import (
    calibrated,
    checks,
    distribution,
    fit_view,
    intervals,
    outcomes,
    rival,
    scored,
    splits_view,
    tables,
    tables_of_documents,
    texts,
)

SPLITS = "Leave out device counts, sizes and systems: errors and what intervals cover; takes seconds."
BY = "benchmark,system,transport"
CSV_COLUMNS = (
    "line", "benchmark", "system", "board", "transport", "devices", "nodes", "matrix_width_printed", "metric",
    "message_bytes", "measured", "predicted", "unit", "error", "left_out_error", "half_width", "bottleneck",
    "reason",
)  # fmt: skip


def validate(
    data: Annotated[Path | None, typer.Option(help="CSV with the columns of data/published.")] = None,
    profile: Annotated[str, choices.one_of(systems.PROFILES, "Which values of the systems.")] = "fitted",
    by: Annotated[str, typer.Option(help=f"Columns to group by: {', '.join(distribution.GROUPS)}.")] = BY,
    csv_file: Annotated[Path | None, choices.document("--csv", "Write every row and its prediction.")] = None,
    calibrate: Annotated[list[Path] | None, typer.Option(metavar="ROWS", help=calibrated.HELP)] = None,
    splits: Annotated[bool, typer.Option("--splits", help=SPLITS)] = False,
    fitted: Annotated[
        bool, typer.Option("--fit", help="Fit the parameters of the systems to the rows, and print them.")
    ] = False,
) -> None:
    """Predict published values and print how far off the predictions are."""
    if splits:
        if data is not None or profile != "fitted" or calibrate or csv_file is not None or fitted:
            raise FabricmarkError("--splits is of the published rows alone", "leave out the others")
        splits_view.show()
        return
    columns = _columns(by)
    check_known(profile, systems.PROFILES, f"there is no profile {profile}")
    if data is not None and (other := tables_of_documents.kind_of(data)) is not None:
        tables_of_documents.validate(data, other, profile, fitted, csv_file)
        return
    rows = outcomes.read(data)
    if fitted:
        given = [row for _, row in rows]
        fit_view.show(tables.with_tables(given) if data is None else given)
    rows, repeated = checks.once(rows)
    predictor = outcomes.predictor_of(rows, profile)
    found = [predictor.outcome(line, row) for line, row in rows if row.role == outcomes.TEST]
    found = [checks.within_system(one, predictor) for one in found]
    given = [row for _, row in rows]
    learned = calibrated.read(calibrate, outcomes.loaded(profile), given) if calibrate else None
    told = None if learned is None else calibrated.applied(learned, found, predictor)
    found = list(told.outcomes) if told else found
    total = distribution.spread(found)
    if total is None:
        name = data or "the published file"
        raise FabricmarkError(f"{name} has no row with the role test", "give rows to predict the role test")
    pairs = told.pairs if told else checks.with_intervals(found, predictor, profile)
    if csv_file is not None:
        paths.write_atomically(csv_file, table_csv(found, pairs))
        if paths.is_standard_output(csv_file):  # nobody would see what takes seconds more
            return
    _show(found, pairs, columns)
    for line in (checks.of_inputs(rows), *repeated, *(learned.lines if learned else ())):
        if line:
            print(printable(line))
    for bar, errors, kept in distribution.against_bars(found):
        verdict = "kept" if kept else "missed"
        print(f"{bar.name}: {_percents(errors)}; bar {percent(bar.median)}, {percent(bar.p90)}: {verdict}")
    for line in distribution.unpredicted(found):
        print(f"not predicted, counts as 100 %: {printable(line)}")
    certain = intervals.coverage(pairs)
    if data is None:
        _show_left_out(pairs)
        _show_printed(profile)
    print(f"{_percents(total)} coverage {percent(certain.share, digits=1)} rows {total.rows}")


def _columns(by: str) -> list[str]:
    """The columns of --by. Raises FabricmarkError (2)."""
    columns = [column.strip() for column in by.split(",")]
    for column in columns:
        if column not in distribution.GROUPS:
            raise FabricmarkError(
                f"--by {column!r} is no column to group by", f"use some of {','.join(distribution.GROUPS)}"
            )
    return columns


def _percents(errors: distribution.Spread) -> str:
    return f"median {percent(errors.median, digits=1)} p90 {percent(errors.p90, digits=1)}"


def _show(found: list[outcomes.Outcome], pairs: checks.Pairs, by: list[str]) -> None:
    columns = [Column(name, key=True) for name in by]
    columns += terminal.numbers("rows", "median", "p90", "largest", "rival median", "rival p90")
    columns += terminal.numbers("without ±", "covered", "±")
    certain = checks.coverage_of(found, pairs, by)
    rivals = rival.outcomes(found)
    naive = distribution.grouped(rivals, by)
    rows = []
    for key, errors in distribution.grouped(found, by).items():
        shares = (errors.median, errors.p90, errors.largest, naive[key].median, naive[key].p90)
        bar = certain[key]
        bars = (str(bar.unvalidated), percent(bar.share), percent(bar.half_width, digits=1))
        rows.append([*map(str, key), str(errors.rows), *(percent(one, digits=1) for one in shares), *bars])
    terminal.table(["Relative error of the predictions"], columns, rows)


def _show_left_out(pairs: list[tuple[float, intervals.Interval]]) -> None:
    """A line for the rows when each was left out of the fit, with its group."""
    median, high = np.percentile([abs(error) for error, _ in pairs], (50, distribution.HIGH))
    certain = intervals.coverage(pairs)
    print(
        f"left out by groups: median {percent(median, digits=1)} p90 {percent(high, digits=1)}; "
        f"90 % intervals cover {percent(certain.share, digits=1)}, "
        f"half-width {percent(certain.half_width, digits=1)} in the median; "
        f"{certain.unvalidated} rows have none"
    )


def _show_printed(profile: str) -> None:
    """A line for the tables of Meyer 2024, and one for figures that texts print."""
    found = scored.score(outcomes.loaded(profile))
    errors = [one.error for one in scored.tests(found)]
    median, high = np.percentile(errors, (50, distribution.HIGH))
    roles = (scored.FIT, scored.INPUT, scored.CONTEXT)
    counts = ", ".join(f"{sum(one.role == role for one in found)} {role}" for role in roles)
    print(
        f"Meyer 2024's tables: {len(errors)} values that are tests: median {percent(median, digits=1)} "
        f"p90 {percent(high, digits=1)}; not counted: {counts}"
    )
    every = texts.load()
    compared = texts.compare([one for one in every if not one.is_apart], texts.Known(profile))
    bounds = [one for one in compared if one.is_bound and one.predicted is not None]
    values = [one.error for one in compared if one.error is not None]
    missed = [one.text.id for one in bounds if not one.is_kept]
    without = [one.text.program for one in compared if one.predicted is None]
    of_programs = f", of {', '.join(sorted(set(without)))}" if without else ""
    print(
        f"figures of texts: {len(bounds)} bounds, missed: {', '.join(missed) or 'none'}; {len(values)} "
        f"values, largest error {percent(max(values, default=None), digits=1)}, {texts.verdict(compared)}; "
        f"no model says what {len(without)} mean{of_programs}"
    )
    for file, count in texts.apart(
        every
    ).items():  # partitions are counted and take long: no part of the bars
        command = f"fabricmark validate --data data/published/{file}"
        print(f"judged apart: {count} figures of applications or micro-benchmarks, `{command}`")


def table_csv(found: list[outcomes.Outcome], pairs: checks.Pairs) -> str:
    """Every row beside its prediction, in the unit of the row; its error when it is left out of the fit, and
    the half-width of the 90 % interval for that."""
    rows: list[Sequence[object]] = [CSV_COLUMNS]
    for one, (left_out, bar) in zip(found, pairs, strict=True):
        known = {
            "line": one.line,
            "measured": f"{one.row.value:.6g}",
            "predicted": "" if one.predicted is None else f"{one.predicted:.6g}",
            "error": f"{one.error:.4f}",
            "left_out_error": f"{abs(left_out):.4f}",
            "half_width": "" if bar.half_width is None else f"{bar.half_width:.4f}",
            "bottleneck": one.bottleneck,
            "reason": one.reason,
        }
        rows.append([known.get(name, getattr(one.row, name, "")) for name in CSV_COLUMNS])
    return cells.as_csv(rows)
