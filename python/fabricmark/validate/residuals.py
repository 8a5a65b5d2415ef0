"""How far off the models are for rows that had no part in the fit, one line each:
data/validation/left_out.csv; and how sure a prediction is: 90 % intervals from these residuals.

Rows of hpcc_fpga_2021.csv are left out by groups (groups.py); values of Meyer 2024's tables with the role
test are as they are predicted. `tools/validation.py` writes the file, a test makes it again and compares.

The half-width of an interval is a quantile of |predicted / measured - 1| over rows that are like what is
asked: of the same benchmark and transport, of the same board where it has enough of them, nearest in size,
copies apart from the rest. Of a board with three or four rows it is what their spread says (Student's t). It
is wider the farther devices and size are from all rows of this board, beyond what those rows themselves were
from the rows that they were predicted from. No interval where nothing was validated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil, inf, log2, sqrt
from pathlib import Path
from statistics import median

from fabricmark import models
from fabricmark.base import cells, paths, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _published
from fabricmark.results import published
from fabricmark.results.published import PublishedValue
from fabricmark.validate import groups, scored, tables
from fabricmark.validate.outcomes import Load, Outcome, Predictor, loaded, read
from fabricmark.validate.scored import Scored

COLUMNS = ("benchmark", "system", "board", "transport", "devices", "size", "metric", "error", "source")
PLACE = ("validation", "left_out.csv")
DIGITS = 4
COPIES = ("host_to_device", "device_to_host", "transfer")
LEVEL = 0.9
LEAST_ROWS = 10  # of a benchmark over a transport
LEAST_LEFT = 5  # of them without the group that is asked for; of a board, to be a pool by themselves
# Of a board that has fewer: rows, and the 95 % point of Student's t with so many degrees of freedom: errors
# of predictions are around 0, so that no mean takes a degree away.
STUDENT = {3: 2.353, 4: 2.132}
NEAREST = 10  # rows in the order of their size that a quantile is of, and all that are as near as the last
DEVICES_AWAY, SIZE_AWAY, SYSTEM_AWAY = 1.0, 0.5, 1.0  # of a doubling, a doubling, and another system
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
    """`error`: predicted / measured - 1."""

    metric: str
    error: float
    source: str


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


def of_row(row: PublishedValue, predictor: Predictor) -> float:
    """The size of a published row."""
    if row.message_bytes is not None:
        return float(row.message_bytes)
    return size_of(row.benchmark, predictor.parameters(row), row.devices)


def of_outcome(one: Outcome, predictor: Predictor) -> Residual:
    row = one.row
    error = 0.0 if one.predicted is None else one.predicted / row.value - 1
    about = (row.benchmark, row.system, row.board, row.transport, row.devices)
    return Residual(*about, of_row(row, predictor), row.metric, round(error, DIGITS), row.source)


def of_scored(one: Scored) -> Residual:
    given = one.printed
    means = _published.of(given.benchmark).printed.get(given.metric)
    size = one.size if means is None else means.axes.get("message_bytes", one.size)
    about = (given.benchmark, given.system or given.board, given.board, given.transport, given.devices)
    error = round(one.predicted / given.value - 1, DIGITS)
    return Residual(*about, float(size), given.metric, error, f"Meyer 2024, {given.table}")


def make(load: Load) -> list[Residual]:
    """All of them, from the models and files of today."""
    rows = tables.with_tables(row for _, row in read())
    predictor = Predictor(load, [row for row in rows if row.role == "calibration"])
    found = [
        of_outcome(one, predictor) for key in groups.grouped(rows) for one in groups.left_out(key, rows, load)
    ]
    tested = [one for one in scored.tests(scored.score(load)) if one.predicted is not None]
    return found + [of_scored(one) for one in tested if one.printed.unit not in scored.PER_WATT]


def text(found: Iterable[Residual]) -> str:
    """The file's content."""
    rows: list[Sequence[object]] = [COLUMNS]
    for one in found:
        values = {**vars(one), "size": f"{one.size:.10g}", "error": f"{one.error:.{DIGITS}f}"}
        rows.append([values[name] for name in COLUMNS])
    return cells.as_csv(rows)


def file() -> Path:
    """Raises FabricmarkError (3) outside of a repository."""
    return paths.root().joinpath("data", *PLACE)


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


def plain(outcomes: Sequence[Outcome], predictor: Predictor) -> list[Residual]:
    """Of predictions that nothing was fitted for, as in the profile published."""
    return [of_outcome(one, predictor) for one in outcomes if one.predicted is not None]


@dataclass(frozen=True)
class Asked(Point):
    """What an interval is asked for, and whether it is a copy over the link."""

    is_copy: bool = False


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
    return Asked(*about, is_copy(one.benchmark, one.metric))


def is_copy(benchmark: str, metric: str) -> bool:
    """Whether a metric of rows or tables is of copies between host and device alone."""
    own = _published.of(benchmark)
    if own is None:
        return False
    named = own.metrics.get(metric)
    operation = (
        named[1] if named else own.printed[metric].axes.get("operation") if metric in own.printed else ""
    )
    return operation in COPIES


def doublings(one: float, other: float) -> float | None:
    """Between two numbers; None where one of them is unknown."""
    if one <= 0 or other <= 0:
        return 0.0 if one == other else None
    return abs(log2(one) - log2(other))


class Intervals:
    """The intervals that some residuals give."""

    def __init__(self, known: Sequence[Residual]) -> None:
        self._of: dict[tuple[str, str], list[Residual]] = {}
        for one in known:
            self._of.setdefault((one.benchmark, one.transport), []).append(one)
        self._away: dict[Residual, float] = {}
        self._found: dict[tuple, Interval] = {}

    def of(self, asked: Asked, *, leave_out: bool = False) -> Interval:
        """The interval; `leave_out`: as if nothing had been measured of the group that is asked for."""
        key = (asked, leave_out)
        if key not in self._found:
            self._found[key] = self._make(asked, leave_out)
        return self._found[key]

    def _make(self, asked: Asked, leave_out: bool) -> Interval:
        every = self._of.get((asked.benchmark, asked.transport), [])
        about = f"{asked.benchmark}{transports.over(asked.transport)}"
        if len(every) < LEAST_ROWS:
            few = f"{len(every)} published values" if every else "no published value"
            return Interval(None, len(every), reason=f"{few} of {about}; {LEAST_ROWS} are needed")
        middle = median(abs(one.error) for one in every)
        left = [one for one in every if not (leave_out and one.group == asked.group)]
        away = self._distance(asked, left)
        if away is None:
            reason = f"no published value of {about} is of the board {asked.board}"
            return Interval(None, len(every), middle, reason)
        own = [one for one in left if one.board == asked.board]
        few = len(own) in STUDENT
        pool = own if few or len(own) >= LEAST_LEFT else left
        if not few and len(pool) < LEAST_LEFT:
            return Interval(None, len(every), middle, f"{len(pool)} other published values of {about}")
        chosen = own if few else nearest(asked, pool)
        usual = median(self._away_of(one) for one in chosen)
        wider = 1 + max(0.0, away - usual)
        errors = [one.error for one in chosen]
        width = of_few(errors) if few else quantile([abs(error) for error in errors])
        return Interval(width * wider, len(every), middle)

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
        devices = min(doublings(one.devices, asked.devices) for one in own)
        sizes = [far for one in own if (far := doublings(one.size, asked.size)) is not None]
        elsewhere = all(one.system != asked.system for one in own)
        far = DEVICES_AWAY * devices + SIZE_AWAY * min(sizes, default=0.0)
        return far + (SYSTEM_AWAY if elsewhere else 0.0)


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
