"""Parameters of HPL's kernels on a CPU or GPU from short runs: the inverse of its model."""

from collections.abc import Sequence
from math import ceil

import numpy as np

from fabricmark.models import _transfers, hpl
from fabricmark.models._measured import Run, shares


def fit(runs: Sequence[Run]) -> dict[str, float]:
    """panel_efficiency, multiply_efficiency, solve_efficiency and the transfers; empty where no run tells.

    Runs of two sizes tell panels (n^2) and multiplications (n^3) apart.
    """
    parts, seconds, solves = [], [], []
    for run in runs:
        found = hpl.processor_phases(run.parameters, run.board, run.ranks, run.network)
        rate = run.best("performance", "GFLOP/s", **hpl.LU)
        if found is None or rate is None:
            continue
        beside = float(np.sum(found.latency + found.exchange))
        taken = hpl.lu_flops(run.parameters["size"]) / (rate * 1e9)
        parts.append([float(np.sum(found.panels)), float(np.sum(found.first + found.rest))])
        seconds.append(max(taken - beside, taken / 2))
        element_bytes = hpl.ELEMENT_BYTES[run.parameters["data_type"]]
        ranks_here = ceil(run.ranks / run.board.devices)
        solving = hpl.solve_seconds(run.parameters["size"], element_bytes, run.board, ranks_here)
        solved = run.best("time", "s", **hpl.SOLVE)
        if solving is not None and solved is not None:
            solves.append(solving / solved)
    if not parts:
        return {}
    panel, multiply = (float(share) for share in shares(parts, seconds))
    found = {"panel_efficiency": panel, "multiply_efficiency": multiply}
    if solves:
        found["solve_efficiency"] = float(np.median(solves))
    return {**found, **_transfers.fit_parameters(runs)}
