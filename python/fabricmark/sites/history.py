"""`fabricmark history`: results in, trends and changes of each metric out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import numpy as np

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import Result, logs
from fabricmark.sites import changes, nights
from fabricmark.sites.changes import Change
from fabricmark.sites.nights import Series
from fabricmark.sites.store import Point, Record, Store, digest_of

SUITE = "fabricmark"
UNKNOWN = (None, "", logs.UNKNOWN)
AROUND = 3  # nights at either side of a change whose environment is compared


def environment_of(result: Result) -> dict[str, str]:
    """What can change beside a metric, by name; what a result does not say is left out."""
    document = result.document
    host, device = document["environment"]["host"], document["environment"]["device"]
    kernel = document["run"].get("kernel") or {}
    found = {
        "kernel": host["kernel"],
        "operating system": host["operating_system"],
        "driver": device["driver"],
        "platform": device["platform_version"],
        "compiler": document["environment"]["toolchain"]["compiler"],
        "build": document["environment"]["toolchain"]["build_type"],
        "MPI": document["environment"]["ranks"]["mpi_library"],
        "version": document["run"]["version"],
        "sources": document["run"]["git"],
        "kernel file": kernel.get("digest"),
        "clock": kernel.get("clock_hz"),
        "tools": kernel.get("tools"),
        "shell": kernel.get("shell"),
    }
    found |= {f"firmware {name}": value for name, value in document.get("firmware", {}).items()}
    found |= {f"${name}": value for name, value in document["environment"]["variables"].items()}
    return {name: str(value) for name, value in found.items() if value not in UNKNOWN}


def record_of(file: Path, night: str | None) -> Record:
    """A result file or a log of another benchmark. Raises FabricmarkError (2) for one that is damaged.

    `night`: its label; None: the day on which it began. A log does not say when: its file does.
    """
    result = logs.load(file)
    try:
        content = paths.content(file)
        written = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OSError as error:
        raise FabricmarkError(f"{file}: cannot be read: {error.strerror}", "give a result file") from error
    started = result.document["run"]["started"] or written
    fault = nights.fault_of(result)
    return Record(
        digest_of(content), night or started[:10], started, result.benchmark, nights.node_of(result),
        result.writer or SUITE, result.document["run"]["version"], str(file), fault, environment_of(result),
        () if fault else nights.series_of(result),
    )  # fmt: skip


def records(files: Iterable[Path], night: str | None, faults: list[str]) -> Iterator[Record]:
    """One a file; why a file is none goes to `faults`."""
    for file in files:
        try:
            yield record_of(file, night)
        except FabricmarkError as error:
            faults.append(str(error))


@dataclass(frozen=True)
class Flagged:
    """A change of a series: in which night, and what changed beside it."""

    change: Change
    night: str
    beside: list[str]


@dataclass(frozen=True)
class Trend:
    """One metric on one node by one tool, oldest value first; `flagged`: its changes."""

    series: Series
    tool: str
    points: list[Point]
    flagged: list[Flagged]

    @property
    def versions(self) -> list[str]:
        return list(dict.fromkeys(point.version for point in self.points))


def trends(store: Store, words: Sequence[str], node: str, tool: str) -> list[Trend]:
    """Of the metrics whose names have all words. Raises FabricmarkError (2) where there is none."""
    points = store.points(words, node, tool)
    if not points:
        asked = " ".join([*words, *(name for name in (node, tool) if name)]) or "any metric"
        raise FabricmarkError(f"{store.path} has no values of {asked}", "see `fabricmark history list`")
    environments = store.environments()
    grouped = groupby(points, key=lambda one: (one.series.metric, one.series.node, one.tool))
    parts = [list(part) for _, part in grouped]
    return [
        Trend(part[0].series, part[0].tool, part, _flagged(part, len(parts), environments)) for part in parts
    ]


def _flagged(
    points: Sequence[Point], series: int, environments: Mapping[str, Mapping[str, str]]
) -> list[Flagged]:
    values = np.log([point.value for point in points])
    made = []
    for change in changes.found(values, series):
        sides = (
            points[max(change.place - AROUND, 0) : change.place],
            points[change.place : change.place + AROUND],
        )
        old, new = ([environments[point.environment] for point in side] for side in sides)
        made.append(Flagged(change, points[change.place].night, changes.beside(old, new)))
    return made
