"""RandomAccess on two ranks, one table for each and one over both, against HPC Challenge's hpcc 1.5.0.

Tables have the same size, 32 MiB for each rank. StarRandomAccess reports the mean of its ranks, which counts
twice here.
"""

from __future__ import annotations

import hpcc
from common import OwnRuns, Row, Settings, best, fastest_counts, run_result_on_two_ranks, runtime_variables
from pairs import Contender, interleave

LOG_SIZE = 22
REPETITIONS = 5
MOST_PAIRS = 5
# scope: (name in hpcc's summary, how many ranks it is the mean of, bar).
SCOPES = {
    "star": ("StarRandomAccess_GUPs", hpcc.RANKS, 1.0),
    "global": ("MPIRandomAccess_GUPs", 1, 3.0),
}


def fabricmark(scope: str, runtime: str) -> float:
    """GUOP/s of fm_random_access, best of its repetitions; every run is validated."""
    options = ["--variant", "throughput", "--scope", scope, "--log-size", str(LOG_SIZE)]
    options += ["--repetitions", str(REPETITIONS)]
    return best(run_result_on_two_ranks("fm_random_access", options, runtime_variables(runtime)), "update")


def own_runs(runtime: str) -> OwnRuns:
    """Each scope, on two ranks."""
    return {f"{s}, 2 ranks": lambda s=s: {"update": fabricmark(s, runtime)} for s in SCOPES}


def compare(settings: Settings) -> list[Row]:
    """For each scope a row on every runtime; none without hpcc. One of its runs serves both scopes."""
    if not hpcc.is_there():
        return []
    pairs = min(settings.pairs, MOST_PAIRS)
    peers = {scope: Contender(scope, lambda: 0.0) for scope in SCOPES}  # filled by run_peer
    ours = {
        scope: [Contender(name, lambda s=scope, r=name: fabricmark(s, r)) for name in settings.runtimes]
        for scope in SCOPES
    }

    def run_peer() -> float:
        found = hpcc.run_for_table(LOG_SIZE)
        for scope, (name, times, _) in SCOPES.items():
            peers[scope].values.append(times * found[name])
        return 0.0

    interleave([Contender("hpcc", run_peer), *(one for several in ours.values() for one in several)], pairs)
    rows = []
    for scope, (name, _, bar) in SCOPES.items():
        what = f"RandomAccess {scope}, 2 ranks, 2^{LOG_SIZE} words each, on {{}} / hpcc {name.split('_')[0]}"
        rows += fastest_counts(what, ours[scope], peers[scope], bar, pairs)
    return rows
