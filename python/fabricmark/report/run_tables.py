"""The report: what was found beside what a model and physics allow, one table a run.

Measured, emulated and modelled metrics are never mixed: each row says its kind, and only a measured one has
model, limit and efficiency. An emulator's wall clock says nothing about hardware, and a modelled time nothing
about this device.
"""

import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from fabricmark import models, results
from fabricmark.base import paths, terminal
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import NOTHING, Column, number, percent
from fabricmark.models import Prediction, _error_bars
from fabricmark.report import families, model_errors, sizes
from fabricmark.report.model_errors import Compared
from fabricmark.results import Measurement, Result, disturbances
from fabricmark.results.judgement import INVALID
from fabricmark.systems.device_limits import DeviceLimits, Devices

MOST_TABLES = 100
# A picture of rich would ask a server for its font.
WEB_FONT = re.compile(r',\s*url\("https?://[^"]*"\) format\("[^"]*"\)')
CREDIBLE_EFFICIENCY = 1.05  # limits are measured, too; beyond that a reason stands beside it
KIND_STYLES = {"measured": "green", "emulated": "magenta", "modelled": "cyan"}
VERDICT_STYLES = {"valid": "green", INVALID: "bold red"}
METRIC_COLUMNS = (
    Column("kind", once=True),
    *terminal.numbers("best", "median", "modelled", "±", "error", "limit"),
    Column("unit", once=True),
    *terminal.numbers("efficiency"),
    Column("bottleneck", once=True),
    Column("verdict", once=True),
)
# What a heading or a kind means, below the tables that have it.
MEANINGS = {
    "points": "points: of a curve; the row is its best one.",
    "best": "best, median: of the repetitions; each lasts from the first rank's start to the last one's end.",
    "±": "±: what 90 % of measured values stay within, as short runs told that had no part in a fit.",
    "error": "error: modelled / best - 1.",
    "limit": "limit: measured peak of the bounding resource (memory, cache, link or arithmetic units).",
    "efficiency": "efficiency: best / limit.",
    "measured": "measured: this device's time.",
    "emulated": "emulated: functional run, its time says nothing about hardware.",
    "modelled kind": "modelled: computed.",
}
FOOTNOTE = " ".join(MEANINGS.values())  # of the page, which has all columns


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the report, values in `unit`; None where one does not apply."""

    operation: str
    kind: str
    unit: str
    best: float
    median: float
    modelled: float | None
    limit: float | None
    efficiency: float | None
    bottleneck: str
    error_bar: float | None = None

    @property
    def error(self) -> float | None:
        """Of the model: modelled / best - 1; None without a model."""
        return None if self.modelled is None or self.best <= 0 else self.modelled / self.best - 1

    @property
    def is_held(self) -> bool | None:
        """Whether the best is within the error bar; None without one."""
        if not self.modelled or self.error_bar is None:
            return None
        return abs(self.best / self.modelled - 1) <= self.error_bar


def load_all(files: Sequence[Path]) -> tuple[list[Result], list[FabricmarkError]]:
    """Every readable result, and one error for each damaged file."""
    loaded: list[Result] = []
    errors: list[FabricmarkError] = []
    for file in files:
        try:
            loaded.append(results.load(file))
        except FabricmarkError as error:
            errors.append(error)
    return loaded, errors


def exit_code(loaded: Sequence[Result]) -> int:
    """1 where a result is wrong, as the programs say it, else 0."""
    return int(any(result.verdict() == INVALID for result in loaded))


def predictions(result: Result, known: DeviceLimits | None) -> list[Prediction]:
    """What the benchmark's model says of this run; empty without limits, a model or a parameter it needs.

    Limits alone where the machine was measured, but not this kernel.
    """
    model = models.find(result.benchmark)
    if model is None or known is None:
        return []
    parameters = {**result.document["parameters"], "variant": result.document["run"]["variant"]}
    try:
        more = known.arguments(result.benchmark, parameters, result.ranks)
        board = known.board
        measured = [entry for entry in result.measurements if entry.kind == "measured"]
        found = models.predict(model, parameters, board, result.ranks, measurements=measured, **more)
        if known.system is not None and not models.is_kernel_known(
            result.benchmark, board, more.get("bitstream")
        ):
            found = models.limits_alone(found)
        found = models.within_limits(found, board)
        return _error_bars.with_error_bars(found, more.get("bitstream"))
    except (models.MissingValue, LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        # A model that does not know these parameters has nothing to say; the measurement stands alone.
        return []


def rows(measurements: Sequence[Measurement], predicted: Sequence[Prediction]) -> list[Row]:
    """Each measurement beside its prediction, where it has one; only measured metrics are compared."""
    known = {(entry.name, frozenset(entry.axes.items()), entry.unit): entry for entry in reversed(predicted)}
    return [
        _row(entry, known.get((entry.name, frozenset(entry.axes.items()), entry.unit)))
        for entry in measurements
    ]


def _row(measurement: Measurement, match: Prediction | None) -> Row:
    words = " ".join(families.value_text(axis, value) for axis, value in measurement.axes.items())
    name = words or families.words(measurement.name)
    plain = (name, measurement.kind, measurement.unit, measurement.best, measurement.median)
    if measurement.kind != "measured" or match is None:
        return Row(*plain, None, None, None, NOTHING)
    efficiency = None
    if match.limit and measurement.best > 0:
        higher = measurement.better == "higher"
        efficiency = measurement.best / match.limit if higher else match.limit / measurement.best
    return Row(*plain, match.value, match.limit, efficiency, match.bottleneck, match.error_bar)


def title(result: Result) -> list[str]:
    """`stream, base kernel`, `on <device>`, `2 ranks (mpi)`, and whether the kernel was the user's own."""
    run = result.document["run"]
    ranks = result.document["environment"]["ranks"]
    count = "1 rank" if ranks["count"] == 1 else f"{ranks['count']} ranks ({ranks['kind']})"
    count = "ranks unknown" if ranks["count"] is None else count
    own = ["optimized run"] if run["class"] == "optimized" else []
    return [
        f"{run['benchmark']}, {result.kernel_name(with_digest=True)}",
        *own,
        f"on {result.device['name']}",
        count,
    ]


def keys(chosen: Sequence[tuple[Measurement, int]]) -> tuple[list[Column], list[list[terminal.Cell]]]:
    """(columns, cells of each row) of what tells metrics with the same axes apart.

    `chosen`: each with the number of points of a curve that it stands for.
    """
    axes = list(chosen[0][0].axes)
    columns = [Column(name, key=True, once=True) for name in ("metric", *map(families.words, axes))]
    cells: list[list[terminal.Cell]] = []
    for measurement, points in chosen:
        values = [families.cell_text(axis, measurement.axes[axis]) for axis in axes]
        cells.append([families.words(measurement.name), *values, str(points) if points > 1 else ""])
    return [*columns, Column("points", right=True, once=True)], cells


def cells(entry: Row, verdict: str) -> list[terminal.Cell]:
    """A row as METRIC_COLUMNS have it."""
    return [
        Text(entry.kind, style=KIND_STYLES[entry.kind]),
        *(number(value) for value in (entry.best, entry.median, entry.modelled)),
        percent(entry.error_bar),
        percent(entry.error, signed=True),
        number(entry.limit),
        entry.unit,
        percent(entry.efficiency),
        entry.bottleneck,
        Text(verdict, style=VERDICT_STYLES.get(verdict, "yellow")),
    ]


def failures(result: Result) -> list[Text]:
    """One line for each failed check (what, how far off, where) and for what the numbers do not bear out."""
    lines = [Text(printable(f"inconsistent: {reason}"), style="red") for reason in result.contradictions]
    for verdict in result.document["verdicts"]:
        if verdict["status"] != "failed":
            continue
        worst = verdict["worst"]
        where = ""
        if worst is not None:
            found = f"{worst['actual']} instead of {worst['expected']}"
            where = f", worst at {worst['place']} of rank {worst['rank']}: {found}"
        error = f"{verdict['measure']} {verdict['error']} above {verdict['threshold']}"
        lines.append(Text(printable(f"failed: {verdict['name']}: {error}{where}"), style="red"))
    return lines


def designs(result: Result) -> list[str]:
    """The bitstream that a run loaded, and that of the system whose parameters it took: all that is said."""
    run, lines = result.document["run"], []
    for what, said in (("bitstream", run.get("kernel", {})), ("design", run.get("design", {}))):
        parts = [said[name] for name in ("system", "bitstream") if name in said]
        parts += [f"for {said['board']}"] if "board" in said else []
        parts += [f"of {said['language']}"] if "language" in said else []
        parts += [f"{said['clock_hz'] / 1e6:.4g} MHz"] if "clock_hz" in said else []
        parts += [
            said[name] if name == "tools" else f"shell {said[name]}"
            for name in ("tools", "shell")
            if name in said
        ]
        parts += [f"{number} {name}" for name, number in said.get("resources", {}).items()]
        lines += [f"{what}: {', '.join(parts)}"] if parts else []
    return lines


def hints(result: Result, known: DeviceLimits | None, rows: Sequence[Row]) -> list[Text]:
    """What the reader should know: the run's own notes, and why there is no model where there is none."""
    said = [*(f"note: {note}" for note in result.document["notes"]), *designs(result)]
    if models.find(result.benchmark) is not None and any(entry.kind == "measured" for entry in rows):
        said += _of_model(result, known)
    lines = [Text(printable(line), style="dim") for line in said]
    lines += [Text(printable(one.sentence), style="yellow") for one in result.disturbances]
    faults = [] if known is None else known.faults
    lines += [Text(f"warning: {fault}", style="yellow") for fault in faults]
    reason = reason_above(known, rows)
    return [*lines, Text(printable(reason), style="yellow")] if reason else lines


def _of_model(result: Result, known: DeviceLimits | None) -> list[str]:
    """What a measured run is modelled from, or why there is no model."""
    kind, is_emulated = result.device["class"], result.device["emulated"]
    if known is None and kind == "fpga" and not is_emulated:
        return ["no model, as nothing says the bitstream: run with --bitstream-id FILE/NAME"]
    if known is None and kind in ("cpu", "gpu"):
        return ["no limits known for this device: run `fabricmark systems new`"]
    if known is None:
        return []
    if known.fpga is not None:
        own = known.fpga.bitstream
        hertz = own.get("clock")
        clock = f" at {hertz / 1e6:.4g} MHz" if hertz else ""
        return [f"modelled from systems/bitstreams: {own.name} for {own.board}{clock}"]
    if known.system is None and not known.faults:
        return ["modelled as if every kernel reached the limits: run `fabricmark systems new`"]
    if not known.has_kernel(result):
        limits = "model not calibrated for this kernel: limits only"
        return [f"{limits}: `fabricmark systems new --again` measures all"]
    return []


def reason_above(known: DeviceLimits | None, rows: Sequence[Row]) -> str | None:
    """Which rows are better than their limit by more than limits are exact, and why; None without any."""
    above = [
        f"{entry.operation} {percent(entry.efficiency)}"
        for entry in rows
        if entry.efficiency is not None and entry.efficiency > CREDIBLE_EFFICIENCY
    ]
    if not above:
        return None
    limits = None if known is None else known.board.limits
    why = "it follows from copies of large arrays: `fabricmark calibrate` measures memory, caches and links"
    if limits is not None:
        times = f"{limits.passes} measurements, the last at {limits.created[:16]}Z"
        why = f"it is the best of {times}; the machine was faster during this run"
    return f"above the limit: {', '.join(above)}: {why}"


@dataclasses.dataclass(frozen=True)
class Judged:
    """A run as tables: {axes: (columns, rows)}, the kinds of its metrics, what has to be known, its rows
    beside their models, and tables of its sizes."""

    tables: dict[tuple[str, ...], tuple[list[Column], list[list[terminal.Cell]]]]
    kinds: set[str]
    hints: list[Text]
    compared: list[Compared]
    of_sizes: list[tuple[list[Column], list[list[terminal.Cell]]]]


def judged(result: Result, known: DeviceLimits | None) -> Judged:
    """A run beside model and limits, of each curve the best point; a table for each set of axes."""
    chosen = families.condensed(result.measurements)
    predicted = predictions(result, known)
    found = rows([measurement for measurement, _ in chosen], predicted)
    every = zip(result.measurements, rows(result.measurements, predicted), strict=True)
    of_sizes = sizes.tables(result, [(measurement, row.limit) for measurement, row in every])
    alike = grouped((tuple(measurement.axes), place) for place, (measurement, _) in enumerate(chosen))
    tables = {}
    for axes, places in alike.items():
        columns, names = keys([chosen[place] for place in places])
        values = [cells(found[place], disturbances.beside(result.verdict(), [result])) for place in places]
        lines = [[*name, *value] for name, value in zip(names, values, strict=True)]
        tables[axes] = ([*columns, *METRIC_COLUMNS], lines)
    named = [
        dataclasses.replace(entry, operation=full_name(measurement)) if measurement.axes else entry
        for entry, (measurement, _) in zip(found, chosen, strict=True)
    ]
    kinds = {"modelled kind" if entry.kind == "modelled" else entry.kind for entry in found}
    beside = zip((measurement for measurement, _ in chosen), found, strict=True)
    compared = model_errors.compared(result, beside)
    return Judged(tables, kinds, hints(result, known, named), compared, of_sizes)


def settings(result: Result) -> Text:
    """`size=65536 data_type=float`: the parameters of a run, as its program prints them."""
    said = result.document["parameters"].items()
    return Text(printable(" ".join(f"{name}={families.number_text(value)}" for name, value in said)))


def checks(result: Result) -> list[Text]:
    """One line for each check that held: what was compared, how far off it is and may be."""
    passed = [verdict for verdict in result.document["verdicts"] if verdict["status"] == "passed"]
    lines = [
        f"valid: {one['name']}: {one['measure']} {one['error']:.3g}, at most {one['threshold']:.3g} allowed, "
        f"{one['checked']} values checked"
        for one in passed
    ]
    return [Text(printable(line)) for line in lines]


def section(
    result: Result, found: Judged, out: Console, *, whole: bool = False, of_sizes: bool = False
) -> set[str]:  # fmt: skip
    """Print everything about one run; the headings and kinds that it has. `whole`: with its parameters and
    with the checks that held, too. `of_sizes`: with all its sizes."""
    terminal.title(out, title(result))
    if whole:
        terminal.say(out, settings(result))
    there = set(found.kinds)
    for columns, lines in [*found.tables.values(), *(found.of_sizes if of_sizes else ())]:
        there |= terminal.show(out, columns, lines)
    held = checks(result) if whole else []
    for line in [*held, *failures(result), *energy(result), *found.hints]:
        terminal.say(out, line)
    out.print()
    return there


def footnote(out: Console, there: set[str]) -> None:
    """What the headings and kinds mean that are there."""
    every = MEANINGS | sizes.MEANINGS
    terminal.say(out, " ".join(words for name, words in every.items() if name in there), "dim")


def full_name(measurement: Measurement) -> str:
    """Name and place, for example `bandwidth exchange 1 MiB`."""
    places = (families.value_text(axis, value) for axis, value in measurement.axes.items())
    return " ".join([families.words(measurement.name), *places])


def energy(result: Result) -> list[Text]:
    """One line for each domain whose power was sampled."""
    lines = []
    for entry in result.document.get("energy", []):
        peak = f"peak {entry['peak_watts']:.4g} W, " if "peak_watts" in entry else ""
        watts = f"{entry['watts']:.4g} W, {peak}{entry['joules_per_repetition']:.4g} J a repetition"
        lines.append(Text(printable(f"power: {entry['domain']} ({entry['source']}): {watts}")))
    return lines


def selection(loaded: Sequence[Result]) -> list[Result]:
    """What a terminal shows of many runs: those with something wrong first, the others as far as they fit."""
    if len(loaded) <= MOST_TABLES:
        return list(loaded)
    order = sorted(range(len(loaded)), key=lambda number: loaded[number].verdict() == "valid")
    return [loaded[number] for number in sorted(order[:MOST_TABLES])]


def show(
    loaded: Sequence[Result], console: Console | None = None, *, whole: bool = False, of_sizes: bool = False
) -> None:  # fmt: skip
    """Print the report of all results; `whole`, `of_sizes`: see `section`."""
    out = console or terminal.console()
    devices = Devices()
    shown = selection(loaded)
    there: set[str] = set()
    compared: list[Compared] = []
    for result in shown:
        found = judged(result, devices.of(result))
        there |= section(result, found, out, whole=whole, of_sizes=of_sizes)
        compared += found.compared
    footnote(out, there)
    for line in model_errors.lines(compared) if len(shown) > 1 else ():
        terminal.say(out, line)
    left_out(out, len(loaded) - len(shown))


def left_out(out: Console, runs: int) -> None:
    """Say how many runs the terminal does not show."""
    if runs:
        left = f"{runs} further runs are not shown here; `--html FILE` makes a page of all"
        terminal.say(out, left, "yellow")


def save_svg(path: Path, width: int, shown: Callable[[Console], None]) -> None:
    """Save what is `shown` on a terminal of that width as a picture.

    Raises FabricmarkError (2) when the place cannot be written.
    """
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=width, file=nowhere, force_terminal=True)
        shown(console)
        picture = console.export_svg(title="fabricmark report")
        paths.write_atomically(path, WEB_FONT.sub("", picture))
