"""How sure a prediction is: 90 % intervals from residuals of rows that had no part in a fit (residuals.py).

The half-width of an interval is a quantile of |predicted / measured - 1| over rows that are like what is
asked: of the same benchmark and transport, of the same board where it has enough of them, nearest in size,
copies apart from the rest. Of a board with three or four rows it is what their spread says (Student's t). It
is wider the farther devices and size are from all rows of this board, beyond what those rows themselves were
from the rows that they were predicted from. It is no wider than how alike errors are allows (likeness.py), as
that knows which rows are near, and no narrower than LEAST_SHARE of the quantile. Where rows are too few for a
quantile, likeness alone counts, wider where it rests on few runs. No interval where no row is of the board.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, expm1, inf, sqrt
from statistics import median

import numpy as np

from fabricmark.base import transports
from fabricmark.validate import likeness
from fabricmark.validate.likeness import MOST_ERROR
from fabricmark.validate.outcomes import Predictor, loaded, read
from fabricmark.validate.residuals import Point, Residual, doublings, is_copy, load, plain

LEVEL = 0.9
LEAST_ROWS = 10  # of a benchmark over a transport, for a quantile
LEAST_LEFT = 5  # of them without the group that is asked for; of a board, to be a pool by themselves
LEAST_SHARE = 0.6  # of a quantile, that an interval has at least
# The 95 % point of Student's t with so many degrees of freedom: errors of predictions are around 0, so that
# no mean takes a degree away. Of a board with as few rows; of likeness, one more than it has runs.
STUDENT = {3: 2.353, 4: 2.132}
OF_RUNS = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860)
NEAREST = 10  # rows in the order of their size that a quantile is of, and all that are as near as the last
DEVICES_AWAY, SIZE_AWAY, SYSTEM_AWAY = 1.0, 0.5, 1.0  # of a doubling, a doubling, and another system
OTHER_KIND = 4.0  # doublings that a copy is as good as away from what is no copy


@dataclass(frozen=True)
class Asked(Point):
    """What an interval is asked for: whether it is a copy over the link, and which metric of rows."""

    is_copy: bool = False
    metric: str = ""
    source: str = ""  # of no run that is known


@dataclass(frozen=True)
class Interval:
    """`half_width`: 90 % of the values are within this share of a prediction; None and `reason`: not
    validated.

    `rows`, `median`: how many residuals of this benchmark and transport there are, and their median.
    """

    half_width: float | None
    rows: int = 0
    median: float = 0.0
    reason: str = ""


def asked_of(one: Residual) -> Asked:
    """The row itself."""
    about = (one.benchmark, one.system, one.board, one.transport, one.devices, one.size)
    return Asked(*about, is_copy(one.benchmark, one.metric), one.metric)


class Intervals:
    """The intervals that some residuals give."""

    def __init__(self, known: Sequence[Residual]) -> None:
        self._of: dict[tuple[str, str], list[Residual]] = {}
        for one in known:
            self._of.setdefault((one.benchmark, one.transport), []).append(one)
        self._away: dict[Residual, float] = {}
        self._found: dict[tuple, Interval] = {}
        self._alike: dict[tuple, Alike] = {}

    def of(self, asked: Asked, *, leave_out: bool = False) -> Interval:
        """The interval; `leave_out`: as if nothing had been measured of the group that is asked for."""
        key = (asked, leave_out)
        if key not in self._found:
            self._found[key] = self._make(asked, leave_out)
        return self._found[key]

    def _make(self, asked: Asked, leave_out: bool) -> Interval:
        every = self._of.get((asked.benchmark, asked.transport), [])
        about = f"{asked.benchmark}{transports.over(asked.transport)}"
        if not every:
            return Interval(None, reason=f"no published value of {about}")
        middle = median(abs(one.error) for one in every)
        left = [one for one in every if not (leave_out and one.group == asked.group)]
        away = self._distance(asked, left)
        if away is None:
            reason = f"no published value of {about} is of the board {asked.board}"
            return Interval(None, len(every), middle, reason)
        runs = len({(one.system, one.devices, one.source) for one in left if one.board == asked.board})
        wider = OF_RUNS[min(runs, len(OF_RUNS) - 1)]
        by_likeness = expm1(wider * self._by_likeness(asked, left, asked.group if leave_out else ()))
        by_quantile = self._by_quantile(asked, left, away) if len(every) >= LEAST_ROWS else None
        width = by_likeness
        if by_quantile is not None:
            width = max(min(by_quantile, by_likeness), LEAST_SHARE * by_quantile)
        return Interval(width, len(every), middle)

    def _by_quantile(self, asked: Asked, left: Sequence[Residual], away: float) -> float | None:
        """None where rows are too few for one."""
        own = [one for one in left if one.board == asked.board]
        few = len(own) in STUDENT
        pool = own if few or len(own) >= LEAST_LEFT else left
        if not few and len(pool) < LEAST_LEFT:
            return None
        chosen = own if few else nearest(asked, pool)
        usual = median(self._away_of(one) for one in chosen)
        errors = [one.error for one in chosen]
        width = of_few(errors) if few else quantile([abs(error) for error in errors])
        return width * (1 + max(0.0, away - usual))

    def _by_likeness(self, asked: Asked, left: Sequence[Residual], without: tuple) -> float:
        """Deviation of ln(measured / predicted) from 0 that the rows which are left say."""
        key = (asked.benchmark, asked.transport, without)
        if key not in self._alike:
            self._alike[key] = Alike(left)
        return self._alike[key].deviation(asked)

    def _away_of(self, one: Residual) -> float:
        """How far a row is from those that it was predicted from."""
        if one not in self._away:
            others = [other for other in self._of[one.benchmark, one.transport] if other.group != one.group]
            self._away[one] = self._distance(asked_of(one), others) or 0.0
        return self._away[one]

    @staticmethod
    def _distance(asked: Asked, known: Sequence[Residual]) -> float | None:
        """Weighted doublings from the nearest row of this board; None where it has none."""
        own = [one for one in known if one.board == asked.board]
        if not own:
            return None
        counts = [far for one in own if (far := doublings(one.devices, asked.devices)) is not None]
        sizes = [far for one in own if (far := doublings(one.size, asked.size)) is not None]
        elsewhere = all(one.system != asked.system for one in own)
        far = DEVICES_AWAY * min(counts, default=0.0) + SIZE_AWAY * min(sizes, default=0.0)
        return far + (SYSTEM_AWAY if elsewhere else 0.0)


class Alike:
    """What errors of rows of a benchmark over a transport say of another one's (likeness.py)."""

    def __init__(self, rows: Sequence[Residual]) -> None:
        self._rows = rows
        self._of = likeness.of(rows[0].benchmark, rows[0].transport)

    def _covariance(self, of: Sequence[Point], others: Sequence[Point]) -> np.ndarray:
        return likeness.covariance(self._of, likeness.of_rows(of, others))

    @cached_property
    def _inverse(self) -> np.ndarray:
        own = self._covariance(self._rows, self._rows)
        return np.linalg.inv(own + self._of.noise**2 * np.eye(len(self._rows)))

    @cached_property
    def _weights(self) -> np.ndarray:
        errors = np.clip([one.error for one in self._rows], -MOST_ERROR, MOST_ERROR)
        return self._inverse @ -np.log1p(errors)

    def deviation(self, asked: Asked) -> float:
        """Root of the mean square of ln of one more error."""
        shared = self._covariance([asked], self._rows)[0]
        own = self._covariance([asked], [asked])[0, 0] + self._of.noise**2
        variance = max(own - shared @ self._inverse @ shared, self._of.noise**2)
        return sqrt(variance + float(shared @ self._weights) ** 2)


def nearest(asked: Asked, pool: Sequence[Residual]) -> list[Residual]:
    """The rows that are nearest in size, and all that are as near as the last of them."""

    def far(one: Residual) -> float:
        away = doublings(one.size, asked.size)
        other_kind = is_copy(one.benchmark, one.metric) != asked.is_copy
        return (inf if away is None else away) + (OTHER_KIND if other_kind else 0.0)

    ordered = sorted(far(one) for one in pool)
    last = ordered[min(NEAREST, len(ordered)) - 1]
    return [one for one in pool if far(one) <= last]


def quantile(errors: Sequence[float]) -> float:
    """The smallest error that LEVEL of these and of one more stay within; the largest where they are few."""
    ordered = sorted(errors)
    return ordered[min(ceil(LEVEL * (len(ordered) + 1)), len(ordered)) - 1]


def of_few(errors: Sequence[float]) -> float:
    """What 90 % of values stay within, after as many errors as STUDENT has: an interval for one more of a
    normal distribution around 0."""
    number = len(errors)
    spread = sqrt(sum(error**2 for error in errors) / number)
    return STUDENT[number] * spread * sqrt(1 + 1 / number)


@lru_cache(maxsize=16)
def error_bars(benchmark: str, transport: str, profile: str = "fitted") -> Intervals:
    """The intervals of predictions of a benchmark over a transport.

    From residuals of rows that had no part in the fit; in the profile published, where nothing is fitted,
    from all rows as they are predicted. Raises FabricmarkError (2) for broken data.
    """
    if profile == "fitted":
        return Intervals(load())
    rows = [(line, row) for line, row in read() if row.role == "calibration" or row.benchmark == benchmark]
    predictor = Predictor(loaded(profile), [row for _, row in rows if row.role == "calibration"])
    chosen = [(line, row) for line, row in rows if row.role == "test" and row.transport == transport]
    return Intervals(plain([predictor.outcome(line, row) for line, row in chosen], predictor))


@dataclass(frozen=True)
class Coverage:
    """Of rows: how many there are, how many have an interval, and the share of those that is within.

    `half_width` and `error`: the medians of both; `unvalidated`: rows without an interval.
    """

    rows: int
    share: float | None
    half_width: float | None
    error: float | None
    unvalidated: int


def coverage(pairs: Sequence[tuple[float, Interval]]) -> Coverage:
    """`pairs`: errors and intervals."""
    known = [(abs(error), one.half_width) for error, one in pairs if one.half_width is not None]
    if not known:
        return Coverage(len(pairs), None, None, None, len(pairs))
    share = sum(error <= width for error, width in known) / len(known)
    widths, errors = median(width for _, width in known), median(error for error, _ in known)
    return Coverage(len(pairs), share, widths, errors, len(pairs) - len(known))


def left_out(known: Sequence[Residual]) -> list[tuple[Residual, Interval]]:
    """Each residual beside the interval that all other groups give."""
    found = Intervals(known)
    return [(one, found.of(asked_of(one), leave_out=True)) for one in known]
