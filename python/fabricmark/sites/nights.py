"""Nights: the results of one run of the suite over the nodes of a site, and how they become series.

A series is one metric (what `fabricmark compare` takes as one: benchmark, name, axes, conditions) on one
node, or on the nodes that it joined; its value of a night is the median of that night's results.
"""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fabricmark.base.errors import FabricmarkError
from fabricmark.compare import metrics
from fabricmark.results import Result, judgement, logs

BASELINES = "baselines"  # folder within a history, of what `baseline set` has kept
JOINED = "+"  # between the nodes of a pair
MOST_NAMED = 2  # nodes of a run that its label names one by one


@dataclass(frozen=True)
class Series:
    """One metric on one node. `metric`: benchmark, name, axes and conditions as JSON, which tell it apart."""

    metric: str
    node: str
    benchmark: str
    label: str
    unit: str
    better: str

    @property
    def sign(self) -> int:
        return 1 if self.better == "higher" else -1


@dataclass
class Night:
    """`values`: of each series in its unit; `broken`: by benchmark and node, why there is no result;
    `disturbed`: so what the host did while it measured."""

    label: str
    started: str = ""
    values: dict[Series, float] = field(default_factory=dict)
    broken: dict[tuple[str, str], str] = field(default_factory=dict)
    disturbed: dict[tuple[str, str], str] = field(default_factory=dict)


def node_of(result: Result) -> str:
    """`n3`, `n3 device 1`, `n3+n4`, or `4 nodes from n3`: where the ranks ran."""
    document = result.document["environment"]
    places = document["ranks"]["placement"]
    hosts = list(dict.fromkeys(str(place["host"]) for place in places)) or [str(document["host"]["name"])]
    if len(hosts) > MOST_NAMED:
        return f"{len(hosts)} nodes from {hosts[0]}"
    indices = {place["device_index"] for place in places}
    device = f" device {min(indices)}" if len(indices) == 1 and min(indices) > 0 else ""
    return JOINED.join(hosts) + device


def series_of(result: Result) -> list[tuple[Series, float]]:
    """The measured values of a result; those that are not above zero have no ratio and are left out."""
    node, conditions = node_of(result), metrics.conditions(result)
    found = []
    for entry in result.measurements:
        if entry.kind != "measured" or not entry.median > 0:
            continue
        identity = metrics.identity_of(result.benchmark, entry)
        key = json.dumps([identity, conditions], sort_keys=True)
        label = f"{result.benchmark} {entry.label}"
        found.append((Series(key, node, result.benchmark, label, entry.unit, entry.better), entry.median))
    return found


def fault_of(result: Result) -> str:
    """Why a result does not count; "" where it does."""
    if result.verdict() == judgement.INVALID:
        return "results are wrong"
    code = result.document["run"]["exit_code"]
    if code != 0 or not result.document["run"]["complete"]:
        return f"the run failed with exit code {code}" if code else "the run did not end"
    return ""


def gathered(label: str, loaded: Iterable[Result]) -> Night:
    """A night of results."""
    night = Night(label)
    values: dict[Series, list[float]] = {}
    for result in loaded:
        started = result.document["run"]["started"]
        night.started = min(filter(None, (night.started, started)), default="")
        if fault := fault_of(result):
            night.broken[result.benchmark, node_of(result)] = fault
            continue
        if result.disturbances:
            night.disturbed[result.benchmark, node_of(result)] = result.disturbances[0].told
        for series, value in series_of(result):
            values.setdefault(series, []).append(value)
    night.values = {series: statistics.median(each) for series, each in values.items()}
    return night


def tonight(places: Sequence[Path]) -> Night:
    """The results that are judged. Raises FabricmarkError (2), also for a damaged file: none is skipped."""
    files = result_files(places)
    return gathered(", ".join(str(place) for place in places), [logs.load(file) for file in files])


def older(folder: Path, than: Night, leave_out: Sequence[Path]) -> tuple[list[Night], list[str]]:
    """The nights of a history that began before another one, oldest first, and what could not be read.

    A night is a folder of results in `folder`, or what lies there of one day. `leave_out`: files and folders
    that are judged, and so are no history.
    """
    if not folder.is_dir():
        raise FabricmarkError(f"there is no history in {folder}", "name a folder of nights by --history")
    away = {place.resolve() for place in leave_out}
    found, faults = [], []
    for part in [
        folder,
        *sorted(each for each in folder.iterdir() if each.is_dir() and each.name != BASELINES),
    ]:
        if part.resolve() in away:
            continue
        loaded = []
        for file in _files_in(part) if part == folder else _files_in(part, *_below(part)):
            if file.resolve() not in away:
                try:
                    loaded.append(logs.load(file))
                except FabricmarkError as error:
                    faults.append(str(error))
        if loaded:
            found += by_day(loaded) if part == folder else [gathered(part.name, loaded)]
    found = [night for night in found if not than.started or night.started < than.started]
    return sorted(found, key=lambda night: (night.started, night.label)), faults


def result_files(places: Sequence[Path]) -> list[Path]:
    """Result files and logs among files and folders; of a folder without any, those below it, as those of
    each node. Raises FabricmarkError (2) where a place has none.
    """
    found: list[Path] = []
    for place in places:
        deep = place.is_dir() and not logs.has_results(place)
        found += (_files_in(*_below(place)) if deep else []) or logs.find_files([place])
    return list(dict.fromkeys(found))


def files_below(places: Iterable[Path]) -> list[Path]:
    """Result files and logs of folders and all that lies below these. Raises FabricmarkError (2) for none."""
    found: list[Path] = []
    for place in places:
        found += _files_in(place, *_below(place)) if place.is_dir() else logs.find_files([place])
    if not found:
        raise FabricmarkError("there are no results to import", "name result files or folders of them")
    return list(dict.fromkeys(found))


def _below(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_dir() and each.name != BASELINES)


def _files_in(*folders: Path) -> list[Path]:
    return [file for one in folders if logs.has_results(one) for file in logs.find_files([one])]


def by_day(loaded: Sequence[Result]) -> list[Night]:
    """Results that lie in one folder, by the day on which they began."""
    days: dict[str, list[Result]] = {}
    for result in loaded:
        days.setdefault(result.document["run"]["started"][:10] or "undated", []).append(result)
    return [gathered(day, each) for day, each in days.items()]


def matrix(nights: Sequence[Night], series: Sequence[Series]) -> np.ndarray:
    """Logarithms of the values (series x nights), larger is better; NaN where a night has none."""
    made = np.full((len(series), len(nights)), np.nan)
    for column, night in enumerate(nights):
        for row, one in enumerate(series):
            value = night.values.get(one)
            if value is not None:
                made[row, column] = one.sign * np.log(value)
    return made
