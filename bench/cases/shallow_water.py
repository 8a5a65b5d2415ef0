"""The shallow-water solver against ANUGA, on one core and the same mesh: cell steps a second.

A step of either is one of its time integration: Euler's of order 0 beside DE0, two stages of order 1 beside
DE1. ANUGA finds its length anew each time, and may dry elements; it has walls around, as it calls Python for
edges of the sea. Only when named: ANUGA is installed for it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import anuga_peer
from common import (
    OwnRuns,
    Row,
    Settings,
    best,
    fastest_counts,
    on_cores,
    program,
    ratio_row,
    run_program,
    runtime_variables,
)
from pairs import Contender, interleave, ratio

ONLY_WHEN_NAMED = True
MESH = "bay:100000"
# Order: (data type, steps a run, ANUGA's algorithm, its steps, the bar)
CASES = {0: ("float", 2000, "DE0", 40, 9.0), 1: ("double", 200, "DE1", 20, 4.0)}
TWO_CORES_BAR = 1.7
PAIRS = 5
REPETITIONS = 3


def solver(order: int, cores: int, runtime: str) -> float:
    """Cell steps a second, best of its repetitions; every run is validated."""
    data_type, steps, *_ = CASES[order]
    options = ["--mesh", MESH, "--order", str(order), "--data-type", data_type, "--steps", str(steps)]
    options += ["--repetitions", str(REPETITIONS), "--json", "-"]
    command = [*on_cores(cores), program("fm_shallow_water"), *options]
    result = json.loads(run_program(command, runtime_variables(runtime)))
    return 1e6 * best(result, "steps", "cell_steps")


def peer(order: int, folder: Path) -> float:
    """ANUGA's cell steps a second, on one core."""
    _, _, algorithm, steps, _ = CASES[order]
    words = ("--algorithm", algorithm, "--steps", str(steps))
    return anuga_peer.run(folder, *words, prefix=on_cores(1))["cell_steps_per_s"]


def own_runs(runtime: str) -> OwnRuns:
    """Each order on one core."""
    return {
        f"order {order} {CASES[order][0]}": lambda o=order: {"cell steps": solver(o, 1, runtime)}
        for order in CASES
    }


def compare(settings: Settings) -> list[Row]:
    """A row for each order beside ANUGA, and one for two cores beside one."""
    if anuga_peer.python() is None:
        print("bench: anuga cannot be installed; the comparison with it is left out", file=sys.stderr)
        return []
    pairs = min(settings.pairs, PAIRS)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = anuga_peer.arrays(MESH, Path(scratch))
        for order, (data_type, _, algorithm, _, bar) in CASES.items():
            beside = Contender(algorithm, lambda o=order: peer(o, folder))
            ours = [Contender(r, lambda o=order, r=r: solver(o, 1, r)) for r in settings.runtimes]
            interleave([beside, *ours], pairs)
            what = f"order {order} {data_type}, {MESH}, one core, on {{}} / ANUGA {algorithm}"
            rows += fastest_counts(what, ours, beside, bar, pairs)
    for runtime in settings.runtimes:
        one, two = (Contender(str(n), lambda n=n, r=runtime: solver(0, n, r)) for n in (1, 2))
        interleave([one, two], pairs)
        what = f"order 0 float, {MESH}, on {runtime}: two cores / one"
        rows.append(ratio_row(what, ratio(two, one), TWO_CORES_BAR, pairs))
    return rows
