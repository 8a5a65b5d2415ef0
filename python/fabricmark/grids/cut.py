"""A rectangle of a file of depths on a plane grid."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricmark.base.errors import FabricmarkError
from fabricmark.grids import netcdf, resample, source
from fabricmark.grids.plane import Frame
from fabricmark.grids.source import Axis, Source

if TYPE_CHECKING:
    import numpy

Range = tuple[float, float]
MOST_CELLS = 1 << 28
TURN = source.DEGREES


@dataclass(frozen=True)
class Wanted:
    """What to cut. None: all there is, as finely as it is there; one of columns and rows: the other so that
    cells are nearly square."""

    longitude: Range | None = None
    latitude: Range | None = None
    columns: int | None = None
    rows: int | None = None
    variable: str | None = None
    positive: str | None = None


@dataclass(frozen=True)
class Cut:
    """`depth` [m] of cells by rows from the south, negative on land; `missing`: how many cells have none and
    are 0. `said`: where it comes from."""

    frame: Frame
    depth: "numpy.ndarray"
    missing: int
    said: str


def cut(path: Path, wanted: Wanted) -> Cut:
    """Raises FabricmarkError (2; 3: a library cannot be installed)."""
    import numpy

    with netcdf.opened(path) as variables:
        found = source.read(path, variables, wanted.variable, wanted.positive)
        frame = _frame(found, wanted)
        depth = resample.resampled(found.depths, *_weights(found, frame))
    source.check_sign(found, depth)
    missing = numpy.isnan(depth)
    depth[missing] = 0
    units = found.variable.text("units") or "no units, taken for m"
    said = f"{path.name}: {found.variable.name} ({units}), growing {source.grows(found)} by {found.known_by}"
    return Cut(frame, depth, int(missing.sum()), said)


def range_of(option: str, text: str | None) -> Range | None:
    """From `a:b`. Raises FabricmarkError (2)."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high)):
        cause = f"{option} {text!r} is no range of degrees"
        raise FabricmarkError(cause, f"write two numbers, as in {option} 140:160")
    return low, high


def _frame(found: Source, wanted: Wanted) -> Frame:
    west, east = _longitudes(found, wanted.longitude)
    south, north = _latitudes(found, wanted.latitude)
    whole = Frame(west, east, south, north, 1, 1)
    columns, rows = wanted.columns, wanted.rows
    if columns is None and rows is None:
        columns = round((east - west) / found.longitude.spacing)
        rows = round((north - south) / found.latitude.spacing)
    elif rows is None:
        rows = round((columns or 1) * whole.dy / whole.dx)
    elif columns is None:
        columns = round(rows * whole.dx / whole.dy)
    columns, rows = max(columns or 0, 2), max(rows, 2)
    if columns * rows > MOST_CELLS:
        cause = f"{columns} x {rows} cells are more than {MOST_CELLS}"
        raise FabricmarkError(cause, "cut less with --longitude and --latitude, or give --columns")
    return Frame(west, east, south, north, columns, rows)


def _longitudes(found: Source, wanted: Range | None) -> Range:
    axis = found.longitude
    if wanted is None:
        return axis.low, (axis.low + TURN if axis.around else axis.high)
    west, east = wanted
    if east <= west:
        east += TURN  # over the seam
    if not west < east <= west + TURN or max(abs(west), abs(east)) > 3 * TURN:
        cause = f"--longitude {wanted[0]:g}:{wanted[1]:g} is no part of a turn"
        raise FabricmarkError(cause, "give west and east, as in 140:-150")
    start = _turned(axis, west)
    if not axis.around and start + east - west > axis.high + 0.5 * axis.spacing:
        _refuse(found, "longitude", wanted, axis)
    return west, east


def _turned(axis: Axis, west: float) -> float:
    """The same place as the file counts; what lies half a cell beyond its edge is its edge."""
    tolerance = 0.5 * axis.spacing
    return axis.low + (west - axis.low + tolerance) % TURN - tolerance


def _latitudes(found: Source, wanted: Range | None) -> Range:
    axis = found.latitude
    if wanted is None:
        return max(axis.low, -90.0), min(axis.high, 90.0)
    south, north = wanted
    if not -90 <= south < north <= 90:
        cause = f"--latitude {south:g}:{north:g} does not go from south to north"
        raise FabricmarkError(cause, "give degrees from -90 to 90, as in -10:30")
    tolerance = 0.5 * axis.spacing
    if south < axis.low - tolerance or north > axis.high + tolerance:
        _refuse(found, "latitude", wanted, axis)
    return south, north


def _refuse(found: Source, name: str, wanted: Range, axis: Axis) -> None:
    cause = f"{found.path} has no {name} {wanted[0]:g}:{wanted[1]:g}, but {axis.low:.6g}:{axis.high:.6g}"
    raise FabricmarkError(cause, f"choose another --{name}")


def _weights(found: Source, frame: Frame) -> tuple[resample.Weights, resample.Weights]:
    """Of rows and of columns."""
    made = []
    for axis, start, extent, cells in (
        (found.latitude, frame.south, frame.north - frame.south, frame.rows),
        (found.longitude, _turned(found.longitude, frame.west), frame.east - frame.west, frame.columns),
    ):
        width = extent / cells / axis.spacing
        around = axis.around if axis is found.longitude else 0
        made.append(
            resample.weights((start - axis.first) / axis.spacing, width, cells, axis.count, around=around)
        )
    return made[0], made[1]
