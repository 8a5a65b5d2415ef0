"""What tsunamis have to reach where a solution is known."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fabricmark.models._verification import Case, Reached, at_least, at_most, error_of, near, orders_on, said

CELLS = (200, 400, 800)
HEIGHT = 0.01  # of the wave [m]
ERROR = re.compile(r"error of the elevation: L2 ([\d.e+-]+)")
LEFT = re.compile(r"([\d.e+-]+) m at the end")
VOLUMES = {"scheme": "finite_volume", "edges": "wall", "data_type": "double"}
BOWLS = (50, 100, 200)
BOWL_ERROR = re.compile(r"error of the water's height: L1 ([\d.e+-]+)")
BEACH = (800, 1600)
RUNUP = re.compile(r"run-up [\d.e+-]+ m; [^;]*; ([\d.e+-]+) of the law")
SPHERE = {"coordinates": "sphere", "edges": "wall", "data_type": "double"}
SPHERES, ZONES = (24, 48, 96), (20, 40, 80)  # columns of a wave's length, rows
MASS = 1e-12  # relative, in double precision


def wave(cells: int, widths: float = 0.4) -> dict[str, object]:
    """A wave of a centimetre, over so many times 800 km."""
    grid = {"columns": cells, "rows": 4, "spacing": 800_000 / cells, "steps": round(2 * widths * cells)}
    return {"case": "wave", **grid, "height": HEIGHT, "cfl": 0.5, "edges": "wall", "data_type": "double"}


def harmonic(columns: int) -> dict[str, object]:
    """More than a period of a standing wave, 30 degrees long, from the equator to 75 degrees north."""
    rows = columns * 5 // 2
    grid = {"columns": columns, "rows": rows, "spacing": 8.34e6 / rows, "steps": 5 * columns}
    return {"case": "harmonic", **SPHERE, **grid, "height": HEIGHT, "coriolis": "false"}


def zonal(rows: int) -> dict[str, object]:
    """Six hours of water that goes to the east between 10 and 64 degrees north, with 2 m/s at the equator."""
    grid = {"columns": 8, "rows": rows, "spacing": 6e6 / rows, "south": 10, "steps": 2 * rows}
    return {"case": "zonal", **SPHERE, **grid, "height": 100}


def order_on(cells: Sequence[int]) -> Callable[[Sequence[Mapping]], list[Reached]]:
    """What judges runs on such grids: the second order."""
    return orders_on(cells, ERROR, partial(at_least, least=1.9))


def comes_back(documents: Sequence[Mapping]) -> list[Reached]:
    (one,) = documents
    return [at_least("height that a wall sends back, of the wave's", said(one, LEFT)[0] / HEIGHT, 0.99)]


def rest(documents: Sequence[Mapping]) -> list[Reached]:
    found = []
    for one in documents:
        kind = one["parameters"]["data_type"]
        found.append(at_most(f"largest elevation or speed, {kind}", error_of(one, "lake at rest"), 0))
    return found


def bowl(cells: int) -> dict[str, object]:
    """A period of a bowl of a metre, whose water is a tenth higher in the middle."""
    grid = {"columns": cells, "rows": cells, "spacing": 100 / cells, "steps": cells * 7 // 2}
    return {"case": "bowl", **VOLUMES, **grid, "depth": 1, "height": 0.1, "wet_height": 0.001}


def beach(cells: int) -> dict[str, object]:
    """Until the wave of 0.019 of the depth is on its way back, over 80 depths."""
    grid = {"columns": cells, "rows": 4, "spacing": 8000 / cells, "steps": cells * 22 // 5}
    return {"case": "beach", **VOLUMES, **grid, "depth": 100, "height": 1.9}


def mass(documents: Sequence[Mapping]) -> list[Reached]:
    return [at_most("relative change of the mass", error_of(one, "mass"), MASS) for one in documents]


def swing(documents: Sequence[Mapping]) -> list[Reached]:
    return orders_on(BOWLS, BOWL_ERROR, partial(at_least, least=0.9))(documents) + mass(documents)


def runup(documents: Sequence[Mapping]) -> list[Reached]:
    return [
        near(f"run-up on {cells} cells, of Synolakis' law", said(one, RUNUP)[0], 1, 0.05)
        for cells, one in zip(BEACH, documents, strict=True)
    ] + mass(documents)


def shores(documents: Sequence[Mapping]) -> list[Reached]:
    return rest(documents) + mass([one for one in documents if one["parameters"]["data_type"] == "double"])


LAKE = {"case": "lake", "columns": 64, "rows": 64, "steps": 10_000}
SHORES = {**LAKE, **VOLUMES, "depth": 100, "steps": 2000}
SPHERE_LAKE = {**LAKE, "coordinates": "sphere", "spacing": 50_000, "south": 30, "steps": 2000}
CASES = {
    "wave": Case("a long wave, on three grids", tuple(map(wave, CELLS)), order_on(CELLS)),
    "wall": Case("the same wave comes back from a wall", (wave(CELLS[-1], 1.25),), comes_back),
    "lake": Case(
        "water at rest over a random bed",
        ({**LAKE, "data_type": "float"}, {**LAKE, "data_type": "double"}),
        rest,
    ),
    "sphere": Case(
        "a standing wave of one zonal wavenumber on the sphere, on three grids",
        tuple(map(harmonic, SPHERES)),
        order_on(SPHERES),
    ),
    "zonal": Case(
        "water that the turning Earth keeps in balance, on three grids",
        tuple(map(zonal, ZONES)),
        order_on(ZONES),
    ),
    "sphere_lake": Case(
        "water at rest over a random bed of the turning Earth",
        ({**SPHERE_LAKE, "data_type": "float"}, {**SPHERE_LAKE, "data_type": "double"}),
        rest,
    ),
    "shores": Case(
        "the same by finite volumes, whose shores may move",
        ({**SHORES, "data_type": "float"}, SHORES),
        shores,
    ),
    "bowl": Case("water that swings in a bowl, on three grids", tuple(map(bowl, BOWLS)), swing),
    "beach": Case("a solitary wave that runs up a beach, on two grids", tuple(map(beach, BEACH)), runup),
}
