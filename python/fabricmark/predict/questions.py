"""What people ask of a prediction next: which figure helps most, how many devices, how much of one is
enough."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabricmark import systems
from fabricmark.base import keys
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import percent
from fabricmark.predict import points, reads, settings, view
from fabricmark.predict.cases import Case
from fabricmark.predict.points import Point, PredictionRequest
from fabricmark.results import published
from fabricmark.systems import files

MORE = 1.1  # of each figure
LEAST_CHANGE = 0.0005
SHOWN = 6
GAIN = 0.01  # less than that is not worth more of a figure
FAR = 1e4  # times a figure: the most and the least that are looked at
STEPS = 60
MOST_DEVICES = 2**20
AMOUNT = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(\S+)\s*")


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


def above_nothing(found: reads.Reads, objects: Mapping) -> dict[str, float]:
    """The values that were read, above 0, counts left out: 10 % of a bank is nothing.

    `objects`: board, network and bitstream.
    """
    values = {}
    for name in found.names():
        if reads.key_of(name).dimension in (keys.COUNT, "bytes"):
            continue
        number = reads.value(objects, name)
        if number:
            values[name] = number
    return values


def sensitivity(case: Case) -> str:
    """By how much the headline of the last point moves with a tenth more of each value of the system."""
    one = case.points[-1]
    usual = one.headline.value
    if not usual:
        return "sensitivity: none, as there is no value"
    moved = {}
    for name, value in values_of(case.request, one).items():
        found = headline(case.request, one, {name: value * MORE})
        if found is not None and abs(found / usual - 1) >= LEAST_CHANGE:
            moved[name] = found / usual - 1
    return most_moving(moved, one.devices)


def most_moving(moved: Mapping[str, float], devices: int) -> str:
    """The line of a sensitivity: by which share values of the system move a prediction, the largest first."""
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
        units = ", ".join(name for name, (other, _) in FACTORS.items() if other == kind) or unit
        raise FabricmarkError(
            f"--reach {text}: no amount of {unit}", f'write for example "20 {units.split(", ")[-1]}"'
        )
    return float(match[1]) * FACTORS[match[2]][1] / factor


def reach(case: Case, text: str, beyond: bool) -> str:
    """The fewest devices that reach a value, as the others of the case are. Raises FabricmarkError (2)."""
    first = case.points[0]
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
        return f"{text} is not reached: {what}, give {view.number(value(high))} {first.headline.unit}"
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if value(middle) >= wanted else (middle, high)
    kind = "a square of " if squares else ""
    return f"{text}: {kind}{count(high)} devices reach {view.number(value(high))} {first.headline.unit}"


def enough(case: Case, name: str) -> str:
    """From where on more of a value (less of a time) brings less than GAIN. Raises FabricmarkError (2)."""
    one = case.points[-1]
    known = values_of(case.request, one)
    if name not in known:
        remedy = f"use one of {', '.join(known)}" if known else "leave it out"
        raise FabricmarkError(f"--enough {name}: {case.request.about} reads no such value", remedy)
    better = -1 if reads.key_of(name).dimension == "seconds" else 1
    base, ends = known[name], (math.log(1 / FAR), math.log(FAR))
    best = headline(case.request, one, {name: base * math.exp(better * ends[1])})
    if not best:
        raise FabricmarkError(f"--enough {name}: there is no prediction with much of it", "use --sweep")
    low, high = ends
    for _ in range(STEPS):
        middle = (low + high) / 2
        found = headline(case.request, one, {name: base * math.exp(better * middle)}) or 0.0
        low, high = (low, middle) if found >= (1 - GAIN) * best else (middle, high)
    at = view.coordinate(name, base * math.exp(better * high))
    words, change = ("down to", "less") if better < 0 else ("from", "more")
    return (
        f"{name} on {one.devices} device{'s' if one.devices > 1 else ''}: {words} {at} {change} of it brings "
        f"less than {percent(GAIN)}; now {view.coordinate(name, base)}"
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
    energy = f", {view.number(average.value * seconds * one.devices)} J a run" if seconds else ""
    measured = single_design(request)
    mine = points.planned(request, [(one.devices, one.axes)])[0][0].board.get("clock")
    other = (
        f"; of a design at {measured / 1e6:.4g} MHz, this one has {mine / 1e6:.4g} MHz"
        if measured and mine and measured != mine
        else ""
    )
    return (
        f"power of a board, measured (Meyer 2024, {peak.table}{other}): {average.value:g} W on average, "
        f"{peak.value:g} W at most; with the prediction {view.number(per_watt)} {one.headline.unit}/W at "
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
