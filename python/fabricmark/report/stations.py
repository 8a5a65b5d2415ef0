"""Curves at stations: elevation and velocities over time where a run recorded them, beside a reference."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError, refusing
from fabricmark.base.spread import thinned
from fabricmark.report import fields
from fabricmark.report.groups import Group
from fabricmark.report.plots import MOST_SERIES, Plot, Series, slug

COLUMNS = ("time_s", "station", "x_m", "y_m", "xi_m", "u_m_per_s", "v_m_per_s")
# {column: (its name, its unit)}
QUANTITIES = {
    "xi_m": ("surface elevation", "m"),
    "u_m_per_s": ("velocity to the east (u)", "m/s"),
    "v_m_per_s": ("velocity to the north (v)", "m/s"),
}
MOST_STATIONS = 8
MOST_POINTS = 500  # a curve
MOST_DOTS = 80  # of a reference
LAST_HOURS = 12.0  # over which the difference from a reference is told
REFERENCE = "reference"
Station = int | str  # its number, or its name


@dataclass(frozen=True)
class Curve:
    """What one station recorded: its place [m], and {column: values} with time_s among them."""

    x: float
    y: float
    values: Mapping[str, Sequence[float]]


def read(path: Path) -> dict[Station, Curve]:
    """Curves by their station. Raises FabricmarkError (2) that names the line for what is no such file."""
    with refusing(f"cannot read {path}", "name a stations.csv of a run"):
        content = paths.content(path).decode()
    rows = csv.reader(io.StringIO(content))
    if tuple(next(rows, ())) != COLUMNS:
        raise FabricmarkError(f"{path} has other columns than {', '.join(COLUMNS)}", "name a stations.csv")
    found: dict[Station, tuple[float, float, dict[str, list[float]]]] = {}
    for number, row in enumerate(rows, 2):
        try:
            texts = dict(zip(COLUMNS, row, strict=True))
            name = texts.pop("station")
            station: Station = int(name) if name.isdecimal() else name
            values = {name: float(text) for name, text in texts.items()}
        except ValueError:
            values, station = {}, 0
        if not values or not all(map(math.isfinite, values.values())):
            raise FabricmarkError(f"{path}, line {number} is no record of a station", "write it again")
        place = found.setdefault(station, (values["x_m"], values["y_m"], {"time_s": []}))
        times = place[2]["time_s"]
        if times and values["time_s"] <= times[-1]:
            cause = f"{path}, line {number}: the time of station {station} does not grow"
            raise FabricmarkError(cause, "sort it by time")
        for name in ("time_s", *QUANTITIES):
            place[2].setdefault(name, []).append(values[name])
    return {station: Curve(*place) for station, place in _sorted(found).items()}


def _sorted(stations: Mapping[Station, Any]) -> dict[Station, Any]:
    """Numbers before names."""
    return dict(sorted(stations.items(), key=lambda item: (isinstance(item[0], str), item[0])))


def plots(groups: Sequence[Group], reference: Path | None = None) -> list[Plot]:
    """A plot for each quantity and station, a line for each group. Raises FabricmarkError (2)."""
    known = read(reference) if reference is not None else {}
    runs: dict[str, dict[Station, Curve]] = {}
    for group, folder in fields.runs_with_fields(groups):
        path = folder / "stations.csv"
        if path.is_file():
            runs[group.label] = read(path)
    stations = list(_sorted({station: None for curves in runs.values() for station in curves}))
    return [
        _plot(groups[0].benchmark, column, station, runs, known.get(station))
        for column in QUANTITIES
        for station in stations[:MOST_STATIONS]
    ]


def difference(curve: Curve, reference: Curve, column: str, hours: float) -> float | None:
    """Root mean square difference over the last `hours` that both have; the reference between its records."""
    import numpy

    times, known = numpy.array(curve.values["time_s"]), numpy.array(reference.values["time_s"])
    end = min(times[-1], known[-1])
    start = max(times[0], known[0], end - 3600 * hours)
    inside = (times >= start) & (times <= end)
    if not inside.any():
        return None
    other = numpy.interp(times[inside], known, reference.values[column])
    return float(numpy.sqrt(numpy.mean((numpy.array(curve.values[column])[inside] - other) ** 2)))


def _plot(
    name: str, column: str, station: Station, runs: Mapping[str, Mapping[Station, Curve]],
    reference: Curve | None,
) -> Plot:  # fmt: skip
    quantity, unit = QUANTITIES[column]
    mine = {label: curves[station] for label, curves in runs.items() if station in curves}
    series = [
        _series(label, curve, column, place, "curve", MOST_POINTS)
        for place, (label, curve) in enumerate(list(mine.items())[: MOST_SERIES - 1])
    ]
    left = []
    if len(mine) > len(series):
        left.append(f"{len(mine) - len(series)} further groups are left out.")
    if reference is not None:
        series.append(_series(REFERENCE, reference, column, None, "points", MOST_DOTS))
        left += [
            f"RMS difference from the reference over the last {LAST_HOURS:g} h of both"
            f"{f' ({label})' if len(mine) > 1 else ''}: {rms * 1000:.3g} m{unit}."
            for label, curve in mine.items()
            if (rms := difference(curve, reference, column, LAST_HOURS)) is not None
        ]
    first = next(iter(mine.values()))
    return Plot(
        slug=slug(name, "station", station, column),
        title=f"{name}: {quantity} at station {station}",
        x_label="simulated time [h]",
        y_label=quantity,
        series=series,
        unit=unit,
        family=quantity,
        part=f"station {station} ({first.x / 1000:.2f} km, {first.y / 1000:.2f} km)",
        left_out=" ".join(left),
    )


def _series(name: str, curve: Curve, column: str, colour: int | None, style: str, most: int) -> Series:
    pairs = thinned(list(zip(curve.values["time_s"], curve.values[column], strict=True)), most)
    return Series(name, [time / 3600 for time, _ in pairs], [value for _, value in pairs], style, colour)
