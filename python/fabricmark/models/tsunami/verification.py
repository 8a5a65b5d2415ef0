"""What tsunamis have to reach where a solution is known."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from fabricmark.models._verification import Case, Reached, at_least, at_most, error_of, orders, said

CELLS = (200, 400, 800)
ERROR = re.compile(r"error of the elevation: L2 ([\d.e+-]+)")


def wave(cells: int) -> dict[str, object]:
    """A wave of a centimetre, over 0.4 of 800 km."""
    grid = {"columns": cells, "rows": 4, "spacing": 800_000 / cells, "steps": cells * 4 // 5}
    return {"case": "wave", **grid, "height": 0.01, "cfl": 0.5, "edges": "wall", "data_type": "double"}


def order(documents: Sequence[Mapping]) -> list[Reached]:
    rates = orders([said(one, ERROR)[0] for one in documents])
    return [
        at_least(f"order of the error from {coarse} to {fine} cells", rate, 1.9)
        for (coarse, fine), rate in zip(pairwise(CELLS), rates, strict=True)
    ]


def rest(documents: Sequence[Mapping]) -> list[Reached]:
    found = []
    for one in documents:
        kind = one["parameters"]["data_type"]
        found.append(at_most(f"largest elevation or speed, {kind}", error_of(one, "lake at rest"), 0))
    return found


LAKE = {"case": "lake", "columns": 64, "rows": 64, "steps": 10_000}
CASES = {
    "wave": Case("a long wave, on three grids", tuple(map(wave, CELLS)), order),
    "lake": Case(
        "water at rest over a random bed",
        ({**LAKE, "data_type": "float"}, {**LAKE, "data_type": "double"}),
        rest,
    ),
}
