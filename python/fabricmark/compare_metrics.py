"""The metrics of a comparison: which figures have a ratio, and how their runs lie in time."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from fabricmark import results
from fabricmark.results import Measurement, Result

SMALLEST_PAIRED = 5  # pairs; with fewer the lost degrees of freedom weigh more than the shared drift


@dataclass(frozen=True)
class Run:
    """One metric's figure in one run; `samples` are the values of its repetitions in the metric's unit."""

    started: str
    samples: np.ndarray


@dataclass
class Metric:
    """All runs of one side of one metric."""

    measurement: Measurement
    benchmark: str
    conditions: Mapping[str, object]
    runs: list[Run] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"{self.benchmark} {self.measurement.label}"

    def values(self) -> list[np.ndarray]:
        return [run.samples for run in self.runs]


def conditions(result: Result) -> dict[str, object]:
    """What must be equal for two figures to be compared; the names are those of --ignore."""
    document = result.document
    ranks = document["environment"]["ranks"]
    return {
        "variant": document["run"]["variant"],
        "class": document["run"]["class"],
        "device": result.device["name"],
        "platform": result.device["platform"],
        "processor": document["environment"]["host"]["cpu"],
        "ranks": ranks["count"],
        "ranks-kind": ranks["kind"],
        **{key: value for key, value in document["parameters"].items()},
    }


def samples_of(measurement: Measurement) -> np.ndarray:
    """Values of the repetitions; a figure without raw samples counts as a run of one."""
    repetitions = results.values(measurement) if measurement.per_rank else None
    return np.array(repetitions or [measurement.median], dtype=float)


def collect(side: Sequence[Result], ignore: Collection[str]) -> dict[str, Metric]:
    """The metrics of one side by a key that holds all that must be equal; runs in order of time."""
    metrics: dict[str, Metric] = {}
    for result in sorted(
        side, key=lambda each: each.document["run"]["started"]
    ):  # stable: times may be equal
        kept = {key: value for key, value in conditions(result).items() if key not in ignore}
        for measurement in result.measurements:
            identity = [*identity_of(result.benchmark, measurement), measurement.kind]
            key = json.dumps([identity, kept], sort_keys=True)
            metric = metrics.setdefault(key, Metric(measurement, result.benchmark, kept))
            metric.runs.append(Run(result.document["run"]["started"], samples_of(measurement)))
    return metrics


def identity_of(benchmark: str, measurement: Measurement) -> list[object]:
    """What a figure is called, whatever it was measured on."""
    return [benchmark, measurement.name, dict(measurement.axes), measurement.unit, measurement.better]


def refusals(base: Mapping[str, Metric], new: Mapping[str, Metric]) -> list[str]:
    """One line for each metric that one side has alone, naming what differs from its nearest of the other."""
    lines = []
    for ours, theirs, side in ((base, new, "base"), (new, base, "new")):
        for key in ours.keys() - theirs.keys():
            metric = ours[key]
            name = identity_of(metric.benchmark, metric.measurement)
            alike = [
                other for other_key, other in theirs.items()
                if other_key not in ours and identity_of(other.benchmark, other.measurement) == name
            ]  # fmt: skip
            if not alike:
                lines.append(f"{metric.label}: only in the {side} runs with these conditions")
            elif side == "base":  # the other side's line would say the same
                lines.append(f"{metric.label}: {min((_differences(metric, o) for o in alike), key=len)}")
    return sorted(set(lines))


def _differences(base: Metric, new: Metric) -> str:
    kinds = (base.measurement.kind, new.measurement.kind)
    if kinds[0] != kinds[1]:
        return f"{kinds[0]} and {kinds[1]} figures are never compared"
    names = sorted(base.conditions.keys() | new.conditions.keys())
    both = [(name, base.conditions.get(name, "absent"), new.conditions.get(name, "absent")) for name in names]
    told = [f"{name} differs ({one} / {other})" for name, one, other in both if one != other]
    return ", ".join(told) + " (--ignore to compare nevertheless)"


def in_turns(base: Metric, new: Metric) -> bool:
    """Whether run i of both sides came before run i + 1 of either: neighbours share the machine's mood."""
    if len(base.runs) != len(new.runs) or len(base.runs) < SMALLEST_PAIRED:
        return False
    pairs = [sorted((ours.started, theirs.started)) for ours, theirs in zip(base.runs, new.runs, strict=True)]
    return all(before[1] <= after[0] for before, after in pairwise(pairs)) and not one_after_the_other(
        base, new
    )


def one_after_the_other(base: Metric, new: Metric) -> bool:
    """Whether all runs of one side are older than all of the other."""
    times = [[run.started for run in side.runs] for side in (base, new)]
    return max(times[0]) < min(times[1]) or max(times[1]) < min(times[0])
