"""What lifts the water: faults after Okada (1985), and humps."""

import csv
import io
import math
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError, refusing
from fabricmark.grids.plane import RADIUS

if TYPE_CHECKING:
    import numpy

MEDIUM = 0.5  # mu / (lambda + mu) of Okada's formulas, where both are alike


@dataclass(frozen=True)
class Fault:
    """A rectangle that slips. Longitude, latitude [degrees] and depth [km] of its middle; length and width
    [km]; strike, dip and rake [degrees] after Aki and Richards; slip and opening [m]."""

    longitude: float
    latitude: float
    depth: float
    length: float
    width: float
    strike: float
    dip: float
    rake: float
    slip: float
    opening: float = 0.0

    def check(self) -> None:
        """Raises FabricmarkError (2)."""
        if not (self.length > 0 and self.width > 0):
            raise FabricmarkError("a fault has no length or no width", "give both in km")
        if not 0 <= self.dip <= 90:
            raise FabricmarkError(f"the dip {self.dip:g} is not between 0 and 90", "give it in degrees")
        top = self.depth - 0.5 * self.width * math.sin(math.radians(self.dip))
        if top < 0:
            cause = f"the fault's upper edge lies {-top:.4g} km above the sea floor"
            raise FabricmarkError(cause, "give its middle more depth, or it less width or dip")

    def lift(self, longitude: "numpy.ndarray", latitude: "numpy.ndarray") -> "numpy.ndarray":
        """Of the sea floor at these places [m]."""
        import numpy

        east, north = _kilometres(longitude, latitude, self.longitude, self.latitude)
        strike, dip = math.radians(self.strike), math.radians(self.dip)
        along = east * math.sin(strike) + north * math.cos(strike)
        left = north * math.sin(strike) - east * math.cos(strike)
        rake = math.radians(self.rake)
        moves = (self.slip * math.cos(rake), self.slip * math.sin(rake), self.opening)
        half = 0.5 * self.width
        return numpy.asarray(
            okada_lift(
                along + 0.5 * self.length,
                left + half * math.cos(dip),
                self.depth + half * math.sin(dip),
                dip,
                self.length,
                self.width,
                moves,
            )
        )


@dataclass(frozen=True)
class Hump:
    """A Gaussian hump of water: radius [km] to 1/e of its height [m]."""

    longitude: float
    latitude: float
    radius: float
    height: float

    def check(self) -> None:
        """Raises FabricmarkError (2)."""
        if not self.radius > 0:
            raise FabricmarkError("a hump has no radius", "give it in km")

    def lift(self, longitude: "numpy.ndarray", latitude: "numpy.ndarray") -> "numpy.ndarray":
        import numpy

        east, north = _kilometres(longitude, latitude, self.longitude, self.latitude)
        return self.height * numpy.exp(-(east**2 + north**2) / self.radius**2)


Lifting = TypeVar("Lifting", Fault, Hump)


def faults(text: str) -> list[Fault]:
    """One, as `parsed` has it, or those of a CSV file whose first line has such names: a finite fault.

    Raises FabricmarkError (2).
    """
    path = Path(text)
    if "=" in text or not path.is_file():
        return [parsed(Fault, text)]
    with refusing(f"cannot read {path}", "name a CSV file of faults"):
        rows = list(csv.reader(io.StringIO(paths.content(path).decode())))
    found = []
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        try:
            pairs = [f"{name}={value}" for name, value in zip(rows[0], row, strict=True)]
            found.append(parsed(Fault, ",".join(pairs)))
        except ValueError as error:
            cause = f"{path}, line {number} has {len(row)} values for {len(rows[0])} names"
            raise FabricmarkError(cause, "give each a value") from error
        except FabricmarkError as error:
            cause, _, remedy = str(error).rpartition("; ")
            raise FabricmarkError(f"{path}, line {number}: {cause}", remedy) from error
    if not found:
        raise FabricmarkError(f"{path} has no faults", "write names in its first line, a fault in each other")
    return found


def parsed(kind: type[Lifting], text: str) -> Lifting:
    """From `name=number,...` with the names of its fields. Raises FabricmarkError (2)."""
    names = [field.name for field in fields(kind)]
    needed = [field.name for field in fields(kind) if field.default is MISSING]
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if name.strip() not in names or not math.isfinite(number):
            raise FabricmarkError(f"{part.strip()!r} of {text!r} is not one of {', '.join(names)}",
                                  f"write {names[0]}=142.4,{names[1]}=38.3 and so on")  # fmt: skip
        found[name.strip()] = number
    missing = [name for name in needed if name not in found]
    if missing:
        raise FabricmarkError(f"{text!r} has no {', '.join(missing)}", f"write {missing[0]}=...")
    made = kind(**found)
    made.check()
    return made


def okada_lift(x, y, depth, dip, length, width, moves):
    """What a rectangle in a half-space lifts the surface by at x along its strike and y to the left, from its
    lower corner at `depth` [all in one unit], for moves along strike, up dip and of opening (Okada, 1985,
    Bulletin of the Seismological Society of America 75, equations 25 to 28)."""
    p = y * math.cos(dip) + depth * math.sin(dip)
    q = y * math.sin(dip) - depth * math.cos(dip)
    return sum(
        sign * _at_corner(xi, eta, q, dip, moves)
        for sign, xi, eta in (
            (1, x, p),
            (-1, x, p - width),
            (-1, x - length, p),
            (1, x - length, p - width),
        )
    )


def _at_corner(xi, eta, q, dip, moves):
    """The third lines of equations 25 (strike), 26 (dip) and 27 (tensile), before Chinnery's differences."""
    import numpy

    sine, cosine = math.sin(dip), math.cos(dip)
    if abs(cosine) < 1e-9:  # a dip of 90 degrees, of which the equations' limit is written out
        cosine = 0.0
    r = numpy.sqrt(xi**2 + eta**2 + q**2)
    up = eta * cosine + q * sine
    down = eta * sine - q * cosine
    flat = numpy.abs(r + eta) < 1e-12 * r  # on the line of an edge (Okada's condition iii)
    per_eta = numpy.where(flat, 0.0, 1 / numpy.where(flat, 1.0, r * (r + eta)))
    log_eta = numpy.where(flat, -numpy.log(numpy.maximum(r - eta, 1e-300)),
                          numpy.log(numpy.where(flat, 1.0, r + eta)))  # fmt: skip
    per_xi = 1 / numpy.maximum(r * (r + xi), 1e-300)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        angle = numpy.where(q == 0, 0.0, numpy.arctan(xi * eta / (q * r)))
    i4, i5 = _medium(xi, eta, q, r, down, log_eta, sine, cosine)
    slip = down * q * per_eta + q * sine * per_eta * r + i4 * sine
    rise = down * q * per_xi + sine * angle - i5 * sine * cosine
    opening = up * q * per_xi + cosine * (xi * q * per_eta - angle) - i5 * sine**2
    along, up_dip, tensile = moves
    return (-along * slip - up_dip * rise + tensile * opening) / (2 * math.pi)


def _medium(xi, eta, q, r, down, log_eta, sine, cosine):
    """I4 and I5 of equations 28 and 29."""
    import numpy

    if cosine == 0:
        return -MEDIUM * q / (r + down), -MEDIUM * xi * sine / (r + down)
    i4 = MEDIUM / cosine * (numpy.log(r + down) - sine * log_eta)
    x = numpy.sqrt(xi**2 + q**2)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        angle = numpy.arctan((eta * (x + q * cosine) + x * (r + x) * sine) / (xi * (r + x) * cosine))
    return i4, numpy.where(xi == 0, 0.0, MEDIUM * 2 / cosine * angle)


def _kilometres(longitude, latitude, middle_longitude: float, middle_latitude: float):
    """East and north of a place, on the plane that touches the Earth there."""
    import numpy

    each = math.radians(1) * RADIUS / 1000
    turned = (longitude - middle_longitude + 180) % 360 - 180  # -150 and 210 are the same
    return numpy.asarray(turned) * each * math.cos(math.radians(middle_latitude)), (
        latitude - middle_latitude
    ) * each
