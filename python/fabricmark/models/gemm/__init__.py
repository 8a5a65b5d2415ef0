"""GEMM: C = alpha A B + beta C for square matrices, one problem on every rank.

- FPGA (base kernel): three pipelines that run one after the other, equation 3.2 of Meyer 2024 (section
  3.2.4), as kernel.toml says: load blocks of A and B, multiply them, and once in n / b blocks add the block
  of C. Whole rows of blocks are dealt out to the replications, and the first has most. The source names f_mem
  "the frequency of the memory interface" and gives no value; `memory_hz` of a published board is inferred
  (systems/bitstreams say how).
- CPU and GPU: the slower of calibrated arithmetic and calibrated memory, where each matrix moves once; of the
  arithmetic a kernel reaches the share that short runs of it reached, by their size.
"""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from fabricmark.models import Board, Prediction, Synthesis, Traits, _limits, _roofline, _transfers
from fabricmark.models._kernel_time import KernelTime, kernel_time, per_second, quantity
from fabricmark.models._measured import Run, several_sizes
from fabricmark.models._missing import MissingValue
from fabricmark.models._types import ARITHMETIC, ELEMENT_BYTES
from fabricmark.models.machine import Bitstream, Times

OPERATION = {"operation": "gemm"}
TRAITS = Traits(("performance", OPERATION), by_ranks=True)
INPUTS = (
    *_roofline.INPUTS, *_transfers.INPUTS, "board.arithmetic.half", "board.memory.clock", "bitstream.clock",
)  # fmt: skip
short_runs = several_sizes
MATRICES = 4  # A, B and C are read, C is written
GROWTH = 3 / 2  # n^3 operations on n^2 elements
# A parameter of published runs alone (published.py).
EVEN_PARTS = "even_parts"


def flops(size: float) -> float:
    """Operations of one multiplication: 2 n^3 (Meyer 2024, section 3.1.5)."""
    return 2.0 * size**3


def normalised(flops_per_second: float, replications: int, kernel_hz: float) -> float:
    """Per replication and 100 MHz (Meyer 2024, Table 3.6, "GEMM norm")."""
    return flops_per_second / replications / (kernel_hz / 100e6)


def fpga_time(parameters: Mapping, board: Board, blocks, block_rows) -> KernelTime:
    """Of a replication that has so many of the rows of blocks, of as many `blocks` each.

    Raises ValueError for a board without clock.
    """
    arguments = {"blocks": blocks, "block_rows": block_rows}
    return kernel_time("gemm", "multiply", arguments, parameters, board)


def most_block_rows(parameters: Mapping):
    """Of a replication, the first: whole rows of blocks, as the program deals them; with `even_parts` its
    even share. Parameters may be arrays.
    """
    if parameters.get(EVEN_PARTS):
        return quantity("gemm", "block_edge", parameters, {}) / parameters["replications"]
    return quantity("gemm", "block_row_share", parameters, {"replica": 0})


def fpga_seconds(parameters: Mapping, board: Board) -> tuple[float, KernelTime]:
    """(start of the replications [s], multiplication) of each rank: replications and ranks side by side."""
    blocks = quantity("gemm", "block_edge", parameters, {})
    time = fpga_time(parameters, board, blocks, most_block_rows(parameters))
    return parameters["replications"] * board["host.launch_latency"], time


def intensity(parameters: Mapping):
    """Operations for each byte that all replications together move on an FPGA: blocks of A and B for each
    block of C, and C twice. Parameters may be arrays.
    """
    size = parameters["size"]
    moved = 2 * size**2 * (size / parameters["block_size"] + 1) * ELEMENT_BYTES[parameters["data_type"]]
    return flops(size) / moved


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """GFLOP/s on FPGAs; parameters, ranks and fields of the board may be arrays."""
    here = np.ceil(ranks / board.devices)
    launch, time = fpga_seconds(parameters, board)
    return per_second(flops(parameters["size"]) * here * board.devices / 1e9, launch, *time.times)


def fpga_prediction(parameters: Mapping, board: Board, ranks: int) -> Prediction:
    """GEMM on FPGAs; the limit is that of nothing but multiplications."""
    launch, time = fpga_seconds(parameters, board)
    one = fpga_time(parameters, board, 1.0, 1.0)
    replications = parameters["replications"] * ceil(ranks / board.devices)
    limit = replications * flops(parameters["block_size"]) / one.of_kernel * board.devices
    bottleneck = _roofline.KERNEL if one.of_kernel >= one.seconds / 2 else _roofline.MEMORY
    bottleneck = _roofline.LAUNCH if launch > time.seconds else bottleneck
    return Prediction(
        "performance", OPERATION, float(headline(parameters, board, ranks)), "GFLOP/s", float(limit) / 1e9,
        bottleneck, "load, multiply and add one after the other (eq. 3.2), replications side by side",
        {"launch": launch, **time.phases()},
    )  # fmt: skip


def processor_work(parameters: Mapping) -> _roofline.Work:
    """What a rank of a CPU or GPU has to do; each matrix moves once."""
    data_type = parameters["data_type"]
    moved = MATRICES * parameters["size"] ** 2 * ELEMENT_BYTES[data_type]
    about = (flops(parameters["size"]), moved, ARITHMETIC[data_type])
    return _roofline.Work(*about, limited_by=_roofline.ARITHMETIC, mix=_limits.TRIAD, growth=GROWTH)


def processor_prediction(
    parameters: Mapping, board: Board, ranks: int, bitstream: Bitstream | None = None
) -> Prediction:
    """GEMM on CPUs and GPUs: the slower of arithmetic and memory."""
    about = ("performance", OPERATION, "GFLOP/s", processor_work(parameters))
    return _roofline.prediction(*about, parameters, board, ranks, bitstream)


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """Parameters of a kernel's model on a CPU or GPU from short runs: transfers, and where these are too few
    for a curve, efficiency and start."""
    fitted = {} if processor_curves(runs) else _roofline.fit_parameters(*_told(runs))
    return {**fitted, **_transfers.fit_parameters(runs)}


def processor_curves(runs: Sequence[Run]) -> dict[str, Times]:
    """Times of the kernel by size from short runs of several sizes."""
    return _roofline.kernel_curve(*_told(runs))


def _told(runs: Sequence[Run]) -> tuple:
    """What of runs tells how fast the kernel is."""
    return runs, "performance", [OPERATION], "GFLOP/s", lambda run: processor_work(run.parameters)


def synthesis(parameters: Mapping) -> Synthesis:
    """g^3 multiply-adds and blocks of A, B and C, for each replication (Meyer 2024, section 3.1.5)."""
    blocks = 3 * parameters["block_size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    return Synthesis(
        parameters["replications"] * parameters["gemm_size"] ** 3, parameters["replications"] * blocks
    )


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """GFLOP/s of all ranks, and the transfers.

    `parameters`: those of the result file (size, data_type, replications; on an FPGA block_size, gemm_size,
    unroll) and `variant`; of published runs `even_parts`. Raises MissingValue for one of them, or a clock,
    that is missing.
    """
    if parameters["data_type"] not in ELEMENT_BYTES:
        raise MissingValue("data_type")
    if board.device_class == "fpga":
        found = fpga_prediction(parameters, board, ranks)
    else:
        found = processor_prediction(parameters, board, ranks, bitstream)
    array_bytes = parameters["size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    return [found, *_transfers.predictions(board, ranks, bitstream, array_bytes)]
