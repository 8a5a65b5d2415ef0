"""STREAM: Copy, Scale, Add, Triad and the transfers between host and device.

Time of an operation = start of the replications + streams / the slower of memory and kernel:

- FPGA (base kernel, Meyer 2024, section 3.1.2, Listing 3.1): three inner loops over one local buffer
  run one after the other, so a block of `buffer_size` vectors costs one phase a stream (load in1, load in2
  where there is one, store), as kernel.toml says. A kernel faster than its bank hides its drain (section
  3.3.1); the bank's own stalls hold up both. Replications work side by side, each on a bank of its own.
- FPGA with shared virtual memory (section 3.2.2, PAC): with a buffer no longer than the unroll the loops
  merge into one pipeline that reads and writes at the same time over a full-duplex path.
- CPU and GPU: rates from the calibration of the very machine, of which a kernel reaches the share that short
  runs of it reached.

Copy and Scale move 2 streams, Add and Triad 3 (Table 3.3). The source gives frequencies (Table 3.5),
parameters (Table 3.4), bank rates and results (Table 3.6), but neither what a bank reaches of its rate nor
how long a pipeline drains, nor the time to start a kernel or an operation: `bank_efficiency`, `drain_cycles`
and `launch_seconds` of a board and `start_seconds` of a design are inferred from measurements, as is the rate
of the PAC's PCI Express path. systems/*.toml hold the boards with the origin of each number, and the tests
compare all published runs.
"""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from fabricmark.base.terminal import percent
from fabricmark.models import Board, Prediction, Synthesis, Traits, _limits, _measured, _roofline, _transfers
from fabricmark.models._kernel_time import KernelTime, kernel_time, per_second, total
from fabricmark.models._missing import MissingValue
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import Bitstream, measured_of

STREAMS = {"copy": (1, 1), "scale": (1, 1), "add": (2, 1), "triad": (2, 1)}  # (read, written)
TRAITS = Traits(("bandwidth", {"operation": "triad"}), is_shared=True)
INPUTS = (
    *_transfers.INPUTS, "board.processor.core_bandwidth", "board.host.launch_latency", "bitstream.clock",
    "bitstream.fitted.start_latency", "bitstream.memory.matrix_banks", "board.memory.bank_efficiency",
    "board.memory.drain", "board.memory.read_bandwidth", "board.memory.write_bandwidth",
)  # fmt: skip
short_runs = _measured.smaller_sizes


def kernel_bytes_per_second(parameters: Mapping, element_bytes: int, kernel_hz: float | None) -> float:
    """Rate at which one replication's pipeline takes in one stream: frequency x vector width x unroll."""
    if kernel_hz is None:
        return float("inf")
    return kernel_hz * parameters["vector_width"] * parameters["unroll"] * element_bytes


def block_elements(parameters: Mapping):
    """Elements in the local buffer, whose length counts vectors (DEVICE_BUFFER_SIZE)."""
    return parameters["buffer_size"] * parameters["vector_width"]


def buffered_time(elements, operation: str, parameters: Mapping, board: Board, bitstream) -> KernelTime:
    """Of the replication that has most; `elements` of each array belong to the whole device."""
    units = np.ceil(np.ceil(elements / block_elements(parameters)) / parameters["replications"])
    arguments = {"pieces": units, "use_second": STREAMS[operation][0] - 1}
    return kernel_time("stream", "stream", arguments, parameters, board, bitstream)


def single_pipeline_seconds(elements, operation: str, parameters: Mapping, board: Board):
    """Time of all replications with separate read and write paths [s]: the slowest of the three.

    `elements` of each array belong to the whole device. Source: Meyer 2024, section 3.2.2 (PAC SVM).
    """
    read, written = STREAMS[operation]
    array_bytes = elements * ELEMENT_BYTES[parameters["data_type"]]
    kernel_rate = kernel_bytes_per_second(parameters, 1, board.get("clock")) * parameters["replications"]
    known = (board.get("memory.read_bandwidth"), board.get("memory.write_bandwidth"))
    paths = [board.memory_bytes_per_second if path is None else path for path in known]
    moving = np.maximum(read * array_bytes / paths[0], written * array_bytes / paths[1])
    return np.maximum(moving, elements / kernel_rate)


def is_single_pipeline(parameters: Mapping, board: Board):
    """Whether the three loops merge: a buffer as long as the unroll, and paths that allow it."""
    if board.get("memory.read_bandwidth") is None:
        return np.asarray(False)
    return np.asarray(parameters["buffer_size"]) <= parameters["unroll"]


def fpga_seconds(operation: str, elements, parameters: Mapping, board: Board, bitstream) -> tuple:
    """(start of the replications [s], the rest [s], the loop over buffers that it is where nothing merges) of
    one operation on one FPGA; `elements` of each array."""
    loop, *others = buffered_time(elements, operation, parameters, board, bitstream).loops
    moving = loop.seconds
    if board.get("memory.read_bandwidth") is not None:  # no buffer makes its paths faster
        single = single_pipeline_seconds(elements, operation, parameters, board)
        moving = np.where(is_single_pipeline(parameters, board), single, np.maximum(moving, single))
    starting = parameters["replications"] * board["host.launch_latency"]
    launch = total(starting, *(other.seconds for other in others))
    return launch, moving, loop


def fpga_operation(operation: str, elements: float, parameters: Mapping, board: Board, bitstream) -> tuple:
    """(seconds, bottleneck, explanation, phases) of one operation on one FPGA; `elements` of each array."""
    launch, moving, loop = fpga_seconds(operation, elements, parameters, board, bitstream)
    launch, moving = float(launch), float(moving)
    if is_single_pipeline(parameters, board):
        element_bytes = ELEMENT_BYTES[parameters["data_type"]]
        kernel_rate = kernel_bytes_per_second(parameters, element_bytes, board.get("clock"))
        kernel_bound = moving <= elements * element_bytes / (kernel_rate * parameters["replications"])
        explanation = "one pipeline reads and writes at the same time"
    else:
        kernel_bound = loop.cycles > loop.memory
        explanation = f"{sum(STREAMS[operation])} phases a block, each the slower of bank and kernel"
    bottleneck = _roofline.KERNEL if kernel_bound else _roofline.MEMORY
    bottleneck = _roofline.LAUNCH if launch > moving else bottleneck
    return launch + moving, bottleneck, explanation, {"launch": launch, "memory and kernel": moving}


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """GB/s of Triad on FPGAs; parameters, ranks and fields of the board may be arrays."""
    elements = parameters["size"] * np.ceil(ranks / board.devices)
    moved = elements * sum(STREAMS["triad"]) * ELEMENT_BYTES[parameters["data_type"]]
    launch, moving, _ = fpga_seconds("triad", elements, parameters, board, bitstream)
    return per_second(moved * board.devices / 1e9, launch, moving)


def processor_rate(parameters: Mapping, board: Board, workers: int) -> tuple[float, str] | None:
    """(bytes per second, bottleneck) of a CPU or GPU whose replications over all ranks are `workers`.

    A single work-item replication runs on one core; an ND-range kernel uses the whole device. None for
    single work-item kernels on a GPU: calibration has no rate for one of its lanes.
    """
    whole = board.memory_bytes_per_second
    if parameters.get("variant", "base") == "throughput":
        return whole, "memory bandwidth"
    of_core = board.get("processor.core_bandwidth")
    if of_core is None:
        return None
    some = workers * of_core
    return (some, "one core's bandwidth") if some < whole else (whole, "memory bandwidth")


def limit_bytes_per_second(operation: str, moved_bytes: float, board: Board) -> float:
    """What the memory or cache that holds one device's arrays can move, all devices together."""
    whole = board.memory_bytes_per_second
    if board.limits is not None:
        mix = _limits.COPY if sum(STREAMS[operation]) == 2 else _limits.TRIAD
        whole = board.limits.moving(mix, moved_bytes) or whole
    return whole * board.devices


def operation_prediction(
    operation: str, parameters: Mapping, board: Board, ranks: int, bitstream: Bitstream | None = None
) -> Prediction:
    """Copy, Scale, Add or Triad, summed over the ranks; `size` counts the elements of one rank's array."""
    ranks_here = ceil(ranks / board.devices)
    elements = parameters["size"] * ranks_here
    moved = elements * sum(STREAMS[operation]) * ELEMENT_BYTES[parameters["data_type"]]
    limit = limit_bytes_per_second(operation, moved, board)
    axes, phases = {"operation": operation}, {}
    fitted = measured_of(bitstream)
    if board.device_class == "fpga":
        found = fpga_operation(operation, elements, parameters, board, bitstream)
        seconds, bottleneck, explanation, phases = found
    else:
        replications = parameters.get("replications", 1)
        rate = processor_rate(parameters, board, replications * ranks_here)
        if rate is None:
            explanation = "no model: nothing calibrated says how fast one work-item runs on this device"
            return Prediction("bandwidth", axes, None, "GB/s", limit / 1e9, "-", explanation)
        launch = replications * board["host.launch_latency"] + fitted.get("start_seconds", 0.0)
        moving = moved / rate[0] / fitted.get("efficiency", 1.0)
        seconds = launch + moving
        bottleneck = "launch latency" if launch > moving else rate[1]
        explanation = "copy rate of the calibration, for arrays larger than the caches"
        if "efficiency" in fitted:
            explanation += f"; of that the kernel reaches {percent(fitted['efficiency'])} (measured)"
    value = moved / seconds * board.devices
    return Prediction("bandwidth", axes, value / 1e9, "GB/s", limit / 1e9, bottleneck, explanation, phases)


def fit_parameters(runs: Sequence[_measured.Run]) -> dict[str, float]:
    """Parameters of a kernel's model on a CPU or GPU from short runs: efficiency, start, transfers."""
    pairs = []
    for run in runs:
        ranks_here = ceil(run.ranks / run.board.devices)
        replications = run.parameters.get("replications", 1)
        found = processor_rate(run.parameters, run.board, replications * ranks_here)
        for operation, streams in STREAMS.items() if found is not None else ():
            rate = run.best("bandwidth", "GB/s", operation=operation)
            if rate is not None:
                moved = run.parameters["size"] * sum(streams) * ELEMENT_BYTES[run.parameters["data_type"]]
                taken = moved * ranks_here * run.board.devices / (rate * 1e9)
                launch = replications * run.board["host.launch_latency"]
                pairs.append((moved * ranks_here / found[0], taken - launch))
    return {**_measured.efficiency(pairs), **_transfers.fit_parameters(runs)}


def synthesis(parameters: Mapping) -> Synthesis:
    """A multiply-add for each value of a cycle, and one local buffer, for each replication."""
    lanes = parameters["vector_width"] * parameters["unroll"]
    buffered = block_elements(parameters) * ELEMENT_BYTES[parameters["data_type"]]
    return Synthesis(parameters["replications"] * lanes, parameters["replications"] * buffered)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """All six operations of STREAM for `ranks` ranks on `board.devices` devices.

    `parameters`: those of the result file (data_type, size, vector_width, unroll, buffer_size,
    replications), and `variant`. Raises MissingValue for one of them that is missing.
    """
    if parameters["data_type"] not in ELEMENT_BYTES:
        raise MissingValue("data_type")
    predictions = [operation_prediction(name, parameters, board, ranks, bitstream) for name in STREAMS]
    array_bytes = parameters["size"] * ELEMENT_BYTES[parameters["data_type"]]
    return predictions + _transfers.predictions(board, ranks, bitstream, array_bytes)
