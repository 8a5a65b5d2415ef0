"""Lattice Boltzmann beside lbmpy: cell steps a second under a moving lid, 4096 x 4096 cells in float.

Both have the same walls; on a small grid their velocities are compared first. *Plain* makes a step a launch,
*cascade* several on rows that stay in the cache. lbmpy's kernels take the machine's widest vectors. Only when
named: lbmpy is installed for it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy
import peer_packages
from common import (
    OwnRuns,
    Row,
    Settings,
    best,
    on_cores,
    program,
    ratio_row,
    run_program,
    runtime_variables,
)
from pairs import Contender, interleave, ratio

ONLY_WHEN_NAMED = True
PACKAGES = ("lbmpy==2.0", "numpy==2.4.6", "py-cpuinfo==9.0.0")
SCRIPT = Path(__file__).resolve().parent.parent / "lbmpy_cavity.py"
CELLS = 4096
STEPS = 24
# More would show that lbmpy counts a moving wall by the density beside it.
SPEED = 0.005
SAME = 1e-5
# (what, cores, options): the least ratio
CASES = {
    ("plain", 1): (("--steps-in-cache", "1"), 1.2),
    ("cascade", 1): ((), 2.5),
    ("cascade", 2): ((), 2.5),
}
TWO_RANKS_BAR = 1.8


def cavity(columns: int, rows: int, steps: int) -> tuple[str, ...]:
    """Options of fm_lbm, whose last row is the lid."""
    grid = ("--columns", str(columns), "--rows", str(rows + 1), "--steps", str(steps))
    return ("--case", "cavity", *grid, "--omega", "1", "--speed", str(SPEED))


def own(cores: int, runtime: str, *more: str) -> float:
    """Cell steps a second. Checks of so many cells take a minute: `same_flow` has them."""
    timed = ("--repetitions", "3", "--json", "-", "--skip-validation")
    words = (*cavity(CELLS, CELLS - 1, STEPS), *timed, *more)
    text = run_program([*on_cores(cores), program("fm_lbm"), *words], runtime_variables(runtime))
    return 1e6 * best(json.loads(text), "steps", "cell_steps")


def lbmpy(python: Path, *words: object, cores: int = 1) -> float:
    """Its cell steps a second."""
    given = [*map(str, words), "--omega", "1", "--speed", str(SPEED), "--threads", str(cores)]
    text = run_program([*on_cores(cores), str(python), str(SCRIPT), *given])
    return json.loads(text.splitlines()[-1])["cell_steps_per_s"]


def same_flow(python: Path) -> Row:
    """The largest difference of both velocities after 500 steps [cells a step]."""
    rows, columns, steps = 63, 64, 500
    with tempfile.TemporaryDirectory() as scratch:
        ours, theirs = Path(scratch) / "ours", Path(scratch) / "theirs"
        once = ("--warmup", "0", "--repetitions", "1", "--fields", str(ours))
        run_program([program("fm_lbm"), *cavity(columns, rows, steps), *once])
        lbmpy(python, "--columns", columns, "--rows", rows, "--steps", steps, "--fields", theirs)
        off = max(
            float(abs(numpy.load(ours / f"{name}.npy")[:rows] - numpy.load(theirs / f"{name}.npy")).max())
            for name in ("u", "v")
        )
    return Row("velocities beside lbmpy's, 64 x 63 cells", off, "", f"<= {SAME:g}", off <= SAME)


def own_runs(runtime: str) -> OwnRuns:
    return {
        f"{what}, {cores} cores": lambda more=more, cores=cores: {"cell steps": own(cores, runtime, *more)}
        for (what, cores), (more, _) in CASES.items()
    }


def compare(settings: Settings) -> list[Row]:
    """A row for each case beside lbmpy on as many cores, and one for two ranks beside one."""
    python = peer_packages.python("lbmpy-2.0", *PACKAGES)
    if python is None:
        print("bench: lbmpy cannot be installed; the comparison with it is left out", file=sys.stderr)
        return []
    rows = [same_flow(python)]
    grid = ("--columns", CELLS, "--rows", CELLS - 1, "--steps", STEPS, "--repetitions", 3)
    for runtime in settings.runtimes:
        for (what, cores), (more, bar) in CASES.items():
            if cores > len(os.sched_getaffinity(0)):
                continue
            ours = Contender(what, lambda m=more, c=cores, r=runtime: own(c, r, *m))
            theirs = Contender("lbmpy", lambda c=cores: lbmpy(python, *grid, cores=c))
            interleave([ours, theirs], settings.pairs)
            title = f"{what}, {cores} cores, on {runtime} / lbmpy on as many"
            rows.append(ratio_row(title, ratio(ours, theirs), bar, settings.pairs))
        one = Contender("one core", lambda r=runtime: own(1, r))
        two = Contender("two ranks", lambda r=runtime: own(2, r, "--ranks", "2"))
        interleave([one, two], settings.pairs)
        title = f"cascade, on {runtime}: two ranks on two cores / one core"
        rows.append(ratio_row(title, ratio(two, one), TWO_RANKS_BAR, settings.pairs))
    return rows
