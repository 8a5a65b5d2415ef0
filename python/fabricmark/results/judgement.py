"""Whether a result is valid, judged from its numbers: what a file says of itself is not taken on trust."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fabricmark import models
from fabricmark.base import units
from fabricmark.results import agreement

if TYPE_CHECKING:
    from fabricmark.results import Result

INVALID = "INVALID"


def verdict(result: Result) -> str:
    """`valid`, `INVALID` (a check failed or a number contradicts the file), `not checked` or `incomplete`."""
    run = result.document["run"]
    statuses = {check["status"] for check in result.document["verdicts"]}
    if "failed" in statuses or run["exit_code"] == 1 or result.contradictions:
        return INVALID
    if not run["complete"] or run["exit_code"] != 0:
        return "incomplete"
    return "valid" if statuses == {"passed"} else "not checked"


def contradictions(result: Result) -> list[str]:
    """Why the numbers of a file do not bear out what it says of itself, a sentence each."""
    found = [reason for check in result.document["verdicts"] for reason in _of_check(check)]
    if result.writer:  # a log has no samples
        return found
    return [*found, *agreement.faults(result), *_of_derived(result)]


def _of_check(check: Mapping) -> Iterable[str]:
    if check["status"] != "passed":
        return
    error, threshold, name = check["error"], check["threshold"], check["name"]
    if error is None or threshold is None:
        yield f"{name}: said to have passed without an error and a threshold"
    elif not abs(float(error)) <= float(threshold):  # texts where they are not finite
        found = f"{check['measure']} {float(error):g}"
        yield f"{name}: said to have passed, but {found} is above {float(threshold):g}"
    if check["checked"] < 1:
        yield f"{name}: said to have passed, but no value was compared"


def _of_derived(result: Result) -> Iterable[str]:
    """Metrics without samples: those that follow from others are worked out again, others need samples."""
    derived = [entry for entry in result.measurements if not entry.per_rank]
    if not derived:
        return
    if len(derived) == len(result.measurements):
        yield "no metric has samples"
        return
    units_of_samples = {entry.unit for entry in result.measurements if entry.per_rank}
    known = {kind: _worked_out(result, kind) for kind in {entry.kind for entry in derived}}
    for entry in derived:
        expected = known[entry.kind].get((entry.name, *entry.axes.values()))
        if expected is None:
            if units.is_time_or_rate(entry.unit):
                yield f"{entry.label}: has no samples and does not follow from the other metrics"
            continue
        if entry.unit not in units_of_samples | units.SHARES or entry.samples_unit != "s":
            yield f"{entry.label}: in {entry.unit}, which the metrics that it follows from are not in"
        best, median = expected
        every = {"best": best, "median": median, "mean": median}
        every |= {"minimum": min(best, median), "maximum": max(best, median)}
        for key, value in every.items():
            if not math.isclose(getattr(entry, key), value, rel_tol=units.RELATIVE_TOLERANCE):
                said = f"{key} is given as {getattr(entry, key):.6g} {entry.unit}"
                yield f"{entry.label}: {said}, but the other metrics make {value:.6g} {entry.unit}"


def _worked_out(result: Result, kind: str) -> Mapping[tuple, tuple[float, float]]:
    """The metrics that follow from those of one kind of time; times of different kinds make no metric."""
    rule = getattr(models.find(result.benchmark), "derived", None)
    try:
        return (
            rule([entry for entry in result.measurements if entry.per_rank and entry.kind == kind])
            if rule
            else {}
        )
    except (LookupError, ValueError, ArithmeticError):
        return {}
