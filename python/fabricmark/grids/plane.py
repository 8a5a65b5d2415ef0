"""A plane grid of depths: where it lies on the Earth, and its file."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricmark.base import paths

if TYPE_CHECKING:
    import numpy

RADIUS = 6_371_000.0  # of the Earth, its mean [m]


@dataclass(frozen=True)
class Frame:
    """A rectangle of degrees as so many cells. `east` is above `west`, and may be above 180."""

    west: float
    east: float
    south: float
    north: float
    columns: int
    rows: int

    @property
    def dx(self) -> float:
        """From a column to the next [m], as wide as in the middle latitude (equirectangular)."""
        return self._metres(self.east - self.west) / self.columns * self._narrowing(self._middle)

    @property
    def dy(self) -> float:
        return self._metres(self.north - self.south) / self.rows

    @property
    def stretching(self) -> float:
        """How much wider than in truth the cells of the edges are, at most, less 1."""
        worst = max(abs(self.south), abs(self.north))
        return self._narrowing(self._middle) / max(self._narrowing(worst), 1e-9) - 1

    @property
    def _middle(self) -> float:
        return 0.5 * (self.south + self.north)

    @staticmethod
    def _metres(degrees: float) -> float:
        return math.radians(degrees) * RADIUS

    @staticmethod
    def _narrowing(latitude: float) -> float:
        return math.cos(math.radians(latitude))

    def degrees(self) -> tuple["numpy.ndarray", "numpy.ndarray"]:
        """Longitudes of columns and latitudes of rows."""
        import numpy

        longitudes = self.west + (numpy.arange(self.columns) + 0.5) * (self.east - self.west) / self.columns
        latitudes = self.south + (numpy.arange(self.rows) + 0.5) * (self.north - self.south) / self.rows
        return longitudes, latitudes


def write(
    path: Path, frame: Frame, depth: "numpy.ndarray", elevation: "numpy.ndarray | None", source: str
) -> None:
    """As classic NetCDF with CF's attributes. Raises FabricmarkError (2; 3: the disk is full)."""
    from scipy.io import netcdf_file

    with paths.written_by_name(path) as made, netcdf_file(made, "w", version=2) as file:
        _fill(file, frame, source)
        _add(file, "depth", depth, "sea_floor_depth_below_mean_sea_level", "depth below still water")
        file.variables["depth"].positive = "down"
        if elevation is not None:
            name = "sea_surface_height_above_mean_sea_level"
            _add(file, "elevation", elevation, name, "elevation of the water at the start")


def _fill(file, frame: Frame, source: str) -> None:
    import numpy

    file.Conventions = "CF-1.8"
    file.title = "Depths on a plane grid"
    file.source = source
    file.comment = (
        f"Equirectangular: metres of the middle latitude, on a sphere of {RADIUS:.0f} m; rows from the south"
    )
    for name in ("geospatial_lon_min", "geospatial_lon_max", "geospatial_lat_min", "geospatial_lat_max"):
        edge = {"lon_min": frame.west, "lon_max": frame.east, "lat_min": frame.south, "lat_max": frame.north}
        setattr(file, name, numpy.float64(edge[name.removeprefix("geospatial_")]))
    for name, count, spacing, of, degrees in (
        ("y", frame.rows, frame.dy, "latitude", frame.degrees()[1]),
        ("x", frame.columns, frame.dx, "longitude", frame.degrees()[0]),
    ):
        file.createDimension(name, count)
        metres = file.createVariable(name, "d", (name,))
        metres.units = "m"
        metres.standard_name = f"projection_{name}_coordinate"
        metres[:] = (numpy.arange(count) + 0.5) * spacing
        place = file.createVariable(of, "d", (name,))
        place.units = "degrees_north" if name == "y" else "degrees_east"
        place.standard_name = of
        place[:] = degrees


def _add(file, name: str, values: "numpy.ndarray", standard_name: str, long_name: str) -> None:
    made = file.createVariable(name, "f", ("y", "x"))
    made.units = "m"
    made.standard_name = standard_name
    made.long_name = long_name
    made.coordinates = "longitude latitude"
    made[:] = values
