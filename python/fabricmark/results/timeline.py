"""Modelled timelines: who computed and who waited for whom, as programs write them in modelled time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fabricmark.base.schema import first_fault

SCHEMA = "fabricmark-timeline/1"
ENDING = ".timeline.json"  # of a timeline that lies beside results
PROPERTY = "modelled_timeline"  # of result files


class Activity(NamedTuple):
    """One or several equal activities from `start` to `end` [s], which took `busy` [s] of that."""

    start: float
    end: float
    busy: float
    count: int


@dataclass(frozen=True)
class Series:
    """Activities that differ in nothing but their times, in their order."""

    device: int
    lane: str
    kind: str
    what: str
    whom: str
    activities: Sequence[Activity]

    @property
    def seconds(self) -> float:
        """How long all took together [s]."""
        return math.fsum(activity.busy for activity in self.activities)

    @property
    def is_wait(self) -> bool:
        return self.kind.startswith("wait-")


@dataclass(frozen=True)
class Timeline:
    """One timeline, already checked. `title` is empty for that of a result file, which says what was run."""

    path: Path
    program: str
    title: str
    resolution: float
    left_out: int
    series: Sequence[Series]


def made(path: Path, document: Mapping) -> Timeline:
    """The timeline of a document without fault."""
    series = [
        Series(**{**entry, "activities": [Activity(*values) for values in entry["activities"]]})
        for entry in document["series"]
    ]
    left_out = document["left_out"]["count"]
    return Timeline(path, document["program"], document["title"], document["resolution"], left_out, series)


def first_fault_of(document: object) -> tuple[str, str] | None:
    """What is wrong with a document: (key, sentence); None where nothing is."""
    fault = first_fault("timeline-1", document)
    if fault:
        return fault
    for number, entry in enumerate(document["series"]):
        last = -math.inf
        for place, (start, end, busy, _) in enumerate(entry["activities"]):
            key = f"series[{number}].activities[{place}]"
            if end < start:
                return key, f"it ends at {end:g} s, before it begins at {start:g} s"
            if start < last:
                return key, f"it begins at {start:g} s, before the one before it ends at {last:g} s"
            if busy == 0:
                return key, "it took no time"
            last = end
    return None
