"""Where what was learned counts: only where runs that are left out get no worse by it.

Values of a system with published rows were fitted to these. Rows of one's own move them where runs that are
left out, each with its group, are clearly nearer to what was measured: the mean gain is above the 95 % point
of Student's t of the gains (one-sided, a paired test), of the runs and of their rows: two runs that gain the
same by chance are not enough. A single run moves them where it is farther from its
prediction than its noise. What no row is of, another metric of these runs, moves where metrics that are left
out get clearly nearer, too. On any other machine all counts but what makes runs that were left out worse.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from fabricmark.base.grouping import grouped
from fabricmark.validate import intervals
from fabricmark.validate.posterior import Place, Posterior, noise

LEAST_GAIN = 1e-9  # of ln: what rounds off is none


@dataclass(frozen=True)
class Judged:
    """Of a pool. `before`, `after`: mean |ln(measured / predicted)| of its rows as they are predicted, and
    when their runs are left out; None for a single run. `metrics`: that rows are of; `carries`: whether
    others move with these."""

    is_taken: bool
    before: float
    after: float | None
    metrics: frozenset
    carries: bool = True

    def takes(self, place: Place) -> bool:
        return self.is_taken and (self.carries or place.metric in self.metrics)


@dataclass(frozen=True)
class Accepted:
    """`pools`: those that rows are of; `published`: systems whose values published rows made."""

    pools: Mapping[tuple[str, ...], Judged]
    published: frozenset[str]

    def takes(self, place: Place) -> bool:
        """Whether a prediction is moved. Where no row tells of it, on another machine than published only."""
        own = self.pools.get(place.pool)
        return place.system not in self.published if own is None else own.takes(place)

    def left(self, place: Place) -> float:
        """Errors where a prediction is moved, as a share of those before: by runs that were left out."""
        own = self.pools.get(place.pool)
        if own is None or own.after is None or not own.takes(place):
            return 1.0
        return min(1.0, own.after / max(own.before, LEAST_GAIN))


def accepted(posterior: Posterior, published: Collection[str]) -> Accepted:
    """By pools of what was measured."""
    pools = grouped((one.pool, at) for at, one in enumerate(posterior.places))
    known = frozenset(published)
    return Accepted({pool: _judged(posterior, own, pool[1] in known) for pool, own in pools.items()}, known)


def _judged(posterior: Posterior, own: Sequence[int], is_published: bool) -> Judged:
    """`own`: the rows of a pool."""
    before = np.abs(posterior.misses[list(own)])
    metrics = frozenset(posterior.places[at].metric for at in own)
    after, is_better = _left_out(posterior, own, group, is_published)
    if is_better is None:  # a single run
        is_taken = not is_published or float(before.mean()) > sqrt(noise(posterior.places[own[0]]))
        return Judged(is_taken, float(before.mean()), None, metrics)
    carries = _left_out(posterior, own, lambda one: one.metric, is_published)[1] is not False
    return Judged(is_better, float(before.mean()), float(after.mean()), metrics, carries)


def group(one: Place) -> tuple:
    """What is left out together."""
    return intervals.group(one.benchmark, one.system, one.transport, one.devices, one.size)


def _left_out(
    posterior: Posterior, own: Sequence[int], key: Callable[[Place], Hashable], is_published: bool
) -> tuple[np.ndarray, bool | None]:
    """(errors of rows when all with the same key are left out, whether these are better; None for one key)"""
    folds = grouped((key(posterior.places[at]), at) for at in own)
    after, gains = [], []
    for fold in folds.values():
        misses = posterior.misses[fold]
        errors = np.abs(misses - posterior.left_out(fold)[0])
        after.append(errors)
        gains.append(np.abs(misses) - errors)
    return np.concatenate(after), _is_better(gains, is_published)


def _is_better(gains: Sequence[np.ndarray], is_published: bool) -> bool | None:
    """`gains`: of the rows of each run."""
    if len(gains) < 2:
        return None
    of_runs = np.array([float(one.mean()) for one in gains])
    if not is_published:
        return bool(of_runs.mean() >= 0)
    return _is_clear(of_runs) and _is_clear(np.concatenate(gains))


def _is_clear(gains: np.ndarray) -> bool:
    number = len(gains)
    spread = float(np.std(gains, ddof=1)) / sqrt(number)
    return float(gains.mean()) > max(intervals.student(number - 1) * spread, LEAST_GAIN)
