"""Whether `fabricmark compare` and `ab` find what is there and only that, on this machine as it is.

Equal builds have to come out as the same, injected delays as worse. Takes many minutes on a busy machine, so
it only runs when it is named: `make bench BENCH_OPTIONS=compare`.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from common import Row, Settings, program
from fabricmark import results
from fabricmark.compare import ab
from fabricmark.compare.comparison import Comparison
from fabricmark.compare.comparison import Settings as Thresholds
from fabricmark.compare.comparison import compare as fabricmark_compare

ONLY_WHEN_NAMED = True
COMPARISONS = 20
BAR = 19
# Short repetitions on purpose, of 2 to 5 ms, so that a run is over in a fraction of a second. Shorter ones
# (0.5 ms, size 1000000) are no measure of this: runs of PoCL then differ by a factor of two, presumably by
# whether the second core wakes up in time.
BANDWIDTH = "--size 4000000 --repetitions 10 --skip-validation"
# Timed regions of some 80 us. In shorter ones (12 us) an injected wait of 5 % makes them a third longer on
# PoCL (its threads presumably fall asleep meanwhile): that would be found too easily. One replication, for
# with two a region ends when the later of two threads has woken up: 5 % of it may stay unclear for 128 pairs.
LATENCY = "--size 100000 --replications 1 --repetitions 300 --skip-validation"
BANDWIDTH_LOOKS = ab.looks(16, until_clear=True, most=128)
LATENCY_LOOKS = ab.looks(16, until_clear=True, most=128)


@dataclass(frozen=True)
class Verdicts:
    """What `ab` says, and `compare` of the files that it left."""

    ab: str
    files: str


def summed_up(found: Comparison) -> str:
    """`worse` or `better` when any metric is, else `unclear` when any metric is, else `same`."""
    verdicts = {row.verdict for row in found.rows}
    return next(name for name in ("worse", "better", "unclear", "same") if name in verdicts)


def verdict(
    options: str,
    delays: tuple[str, str],
    looks: list[int],
    metrics: list[str],
    threshold: float,
    runtime: str,
) -> Verdicts:
    """One comparison of a program with itself, B delayed, by `ab`, and what `compare` says of its files."""
    stream = shlex.quote(program("fm_stream"))
    commands = [f"{stream} {options}" + (f" --inject-delay {delay}" if delay else "") for delay in delays]
    with tempfile.TemporaryDirectory() as folder:
        plan = ab.plan(commands, looks, metrics, Path(folder), runtime)
        found = ab.run_pairs(plan, Thresholds(threshold=threshold))
        sides = [
            [ab.chosen(results.load(file), metrics) for file in sorted((plan.folder / side).glob("*.json"))]
            for side in ab.SIDES
        ]
        files = fabricmark_compare(*sides, Thresholds(threshold=threshold))
    told = Verdicts(summed_up(found), summed_up(files))
    pairs = max(len(row.base.runs) for row in found.rows)
    ratios = " ".join(f"{row.ratio:.3f}" for row in found.rows)
    print(
        f"compare: delays {delays}: {told.ab}, files {told.files} after {pairs} pairs, ratios {ratios}",
        file=sys.stderr,
    )
    return told


def count(what: str, wanted: str, comparisons: int, *arguments) -> list[Row]:
    """Two rows: how many of the comparisons ended as wanted, by `ab` and by `compare`."""
    verdicts = [verdict(*arguments) for _ in range(comparisons)]
    bar = BAR * comparisons // COMPARISONS
    rows = []
    for by in ("ab", "files"):
        told = [getattr(one, by) for one in verdicts]
        reached = told.count(wanted)
        spread = ", ".join(f"{told.count(name)} {name}" for name in sorted(set(told)))
        heading = f"{what}, {'ab' if by == 'ab' else 'compare'}: called {wanted}"
        rows.append(Row(heading, reached, spread, f">= {bar} of {comparisons}", reached >= bar))
    return rows


def compare(settings: Settings) -> list[Row]:
    """Two rows for each of four kinds of pairs, on the first of the runtimes."""
    bandwidth = (BANDWIDTH_LOOKS, [], 0.05, settings.runtimes[0])
    latency = (LATENCY_LOOKS, ["bandwidth,operation=copy"], 0.02, settings.runtimes[0])
    return [
        *count("equal builds, six bandwidths", "same", COMPARISONS, BANDWIDTH, ("", ""), *bandwidth),
        *count("10 % delay, six bandwidths", "worse", COMPARISONS, BANDWIDTH, ("", "10%"), *bandwidth),
        *count("equal, one latency", "same", COMPARISONS // 2, LATENCY, ("", ""), *latency),
        *count("5 % delay, one latency", "worse", COMPARISONS // 2, LATENCY, ("", "5%"), *latency),
    ]
