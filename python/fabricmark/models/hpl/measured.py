"""Parameters of HPL's kernels on a CPU or GPU from short runs: the inverse of its model.

Efficiencies of panels and multiplications are those of all sizes together. What the decomposition then takes
at a size, as larger multiplications reach more of a GPU, is a curve: the model takes what it is off by there.
"""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from fabricmark.models import Board, _transfers, hpl
from fabricmark.models._measured import Run, at_size, means, shares
from fabricmark.models.machine import Bitstream, Network, Times

CURVE = "lu"  # times of the decomposition by bytes of the whole matrix


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
        element_bytes = hpl.VALUE_BYTES[run.parameters["data_type"]]
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


def curves(runs: Sequence[Run]) -> dict[str, Times]:
    """{CURVE: times of the decomposition [s]} of runs with one number of ranks; empty for a single size."""
    found = []
    for run in runs:
        rate = run.best("performance", "GFLOP/s", **hpl.LU)
        if rate is not None:
            size = run.parameters["size"]
            matrix = size**2 * hpl.VALUE_BYTES[run.parameters["data_type"]]
            found.append({float(matrix): hpl.lu_flops(size) / (rate * 1e9)})
    curve = means(found)
    return {CURVE: curve} if len(curve.bytes) > 1 else {}


def off(
    parameters: Mapping, board: Board, ranks: int, network: Network | None, bitstream: Bitstream | None
) -> float:
    """How many times as long a decomposition takes as the phases say, by its size; 1 without a curve."""
    curve = None if bitstream is None else bitstream.curves.get(CURVE)
    if curve is None:
        return 1.0
    element_bytes = hpl.VALUE_BYTES[parameters["data_type"]]
    times = []
    for matrix, taken in zip(curve.bytes, curve.seconds, strict=True):
        size = round((matrix / element_bytes) ** 0.5)
        of_size = {**parameters, "size": size}
        found = hpl.processor_phases(of_size, board, ranks, network, bitstream)
        if found is None:
            return 1.0
        times.append(taken / found.seconds(hpl.overlaps(parameters, board)))
    return at_size(curve, times, parameters["size"] ** 2 * element_bytes)
