"""Messages between host memories of 2 ranks: fm_latency, fm_bw and fm_bibw against such loops in plain MPI.

On a virtual machine the latency of short messages jumps between a few values from run to run: rounds in
turns, and the median of their ratios.
"""

from __future__ import annotations

from collections.abc import Callable

from common import OwnRuns, Row, Settings, mpirun, program, ratio_row, run_program, run_result_on_two_ranks
from pairs import Contender, interleave, ratio

LONG = 4 << 20
# Program, bytes, iterations, warm-up, and the bar: of times ours may be longer by so much, of rates lower.
CASES = (
    ("latency", 1, 200000, 1000, 1 / 1.05),
    ("bw", LONG, 20, 2, 0.97),
    ("bibw", LONG, 20, 2, 0.95),
)


def rate(name: str, value: float) -> float:
    """Larger is better."""
    return 1 / value if name == "latency" else value


def ours(name: str, size: int, iterations: int, warmup: int) -> Callable[[], float]:
    words = ["-m", f"{size}:{size}", "-i", str(iterations), "-x", str(warmup)]

    def run() -> float:
        document = run_result_on_two_ranks(f"fm_{name}", words, {})
        (found,) = (one for one in document["measurements"] if one["name"] in ("latency", "bandwidth"))
        return rate(name, found["mean"] * (1 if name == "latency" else 1e3))  # us; MB/s

    return run


def theirs(name: str, size: int, iterations: int, warmup: int) -> Callable[[], float]:
    words = [program("bench_mpi_messages"), name, str(size), str(iterations), str(warmup)]
    return lambda: rate(name, float(run_program(mpirun(*words))))


def own_runs(runtime: str) -> OwnRuns:
    """The same for every runtime, as no device takes part."""

    def all_of_them() -> dict[str, float]:
        return {f"{name}, {case[0]} B": ours(name, *case[:3])() for name, *case in CASES}

    return {"host memory": all_of_them}


def compare(settings: Settings) -> list[Row]:
    rows = []
    for name, *case, bar in CASES:
        contenders = [Contender("ours", ours(name, *case)), Contender("MPI", theirs(name, *case))]
        interleave(contenders, settings.pairs)
        found = ratio(*contenders)
        what = "MPI's time / fm_latency's" if name == "latency" else f"fm_{name} / MPI"
        rows.append(ratio_row(f"{what}, {case[0]} B", found, bar, settings.pairs))
    return rows
