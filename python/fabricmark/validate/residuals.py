"""How far off the models are for rows that had no part in the fit, one line each:
data/validation/left_out.csv.

Rows of hpcc_fpga_2021.csv are left out by groups (groups.py); values of Meyer 2024's tables with the role
test are as they are predicted. `tools/validation.py` writes the file, a test makes it again and compares.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from pathlib import Path

from fabricmark import models
from fabricmark.base import cells, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _published
from fabricmark.results import published
from fabricmark.results.published import PublishedValue
from fabricmark.validate import groups, scored, tables
from fabricmark.validate.outcomes import Load, Outcome, Predictor, read
from fabricmark.validate.scored import Scored

COLUMNS = ("benchmark", "system", "board", "transport", "devices", "size", "metric", "error", "source")
PLACE = ("validation", "left_out.csv")
DIGITS = 4
COPIES = ("host_to_device", "device_to_host", "transfer")


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
