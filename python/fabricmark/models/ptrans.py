"""PTRANS: C = B + A^T of matrices that are dealt out in blocks over a grid of devices.

Dissertation 000, section 4.1.2: equations 4.5 and 4.6, and the peak over direct channels.

- Over the host: the exchange of all blocks, then the base kernel's three pipelines for each block, one after
  the other (eq. 4.5), replications side by side, no faster than the memory. The equation of the source
  multiplies by the clock of the channel where it must divide.
- Over direct channels: what the channels carry, i r 32 B 156.25 MHz, as long as the memory has three times
  their bandwidth (eq. 4.6).
- CPU and GPU: the calibrated memory, through which A, B and C go once, and the steps of the way over the host
  for what a rank does not own itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, lcm

import numpy as np

from fabricmark.models import Board, Prediction, _grid, _host_path, _roofline, _transfers
from fabricmark.models.b_eff import BITTWARE_520N, Channels

OPERATION = {"operation": "transpose"}
ELEMENT_BYTES = {"float": 4, "double": 8}
PIPELINES = 3  # read A; read B and add; write C
MATRICES = 3  # A and B are read, C is written
EXCHANGE = "exchange"
KERNEL = "kernel width x frequency"
CHANNELS = "direct channels"


@dataclass(frozen=True)
class Design:
    """A bitstream (Table 4.6), its board's memory, and three figures that only measurements tell.

    `width_bytes`: of one access of a pipeline, or of a channel. `exchange_bytes_per_second`: of one device,
    each way. `copy_bytes_per_second`: between host and device. `start_seconds`: of all kernels and exchanges.
    """

    name: str
    replications: int
    block_size: int
    width_bytes: int
    kernel_hz: float
    memory_bytes_per_second: float
    exchange_bytes_per_second: float
    copy_bytes_per_second: float
    start_seconds: float = 0.0
    element_bytes: int = 4
    over_channels: bool = False


def block_seconds(exchange_seconds, block: int, width_values: float, clock_hz: float):
    """Time of one block [s]: its exchange, then three pipelines (dissertation 000, eq. 4.5, corrected).

    t = t_MPI + 3 b^2 / (c_w c_f)
    """
    return exchange_seconds + PIPELINES * block**2 / (width_values * clock_hz)


def needed_bytes_per_second(replications: int, width_bytes: float, clock_hz: float) -> float:
    """Memory bandwidth without which channels have to wait: 3 r c_w c_f (dissertation 000, eq. 4.6)."""
    return PIPELINES * replications * width_bytes * clock_hz


def channels_bytes_per_second(devices: int, replications: int, channels: Channels = BITTWARE_520N) -> float:
    """Most that goes over the channels of so many devices: i r 32 B 156.25 MHz (section 4.1.2.2)."""
    return devices * replications * channels.width_bytes * channels.clock_hz


def kernel_seconds(part_bytes: float, design: Design) -> float:
    """Time of the base kernel for a device's part of a matrix [s]: eq. 4.5 without its exchange.

    Replications share out the blocks; no faster than the memory moves A, B and C.
    """
    width = design.width_bytes / design.element_bytes
    blocks = part_bytes / (design.block_size**2 * design.element_bytes)
    of_block = block_seconds(0.0, design.block_size, width, design.kernel_hz)
    computing = np.ceil(blocks / design.replications) * of_block
    return max(float(computing), MATRICES * part_bytes / design.memory_bytes_per_second)


def calculation_seconds(part_bytes: float, design: Design) -> float:
    """Time of exchange and addition for a device's part of a matrix [s] (HPCC FPGA's calc_time)."""
    exchange = part_bytes / design.exchange_bytes_per_second
    if design.over_channels:  # exchange, addition and memory go on at the same time
        exchange = max(exchange, MATRICES * part_bytes / design.memory_bytes_per_second)
        return design.start_seconds + exchange
    return design.start_seconds + exchange + kernel_seconds(part_bytes, design)


def transfer_seconds(part_bytes: float, design: Design) -> float:
    """Time to copy A and B to a device and C back [s] (HPCC FPGA's transfer_time)."""
    return MATRICES * part_bytes / design.copy_bytes_per_second


def share_sent(grid: tuple[int, int]) -> float:
    """Part of its blocks that a rank sends to others, of the rank that sends most; (i, j) goes to (j, i).

    0 for one rank, 1 where some rank owns no block's mirror image, as in square grids off the diagonal.
    """
    rows, columns = grid
    period = lcm(rows, columns)
    place = np.arange(period)
    owner = (place[:, None] % rows) * columns + place[None, :] % columns
    sent = np.bincount(owner[owner != owner.T], minlength=rows * columns)
    return float(np.max(sent / np.bincount(owner.ravel())))


def exchange_seconds(sent_bytes: float, parameters: Mapping, board: Board, ranks: int) -> float | None:
    """Time in which every rank sends and receives so many bytes [s]; None where nothing says."""
    if sent_bytes == 0:
        return 0.0
    found = _host_path.calculated_steps([sent_bytes / _host_path.DIRECTIONS], board, ranks, ())
    if found is None:
        return None
    steps, _ = found
    used = [steps[1]] if parameters["transport"] == "cpu" else steps
    return float(sum(used)[0])


def addition_seconds(parameters: Mapping, board: Board, ranks: int) -> tuple[float, str] | None:
    """(time of the kernels [s], what they wait for); None where nothing says.

    Raises ValueError for an FPGA without clock.
    """
    size, element_bytes = parameters["size"], ELEMENT_BYTES[parameters["data_type"]]
    ranks_here = ceil(ranks / board.devices)
    part = size**2 * element_bytes / ranks
    replications = parameters["replications"]
    launch = replications * board.launch_seconds
    if board.device_class != "fpga":
        share = _roofline.share(parameters, board, ranks_here)
        if share is None:
            return None
        work = _roofline.Work(size**2 / ranks, MATRICES * part, parameters["data_type"])
        busy, word = _roofline.seconds(work, board, ranks_here, share)
        return busy + launch, _roofline.LAUNCH if launch > busy else word
    if board.kernel_hz is None:
        raise ValueError("kernel_hz")
    width = parameters["channel_width"] * element_bytes
    memory = board.memory_bytes_per_second / ranks_here
    design = Design(
        board.name, replications, parameters["block_size"], width, board.kernel_hz, memory, 1.0, 1.0,
        element_bytes=element_bytes,
    )  # fmt: skip
    busy = kernel_seconds(part, design)
    unbound = kernel_seconds(part, replace(design, memory_bytes_per_second=np.inf))
    word = KERNEL if busy == unbound else _roofline.MEMORY
    return busy + launch, _roofline.LAUNCH if launch > busy else word


def limit_seconds(
    part_bytes: float, sent_bytes: float, parameters: Mapping, board: Board, ranks: int
) -> float:
    """Least time [s]: A, B and C once through the memories, or the messages through those of the hosts."""
    ranks_here = ceil(ranks / board.devices)
    least = MATRICES * part_bytes * ranks_here / board.memory_bytes_per_second
    copying = _transfers.copy_limit(board)
    if copying is None:
        return least
    return max(least, sent_bytes * ranks / (copying * board.hosts))


def predict(parameters: Mapping, board: Board, ranks: int) -> list[Prediction]:
    """GB/s of all ranks, counted as HPC Challenge does: bytes of one matrix over the time; and the transfers.

    `parameters`: those of the result file (size, block_size, grid_rows, data_type, replications, transport;
    on an FPGA channel_width) and `variant`. Raises KeyError when one of them is missing, ValueError for an
    FPGA without clock or a grid that the ranks do not fill.
    """
    matrix_bytes = parameters["size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    grid = _grid.shape(ranks, parameters.get("grid_rows", 0))
    sent = matrix_bytes / ranks * share_sent(grid)
    limit = matrix_bytes / limit_seconds(matrix_bytes / ranks, sent, parameters, board, ranks) / 1e9
    exchange = exchange_seconds(sent, parameters, board, ranks)
    adding = addition_seconds(parameters, board, ranks)
    transfers = _transfers.predictions(board, ranks)
    if exchange is None or adding is None:
        reason = (
            "how fast one work-item runs on this device" if adding is None else "how fast the messages are"
        )
        about = (None, "GB/s", limit, "-", f"no model: nothing calibrated says {reason}")
        return [Prediction("bandwidth", OPERATION, *about), *transfers]
    seconds, word = adding
    value = matrix_bytes / (exchange + seconds) / 1e9
    word = EXCHANGE if exchange > seconds else word
    explanation = "exchange of the blocks, then the additions (eq. 4.5)"
    return [Prediction("bandwidth", OPERATION, value, "GB/s", limit, word, explanation), *transfers]
