"""Runs with the same settings form a group, whose metrics are merged; a group has a short, unique label."""

import dataclasses
import json
import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricmark import results
from fabricmark.base.grouping import grouped
from fabricmark.report import families, run_tables
from fabricmark.results import Measurement, Result
from fabricmark.results.judgement import INVALID
from fabricmark.systems.device_limits import DeviceLimits, Devices

PLAIN = ("kernel", "device", "platform", "host", "launch", "log")  # fields that speak for themselves
MOST_TIMELINES = 6  # a benchmark
VERDICTS_FROM_WORST = (INVALID, "incomplete", "not checked", "valid")


@dataclass(frozen=True)
class Metric:
    """One metric of a group: best of all runs and median of their medians; `of_runs`: each run's own."""

    measurement: Measurement
    row: run_tables.Row
    of_runs: Sequence[Measurement]

    @cached_property
    def values(self) -> list[float]:
        """Of all repetitions of all runs; empty where the raw samples do not say."""
        return [value for entry in self.of_runs for value in results.values(entry) or []]


@dataclass
class Group:
    """Runs that differ in nothing but when they ran.

    `coordinates`: what tells the group from its benchmark's others. `known`: of their device.
    """

    fields: Mapping[str, object]
    runs: list[Result]
    metrics: list[Metric]
    hints: list[str]
    known: DeviceLimits | None = None
    coordinates: dict[str, object] = dataclasses.field(default_factory=dict)

    @property
    def benchmark(self) -> str:
        return self.runs[0].benchmark

    @cached_property
    def label(self) -> str:
        """`throughput kernel, 2 ranks`: as short as it can be without meaning two groups."""
        return ", ".join(field_text(*entry) for entry in self.coordinates.items())

    @property
    def name(self) -> str:
        """`stream, 2 ranks`."""
        return f"{self.benchmark}, {self.label}"

    def verdict(self) -> str:
        """The runs' common verdict, or the worst with how many runs had it."""
        return worst_verdict(Counter(run.verdict() for run in self.runs))

    @cached_property
    def several_names(self) -> bool:
        """Whether the axes alone do not tell the metrics apart."""
        return len({metric.measurement.name for metric in self.metrics}) > 1

    @cached_property
    def condensed(self) -> list[tuple[Metric, int]]:
        """Single metrics, and of each curve its best point with the number of points it stands for."""
        by_identity = {id(metric.measurement): metric for metric in self.metrics}
        chosen = families.condensed([metric.measurement for metric in self.metrics])
        return [(by_identity[id(measurement)], points) for measurement, points in chosen]


def firsts_with(
    key: str, groups: Sequence[Group], what: tuple[str, str]
) -> Iterator[tuple[Group, Result, list[str]]]:
    """(group, its first run whose result has something under `key`, in sentences what is left out), a few.

    `what`: in words one of these things, and all of them.
    """
    having = [(group, [run for run in group.runs if run.document.get(key)]) for group in groups]
    found = [(group, runs) for group, runs in having if runs]
    for number, (group, runs) in enumerate(found[:MOST_TIMELINES], 1):
        more = len(runs) - 1
        left = [f"{more} further runs with these settings have {what[0]}."] if more else []
        if number == MOST_TIMELINES and len(found) > MOST_TIMELINES:
            left.append(f"The {what[1]} of {len(found) - MOST_TIMELINES} further groups are left out.")
        yield group, runs[0], left


def worst_verdict(counts: Counter[str]) -> str:
    """The common verdict of runs, or the worst with how many of them had it."""
    worst = min(counts, key=VERDICTS_FROM_WORST.index)
    return worst if len(counts) == 1 else f"{worst} in {counts[worst]} of {counts.total()}"


def same_names(loaded: Sequence[Result]) -> set[str]:
    """Files of own kernels that stand for several contents."""
    digests: dict[str, set[str]] = {}
    for kernel in filter(None, (result.own_kernel for result in loaded)):
        digests.setdefault(kernel.file, set()).add(kernel.digest)
    return {file for file, found in digests.items() if len(found) > 1}


def fields(result: Result, ambiguous: Collection[str] = ()) -> dict[str, object]:
    """What may tell runs of one benchmark apart, most telling first. `ambiguous`: see `same_names`."""
    run, ranks = result.document["run"], result.document["environment"]["ranks"]
    kind = "" if ranks["kind"] == "single" else f" ({ranks['kind']})"
    own = result.own_kernel
    named = {
        "kernel": result.kernel_name(with_digest=own is not None and own.file in ambiguous),
        "class": run["class"],
        "device": result.device["name"],
        "platform": result.device["platform"],
        "host": result.document["environment"]["host"]["name"],
        "ranks": ranks["count"],
        "launch": kind.strip(" ()"),
        "version": run["version"],
        "sources": run["git"],
    }
    if result.transport_library is not None:  # runs over two of them are never one run's repetitions
        named["transport library"] = str(result.transport_library)
    if result.writer:  # where it was made is unknown: two logs are never one run's repetitions
        named["log"] = "/".join(result.path.absolute().parts[-2:])
    return named | {f"parameter {key}": value for key, value in result.document["parameters"].items()}


def field_text(name: str, value: object) -> str:
    """One word or two of a label."""
    if name == "class":
        return f"{value} run"
    if name == "ranks" and value is None:
        return "ranks unknown"
    if name == "ranks":
        return "1 rank" if value == 1 else f"{value} ranks"
    if name.startswith("parameter "):
        return f"{families.words(name.removeprefix('parameter '))} {families.number_text(value)}"
    return str(value) if name in PLAIN else f"{name} {value}"


def merged(measurements: Sequence[Measurement]) -> Measurement:
    """The same metric of several runs as one: extremes of all, median and mean of the runs' own."""
    if len(measurements) == 1:
        return measurements[0]
    choose = max if measurements[0].better == "higher" else min
    return dataclasses.replace(
        measurements[0],
        best=choose(entry.best for entry in measurements),
        median=statistics.median(entry.median for entry in measurements),
        mean=statistics.fmean(entry.mean for entry in measurements),
        minimum=min(entry.minimum for entry in measurements),
        maximum=max(entry.maximum for entry in measurements),
    )


def _group(settings: Mapping[str, object], runs: list[Result], devices: Devices) -> Group:
    found = devices.of(runs[0])
    every = [entry for run in runs for entry in run.measurements]
    by_metric = grouped(((one.name, tuple(one.axes.items()), one.unit, one.kind), one) for one in every)
    alike = list(by_metric.values())
    measurements = [merged(entries) for entries in alike]
    rows = run_tables.rows(measurements, run_tables.predictions(runs[0], found))
    metrics = [
        Metric(measurement, row, entries)
        for measurement, row, entries in zip(measurements, rows, alike, strict=True)
    ]
    notes = [line.plain for run in runs for line in run_tables.hints(run, found, rows)]
    return Group(settings, runs, metrics, list(dict.fromkeys(notes)), found)


def make(loaded: Sequence[Result]) -> list[Group]:
    """Groups by benchmark, in the order of the files. The time of a metric's model is paid once a group."""
    devices = Devices()
    ambiguous = same_names(loaded)
    settings = [json.dumps(fields(result, ambiguous), sort_keys=True) for result in loaded]
    owners = [(result.benchmark, str(result.path) if result.writer else "") for result in loaded]
    alike = grouped(zip(zip(owners, settings, strict=True), loaded, strict=True))
    made = [_group(fields(runs[0], ambiguous), runs, devices) for runs in alike.values()]
    for benchmark in dict.fromkeys(group.benchmark for group in made):
        assign_coordinates([group for group in made if group.benchmark == benchmark])
    return sorted(made, key=lambda group: group.benchmark)


def assign_coordinates(groups: Sequence[Group]) -> None:
    """Give each group the fields that tell it from the others, leaving out fields that tell nothing more."""
    names = list(dict.fromkeys(name for group in groups for name in group.fields))
    plain = [name for name in names if not name.startswith("parameter ")]
    varied = {name: len({json.dumps(group.fields.get(name)) for group in groups}) for name in names}
    parameters = [name for name in names if name.startswith("parameter ")]
    parameters.sort(key=lambda name: (-varied[name], name != "parameter size", name))
    chosen: list[str] = []
    parts = 1
    for name in plain + parameters:
        if varied[name] == 1:
            continue
        tried = [*chosen, name]
        split = len({json.dumps([group.fields.get(key) for key in tried]) for group in groups})
        if split > parts:
            chosen, parts = tried, split
    for group in groups:
        wanted = chosen or ["kernel", "device"]
        group.coordinates = {key: group.fields[key] for key in wanted if key in group.fields}
