"""Inner samples: every single time of a timed region that repeats the same thing, and their percentiles."""

import math
import statistics
from collections.abc import Mapping, Sequence

from fabricmark.base import units

PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "largest": 100}


def percentile(ordered: Sequence[float], percent: int) -> float:
    """The smallest of the values that so many percent are not above (nearest rank)."""
    return ordered[max(math.ceil(percent * len(ordered) / 100), 1) - 1]


def inconsistency(entry: Mapping) -> str | None:
    """What in a metric's inner samples disagrees with the rest of it, in words; None when all agrees."""
    inner, given = entry["samples"].get("inner"), entry.get("percentiles")
    if inner is None or given is None:
        return None if inner is given else "inner samples and percentiles only go together"
    scale = units.TIMES.get(entry["unit"])
    if entry["work"] is not None or scale is None or entry["samples"]["unit"] != "s":
        return "only times have percentiles"
    per_rank = entry["samples"]["per_rank"]
    if [len(rank) for rank in inner] != [len(rank) for rank in per_rank]:
        return "inner samples of other ranks or repetitions than the samples"
    for times, sample in zip(
        (times for rank in inner for times in rank), (one for rank in per_rank for one in rank), strict=True
    ):
        mean = statistics.fmean(times)
        if not math.isclose(mean, sample, rel_tol=units.RELATIVE_TOLERANCE):
            return f"a sample is given as {sample:.6g} s, but its inner samples make {mean:.6g} s"
    ordered = sorted(time for rank in inner for times in rank for time in times)
    for key, percent in PERCENTILES.items():
        value = percentile(ordered, percent) * scale
        if not math.isclose(given[key], value, rel_tol=units.RELATIVE_TOLERANCE):
            unit = entry["unit"]
            return f"{key} is given as {given[key]:.6g} {unit}, but the inner samples make {value:.6g} {unit}"
    return None
