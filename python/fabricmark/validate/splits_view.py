"""`fabricmark validate --splits`: how far off predictions are, and what intervals cover, where all rows of a
device count, every second size or a whole system are left out of the fit and of the intervals."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from fabricmark.base import terminal
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import Column, percent
from fabricmark.results.published import PublishedValue
from fabricmark.validate import distribution, intervals, outcomes, residuals, splits, tables, unmeasured
from fabricmark.validate.intervals import Interval, Intervals, Residual
from fabricmark.validate.outcomes import Load, Predictor
from fabricmark.validate.splits import Split

KEYS = ("split", "benchmark", "system", "transport")
LEAST_SHOWN = 6  # rows of a group that has a line of its own


def pairs(
    split: Split, rows: Sequence[PublishedValue], load: Load, predictor: Predictor
) -> list[tuple[Residual, Interval]]:
    """The rows that a split leaves out, as the others predict them, and the intervals that these give. Of a
    system that nobody measured those that other such systems give, as also of rows with guesses in place of
    what is fitted, of which fewer rows are left than there are values."""
    left = splits.left_out(split, rows, load)
    found = [residuals.of_outcome(one, predictor) for one in left]
    keys = {_key(one) for one in found}
    known = Intervals([one for one in intervals.load() if _key(one) not in keys])

    def interval(one: Residual, row: PublishedValue) -> Interval:
        if not (split.of_system or splits.is_new(split, row, rows)):
            return known.of(intervals.asked_of(one))
        others = [other for other in unmeasured.known() if other.system != one.system]
        return Interval(unmeasured.half_width_of(one, others))

    return [(one, interval(one, outcome.row)) for one, outcome in zip(found, left, strict=True)]


def _key(one: Residual) -> tuple:
    return (one.benchmark, one.system, one.transport, one.devices, round(one.size), one.metric)


def every(rows: Sequence[PublishedValue]) -> Iterator[tuple[Split, list[tuple[Residual, Interval]]]]:
    """Of all splits."""
    load = lru_cache(maxsize=None)(outcomes.loaded("fitted"))
    predictor = Predictor(load, rows)
    for split in [*splits.splits(rows), *splits.of_systems(rows)]:
        yield split, pairs(split, rows, load, predictor)


def show() -> None:
    """A line for each split, and for each of its benchmarks on a system over a transport with enough rows."""
    rows = tables.with_tables(row for _, row in outcomes.read())
    columns = [Column(name, key=True) for name in KEYS]
    columns += terminal.numbers("rows", "median", "p90", "without ±", "covered", "by run", "±")
    cells = []
    for split, found in every(rows):
        cells.append([split.name, "all", "", "", *_cells(found)])
        groups = grouped(((pair[0].benchmark, pair[0].system, pair[0].transport), pair) for pair in found)
        for key, own in sorted(groups.items()):
            if len(own) >= LEAST_SHOWN:
                cells.append([split.name, *key, *_cells(own)])
    terminal.table(["Rows that splits leave out of the fit and of the intervals"], columns, cells)


def _cells(found: Sequence[tuple[Residual, Interval]]) -> list[str]:
    median, high = np.percentile([abs(one.error) for one, _ in found], (50, distribution.HIGH))
    bar = intervals.coverage([(one.error, interval) for one, interval in found])
    by_run = intervals.coverage_by_run(found)
    shares = (percent(bar.share), percent(by_run), percent(bar.half_width, digits=1))
    return [
        str(len(found)),
        percent(median, digits=1),
        percent(high, digits=1),
        str(bar.unvalidated),
        *shares,
    ]
