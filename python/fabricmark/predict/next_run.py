"""Which runs would narrow a prediction most: `--next-run N`.

What a run tells of a prediction follows from the covariance of both, before it is run (Krause, Singh and
Guestrin 2008, section 3): one after the other that run is taken which narrows the half-widths of what is
asked for most, of those that the budget of time has room for. What is asked for is none of them, nor is what
needs more devices: who has these runs what is asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isqrt

import numpy as np

from fabricmark import models
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import percent
from fabricmark.predict import calibrated, points
from fabricmark.predict.points import Case, PredictionRequest
from fabricmark.systems import choice
from fabricmark.validate import learned, posterior
from fabricmark.validate.calibrated import half_width
from fabricmark.validate.learned import Learned
from fabricmark.validate.observed import Asked, Observed

SMALLER = (1, 4)  # the default size of a problem, and so many times less
SIZE = "size"
LEAST_GAIN = 1e-4  # of ln


@dataclass(frozen=True)
class Run:
    """A run that may be made. `seconds`: of one repetition, modelled; 0 where the model has no phases."""

    words: str
    asked: Asked
    headline: int
    seconds: float


@dataclass(frozen=True)
class Step:
    """`half_width`: of what is asked for, the mean, after this run and all before it."""

    run: Run
    half_width: float


def lines(case: Case, measured: Sequence[Observed], count: int, budget: float) -> list[str]:
    """A line for each run, after what was measured. Raises FabricmarkError (2) where there is none."""
    targets = [calibrated.asked_of(case.request, point) for point in case.points]
    heads = [point.headline_place for point in case.points]
    without = {place.run for one in targets for place in one.places}
    most = max(point.devices for point in case.points)
    runs = list(candidates(case.request, most, budget, without))
    if not runs:
        raise FabricmarkError("--next-run: no run within the budget", "give a larger --budget")
    known = learned.learn(measured, [*targets, *(run.asked for run in runs)])
    before, steps = chosen(known, list(zip(targets, heads, strict=True)), runs, count, budget)
    found = [f"next runs, of {len(runs)} that may be made; half-width now {percent(before, digits=1)}:"]
    found += [
        f"  {place}. {one.run.words}  ({_time(one.run.seconds)} a repetition; then "
        f"{percent(one.half_width, digits=1)})"
        for place, one in enumerate(steps, start=1)
    ]
    return found if steps else [*found, "  none of them tells anything of it"]


def _time(seconds: float) -> str:
    return f"{seconds:.2g} s"


def candidates(request: PredictionRequest, most: int, budget: float, without: set[tuple]) -> Iterator[Run]:
    """Runs of the system's benchmarks, of at most so many devices. `without`: as they are asked for."""
    system = request.system
    for benchmark in models.names():
        if not any(one.benchmark == benchmark for one in system.bitstreams):
            continue
        for transport, ids in choice.transports_of(benchmark, system).items():
            if ids:
                usual = replace(request, benchmark=benchmark, transport=transport, given={}, overrides={})
                yield from _of_way(usual, ids[0], most, budget, without)


def _of_way(
    request: PredictionRequest, name: str, most: int, budget: float, without: set[tuple]
) -> Iterator[Run]:
    narrowed = replace(request, system=choice.with_only(request.system, request.benchmark, name))
    for devices in _counts(narrowed, most):
        for times in SMALLER if SIZE in request.kernel.parameters else SMALLER[:1]:
            run = _run(narrowed, devices, times)
            if run is None or run.seconds > budget:
                continue
            if not any(place.run in without for place in run.asked.places):
                yield run


def _counts(request: PredictionRequest, most: int) -> list[int]:
    most = min(most, request.system.most_devices)
    if request.traits.on_grid:
        return [side * side for side in range(1, isqrt(most) + 1)]
    return [2**power for power in range(most.bit_length()) if 2**power <= most]


def _run(request: PredictionRequest, devices: int, times: int) -> Run | None:
    """Of a problem so many times smaller than by default; None where it cannot be run."""
    try:
        plan, run = points.planned(request, [(devices, {})])[0]
        if times > 1:
            request = replace(request, given={SIZE: max(1, int(run[SIZE]) // times)}, scaling=points.WEAK)
            plan, run = points.planned(replace(request, scaling=points.STRONG), [(devices, {})])[0]
        found = points.point(request, plan, run)
        asked = calibrated.asked_of(request, found, (plan, run))
    except (FabricmarkError, TypeError, ValueError, KeyError):
        return None
    if not found.headline.value:
        return None
    words = f"fabricmark run {request.benchmark} --system {request.system.name}"
    words += f" --transport {request.transport}" if request.traits.exchanges else ""
    words += f" --ranks {devices}"
    words += f" -- --{SIZE} {run[SIZE]}" if times > 1 else ""
    return Run(words, asked, found.headline_place, sum(found.headline.phases.values()))


def chosen(
    known: Learned, targets: Sequence[tuple[Asked, int]], runs: Sequence[Run], count: int, budget: float
) -> tuple[float, list[Step]]:
    """(mean half-width before, the runs in their order)."""
    joint = Joint.of(known, [*targets, *((run.asked, run.headline) for run in runs)])
    number, left, steps = len(targets), budget, []
    before = joint.half_width(number)
    for _ in range(count):
        width = joint.half_width(number)
        best, narrow = None, width - LEAST_GAIN
        for place, run in enumerate(runs):
            if run.seconds <= left and (found := joint.after(number + place).half_width(number)) < narrow:
                best, narrow = place, found
        if best is None:
            break
        joint, left = joint.after(number + best), left - runs[best].seconds
        steps.append(Step(runs[best], joint.half_width(number)))
    return before, steps


@dataclass(frozen=True)
class Joint:
    """Covariance of ln of values that nobody measured yet, without noise, and the variance of their noise."""

    covariance: np.ndarray
    noise: np.ndarray

    @classmethod
    def of(cls, known: Learned, asked: Sequence[tuple[Asked, int]]) -> "Joint":
        """After all that is known."""
        places = [known.place(one.places[place]) for one, place in asked]
        rows = np.stack([_row(known, one)[place] for one, place in asked])
        before, after = known.posterior, posterior.alike
        found = rows @ before.prior @ rows.T + after(places, places)
        shared = rows @ before.prior @ before.jacobian.T + after(places, before.places)
        found = found - shared @ before.inverse @ shared.T
        return cls(found, np.array([posterior.noise(one) for one in places]))

    def half_width(self, number: int) -> float:
        """The mean of the first ones."""
        variances = np.diag(self.covariance)[:number] + self.noise[:number]
        return float(np.mean([half_width(deviation) for deviation in np.sqrt(variances)]))

    def after(self, place: int) -> "Joint":
        """When one of them was measured."""
        column = self.covariance[:, place]
        variance = column[place] + self.noise[place]
        return replace(self, covariance=self.covariance - np.outer(column, column) / variance)


def _row(known: Learned, one: Asked) -> np.ndarray:
    at = dict.fromkeys(known.order, 0.0) | dict(known.factors)
    return learned.derivatives(one, known.order, at)[1]
