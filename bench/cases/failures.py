"""How soon all ranks have ended after one of them failed, on an idle machine.

The tests show that they end, with one line that names the rank; how soon is measured here.
"""

from __future__ import annotations

import subprocess
import time

from common import Row, Settings, mpirun, program

BAR_SECONDS = 10.0  # after the failure, or after --timeout
TIME_OUT = 1
MOST_RUNS = 3
PROGRAMS = {
    "stream": ["--size", "1000"],
    "ptrans": ["--size", "64", "--block-size", "16"],
    "hpl": ["--size", "128", "--block-size", "32"],
    "fft": ["--scope", "distributed", "--variant", "throughput", "--vector-bytes", "16", "--log-size", "10"],
}
STEP = "timed"
# Kind of failure: whether it shows only when time is up.
FAILURES = {"throw": False, "hang": True, "stop": True, "kill": False}


def seconds_to_end(name: str, kind: str, ranks: int) -> float:
    """From the start to the end of all ranks [s], less the time for which they wait for a silent one."""
    command = [program(f"fm_{name}"), *PROGRAMS[name], "--repetitions", "1", "--timeout", str(TIME_OUT)]
    began = time.perf_counter()
    fault = f"{kind}:{STEP}@{ranks - 1}"
    done = subprocess.run(mpirun(*command, "--inject-fault", fault, ranks=ranks), capture_output=True)
    if done.returncode == 0:
        raise RuntimeError(f"fm_{name} survived {fault}")
    return time.perf_counter() - began - (TIME_OUT if FAILURES[kind] else 0)


def compare(settings: Settings) -> list[Row]:
    """A row for each kind of failure and number of ranks: the slowest end of all programs."""
    rows = []
    for ranks in (2, 4):
        for kind in FAILURES:
            seconds = [
                seconds_to_end(name, kind, ranks)
                for name in PROGRAMS
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
