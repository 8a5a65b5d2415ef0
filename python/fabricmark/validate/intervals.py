"""How sure a prediction is: 90 % intervals from residuals of rows that had no part in a fit (residuals.py).

The half-width of an interval is a quantile of |predicted / measured - 1| over rows that are like what is
asked: of the same benchmark and transport, of the same bitstream or else board where it has enough of them,
nearest in size, copies apart from the rest. Of a bitstream or board with three or four rows, or with one or
two groups, it is wider by Student's t. It is wider the farther devices and size are from the nearest row of
this board, system and bitstream from all, beyond what those rows were from the rows that they were predicted
from. It is no wider than how alike errors are allows (likeness.py), as that knows which rows are near and to
which side these are off, and no narrower than LEAST_SHARE of the quantile; where near rows are clearly off to
one side it is as wide as these say, up to MOST_SHARE. With fewer devices than any row of the board the wider
of both counts, up to MOST_BELOW. Where rows are too few for a quantile, likeness alone
counts, wider where it rests on few runs and of a bitstream without rows. No interval where no row is of the
board.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import ceil, erf, expm1, inf, log2, sqrt
from pathlib import Path
from statistics import fmean, median

import numpy as np

from fabricmark import models
from fabricmark.base import cells, paths, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.grouping import grouped
from fabricmark.models import _published
from fabricmark.results import published

LEFT_OUT, LIKENESS = ("validation", "left_out.csv"), ("validation", "likeness.csv")
OVER_LINK = ("host_to_device", "device_to_host")  # between a host and its device, without anything else
COPIES = (*OVER_LINK, "transfer")
FAR = 50.0  # doublings between a size that is known and one that is not
RUN_SIZES = 3.0  # the part of a run fades so many times as slowly with the size
MOST_ERROR = 0.3  # of ln: rows that are farther off say no more than that
LEVEL = 0.9
LEAST_ROWS = 10  # of a benchmark over a transport, for a quantile
LEAST_LEFT = 5  # of them without the group that is asked for; of a board, to be a pool by themselves
LEAST_SHARE = 0.35  # of a quantile, that an interval has at least
MOST_SHARE = 2.0  # of a quantile, that it has at most where near rows are off to one side
MOST_BELOW = 3.0  # of a quantile, that it has at most with fewer devices than any row
# The 95 % point of Student's t with so many degrees of freedom: errors of predictions are around 0, so that
# no mean takes a degree away. Of a bitstream or board with as few rows; of likeness, one more than it has
# runs.
STUDENT = {3: 2.353, 4: 2.132}
OF_RUNS = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860)
FEW_GROUPS = 2  # of a board: a quantile of their rows says little of another one
NORMAL = 1.645  # the 95 % point of a normal distribution
# Rows in the order of their size that a quantile is of, and all that are as near as the last: the fewest of
# which the largest is what LEVEL of these and of one more stay within.
NEAREST = 9
DEVICES_AWAY, SIZE_AWAY, SYSTEM_AWAY = 1.0, 0.5, 0.5  # of a doubling, a doubling, and another system
DESIGN_AWAY = 0.5  # of a bitstream of which no row of the board is
OTHER_KIND = 4.0  # doublings that a copy is as good as away from what is no copy


@dataclass(frozen=True)
class Point:
    """`size`: bytes of a message, else how large the problem of one device is (width of its part of a matrix,
    elements, words), 0: a metric over all sizes. `system`: a board's id where it ran alone."""

    benchmark: str
    system: str
    board: str
    transport: str
    devices: int
    size: float

    @property
    def group(self) -> tuple:
        """What is left out together."""
        return group(self.benchmark, self.system, self.transport, self.devices, self.size)


@dataclass(frozen=True)
class Residual(Point):
    """`error`: predicted / measured - 1. `design`: name of the bitstream, "" where none has a part in it."""

    metric: str
    error: float
    source: str
    design: str = ""


COLUMNS = cells.columns(Residual)


def group(benchmark: str, system: str, transport: str, devices: int, size: float) -> tuple:
    """The group of a run, as validate/groups.py has it for rows."""
    own = _published.of(benchmark)
    by_size = own is not None and bool(own.group_by)
    return (benchmark, system, transport, devices, *([round(size)] if by_size else []))


def size_of(benchmark: str, parameters: Mapping, devices: int) -> float:
    """How large the problem of one device is; 0 where its parameters do not say."""
    if "batch" in parameters and "log_size" in parameters:
        return float(parameters["batch"] * 2.0 ** parameters["log_size"])
    if "log_size" in parameters:
        return 2.0 ** parameters["log_size"]
    size = float(parameters.get("size", 0))
    return size / _published.root(devices) if models.traits(benchmark).on_grid else size


def file() -> Path:
    """Raises FabricmarkError (3) outside of a repository."""
    return paths.root().joinpath("data", *LEFT_OUT)


@cache
def load(path: Path | None = None) -> tuple[Residual, ...]:
    """The file. Raises FabricmarkError (2) with line and remedy."""
    path = file() if path is None else path
    found = []
    for place, row in published.rows(path, COLUMNS):
        try:
            numbers = {
                "devices": int(row["devices"]),
                "size": float(row["size"]),
                "error": float(row["error"]),
            }
        except (TypeError, ValueError):
            raise FabricmarkError(f"{place}: no numbers where they have to be", published.RESTORE) from None
        found.append(Residual(**{**row, **numbers}))
    return tuple(found)


def operation_of(benchmark: str, metric: str) -> str | None:
    """What a metric of rows or tables is of; None where it is of several or of none."""
    own = _published.of(benchmark)
    if own is None:
        return None
    if metric in own.metrics:
        return own.metrics[metric][1]
    found = own.printed[metric].axes.get("operation") if metric in own.printed else None
    return None if found is None else str(found)


def is_copy(benchmark: str, metric: str) -> bool:
    """Whether it is of copies between host and device, and what belongs to these."""
    return operation_of(benchmark, metric) in COPIES


def is_over_link(benchmark: str, metric: str) -> bool:
    """Whether it is of copies between host and device alone."""
    return operation_of(benchmark, metric) in OVER_LINK


def doublings(one: float, other: float) -> float | None:
    """Between two numbers; None where one of them is unknown."""
    if one <= 0 or other <= 0:
        return 0.0 if one == other else None
    return abs(log2(one) - log2(other))


@dataclass(frozen=True)
class Likeness:
    """Standard deviations of ln, and ranges in doublings."""

    metric: float
    design: float
    local: float
    run: float
    noise: float
    devices: float
    size: float


USUAL = Likeness(0.02, 0.02, 0.03, 0.01, 0.01, 1.0, 2.0)
UNKNOWN = Likeness(0.05, 0.05, 0.1, 0.03, 0.02, 1.0, 2.0)  # of a benchmark that nobody published
KEYS = ("benchmark", "transport", "of")
OF_COPIES, OF_OTHERS = "copies", "others"
LIKENESS_COLUMNS = (*KEYS, *cells.columns(Likeness))


@dataclass(frozen=True)
class Distances:
    """Between the places of two lists [rows, columns]: doublings of devices and size; whether board, metric,
    run and design are the same."""

    devices: np.ndarray
    size: np.ndarray
    board: np.ndarray
    metric: np.ndarray
    run: np.ndarray
    design: np.ndarray


def covariance(of: Likeness, apart: Distances) -> np.ndarray:
    """Of the errors without noise: rough over the devices, smooth over the size (Rasmussen and Williams 2006,
    eqs. 4.18 and 4.17)."""
    far = sqrt(5) * apart.size / of.size
    fading = np.exp(-apart.devices / of.devices - far) * (1 + far + far**2 / 3)
    of_design = apart.design * (of.design**2 + of.local**2 * fading)
    of_metric = apart.board * apart.metric * (of.metric**2 + of_design)
    of_run = apart.run * np.exp(-apart.size / of.size / RUN_SIZES)
    return of_metric + of.run**2 * of_run


def distances(of: Sequence, others: Sequence, pool, metric, run) -> Distances:
    """`pool`, `metric`, `run`: what two places have to have the same of."""

    def same(key) -> np.ndarray:
        codes: dict = {}
        left, right = ([codes.setdefault(key(one), len(codes)) for one in side] for side in (of, others))
        return np.equal.outer(np.array(left, int), np.array(right, int)).astype(float)

    devices = (np.log2([float(one.devices) for one in side]) for side in (of, others))
    return Distances(
        np.abs(np.subtract.outer(*devices)), _far(of, others), same(pool), same(metric), same(run),
        same(lambda one: one.design),
    )  # fmt: skip


def _far(of: Sequence, others: Sequence) -> np.ndarray:
    """Doublings of size; FAR between one that is known and one that is not."""
    sizes = [np.array([float(one.size) for one in side]) for side in (of, others)]
    logs = [np.log2(np.maximum(side, 1e-300)) for side in sizes]
    apart = np.abs(np.subtract.outer(*logs))
    known = np.subtract.outer(*((side > 0).astype(int) for side in sizes)) == 0
    return np.where(known, apart, FAR)


def of_rows(of: Sequence, others: Sequence) -> Distances:
    """Between rows of a benchmark over a transport, published or asked for."""
    return distances(
        of, others, lambda one: (one.system, one.board), lambda one: one.metric,
        lambda one: (one.system, one.board, one.devices, one.source),
    )  # fmt: skip


def likeness_file() -> Path:
    """Raises FabricmarkError (3) outside of a repository."""
    return paths.root().joinpath("data", *LIKENESS)


@cache
def likenesses() -> Mapping[tuple[str, ...], Likeness]:
    """The file. Raises FabricmarkError (2) with line and remedy."""
    found = {}
    for place, row in published.rows(likeness_file(), LIKENESS_COLUMNS):
        try:
            numbers = [float(row[name]) for name in LIKENESS_COLUMNS[len(KEYS) :]]
        except ValueError:
            raise FabricmarkError(f"{place}: no numbers where they have to be", published.RESTORE) from None
        found[tuple(row[name] for name in KEYS)] = Likeness(*numbers)
    return found


def likeness_of(benchmark: str, transport: str, *, of_copies: bool) -> Likeness:
    """`of_copies`: of copies between host and device alone, which are unlike kernels."""
    of = OF_COPIES if of_copies else OF_OTHERS
    return likenesses().get((benchmark, transport, of), UNKNOWN)


@dataclass(frozen=True)
class Asked(Point):
    """What an interval is asked for: whether it is a copy over the link, and which metric of rows."""

    is_copy: bool = False
    metric: str = ""
    source: str = ""  # of no run that is known
    design: str = ""


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
    return Asked(*about, is_copy(one.benchmark, one.metric), one.metric, design=one.design)


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
        mean, deviation = self._by_likeness(asked, left, asked.group if leave_out else ())
        by_quantile = self._by_quantile(asked, left, away) if len(every) >= LEAST_ROWS else None
        own = [one for one in left if one.board == asked.board]
        if by_quantile is None or len(own) in STUDENT:
            runs = len({(one.system, one.devices, one.source) for one in own})
            deviation *= student(runs + 1) / NORMAL
        if by_quantile is None:
            deviation *= 1 + DESIGN_AWAY * _is_fresh(asked, own)
        is_one_sided = abs(mean) > NORMAL * deviation
        width = expm1(around(mean, deviation))
        if by_quantile is not None:
            if _is_below(asked, left):
                width = max(by_quantile, min(width, MOST_BELOW * by_quantile))
            else:
                most = (MOST_SHARE if is_one_sided else 1.0) * by_quantile
                width = max(min(width, most), LEAST_SHARE * by_quantile)
        return Interval(width, len(every), middle)

    def _by_quantile(self, asked: Asked, left: Sequence[Residual], away: float) -> float | None:
        """None where rows are too few for one."""
        own = [one for one in left if one.board == asked.board]
        of_design = [one for one in own if one.design == asked.design]
        few = next((pool for pool in (of_design, own) if len(pool) in STUDENT), [])
        pools = [few] if few else [one for one in (of_design, own, left) if len(one) >= LEAST_LEFT]
        if not pools:
            return None
        chosen = few or nearest(asked, pools[0])
        usual = median(self._away_of(one) for one in chosen)
        errors = [one.error for one in chosen]
        width = of_few(errors) if few else quantile([abs(error) for error in errors])
        groups = len({one.group for one in own})
        if not few and groups <= FEW_GROUPS:
            width *= student(groups + 1) / NORMAL
        return width * (1 + max(0.0, away - usual))

    def _by_likeness(self, asked: Asked, left: Sequence[Residual], without: tuple) -> tuple[float, float]:
        """Mean and deviation of ln(measured / predicted) that the rows which are left say."""
        of_copies = is_over_link(asked.benchmark, asked.metric)
        key = (asked.benchmark, asked.transport, of_copies, without)
        if key not in self._alike:
            like = [one for one in left if is_over_link(one.benchmark, one.metric) == of_copies]
            of = likeness_of(asked.benchmark, asked.transport, of_copies=of_copies)
            self._alike[key] = Alike(like, of)
        return self._alike[key].of(asked)

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
        counts = [doublings(one.devices, asked.devices) or 0.0 for one in own]
        sizes = [doublings(one.size, asked.size) for one in own]
        elsewhere = all(one.system != asked.system for one in own)
        both = [(count, size) for count, size in zip(counts, sizes, strict=True) if size is not None]
        far = min(DEVICES_AWAY * count + SIZE_AWAY * size for count, size in both or [(min(counts), 0.0)])
        return far + SYSTEM_AWAY * elsewhere + DESIGN_AWAY * _is_fresh(asked, own)


def _is_fresh(asked: Asked, own: Sequence[Residual]) -> bool:
    """Whether none of these rows is of the bitstream; not where it has no part in what is asked."""
    return asked.design != "" and all(one.design != asked.design for one in own)


def _is_below(asked: Asked, known: Sequence[Residual]) -> bool:
    """Whether no row of the board has as few devices: other limits count there than where they exchange."""
    return asked.devices < min(one.devices for one in known if one.board == asked.board)


class Alike:
    """What errors of rows of a benchmark over a transport say of another one's (likeness.py)."""

    def __init__(self, rows: Sequence[Residual], of: Likeness) -> None:
        self._rows, self._of = rows, of

    def _covariance(self, of: Sequence[Point], others: Sequence[Point]) -> np.ndarray:
        return covariance(self._of, of_rows(of, others))

    @cached_property
    def _inverse(self) -> np.ndarray:
        own = self._covariance(self._rows, self._rows)
        return np.linalg.inv(own + self._of.noise**2 * np.eye(len(self._rows)))

    @cached_property
    def _weights(self) -> np.ndarray:
        errors = np.clip([one.error for one in self._rows], -MOST_ERROR, MOST_ERROR)
        return self._inverse @ -np.log1p(errors)

    def of(self, asked: Asked) -> tuple[float, float]:
        """Mean and deviation of ln of one more error."""
        shared = self._covariance([asked], self._rows)[0]
        own = self._covariance([asked], [asked])[0, 0] + self._of.noise**2
        variance = max(own - shared @ self._inverse @ shared, self._of.noise**2)
        return float(shared @ self._weights), sqrt(variance)


def around(mean: float, deviation: float) -> float:
    """How far from 0 LEVEL of a normal distribution are."""
    least, most = 0.0, abs(mean) + 4 * deviation
    while most - least > 1e-4 * most:
        middle = (least + most) / 2
        inside = (erf((middle - mean) / deviation / sqrt(2)) + erf((middle + mean) / deviation / sqrt(2))) / 2
        least, most = (middle, most) if inside < LEVEL else (least, middle)
    return most


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


def weighted(errors: Sequence[tuple[float, float]]) -> float:
    """The smallest error that LEVEL of the weight stays within; of (error, weight)."""
    ordered = sorted(errors)
    left = LEVEL * sum(weight for _, weight in ordered)
    for error, weight in ordered:
        left -= weight
        if left <= 1e-9:
            return error
    return ordered[-1][0]


def student(freedom: int) -> float:
    """The 95 % point of Student's t with so many degrees of freedom; of many the last one of OF_RUNS."""
    return OF_RUNS[min(max(freedom, 1), len(OF_RUNS)) - 1]


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
    from fabricmark.validate import residuals  # imported here: only another profile predicts all rows

    return Intervals(residuals.of_profile(benchmark, transport, profile))


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


def coverage_by_run(pairs: Sequence[tuple[Residual, Interval]]) -> float:
    """The share of runs that is within, however many rows each has: of a run the share of its rows."""
    known = [(one, bar.half_width) for one, bar in pairs if bar.half_width is not None]
    runs = grouped(((one.group, one.source), abs(one.error) <= width) for one, width in known)
    return fmean(fmean(held) for held in runs.values())


def left_out(known: Sequence[Residual]) -> list[tuple[Residual, Interval]]:
    """Each residual beside the interval that all other groups give."""
    found = Intervals(known)
    return [(one, found.of(asked_of(one), leave_out=True)) for one in known]
