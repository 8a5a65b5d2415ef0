"""Is the new side as fast as the base? Results in, one verdict per metric out (docs/compare.md).

A metric is one value of a benchmark at one place of its axes under one set of conditions (kernel, variant,
device, ranks, parameters). Only equal metrics are compared, and never those of different kinds. What the user
changes on purpose may differ (command_lines.py).
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import counted
from fabricmark.compare import command_lines, resampling
from fabricmark.compare.metrics import (
    Metric,
    Refusal,
    allowed,
    collect,
    conditions,
    in_turns,
    one_after_the_other,
    refusals,
)
from fabricmark.results import Result, judgement

CONFIDENCE = 0.95  # of all intervals of a comparison together
SINGLE_RUN_FACTOR = 2.0  # runs of one build on a shared machine were seen to differ by this much
REMEDY = "compare runs of the same benchmark, made by programs that ended well"


@dataclass(frozen=True)
class Settings:
    """`threshold`: share below which a difference does not matter; `ignore`: conditions that may differ.

    `meant`: conditions that two command lines set differently, which are those of one benchmark.
    `looks`: how often this comparison may be made while runs are added; the confidence is split over them.
    `in_turns`: run i of both sides were made one next to the other, whatever their times say.
    """

    threshold: float = 0.05
    statistic: str = "median"
    ignore: Collection[str] = ()
    meant: Collection[str] = ()
    seed: int = resampling.SEED
    looks: int = 1
    in_turns: bool = False


@dataclass(frozen=True)
class Row:
    """One metric compared. Ratios are new / base in the metric's unit; `reason` says why it is unclear.

    `needed`: runs a side that would probably make it clear, None where that is not known.
    """

    base: Metric
    new: Metric
    base_value: float
    new_value: float
    ratio: float
    interval: tuple[float, float]
    paired: bool
    verdict: str
    reason: str
    needed: int | None = None

    @property
    def runs(self) -> int:
        """Runs of the side that has fewer."""
        return min(len(self.base.runs), len(self.new.runs))

    @property
    def has_interval(self) -> bool:
        """Whether both sides have several values: one alone, a log's average, says nothing of a spread."""
        return all(sum(map(len, side.values())) > 1 for side in (self.base, self.new))


@dataclass(frozen=True)
class Comparison:
    """Everything found. `refused`: the metrics that have no equal; `warnings`: what to know.

    `allowed`: what differs between the sides and may, in words.
    """

    rows: list[Row]
    refused: list[Refusal]
    warnings: list[str]
    invalid_new: list[str]
    settings: Settings
    allowed: list[str]

    @property
    def exit_code(self) -> int:
        """0: no regression; 1: at least one metric worse, or a new run whose results are wrong."""
        return 1 if self.invalid_new or any(row.verdict == "worse" for row in self.rows) else 0


def judge(estimate: resampling.Estimate, runs: int, settings: Settings, metrics: int) -> tuple[str, str]:
    """(verdict, reason) for an effect in logarithms, positive when the new side is better.

    better, worse: the interval, corrected for the number of metrics (Bonferroni), leaves out "no difference",
    and the difference is above the threshold. same: two one-sided tests of 5 % each exclude a difference of
    twice the threshold; calling all metrics the same needs all of them to pass, so no correction is due.
    """
    small, large = math.log1p(settings.threshold), math.log1p(2 * settings.threshold)
    if runs == 1 and abs(estimate.effect) <= math.log(SINGLE_RUN_FACTOR):
        return "unclear", "one run a side: how much runs differ is unknown"
    low, high = estimate.interval(corrected(settings, metrics))
    if abs(estimate.effect) > small and (low > 0 or high < 0):
        return ("better" if estimate.effect > 0 else "worse"), ""
    low, high = estimate.interval(1 - 2 * (1 - CONFIDENCE) / settings.looks)
    if runs > 1 and -large < low and high < large:
        return "same", ""
    return "unclear", "too few runs for their spread"


def needed(estimate: resampling.Estimate, runs: int, settings: Settings, metrics: int) -> int | None:
    """Runs a side with which `judge` would probably no longer say unclear; None where that is not known."""
    small, large = math.log1p(settings.threshold), math.log1p(2 * settings.threshold)
    effect = abs(estimate.effect)
    wanted = [(1 - 2 * (1 - CONFIDENCE) / settings.looks, large - effect)]
    if effect > small:
        wanted.append((corrected(settings, metrics), effect))
    return estimate.runs_needed(runs, wanted)


def corrected(settings: Settings, metrics: int) -> float:
    """Confidence of each interval, so that all of all looks hold together (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / (metrics * settings.looks)


def compare_metric(base: Metric, new: Metric, settings: Settings, metrics: int) -> Row | Refusal:
    """One row, or a refusal where ratios make no sense."""
    if min(run.min() for run in base.values() + new.values()) <= 0:
        return Refusal(f"{base.label}: not all values are above zero, so there is no ratio", "leave it out")
    sign = 1 if base.measurement.better == "higher" else -1
    sides = [[sign * np.log(run) for run in side.values()] for side in (base, new)]
    paired = len(base.runs) > 1 and (
        len(base.runs) == len(new.runs) if settings.in_turns else in_turns(base, new)
    )
    estimate = resampling.estimate(
        resampling.Sides(sides[0], sides[1], paired), settings.statistic, settings.seed
    )
    runs = min(len(base.runs), len(new.runs))
    verdict, reason = judge(estimate, runs, settings, metrics)
    more = needed(estimate, runs, settings, metrics) if verdict == "unclear" else None
    level = resampling.LEVELS[settings.statistic]
    middles = [math.exp(sign * resampling.centre(resampling.Runs(side, level).values())) for side in sides]
    ends = sorted(_ratio(sign * end) for end in estimate.interval(corrected(settings, metrics)))
    ratio = _ratio(sign * estimate.effect)
    return Row(base, new, middles[0], middles[1], ratio, (ends[0], ends[1]), paired, verdict, reason, more)


def _ratio(logarithm: float) -> float:
    """exp without overflow: with two runs a side an interval can be astronomically wide."""
    return math.exp(min(max(logarithm, -600.0), 600.0))


def compare(base: Sequence[Result], new: Sequence[Result], settings: Settings) -> Comparison:
    """Compare two sides. Raises FabricmarkError (2) when they have no metric in common."""
    warnings, invalid_new, usable = [], [], []
    for name, side in (("base", base), ("new", new)):
        wrong = [result for result in side if result.verdict() == judgement.INVALID]
        lines = [f"{result.path}: results are wrong, its metrics do not count ({name})" for result in wrong]
        warnings += lines
        invalid_new += lines if name == "new" else []
        unfinished = [result for result in side if result.document["run"]["exit_code"] > 1]
        warnings += [f"{result.path}: the run failed, its metrics do not count" for result in unfinished]
        usable.append([result for result in side if result not in wrong and result not in unfinished])
    ignore = may_differ(usable[0], usable[1], settings)
    metrics = [collect(side, ignore) for side in usable]
    shared = [key for key in metrics[0] if key in metrics[1]]
    refused = refusals(*metrics)
    if not shared and not invalid_new:
        why = refused[0] if refused else Refusal("there is no valid metric on both sides", REMEDY)
        raise FabricmarkError(f"nothing to compare: {why.cause}", why.remedy)
    rows = []
    for key in shared:
        found = compare_metric(metrics[0][key], metrics[1][key], settings, len(shared))
        rows.append(found) if isinstance(found, Row) else refused.append(found)
    if not rows and not invalid_new:
        raise FabricmarkError(f"nothing to compare: {refused[0].cause}", refused[0].remedy)
    told = allowed(usable[0], usable[1], ignore)
    return Comparison(rows, refused, warnings + remarks(rows), invalid_new, settings, told)


def may_differ(
    base: Sequence[Result], new: Sequence[Result], settings: Settings
) -> dict[str, frozenset[str]]:
    """By benchmark, the conditions that may differ: those of the settings, and kernels where a side has one.

    Raises FabricmarkError (2) for a name of the settings that is no condition of any run.
    """
    known = {name for result in (*base, *new) for name in conditions(result)}
    for name in settings.ignore:
        if known and name not in known:
            raise FabricmarkError(
                f"--ignore {name}: no run has that", f"use some of {', '.join(sorted(known))}"
            )
    found = {}
    for benchmark in {result.benchmark for result in (*base, *new)}:
        kernel = command_lines.KERNEL if command_lines.other_kernel(base, new, benchmark) else ()
        found[benchmark] = frozenset([*settings.ignore, *settings.meant, *kernel])
    return found


def remarks(rows: Sequence[Row]) -> list[str]:
    """What the reader should know of how the runs were made."""
    lines = []
    if any(min(len(row.base.runs), len(row.new.runs)) == 1 for row in rows):
        lines.append(
            "one run a side: the spread between runs is unknown; only samples within the run were used, and "
            f"only a factor above {SINGLE_RUN_FACTOR:g} is called better or worse"
        )
    bare = sum(not row.has_interval for row in rows)
    if bare:
        count = counted(bare, "metric")
        lines.append(f"{count} with one value a side: no interval can be given; several logs a side have one")
    if any(one_after_the_other(row.base, row.new) for row in rows):
        lines.append(
            "all runs of one side are older than those of the other: a drift of the machine looks like a "
            "difference; interleave the runs, or use `fabricmark ab`"
        )
    if any(row.base.measurement.kind == "emulated" for row in rows):
        lines.append("emulated times say nothing about hardware")
    return lines
