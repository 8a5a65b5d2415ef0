"""Ratio of two sides of repeated runs, with an interval that knows how much runs differ from each other.

Everything here works on natural logarithms, so that ratios add and 10 % up and down weigh the same. Runs are
resampled before the samples within them (two-stage bootstrap; Davison and Hinkley, Bootstrap Methods and
their Application, 1997, section 3.8).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

REPLICATES = 2000
SEED = 20260101
MOST_RUNS = 10_000  # of a side, as many pairs as `fabricmark ab` takes
LEVELS = {"median": 0.5, "quartile": 0.75, "best": 1.0}  # how much of a run's repetitions are no better
TRIM = 0.2  # share of the runs left out at either end, from SMALLEST_TRIMMED runs on
SMALLEST_TRIMMED = 10


@dataclass(frozen=True)
class Sides:
    """Samples of each run of both sides, as logarithms of values that are better when larger.

    `paired`: run i of one side was made next to run i of the other.
    """

    base: Sequence[np.ndarray]
    new: Sequence[np.ndarray]
    paired: bool


@dataclass(frozen=True)
class Estimate:
    """Logarithm of new / base, its standard error and the degrees of freedom of that error."""

    effect: float
    error: float
    freedom: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """Two-sided interval of this confidence, by Student's t on the bootstrap's standard error."""
        from scipy.special import stdtrit  # here: its import would slow every other command down

        if self.error == 0:
            return self.effect, self.effect
        reach = float(stdtrit(self.freedom, 0.5 + confidence / 2)) * self.error
        return self.effect - reach, self.effect + reach

    def runs_needed(self, runs: int, wanted: Sequence[tuple[float, float]]) -> int | None:
        """Runs a side with which the interval gets narrow enough, if runs go on scattering as `runs` did.

        `wanted`: pairs of a confidence and half the width that would do [logarithm]; one of them is enough.
        The standard error falls with the root of the runs. None: more than MOST_RUNS, or a single run, whose
        scatter says nothing of that between runs.
        """
        from scipy.special import stdtrit

        if runs < 2:
            return None
        counts = np.unique(np.geomspace(runs + 1, max(runs + 1, MOST_RUNS), 400).astype(int))
        enough = np.zeros(len(counts), dtype=bool)
        for confidence, half in wanted:
            reach = stdtrit(self.freedom * counts / runs, 0.5 + confidence / 2)
            enough |= reach * self.error * np.sqrt(runs / counts) < half
        return int(counts[enough.argmax()]) if enough.any() else None


class Runs:
    """The runs of one side, sorted, so that the value of a resampled run is an order statistic of it."""

    def __init__(self, samples: Sequence[np.ndarray], level: float) -> None:
        self.counts = np.array([len(run) for run in samples])
        self.table = np.full((len(samples), self.counts.max()), np.nan)
        for row, run in zip(self.table, samples, strict=True):
            row[: len(run)] = np.sort(run)
        place = level * (self.counts - 1)
        self.low, self.high = np.floor(place).astype(int), np.ceil(place).astype(int)

    def values(self) -> np.ndarray:
        """The value of each run: the level's quantile of its samples (between two of them, their mean)."""
        rows = np.arange(len(self.counts))
        return (self.table[rows, self.low] + self.table[rows, self.high]) / 2

    def resampled(self, picks: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Values of the picked runs after drawing each one's samples anew, with replacement.

        The r-th smallest of k draws from k values is the value at the r-th smallest of k uniform places,
        which is distributed as Beta(r, k - r + 1): exact, and as quick for ten samples as for a million.
        """
        counts, low, high = self.counts[picks], self.low[picks], self.high[picks]
        first = random.beta(low + 1, counts - low)
        beyond = np.maximum(counts - low - 1, 1)  # draws above the first
        second = np.where(high > low, 1 - (1 - first) * random.random(picks.shape) ** (1 / beyond), first)
        places = [np.minimum((place * counts).astype(int), counts - 1) for place in (first, second)]
        return (self.table[picks, places[0]] + self.table[picks, places[1]]) / 2


def trimmed(runs: int) -> int:
    """How many runs are left out at either end."""
    return int(TRIM * runs) if runs >= SMALLEST_TRIMMED else 0


def centre(values: np.ndarray) -> np.ndarray:
    """Trimmed mean along the last axis: a run that met a stall or another mode counts little."""
    count = values.shape[-1]
    left_out = trimmed(count)
    if left_out == 0:
        return values.mean(axis=-1)
    return np.sort(values, axis=-1)[..., left_out : count - left_out].mean(axis=-1)


def _variance(resample, runs: int, random: np.random.Generator) -> float:
    """Variance of the centre of `runs` runs: between runs and within, the latter counted once.

    The runs' values already scatter by what happens within them, so the share that the second stage adds is
    taken out again; what is left is never less than the scatter within alone.
    """
    still = np.broadcast_to(np.arange(runs), (REPLICATES, runs))
    within = float(np.var(centre(resample(still, random))))
    if runs == 1:
        return within
    picks = random.integers(0, runs, (REPLICATES, runs))
    both = float(np.var(centre(resample(picks, random))))
    return max((both - within) * runs / (runs - 1), within)


def estimate(sides: Sides, statistic: str, seed: int = SEED) -> Estimate:
    """Effect of the new side; the same seed gives the same numbers."""
    random = np.random.default_rng(seed)
    base, new = Runs(sides.base, LEVELS[statistic]), Runs(sides.new, LEVELS[statistic])
    if sides.paired:
        runs = len(sides.base)

        def difference(picks: np.ndarray, random: np.random.Generator) -> np.ndarray:
            return new.resampled(picks, random) - base.resampled(picks, random)

        effect = float(centre(new.values() - base.values()))
        variance = _variance(difference, runs, random)
        return Estimate(effect, math.sqrt(variance), _freedom(new))
    effect = float(centre(new.values()) - centre(base.values()))
    parts = [_variance(side.resampled, len(side.counts), random) for side in (base, new)]
    variance = sum(parts)
    # Welch and Satterthwaite
    weights = sum(part**2 / _freedom(side) for part, side in zip(parts, (base, new), strict=True))
    freedom = variance**2 / weights if weights > 0 else 1.0
    return Estimate(effect, math.sqrt(variance), freedom)


def _freedom(side: Runs) -> float:
    """Degrees of freedom of a trimmed mean (Yuen 1974); those of its samples for a single run."""
    runs = len(side.counts)
    degrees = runs - 2 * trimmed(runs) - 1 if runs > 1 else int(side.counts[0]) - 1
    return max(degrees, 1)
