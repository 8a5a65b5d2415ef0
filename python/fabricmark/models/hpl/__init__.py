"""HPL: LU decomposition of a matrix that is block-cyclic over a grid of devices.

Meyer 2024, section 4.1.3. Each iteration has a communication phase (the LU block, then the left and
top blocks at the same time, with their exchange) and an update phase (matrix multiplications of the inner
blocks). Of an update only the first row and column of inner blocks, which the next iteration works on, has to
be done before the next communication phase starts; the rest overlaps with it (Fig. 4.5):

    t = c_0 + sum over the iterations i of (first_i + max(rest_i, c_i+1))

The source has no equation for this: it extrapolates from measured single boards (Fig. 4.15). The phases are
put together here from what section 4.1.3 says of the kernels: all have the same blocks of b x b elements;
those of the communication phase work on g x g elements a cycle, the matrix multiplications on g x g x g.

- FPGA: kernels at the clock of the board, as kernel.toml says; multiplications load three blocks and store
  one, with the latency of a burst for each row (those of the three loads and the store overlap). Of the
  bitstream's parameters "multiply_efficiency" and "panel_efficiency" correct both kinds of kernels;
  "matrix_banks": memory banks that hold the matrix (all, where the bitstream does not say: one without
  interleaving, section 4.2.3).
- Exchange: over direct links blocks stream from kernel to kernel, so that a link only counts where it is
  slower than the kernels, and left and top work while the decomposition is still sending; over the host each
  block is read, sent and written.
- CPU and GPU: calibrated arithmetic, of which panels and multiplications each reach the share that short runs
  of the kernels reached; what the sum is off by at the sizes of these runs counts, too. On a CPU the phases
  share the cores, so that overlap gains nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from fabricmark.base import transports
from fabricmark.models import (
    Board,
    Prediction,
    Synthesis,
    Traits,
    _grid,
    _host_path,
    _network,
    _roofline,
    _transfers,
)
from fabricmark.models._derived import hpl_performance
from fabricmark.models._kernel_time import KernelTime, kernel_time
from fabricmark.models._measured import Run, several_sizes
from fabricmark.models._types import ARITHMETIC, VALUE_BYTES
from fabricmark.models.hpl.phases import Phases, Steps, phases, seconds_by_blocks
from fabricmark.models.machine import DIRECT, HOST, Bitstream, Network, Times, measured_of

derived = hpl_performance
LU = {"operation": "lu"}
LU_AND_SOLVE = {"operation": "lu+solve"}
SOLVE = {"operation": "solve"}
OWN_CODE = "this project's host code sends a panel at once where that one sends block after block"
TRAITS = Traits(
    ("performance", LU), exchanges=True, on_grid=True, is_shared=True, by_ranks=True,
    foreign={transports.HOST: OWN_CODE},
)  # fmt: skip
INPUTS = (
    *_transfers.COPIES, *_transfers.INPUTS, *_network.MESSAGES, *_network.LINK, "board.arithmetic.float",
    "board.arithmetic.double", "board.processor.cores", "board.host.launch_latency",
    "board.memory.burst_latency", "bitstream.clock", "bitstream.memory.matrix_banks",
    "bitstream.fitted.multiply_efficiency", "bitstream.fitted.multiply_latency",
    "bitstream.fitted.panel_efficiency",
)  # fmt: skip
short_runs = several_sizes
LU_SHARE = 1 / 3  # of b^3 multiply-adds: decomposition of a block
PANEL_SHARE = 1 / 2  # a block times the inverse of a triangle
KERNELS = 4  # started an iteration: LU, left, top, inner
PANEL = "LU, left and top kernels"
EXCHANGE = "exchange"
# Kernels in the order of Steps, started for one block.
ONE_BLOCK: Mapping[str, Mapping[str, int]] = {"lu": {}, "left": {"blocks": 1}, "inner": {"count": 1}}


def lu_flops(size: float) -> float:
    """Operations of the decomposition: 2 n^3 / 3 (Meyer 2024, section 4.1.3)."""
    return 2 * size**3 / 3


def hpl_flops(size: float) -> float:
    """Operations of decomposition and solve as HPL counts them: 2 n^3 / 3 + 3 n^2 / 2."""
    return lu_flops(size) + 3 * size**2 / 2


def block_time(entry: str, parameters: Mapping, board: Board, ranks_here=1, bitstream=None) -> KernelTime:
    """Of one block on an FPGA by one kernel: decomposition, a left block, a multiplication.

    Raises ValueError for a board without clock.
    """
    here = {**parameters, "replications": parameters["replications"] * ranks_here}
    return kernel_time("hpl", entry, ONE_BLOCK[entry], here, board, bitstream)


def exchange_seconds(
    block_bytes: float, parameters: Mapping, board: Board, ranks: int, network: Network | None = None
) -> float | None:
    """Time to exchange one block [s], all ranks at once; None where nothing says. One rank has none."""
    if ranks == 1:
        return 0.0
    found = _host_path.calculated_steps([block_bytes], board, ranks, (), network)
    if found is None:
        return None
    steps, _ = found
    used = [steps[1]] if transports.between_hosts(parameters["transport"]) else steps
    return float(sum(used)[0]) / _host_path.DIRECTIONS


def fpga_steps(parameters: Mapping, board: Board, ranks_here, bitstream=None) -> Steps:
    """A block on an FPGA, without its exchange."""
    times = (block_time(entry, parameters, board, ranks_here, bitstream) for entry in ONE_BLOCK)
    return Steps(*(time.seconds for time in times), multipliers=parameters["replications"])


def with_exchange(steps: Steps, grid: tuple, block_bytes, board: Board, network: Network) -> Steps:
    """The steps with what a described network adds: links beside the kernels, or copies and a message.

    Over the host a block is read, sent once (broadcasts of several blocks follow each other) and written;
    one device sends nothing. Each hop over links adds its latency once a phase. What a decomposition has done
    goes from kernel to kernel while it is at work.
    """
    starting = KERNELS * board["host.launch_latency"]
    if network.kind != HOST:
        hops = grid[0] - 1 + grid[1] - 1
        link = block_bytes / _network.link_bytes_per_second(network)
        sending = link if network.kind == DIRECT else link + network["start_latency"]
        latency = starting + hops * _network.hop_seconds(network)
        return replace(steps, link=sending, latency=latency, streams=network.kind == DIRECT)
    read, message, write = _network.host_steps(block_bytes, board, network)
    sent = np.where(np.maximum(*grid) > 1, message, 0.0)
    return replace(steps, exchange=(read + sent + write) / _network.DIRECTIONS, latency=starting)


def described_steps(parameters: Mapping, board: Board, ranks, grid: tuple, network, bitstream) -> Steps:
    """All times of a block on an FPGA of a described system."""
    steps = fpga_steps(parameters, board, np.ceil(ranks / board.devices), bitstream)
    if network is None:
        return replace(steps, latency=KERNELS * board["host.launch_latency"])
    block_bytes = parameters["block_size"] ** 2 * VALUE_BYTES[parameters["data_type"]]
    return with_exchange(steps, grid, block_bytes, board, network)


def headline(parameters: Mapping, board: Board, ranks, *, network=None, bitstream=None):
    """GFLOP/s of the decomposition on FPGAs; parameters, ranks and fields of board and network may be arrays.

    The same formulas as `predict`, as a table over the sizes of which each point takes its own.
    """
    blocks = np.ceil(np.asarray(parameters["size"]) / parameters["block_size"]).astype(int)
    grid = _grid.shapes(ranks, parameters.get("grid_rows", 0))
    steps = described_steps(parameters, board, ranks, grid, network, bitstream)
    table = seconds_by_blocks(int(blocks.max()), grid, steps)
    return lu_flops(np.asarray(parameters["size"], dtype=float)) / 1e9 / _picked(table, blocks)


def _picked(table: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Of a table over numbers of blocks (last axis) those of each point, broadcast against each other."""
    shape = np.broadcast_shapes(table.shape[:-1], blocks.shape)
    table = table.reshape((1,) * (len(shape) + 1 - table.ndim) + table.shape)
    along = [axis for axis in range(-blocks.ndim, 0) if blocks.shape[axis] > 1]
    if len(along) == 1 and table.shape[along[0] - 1] == 1:  # an axis of its own: four times as fast
        return np.swapaxes(np.take(table, blocks.ravel() - 1, axis=-1), along[0] - 1, -1)[..., 0]
    places = np.ogrid[tuple(slice(length) for length in shape)]
    picked = [place if length > 1 else 0 for place, length in zip(places, table.shape[:-1], strict=True)]
    return table[(*picked, np.broadcast_to(blocks, shape) - 1)]


def table_elements(parameters: Mapping, points: Mapping) -> int:
    """Of the table that `headline` makes: all sizes up to the largest, for each of the other values."""
    known = {**parameters, **points}
    size, block = np.max(known["size"]), np.min(known["block_size"])
    others = [np.shape(values) for name, values in points.items() if name != "size"]
    return int(np.prod(np.broadcast_shapes(*others), dtype=float) * np.ceil(size / block))


def processor_steps(
    parameters: Mapping, board: Board, ranks_here: int, bitstream: Bitstream | None = None
) -> Steps | None:
    """A block on a rank's share of a CPU or GPU at its calibrated arithmetic; None where that is unknown.

    With the parameters panel_efficiency and multiply_efficiency of the kernels where they were measured.
    """
    part = _roofline.share(parameters, board, ranks_here)
    if part is None:
        return None
    rate = board.flops(ARITHMETIC[parameters["data_type"]]) * part / ranks_here
    whole = 2 * parameters["block_size"] ** 3 / rate
    panel = whole / measured_of(bitstream).get("panel_efficiency", 1.0)
    multiply = whole / measured_of(bitstream).get("multiply_efficiency", 1.0)
    # Left and top in turn.
    return Steps(lu=LU_SHARE * panel, panel=2 * PANEL_SHARE * panel, multiply=multiply)


def processor_phases(
    parameters: Mapping, board: Board, ranks: int, network: Network | None = None,
    bitstream: Bitstream | None = None,
) -> Phases | None:  # fmt: skip
    """Phases on a CPU or GPU, without `bitstream` those of perfect kernels; None where nothing says how fast
    its work-items or messages are."""
    grid = _grid.shape(ranks, parameters.get("grid_rows", 0))
    steps, _ = known_steps(parameters, board, ranks, grid, network, bitstream)
    return None if steps is None else phases(ceil(parameters["size"] / parameters["block_size"]), grid, steps)


def skeleton(parameters: Mapping, board: Board, bitstream: Bitstream | None = None) -> dict[str, float]:
    """Operations a second of all multiplications side by side, and rows of a block."""
    if board.device_class == "fpga":
        steps: Steps | None = fpga_steps(parameters, board, 1, bitstream)
    else:
        steps = processor_steps(parameters, board, 1, bitstream)
    if steps is None:
        return {}
    block = parameters["block_size"]
    return {"rate": steps.multipliers * 2 * block**3 / float(steps.multiply), "block": block}


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """Parameters of the kernels' models on a CPU or GPU from short runs of two sizes."""
    from fabricmark.models.hpl import measured  # which is the inverse of this module

    return measured.fit(runs)


def processor_curves(runs: Sequence[Run]) -> dict[str, Times]:
    """Times of the decomposition by size from short runs."""
    from fabricmark.models.hpl import measured

    return measured.curves(runs)


def overlaps(parameters: Mapping, board: Board) -> bool:
    """Whether a communication phase goes on beside the update before it."""
    return board.device_class != "cpu" and parameters.get("lookahead", True)


def processor_seconds(
    found: Phases, parameters: Mapping, board: Board, ranks: int, network, bitstream
) -> float:
    """Time of the decomposition [s] on a CPU or GPU: of the phases, and what they are off by at its size."""
    from fabricmark.models.hpl import measured

    return found.seconds(overlaps(parameters, board)) * measured.off(
        parameters, board, ranks, network, bitstream
    )


def limit_flops_per_second(parameters: Mapping, board: Board, ranks: int) -> float:
    """Nothing but multiplications, on all devices."""
    if board.device_class == "fpga":
        replications = parameters["replications"] * ceil(ranks / board.devices) * board.devices
        return replications * 2 * parameters["register_block"] ** 3 * board["clock"]
    measured = board.limits.flops if board.limits is not None else {}
    data_type = ARITHMETIC[parameters["data_type"]]
    return (measured.get(data_type) or board.flops(data_type)) * board.devices


def arithmetic(parameters: Mapping, board: Board, steps: Steps) -> str:
    """What a matrix multiplication waits for."""
    if board.device_class != "fpga":
        return _roofline.ARITHMETIC
    computing = block_time("inner", parameters, board).loops[0].cycles
    return _roofline.KERNEL if steps.multiply < 2 * computing else _roofline.MEMORY


def bottleneck(found: Phases, seconds: float, updating: str) -> str:
    """What most of the time goes to: the update, which waits for `updating`, or a part of the other phase."""
    update = float(np.sum(found.first + found.rest))
    if seconds - update < update:
        return updating
    parts = {
        _roofline.LAUNCH: np.sum(found.latency),
        PANEL: np.sum(found.panels),
        EXCHANGE: np.sum(found.exchange),
    }
    return max(parts, key=parts.get)


def known_steps(
    parameters: Mapping, board: Board, ranks: int, grid: tuple, network, bitstream
) -> tuple[Steps | None, str]:
    """(all times of a block, what nothing says where there are none)."""
    if board.device_class == "fpga":
        steps = described_steps(parameters, board, ranks, grid, network, bitstream)
        if network is not None:
            return steps, ""
    else:
        steps = processor_steps(parameters, board, ceil(ranks / board.devices), bitstream)
    if steps is None:
        return None, "how fast one work-item runs on this device"
    block_bytes = parameters["block_size"] ** 2 * VALUE_BYTES[parameters["data_type"]]
    exchange = exchange_seconds(block_bytes, parameters, board, ranks, network)
    if exchange is None:
        return None, "how fast the ranks' messages are"
    return replace(steps, exchange=exchange, latency=KERNELS * board["host.launch_latency"]), ""


def solve_seconds(size: float, element_bytes: int, board: Board, ranks_here: int = 1) -> float | None:
    """Time to bring L and U to the hosts and solve there [s], reading each element once; None if unknown."""
    copying = _transfers.rate(_transfers.FROM_DEVICE, board, ranks_here)
    in_host = board.get("host.copy_bandwidth")
    if in_host is None or copying is None:
        return None
    moved = size**2 * element_bytes
    return moved / (copying * board.devices) + moved / (in_host * board.hosts)


def synthesis(parameters: Mapping) -> Synthesis:
    """g^3 multiply-adds and three blocks for each replication of the multiplication (Meyer 2024, section
    4.1.3)."""
    blocks = 3 * parameters["block_size"] ** 2 * VALUE_BYTES[parameters["data_type"]]
    replications = parameters["replications"]
    return Synthesis(replications * parameters["register_block"] ** 3, replications * blocks)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """GFLOP/s of the decomposition, and with the solve, all ranks together, and the transfers.

    `parameters`: those of the result file (size, block_size, grid_rows, data_type, replications, transport,
    lookahead; on an FPGA register_block) and `variant`. `network`: of a described system, else the exchange
    is that over the calibrated host. Raises MissingValue for a parameter or a clock that is
    missing, ValueError for a grid that the ranks do not fill.
    """
    size, element_bytes = parameters["size"], VALUE_BYTES[parameters["data_type"]]
    grid = _grid.shape(ranks, parameters.get("grid_rows", 0))
    steps, lacking = known_steps(parameters, board, ranks, grid, network, bitstream)
    limit = limit_flops_per_second(parameters, board, ranks)
    transfers = _transfers.predictions(board, ranks, bitstream, size**2 * element_bytes / ranks)
    if steps is None:
        return [*unmodelled(limit, lacking), *transfers]
    found = phases(ceil(size / parameters["block_size"]), grid, steps)
    overlap = overlaps(parameters, board)
    seconds = found.seconds(overlap)
    if board.device_class != "fpga":
        seconds = processor_seconds(found, parameters, board, ranks, network, bitstream)
    words = bottleneck(found, seconds, arithmetic(parameters, board, steps))
    explanation = "communication and update phases of the iterations, overlapping where they share no cores"
    rates = [("performance", LU, lu_flops(size), seconds)]
    spent = found.by_name(overlap)
    solving = solve_seconds(size, element_bytes, board, ceil(ranks / board.devices))
    if solving is not None:
        solving /= measured_of(bitstream).get("solve_efficiency", 1.0)
        rates.append(("performance", LU_AND_SOLVE, hpl_flops(size), seconds + solving))
    alone = [] if solving is None else [solve_prediction(solving)]
    return [
        *(
            Prediction(name, axes, flops / time / 1e9, "GFLOP/s", limit / 1e9, words, explanation, spent)
            for name, axes, flops, time in rates
        ),
        *alone,
        *transfers,
    ]


def solve_prediction(seconds: float) -> Prediction:
    """The solve alone; its limit is not told apart from its model."""
    explanation = "L and U to the hosts, then once through their memories"
    return Prediction("time", SOLVE, seconds, "s", None, _roofline.MEMORY, explanation)


def unmodelled(limit: float, lacking: str) -> list[Prediction]:
    """Limits alone, and why."""
    about = (None, "GFLOP/s", limit / 1e9, "-", f"no model: nothing calibrated says {lacking}")
    return [Prediction("performance", axes, *about) for axes in (LU, LU_AND_SOLVE)]
