"""Predictions as a table, a CSV file and a plot."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabricmark.base import paths, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import Column
from fabricmark.base.written import percent
from fabricmark.models import Prediction
from fabricmark.predict.certainty import Certainty
from fabricmark.predict.points import Point, PredictionRequest
from fabricmark.predict.values import key_of

MODELLED = "modelled"
MOST_LINES = 7
MOST_TICKS = 12
PICTURES = (".png", ".svg")
UNITS = {"bytes_per_second": ("GB/s", 1e9), "hertz": ("MHz", 1e6), "bytes": ("B", 1.0)}
FIELDS = ("name", "operation", "message_bytes", "value", "unit", "kind", "limit", "bottleneck", "error_bar")


def show(request: PredictionRequest, points: Sequence[Point], about: Sequence[str], known: Certainty) -> None:
    """Print the headline metric of every point, and a line for all that has to be known."""
    out = terminal.console()
    over = f" over {request.transport}" if request.transport != "none" else ""
    what = [f"{request.benchmark} on {request.system.name}{over}", MODELLED, _metric(points[0].headline)]
    terminal.title(out, what)
    axes, sizes = list(points[0].axes), list(points[0].sizes)
    columns = [Column(heading, right=True, key=True) for heading in ("devices", *axes)]
    columns += [Column(heading, right=True, once=len(points) > 1) for heading in sizes]
    bars = [known.of(one, one.headline) for one in points]
    columns += [*terminal.numbers("value"), *(terminal.numbers("±") if any(bars) else [])]
    columns += [Column("unit"), *terminal.numbers("limit")]
    columns += [Column("bottleneck", once=True), Column("phases", prose=True)]
    rows = []
    for one, bar in zip(points, bars, strict=True):
        found = one.headline
        cells = [str(one.devices), *(coordinate(name, one.axes[name]) for name in axes)]
        cells += [number(one.sizes[name]) for name in sizes] + [number(found.value)]
        cells += [terminal.NOTHING if bar is None else percent(bar, 1)] if any(bars) else []
        rows.append([*cells, found.unit, number(found.limit), found.bottleneck, _phases(found.phases)])
    terminal.show(out, columns, rows)
    for line in about:
        terminal.say(out, line)


def number(value: object) -> str:
    """A number that is short to read; "-" where there is none."""
    if value is None:
        return terminal.NOTHING
    if isinstance(value, int | str):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def coordinate(name: str, value: object) -> str:
    """A value of an axis with its unit."""
    key = key_of(name)
    if key is None or not isinstance(value, float):
        return number(value)
    if key.dimension == "seconds":
        return _seconds(value)
    unit, factor = UNITS.get(key.dimension, ("", 1.0))
    return f"{value / factor:.4g} {unit}".strip()


def _metric(found: Prediction) -> str:
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


def table_csv(request: PredictionRequest, points: Sequence[Point], known: Certainty) -> str:
    """Every prediction of every point; phases in seconds, each in a column of its own."""
    axes, sizes = list(points[0].axes), list(points[0].sizes)
    phases = list(dict.fromkeys(name for one in points for found in one.predictions for name in found.phases))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = [f"{name}_seconds".replace(" ", "_") for name in phases]
    writer.writerow(["benchmark", "system", "transport", "devices", *axes, *sizes, *FIELDS, *columns])
    for one in points:
        for found in one.predictions:
            operation = found.axes.get("operation", found.axes.get("direction", ""))
            size = found.axes.get("message_bytes", found.axes.get("bytes", ""))
            row = [request.benchmark, request.system.name, request.transport, one.devices, *one.axes.values()]
            row += list(one.sizes.values())
            row += [found.name, operation, size, found.value, found.unit, MODELLED, found.limit]
            row += [found.bottleneck, known.of(one, found), *(found.phases.get(name) for name in phases)]
            writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def check_picture(file: Path) -> None:
    """Raises FabricmarkError (2) for a name that is no picture's."""
    if file.suffix not in PICTURES:
        raise FabricmarkError(
            f"--plot {file}: no kind of picture", f"end the name with {' or '.join(PICTURES)}"
        )


def save_plot(request: PredictionRequest, points: Sequence[Point], known: Certainty, file: Path) -> None:
    """Draw the headline metric over the axis with the most values, one line for each of the others."""
    from fabricmark.report import pictures

    drawn = plot(request, points, known)
    paths.write_atomically(file, pictures.picture(drawn, file.suffix.removeprefix(".")))


def plot(request: PredictionRequest, points: Sequence[Point], known: Certainty):
    """What `save_plot` draws. Raises FabricmarkError (2) where one value is not drawn."""
    from fabricmark.report.plots import LOG_FROM_RATIO, Plot, Series

    names = ["devices", *points[0].axes]
    places = [{"devices": one.devices, **one.axes} for one in points]
    along = max(names, key=lambda name: len({place[name] for place in places}))
    lines: dict[tuple, list[tuple[float, Prediction]]] = {}
    bars: dict[tuple, list[float | None]] = {}
    for one, place in zip(points, places, strict=True):
        if one.headline.value is not None:
            key = tuple((name, value) for name, value in place.items() if name != along)
            lines.setdefault(key, []).append((float(place[along]), one.headline))
            bars.setdefault(key, []).append(known.of(one, one.headline))
    if not lines:
        raise FabricmarkError("there is no value to plot", "choose another system or transport")
    series = []
    for place, (key, line) in enumerate(list(lines.items())[:MOST_LINES]):
        x, y = [at for at, _ in line], [found.value for _, found in line]
        words = ", ".join(f"{name} {coordinate(name, value)}" for name, value in key if len(lines) > 1)
        words = words or "value"
        series.append(Series(f"{words} ({MODELLED})", x, y, "line", place))
        widths = bars[key]
        if None not in widths and len(lines) == 1:
            for side, sign in (("less", -1), ("more", 1)):
                name = f"{side}: what 90 % of the published values stay within"
                ends = [value * (1 + sign * width) for value, width in zip(y, widths, strict=True)]
                series.append(Series(name, x, [max(end, 0.0) for end in ends], "dashed", None))
        if all(found.limit is not None for _, found in line) and place == 0:
            limits = [found.limit for _, found in line]
            series.append(Series(f"limit ({MODELLED})", x, limits, "dotted", None))
    every = [value for one in series for value in one.y]
    across = [value for one in series for value in one.x]
    found = points[0].headline
    over = f" over {request.transport}" if request.transport != "none" else ""
    counts = sorted({place["devices"] for place in places}) if along == "devices" else []
    ticks = [(float(count), str(count)) for count in counts if len(counts) <= MOST_TICKS]
    left_out = "" if len(lines) <= MOST_LINES else f"{len(lines) - MOST_LINES} more lines are not drawn."
    return Plot(
        "prediction", f"{request.benchmark} on {request.system.name}{over}: {_metric(found)}", along,
        f"{_metric(found)} [{found.unit}]", series, _is_wide(across, LOG_FROM_RATIO),
        _is_wide(every, LOG_FROM_RATIO), ticks, left_out=left_out,
    )  # fmt: skip


def _is_wide(values: Sequence[float], ratio: float) -> bool:
    return min(values) > 0 and max(values) / min(values) >= ratio
