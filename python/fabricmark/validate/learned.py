"""Predictions that learn from a centre's own rows: the posterior of these rows, without those that cannot be
right, where it counts (accepted.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import expm1, isnan, log, sqrt
from statistics import median

import numpy as np

from fabricmark.base.grouping import grouped
from fabricmark.validate import intervals, scaled
from fabricmark.validate.accepted import Accepted, accepted
from fabricmark.validate.observed import Asked, Observed
from fabricmark.validate.posterior import FPGA, Place, Posterior, prior
from fabricmark.validate.scaled import Factor

MOST_STEPS = 5  # of Gauss-Newton
NEAR = 0.01  # of ln of a factor: near enough
LINEAR = 0.03  # factors as near to 1 need no second look
MIDDLE = 0.6745  # what half of a normal distribution is within, in standard deviations
BEFORE = 4  # values that a spread as likeness has it is worth
NEAR_SPREAD = 0.1  # of its ln
WRONG = 4.0  # standard deviations from what all other rows say
LEAST_WRONG = 0.35  # of ln: less is no wrong unit
OTHER = 0.2  # of ln, in the median: the machine is not the one that was published


@dataclass(frozen=True)
class Wrong:
    """A row that moves nothing: `times` as large as the others say."""

    label: str
    times: float


@dataclass(frozen=True)
class Learned:
    """`factors`: most likely logs. `posterior`: linear where these are. `labels`: by place, what each row
    was."""

    factors: Mapping[Factor, float]
    posterior: Posterior
    order: Sequence[Factor]
    labels: Sequence[str]
    wrong: Sequence[Wrong]
    accepted: Accepted
    spreads: Mapping[str, float] = field(default_factory=dict)  # by system

    def place(self, place: Place) -> Place:
        """As wide as its machine's own runs say."""
        return replace(place, spread=self.spreads.get(place.system, 1.0))


def learn(runs: Sequence[Observed], also: Sequence[Asked] = ()) -> Learned:
    """From these runs, none at all as well. `also`: what else is asked for, whose factors count."""
    order, fitted, published = _factors(runs, also)
    covariance = prior(order, fitted)
    kept = [np.ones(len(run.values), bool) for run in runs]
    found, posterior = _solved(runs, kept, order, covariance)
    spreads: dict[str, float] = {}
    for _ in range(MOST_STEPS):
        before, spreads = spreads, _spreads(posterior, spreads)
        if all(abs(log(by / before.get(system, 1.0))) < NEAR_SPREAD for system, by in spreads.items()):
            break
        runs = [_as_wide(run, spreads) for run in runs]
        found, posterior = _solved(runs, kept, order, covariance)
    labels = [label for run in runs for label in run.labels]
    wrong: list[Wrong] = []
    while (worst := _worst(posterior, labels)) is not None:
        wrong.append(worst)
        _leave_out(runs, kept, {one.label for one in wrong})
        found, posterior = _solved(runs, kept, order, covariance)
        labels = [label for run, own in zip(runs, kept, strict=True)
                  for label, is_kept in zip(run.labels, own, strict=True) if is_kept]  # fmt: skip
    return Learned(found, posterior, order, labels, wrong, accepted(posterior, published), spreads)


def _as_wide(run: Observed, spreads: Mapping[str, float]) -> Observed:
    return replace(
        run, places=[replace(one, spread=spreads.get(one.system, 1.0)) for one in run.places]
    )  # fmt: skip


def _spreads(posterior: Posterior, known: Mapping[str, float]) -> dict[str, float]:
    """How many times as wide as `intervals.UNKNOWN` values of each CPU and GPU differ from what all others
    say: no published rows tell of these. From the median, which wrong values do not move; of few values
    little. `known`: as the posterior has them."""
    places = enumerate(posterior.places)
    rows = grouped((one.system, at) for at, one in places if one.device_class != FPGA)
    if not rows:
        return {}
    off = np.abs(posterior.weights) / np.sqrt(np.diag(posterior.inverse))
    found = {}
    for system, own in rows.items():
        now = known.get(system, 1.0) * float(np.median(off[own])) / MIDDLE
        found[system] = sqrt((BEFORE + len(own) * now**2) / (BEFORE + len(own)))
    return found


def _factors(runs: Sequence[Observed], also: Sequence[Asked]) -> tuple[list[Factor], set[Factor], set[str]]:
    """(all that may move, those that published rows had a part in, the systems of these)."""
    order: dict[Factor, None] = {}
    fitted: set[Factor] = set()
    published = {one.system for one in intervals.load()}
    every = [*runs, *also]
    for system in dict.fromkeys(run.system.name for run in every):
        own = [run for run in every if run.system.name == system]
        is_known = is_as_published(system, [run for run in runs if run.system.name == system])
        for run in own:
            found = scaled.of_system(run.system, run.benchmark, run.transport, common=not is_known)
            order |= dict.fromkeys(found)
            fitted |= set(found) if is_known else set()
        published -= set() if is_known else {system}
    return list(order), fitted, published


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
        predicted, row, _ = derivatives(run, order, at)
        miss = np.log(run.values) - predicted + row @ logs
        usable = own & np.isfinite(miss)
        places += [place for place, is_kept in zip(run.places, usable, strict=True) if is_kept]
        rows.append(row[usable])
        misses.append(miss[usable])
    jacobian = np.concatenate(rows) if rows else np.zeros((0, len(order)))
    return Posterior(places, jacobian, covariance, np.concatenate(misses) if misses else np.zeros(0))


def derivatives(
    run: Asked, order: Sequence[Factor], at: Mapping[Factor, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(ln of values at these logs, their derivatives by all factors of `order`, their variance by the factors
    beside these: of what is asked for alone)."""
    own = scaled.of_system(run.system, run.benchmark, run.transport, common=False)
    own += [one for one in scaled.of_all(run.system) if one in at]
    predicted, found = scaled.elasticities(run.system, own, run.predicted, at)
    rows = np.zeros((len(found), len(order)))
    others = np.zeros(len(found))
    places = {one: place for place, one in enumerate(order)}
    for column, one in enumerate(own):
        if one in places:
            rows[:, places[one]] = found[:, column]
        else:
            others += found[:, column] ** 2 * prior([one], ())[0, 0]
    return predicted, rows, others


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


@dataclass(frozen=True)
class Told:
    """`half_widths`: what 90 % of measured values are within, as shares of these."""

    values: Sequence[float | None]
    half_widths: Sequence[float]


def told(learned: Learned, run: Asked) -> Told:
    """What is predicted of a run after all that was learned, where that counts. A prediction that stays as it
    was is as far off as the rows say, beside what they leave open."""
    posterior, places = learned.posterior, [learned.place(one) for one in run.places]
    logs, rows, others = derivatives(run, learned.order, learned.factors)
    logs = logs + [posterior.residual(place) for place in places]
    spread = [
        np.hypot(posterior.deviation(place, row), np.sqrt(other))
        for place, row, other in zip(places, rows, others, strict=True)
    ]
    taken = [learned.accepted.takes(place) for place in places]
    before = logs if all(taken) else scaled.logs_of(run.predicted(run.system))
    values = [
        None if isnan(log) else float(np.exp(log))
        for log in np.where(taken, logs, before)
    ]  # fmt: skip
    shifts = np.where(taken, 0.0, np.nan_to_num(before - logs))
    widths = [
        expm1(intervals.around(float(shift), float(by))) for shift, by in zip(shifts, spread, strict=True)
    ]
    return Told(values, widths)
