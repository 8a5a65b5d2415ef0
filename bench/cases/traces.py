"""Programs of others, recorded on two ranks over shared memory and predicted over TCP beside real runs, also
at a third size; and what recording costs."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from statistics import median

import traces
from common import Row, Settings

ONLY_WHEN_NAMED = True  # takes some minutes
BAR = 0.15  # of the real run
COST_BAR = 0.03  # of the program's time
PATIENCE_SECONDS = 60  # for runs without others beside them


def row(program: traces.Stencil | traces.Hpcc, size: int, real: list[float], said: list[float]) -> Row:
    """How far the median of all predictions is from that of the real runs."""
    whole = median(real)
    off = median(said) / whole - 1
    spread = f"{min(said) / whole - 1:+.3f} to {max(said) / whole - 1:+.3f}, {len(said)} runs"
    what = (
        f"{program.name} of size {size}, recorded over shared memory: predicted to real time over TCP, less 1"
    )
    return Row(what, off, spread, f"-{BAR:.2f} to {BAR:.2f}", abs(off) <= BAR)


def compare(settings: Settings) -> list[Row]:
    """A row for the recorder, and one for each program and size."""
    if shutil.which("mpirun") is None:
        return []
    patience = traces.Patience(PATIENCE_SECONDS)
    programs: list[traces.Stencil | traces.Hpcc] = [traces.Stencil()]
    if shutil.which("hpcc"):
        programs.append(traces.Hpcc())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, recorded = traces.cost(settings.pairs, folder, patience)
        more = recorded / plain - 1
        what, bar = "stencil: what recording adds to its time", f"<= {COST_BAR:.2f}"
        rows = [Row(what, more, f"{settings.pairs} pairs", bar, more <= COST_BAR)]
        for program in programs:
            found = traces.measure(program, settings.pairs, folder, patience)
            rows += [
                row(program, size, found[f"real {size}"], found[f"predicted {size}"])
                for size in program.sizes
            ]
    return rows
