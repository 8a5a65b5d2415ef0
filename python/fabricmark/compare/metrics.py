"""The metrics of a comparison: which have a ratio, and how their runs lie in time."""

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
    """One metric's value in one run; `samples` are the values of its repetitions in the metric's unit."""

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
    """What must be equal for two metrics to be compared; the names are those of --ignore."""
    document = result.document
    ranks = document["environment"]["ranks"]
    return {
        "variant": document["run"]["variant"],
        "kernel": kernel_text(result),
        "class": document["run"]["class"],
        "device": result.device["name"],
        "platform": result.device["platform"],
        "processor": document["environment"]["host"]["cpu"],
        "ranks": ranks["count"],
        "ranks-kind": ranks["kind"],
        **({"transport-library": str(own)} if (own := result.transport_library) else {}),
        **{key: value for key, value in document["parameters"].items()},
    }


def kernel_text(result: Result) -> str:
    """The user's own kernel by name and content; those of the suite are one, whatever their version."""
    if result.own_kernel is not None:
        return str(result.own_kernel)
    return "the suite's" if result.document["run"]["class"] == "base" else "unknown"


def samples_of(measurement: Measurement) -> np.ndarray:
    """Values of the repetitions; a metric without raw samples counts as a run of one."""
    repetitions = results.values(measurement) if measurement.per_rank else None
    return np.array(repetitions or [measurement.median], dtype=float)


def collect(side: Sequence[Result], ignore: Mapping[str, Collection[str]]) -> dict[str, Metric]:
    """The metrics of one side by a key that holds all that must be equal; runs in order of time.

    `ignore`: by benchmark, the conditions that may differ.
    """
    metrics: dict[str, Metric] = {}
    for result in sorted(
        side, key=lambda each: each.document["run"]["started"]
    ):  # stable: times may be equal
        kept = {
            key: value for key, value in conditions(result).items() if key not in ignore[result.benchmark]
        }
        for measurement in result.measurements:
            identity = [*identity_of(result.benchmark, measurement), measurement.kind]
            key = json.dumps([identity, kept], sort_keys=True)
            metric = metrics.setdefault(key, Metric(measurement, result.benchmark, kept))
            metric.runs.append(Run(result.document["run"]["started"], samples_of(measurement)))
    return metrics


def identity_of(benchmark: str, measurement: Measurement) -> list[object]:
    """What a metric is called, whatever it was measured on."""
    return [benchmark, measurement.name, dict(measurement.axes), measurement.unit, measurement.better]


@dataclass(frozen=True)
class Refusal:
    """Why a metric is not compared, and what would have it compared."""

    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.cause}; {self.remedy}"


def refusals(base: Mapping[str, Metric], new: Mapping[str, Metric]) -> list[Refusal]:
    """One for each metric that one side has alone, naming what differs from its nearest of the other."""
    found = {}
    for ours, theirs, side in ((base, new, "base"), (new, base, "new")):
        there = {metric.benchmark for metric in theirs.values()}
        for key in ours.keys() - theirs.keys():
            metric = ours[key]
            if metric.benchmark not in there:  # one line for all of its metrics
                cause = f"the benchmark {metric.benchmark}: only in the {side} runs"
                other = f", the others are of {', '.join(sorted(there))}" if there else ""
                found[f" {metric.benchmark}"] = Refusal(cause + other, "run it for both sides")
                continue
            name = identity_of(metric.benchmark, metric.measurement)
            alike = [
                other for other_key, other in theirs.items()
                if other_key not in ours and identity_of(other.benchmark, other.measurement) == name
            ]  # fmt: skip
            if not alike:
                kind = metric.measurement.kind
                name = metric.label if kind == "measured" else f"{metric.label} ({kind})"
                cause = f"{name}: only in the {side} runs with these conditions"
                found[name] = Refusal(cause, "run it for both sides")
            elif side == "base":  # the other side's line would say the same
                nearest = min((_differences(metric, other) for other in alike), key=len)
                found[metric.label] = _refusal(metric, nearest)
    return [found[label] for label in sorted(found)]


def _differences(base: Metric, new: Metric) -> dict[str, str]:
    """The conditions that differ, in words."""
    names = {name: None for name in [*base.conditions, *new.conditions]}
    both = {name: (base.conditions.get(name, "absent"), new.conditions.get(name, "absent")) for name in names}
    found = {name: f"{name} differs ({one} / {other})" for name, (one, other) in both.items() if one != other}
    kinds = (base.measurement.kind, new.measurement.kind)
    if kinds[0] != kinds[1]:
        return {"kind": f"{kinds[0]} and {kinds[1]} metrics are never compared", **found}
    return found


def _refusal(metric: Metric, differences: Mapping[str, str]) -> Refusal:
    if "kind" in differences:
        return Refusal(f"{metric.label}: {differences['kind']}", "compare runs of one kind")
    allow = f"make them equal, or allow it: --ignore {','.join(differences)}"
    return Refusal(f"{metric.label}: {', '.join(differences.values())}", allow)


def allowed(
    base: Sequence[Result], new: Sequence[Result], ignore: Mapping[str, Collection[str]]
) -> list[str]:
    """What differs between the sides and may, in words: `kernel (the suite's / mine.cl (0123abcd))`."""
    found: dict[str, None] = {}
    for benchmark, names in ignore.items():
        sides = [
            [conditions(result) for result in side if result.benchmark == benchmark] for side in (base, new)
        ]
        for name in sorted(names):
            values = [sorted({str(each[name]) for each in side if name in each}) for side in sides]
            if values[0] != values[1]:
                found[f"{name} ({' / '.join(', '.join(side) or 'absent' for side in values)})"] = None
    return list(found)


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
