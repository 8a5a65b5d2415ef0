"""Where a series changed its level, and what changed beside it.

Binary segmentation: the split of a series whose two means differ most, in standard errors, is a change
where a difference like it has a probability below LEVEL / (splits x series) by chance (Bonferroni), and
both parts are looked at again. The scale is that of differences from night to night, which levels hardly
show in: their median absolute value (MAD_TO_DEVIATION / sqrt(2)), with the degrees of freedom that this
estimate is worth. Nights far from both of their neighbours are outliers and take the median of the three.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabricmark.sites.evidence import CUT, MAD_TO_DEVIATION, SMALLEST_SCALE

LEVEL = 0.01  # a false change among all series of a look
SHORTEST = 3  # nights of a part
EFFICIENCY = 0.37  # of a median absolute deviation beside a standard deviation
SMALLEST = 0.02  # share: smaller changes are not worth a look


@dataclass(frozen=True)
class Change:
    """From night `place` on a series has another level: `ratio` of the values; `chance` of it without a
    change."""

    place: int
    ratio: float
    chance: float


def found(values: np.ndarray, series: int) -> list[Change]:
    """Changes of the logarithms of one series, in order of time; `series`: how many are looked at."""
    if len(values) < 2 * SHORTEST:
        return []
    scale = max(MAD_TO_DEVIATION / math.sqrt(2) * float(np.median(np.abs(np.diff(values)))), SMALLEST_SCALE)
    calm = without_outliers(values, scale)
    freedom = max(EFFICIENCY * (len(values) - 1), 1.0)
    splits = _splits(calm, scale, freedom, LEVEL / (len(values) * max(series, 1)))
    ends = [0, *(place for place, _ in splits), len(calm)]
    made = []
    for (place, chance), before, after in zip(splits, ends, ends[2:], strict=False):
        step = float(np.mean(calm[place:after]) - np.mean(calm[before:place]))
        if abs(step) >= math.log1p(SMALLEST):
            made.append(Change(place, math.exp(step), chance))
    return made


def without_outliers(values: np.ndarray, scale: float) -> np.ndarray:
    """Nights that lie off both of their neighbours, on the same side, take the median of the three."""
    calm = values.copy()
    left, right = values[1:-1] - values[:-2], values[1:-1] - values[2:]
    bound = CUT * math.sqrt(2) * scale
    is_off = (np.sign(left) == np.sign(right)) & (np.minimum(np.abs(left), np.abs(right)) > bound)
    middle = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
    calm[1:-1][is_off] = middle[is_off]
    return calm


def _splits(values: np.ndarray, scale: float, freedom: float, level: float) -> list[tuple[int, float]]:
    """(place, chance) of all changes, in order.

    Of `left` of n values with the sum L, all with the sum S, the means differ by |L n - S left| / (left (n -
    left)), in units of scale sqrt(n / (left (n - left))).
    """
    from scipy.special import stdtr, stdtrit  # here: its import would slow every other command down

    count = len(values)
    sums = np.concatenate([[0.0], np.cumsum(values - np.mean(values))])
    places = np.arange(count + 1, dtype=float)
    # A chance below `level` is a score above this, which is asked for once and not for each part.
    least = -float(stdtrit(freedom, level / 2))
    made, parts = [], [(0, count)]
    while parts:
        first, after = parts.pop()
        length = after - first
        if length < 2 * SHORTEST:
            continue
        left = places[SHORTEST : length - SHORTEST + 1]
        of_left = sums[first + SHORTEST : after - SHORTEST + 1] - sums[first]
        differences = of_left * length - left * (sums[after] - sums[first])
        squares = differences * differences / (left * (length - left))
        best = int(squares.argmax())
        score = math.sqrt(squares[best] / length) / scale
        if score > least:
            place = first + SHORTEST + best
            made.append((place, 2 * float(stdtr(freedom, -score))))
            parts += [(first, place), (place, after)]
    return sorted(made)


def beside(before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]) -> list[str]:
    """What runs after a change have that none before it had, in words: `driver 1.0 -> 1.1`."""
    told = []
    for name in sorted({name for one in (*before, *after) for name in one}):
        old, new = ({one[name] for one in side if name in one} for side in (before, after))
        if old and new and not old & new:
            told.append(f"{name} {', '.join(sorted(old))} -> {', '.join(sorted(new))}")
    return told
