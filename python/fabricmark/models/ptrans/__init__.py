"""PTRANS: C = B + A^T of matrices that are block-cyclic over a grid of devices.

Meyer 2024, section 4.1.2: equations 4.5 and 4.6, and the peak over direct channels.

- Over the host: the exchange of all blocks, then the base kernel's three pipelines for each block, one after
  the other (eq. 4.5), replications side by side, no faster than the memory. The equation of the source
  multiplies by the clock of the channel where it must divide.
  In a described system A is read whole, what belongs to others is sent while the host puts its blocks in
  order, and A is written whole, by memory that the driver knows.
- Over direct channels: what the channels carry, i r 32 B 156.25 MHz (of narrower words less, as each takes a
  cycle), as long as the memory has three times their bandwidth (eq. 4.6) and the kernels their clock;
  "channel_efficiency" and "start_seconds" of a bitstream are fitted.
- CPU and GPU: the calibrated memory, through which A, B and C go once, and the steps of the path over the
  host for what a rank does not own itself; on a GPU both at the same time. Kernels and exchange reach the
  shares of these that short runs of them reached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from fabricmark.base import transports
from fabricmark.models import (
    Board,
    Prediction,
    Synthesis,
    Traits,
    _host_path,
    _network,
    _roofline,
    _transfers,
)
from fabricmark.models._kernel_time import KernelTime, kernel_time, total
from fabricmark.models._limits import TRIAD
from fabricmark.models._measured import Run, efficiency
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import HOST, Bitstream, Network, measured_of
from fabricmark.models.ptrans import own_program
from fabricmark.models.ptrans.distribution import most_sent, sent
from fabricmark.models.ptrans.distribution import shares_sent as shares_sent

MATRICES = 3  # A and B are read, C is written
EXCHANGE = "exchange"
OWN_CODE = "this project's host code moves only the blocks that belong to others, each by itself"
TRAITS = Traits(
    ("bandwidth", {"operation": "transpose"}), exchanges=True, on_grid=True, is_shared=True,
    foreign={transports.HOST: OWN_CODE},
)  # fmt: skip
INPUTS = (
    *_roofline.INPUTS, *_transfers.COPIES, *_network.ARRAYS, *_network.MESSAGES, *_network.LINK,
    "network.links.count", "network.ordering_bandwidth", "bitstream.clock", "bitstream.memory.matrix_banks",
    "bitstream.fitted.channel_efficiency", "bitstream.fitted.start_latency",
)  # fmt: skip
waits_for, own_headline, own_bottleneck = (
    own_program.waits_for, own_program.headline, own_program.bottleneck
)  # fmt: skip


def short_runs(defaults: Mapping) -> list[dict]:
    """Options of the runs that are fitted, the largest last: half of a usual matrix may lie in caches, whose
    rates say nothing of the whole."""
    whole = defaults["size"]
    return [{"size": max(1, whole * 3 // 4)}, {"size": max(1, whole * 7 // 8)}]


@dataclass(frozen=True)
class Times:
    """Of one transposition [s]: start of the kernels, exchange, additions; the last two overlap or not.

    None where nothing says. `word`: what the additions wait for.
    """

    start: float
    exchange: float | None
    kernels: float | None
    word: str
    together: bool = False

    @property
    def total(self):
        """Of the whole; None where a part is unknown."""
        if self.exchange is None or self.kernels is None:
            return None
        if self.together:
            return self.start + np.maximum(self.exchange, self.kernels)
        return total(self.start, self.exchange, self.kernels)


def channels_bytes_per_second(parameters: Mapping, board: Board, network: Network):
    """Most that goes over one device's channels, a replication each: r 32 B 156.25 MHz (section 4.1.2.2).

    Narrower words leave a part of each of the channel's cycles empty; no faster than the kernels hand over a
    word each cycle.
    """
    width = parameters["channel_width"] * ELEMENT_BYTES[parameters["data_type"]]
    one = _network.handed_bytes_per_second(network, width, board)
    return np.minimum(parameters["replications"], network["links.count"]) * one


def kernel_of(part_bytes, parameters: Mapping, board: Board, ranks_here=1, bitstream=None) -> KernelTime:
    """The base kernel for a device's part of a matrix: eq. 4.5 without its exchange.

    Replications share out the blocks; no faster than the memory moves A, B and C. Raises ValueError for a
    board without clock.
    """
    block_bytes = parameters["block_size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    arguments = {"count": np.ceil(part_bytes / block_bytes / parameters["replications"])}
    here = {**parameters, "replications": parameters["replications"] * ranks_here}
    return kernel_time("ptrans", "transpose", arguments, here, board, bitstream)


def described_times(parameters: Mapping, board: Board, ranks, network: Network, bitstream) -> Times:
    """An FPGA of a described system (HPCC FPGA's calc_time)."""
    part = np.asarray(parameters["size"], dtype=float) ** 2 * ELEMENT_BYTES[parameters["data_type"]] / ranks
    launch = parameters["replications"] * board["host.launch_latency"]
    start = launch + (0.0 if bitstream is None else bitstream["fitted.start_latency"])
    if network.kind != HOST:  # exchange, addition and memory go on at the same time
        efficiency = 1.0 if bitstream is None else bitstream["fitted.channel_efficiency"]
        rate = channels_bytes_per_second(parameters, board, network)
        exchange = part / (rate * efficiency) + _network.hop_seconds(network)
        memory = MATRICES * part / board.memory_bytes_per_second
        return Times(start, exchange, memory, _roofline.MEMORY, together=True)
    copies = sum(
        _network.array_copy_seconds(direction, part, board, staged=False)
        for direction in (_transfers.FROM_DEVICE, _transfers.TO_DEVICE)
    )
    # One rank sends its blocks to itself.
    sent_bytes = np.where(np.asarray(ranks) == 1, part, part * most_sent(parameters, ranks))
    message = _network.exchange_seconds(sent_bytes, network, board.devices, board.hosts)
    sending = np.where(sent_bytes > 0, message / _network.DIRECTIONS, 0.0)
    ordering = part * _network.inverse(network.get("ordering_bandwidth"))
    adding = kernel_of(part, parameters, board, 1, bitstream)
    return Times(start, copies + np.maximum(sending, ordering), adding.seconds, waits_for(adding))


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """GB/s of the transposition on FPGAs; parameters, ranks and fields of board and network may be arrays."""
    matrix = np.asarray(parameters["size"], dtype=float) ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    if network is None:
        found = undescribed_times(parameters, board, ranks)
        return matrix / 1e9 / found.total
    return matrix / 1e9 / described_times(parameters, board, ranks, network, bitstream).total


def transfer_seconds(part_bytes, board: Board):
    """Time to copy A and B to a device and C back [s] (HPCC FPGA's transfer_time)."""
    to_device = _network.array_copy_seconds(_transfers.TO_DEVICE, part_bytes, board)
    return 2 * to_device + _network.array_copy_seconds(_transfers.FROM_DEVICE, part_bytes, board)


def exchange_seconds(
    sent_bytes: float, part_bytes: float, parameters: Mapping, board: Board, ranks: int,
    network: Network | None = None, bitstream: Bitstream | None = None,
) -> float | None:  # fmt: skip
    """Time in which every rank sends and receives so many bytes [s]; None where nothing says.

    Over transport cpu a rank's whole part is then written to its device.
    """
    is_between_hosts = transports.between_hosts(parameters["transport"])
    arrived = part_bytes if is_between_hosts else sent_bytes
    if arrived == 0:
        return 0.0
    each_way = 1 / _host_path.DIRECTIONS
    found = _host_path.calculated_steps([max(sent_bytes, 1) * each_way], board, ranks, (), network)
    write = _host_path.copy_seconds("write", [arrived * each_way], board, ranks)
    if found is None or write is None:
        return None
    read, message, _ = found[0]
    seconds = write + (message if sent_bytes else 0) + (0 if is_between_hosts else read)
    fitted = measured_of(bitstream)
    busy = float(seconds[0]) / fitted.get("exchange_efficiency", 1.0)
    return busy + fitted.get("exchange_start_seconds", 0.0)


def addition_seconds(
    parameters: Mapping, board: Board, ranks: int, bitstream: Bitstream | None = None
) -> tuple[float, str] | None:
    """(time of the kernels [s], what they wait for); None where nothing says.

    Raises ValueError for an FPGA without clock.
    """
    element_bytes, replications = ELEMENT_BYTES[parameters["data_type"]], parameters["replications"]
    ranks_here = ceil(ranks / board.devices)
    part = parameters["size"] ** 2 * element_bytes / ranks
    launch = replications * board["host.launch_latency"]
    if board.device_class != "fpga":
        share = _roofline.share(parameters, board, ranks_here)
        if share is None:
            return None
        work = _roofline.Work(part / element_bytes, MATRICES * part, parameters["data_type"])
        busy, word = _roofline.seconds(work, board, ranks_here, share, measured_of(bitstream))
        return busy + launch, _roofline.LAUNCH if launch > busy else word
    time = kernel_of(part, parameters, board, ranks_here, bitstream)
    busy = float(time.seconds)
    return busy + launch, _roofline.LAUNCH if launch > busy else waits_for(time)


def undescribed_times(
    parameters: Mapping, board: Board, ranks: int, network: Network | None = None,
    bitstream: Bitstream | None = None,
) -> Times:  # fmt: skip
    """A device of a host that was calibrated; `network`: messages between its ranks, where they were, too."""
    part = parameters["size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]] / ranks
    most = part * float(sent(parameters, ranks).max())
    adding = addition_seconds(parameters, board, ranks, bitstream)
    exchange = exchange_seconds(most, part, parameters, board, ranks, network, bitstream)
    kernels, word = (None, "-") if adding is None else adding
    return Times(0.0, exchange, kernels, word, together=board.device_class == "gpu")


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """Parameters of a kernel's model on a CPU or GPU from short runs: efficiency, start, exchange.

    exchange_efficiency, exchange_start_seconds: against the path over the host as it was calibrated.
    """
    kernels, exchanges = [], []
    for run in runs:
        matrix = run.parameters["size"] ** 2 * ELEMENT_BYTES[run.parameters["data_type"]]
        times = undescribed_times(run.parameters, run.board, run.ranks, run.network)
        rate = run.best("bandwidth", "GB/s", operation="kernels")
        launch = run.parameters["replications"] * run.board["host.launch_latency"]
        if times.kernels is not None and rate is not None:
            kernels.append((times.kernels - launch, MATRICES * matrix / (rate * 1e9) - launch))
        rate = run.best("bandwidth", "GB/s", operation=EXCHANGE)
        if times.exchange and rate is not None:
            share = float(sent(run.parameters, run.ranks).mean())
            is_whole = transports.between_hosts(run.parameters["transport"])
            arrived = matrix * (1.0 if is_whole else share)
            exchanges.append((times.exchange, arrived / (rate * 1e9)))
    return {
        **efficiency(kernels),
        **efficiency(exchanges, EXCHANGE),
        **_transfers.fit_parameters(runs),
    }


def limits_seconds(part_bytes: float, sent_bytes: float, board: Board, ranks: int) -> tuple[float, float]:
    """Least times of kernels and exchange [s]; 0 where nothing is known of the hosts.

    A, B and C go once through the devices' memories, the messages once through those of the hosts.
    """
    moved = MATRICES * part_bytes * ceil(ranks / board.devices)
    sent = sent_bytes * ranks / board.hosts
    memory, copying = board.memory_bytes_per_second, _transfers.copy_limit(board)
    if board.limits is not None:
        memory = board.limits.moving(TRIAD, moved) or memory
        copying = board.limits.host_copy(sent) or copying
    kernels = moved / memory
    return kernels, 0.0 if copying is None else sent_bytes * ranks / (copying * board.hosts)


def synthesis(parameters: Mapping) -> Synthesis:
    """An addition for each value of a cycle, and a block of A, for each replication (Meyer 2024, section
    4.1.2)."""
    block = parameters["block_size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    replications = parameters["replications"]
    return Synthesis(replications * parameters["channel_width"], replications * block)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """GB/s and GFLOP/s of the whole, GB/s of its parts, all ranks together, and the transfers.

    Counted as HPC Challenge does, the bytes of one matrix over the time; of the kernels A, B and C; of the
    exchange what arrives. `parameters`: those of the result file (size, block_size, distribution, grid_rows,
    data_type, replications, transport; on an FPGA channel_width) and `variant`. `network`: of a described
    system; then also the times of calculation, transfer and both. Raises MissingValue for a parameter or a
    clock that is missing, ValueError for a grid that the ranks do not fill.
    """
    elements, element_bytes = parameters["size"] ** 2, ELEMENT_BYTES[parameters["data_type"]]
    matrix = elements * element_bytes
    shares = sent(parameters, ranks)
    is_described = network is not None and board.device_class == "fpga"
    arrived = matrix * (1.0 if transports.between_hosts(parameters["transport"]) else float(shares.mean()))
    least = limits_seconds(matrix / ranks, matrix / ranks * float(shares.max()), board, ranks)
    if is_described:
        times = described_times(parameters, board, ranks, network, bitstream)
        least, arrived = described_limits(least, times, parameters, board, network, matrix, arrived, ranks)
    else:
        times = undescribed_times(parameters, board, ranks, network, bitstream)
    words, explanation = ("-", "-"), "no model: nothing calibrated says how fast the messages are"
    if times.kernels is None:
        explanation = "no model: nothing calibrated says how fast one work-item runs on this device"
    elif times.exchange is not None:
        words = (EXCHANGE if times.exchange > times.kernels else times.word, times.word)
        explanation = "exchange of the blocks and the additions (eq. 4.5)"
    known = times.total is not None
    seconds = (times.total, times.kernels, times.exchange) if known else (None, None, None)
    phases = {"exchange": times.exchange, "kernels": times.kernels, "start": times.start} if known else {}
    phases = {name: float(time) for name, time in phases.items() if time}
    rows = [
        ("bandwidth", "transpose", "GB/s", matrix, seconds[0], max(least), words[0], phases),
        ("performance", "transpose", "GFLOP/s", elements, seconds[0], max(least), words[0], phases),
        ("bandwidth", "kernels", "GB/s", MATRICES * matrix, seconds[1], least[0], words[1], {}),
    ]
    if arrived:
        rows.append(("bandwidth", "exchange", "GB/s", arrived, seconds[2], least[1], EXCHANGE, {}))
    return [
        *(
            Prediction(
                name, {"operation": operation}, float(work / time / 1e9) if time else None, unit,
                work / shortest / 1e9 if shortest else None, word, explanation, spent,
            )
            for name, operation, unit, work, time, shortest, word, spent in rows
        ),
        *(time_predictions(times, words[0], matrix / ranks, board) if is_described else []),
        *_transfers.predictions(board, ranks, bitstream, matrix / ranks),
    ]  # fmt: skip


def described_limits(
    least: tuple, times: Times, parameters: Mapping, board: Board, network: Network, matrix, arrived, ranks
) -> tuple[tuple[float, float], float]:
    """(least times of kernels and exchange [s], bytes that arrive) in a described system.

    Over links what they carry, over the host the link of the device for reading and writing A.
    """
    part = matrix / ranks
    if network.kind != HOST:
        return (least[0], part / float(channels_bytes_per_second(parameters, board, network))), matrix
    links = [board.get(name) for name in _transfers.RATES.values()]
    return (least[0], part * float(sum(_network.inverse(rate) for rate in links))), arrived


def time_predictions(times: Times, word: str, part_bytes: float, board: Board) -> list[Prediction]:
    """HPCC FPGA's calc_time, transfer_time and their sum [s]."""
    copies = float(transfer_seconds(part_bytes, board))
    calculation = float(times.total)
    found = {
        "calculation": (calculation, word),
        "transfer": (copies, "transfer"),
        "total": (calculation + copies, "transfer" if copies > calculation else word),
    }
    explanation = "exchange and additions; A and B to the device and C back; both"
    return [
        Prediction("time", {"operation": operation}, time, "s", None, slowest, explanation)
        for operation, (time, slowest) in found.items()
    ]
