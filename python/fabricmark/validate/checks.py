"""What `fabricmark validate` looks at in rows before it counts them, and what it says of those that it does
not."""

from collections.abc import Sequence
from dataclasses import fields, replace

from fabricmark.results.published import PublishedValue
from fabricmark.validate import intervals, residuals
from fabricmark.validate.intervals import Asked, Coverage, Interval, Intervals
from fabricmark.validate.outcomes import Outcome, Predictor
from fabricmark.validate.runs import NotPredicted

Numbered = tuple[int, PublishedValue]
Pairs = Sequence[tuple[float, Interval]]


def once(rows: Sequence[Numbered]) -> tuple[list[Numbered], list[str]]:
    """(rows without those that repeat an earlier one in all columns but the source, a line for each
    repeat)."""
    columns = [one.name for one in fields(PublishedValue) if one.name != "source"]
    first: dict[tuple, int] = {}
    kept, said = [], []
    for line, row in rows:
        key = tuple(getattr(row, column) for column in columns)
        if key in first:
            said.append(f"counted once: line {line} repeats line {first[key]}")
        else:
            first[key] = line
            kept.append((line, row))
    return kept, said


def within_system(one: Outcome, predictor: Predictor) -> Outcome:
    """The same; a row of more devices than its system has is not predicted: nobody measured it."""
    try:
        most = predictor.system(one.row.system, one.row.board).most_devices
    except NotPredicted:
        return one
    if one.row.devices <= most:
        return one
    reason = f"{one.row.system} has no {one.row.devices} devices, at most {most}"
    return replace(one, predicted=None, reason=reason)


def of_inputs(rows: Sequence[Numbered]) -> str:
    """A line for the rows that are inputs of predictions and no tests; "" where there are none."""
    lines = [line for line, row in rows if row.role == "calibration"]
    if not lines:
        return ""
    return f"inputs: {len(lines)} rows with the role calibration, the hosts' MPI curves, are not compared"


def with_intervals(
    found: Sequence[Outcome], predictor: Predictor, profile: str = "fitted"
) -> list[tuple[float, Interval]]:
    """(error, interval) of each row: as if nothing had been measured of its group.

    The error of a row that has a part in the fit is that which it has when it is left out. In the profile
    published nothing is fitted, and the rows themselves are the residuals.
    """
    is_fitted = profile == "fitted"
    known = intervals.load() if is_fitted else tuple(residuals.plain(found, predictor))
    left_out = {_key(one): one.error for one in known}
    certain = Intervals(known)
    pairs = []
    for one in found:
        row = one.row
        size = residuals.of_row(row, predictor)
        about = (row.benchmark, row.system, row.board, row.transport, row.devices, size)
        design = residuals.design_of(row, predictor)
        asked = Asked(*about, intervals.is_copy(row.benchmark, row.metric), row.metric, design=design)
        key = (row.benchmark, row.system, row.transport, row.devices, round(size), row.metric, row.source)
        pairs.append((left_out.get(key, one.error), certain.of(asked, leave_out=True)))
    return pairs


def coverage_of(found: Sequence[Outcome], pairs: Pairs, columns: Sequence[str]) -> dict[tuple, Coverage]:
    """How many of each group of rows that have the same in these columns are within their interval."""
    members: dict[tuple, list[tuple[float, Interval]]] = {}
    for outcome, pair in zip(found, pairs, strict=True):
        members.setdefault(tuple(getattr(outcome.row, column) for column in columns), []).append(pair)
    return {key: intervals.coverage(own) for key, own in members.items()}


def _key(one: intervals.Residual) -> tuple:
    about = (one.benchmark, one.system, one.transport, one.devices, round(one.size), one.metric)
    return (*about, one.source)
