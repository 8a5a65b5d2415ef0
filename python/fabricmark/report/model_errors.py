"""How far off the models were, over the rows of many runs: one line below the tables of a report.

Runs with the same settings are repetitions of one: by how much their bests differ no model can know.
"""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricmark.base.terminal import percent
from fabricmark.results import Measurement, Result
from fabricmark.results.inner import percentile
from fabricmark.results.judgement import INVALID

if TYPE_CHECKING:
    from fabricmark.report.run_tables import Row

MOST = 90  # percent of the rows that a second figure is about
BAR = 0.10  # an error of less is no fault of a model
SPREADS = 2  # nor one of less than so many times what repeated runs differ by


@dataclass(frozen=True)
class Compared:
    """A measured row. `about`: settings of its run, metric and place; `error`: of the model, a share of what
    was measured; None: not predicted."""

    about: tuple
    best: float
    error: float | None


@dataclass(frozen=True)
class Errors:
    """Of many rows. `shares`: of the predicted ones, without sign, ascending; `allowed`: most of each.

    `spreads`: what bests of the same settings differ by, of rows that were repeated. Allowed is BAR, or
    SPREADS times a row's own.
    """

    shares: Sequence[float]
    allowed: Sequence[float]
    spreads: Sequence[float]
    unpredicted: int

    @property
    def median(self) -> float:
        return statistics.median(self.shares)

    @property
    def most(self) -> float:
        """What MOST percent of the errors are not above."""
        return percentile(self.shares, MOST)

    @property
    def within(self) -> float:
        """The share of rows that are off by no more than allowed."""
        return statistics.fmean(error <= most for error, most in zip(self.shares, self.allowed, strict=True))


def compared(result: Result, rows: Iterable[tuple[Measurement, "Row"]]) -> list[Compared]:
    """The measured rows of a run; none of one whose check failed."""
    if result.verdict() == INVALID:
        return []
    run, ranks = result.document["run"], result.document["environment"]["ranks"]
    of_run = (
        run["benchmark"], run["variant"], run.get("kernel", {}).get("digest"), result.device["name"],
        ranks["count"], ranks["kind"], json.dumps(result.document["parameters"], sort_keys=True),
    )  # fmt: skip
    return [
        Compared(
            (*of_run, entry.name, entry.unit, frozenset(entry.axes.items())),
            row.best,
            None if row.error is None else abs(row.error),
        )
        for entry, row in rows
        if row.kind == "measured"
    ]


def errors(rows: Sequence[Compared]) -> Errors:
    """Of all rows."""
    bests: dict[tuple, list[float]] = {}
    for row in rows:
        bests.setdefault(row.about, []).append(row.best)
    spread = {
        about: max(found) / min(found) - 1
        for about, found in bests.items()
        if len(found) > 1 and min(found) > 0
    }
    known = sorted(
        (row.error, max(BAR, SPREADS * spread.get(row.about, 0.0))) for row in rows if row.error is not None
    )
    return Errors(
        [error for error, _ in known], [most for _, most in known], sorted(spread.values()),
        len(rows) - len(known),
    )  # fmt: skip


def line(rows: Sequence[Compared]) -> str:
    """In words; "" where nothing was predicted."""
    found = errors(rows)
    if not found.shares:
        return ""
    count = "1 row" if len(found.shares) == 1 else f"{len(found.shares)} rows"
    words = f"errors of {count}: median {percent(found.median)}, p{MOST} {percent(found.most)}"
    if found.unpredicted:
        words += f"; {found.unpredicted} more have no model"
    if found.spreads:
        middle, most = statistics.median(found.spreads), percentile(found.spreads, MOST)
        words += (
            f"; bests of repeated runs differ by a median of {percent(middle)}, p{MOST} {percent(most)}; "
            f"{percent(found.within)} of the rows are off by at most {percent(BAR)} or {SPREADS} times that"
        )
    return words
