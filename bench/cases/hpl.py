"""HPL, n = 8192: against HPL in HPC Challenge's hpcc 1.5.0 on two ranks, its overhead, and its overlap.

hpcc's HPL pivots and works in double precision. Both are counted as HPL does: (2/3 n^3 + 3/2 n^2) over the
time of decomposition and solve.
"""

from __future__ import annotations

import statistics
import time

import hpcc
from common import (
    OwnRuns,
    Row,
    Settings,
    best,
    fastest_counts,
    run_result_on_ranks,
    run_result_on_two_ranks,
    runtime_variables,
)
from fabricmark.results.windows import spans
from pairs import Contender, interleave

SIZE = 8192
REPETITIONS = 3
MOST_PAIRS = 3
BARS = {"double": 0.60, "float": 1.20}
WALL_BAR = 1.5
HIDDEN_RANKS = 4
HIDDEN_BAR = 0.50
# Without a warm-up, which would take as long as a repetition; the best of them counts.
OPTIONS = ["--variant", "throughput", "--size", str(SIZE), "--warmup", "0"]


class Runs:
    """fm_hpl with one type on one runtime: each run gives a rate and the share of its wall time."""

    def __init__(self, data_type: str, runtime: str):
        self.options = [*OPTIONS, "--data-type", data_type, "--repetitions", str(REPETITIONS)]
        self.variables = runtime_variables(runtime)
        self.wall: list[float] = []

    def rate(self) -> float:
        """GFLOP/s of decomposition and solve, best of the repetitions; every run is validated."""
        began = time.perf_counter()
        result = run_result_on_two_ranks("fm_hpl", self.options, self.variables)
        self.wall.append((time.perf_counter() - began) / needed_seconds(result))
        return best(result, "lu+solve", "performance")


def needed_seconds(result: dict) -> float:
    """What a run cannot do without [s]: its inputs, all that it times, its check."""
    steps = {step["name"]: step["seconds"] for step in result["run"]["steps"]}
    timed = [m["samples"] for m in result["measurements"] if m["samples"]["per_rank"]]
    regions = sum(sum(spans(samples["per_rank"], samples.get("starts"))) for samples in timed)
    return steps["inputs"] + regions + steps["check"]


def hidden_share(result: dict) -> float:
    """Share of the time in exchanges in which the same rank's device multiplied, of the worst rank, as the
    result says. 0 where no rank exchanged anything, for then nothing was shown."""
    found = [m["best"] / 100 for m in result["measurements"] if m["name"] == "exchange_hidden"]
    return min(found, default=0.0)


def own_runs(runtime: str) -> OwnRuns:
    """Each type, on two ranks."""
    return {f"{t}, 2 ranks": lambda t=t: {"lu+solve": Runs(t, runtime).rate()} for t in BARS}


def compare_rates(settings: Settings) -> list[Row]:
    """For each type a row on every runtime, and the overhead of the runs in double; none without hpcc."""
    if not hpcc.is_there():
        return []
    pairs = min(settings.pairs, MOST_PAIRS)
    runs = {data_type: {name: Runs(data_type, name) for name in settings.runtimes} for data_type in BARS}
    ours = {
        data_type: [Contender(name, run.rate) for name, run in of_type.items()]
        for data_type, of_type in runs.items()
    }
    peer = Contender("hpcc", peer_rate)
    interleave([peer, *(one for several in ours.values() for one in several)], pairs)
    rows = []
    for data_type, bar in BARS.items():
        what = f"HPL {data_type}, n = {SIZE}, LU + solve, 2 ranks, on {{}} / hpcc HPL (double, pivots)"
        rows += fastest_counts(what, ours[data_type], peer, bar, pairs)
    return rows + [wall_row(name, run.wall) for name, run in runs["double"].items()]


def peer_rate() -> float:
    """GFLOP/s of hpcc's HPL."""
    found = hpcc.summary(hpcc.run(hpcc.input_text(SIZE)))
    hpcc.expect(found, "HPL_N", SIZE)
    return found["HPL_Tflops"] * 1e3


def wall_row(runtime: str, shares: list[float]) -> Row:
    """Wall time of the whole program, its launch among it, over what it cannot do without."""
    middle = statistics.median(shares)
    return Row(
        what=f"HPL double, n = {SIZE}, 2 ranks, on {runtime}: wall time / inputs + timed region + check",
        value=middle,
        spread=f"{min(shares):.3f} to {max(shares):.3f}, {len(shares)} runs",
        bar=f"<= {WALL_BAR:.2f}",
        reached=middle <= WALL_BAR,
    )


def compare_overlap(settings: Settings) -> list[Row]:
    """How much of the exchange is hidden behind the multiplications, as the device's events say."""
    rows = []
    options = [*OPTIONS, "--data-type", "double", "--repetitions", "1", "--timeline"]
    for runtime in settings.runtimes:
        variables = runtime_variables(runtime)
        shares = [
            hidden_share(run_result_on_ranks(HIDDEN_RANKS, "fm_hpl", options, variables))
            for _ in range(min(settings.pairs, MOST_PAIRS))
        ]
        rows.append(hidden_row(runtime, shares))
    return rows


def hidden_row(runtime: str, shares: list[float]) -> Row:
    """The median of the runs' worst ranks."""
    middle = statistics.median(shares)
    return Row(
        what=f"HPL double, n = {SIZE}, {HIDDEN_RANKS} ranks, on {runtime}: exchange hidden, worst rank",
        value=middle,
        spread=f"{min(shares):.3f} to {max(shares):.3f}, {len(shares)} runs",
        bar=f">= {HIDDEN_BAR:.2f}",
        reached=middle >= HIDDEN_BAR,
    )


def compare(settings: Settings) -> list[Row]:
    """Rates and overhead, then overlap."""
    return compare_rates(settings) + compare_overlap(settings)
