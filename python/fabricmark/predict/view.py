"""Predictions as a table and a CSV file, and what people ask of one next: which figure helps most, how many
devices, how much of one is enough."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabricmark import systems
from fabricmark.base import cells, keys, quantities, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import Column, percent
from fabricmark.models import Prediction
from fabricmark.predict import points, settings
from fabricmark.predict.points import Case, Point, PredictionRequest
from fabricmark.results import published
from fabricmark.systems import files

MODELLED = "modelled"
BEYOND = "*"  # more devices than the system has
UNITS = {"bytes_per_second": ("GB/s", 1e9), "hertz": ("MHz", 1e6), "bytes": ("B", 1.0)}
OF_DESIGN = ("board", "bitstream", "program")
FIELDS = ("name", "operation", "message_bytes", "value", "unit", "kind", "limit", "bottleneck", "error_bar")
MORE = 1.1  # of each figure
LEAST_CHANGE = 0.0005
SHOWN = 6
GAIN = 0.01  # less than that is not worth more of a figure
FAR = 1e4  # times a figure: the most and the least that are looked at
STEPS = 60
MOST_DEVICES = 2**20
AMOUNT = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(\S+)\s*")


def show(cases: Sequence[Case]) -> None:
    """Print the headline metric of every point, and a line for all that has to be known."""
    out, first = terminal.console(), cases[0]
    what = (
        first.request.about
        if len(cases) == 1
        else f"{first.request.benchmark} on {len(cases)} systems or networks"
    )
    terminal.title(out, [what, MODELLED, metric(first.points[0].headline)])
    terminal.show(out, *_table(cases))
    said: list[str] = []
    for case in cases:
        before = f"{case.name}: " if len(cases) > 1 else ""
        said += [line for one in (case.known.line, *case.about) if (line := before + one) not in said]
    for line in said:
        terminal.say(out, line)


def _table(cases: Sequence[Case]) -> tuple[list[Column], list[list]]:
    points = [(case, point) for case in cases for point in case.points]
    axes, sizes = list(points[0][1].axes), list(points[0][1].sizes)
    names = ["system", "transport"] if len(cases) > 1 else []
    several = len({point.devices for _, point in points}) > 1
    bars = any(case.known.of(point, point.headline) for case, point in points)
    once = len(points) > 1
    columns = [Column(heading, key=True) for heading in names]
    columns += [Column(heading, right=True, key=True) for heading in ("devices", *axes)]
    columns += [Column(heading, right=True, once=once) for heading in sizes]
    columns += [*terminal.numbers("value"), *(terminal.numbers("±") if bars else []), Column("unit")]
    columns += [*terminal.numbers("limit"), *(terminal.numbers("efficiency") if several else [])]
    columns += [Column("bottleneck", once=True), *([] if names else [Column("phases", prose=True)])]
    rows = []
    for case, one in points:
        found, bar = one.headline, case.known.of(one, one.headline)
        beyond = one.devices > case.request.system.most_devices
        cells = [case.request.system.name, case.request.transport] if names else []
        cells += [
            f"{one.devices}{BEYOND if beyond else ''}",
            *(coordinate(name, one.axes[name]) for name in axes),
        ]
        cells += [number(one.sizes.get(name)) for name in sizes] + [number(found.value)]
        cells += [terminal.NOTHING if bar is None else percent(bar, digits=1)] if bars else []
        cells += [found.unit, number(found.limit)]
        cells += [percent(case.efficiency(one))] if several else []
        rows.append([*cells, found.bottleneck, *([] if names else [_phases(found.phases)])])
    return columns, rows


def number(value: Any) -> str:
    """A number that is short to read; "-" where there is none."""
    if value is None:
        return terminal.NOTHING
    if isinstance(value, int | str):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def coordinate(name: str, value: object) -> str:
    """A value of an axis with its unit."""
    if "." not in name or not isinstance(value, float):
        return number(value)
    dimension = settings.key_of(name).dimension
    if dimension == "seconds":
        return _seconds(value)
    unit, factor = UNITS.get(dimension, ("", 1.0))
    return f"{value / factor:.4g} {unit}".strip()


def metric(found: Prediction) -> str:
    words = " ".join(str(value) for name, value in found.axes.items() if name in ("operation", "direction"))
    return f"{found.name.replace('_', ' ')} {words}".strip()


def _phases(phases: Mapping[str, float]) -> terminal.Cell:
    whole = sum(phases.values())
    if not whole:
        return terminal.NOTHING
    shares = ((name, _seconds(time), time / whole) for name, time in phases.items() if time)
    return terminal.items(f"{name} {text} ({percent(share)})" for name, text, share in shares)


def _seconds(time: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if time >= factor:
            return f"{time / factor:.3g} {unit}"
    return f"{time / 1e-9:.3g} ns"


def table_csv(cases: Sequence[Case]) -> str:
    """Every prediction of every point; phases in seconds, each in a column of its own."""
    points = [(case, point) for case in cases for point in case.points]
    axes, sizes = list(points[0][1].axes), list(points[0][1].sizes)
    every = [found for _, one in points for found in one.predictions]
    phases = list(dict.fromkeys(name for found in every for name in found.phases))
    columns = [f"{name}_seconds".replace(" ", "_") for name in phases]
    rows: list[list[object]] = [
        ["benchmark", "system", "transport", "devices", *axes, *sizes, *FIELDS, *columns, *OF_DESIGN]
    ]
    for case, one in points:
        of = case.request
        for found in one.predictions:
            operation = found.axes.get("operation", found.axes.get("direction", ""))
            size = found.axes.get("message_bytes", found.axes.get("bytes", ""))
            row = [of.benchmark, of.system.name, of.transport, one.devices, *one.axes.values()]
            row += [one.sizes.get(name) for name in sizes]
            row += [found.name, operation, size, found.value, found.unit, MODELLED, found.limit]
            row += [found.bottleneck, case.known.of(one, found), *(found.phases.get(name) for name in phases)]
            row += [of.system.board_id, one.bitstream, case.program]
            rows.append([_plain(value) for value in row])
    return cells.as_csv(rows)


def _plain(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def headline(request: PredictionRequest, one: Point, overrides: dict[str, float]) -> float | None:
    """The headline metric of a point with other values of the system; None where they give none."""
    changed = replace(request, overrides={**request.overrides, **overrides})
    try:
        plan, run = points.planned(changed, [(one.devices, one.axes)])[0]
        return points.point(changed, plan, run).headline.value
    except FabricmarkError:
        return None


def values_of(request: PredictionRequest, one: Point) -> dict[str, float]:
    """The values of the system that a prediction reads, above 0."""
    plan, run = points.planned(request, [(one.devices, one.axes)])[0]
    network = plan.system.networks.get(request.transport)
    found = settings.of_run(request.benchmark, run, plan.board, plan.devices, network, plan.bitstream)
    objects = {"board": plan.board, "network": network, "bitstream": plan.bitstream}
    return above_nothing(found, objects)


def above_nothing(found: settings.Reads, objects: Mapping) -> dict[str, float]:
    """The values that were read, above 0, counts left out: 10 % of a bank is nothing.

    `objects`: board, network and bitstream.
    """
    values = {}
    for name in found.names():
        if settings.key_of(name).dimension in (keys.COUNT, "bytes"):
            continue
        number = settings.value(objects, name)
        if number:
            values[name] = number
    return values


def sensitivity(case: Case) -> str:
    """By how much the headline of the last point moves with a tenth more of each value of the system."""
    one = case.points[-1]
    usual = one.headline.value
    if not usual:
        return "sensitivity: none, as there is no value"
    known = values_of(case.request, one).items()
    found = {name: headline(case.request, one, {name: value * MORE}) for name, value in known}
    return most_moving(found, usual, one.devices)


def most_moving(found: Mapping[str, float | None], usual: float, devices: int) -> str:
    """The line of a sensitivity, the largest first. `found`: the prediction with more of each value."""
    moved = {name: value / usual - 1 for name, value in found.items() if value is not None}
    moved = {name: share for name, share in moved.items() if abs(share) >= LEAST_CHANGE}
    ordered = sorted(moved, key=lambda name: -abs(moved[name]))
    words = [f"{name} {percent(moved[name], digits=1, signed=True)}" for name in ordered[:SHOWN]]
    at = f"{devices} device{'s' if devices > 1 else ''}"
    rest = f"; {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
    return f"sensitivity, {at}, 10 % more of each: {', '.join(words) or 'nothing moves it'}{rest}"


def amount(text: str, unit: str) -> float:
    """A wanted value in the unit of a prediction. Raises FabricmarkError (2)."""
    from fabricmark.validate.metrics import FACTORS  # imported here: a refusal shall not wait for it

    match = AMOUNT.fullmatch(text)
    kind, factor = FACTORS.get(unit, (unit, 1.0))
    if match is None or FACTORS.get(match[2], ("", 0))[0] != kind:
        of = next((name for name, known in quantities.UNITS.items() if unit in known), "")
        example = quantities.EXAMPLES.get(of, f"20 {unit}")
        raise FabricmarkError(f"--reach {text}: no amount of {unit}", f'write for example "{example}"')
    return float(match[1]) * FACTORS[match[2]][1] / factor


def reach(case: Case, text: str, beyond: bool) -> str:
    """The fewest devices that reach a value, as the others of the case are. Raises FabricmarkError (2)."""
    first = case.points[0]
    if first.headline.value is None:
        cause = f"--reach {text}: there is no prediction of {case.request.about}, only a limit"
        raise FabricmarkError(cause, "leave it out, or use another system")
    wanted = amount(text, first.headline.unit)
    most = MOST_DEVICES if beyond else case.request.system.most_devices
    squares = case.request.traits.on_grid

    def count(place: int) -> int:
        return place * place if squares else place

    def value(place: int) -> float:
        request = replace(case.request, beyond=beyond)
        return headline(request, replace(first, devices=count(place)), {}) or 0.0

    last = math.isqrt(most) if squares else most
    high = 1
    while high < last and value(high) < wanted:
        high = min(2 * high, last)
    if value(high) < wanted:
        what = f"{count(high)} devices, {'the most that are looked at' if beyond else 'all that it has'}"
        return f"{text} is not reached: {what}, give {number(value(high))} {first.headline.unit}"
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if value(middle) >= wanted else (middle, high)
    kind = "a square of " if squares else ""
    return f"{text}: {kind}{count(high)} devices reach {number(value(high))} {first.headline.unit}"


def enough(case: Case, name: str) -> str:
    """From where on more of a value (less of a time) brings less than GAIN. Raises FabricmarkError (2)."""
    one = case.points[-1]
    known = values_of(case.request, one)
    if name not in known:
        remedy = f"use one of {', '.join(known)}" if known else "leave it out"
        raise FabricmarkError(f"--enough {name}: {case.request.about} reads no such value", remedy)
    better = -1 if settings.key_of(name).dimension == "seconds" else 1
    base, ends = known[name], (math.log(1 / FAR), math.log(FAR))
    best = headline(case.request, one, {name: base * math.exp(better * ends[1])})
    if not best:
        raise FabricmarkError(f"--enough {name}: there is no prediction with much of it", "use --sweep")
    low, high = ends
    for _ in range(STEPS):
        middle = (low + high) / 2
        found = headline(case.request, one, {name: base * math.exp(better * middle)}) or 0.0
        low, high = (low, middle) if found >= (1 - GAIN) * best else (middle, high)
    at = coordinate(name, base * math.exp(better * high))
    words, change = ("down to", "less") if better < 0 else ("from", "more")
    return (
        f"{name} on {one.devices} device{'s' if one.devices > 1 else ''}: {words} {at} {change} of it brings "
        f"less than {percent(GAIN)}; now {coordinate(name, base)}"
    )


def power(case: Case) -> str:
    """What the board drew with this benchmark, where a table says it, and performance per watt with that."""
    request, one = case.request, case.points[0]
    found = {
        row.metric: row
        for row in published.printed()
        if (row.benchmark, row.board) == (request.benchmark, request.system.board_id) and row.unit == "W"
    }
    if not found or not one.headline.value or request.overrides:
        return ""
    average, peak = found["power_average"], found["power_peak"]
    per_watt = one.headline.value / one.devices / peak.value
    seconds = sum(one.headline.phases.values())
    energy = f", {number(average.value * seconds * one.devices)} J a run" if seconds else ""
    measured = single_design(request)
    mine = points.planned(request, [(one.devices, one.axes)])[0][0].board.get("clock")
    other = (
        f"; of a design at {measured / 1e6:.4g} MHz, this one has {mine / 1e6:.4g} MHz"
        if measured and mine and measured != mine
        else ""
    )
    return (
        f"power of a board, measured (Meyer 2024, {peak.table}{other}): {average.value:g} W on average, "
        f"{peak.value:g} W at most; with the prediction {number(per_watt)} {one.headline.unit}/W at "
        f"most{energy}"
    )


def single_design(request: PredictionRequest) -> float | None:
    """Clock of the design that the tables of chapter 3 measured [Hz]; None where no file has it."""
    name = f"{request.system.board_id}_single"
    if name not in files.listed("bitstreams"):
        return None
    found = systems.bitstreams(name).get(request.benchmark)
    return None if found is None else found.get("clock")


def lines(case: Case, sensitive: bool, wanted: str | None, of: Sequence[str], beyond: bool) -> list[str]:
    """A line for each question that is asked."""
    found = [sensitivity(case)] if sensitive else []
    found += [reach(case, wanted, beyond)] if wanted else []
    found += [enough(case, name) for name in of]
    said = power(case)
    return found + ([said] if said else [])
