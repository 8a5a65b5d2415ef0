"""`--calibrate ROWS`: what a centre's own rows change, as lines and as predictions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import expm1, log10
from pathlib import Path

import numpy as np

from fabricmark.base import paths, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import percent
from fabricmark.results.published import PublishedValue
from fabricmark.validate import learned, observed, outcomes
from fabricmark.validate.accepted import Accepted
from fabricmark.validate.intervals import Interval
from fabricmark.validate.learned import Learned, Wrong
from fabricmark.validate.observed import Observed
from fabricmark.validate.outcomes import Load, Outcome, Predictor

SHOWN = 6  # of what moved
LEAST_SHOWN = 0.01  # of a value
ROWS_SHOWN = 3  # that moved it
QUANTILE = 1.645  # of a normal distribution: 90 % lie within
# Factors that a wrong unit makes, and how near a row has to be to one (of log10).
UNITS = {3: "one prefix", 6: "two prefixes", 9: "three prefixes"}
BITS = 8.0
NEAR_UNIT = 0.2
HELP = "Rows of your own, like those of data/published, from which predictions learn."


@dataclass(frozen=True)
class Calibration:
    """`lines`: what the rows changed, for a reader."""

    runs: Sequence[Observed]
    learned: Learned
    rows: Sequence[PublishedValue]
    lines: Sequence[str]


def read(path: Path, load: Load, others: Sequence[PublishedValue] = ()) -> Calibration:
    """The posterior of a file's rows. `load`: finds their systems; `others`: rows whose hosts' curves count,
    too.

    Raises FabricmarkError (2): no such file, a row that cannot be read, none that can be predicted.
    """
    rows = outcomes.read(path)
    own = [row for _, row in rows]
    inputs = [row for row in (*others, *own) if row.role == "calibration"]
    runs, without = observed.of_rows(rows, Predictor(load, inputs))
    if not runs:
        cause = f"--calibrate {path}: no row that a model predicts"
        raise FabricmarkError(cause, without[0] if without else "give rows with the role test")
    found = learned.learn(runs)
    counted = sum(len(run.values) for run in runs)
    name = path.name if not paths.is_standard_output(path) else str(path)
    about = f"calibrated with {name}: {counted} rows of {len(runs)} runs"
    lines = [about, *(f"no part in it: {one}" for one in without), *_said(found)]
    return Calibration(runs, found, own, lines)


def _said(found: Learned) -> Iterator[str]:
    for row in found.wrong:
        yield f"{row.label} moves nothing: {_wrong(row)}"
    yield from _not_taken(found.accepted)
    moved = {one: by for one, by in found.factors.items() if abs(expm1(by)) >= LEAST_SHOWN}
    ordered = sorted(moved, key=lambda one: -abs(moved[one]))
    for one in ordered[:SHOWN]:
        by = expm1(moved[one])
        yield f"{one} {percent(by, digits=1, signed=True)}, by {', '.join(_rows_of(found, one))}"
    if len(ordered) > SHOWN:
        yield f"{len(ordered) - SHOWN} more values moved by at least {percent(LEAST_SHOWN)}"


def _not_taken(found: Accepted) -> Iterator[str]:
    """What stays as it was, in spite of rows."""
    words, metrics = [], []
    for (benchmark, system, _, transport), own in found.pools.items():
        about = f"{benchmark} on {system}{transports.over(transport)}"
        if own.is_taken and not own.carries:
            metrics.append(about)
        elif not own.is_taken:
            after = "one run" if own.after is None else f"{percent(own.after, digits=1)} left out"
            words.append(f"{about} ({percent(own.before, digits=1)} off, {after})")
    if words:
        why = "runs that are left out get not clearly better by them"
        yield f"as without these rows, as {why}: {', '.join(words)}"
    if metrics:
        yield f"metrics that no row is of are as without these rows: {', '.join(metrics)}"


def _rows_of(found: Learned, factor) -> list[str]:
    """The rows that moved a factor most."""
    shares = found.posterior.moved(list(found.order).index(factor))
    most = np.argsort(-np.abs(shares))[:ROWS_SHOWN]
    return [found.labels[place] for place in most if abs(shares[place]) > 0]


def _wrong(one: Wrong) -> str:
    times = f"{one.times:.3g} times what all other rows say"
    if (unit := _unit(one.times)) != "":
        return f"{times}, as if {unit}"
    return times


def _unit(times: float) -> str:
    """What is wrong with the unit, in words; "" for nothing that is known."""
    power = abs(log10(times))
    for places, words in UNITS.items():
        if abs(power - places) < NEAR_UNIT:
            return (
                f"{words} of its unit were wrong" if "prefixes" in words else f"{words} of its unit was wrong"
            )
    return "bits were bytes, or bytes bits" if abs(power - log10(BITS)) < NEAR_UNIT / 2 else ""


@dataclass(frozen=True)
class Told:
    """Outcomes with what was learned, and the 90 % interval of each."""

    outcomes: Sequence[Outcome]
    intervals: Sequence[Interval]

    @property
    def pairs(self) -> list[tuple[float, Interval]]:
        """(error, interval)."""
        return [(one.error, bar) for one, bar in zip(self.outcomes, self.intervals, strict=True)]


def applied(calibration: Calibration, found: Sequence[Outcome], predictor: Predictor) -> Told:
    """Rows that the posterior has not seen, as it predicts them."""
    seen = {replace(row, source="") for row in calibration.rows}
    left = [one for one in found if replace(one.row, source="") not in seen]
    runs, _ = observed.of_rows([(one.line, one.row) for one in left], predictor)
    values: dict[str, float | None] = {}
    widths: dict[str, float] = {}
    for run in runs:
        told = learned.told(calibration.learned, run)
        values |= dict(zip(run.labels, told.values, strict=True))
        widths |= dict(zip(run.labels, map(half_width, told.deviations), strict=True))
    outcomes = [replace(one, predicted=values.get(label(one), one.predicted)) for one in left]
    return Told(outcomes, [Interval(widths.get(label(one))) for one in left])


def label(one: Outcome) -> str:
    return observed.label(one.line)


def half_width(deviation: float) -> float:
    """Of a 90 % interval, as a share of the prediction; of ln."""
    return expm1(QUANTILE * deviation)
