"""Long messages of the emulated engine between two processes, over RDMA, against MPI_Send and MPI_Recv."""

from __future__ import annotations

import json

from common import OwnRuns, Row, Settings, mpirun, program, ratio_row, run_program
from pairs import Contender, interleave, ratio

BAR = 0.7
ROUNDS = 5
WAYS = ("one by one", "in flight")


def rates() -> dict[str, float]:
    """Bytes a second, the best of some rounds that take turns with MPI's."""
    return json.loads(run_program(mpirun(program("bench_engine_bulk"), str(ROUNDS))))


def own_runs(_runtime: str) -> OwnRuns:
    """Messages of 1 MiB, one by one and several in flight."""

    def bulk() -> dict[str, float]:
        found = rates()
        return {way: found[f"engine {way}"] for way in WAYS}

    return {"engine bulk": bulk}


def compare(settings: Settings) -> list[Row]:
    """A row for each way to send them; each run of the program has both contenders."""
    runs: list[dict[str, float]] = []
    interleave([Contender("both", lambda: runs.append(rates()) or 0.0)], settings.pairs)
    found = []
    for way in WAYS:
        ours, theirs = (
            Contender(who, lambda: 0.0, [run[f"{who} {way}"] for run in runs]) for who in ("engine", "mpi")
        )
        found.append(
            ratio_row(f"engine over RDMA / MPI, 1 MiB {way}", ratio(ours, theirs), BAR, settings.pairs)
        )
    return found
