"""FFT: batches of complex transforms forward and inverse, or one long vector over all ranks.

- FPGA (base kernel, Meyer 2024, section 3.2.3, eq. 3.1): one pipeline takes eight values a cycle, at
  the slower of the kernel's clock and that of the memory interface, which is a bank's rate over the bytes of
  eight values, as kernel.toml says. A replication reads from one bank and writes to another.
- CPU and GPU: the slower of calibrated arithmetic and calibrated memory, where each value moves once in and
  once out, with a start for each stage of radix 8 once a stage (the limit stays one pass). Only part of a
  transform's operations are multiply-adds: at most half of their peak counts.
- One vector over the ranks: two passes of shorter transforms over the memory, and three exchanges in between
  whose bytes are read and written once more by each side; without a network's latencies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, log2

import numpy as np

from fabricmark.models import Board, Prediction, Synthesis, Traits, _roofline, _transfers
from fabricmark.models._kernel_time import KernelTime, kernel_time, per_second
from fabricmark.models._measured import Run
from fabricmark.models._missing import MissingValue
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import Bitstream

OPERATIONS = ("forward", "inverse")
TRAITS = Traits(("performance", {"operation": "forward"}))
INPUTS = (
    *_roofline.INPUTS, *_transfers.INPUTS, "bitstream.clock", "bitstream.memory.matrix_banks",
    "bitstream.fitted.pipeline_efficiency",
)  # fmt: skip
VALUE_BYTES = {name: 2 * ELEMENT_BYTES[name] for name in ("float", "double")}  # of a complex number
UNFUSED = 0.5  # a multiply-add counts as two operations, a plain addition as one
STAGE_POINTS = 8  # radix of a stage, where a result does not say that of its passes
DISTRIBUTED_PASSES = 2
# By the kernels of GPUs: runs are moved three times, and rows transposed, beside the passes along both axes.
MOVES = 4
DISTRIBUTED_EXCHANGES = 3


def flops(log_size: int) -> float:
    """Operations of one transform: 5 n log2 n (Meyer 2024, section 3.1.4)."""
    return 5.0 * 2.0**log_size * log_size


def bank_pairs(board: Board):
    """A replication reads from one bank and writes to another."""
    return np.maximum(1, board["memory.banks"] // 2)


def fpga_time(batch, replications, parameters: Mapping, board: Board, bitstream=None) -> KernelTime:
    """Of so many transforms by so many replications of one device.

    Raises ValueError for a board without clock.
    """
    known = {**parameters, "replications": replications}
    return kernel_time("fft", "fft", {"batch": batch / replications}, known, board, bitstream)


def fpga_seconds(parameters: Mapping, board: Board, ranks, bitstream=None) -> tuple:
    """(operations of one device's ranks, start of the replications [s], the transforms)."""
    here = np.ceil(ranks / board.devices)
    work = flops(parameters["log_size"]) * parameters["batch"] * here
    time = fpga_time(
        parameters["batch"] * here, parameters["replications"] * here, parameters, board, bitstream
    )
    return work, parameters["replications"] * board["host.launch_latency"], time


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """GFLOP/s of batched transforms on FPGAs; parameters, ranks and fields of the board may be arrays."""
    work, launch, time = fpga_seconds(parameters, board, ranks, bitstream)
    return per_second(work * board.devices / 1e9, launch, *time.times)


def fpga_predictions(parameters: Mapping, board: Board, ranks: int, bitstream=None) -> list[Prediction]:
    """Batched transforms on FPGAs; the limit is that of all banks.

    Raises ValueError for a board without clock.
    """
    _, launch, time = fpga_seconds(parameters, board, ranks, bitstream)
    log_size, pairs = parameters["log_size"], bank_pairs(board)
    (best,) = fpga_time(pairs, pairs, parameters, board).loops
    value = float(headline(parameters, board, ranks, bitstream=bitstream))
    limit = float(flops(log_size) * pairs / best.memory) * board.devices / 1e9
    bottleneck = _roofline.KERNEL if best.cycles > best.memory else _roofline.MEMORY
    bottleneck = _roofline.LAUNCH if launch > time.seconds else bottleneck
    explanation = "eight values a cycle from one bank to another (eq. 3.1)"
    bytes_per_flop = 2 * VALUE_BYTES[parameters["data_type"]] / (5 * log_size)
    about = (bottleneck, explanation, {"launch": launch, **time.phases()})
    return [
        Prediction(name, {"operation": operation}, value * scale, unit, limit * scale, *about)
        for operation in OPERATIONS
        for name, unit, scale in (("performance", "GFLOP/s", 1.0), ("bandwidth", "GB/s", bytes_per_flop))
    ]


def processor_work(parameters: Mapping, ranks: int) -> _roofline.Work:
    """What a rank of a CPU or GPU has to do. Raises MissingValue for a parameter that is missing."""
    log_size, data_type = parameters["log_size"], parameters["data_type"]
    distributed = parameters.get("scope", "batched") == "distributed"
    transforms = 1 / ranks if distributed else parameters["batch"]
    once = 2 * 2**log_size * VALUE_BYTES[data_type] * transforms
    in_stages = parameters.get("form") == "stages" and parameters.get("variant") == "throughput"
    radix_points = parameters.get("radix_points", STAGE_POINTS)
    passes = ceil(log_size / log2(radix_points)) if in_stages else 1
    if distributed:
        of_axis = ceil(ceil(log_size / 2) / log2(radix_points))
        passes = (2 * of_axis + MOVES if in_stages else DISTRIBUTED_PASSES) + DISTRIBUTED_EXCHANGES
    amount = flops(log_size) * transforms
    return _roofline.Work(amount, once, data_type, UNFUSED, passes, limited_by=_roofline.ARITHMETIC)


def processor_predictions(
    parameters: Mapping, board: Board, ranks: int, bitstream: Bitstream | None = None
) -> list[Prediction]:
    """Transforms on CPUs and GPUs: the slower of arithmetic and memory."""
    work = processor_work(parameters, ranks)
    distributed = parameters.get("scope", "batched") == "distributed"
    found = [
        _roofline.prediction(name, {"operation": operation}, unit, work, parameters, board, ranks, bitstream)
        for operation in OPERATIONS
        for name, unit in (("performance", "GFLOP/s"), ("bandwidth", "GB/s"))
    ]
    if distributed and board.hosts > 1:
        explanation = "no model: what the network between the hosts takes is not calibrated"
        found = [replace(entry, value=None, explanation=explanation) for entry in found]
    return found


def short_runs(defaults: Mapping) -> list[dict]:
    """Options of the runs that are fitted, the largest last; `defaults`: the parameters of a usual run.

    Both with an even number of stages less: of an odd one a stage has two values instead of four, which
    takes longer (17 instead of 20 GFLOP/s on two cores).
    """
    log_size, batch = defaults["log_size"], defaults["batch"]
    return [
        {"log_size": max(3, log_size - 2), "batch": 2 * batch},
        {"log_size": log_size, "batch": max(1, batch // 2)},
    ]


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """Parameters of a kernel's model on a CPU or GPU from short runs: efficiency, start, transfers."""
    axes = [{"operation": operation} for operation in OPERATIONS]
    return {
        **_roofline.fit_parameters(
            runs, "performance", axes, "GFLOP/s", lambda run: processor_work(run.parameters, run.ranks)
        ),
        **_transfers.fit_parameters(runs),
    }


def synthesis(parameters: Mapping) -> Synthesis:
    """A stage for each power of two, and shift registers for all values, for each replication."""
    values = 2.0 ** parameters["log_size"] * VALUE_BYTES[parameters.get("data_type", "float")]
    return Synthesis(parameters["replications"] * parameters["log_size"], parameters["replications"] * values)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """GFLOP/s and GB/s of both directions, all ranks together, and the transfers.

    `parameters`: those of the result file (scope, data_type, log_size, batch, replications, form), and
    `variant`.
    Raises MissingValue for one of them, or a clock, that is missing.
    """
    if parameters["data_type"] not in VALUE_BYTES:
        raise MissingValue("data_type")
    if board.device_class == "fpga":
        found = fpga_predictions(parameters, board, ranks, bitstream)
    else:
        found = processor_predictions(parameters, board, ranks, bitstream)
    is_distributed = parameters.get("scope", "batched") == "distributed"
    transforms = 1 / ranks if is_distributed else parameters["batch"]
    array_bytes = transforms * 2.0 ** parameters["log_size"] * VALUE_BYTES[parameters["data_type"]]
    return [*found, *_transfers.predictions(board, ranks, bitstream, array_bytes)]
