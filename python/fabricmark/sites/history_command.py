"""`fabricmark history`: options in, one call, exit code out."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fabricmark.base import choices, help, paths, terminal
from fabricmark.base.cells import as_csv
from fabricmark.base.errors import BAD_USE, printable
from fabricmark.base.terminal import NOTHING, Column, counted, number, percent
from fabricmark.sites import history, nights, store
from fabricmark.sites.history import Trend

DEFAULT = Path("history.db")
STORE = typer.Option("--store", metavar="FILE", help=f"The store (default: {DEFAULT}).")
MOST_CHANGES = 4  # of a series, the newest

app = help.App(help="Results of all nights: what each metric did, and what changed beside it.")


@app.command("add")
def add_command(
    places: Annotated[
        list[Path], typer.Argument(metavar="RESULTS", help="Result files, or a folder of them.")
    ],
    file: Annotated[Path, STORE] = DEFAULT,
    night: Annotated[
        str | None, typer.Option(help="What the night is called (default: the day of each run).")
    ] = None,
) -> None:
    """Add the results of a night to the store; what is there already is known again."""
    raise typer.Exit(_add(nights.result_files(places), file, night))


@app.command("import")
def import_command(
    places: Annotated[list[Path], typer.Argument(metavar="FILES|FOLDERS", help="With all that lies below.")],
    file: Annotated[Path, STORE] = DEFAULT,
) -> None:
    """Add old results, of any version, and text of other benchmarks; a night is the day of a run."""
    raise typer.Exit(_add(nights.files_below(places), file, None))


def _add(files: Sequence[Path], file: Path, night: str | None) -> int:
    faults: list[str] = []
    new = known = 0
    with store.opened(file, make=True) as opened:
        for counts in opened.add(history.records(files, night, faults)):
            new, known = counts
            print(f"stored {new} of {len(files)}", flush=True)
    for fault in faults:
        print(f"fabricmark: error: {printable(fault)}", file=sys.stderr)
    told = f"{new} new, {known} known before, {len(faults)} damaged"
    print(printable(f"{file}: {told}"))
    return BAD_USE if faults else 0


@app.command("list")
def list_command(file: Annotated[Path, STORE] = DEFAULT) -> None:
    """What the store holds: benchmarks, nodes, tools, nights."""
    with store.opened(file) as opened:
        rows = opened.rows(
            "SELECT benchmark, tool, count(*), count(DISTINCT node), count(DISTINCT night), min(started),"
            " max(started), sum(fault != '') FROM results GROUP BY benchmark, tool ORDER BY benchmark, tool"
        )
        count = opened.rows("SELECT count(*) FROM nights")[0][0]
    columns = [Column("benchmark", key=True), Column("tool", key=True)]
    columns += [*terminal.numbers("results", "nodes", "nights"), Column("first"), Column("last")]
    columns += terminal.numbers("broken")
    terminal.show(terminal.console(), columns, [[str(cell) for cell in row] for row in rows])
    results = sum(int(row[2]) for row in rows)
    print(f"{counted(results, 'result')} of {counted(count, 'night')}")


@app.command("show")
def show_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]", help="Metrics whose names have all of these words."),
    ] = None,
    file: Annotated[Path, STORE] = DEFAULT,
    node: Annotated[str, typer.Option(help="Only this node.")] = "",
    tool: Annotated[str, typer.Option(help="Only what this program measured, of `history list`.")] = "",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also a page with the trends.")] = None,
    csv_file: Annotated[Path | None, choices.document("--csv", "Every value as a row of CSV.")] = None,
) -> None:
    """Each metric over time, and where it changed with what changed beside it."""
    with store.opened(file) as opened:
        found = history.trends(opened, words or [], node, tool)
        environments = opened.environments()
    if csv_file is not None:
        names = sorted({name for one in environments.values() for name in one})
        headings = [
            "metric",
            "node",
            "tool",
            "version",
            "night",
            "started",
            "value",
            "unit",
            "changed",
            *names,
        ]
        rows = [row for trend in found for row in _csv_rows(trend, names, environments)]
        paths.write_atomically(csv_file, as_csv([headings, *rows]))
    if html is not None:
        from fabricmark.sites import trends_page  # here: the report would slow every other command down

        paths.write_atomically(html, trends_page.html(found, str(file)))
    _show(found)


def _csv_rows(
    trend: Trend, names: Sequence[str], environments: dict[str, dict[str, str]]
) -> list[list[object]]:
    places = {flag.change.place for flag in trend.flagged}
    return [
        [trend.series.label, trend.series.node, trend.tool, point.version, point.night, point.started,
         point.value, trend.series.unit, int(place in places),
         *(environments[point.environment].get(name, "") for name in names)]
        for place, point in enumerate(trend.points)
    ]  # fmt: skip


def _show(found: Sequence[Trend]) -> None:
    columns = [Column("metric", key=True), Column("node", key=True), Column("tool", once=True)]
    columns += [*terminal.numbers("values", "first", "median", "last"), Column("unit", once=True)]
    columns += [Column("changed", prose=True)]
    out = terminal.console()
    terminal.show(out, columns, [_cells(trend) for trend in found])
    changed = sum(bool(trend.flagged) for trend in found)
    out.print(Text(f"{len(found)} series, {changed} with a change of level"), soft_wrap=True)


def _cells(trend: Trend) -> list[terminal.Cell]:
    values = [point.value for point in trend.points]
    middle = sorted(values)[len(values) // 2]
    return [
        trend.series.label, trend.series.node, trend.tool, str(len(values)), number(values[0]),
        number(middle), number(values[-1]), trend.series.unit, "; ".join(map(said,
        trend.flagged[-MOST_CHANGES:])) or NOTHING, ]  # fmt: skip


def said(flag: history.Flagged) -> str:
    """`-10.2 % from 2026-03-01 on (driver 1.0 -> 1.1)`."""
    beside = ", ".join(flag.beside) or "nothing known changed beside it"
    return f"{percent(flag.change.ratio - 1, digits=1, signed=True)} from {flag.night} on ({beside})"
