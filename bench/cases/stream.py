"""STREAM Triad in single precision against plain OpenMP loops with as many threads as cores.

The peer's loops use ordinary stores, as g++ compiles them; this project's kernels ask for stores that do not
fetch the line first where the compiler has them (kernels/common/dialect.h), which is part of the difference.
"""

from __future__ import annotations

import json
import os

from common import (
    OwnRuns,
    Row,
    Settings,
    best,
    program,
    ratio_row,
    run_program,
    run_result,
    runtime_variables,
)
from pairs import Contender, interleave, ratio

SIZE = 2**25
REPETITIONS = 10
BARS = {"base": 0.90, "throughput": 0.95}


def openmp_triad() -> float:
    """GB/s of the peer, best of its repetitions."""
    threads = {"OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))), "OMP_PROC_BIND": "true"}
    text = run_program([program("bench_openmp_stream"), str(SIZE), str(REPETITIONS)], threads)
    return json.loads(text)["triad"]


def fabricmark_triad(variant: str, runtime: str) -> float:
    """GB/s of fm_stream, best of its repetitions; every run is validated."""
    options = ["--variant", variant, "--size", str(SIZE), "--repetitions", str(REPETITIONS)]
    if variant == "base":
        options += ["--replications", "2"]
    return best(run_result("fm_stream", options, runtime_variables(runtime)), "triad")


def own_runs(runtime: str) -> OwnRuns:
    """Each kind of kernel."""
    return {f"{v} kernel": lambda v=v: {"triad": fabricmark_triad(v, runtime)} for v in BARS}


def compare(settings: Settings) -> list[Row]:
    """One row for each runtime and kind of kernel."""
    rows = []
    for runtime in settings.runtimes:
        peer = Contender("OpenMP", openmp_triad)
        ours = [Contender(v, lambda v=v, r=runtime: fabricmark_triad(v, r)) for v in BARS]
        interleave([peer, *ours], settings.pairs)
        for contender in ours:
            what = f"STREAM Triad float, {contender.name} kernel on {runtime} / OpenMP"
            rows.append(ratio_row(what, ratio(contender, peer), BARS[contender.name], settings.pairs))
    return rows
