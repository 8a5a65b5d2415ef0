"""This build against another build of this project: the runs of the cases, interleaved."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
from common import OWN_BUILD, Row, Settings, programs_of
from fabricmark.compare.resampling import Sides, estimate

CONFIDENCE = 0.95
BAR = 0.97  # no interval may lie below it as a whole

Rates = dict[str, float]


def in_turns(measure: Callable[[], Rates], other: Path, pairs: int) -> tuple[list[Rates], list[Rates]]:
    """Rates of this build and of the other, pair by pair; each is first in every second one."""
    rates: dict[Path, list[Rates]] = {OWN_BUILD: [], other: []}
    for pair in range(pairs):
        for build in (OWN_BUILD, other) if pair % 2 else (other, OWN_BUILD):
            with programs_of(build):
                rates[build].append(measure())
    return rates[OWN_BUILD], rates[other]


def ratio_row(what: str, ours: list[float], theirs: list[float]) -> Row:
    """Ours over theirs with its interval; reached unless all of that lies below the bar."""
    base, new = ([np.array([math.log(rate)]) for rate in rates] for rates in (theirs, ours))
    found = estimate(Sides(base=base, new=new, paired=True), "median")
    low, high = map(math.exp, found.interval(CONFIDENCE))
    return Row(
        what=what,
        value=math.exp(found.effect),
        spread=f"[{low:.3f}, {high:.3f}] {CONFIDENCE:.0%}, {len(ours)} pairs",
        bar=f"not below {BAR:.2f}",
        reached=high >= BAR,
    )


def compare(cases: dict[str, ModuleType], settings: Settings, other: Path) -> list[Row]:
    """A row for each rate of each run of the cases that say what they run, on every runtime.

    `other`: a build folder of this project, with its programs in bin/, which read the kernels of their own
    sources. Ends this program with one line where there is none.
    """
    if not any(other.glob("bin/fm_*")):
        sys.exit(f"bench: error: {other} has no bin/fm_*; give the folder of a build, as build/release is")
    rows = []
    for name, case in cases.items():
        for runtime in settings.runtimes:
            for label, measure in getattr(case, "own_runs", lambda _runtime: {})(runtime).items():
                ours, theirs = in_turns(measure, other, settings.pairs)
                for rate in ours[0]:
                    what = f"{name} on {runtime}: {label}, {rate}"
                    row = ratio_row(what, [r[rate] for r in ours], [r[rate] for r in theirs])
                    print(f"bench: {what}: {row.value:.3f} {row.spread}", file=sys.stderr)
                    rows.append(row)
    return rows
