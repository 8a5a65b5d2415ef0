"""GEMM: C = alpha A B + beta C for square matrices, one problem on every rank.

- FPGA (base kernel): time of a block is the sum of three pipelines that run one after the other, equation 3.2
  of Meyer 2024 (section 3.2.4): load blocks of A and B, multiply them, and once in n / b blocks add the
  block of C. Replications share out the blocks. The source names f_mem "the frequency of the memory
  interface" and gives no value; `memory_hz` of a published board is inferred
  (systems/bitstreams say how).
- CPU and GPU: the slower of calibrated arithmetic and calibrated memory, where each matrix moves once; of the
  arithmetic a kernel reaches the share that short runs of it reached.
"""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from fabricmark.models import Board, Prediction, Synthesis, Traits, _limits, _roofline, _transfers
from fabricmark.models._measured import Run, smaller_sizes
from fabricmark.models.machine import Bitstream

OPERATION = {"operation": "gemm"}
TRAITS = Traits(("performance", OPERATION))
short_runs = smaller_sizes
# Type of the numbers that are multiplied and added, and bytes of the stored ones.
ARITHMETIC = {"half": "half", "float": "float", "double": "double", "mixed": "float"}
ELEMENT_BYTES = {"half": 2, "float": 4, "double": 8, "mixed": 2}
MATRICES = 4  # A, B and C are read, C is written


def flops(size: float) -> float:
    """Operations of one multiplication: 2 n^3 (Meyer 2024, section 3.1.5)."""
    return 2.0 * size**3


def block_steps(
    size: float, block: int, register_block: int, unroll: int, kernel_hz: float, memory_hz: float
) -> tuple[float, float, float]:
    """Times of loading, multiplying and adding to C for one block [s] (Meyer 2024, eq. 3.2).

    t = b^2 / (u f_mem) + b^3 / (g^3 f_k) + b^2 / (u (n / b) f_mem)
    """
    load = block**2 / (unroll * memory_hz)
    return load, block**3 / (register_block**3 * kernel_hz), load / (size / block)


def block_seconds(
    size: float, block: int, register_block: int, unroll: int, kernel_hz: float, memory_hz: float
) -> float:
    """Time of one block [s]: the sum of its three steps (Meyer 2024, eq. 3.2)."""
    return sum(block_steps(size, block, register_block, unroll, kernel_hz, memory_hz))


def normalised(flops_per_second: float, replications: int, kernel_hz: float) -> float:
    """Per replication and 100 MHz (Meyer 2024, Table 3.6, "GEMM norm")."""
    return flops_per_second / replications / (kernel_hz / 100e6)


def fpga_steps(parameters: Mapping, board: Board) -> tuple[tuple, object]:
    """(times of the steps of one block [s], part of the padded matrix's work that counts).

    Raises ValueError for a board without clock.
    """
    if board.kernel_hz is None:
        raise ValueError("kernel_hz")
    size, block = parameters["size"], parameters["block_size"]
    padded = np.ceil(size / block) * block
    shape = (padded, block, parameters["gemm_size"], parameters["unroll"], board.kernel_hz)
    memory_hz = board.kernel_hz if board.memory_hz is None else board.memory_hz
    return block_steps(*shape, memory_hz), (size / padded) ** 3


def fpga_seconds(parameters: Mapping, board: Board, ranks) -> tuple:
    """(start of the replications, multiplication) of one device's ranks [s]: replications side by side."""
    steps, share = fpga_steps(parameters, board)
    of_block = sum(steps) / parameters["replications"] / flops(parameters["block_size"])
    here = np.ceil(ranks / board.devices)
    busy = flops(parameters["size"]) * of_block / share
    # Ranks on one device have a kernel of their own each.
    return parameters["replications"] * board.launch_seconds, busy * np.ones_like(here)


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """GFLOP/s on FPGAs; parameters, ranks and fields of the board may be arrays."""
    here = np.ceil(ranks / board.devices)
    seconds = sum(fpga_seconds(parameters, board, ranks))
    return flops(parameters["size"]) * here / seconds * board.devices / 1e9


def fpga_prediction(parameters: Mapping, board: Board, ranks: int) -> Prediction:
    """GEMM on FPGAs: replications x the rate of one block."""
    steps, _ = fpga_steps(parameters, board)
    launch, busy = map(float, fpga_seconds(parameters, board, ranks))
    replications = parameters["replications"] * ceil(ranks / board.devices)
    limit = replications * flops(parameters["block_size"]) / steps[1] * board.devices
    bottleneck = "kernel width x frequency" if steps[1] >= sum(steps) / 2 else "memory bandwidth"
    bottleneck = _roofline.LAUNCH if launch > busy else bottleneck
    names = ("load", "multiply", "add to C")
    phases = {name: float(step / sum(steps) * busy) for name, step in zip(names, steps, strict=True)}
    return Prediction(
        "performance", OPERATION, float(headline(parameters, board, ranks)), "GFLOP/s", float(limit) / 1e9,
        bottleneck, "load, multiply and add one after the other (eq. 3.2), replications side by side",
        {"launch": launch, **phases},
    )  # fmt: skip


def processor_work(parameters: Mapping) -> _roofline.Work:
    """What a rank of a CPU or GPU has to do; each matrix moves once."""
    data_type = parameters["data_type"]
    moved = MATRICES * parameters["size"] ** 2 * ELEMENT_BYTES[data_type]
    about = (flops(parameters["size"]), moved, ARITHMETIC[data_type])
    return _roofline.Work(*about, limited_by=_roofline.ARITHMETIC, mix=_limits.TRIAD)


def processor_prediction(
    parameters: Mapping, board: Board, ranks: int, bitstream: Bitstream | None = None
) -> Prediction:
    """GEMM on CPUs and GPUs: the slower of arithmetic and memory."""
    about = ("performance", OPERATION, "GFLOP/s", processor_work(parameters))
    return _roofline.prediction(*about, parameters, board, ranks, bitstream)


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """Parameters of a kernel's model on a CPU or GPU from short runs: efficiency, start, transfers."""
    return {
        **_roofline.fit_parameters(
            runs, "performance", [OPERATION], "GFLOP/s", lambda run: processor_work(run.parameters)
        ),
        **_transfers.fit_parameters(runs),
    }


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
    unroll) and `variant`. Raises KeyError when one of them is missing, ValueError for an FPGA without clock.
    """
    if parameters["data_type"] not in ELEMENT_BYTES:
        raise KeyError("data_type")
    if board.device_class == "fpga":
        found = fpga_prediction(parameters, board, ranks)
    else:
        found = processor_prediction(parameters, board, ranks, bitstream)
    array_bytes = parameters["size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    return [found, *_transfers.predictions(board, ranks, bitstream, array_bytes)]
