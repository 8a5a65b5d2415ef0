"""Predictions that learn from a centre's own rows: the posterior of these rows, without those that cannot be
right, and only where rows that are left out get no worse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, log
from statistics import median

import numpy as np

from fabricmark.systems import System
from fabricmark.validate import intervals, scaled
from fabricmark.validate.observed import Asked, Observed
from fabricmark.validate.posterior import Place, Posterior, prior
from fabricmark.validate.scaled import Factor, Values

MOST_STEPS = 5  # of Gauss-Newton
NEAR = 0.01  # of ln of a factor: near enough
LINEAR = 0.03  # factors as near to 1 need no second look
WRONG = 4.0  # standard deviations from what all other rows say
LEAST_WRONG = 0.35  # of ln: less is no wrong unit
OTHER = 0.2  # of ln, in the median: the machine is not the one that was published
LEAST_RUNS = 2  # to leave one out
Pool = tuple[str, ...]


@dataclass(frozen=True)
class Wrong:
    """A row that moves nothing: `times` as large as the others say."""

    label: str
    times: float


@dataclass(frozen=True)
class Learned:
    """`factors`: most likely logs. `posterior`: linear where these are. `refused`: pools of which rows that
    were left out got worse, with the mean error before and after. `at`: by place, what each row was."""

    factors: Mapping[Factor, float]
    posterior: Posterior
    order: Sequence[Factor]
    labels: Sequence[str]
    wrong: Sequence[Wrong] = ()
    refused: Mapping[Pool, tuple[float, float]] = field(default_factory=dict)

    def at(self, pool: Pool) -> Mapping[Factor, float]:
        """Logs of the factors that predictions of a pool take."""
        return dict.fromkeys(self.order, 0.0) if pool in self.refused else self.factors

    def system(self, system: System, pool: Pool) -> System:
        """With the most likely values."""
        return scaled.having(system, self.at(pool))

    def times(self, place: Place) -> float:
        """What a prediction with these values is multiplied by."""
        return 1.0 if place.pool in self.refused else float(np.exp(self.posterior.residual(place)))


def learn(runs: Sequence[Observed], also: Sequence[Asked] = ()) -> Learned:
    """From these runs, none at all as well. `also`: what else is asked for, whose factors count."""
    order, fitted = _factors(runs, also)
    covariance = prior(order, fitted)
    kept = [np.ones(len(run.values), bool) for run in runs]
    found, posterior = _solved(runs, kept, order, covariance)
    labels = [label for run in runs for label in run.labels]
    wrong: list[Wrong] = []
    while (worst := _worst(posterior, labels)) is not None:
        wrong.append(worst)
        _leave_out(runs, kept, {one.label for one in wrong})
        found, posterior = _solved(runs, kept, order, covariance)
        labels = [label for run, own in zip(runs, kept, strict=True)
                  for label, is_kept in zip(run.labels, own, strict=True) if is_kept]  # fmt: skip
    return Learned(found, posterior, order, labels, wrong, _refused(posterior))


def _factors(runs: Sequence[Observed], also: Sequence[Asked]) -> tuple[list[Factor], set[Factor]]:
    """(all that may move, those that published rows had a part in)."""
    order: dict[Factor, None] = {}
    fitted = set()
    every = [*runs, *also]
    for system in dict.fromkeys(run.system.name for run in every):
        own = [run for run in every if run.system.name == system]
        is_known = is_as_published(system, [run for run in runs if run.system.name == system])
        for run in own:
            found = scaled.of_system(run.system, run.benchmark, run.transport, common=not is_known)
            order |= dict.fromkeys(found)
            fitted |= set(found) if is_known else set()
    return list(order), fitted


def is_as_published(system: str, runs: Sequence[Observed]) -> bool:
    """Whether published rows had a part in the files of a system, and its runs are like these: a machine of
    the same name may be another one."""
    if not any(one.system == system for one in intervals.load()):
        return False
    misses = [
        abs(log(value / one))
        for run in runs
        for value, one in zip(run.values, run.predicted(run.system), strict=True)
        if one
    ]
    return not misses or median(misses) < OTHER


def _leave_out(runs: Sequence[Observed], kept: Sequence[np.ndarray], wrong: set[str]) -> None:
    for run, own in zip(runs, kept, strict=True):
        own[:] = [label not in wrong for label in run.labels]


def _solved(
    runs: Sequence[Observed], kept: Sequence[np.ndarray], order: Sequence[Factor], covariance: np.ndarray
) -> tuple[dict[Factor, float], Posterior]:
    at = dict.fromkeys(order, 0.0)
    for step in range(MOST_STEPS):
        posterior = linear(runs, kept, order, covariance, at)
        logs = dict(zip(order, posterior.logs, strict=True))
        moved = max((abs(logs[one] - at[one]) for one in order), default=0.0)
        at = logs
        if moved < (LINEAR if step == 0 else NEAR):
            break
    return at, posterior


def linear(
    runs: Sequence[Observed], kept: Sequence[np.ndarray], order: Sequence[Factor], covariance: np.ndarray,
    at: Mapping[Factor, float],
) -> Posterior:  # fmt: skip
    """The posterior of the model as it is near these logs."""
    places, rows, misses = [], [], []
    logs = np.array([at[one] for one in order])
    for run, own in zip(runs, kept, strict=True):
        if not own.any():
            continue
        predicted, row = derivatives(run.system, run.benchmark, run.transport, run.predicted, order, at)
        miss = np.log(run.values) - predicted + row @ logs
        usable = own & np.isfinite(miss)
        places += [place for place, is_kept in zip(run.places, usable, strict=True) if is_kept]
        rows.append(row[usable])
        misses.append(miss[usable])
    jacobian = np.concatenate(rows) if rows else np.zeros((0, len(order)))
    return Posterior(places, jacobian, covariance, np.concatenate(misses) if misses else np.zeros(0))


def derivatives(
    system: System, benchmark: str, transport: str, values: Values, order: Sequence[Factor],
    at: Mapping[Factor, float],
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(ln of values at these logs, their derivatives by all factors of `order`)."""
    own = [one for one in scaled.of_system(system, benchmark, transport) if one in at]
    predicted, found = scaled.elasticities(system, own, values, at)
    return predicted, _spread(found, own, order)


def _spread(found: np.ndarray, own: Sequence[Factor], order: Sequence[Factor]) -> np.ndarray:
    """Columns of `own` factors among those of `order`."""
    row = np.zeros((len(found), len(order)))
    places = {one: place for place, one in enumerate(order)}
    for column, one in enumerate(own):
        row[:, places[one]] = found[:, column]
    return row


def _worst(posterior: Posterior, labels: Sequence[str]) -> Wrong | None:
    """The row that is farthest from what all others say, where that is too far to be right."""
    count = len(posterior.places)
    if count == 0:
        return None
    spread = 1 / np.sqrt(np.diag(posterior.inverse))
    off = posterior.weights / np.diag(posterior.inverse)
    far = np.where(np.abs(off) > LEAST_WRONG, np.abs(off) / spread, 0.0)
    place = int(np.argmax(far))
    return Wrong(labels[place], float(np.exp(off[place]))) if far[place] > WRONG else None


def _refused(posterior: Posterior) -> dict[Pool, tuple[float, float]]:
    """Pools whose runs, each left out, get worse."""
    found = {}
    pools: dict[Pool, dict[tuple, list[int]]] = {}
    for place, one in enumerate(posterior.places):
        pools.setdefault(one.pool, {}).setdefault(one.run, []).append(place)
    for pool, runs in pools.items():
        if len(runs) < LEAST_RUNS:
            continue
        before = [abs(posterior.misses[place]) for own in runs.values() for place in own]
        after = [
            abs(miss - mean)
            for own in runs.values()
            for miss, mean in zip(posterior.misses[own], posterior.left_out(own)[0], strict=True)
        ]
        if np.mean(after) > np.mean(before):
            found[pool] = (float(np.mean(before)), float(np.mean(after)))
    return found


@dataclass(frozen=True)
class Told:
    """`deviations`: of ln of one more measured value."""

    values: Sequence[float | None]
    deviations: Sequence[float]


def told(learned: Learned, run: Asked) -> Told:
    """What is predicted of a run after all that was learned."""
    at, posterior = learned.at(run.places[0].pool), learned.posterior
    every = scaled.of_system(run.system, run.benchmark, run.transport, common=False)
    every += [one for one in scaled.of_all(run.system) if one in at]
    logs, found = scaled.elasticities(run.system, every, run.predicted, at)
    new = [place for place, one in enumerate(every) if one not in at]
    others = found[:, new] ** 2 @ np.diag(prior([every[place] for place in new], ()))
    old = [place for place, one in enumerate(every) if one in at]
    rows = _spread(found[:, old], [every[place] for place in old], learned.order)
    values = [
        None if isnan(log) else float(np.exp(log)) * learned.times(place)
        for log, place in zip(logs, run.places, strict=True)
    ]
    deviations = [
        float(np.hypot(posterior.deviation(place, row), np.sqrt(other)))
        for place, row, other in zip(run.places, rows, others, strict=True)
    ]
    return Told(values, deviations)


def outcome_with(learned: Learned, run: Observed) -> Sequence[float | None]:
    """The values alone, which take less time."""
    system = learned.system(run.system, run.places[0].pool)
    return [
        None if one is None else one * learned.times(place)
        for one, place in zip(run.predicted(system), run.places, strict=True)
    ]
