"""Processors whose limits are calibrated: the slower of arithmetic and memory (a roofline)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

from fabricmark.models import Board, Prediction

ARITHMETIC = "peak FLOP/s"
MEMORY = "memory bandwidth"
LAUNCH = "launch latency"


@dataclass(frozen=True)
class Work:
    """What one rank has to do: operations, bytes that move at least, and the type of the numbers.

    `share_of_peak`: what of the multiply-adds' rate the operations can use at best.
    `passes`: how often the program moves these bytes; the limit is one pass.
    """

    flops: float
    moved_bytes: float
    data_type: str
    share_of_peak: float = 1.0
    passes: float = 1.0


def share(parameters: Mapping, board: Board, ranks_here: int) -> float | None:
    """Part of a device that single work-item replications use: so many cores; None on a GPU.

    An ND-range kernel uses the whole device.
    """
    if parameters.get("variant", "base") == "throughput":
        return 1.0
    if board.cores is None:
        return None
    return min(1.0, parameters.get("replications", 1) * ranks_here / board.cores)


def seconds(work: Work, board: Board, ranks_here: int, part: float = 1.0) -> tuple[float, str]:
    """(time of all ranks of one device [s], what it is lost to) on `part` of the device.

    Raises KeyError where the device's rate for this type of numbers was not calibrated.
    """
    peak = board.flops_per_second[work.data_type]
    if work.data_type == "half":  # halves may be worked on as floats
        peak = max(peak, board.flops_per_second["float"])
    peak *= part * work.share_of_peak
    memory = board.memory_bytes_per_second
    if board.core_bytes_per_second is not None and board.cores is not None:
        memory = min(memory, board.core_bytes_per_second * board.cores * part)
    computing = work.flops * ranks_here / peak
    moving = work.moved_bytes * work.passes * ranks_here / memory
    return (computing, ARITHMETIC) if computing >= moving else (moving, MEMORY)


def prediction(
    name: str, axes: Mapping, unit: str, work: Work, parameters: Mapping, board: Board, ranks: int
) -> Prediction:
    """The rate of `work` in GFLOP/s or GB/s, all ranks together, beside the limit of the whole device."""
    ranks_here = ceil(ranks / board.devices)
    amount = (work.flops if unit == "GFLOP/s" else work.moved_bytes) * ranks_here * board.devices / 1e9
    least, limiting = seconds(replace(work, passes=1.0), board, ranks_here)
    limit = amount / least
    part = share(parameters, board, ranks_here)
    if part is None:
        explanation = "no model: nothing calibrated says how fast one work-item runs on this device"
        return Prediction(name, axes, None, unit, limit, limiting, explanation)
    launch = parameters.get("replications", 1) * board.launch_seconds
    busy, bottleneck = seconds(work, board, ranks_here, part)
    explanation = "the slower of arithmetic and memory as calibrated, on the cores that the kernel uses"
    return Prediction(
        name,
        axes,
        amount / (launch + busy),
        unit,
        limit,
        LAUNCH if launch > busy else bottleneck,
        explanation,
    )
