"""`--calibrate ROWS`: what a centre's own rows change, as lines and as predictions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import expm1, log10
from pathlib import Path

import numpy as np

from fabricmark.base import paths, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import percent
from fabricmark.results.published import PublishedValue
from fabricmark.validate import checks, learned, observed, outcomes, own_results
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
RESULT = ".json"
HELP = (
    "Rows of your own like those of data/published, result files or folders of them, from which predictions "
    "learn; may be repeated."
)


@dataclass(frozen=True)
class Calibration:
    """`lines`: what the rows changed, for a reader."""

    runs: Sequence[Observed]
    learned: Learned
    rows: Sequence[PublishedValue]
    lines: Sequence[str]


def read(places: Sequence[Path], load: Load, others: Sequence[PublishedValue] = ()) -> Calibration:
    """The posterior of rows and result files. `places`: CSV files, result files (.json), folders of these;
    `load`: finds the systems of rows; `others`: rows whose hosts' curves count, too.

    Raises FabricmarkError (2): no such file, one that cannot be read, nothing that can be predicted.
    """
    of_results = [one for one in places if one.is_dir() or one.suffix == RESULT]
    tables = [one for one in places if one not in of_results]
    rows = [(path, line, row) for path in tables for line, row in outcomes.read(path)]
    own = [row for _, _, row in rows]
    predictor = Predictor(load, (*others, *own))
    runs, without = [], []
    for path in tables:
        found, missing = observed.of_rows([row[1:] for row in rows if row[0] == path], predictor)
        head = f"{path.name} " if len(places) > 1 else ""
        runs += [replace(run, labels=[f"{head}{name}" for name in run.labels]) for run in found]
        without += [f"{head}{reason}" for reason in missing]
    if of_results:
        found, missing = own_results.of_files(of_results)
        runs, without = [*runs, *found], [*without, *missing]
    name = ", ".join(str(one) if paths.is_standard_output(one) else one.name for one in places)
    if not runs:
        cause = f"--calibrate {name}: no row that a model predicts"
        raise FabricmarkError(cause, without[0] if without else "give rows with the role test")
    learnt = learned.learn(runs)
    counted = sum(len(run.values) for run in runs)
    about = f"calibrated with {name}: {counted} {'rows' if tables else 'values'} of {len(runs)} runs"
    return Calibration(runs, learnt, own, [about, *_left(without), *_said(learnt)])


def _left(without: Sequence[str]) -> Iterator[str]:
    """Why rows and files have no part, a line for each reason."""
    parts = (one.partition(": ") for one in without)
    for reason, names in grouped((reason, name) for name, _, reason in parts).items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"no part in it: {names[0]}{more}: {reason}"


def _said(found: Learned) -> Iterator[str]:
    for row in found.wrong[:SHOWN]:
        yield f"{row.label} moves nothing: {_wrong(row)}"
    if len(found.wrong) > SHOWN:
        yield f"{len(found.wrong) - SHOWN} more that are as far off move nothing"
    for system, by in found.spreads.items():
        yield f"{system}: its values differ {by:.2g} times as much as those of a machine that nobody measured"
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
    accepted = calibration.learned.accepted
    values: dict[str, float | None] = {}
    widths: dict[str, float] = {}
    shares: dict[str, float] = {}
    for run in runs:
        told = learned.told(calibration.learned, run)
        values |= dict(zip(run.labels, told.values, strict=True))
        widths |= dict(zip(run.labels, told.half_widths, strict=True))
        shares |= {name: accepted.left(place) for name, place in zip(run.labels, run.places, strict=True)}
    outcomes = [replace(one, predicted=values.get(label(one), one.predicted)) for one in left]
    earned = [bar for _, bar in checks.with_intervals(left, predictor)]
    bars = [
        narrower(
            widths.get(label(one)),
            bar.half_width if one.row.system in accepted.published else None,
            shares.get(label(one), 1.0),
        )
        for one, bar in zip(left, earned, strict=True)
    ]
    return Told(outcomes, [Interval(bar) for bar in bars])


def narrower(learnt: float | None, earned: float | None, share: float) -> float | None:
    """Of what rows of one's own leave open, and what published rows of the same machine earned; rows leave a
    share of its errors.
    """
    known = [one for one in (learnt, earned and earned * share) if one is not None]
    return min(known, default=None)


def label(one: Outcome) -> str:
    return observed.label(one.line)


def half_width(deviation: float) -> float:
    """Of a 90 % interval, as a share of the prediction; of ln."""
    return expm1(QUANTILE * deviation)
