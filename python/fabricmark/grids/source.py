"""Depths by longitude and latitude in files of others: which variable has them, which way it grows, where."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricmark.base.errors import FabricmarkError
from fabricmark.grids import netcdf
from fabricmark.grids.netcdf import Variable

if TYPE_CHECKING:
    import numpy

UP, DOWN = "up", "down"
# Units, in small letters: metres each.
METRES = {
    "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0, "km": 1000.0, "kilometers": 1000.0,
    "kilometres": 1000.0, "cm": 0.01, "ft": 0.3048, "feet": 0.3048, "fathom": 1.8288, "fathoms": 1.8288,
}  # fmt: skip
HEIGHT_WORDS = re.compile(r"height|altitude|elevation|relief|topograph|topo\b")
DEPTH_WORDS = re.compile(r"depth")
HEIGHT_NAMES = {"z", "band1"}  # as GMT and GDAL call it
HIGHEST, DEEPEST = 9000.0, 11_200.0  # Everest, Challenger Deep
EVEN = 0.02  # of a spacing: how far coordinates may be off, which files have rounded
DEGREES = 360.0


@dataclass(frozen=True)
class Axis:
    """Coordinates of cells [degrees], evenly spaced, ascending. `flipped`: the file has them descending."""

    first: float
    spacing: float
    count: int
    flipped: bool = False

    @property
    def low(self) -> float:
        """The outer edge."""
        return self.first - 0.5 * self.spacing

    @property
    def high(self) -> float:
        return self.first + (self.count - 0.5) * self.spacing

    @property
    def around(self) -> int:
        """Of longitudes all around the globe: how many there are before they repeat; else 0."""
        each = round(DEGREES / self.spacing)
        return each if abs(each * self.spacing - DEGREES) < self.spacing and self.count >= each else 0


@dataclass(frozen=True)
class Source:
    """`metres`: what a number of the variable stands for; below 0 where it grows upwards. `known_by`: what
    says so."""

    path: Path
    variable: Variable
    longitude: Axis
    latitude: Axis
    metres: float
    known_by: str

    def depths(self, rows: tuple[int, int], columns: tuple[int, int]) -> "numpy.ndarray":
        """Of rows and columns from .. to, from the south and the west [m]; NaN where there is none."""
        import numpy

        start, end = rows
        if self.latitude.flipped:
            start, end = self.latitude.count - end, self.latitude.count - start
        before = [slice(0, 1)] * (len(self.variable.shape) - 2)
        found = netcdf.numbers(self.path, self.variable, *before, slice(start, end), slice(*columns))
        found = found.reshape(end - start, columns[1] - columns[0])
        if self.latitude.flipped:
            found = found[::-1]
        missing = ~numpy.isfinite(found)
        for name in ("_FillValue", "missing_value"):
            if (value := self.variable.number(name)) is not None:
                missing |= found == value
        scale, offset = self.variable.number("scale_factor"), self.variable.number("add_offset")
        found = found * (1.0 if scale is None else scale) + (0.0 if offset is None else offset)
        found *= self.metres
        found[missing] = numpy.nan
        return found


def read(path: Path, variables: Mapping[str, Variable], name: str | None, positive: str | None) -> Source:
    """Of the variables of a file. Raises FabricmarkError (2)."""
    variable = _chosen(path, variables, name)
    latitude, longitude = (
        _axis(path, variables[one], limit)
        for one, limit in zip(variable.dimensions[-2:], (90.0, DEGREES), strict=True)
    )
    way, known_by = _way(path, variable, positive)
    units = variable.text("units")
    if units and units not in METRES:
        raise FabricmarkError(f"{path}: {variable.name} is in '{units}'", "convert it to metres")
    metres = METRES[units] if units else 1.0
    if longitude.flipped:
        raise FabricmarkError(f"{path}: longitudes descend", "turn its rows round")
    return Source(path, variable, longitude, latitude, metres if way == DOWN else -metres, known_by)


def check_sign(source: Source, depths: "numpy.ndarray") -> None:
    """Raises FabricmarkError (2) for depths that no sea has, and where there is no water."""
    import numpy

    what = f"{source.path}: {source.variable.name}, taken as growing {grows(source)} by {source.known_by},"
    if not numpy.isfinite(depths).any():
        cause = f"{source.path}: {source.variable.name} has no numbers there, all are missing"
        raise FabricmarkError(cause, "choose another --longitude and --latitude")
    low, high = float(numpy.nanmin(depths)), float(numpy.nanmax(depths))
    if high > DEEPEST or low < -HIGHEST:
        cause = f"{what} has depths from {low:g} to {high:g} m, which the Earth has not"
        raise FabricmarkError(cause, f"give --positive {other_way(source)}, or the file its units")
    if high <= 0:
        cause = f"{what} has no water there, but land of {-high:g} to {-low:g} m"
        remedy = f"choose another --longitude and --latitude, or give --positive {other_way(source)}"
        raise FabricmarkError(cause, remedy)


def grows(source: Source) -> str:
    return DOWN if source.metres > 0 else UP


def other_way(source: Source) -> str:
    return UP if source.metres > 0 else DOWN


def _chosen(path: Path, variables: Mapping[str, Variable], name: str | None) -> Variable:
    fitting = [one.name for one in variables.values() if _is_grid(one, variables)]
    if name is not None:
        if name not in variables:
            known = f"; it has {', '.join(fitting)}" if fitting else ""
            raise FabricmarkError(f"{path} has no variable {name!r}{known}", "choose another --variable")
        if name not in fitting:
            cause = f"{path}: {name} is no grid by latitude and longitude"
            raise FabricmarkError(cause, _other(fitting))
        return variables[name]
    if not fitting:
        if any(_plane(one, variables) for one in variables.values()):
            raise FabricmarkError(f"{path} is a plane grid in metres already", "use it as it is")
        raise FabricmarkError(f"{path} has no grid by latitude and longitude", netcdf.REMEDY)
    named = [one for one in fitting if _guessed_way(variables[one]) is not None]
    choice = named if len(named) == 1 else fitting
    if len(choice) > 1:
        raise FabricmarkError(f"{path} has several grids: {', '.join(choice)}", "choose one with --variable")
    return variables[choice[0]]


def _other(fitting: Sequence[str]) -> str:
    return f"choose {' or '.join(fitting)} with --variable" if fitting else netcdf.REMEDY


def _is_grid(one: Variable, variables: Mapping[str, Variable]) -> bool:
    if len(one.dimensions) < 2 or any(length != 1 for length in one.shape[:-2]):
        return False
    axes = [variables.get(name) for name in one.dimensions[-2:]]
    return all(
        axis is not None and axis.dimensions == (axis.name,) and _is_along(axis, *words)
        for axis, words in zip(axes, (("lat", "y", "n"), ("lon", "x", "e")), strict=True)
    )


def _is_along(axis: Variable, word: str, letter: str, direction: str) -> bool:
    """Whether coordinates are latitudes (or longitudes)."""
    units, name = axis.text("units"), axis.name.lower()
    if re.fullmatch(rf"degrees?_?{direction}(ast|orth)?", units):
        return True
    if units not in ("", "degree", "degrees"):
        return False
    return axis.text("standard_name").startswith(word) or name.startswith(word) or name == letter


def _plane(one: Variable, variables: Mapping[str, Variable]) -> bool:
    return len(one.dimensions) == 2 and all(
        name in variables and variables[name].text("units") in METRES for name in one.dimensions
    )


def _axis(path: Path, variable: Variable, most: float) -> Axis:
    import numpy

    values = netcdf.numbers(path, variable, slice(None))
    if len(values) < 2 or not numpy.isfinite(values).all() or abs(values).max() > 2 * most:
        raise FabricmarkError(f"{path}: {variable.name} has no coordinates in degrees", netcdf.REMEDY)
    steps = numpy.diff(values)
    spacing = float(values[-1] - values[0]) / (len(values) - 1)
    worst = int(numpy.argmax(abs(steps - spacing)))
    if spacing == 0 or abs(steps[worst] - spacing) > EVEN * abs(spacing):
        cause = (
            f"{path}: {variable.name} is not evenly spaced: {values[worst]:g} and {values[worst + 1]:g} lie "
            f"{steps[worst]:g} degrees apart, others {spacing:g}"
        )
        raise FabricmarkError(cause, "resample it, as with `gmt grdsample`")
    flipped = spacing < 0
    return Axis(float(values[-1] if flipped else values[0]), abs(spacing), len(values), flipped)


def _way(path: Path, variable: Variable, positive: str | None) -> tuple[str, str]:
    if positive is not None:
        return positive, "--positive"
    guess = _guessed_way(variable)
    if guess is None:
        cause = f"{path}: nothing says whether {variable.name} grows upwards or downwards"
        raise FabricmarkError(cause, "give --positive up or down")
    return guess


def _guessed_way(variable: Variable) -> tuple[str, str] | None:
    """Which way a variable grows, and what says so."""
    if (way := variable.text("positive")) in (UP, DOWN):
        return way, "its attribute positive"
    for key in ("standard_name", "long_name"):
        text = variable.text(key).replace("_", " ")
        # "sea floor depth below ..." is one, "elevation above ... (depths are negative)" is none.
        if HEIGHT_WORDS.search(text):
            return UP, f"its {key}"
        if DEPTH_WORDS.search(text):
            return DOWN, f"its {key}"
    name = variable.name.lower()
    if HEIGHT_WORDS.search(name) or name in HEIGHT_NAMES:
        return UP, "its name"
    return (DOWN, "its name") if DEPTH_WORDS.search(name) else None
