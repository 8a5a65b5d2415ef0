"""GEMM, n = 2048, against OpenBLAS on two threads.

OPENBLAS_CORETYPE: OpenBLAS 0.3.21 does not know some newer processors and takes a poor kernel for them.
"""

from __future__ import annotations

import json

from common import (
    OwnRuns,
    Row,
    Settings,
    best,
    fastest_counts,
    program,
    run_program,
    run_result,
    runtime_variables,
)
from pairs import Contender, interleave

SIZE = 2048
REPETITIONS = 7
MOST_PAIRS = 5
PEER = {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "2"}
# (variant, type): options and bar.
KERNELS = {
    ("throughput", "float"): ([], 0.70),
    ("base", "float"): (["--replications", "2"], 0.40),
    ("throughput", "double"): ([], 0.60),
}


def openblas(data_type: str) -> float:
    """GFLOP/s of the peer, best of its repetitions."""
    command = [program("bench_openblas_gemm"), str(SIZE), data_type, str(REPETITIONS)]
    return json.loads(run_program(command, PEER))["gemm"]


def fabricmark(variant: str, data_type: str, runtime: str) -> float:
    """GFLOP/s of fm_gemm, best of its repetitions; every run is validated."""
    options = ["--variant", variant, "--data-type", data_type, "--size", str(SIZE)]
    options += [*KERNELS[variant, data_type][0], "--repetitions", str(REPETITIONS)]
    return best(run_result("fm_gemm", options, runtime_variables(runtime)), "gemm")


def own_runs(runtime: str) -> OwnRuns:
    """Each kernel and type."""
    return {
        f"{variant} {data_type}": lambda v=variant, t=data_type: {"gemm": fabricmark(v, t, runtime)}
        for variant, data_type in KERNELS
    }


def compare(settings: Settings) -> list[Row]:
    """For each kernel and type a row on every runtime."""
    pairs = min(settings.pairs, MOST_PAIRS)
    found = []
    for (variant, data_type), (_, bar) in KERNELS.items():
        peer = Contender("OpenBLAS", lambda t=data_type: openblas(t))
        ours = [
            Contender(name, lambda v=variant, t=data_type, r=name: fabricmark(v, t, r))
            for name in settings.runtimes
        ]
        interleave([peer, *ours], pairs)
        what = f"GEMM {data_type}, n = {SIZE}, {variant} kernel on {{}} / OpenBLAS, 2 threads"
        found += fastest_counts(what, ours, peer, bar, pairs)
    return found
