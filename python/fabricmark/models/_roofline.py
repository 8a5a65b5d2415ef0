"""Processors whose limits are calibrated: the slower of arithmetic and memory (a roofline).

What a kernel makes of the limit is measured by `fabricmark systems new` (`_measured`): an efficiency, and a
time to start that the calibration does not know; or, where runs of several sizes were measured, the share
that it reached at each of them. A kernel without these is taken as perfect.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from fabricmark.base.terminal import percent
from fabricmark.models import Board, Prediction, _limits
from fabricmark.models._measured import Run, at_size, efficiency, means
from fabricmark.models.machine import Bitstream, Times, measured_of

ARITHMETIC = "peak FLOP/s"
MEMORY = "memory bandwidth"
LAUNCH = "launch latency"
KERNEL = "kernel width x frequency"  # of an FPGA
KERNEL_CODE = "kernel code"  # neither arithmetic nor memory: the instructions around them
CURVE = "kernel"  # times of the kernel alone by what all ranks of its device move at least
FEWEST_SIZES = 3  # of a curve; fewer tell a start and an efficiency
WASTEFUL = 0.5  # an efficiency below that is the kernel's own
INPUTS = (
    "board.arithmetic.float", "board.arithmetic.double", "board.processor.cores",
    "board.processor.core_bandwidth", "board.memory.banks", "board.memory.bank_bandwidth",
    "board.host.launch_latency",
)  # fmt: skip


@dataclass(frozen=True)
class Work:
    """What one rank has to do: operations, bytes that move at least, and the type of the numbers.

    `share_of_peak`: what of the multiply-adds' rate the operations can use at best.
    `passes`: how often the program moves these bytes; the limit is one pass.
    `limited_by`: what a measured efficiency of the kernel is a share of, ARITHMETIC or MEMORY.
    `mix`: of reads and writes. `growth`: the power of the bytes that the operations of other sizes grow with.
    """

    flops: float
    moved_bytes: float
    data_type: str
    share_of_peak: float = 1.0
    passes: float = 1.0
    limited_by: str = MEMORY
    mix: str = _limits.COPY
    growth: float = 1.0


def share(parameters: Mapping, board: Board, ranks_here: int) -> float | None:
    """Part of a device that single work-item replications use: so many cores; None on a GPU.

    An ND-range kernel uses the whole device.
    """
    if parameters.get("variant", "base") == "throughput":
        return 1.0
    cores = board.get("processor.cores")
    return None if cores is None else min(1.0, parameters.get("replications", 1) * ranks_here / cores)


def parts_seconds(work: Work, board: Board, ranks_here: int, part: float = 1.0) -> dict[str, float]:
    """Time of all ranks of one device [s] by ARITHMETIC and MEMORY, each alone, on `part` of the device.

    Raises MissingValue where the device's rate for this type of numbers was not calibrated.
    """
    peak = board.flops(work.data_type)
    if work.data_type == "half":  # halves may be worked on as floats
        peak = max(peak, board.flops("float"))
    peak *= part * work.share_of_peak
    memory = board.memory_bytes_per_second
    of_core, cores = board.get("processor.core_bandwidth"), board.get("processor.cores")
    if of_core is not None and cores is not None:
        memory = min(memory, of_core * cores * part)
    return {
        ARITHMETIC: work.flops * ranks_here / peak,
        MEMORY: work.moved_bytes * work.passes * ranks_here / memory,
    }


def seconds(
    work: Work, board: Board, ranks_here: int, part: float = 1.0, fitted: Mapping[str, float] | None = None
) -> tuple[float, str]:
    """(time of all ranks of one device [s], what it is lost to) on `part` of the device.

    `fitted`: efficiency and start_seconds of the kernel where they were measured.
    Raises MissingValue where the device's rate for this type of numbers was not calibrated.
    """
    parts = parts_seconds(work, board, ranks_here, part)
    measured = fitted or {}
    reached = measured.get("efficiency", 1.0)
    parts[work.limited_by] /= reached
    slowest = max(parts, key=parts.__getitem__)
    is_wasteful = slowest == work.limited_by and reached < WASTEFUL
    return parts[slowest] + measured.get("start_seconds", 0.0), KERNEL_CODE if is_wasteful else slowest


def limit_of(work: Work, amount: float, board: Board, ranks_here: int) -> tuple[float, str]:
    """(rate of `amount` at the limit of the whole device, what limits it): arithmetic, or the memory or cache
    that holds all that moves."""
    if board.limits is None:
        least, limiting = seconds(work, board, ranks_here)
        return amount / least, limiting
    fastest = board.limits.flops
    memory = board.limits.moving(work.mix, work.moved_bytes * ranks_here)
    known = board.having(
        {
            **{f"arithmetic.{data_type}": rate for data_type, rate in fastest.items()},
            "memory.bank_bandwidth": memory or board["memory.bank_bandwidth"],
            "processor.core_bandwidth": None,
        }
    )
    least, limiting = seconds(work, known, ranks_here)
    return amount / least, limiting


def _kernel_times(
    runs: Sequence[Run], name: str, axes: Sequence[Mapping], unit: str, work_of
) -> Iterator[tuple[float, float, float]]:
    """(least bytes that all ranks of a device move, time at the calibrated limit, measured time [s])."""
    for run in runs:
        ranks_here = ceil(run.ranks / run.board.devices)
        part = share(run.parameters, run.board, ranks_here)
        if part is None:
            continue
        work = work_of(run)
        amount = work.flops if unit == "GFLOP/s" else work.moved_bytes
        limit = parts_seconds(work, run.board, ranks_here, part)[work.limited_by]
        launch = run.parameters.get("replications", 1) * run.board["host.launch_latency"]
        for one in axes:
            rate = run.best(name, unit, **one)
            if rate is not None:
                taken = amount * ranks_here * run.board.devices / (rate * 1e9) - launch
                yield work.moved_bytes * ranks_here, limit, taken


def fit_parameters(
    runs: Sequence[Run], name: str, axes: Sequence[Mapping], unit: str, work_of
) -> dict[str, float]:
    """Efficiency and start of a kernel from runs, the inverse of `prediction`.

    `axes`: of the parameters that tell; `work_of(run)`: the Work of one rank.
    """
    times = _kernel_times(runs, name, axes, unit, work_of)
    return efficiency([(limit, taken) for _, limit, taken in times])


def kernel_curve(
    runs: Sequence[Run], name: str, axes: Sequence[Mapping], unit: str, work_of
) -> dict[str, Times]:
    """Times of a kernel by size as a curve, of which `prediction` takes the share of the limit; empty for
    fewer than FEWEST_SIZES."""
    found = [
        {moved: taken} for moved, _, taken in _kernel_times(runs, name, axes, unit, work_of) if taken > 0
    ]
    curve = means(found)
    return {CURVE: curve} if len(curve.bytes) >= FEWEST_SIZES else {}


def _by_size(work: Work, board: Board, ranks_here: int, part: float, bitstream: Bitstream | None) -> dict:
    """{efficiency} of a kernel at this size from its curve; empty where it has none."""
    curve = None if bitstream is None else bitstream.curves.get(CURVE)
    if curve is None:
        return {}
    moved = work.moved_bytes * ranks_here
    limit = parts_seconds(work, board, ranks_here, part)[work.limited_by]
    shares = [
        limit * (size / moved) ** work.growth / taken
        for size, taken in zip(curve.bytes, curve.seconds, strict=True)
    ]
    return {"efficiency": at_size(curve, shares, moved)}


def prediction(
    name: str, axes: Mapping, unit: str, work: Work, parameters: Mapping, board: Board, ranks: int,
    bitstream: Bitstream | None = None,
) -> Prediction:  # fmt: skip
    """The rate of `work` in GFLOP/s or GB/s, all ranks together, beside the limit of the whole device."""
    ranks_here = ceil(ranks / board.devices)
    amount = (work.flops if unit == "GFLOP/s" else work.moved_bytes) * ranks_here * board.devices / 1e9
    limit, limiting = limit_of(replace(work, passes=1.0), amount, board, ranks_here)
    part = share(parameters, board, ranks_here)
    if part is None:
        explanation = "no model: nothing calibrated says how fast one work-item runs on this device"
        return Prediction(name, axes, None, unit, limit, limiting, explanation)
    fitted = _by_size(work, board, ranks_here, part, bitstream) or measured_of(bitstream)
    launch = parameters.get("replications", 1) * board["host.launch_latency"]
    busy, bottleneck = seconds(work, board, ranks_here, part, fitted)
    explanation = "the slower of arithmetic and memory as calibrated, on the cores that the kernel uses"
    if "efficiency" in fitted:
        explanation += f"; of that the kernel reaches {percent(fitted['efficiency'])} (measured)"
    starting = launch + fitted.get("start_seconds", 0.0)
    bottleneck = LAUNCH if starting > (launch + busy) / 2 else bottleneck
    about = (bottleneck, explanation, {"launch": launch, "kernel": busy})
    return Prediction(name, axes, amount / (launch + busy), unit, limit, *about)
