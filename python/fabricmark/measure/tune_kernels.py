"""`fabricmark tune --kernels`: the fastest values of kernels' parameters on this machine's devices.

A kernel.toml says which parameters of a kind of kernel are tuned, and among which values. They are tried in
turns, one parameter after the other; later runs take what was kept where nothing else says the value.
"""

import contextlib
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fabricmark import models, results
from fabricmark.base import kernels, paths, terminal
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known
from fabricmark.base.schema import first_fault
from fabricmark.base.terminal import Column
from fabricmark.measure import launch, running, tune
from fabricmark.measure.short_runs import options, usual_run
from fabricmark.results import Measurement
from fabricmark.systems import calibration

SCHEMA_FILE = "kernel-tuning-1"
ROUNDS = 4  # in which each value has a run, unless it is behind
BEHIND, FAR_BEHIND = 0.9, 0.5  # of the best so far, in two rounds or in one: such a value gets no further run
CLEARLY = 1.02  # by which another value must be faster than the one that there is, in most rounds
MOSTLY = 0.75  # of the rounds that both had
MOST_PASSES = 2  # over the parameters: what one of them is best with depends on the others
SHORT = ("--warmup", "1", "--repetitions", "3")
UNCHECKED = "--skip-validation"
Values = Mapping[str, object]


@dataclass(frozen=True)
class Wanted:
    """Benchmarks, or `all` that have something to tune; options for their programs."""

    benchmarks: tuple[str, ...]
    runtime: str
    extra: tuple[str, ...]


@dataclass
class Search:
    """Runs of one kernel on one device: `fixed` options, and what each choice of values has reached."""

    job: launch.Job
    variant: str
    place: Path
    tried: dict[tuple, list[float]] = field(default_factory=dict)
    runs: int = 0
    last: results.Result | None = None
    metric: Measurement | None = None

    def run(self, values: Values, *more: str) -> results.Result:
        """Raises FabricmarkError: with the program's exit code where it fails, or its result is not valid."""
        words = ("--variant", self.variant, *SHORT, *options(values), *more, *self.job.extra)
        job = launch.Job(self.job.benchmark, self.job.runtime, self.job.device, 1, None, self.place, words)
        self.runs += 1
        code, path = launch.start(job, self.place / f"{self.runs}.json", quiet=True)
        if code or not path.is_file():
            cause = f"fm_{job.benchmark} {' '.join(options(values))} ended with exit code {code}"
            raise FabricmarkError(cause, "see its line above", code or ENVIRONMENT)
        return results.load(path)

    def measure(self, values: Values) -> float:
        """The headline metric of a run, so that larger is better."""
        self.last = self.run(values, UNCHECKED)
        traits = models.traits(self.job.benchmark)
        found = self.last.measurements
        self.metric = next((one for one in found if traits.is_headline(one)), found[0])
        self.tried.setdefault(tuple(values.items()), []).append(self.metric.best)
        return self.metric.best if self.metric.better == "higher" else 1 / self.metric.best

    def fastest(self, choices: Sequence[Values]) -> tuple[Values, float]:
        """The choice with the best median, and how many times as fast as the first one it is.

        It is the first one where no other is clearly faster.
        """
        reached: list[list[float]] = [[] for _ in choices]
        left = list(range(len(choices)))
        for number in range(ROUNDS):
            for one in left:
                reached[one].append(self.measure(choices[one]))
            least = max(map(max, reached)) * (BEHIND if number else FAR_BEHIND)
            left = [one for one in left if one == 0 or max(reached[one]) >= least]
        medians = [statistics.median(some) for some in reached]
        best = max(left, key=lambda one: medians[one])
        won = sum(new > old for new, old in zip(reached[best], reached[0], strict=True))
        if medians[best] > CLEARLY * medians[0] and won >= MOSTLY * ROUNDS:
            return choices[best], medians[best] / medians[0]
        return choices[0], 1.0

    def best_of(self, start: Values, name: str, among: Sequence) -> object:
        """The value of one parameter; that of `start` where no other is clearly faster."""
        others = [value for value in among if value != start[name]]
        return self.fastest([start, *({**start, name: value} for value in others)])[0][name]


def folder() -> Path:
    """Where the values are kept, a file for each benchmark."""
    return tune.folder() / "kernels"


def tunable(name: str) -> Mapping[str, Mapping[str, Mapping[str, Sequence]]]:
    """By variant, parameter and class of devices the values that are tried."""
    return {
        variant: said["tuned"] for variant, said in kernels.kernel(name).variants.items() if said["tuned"]
    }


def chosen(wanted: Wanted) -> list[str]:
    """Raises FabricmarkError (2) for what is no benchmark, or has nothing to tune."""
    every = [name for name in kernels.benchmark_names() if tunable(name)]
    if wanted.benchmarks == (running.ALL,):
        return every
    for name in wanted.benchmarks:
        kernels.check_benchmark(name)
        check_known(name, every, f"{name} has no parameters to tune")
    return list(wanted.benchmarks)


def run(wanted: Wanted) -> list[tuple[str, dict]]:
    """Try all: benchmarks with the entries that were kept. Raises FabricmarkError (2, 3, or a run's)."""
    running.refuse_result_file(wanted.extra)
    if running.chooses_device(wanted.extra):
        raise FabricmarkError("tune goes over all devices of a runtime", "leave --platform and --device out")
    names = chosen(wanted)
    found = []
    for runtime, device in running.each_real_device(wanted.runtime):
        for name in names:
            for entry in _tuned(name, runtime, device, wanted.extra):
                _keep(name, entry)
                found.append((name, entry))
    return found


def _lists(name: str, variant: str, device: Mapping, given: Mapping) -> dict[str, Sequence]:
    """By parameter the values that are tried, of those that the options do not say."""
    return {
        parameter: classes[device["class"]]
        for parameter, classes in tunable(name)[variant].items()
        if device["class"] in classes and kernels.option(parameter) not in given
    }


def _tuned(name: str, runtime: str, device: Mapping, extra: Sequence[str]) -> Iterator[dict]:
    """The entry of each kind of kernel that has something tuned on the device, or of that of the options."""
    given = kernels.options(extra)
    for variant in tunable(name):
        lists = _lists(name, variant, device, given)
        if lists and given.get("--variant", variant) == variant:
            at = {
                parameter: values[device["class"]]
                for parameter, values in kernels.kernel(name).variants[variant]["tuned_at"].items()
                if device["class"] in values and kernels.option(parameter) not in given
            }
            words = (*options(at), *_without(extra, "--variant"))
            job = launch.Job(name, runtime, device, 1, None, Path(), words)
            yield _searched(job, variant, lists)


def _searched(job: launch.Job, variant: str, lists: Mapping[str, Sequence]) -> dict:
    (usual,) = kernels.ask([usual_run(job.benchmark, job.device or {}, variant)])
    start = {parameter: usual["parameters"][parameter] for parameter in lists}
    best = dict(start)
    with tempfile.TemporaryDirectory(prefix="fabricmark-") as place:
        search = Search(job, variant, Path(place))
        for _ in range(MOST_PASSES):
            before = dict(best)
            for parameter, among in lists.items():
                best[parameter] = search.best_of(best, parameter, among)
            if best == before:
                break
        # Once more beside each other: much else may have gone on between the first run and the last one.
        kept, gain = search.fastest([start, best]) if best != start else (start, 1.0)
        search.run(kept)  # what is kept has to be right, too
    return {**_entry(search, kept), "gain": round(gain, 3)}


def _without(words: Sequence[str], option: str) -> Iterator[str]:
    left = iter(words)
    for word in left:
        if word == option:
            next(left, None)
        elif not word.startswith(option + "="):
            yield word


def _entry(search: Search, best: Values) -> dict:
    assert search.last is not None and search.metric is not None
    device = search.job.device or {}
    return {
        "variant": search.variant,
        "data_type": str(search.last.document["parameters"].get("data_type", "")),
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "host": {"cpu": calibration.processor()},
        "device": {"name": device["name"], "driver": device["driver"]},
        "parameters": dict(best),
        "metric": {
            "name": search.metric.name,
            "unit": search.metric.unit,
            "better": search.metric.better,
        },
        "tried": [{"parameters": dict(values), "values": some} for values, some in search.tried.items()],
    }


def _same_place(one: Mapping, other: Mapping) -> bool:
    return all(one[key] == other[key] for key in ("variant", "data_type", "host", "device"))


def _keep(name: str, entry: Mapping) -> None:
    """Write it in place of what was kept for the same kernel and device."""
    path = folder() / f"{name}.json"
    others = [one for one in _read(path) if not _same_place(one, entry)]
    document = {"schema": "fabricmark-kernel-tuning/1", "benchmark": name, "kernels": [*others, entry]}
    paths.make_folder(path.parent)
    paths.write_atomically(path, json.dumps(document, indent=2) + "\n")


def _read(path: Path) -> list[dict]:
    """The entries of a file; none of one that is missing or damaged."""
    with contextlib.suppress(OSError, ValueError):
        document = json.loads(path.read_text(encoding="utf-8"))
        if not first_fault(SCHEMA_FILE, document):
            return document["kernels"]
    return []


def known() -> list[tuple[str, dict]]:
    """What is kept for this processor; damaged files are left out."""
    return [
        (path.stem, entry) for path in sorted(folder().glob("*.json"))
        for entry in _read(path) if entry["host"]["cpu"] == calibration.processor()
    ]  # fmt: skip


def show(found: Sequence[tuple[str, Mapping]]) -> None:
    """A line for each kernel and device."""
    rows = [
        [
            name, entry["variant"], entry["data_type"], entry["device"]["name"],
            ", ".join(f"{key} = {kernels.text(value)}" for key, value in entry["parameters"].items()),
            f"{entry['gain']:.2f}", entry["created"][:19],
        ]
        for name, entry in found
    ]  # fmt: skip
    columns = [
        Column("benchmark", key=True), Column("kernel"), Column("type"), Column("device", prose=True),
        Column("fastest", prose=True), Column("of default", right=True), Column("measured"),
    ]  # fmt: skip
    terminal.show(terminal.console(), columns, rows)
