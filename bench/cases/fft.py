"""FFT: batches in single precision against FFTW's measured plans, one long vector against hpcc's MPIFFT.

The vector is in double precision, as MPIFFT's is.
"""

from __future__ import annotations

import json

import hpcc
from common import (
    OwnRuns,
    Row,
    Settings,
    best,
    fastest_counts,
    program,
    run_program,
    run_result,
    run_result_on_two_ranks,
    runtime_variables,
)
from pairs import Contender, interleave

LOG_SIZES = range(10, 18)
LOG_VALUES = 23  # of a whole batch: 64 MiB
REPETITIONS = 5
BATCHED_BAR = 0.50
BATCHED_PAIRS = 3
LOG_TABLE = 24  # of RandomAccess in the run of hpcc whose vector is as long as wanted
DISTRIBUTED_BAR = 0.50
DISTRIBUTED_PAIRS = 3


def fftw(log_size: int) -> float:
    """GFLOP/s of the peer's forward transforms, best of its repetitions."""
    batch = 2 ** (LOG_VALUES - log_size)
    command = [program("bench_fftw"), str(log_size), str(batch), str(REPETITIONS)]
    return json.loads(run_program(command))["forward"]


def batched(log_size: int, runtime: str) -> float:
    """GFLOP/s of fm_fft's forward transforms, best of its repetitions; every run is validated."""
    options = ["--variant", "throughput", "--log-size", str(log_size), "--repetitions", str(REPETITIONS)]
    options += ["--batch", str(2 ** (LOG_VALUES - log_size))]
    return best(run_result("fm_fft", options, runtime_variables(runtime)), "forward", "performance")


def distributed(log_size: int, runtime: str) -> float:
    """GFLOP/s of one vector on two ranks, forward."""
    options = ["--variant", "throughput", "--scope", "distributed", "--log-size", str(log_size)]
    options += ["--data-type", "double", "--repetitions", str(REPETITIONS)]
    result = run_result_on_two_ranks("fm_fft", options, runtime_variables(runtime))
    return best(result, "forward", "performance")


def own_runs(runtime: str) -> OwnRuns:
    """Batches of every size; one vector on two ranks of the length that hpcc would take."""
    vector = hpcc.WIDTHS[LOG_TABLE][1]
    runs: OwnRuns = {f"batches of 2^{s}": lambda s=s: {"forward": batched(s, runtime)} for s in LOG_SIZES}
    runs[f"one vector of 2^{vector}, 2 ranks"] = lambda: {"forward": distributed(vector, runtime)}
    return runs


def compare_batched(settings: Settings) -> list[Row]:
    """For each size a row on every runtime."""
    pairs = min(settings.pairs, BATCHED_PAIRS)
    rows = []
    for log_size in LOG_SIZES:
        peer = Contender("FFTW", lambda s=log_size: fftw(s))
        ours = [Contender(name, lambda s=log_size, r=name: batched(s, r)) for name in settings.runtimes]
        interleave([peer, *ours], pairs)
        what = f"FFT float, batches of 2^{log_size}, on {{}} / FFTW, 2 threads"
        rows += fastest_counts(what, ours, peer, BATCHED_BAR, pairs)
    return rows


def compare_distributed(settings: Settings) -> list[Row]:
    """A row on every runtime; none without hpcc."""
    if not hpcc.is_there():
        return []
    pairs = min(settings.pairs, DISTRIBUTED_PAIRS)
    log_size = hpcc.WIDTHS[LOG_TABLE][1]
    peer = Contender("hpcc", lambda: hpcc.run_for_table(LOG_TABLE)["MPIFFT_Gflops"])
    ours = [Contender(name, lambda r=name: distributed(log_size, r)) for name in settings.runtimes]
    interleave([peer, *ours], pairs)
    what = f"FFT double, one vector of 2^{log_size}, 2 ranks, on {{}} / hpcc MPIFFT"
    return fastest_counts(what, ours, peer, DISTRIBUTED_BAR, pairs)


def compare(settings: Settings) -> list[Row]:
    """Batches, then the vector over two ranks."""
    return compare_batched(settings) + compare_distributed(settings)
