"""What a run on a plane grid has written: grid.json, fields as .npy, and what gauges recorded."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.mesh.arrays import load_array
from fabricmark.mesh.drawing import Frame

if TYPE_CHECKING:
    import numpy

DESCRIPTION = "grid.json"
FORMAT = "fabricmark-grid-1"
STATIONS = "stations.csv"
REMEDY = "name the folder of --fields of a run that came to its end"


@dataclass(frozen=True)
class Gauge:
    """`x`, `y`: from the south-west corner [m]."""

    name: str
    x: float
    y: float


@dataclass(frozen=True)
class RunFields:
    """`depth` [m] is 0 on land; `largest` elevation [m]; `arrival` of the wave [s], NaN where it is yet to
    come; `elevation` at the end, after `seconds`. `degrees`: west, east, south, north of the outer edges."""

    depth: "numpy.ndarray"
    largest: "numpy.ndarray"
    arrival: "numpy.ndarray"
    elevation: "numpy.ndarray"
    dx: float
    dy: float
    seconds: float
    degrees: tuple[float, float, float, float] | None
    snapshots: Sequence[tuple[Path, float]]
    gauges: Sequence[Gauge]

    def frames(self, chosen: Sequence[tuple[Path, float]]) -> list[Frame]:
        """Snapshots, read. Raises FabricmarkError (2)."""
        return [Frame(seconds, _field(path, self.depth.shape)) for path, seconds in chosen]


def is_there(folder: Path) -> bool:
    return (folder / DESCRIPTION).is_file()


def load(folder: Path) -> RunFields:
    """Raises FabricmarkError (2) for a folder that is none."""
    path = folder / DESCRIPTION
    try:
        document = json.loads(paths.content(path))
    except OSError as error:
        raise FabricmarkError(f"cannot read {path}: {error.strerror}", REMEDY) from error
    except ValueError as error:
        raise FabricmarkError(f"{path} is no description of a grid", REMEDY) from error
    try:
        if document["schema"] != FORMAT:
            raise ValueError
        shape = (int(document["rows"]), int(document["columns"]))
        dx, dy, seconds = (float(document[name]) for name in ("dx_m", "dy_m", "time_s"))
        degrees = _edges(document["degrees"])
        listed = [(str(one["file"]), float(one["time_s"])) for one in document["snapshots"]]
        if min(dx, dy, seconds) <= 0 or any(Path(name).name != name for name, _ in listed):
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise FabricmarkError(f"{path} is no description of a grid", REMEDY) from error
    names = ("depth", "largest", "arrival", "elevation")
    depth, largest, arrival, elevation = (_field(folder / f"{name}.npy", shape) for name in names)
    snapshots = [(folder / name, when) for name, when in listed]
    gauges = _gauges(folder / STATIONS)
    return RunFields(depth, largest, arrival, elevation, dx, dy, seconds, degrees, snapshots, gauges)


def _edges(value: object) -> tuple[float, float, float, float] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError
    west, east, south, north = map(float, value)
    if not (west < east and south < north):
        raise ValueError
    return west, east, south, north


def _field(path: Path, shape: tuple[int, ...]) -> "numpy.ndarray":
    values = load_array(path)
    if shape[1] == 1 and values.shape == shape[:1]:  # as the program writes a single column
        values = values.reshape(shape)
    if values.shape != shape:
        raise FabricmarkError(f"{path} has not {shape[1]} x {shape[0]} cells", "run it again")
    return values


def _gauges(path: Path) -> list[Gauge]:
    """Each once; none where nothing was recorded."""
    if not path.is_file():
        return []
    found: dict[str, Gauge] = {}
    try:
        for row in csv.DictReader(io.StringIO(paths.content(path).decode())):
            name = row["station"]
            if name in found:
                break
            found[name] = Gauge(name, float(row["x_m"]), float(row["y_m"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FabricmarkError(f"{path} has no records of gauges", "run it again") from error
    return list(found.values())
