"""How far off the models are for rows that had no part in the fit, one line each:
data/validation/left_out.csv.

Rows of hpcc_fpga_2021.csv are left out by groups (groups.py); values of Meyer 2024's tables with the role
test are as they are predicted. `tools/validation.py` writes the file, a test makes it again and compares.
"""

from collections.abc import Iterable, Sequence

from fabricmark.base import cells
from fabricmark.models import _published
from fabricmark.results.published import PublishedValue
from fabricmark.validate import groups, scored, tables
from fabricmark.validate.intervals import COLUMNS, Residual, size_of
from fabricmark.validate.outcomes import Load, Outcome, Predictor, predictor_of, read
from fabricmark.validate.runs import NotPredicted, bitstream_of
from fabricmark.validate.scored import Scored

DIGITS = 4


def of_row(row: PublishedValue, predictor: Predictor) -> float:
    """The size of a published row."""
    if row.message_bytes is not None:
        return float(row.message_bytes)
    return size_of(row.benchmark, predictor.parameters(row), row.devices)


def design_of(row: PublishedValue, predictor: Predictor) -> str:
    """The name of a published row's bitstream; "" where none has a part in it."""
    try:
        found = bitstream_of(predictor.system(row.system, row.board), row)
    except NotPredicted:
        return ""
    return "" if found is None else found.name


def of_outcome(one: Outcome, predictor: Predictor) -> Residual:
    row = one.row
    error = 0.0 if one.predicted is None else one.predicted / row.value - 1
    about = (row.benchmark, row.system, row.board, row.transport, row.devices)
    return Residual(
        *about, of_row(row, predictor), row.metric, round(error, DIGITS), row.source,
        design_of(row, predictor),
    )  # fmt: skip


def of_scored(one: Scored) -> Residual:
    given = one.printed
    means = _published.of(given.benchmark).printed.get(given.metric)
    size = one.size if means is None else means.axes.get("message_bytes", one.size)
    about = (given.benchmark, given.system or given.board, given.board, given.transport, given.devices)
    error = round(one.predicted / given.value - 1, DIGITS)
    return Residual(*about, float(size), given.metric, error, f"Meyer 2024, {given.table}", one.design)


def make(load: Load) -> list[Residual]:
    """All of them, from the models and files of today."""
    rows = tables.with_tables(row for _, row in read())
    predictor = Predictor(load, rows)
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


def plain(outcomes: Sequence[Outcome], predictor: Predictor) -> list[Residual]:
    """Of predictions that nothing was fitted for, as in the profile published."""
    return [of_outcome(one, predictor) for one in outcomes if one.predicted is not None]


def of_profile(benchmark: str, transport: str, profile: str) -> list[Residual]:
    """Of a profile in which nothing is fitted: all rows as they are predicted."""
    rows = [(line, row) for line, row in read() if row.role == "calibration" or row.benchmark == benchmark]
    predictor = predictor_of(rows, profile)
    chosen = [(line, row) for line, row in rows if row.role == "test" and row.transport == transport]
    return plain([predictor.outcome(line, row) for line, row in chosen], predictor)
