"""PTRANS: C = B + A^T of matrices that are dealt out in blocks over a grid of devices.

Dissertation 000, section 4.1.2: equations 4.5 and 4.6, and the peak over direct channels.

- Over the host: the exchange of all blocks, then the base kernel's three pipelines for each block, one after
  the other (eq. 4.5), replications side by side, no faster than the memory. The equation of the source
  multiplies by the clock of the channel where it must divide.
- Over direct channels: what the channels carry, i r 32 B 156.25 MHz, as long as the memory has three times
  their bandwidth (eq. 4.6).
- CPU and GPU: the calibrated memory, through which A, B and C go once, and the steps of the way over the host
  for what a rank does not own itself; on a GPU both at the same time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, lcm

import numpy as np

from fabricmark.models import Board, Prediction, _grid, _host_path, _roofline, _transfers
from fabricmark.models._measured import Run, efficiency, figures_of
from fabricmark.models.b_eff import BITTWARE_520N, Channels
from fabricmark.models.machine import Bitstream, Network

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


def shares_sent(grid: tuple[int, int]) -> np.ndarray:
    """Part of its blocks that each rank of a P x Q grid sends to others: (i, j) goes to where (j, i) is."""
    rows, columns = grid
    place = np.arange(lcm(rows, columns))
    owner = (place[:, None] % rows) * columns + place[None, :] % columns
    sent = np.bincount(owner[owner != owner.T], minlength=rows * columns)
    return sent / np.bincount(owner.ravel())


def sent(parameters: Mapping, ranks: int) -> np.ndarray:
    """The same for the distribution of the parameters.

    Along diagonals ranks are couples, which exchange all but the blocks of the main diagonal. Raises
    ValueError for a grid that the ranks do not fill.
    """
    if parameters.get("distribution", "pq") == "diagonal":
        couples = np.arange(ranks) < ranks - ranks % 2
        return np.where(couples, 1 - 1 / ceil(parameters["size"] / parameters["block_size"]), 0.0)
    return shares_sent(_grid.shape(ranks, parameters.get("grid_rows", 0)))


def exchange_seconds(
    sent_bytes: float, part_bytes: float, parameters: Mapping, board: Board, ranks: int,
    network: Network | None = None,
) -> float | None:  # fmt: skip
    """Time in which every rank sends and receives so many bytes [s]; None where nothing says.

    Over transport cpu a rank's whole part is then written to its device.
    """
    arrived = part_bytes if parameters["transport"] == "cpu" else sent_bytes
    if arrived == 0:
        return 0.0
    each_way = 1 / _host_path.DIRECTIONS
    found = _host_path.calculated_steps([max(sent_bytes, 1) * each_way], board, ranks, (), network)
    write = _host_path.copy_seconds("write", [arrived * each_way], board, ranks)
    if found is None or write is None:
        return None
    read, message, _ = found[0]
    seconds = write + (message if sent_bytes else 0) + (0 if parameters["transport"] == "cpu" else read)
    return float(seconds[0])


def addition_seconds(
    parameters: Mapping, board: Board, ranks: int, bitstream: Bitstream | None = None
) -> tuple[float, str] | None:
    """(time of the kernels [s], what they wait for); None where nothing says.

    Raises ValueError for an FPGA without clock.
    """
    element_bytes, replications = ELEMENT_BYTES[parameters["data_type"]], parameters["replications"]
    ranks_here = ceil(ranks / board.devices)
    part = parameters["size"] ** 2 * element_bytes / ranks
    launch = replications * board.launch_seconds
    if board.device_class != "fpga":
        share = _roofline.share(parameters, board, ranks_here)
        if share is None:
            return None
        work = _roofline.Work(part / element_bytes, MATRICES * part, parameters["data_type"])
        busy, word = _roofline.seconds(work, board, ranks_here, share, figures_of(bitstream))
        return busy + launch, _roofline.LAUNCH if launch > busy else word
    if board.kernel_hz is None:
        raise ValueError("kernel_hz")
    design = Design(
        board.name, replications, parameters["block_size"], parameters["channel_width"] * element_bytes,
        board.kernel_hz, board.memory_bytes_per_second / ranks_here, 1.0, 1.0, element_bytes=element_bytes,
    )  # fmt: skip
    busy = kernel_seconds(part, design)
    unbound = kernel_seconds(part, replace(design, memory_bytes_per_second=np.inf))
    word = KERNEL if busy == unbound else _roofline.MEMORY
    return busy + launch, _roofline.LAUNCH if launch > busy else word


def limits_seconds(part_bytes: float, sent_bytes: float, board: Board, ranks: int) -> tuple[float, float]:
    """Least times of kernels and exchange [s]; 0 where nothing is known of the hosts.

    A, B and C go once through the devices' memories, the messages once through those of the hosts.
    """
    kernels = MATRICES * part_bytes * ceil(ranks / board.devices) / board.memory_bytes_per_second
    copying = _transfers.copy_limit(board)
    return kernels, 0.0 if copying is None else sent_bytes * ranks / (copying * board.hosts)


def processor_figures(runs: Sequence[Run]) -> dict[str, float]:
    """Figures of a kernel on a CPU or GPU from short runs: efficiency and start, and those of the exchange.

    exchange_efficiency, exchange_start_seconds: against the way over the host as it was calibrated.
    """
    kernels, exchanges = [], []
    for run in runs:
        shares = sent(run.parameters, run.ranks)
        matrix = run.parameters["size"] ** 2 * ELEMENT_BYTES[run.parameters["data_type"]]
        part = matrix / run.ranks
        adding = addition_seconds(run.parameters, run.board, run.ranks)
        rate = run.best("bandwidth", "GB/s", operation="kernels")
        launch = run.parameters["replications"] * run.board.launch_seconds
        if adding is not None and rate is not None:
            kernels.append((adding[0] - launch, MATRICES * matrix / (rate * 1e9) - launch))
        most = part * float(shares.max())
        exchange = exchange_seconds(most, part, run.parameters, run.board, run.ranks, run.network)
        rate = run.best("bandwidth", "GB/s", operation=EXCHANGE)
        if exchange and rate is not None:
            arrived = 1.0 if run.parameters["transport"] == "cpu" else float(shares.mean())
            exchanges.append((exchange, matrix * arrived / (rate * 1e9)))
    return {
        **efficiency(kernels),
        **efficiency(exchanges, EXCHANGE),
        **_transfers.processor_figures(runs),
    }


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """GB/s and GFLOP/s of the whole, GB/s of its parts, all ranks together, and the transfers.

    Counted as HPC Challenge does, the bytes of one matrix over the time; of the kernels A, B and C; of the
    exchange what arrives. `parameters`: those of the result file (size, block_size, distribution, grid_rows,
    data_type, replications, transport; on an FPGA channel_width) and `variant`. Raises KeyError when one of
    them is missing, ValueError for an FPGA without clock or a grid that the ranks do not fill.
    """
    elements, element_bytes = parameters["size"] ** 2, ELEMENT_BYTES[parameters["data_type"]]
    matrix = elements * element_bytes
    shares = sent(parameters, ranks)
    most = matrix / ranks * float(shares.max())
    arrived = matrix * (1.0 if parameters["transport"] == "cpu" else float(shares.mean()))
    least = limits_seconds(matrix / ranks, most, board, ranks)
    exchange = exchange_seconds(most, matrix / ranks, parameters, board, ranks, network)
    if exchange:
        figures = figures_of(bitstream)
        exchange = exchange / figures.get("exchange_efficiency", 1.0)
        exchange += figures.get("exchange_start_seconds", 0.0)
    adding = addition_seconds(parameters, board, ranks, bitstream)
    seconds: tuple = (None, None, None)
    words, explanation = ("-", "-"), "no model: nothing calibrated says how fast the messages are"
    if adding is None:
        explanation = "no model: nothing calibrated says how fast one work-item runs on this device"
    elif exchange is not None:
        together = max if board.device_class == "gpu" else _one_after_the_other
        seconds = (together(exchange, adding[0]), adding[0], exchange)
        words = (EXCHANGE if exchange > adding[0] else adding[1], adding[1])
        explanation = "exchange of the blocks and the additions (eq. 4.5)"
    rows = [
        ("bandwidth", "transpose", "GB/s", matrix, seconds[0], max(least), words[0]),
        ("performance", "transpose", "GFLOP/s", elements, seconds[0], max(least), words[0]),
        ("bandwidth", "kernels", "GB/s", MATRICES * matrix, seconds[1], least[0], words[1]),
    ]
    if arrived:
        rows.append(("bandwidth", "exchange", "GB/s", arrived, seconds[2], least[1], EXCHANGE))
    return [
        *(
            Prediction(
                name, {"operation": operation}, work / time / 1e9 if time else None, unit,
                work / shortest / 1e9 if shortest else None, word, explanation,
            )
            for name, operation, unit, work, time, shortest, word in rows
        ),
        *_transfers.predictions(board, ranks, bitstream),
    ]  # fmt: skip


def _one_after_the_other(exchange: float, adding: float) -> float:
    return exchange + adding
