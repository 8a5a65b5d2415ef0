"""How far off the models were, over the rows of many runs: a line or two below the tables of a report.

Runs with the same settings are repetitions of one: by how much their bests differ no model can know. Of a
run that was not repeated the halves of its repetitions stand in, which differ by less than two runs.
"""

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import counted, percent
from fabricmark.models import _error_bars
from fabricmark.results import Measurement, Result
from fabricmark.results.inner import percentile
from fabricmark.results.judgement import INVALID

if TYPE_CHECKING:
    from fabricmark.report.run_tables import Row

MOST = 90  # percent of the rows that a second figure is about
BAR = 0.10  # an error of less is no fault of a model
SHOWN = 3  # kinds of rows
LINK = "transfers of other benchmarks"
SPREADS = 2  # nor one of less than so many times what repeated runs differ by


@dataclass(frozen=True)
class Compared:
    """A measured row. `about`: settings of its run, metric and place; `error`: of the model, a share of what
    was measured; None: not predicted. `kind`: of rows that are off together. `halves`: what the bests of both
    halves of its repetitions differ by, None of a single one. `held`: whether it is within its error bar."""

    about: tuple
    best: float
    error: float | None
    kind: str = ""
    halves: float | None = None
    held: bool | None = None


@dataclass(frozen=True)
class Errors:
    """Of many rows. `shares`: of the predicted ones, without sign, ascending; `allowed`: most of each.

    `spreads`: what bests of the same settings differ by, of rows that were repeated. Allowed is BAR, or
    SPREADS times a row's own, of one that was not repeated that of its halves. `held`: of rows with an error
    bar, whether it is within. `kinds`: the errors of each.
    """

    shares: Sequence[float]
    allowed: Sequence[float]
    spreads: Sequence[float]
    unpredicted: int
    held: Sequence[bool] = ()
    kinds: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.shares)

    @property
    def most(self) -> float:
        """What MOST percent of the errors are not above."""
        return percentile(self.shares, MOST)

    @property
    def within(self) -> int:
        """How many rows are off by no more than allowed."""
        return sum(error <= most for error, most in zip(self.shares, self.allowed, strict=True))

    @property
    def worst(self) -> list[tuple[str, Sequence[float]]]:
        """Kinds whose median is above BAR, those first whose errors add up to most."""
        off = [(kind, own) for kind, own in self.kinds.items() if statistics.median(own) > BAR]
        return sorted(off, key=lambda one: -sum(one[1]))


def halves(entry: Measurement) -> float | None:
    """What the bests of the first and the last half of the repetitions differ by, as a share."""
    seconds = entry.seconds() if entry.per_rank else []
    middle = len(seconds) // 2
    if middle == 0:
        return None
    first, last = min(seconds[:middle]), min(seconds[middle:])
    return max(first, last) / min(first, last) - 1 if min(first, last) > 0 else None


def own_spread(of_runs: Sequence[Measurement]) -> float:
    """What a metric differs by itself: the bests of its runs, of a single one those of the halves."""
    bests = [entry.best for entry in of_runs]
    if len(bests) > 1 and min(bests) > 0:
        return max(bests) / min(bests) - 1
    return halves(of_runs[0]) or 0.0


def allowed(spread: float) -> float:
    """The error that is no fault of a model, of a row that differs by `spread` itself."""
    return max(BAR, SPREADS * spread)


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
            LINK if _error_bars.is_over_link(entry.axes) else run["benchmark"],
            halves(entry),
            row.is_held,
        )
        for entry, row in rows
        if row.kind == "measured"
    ]


def errors(rows: Sequence[Compared]) -> Errors:
    """Of all rows."""
    bests = grouped((row.about, row.best) for row in rows)
    spread = {
        about: max(found) / min(found) - 1
        for about, found in bests.items()
        if len(found) > 1 and min(found) > 0
    }
    predicted = [(row, row.error) for row in rows if row.error is not None]
    known = sorted((error, allowed(spread.get(row.about, row.halves or 0.0))) for row, error in predicted)
    return Errors(
        [error for error, _ in known], [most for _, most in known], sorted(spread.values()),
        len(rows) - len(known), [row.held for row, _ in predicted if row.held is not None],
        grouped((row.kind, error) for row, error in predicted),
    )  # fmt: skip


def lines(rows: Sequence[Compared]) -> list[str]:
    """In words; none where nothing was predicted."""
    found = errors(rows)
    if not found.shares:
        return []
    count = len(found.shares)
    words = f"errors of {_rows(count)}: median {percent(found.median)}, p{MOST} {percent(found.most)}"
    if found.unpredicted:
        words += f"; {found.unpredicted} more have no model"
    own = "halves of its repetitions"
    if found.spreads:
        middle, most = statistics.median(found.spreads), percentile(found.spreads, MOST)
        words += f"; bests of repeated runs differ by a median of {percent(middle)}, p{MOST} {percent(most)}"
        own = "repeated runs"
    words += (
        f"; {found.within} of {count} are off by at most {percent(BAR)} or {SPREADS} times what a row's "
        f"{own} differ by"
    )
    if found.held:
        words += f"; error bars hold {percent(statistics.fmean(found.held))} of {_rows(len(found.held))}"
    return [words, *_most_of(found)]


def _most_of(found: Errors) -> list[str]:
    """Which kinds carry the errors, where some do."""
    shown = [
        f"{kind} ({_rows(len(own))}, median {percent(statistics.median(own))})" for kind, own in found.worst
    ]
    return [f"most of it: {', '.join(shown[:SHOWN])}"] if shown else []


def _rows(count: int) -> str:
    return counted(count, "row")
