"""What transports choose by themselves, between 2 ranks in one process and in two: against naive staging
(whole messages, each rank with staging memory of its own), and against the best one that could be forced.

A run of `fm_tune --check` has all protocols take turns, through shared staging memory too, and beside them
what a program would take here, cached or measured at its start. Protocols that take half as long again leave
after the first rounds. Runs are repeated, as one may choose otherwise than another. Ratios are those of a
round; their interval knows how much runs differ from each other.
"""

from __future__ import annotations

import json
import math
import statistics
import sys

import numpy as np
from common import Row, Settings, mpirun, program, run_program, runtime_variables
from fabricmark.compare.resampling import Sides, estimate

ONLY_WHEN_NAMED = True  # minutes; the machine that matters is one with a GPU
ROUNDS = 8
LARGEST = "64MiB"
CONFIDENCE = 0.95
NAIVE_BAR = 0.95  # of all of the interval
BEST_BAR = 0.98  # of the ratio

Size = dict  # of one run; "seconds" by protocol, "chosen_seconds"


def checked(transport: str, kind: str, variables: dict[str, str]) -> list[Size]:
    """One run: samples of every size, as b_eff's messages follow each other."""
    words = ["--transport", transport, "--pattern", "in-a-row", "--rounds", str(ROUNDS)]
    words += ["--largest", LARGEST, "--check", "--json", "-"]
    command = [program("fm_tune"), *words]
    (document,) = json.loads(run_program(mpirun(*command) if kind == "mpi" else command, variables))
    print(f"bench: {document['ranks']} on {document['device']}: {document['said']}", file=sys.stderr)
    return document["sizes"]


def ratio_row(what: str, chosen: list[list[float]], peer: list[list[float]], bar: float, whole: bool) -> Row:
    """Rate of the choice over the peer's; seconds by run, round for round.

    `whole`: all of the interval must lie above the bar, else the ratio.
    """
    ratios = [
        np.log(np.array(theirs) / np.array(ours[: len(theirs)]))
        for ours, theirs in zip(chosen, peer, strict=True)
    ]
    found = estimate(Sides(base=[np.zeros_like(run) for run in ratios], new=ratios, paired=True), "median")
    low, high = (math.exp(end) for end in found.interval(CONFIDENCE))
    value = math.exp(found.effect)
    spread = f"[{low:.3f}, {high:.3f}] {CONFIDENCE:.0%}, {len(ratios)} runs"
    said = f"all >= {bar:.2f}" if whole else f">= {bar:.2f}"
    return Row(what, value, spread, said, (low if whole else value) >= bar)


def beside_best(runs: list[Size]) -> tuple[list[list[float]], list[list[float]], str]:
    """Seconds of the choice and of the best protocol by run, round for round, and the names of the latter.

    The best of noisy values looks better than it is in the rounds that made it so: that of the even rounds is
    met in the odd ones, and the other protocol round.
    """
    chosen: list[list[float]] = [[] for _ in runs]
    best: list[list[float]] = [[] for _ in runs]
    names = []
    for half in (0, 1):

        def rounds(run: Size, protocol: str, half: int) -> tuple[list[float], list[float]]:
            own = run["seconds"][protocol][half::2]
            return own, run["chosen_seconds"][half::2][: len(own)]

        def typical(protocol: str, half: int = half) -> float:
            pairs = (zip(*rounds(run, protocol, half), strict=True) for run in runs)
            return statistics.median(statistics.median(own / ours for own, ours in run) for run in pairs)

        names.append(min(runs[0]["seconds"], key=typical))
        for i, run in enumerate(runs):
            theirs, ours = rounds(run, names[-1], 1 - half)
            chosen[i] += ours
            best[i] += theirs
    return chosen, best, " or ".join(sorted(set(names)))


def size_rows(where: str, runs: list[Size]) -> list[Row]:
    """Both bars, for one size."""
    what = f"{where}, {runs[0]['bytes']} B"
    chosen = [run["chosen_seconds"] for run in runs]
    naive = [run["seconds"][run["naive"]] for run in runs]
    taken, best, names = beside_best(runs)
    return [
        ratio_row(f"{what}: chosen / {runs[0]['naive']}", chosen, naive, NAIVE_BAR, whole=True),
        ratio_row(f"{what}: chosen / best ({names})", taken, best, BEST_BAR, whole=False),
    ]


def compare(settings: Settings) -> list[Row]:
    """Two rows for each size of each transport, kind of ranks and runtime."""
    places = [("cpu", "", {})]
    places += [("host", f" on {runtime}", runtime_variables(runtime)) for runtime in settings.runtimes]
    rows = []
    for transport, where, variables in places:
        for kind in ("threads", "mpi"):
            runs = [checked(transport, kind, variables) for _ in range(max(settings.pairs, 2))]
            for sizes in zip(*runs, strict=True):
                rows += size_rows(f"{transport}{where}, {kind}", list(sizes))
    return rows
