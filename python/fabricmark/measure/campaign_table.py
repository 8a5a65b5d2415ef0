"""The report of a campaign: a table a benchmark, whose rows have the swept values and are ordered by them."""

from collections.abc import Mapping, Sequence

from rich.console import Console

from fabricmark.base import terminal
from fabricmark.base.terminal import Column
from fabricmark.measure.campaign import Campaign, Point
from fabricmark.report import families, run_tables
from fabricmark.results import Result
from fabricmark.systems.device_limits import Devices


def settings(point: Point) -> dict[str, object]:
    """All settings of a point by name, in the order of the file."""
    plain = {name: value for name, value in point.settings.items() if name != "options"}
    return plain | dict(point.settings["options"])


def swept(points: Sequence[Point]) -> list[str]:
    """Names of the settings that differ between points."""
    every = [settings(point) for point in points]
    names = dict.fromkeys(name for one in every for name in one)
    return [name for name in names if len({str(one.get(name)) for one in every}) > 1]


def place(values: Mapping[str, object], names: Sequence[str]) -> list[tuple]:
    """What points are ordered by: numbers by size, before words; what is not set first."""
    found = ((values.get(name) is not None, values.get(name)) for name in names)
    return [
        (is_set, not families.is_number(value), value if families.is_number(value) else 0, str(value))
        for is_set, value in found
    ]


def show(campaign: Campaign, loaded: Sequence[Result], console: Console | None = None) -> None:
    """Print the results of a campaign."""
    out = console or terminal.console()
    by_name = {point.file_name: point for point in campaign.points}
    chosen = run_tables.selection(loaded)
    runs = [(by_name[result.path.name], result) for result in chosen]
    devices = Devices()
    there: set[str] = set()
    for benchmark in dict.fromkeys(point.benchmark for point, _ in runs):
        alike = [(point, result) for point, result in runs if point.benchmark == benchmark]
        there |= _table(out, benchmark, alike, devices)
    run_tables.footnote(out, there)
    run_tables.left_out(out, len(loaded) - len(chosen))


def _table(out: Console, benchmark: str, runs: Sequence[tuple[Point, Result]], devices: Devices) -> set[str]:
    names = swept([point for point, _ in runs])
    runs = sorted(runs, key=lambda run: place(settings(run[0]), names))
    terminal.title(out, [benchmark, *dict.fromkeys(f"on {result.device['name']}" for _, result in runs)])
    tables: dict[tuple[str, ...], list[list[terminal.Cell]]] = {}
    columns: dict[tuple[str, ...], list[Column]] = {}
    lines: dict[str, str] = {}
    there: set[str] = set()
    for point, result in runs:
        values = settings(point)
        own = [families.cell_text(name, values[name]) if name in values else "" for name in names]
        found = run_tables.judged(result, devices.of(result))
        for axes, (headings, rows) in found.tables.items():
            columns[axes] = [*(Column(families.words(name), key=True) for name in names), *headings]
            tables.setdefault(axes, []).extend([*own, *row] for row in rows)
        lines |= {f"{point.label()}: {line.plain}": line.style for line in run_tables.failures(result)}
        lines |= {line.plain: line.style for line in [*run_tables.energy(result), *found.hints]}
        there |= found.kinds
    for axes, rows in tables.items():
        there |= terminal.show(out, columns[axes], rows)
    for line, style in lines.items():
        terminal.say(out, line, str(style))
    out.print()
    return there
