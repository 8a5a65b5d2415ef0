"""Whether the numbers of a result agree with each other: what follows from others is worked out again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fabricmark.base import units

if TYPE_CHECKING:
    from fabricmark.results import Result


def faults(result: Result) -> Iterable[str]:
    """Counts, ranks, outcome and energy that something else in the file contradicts, a sentence each."""
    yield from _of_samples(result)
    yield from _of_ranks(result)
    yield from _of_outcome(result)
    for entry in result.document.get("energy", []):
        yield from _of_energy(entry, result.document["repetitions"]["count"])


def _of_samples(result: Result) -> Iterable[str]:
    count = result.document["repetitions"]["count"]
    for entry in result.measurements:
        found = {len(samples) for samples in entry.per_rank}
        if entry.statistic:
            if {sample for samples in entry.per_rank for sample in samples} != {entry.per_rank[0][0]}:
                yield f"{entry.label}: one {entry.statistic} of all ranks, but several samples"
        elif found and found != {count}:
            yield f"{entry.label}: {max(found)} samples a rank of {count} repetitions"


def _of_ranks(result: Result) -> Iterable[str]:
    ranks = result.document["environment"]["ranks"]
    numbers = [place["rank"] for place in ranks["placement"]]
    if numbers != list(range(ranks["count"])):
        yield f"places of the ranks {numbers}, but the run had {ranks['count']}"
    if ranks["kind"] == "single" and ranks["count"] != 1:
        yield f"{ranks['count']} ranks of a run that had a single one"
    for check in result.document["verdicts"]:
        worst = check["worst"]
        if worst is not None and worst["rank"] >= ranks["count"]:
            yield f"{check['name']}: the worst value is of rank {worst['rank']} of {ranks['count']}"
        repetition, count = check.get("repetition", 0), result.document["repetitions"]["count"]
        if repetition >= count:
            yield f"{check['name']}: the error is of repetition {repetition} of {count}"


def _of_outcome(result: Result) -> Iterable[str]:
    """The exit code follows from the checks."""
    run = result.document["run"]
    statuses = [check["status"] for check in result.document["verdicts"]]
    if run["exit_code"] == 0 and "failed" in statuses:
        yield "exit code 0, but a check failed"
    if run["exit_code"] == 1 and statuses and "failed" not in statuses:
        yield "exit code 1, but no check failed"


def _of_energy(entry: Mapping, repetitions: int) -> Iterable[str]:
    expected = {
        "watts": entry["joules"] / entry["seconds"],
        "joules_per_repetition": entry["joules"] / repetitions,
    }
    for key, value in expected.items():
        if not math.isclose(entry[key], value, rel_tol=units.RELATIVE_TOLERANCE):
            yield f"energy of {entry['domain']}: {key} is given as {entry[key]:g}, the others make {value:g}"
