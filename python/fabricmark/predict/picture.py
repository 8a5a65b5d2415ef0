"""Predictions as a plot, with published values beside them."""

from collections.abc import Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.grouping import grouped
from fabricmark.predict import measured
from fabricmark.predict.points import Case, Point
from fabricmark.predict.view import MODELLED, coordinate, metric

MOST_LINES = 7
MOST_TICKS = 12
PICTURES = (".png", ".svg")


def check_picture(file: Path) -> None:
    """Raises FabricmarkError (2) for a name that is no picture's."""
    if file.suffix not in PICTURES:
        raise FabricmarkError(
            f"--plot {file}: no kind of picture", f"end the name with {' or '.join(PICTURES)}"
        )


def save_plot(cases: Sequence[Case], file: Path) -> None:
    """Draw the headline metric over the axis with the most values, one line for each of the others."""
    from fabricmark.report import pictures

    drawn = plot(cases)
    paths.write_atomically(file, pictures.picture(drawn, file.suffix.removeprefix(".")))


def plot(cases: Sequence[Case]):
    """What `save_plot` draws. Raises FabricmarkError (2) where one value is not drawn."""
    from fabricmark.report.plots import Plot, wants_log

    first = cases[0].points[0]
    places = [_place(case, one, len(cases) > 1) for case in cases for one in case.points]
    numbers = ["devices", *first.axes]
    along = max(numbers, key=lambda name: len({place[name] for place in places}))
    lines = _lines(cases, along)
    if not lines:
        raise FabricmarkError("there is no value to plot", "choose another system or transport")
    series = []
    for number, (key, line) in enumerate(list(lines.items())[:MOST_LINES]):
        series += _line(key, line, number, len(lines) == 1)
    series += _measured(cases, along, len(series))
    every = [value for one in series for value in one.y]
    across = [value for one in series for value in one.x]
    about = cases[0].request.about if len(cases) == 1 else cases[0].request.benchmark
    counts = sorted({place["devices"] for place in places}) if along == "devices" else []
    ticks = [(float(count), str(count)) for count in counts if len(counts) <= MOST_TICKS]
    left_out = "" if len(lines) <= MOST_LINES else f"{len(lines) - MOST_LINES} more lines are not drawn."
    found = first.headline
    return Plot(
        "prediction", f"{about}: {metric(found)}", along, f"{metric(found)} [{found.unit}]", series,
        wants_log(across), wants_log(every), ticks, left_out=left_out,
    )  # fmt: skip


def _place(case: Case, one: Point, several: bool) -> dict[str, object]:
    """Where a point is: its devices and axes, of several cases also which."""
    names = {"system": case.request.system.name, "transport": case.request.transport} if several else {}
    return {**names, "devices": one.devices, **one.axes}


def _lines(cases: Sequence[Case], along: str) -> dict[tuple, list[tuple]]:
    """(place, prediction, error bar) of each point along an axis, by all that is the same along a line."""

    def place(case: Case, one: Point) -> tuple[tuple, tuple]:
        found = _place(case, one, len(cases) > 1)
        rest = tuple((name, value) for name, value in found.items() if name != along)
        return rest, (float(found[along]), one.headline, case.known.of(one, one.headline))

    every = [(case, one) for case in cases for one in case.points if one.headline.value is not None]
    return grouped(place(case, one) for case, one in every)


def _line(key: tuple, line: Sequence[tuple], number: int, is_alone: bool) -> list:
    """The series of one line: the predictions; of one alone, its error bars; of the first, the limits."""
    from fabricmark.report.plots import Series

    x, y = [at for at, _, _ in line], [found.value for _, found, _ in line]
    words = ", ".join(_words(name, value) for name, value in key if not is_alone) or "value"
    series = [Series(f"{words} ({MODELLED})", x, y, "line", number)]
    widths = [bar for _, _, bar in line]
    if is_alone and None not in widths:
        for side, sign in (("less", -1), ("more", 1)):
            name = f"{side}: what 90 % of the published values stay within"
            ends = [value * (1 + sign * width) for value, width in zip(y, widths, strict=True)]
            series.append(Series(name, x, [max(end, 0.0) for end in ends], "dashed", None))
    if number == 0 and all(found.limit is not None for _, found, _ in line):
        series.append(Series(f"limit ({MODELLED})", x, [found.limit for _, found, _ in line], "dotted", None))
    return series


def _words(name: str, value: object) -> str:
    return str(value) if name in ("system", "transport") else f"{name} {coordinate(name, value)}"


def _measured(cases: Sequence[Case], along: str, colour: int) -> list:
    """Published values of the same metric and size as points, along the devices."""
    from fabricmark.report.plots import MOST_SERIES, Series

    if along != "devices":
        return []
    series = []
    for number, case in enumerate(cases):
        found = measured.points(case)
        if found:
            name = f"published, {case.name} (measured)" if len(cases) > 1 else "published (measured)"
            x, y = [at for at, _ in found], [value for _, value in found]
            series.append(Series(name, x, y, "points", (colour + number) % MOST_SERIES))
    return series
