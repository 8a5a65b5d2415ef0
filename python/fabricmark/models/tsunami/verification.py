"""What tsunamis have to reach where a solution is known."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf, log2

from fabricmark.models._verification import Case, Reached, at_least, at_most

CELLS = (200, 400, 800)
ERROR = re.compile(r"error of the elevation: L2 ([\d.e+-]+)")


def wave(cells: int) -> dict[str, object]:
    """A wave of a centimetre, over 0.4 of 800 km."""
    grid = {"columns": cells, "rows": 4, "spacing": 800_000 / cells, "steps": cells * 4 // 5}
    return {"case": "wave", **grid, "height": 0.01, "cfl": 0.5, "edges": "wall", "data_type": "double"}


def error(document: Mapping) -> float:
    for note in document["notes"]:
        if found := ERROR.search(note):
            return float(found[1])
    raise ValueError("no note has the error of the elevation")


def order(documents: Sequence[Mapping]) -> list[Reached]:
    rates = [log2(coarse / fine) if fine else inf for coarse, fine in pairwise(map(error, documents))]
    return [
        at_least(f"order of the error from {coarse} to {fine} cells", rate, 1.9)
        for (coarse, fine), rate in zip(pairwise(CELLS), rates, strict=True)
    ]


def rest(documents: Sequence[Mapping]) -> list[Reached]:
    found = []
    for one in documents:
        moved = [verdict["error"] for verdict in one["verdicts"] if verdict["name"] == "lake at rest"]
        if not moved:
            raise ValueError("no verdict is of the lake at rest")
        kind = one["parameters"]["data_type"]
        found.append(at_most(f"largest elevation or speed, {kind}", moved[0], 0))
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
