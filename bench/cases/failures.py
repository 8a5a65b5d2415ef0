"""How soon all ranks have ended after one of them failed, on an idle machine.

The tests show that they end, with one line that names the rank; how soon is measured here.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time

from common import ROOT, Row, Settings, mpirun, program

sys.path.insert(0, str(ROOT / "tests" / "python"))

from small_runs import SMALL_RUNS

BAR_SECONDS = 10.0  # after the failure, or after --timeout
TIME_OUT = 1
MOST_RUNS = 3
STEP = "timed"
# Kind of failure: whether it shows only when time is up.
FAILURES = {"throw": False, "hang": True, "stop": True, "kill": False}


def seconds_to_end(name: str, kind: str, ranks: int) -> float:
    """From the start to the end of all ranks [s], less the time for which they wait for a silent one.

    Infinite for a program that survives its fault, and a line says so.
    """
    command = [program(f"fm_{name}"), *SMALL_RUNS[name], "--repetitions", "1", "--timeout", str(TIME_OUT)]
    began = time.perf_counter()
    fault = f"{kind}:{STEP}@{ranks - 1}"
    done = subprocess.run(mpirun(*command, "--inject-fault", fault, ranks=ranks), capture_output=True)
    if done.returncode == 0:
        print(f"bench: failures: fm_{name} on {ranks} ranks survived {fault}", file=sys.stderr)
        return math.inf
    return time.perf_counter() - began - (TIME_OUT if FAILURES[kind] else 0)


def compare(settings: Settings) -> list[Row]:
    """A row for each kind of failure and number of ranks: the slowest end of all programs."""
    rows = []
    for ranks in (2, 4):
        for kind in FAILURES:
            seconds = [
                seconds_to_end(name, kind, ranks)
                for name in SMALL_RUNS
                for _ in range(min(settings.pairs, MOST_RUNS))
            ]
            rows.append(
                Row(
                    what=f"one of {ranks} processes fails ({kind}): seconds until all have ended",
                    value=max(seconds),
                    spread=f"{min(seconds):.1f} to {max(seconds):.1f}, {len(seconds)} runs",
                    bar=f"<= {BAR_SECONDS:.0f}",
                    reached=max(seconds) <= BAR_SECONDS,
                )
            )
    return rows
