"""Numbers of cells on another grid: means of the cells that one covers, or between its neighbours."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

MOST_AT_ONCE = 1 << 24  # numbers of the source
LEAST_KNOWN = 0.5  # share of a cell that has to be known

# Rows from .. to and columns from .. to of the source, NaN where there is nothing.
Read = Callable[[tuple[int, int], tuple[int, int]], "numpy.ndarray"]


@dataclass(frozen=True)
class Weights:
    """`matrix`: [cells][places]; `places`: of the source that count, ascending."""

    matrix: "numpy.ndarray"
    places: list[int]

    def runs(self) -> list[tuple[int, int]]:
        """Stretches of places, from .. to."""
        found: list[tuple[int, int]] = []
        for place in self.places:
            if found and found[-1][1] == place:
                found[-1] = (found[-1][0], place + 1)
            else:
                found.append((place, place + 1))
        return found


def weights(start: float, width: float, cells: int, count: int, *, around: int = 0) -> Weights:
    """Of so many cells from `start` on, each `width` wide, in cells of the source, whose first goes from -0.5
    to 0.5. `around`: after how many the source repeats; else what lies beyond its ends is as they are."""
    from scipy.sparse import csr_array

    rows, columns, values = [], [], []
    for cell in range(cells):
        for place, weight in _of_cell(start + cell * width, width):
            inside = place % around if around else min(max(place, 0), count - 1)
            rows.append(cell)
            columns.append(inside)
            values.append(weight)
    places = sorted(set(columns))
    number = {place: i for i, place in enumerate(places)}
    made = csr_array(
        (values, (rows, [number[one] for one in columns])), shape=(cells, len(places)), dtype=float
    )
    return Weights(made, places)


def _of_cell(low: float, width: float) -> list[tuple[int, float]]:
    """Places and weights of a cell from `low` on."""
    if width <= 1:
        middle = low + 0.5 * width
        place = math.floor(middle)
        return [(place, 1 - (middle - place)), (place + 1, middle - place)]
    high = low + width
    first, last = math.floor(low + 0.5), math.floor(high + 0.5)
    shares = [(i, min(high, i + 0.5) - max(low, i - 0.5)) for i in range(first, last + 1)]
    return [(i, share / width) for i, share in shares if share > 0]


def resampled(read: Read, rows: Weights, columns: Weights) -> "numpy.ndarray":
    """[rows][columns]; NaN where most of a cell is not known."""
    import numpy

    across = columns.runs()
    each = max(1, MOST_AT_ONCE // max(1, len(columns.places)))
    cells = rows.matrix.shape[0]
    sums = numpy.zeros((cells, columns.matrix.shape[0]))
    known = numpy.zeros_like(sums)
    before = 0
    for start, end in _pieces(rows.runs(), each):
        band = numpy.concatenate([read((start, end), run) for run in across], axis=1)
        there = numpy.isfinite(band)
        down = rows.matrix[:, before : before + end - start]
        sums += down @ (numpy.where(there, band, 0.0) @ columns.matrix.T)
        known += down @ (there.astype(float) @ columns.matrix.T)
        before += end - start
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return numpy.where(known >= LEAST_KNOWN, sums / known, numpy.nan)


def _pieces(runs: list[tuple[int, int]], each: int) -> list[tuple[int, int]]:
    return [(start, min(start + each, end)) for first, end in runs for start in range(first, end, each)]
