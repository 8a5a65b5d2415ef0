"""PTRANS in double precision on two ranks against HPC Challenge's hpcc 1.5.0: n^2 x 8 bytes over the time.

hpcc reports the slowest of its repetitions, this project the best of its own; the median is used here.
"""

from __future__ import annotations

import hpcc
from common import OwnRuns, Row, Settings, fastest_counts, run_result_on_two_ranks, runtime_variables
from pairs import Contender, interleave

SIZE = 4096
REPETITIONS = 10
MOST_PAIRS = 7
BAR = 1.5
OPTIONS = ["--variant", "throughput", "--data-type", "double", "--size", str(SIZE), "--parts", "false"]
OPTIONS += ["--memory", "host-pointer"]  # pages of 2 MiB, which messages between processes copy faster


def peer_rate() -> float:
    """GB/s of hpcc; a further width of PTRANS spares the minute that HPL with 8192 would take."""
    return hpcc.ptrans_rates(hpcc.run(hpcc.input_text(hpcc.SMALLEST_WIDTH, SIZE)))[SIZE]


def fabricmark(runtime: str) -> float:
    """GB/s of fm_ptrans, median of its repetitions; every run is validated."""
    options = [*OPTIONS, "--repetitions", str(REPETITIONS)]
    result = run_result_on_two_ranks("fm_ptrans", options, runtime_variables(runtime))
    wanted = ("bandwidth", {"operation": "transpose"})
    return next(m["median"] for m in result["measurements"] if (m["name"], m["axes"]) == wanted)


def own_runs(runtime: str) -> OwnRuns:
    """On two ranks."""
    return {"2 ranks": lambda: {"transpose": fabricmark(runtime)}}


def compare(settings: Settings) -> list[Row]:
    """A row on every runtime; none without hpcc."""
    if not hpcc.is_there():
        return []
    pairs = min(settings.pairs, MOST_PAIRS)
    peer = Contender("hpcc", peer_rate)
    ours = [Contender(name, lambda r=name: fabricmark(r)) for name in settings.runtimes]
    interleave([peer, *ours], pairs)
    what = f"PTRANS double, n = {SIZE}, 2 ranks, on {{}} / hpcc PTRANS"
    return fastest_counts(what, ours, peer, BAR, pairs)
