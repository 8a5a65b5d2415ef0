"""How sure a prediction is of a machine that nobody measured: data/validation/left_out_systems.csv.

Each system with published rows is left out as a whole, the others are fitted, and its rows are predicted
with guesses in place of what only its own rows tell. What 90 % of these stay within is an error bar for a
system of which there are no rows: of this benchmark over this transport where several systems have them, else
of all benchmarks, each counted once. It says how far off machines were, not how far off this one is.
"""

from collections.abc import Sequence
from functools import cache
from math import expm1, log1p
from pathlib import Path

from fabricmark.base import paths
from fabricmark.results.published import PublishedValue
from fabricmark.validate import intervals, residuals, splits, tables
from fabricmark.validate.intervals import Residual
from fabricmark.validate.outcomes import Load, Predictor, read

FILE = ("validation", "left_out_systems.csv")
FEWEST_SYSTEMS = 2  # of a benchmark over a transport: one machine says little of another one
MOST_OFF = 0.99  # of an error below 0: what is predicted as nothing


def file() -> Path:
    """Raises FabricmarkError (3) outside of a repository."""
    return paths.root().joinpath("data", *FILE)


def make(load: Load) -> list[Residual]:
    """All of them, from the models and files of today."""
    rows: list[PublishedValue] = tables.with_tables(row for _, row in read())
    predictor = Predictor(load, rows)
    return [
        residuals.of_outcome(one, predictor)
        for split in splits.of_systems(rows)
        for one in splits.left_out(split, rows, load)
        if one.predicted is not None
    ]


@cache
def known() -> tuple[Residual, ...]:
    """The file. Raises FabricmarkError (2) with line and remedy."""
    return intervals.load(file())


def half_width(
    benchmark: str, transport: str, rows: Sequence[Residual], *, of_copies: bool = False
) -> float | None:
    """What 90 % of values stay within, as a share of a prediction. `rows`: of systems that were left out;
    None without any. `of_copies`: between host and device alone, which are unlike kernels."""
    like = [one for one in rows if intervals.is_over_link(one.benchmark, one.metric) == of_copies]
    own = [one for one in like if (one.benchmark, one.transport) == (benchmark, transport)]
    is_enough = len(own) >= intervals.LEAST_ROWS and len({one.system for one in own}) >= FEWEST_SYSTEMS
    pool = own if is_enough else like
    return expm1(_within(pool)) if pool else None


def half_width_of(one: Residual, rows: Sequence[Residual]) -> float | None:
    """Of a row."""
    of_copies = intervals.is_over_link(one.benchmark, one.metric)
    return half_width(one.benchmark, one.transport, rows, of_copies=of_copies)


def _within(rows: Sequence[Residual]) -> float:
    """Of |ln| of the errors; each benchmark over a transport on a system counts once, however many rows it
    has."""
    groups: dict[tuple, list[float]] = {}
    for one in rows:
        off = abs(log1p(max(one.error, -MOST_OFF)))
        groups.setdefault((one.system, one.benchmark, one.transport), []).append(off)
    return intervals.weighted([(off, 1 / len(own)) for own in groups.values() for off in own])
