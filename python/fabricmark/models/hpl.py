"""HPL: LU decomposition of a matrix that is dealt out in blocks over a grid of devices.

Dissertation 000, section 4.1.3. Each iteration has a communication phase (the LU block, then the left and
top blocks at the same time, with their exchange) and an update phase (matrix multiplications of the inner
blocks). Of an update only the first row and column of inner blocks, which the next iteration works on, has to
be done before the next communication phase starts; the rest overlaps with it (Fig. 4.5):

    t = c_0 + sum over the iterations i of (first_i + max(rest_i, c_i+1))

The source has no equation for this: it extrapolates from measured single boards (Fig. 4.15). The phases are
put together here from what section 4.1.3 says of the kernels: all have the same blocks of b x b elements;
those of the communication phase work on g x g elements a cycle, the matrix multiplications on g x g x g.

- FPGA: kernels at the clock of the board. A published bitstream (`Design`) has three fitted parameters;
  `predict`, which knows none of them, takes memory and links as the board has them.
- CPU and GPU: calibrated arithmetic, of which panels and multiplications each reach the share that short runs
  of the kernels reached. On a CPU the phases share the cores, so that overlap gains nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from fabricmark.models import Board, Prediction, _grid, _host_path, _roofline, _transfers
from fabricmark.models._measured import Run, figures_of, shares
from fabricmark.models.machine import Network

LU = {"operation": "lu"}
LU_AND_SOLVE = {"operation": "lu+solve"}
SOLVE = {"operation": "solve"}
ELEMENT_BYTES = {"float": 4, "double": 8}
LU_SHARE = 1 / 3  # of b^3 multiply-adds: decomposition of a block
PANEL_SHARE = 1 / 2  # a block times the inverse of a triangle
MULTIPLY_BLOCKS = 4  # a multiplication reads A, B and C and writes C
KERNELS = 4  # started an iteration: LU, left, top, inner
KERNEL = "kernel width x frequency"
PANEL = "LU, left and top kernels"
EXCHANGE = "exchange"


@dataclass(frozen=True)
class Steps:
    """Times of one block [s]: decomposition, a left or top block, a multiplication, its exchange.

    `latency`: of each communication phase, whatever its blocks. `multipliers`: multiplications side by side.
    """

    lu: float
    panel: float
    multiply: float
    exchange: float = 0.0
    latency: float = 0.0
    multipliers: int = 1


@dataclass(frozen=True)
class Phases:
    """Times [s] of each iteration on the rank that has most to do, as arrays.

    `latency`, `panels`, `exchange`: the parts of the communication phase, one after the other. `first`: the
    part of the update that the next iteration needs; `rest`: all other inner blocks.
    """

    latency: np.ndarray
    panels: np.ndarray
    exchange: np.ndarray
    first: np.ndarray
    rest: np.ndarray

    @property
    def communication(self) -> np.ndarray:
        """The whole phase."""
        return self.latency + self.panels + self.exchange

    def seconds(self, overlap: bool = True) -> float:
        """Time of all iterations [s]; without `overlap` one phase after the other."""
        if not overlap:
            return float(np.sum(self.communication + self.first + self.rest))
        following = np.append(self.communication[1:], 0.0)
        return float(self.communication[0] + np.sum(self.first + np.maximum(self.rest, following)))


@dataclass(frozen=True)
class Design:
    """A bitstream: its parameters (Table 4.4), its clock, and three figures that only measurements tell.

    `multiply_efficiency`: rate of the matrix multiplications over 2 g^3 operations a cycle and replication.
    `exchange_bytes_per_second`: rate of one device's blocks in the communication phase.
    `latency_seconds`: of each communication phase.
    """

    name: str
    block_size: int
    register_block: int
    replications: int
    kernel_hz: float
    multiply_efficiency: float
    exchange_bytes_per_second: float
    latency_seconds: float
    element_bytes: int = 4

    def steps(self) -> Steps:
        """Times of one block from the parameters."""
        return replace(
            kernel_steps(self.block_size, self.register_block, self.kernel_hz, self.multiply_efficiency),
            exchange=self.block_size**2 * self.element_bytes / self.exchange_bytes_per_second,
            latency=self.latency_seconds,
            multipliers=self.replications,
        )


def lu_flops(size: float) -> float:
    """Operations of the decomposition: 2 n^3 / 3 (dissertation 000, section 4.1.3)."""
    return 2 * size**3 / 3


def hpl_flops(size: float) -> float:
    """Operations of decomposition and solve as HPL counts them: 2 n^3 / 3 + 3 n^2 / 2."""
    return lu_flops(size) + 3 * size**2 / 2


def kernel_steps(block: int, register_block: int, kernel_hz: float, multiply_efficiency: float) -> Steps:
    """Times of one block on an FPGA: b^3 multiply-adds, or the part that a triangle leaves of them.

    Multiplications take g^3 of them a cycle, the kernels of the communication phase g^2 (dissertation 000,
    section 4.1.3.1).
    """
    panel_cycles = block**3 / register_block**2
    return Steps(
        lu=LU_SHARE * panel_cycles / kernel_hz,
        panel=PANEL_SHARE * panel_cycles / kernel_hz,
        multiply=block**3 / register_block**3 / kernel_hz / multiply_efficiency,
    )


def phases(blocks: int, grid: tuple[int, int], steps: Steps) -> Phases:
    """Times of each iteration for a matrix of blocks x blocks on P x Q devices (Figs. 4.4 and 4.5).

    Left and top kernels run at the same time; a device exchanges its left and its top blocks.
    """
    remaining = np.arange(blocks - 1, -1, -1)
    rows, columns = _grid.most_dealt(remaining, grid[0]), _grid.most_dealt(remaining, grid[1])
    inner = rows * columns
    first = np.where(inner > 0, rows + columns - 1, 0)
    return Phases(
        latency=np.full(blocks, steps.latency),
        panels=steps.lu + np.maximum(rows, columns) * steps.panel,
        exchange=(rows + columns) * steps.exchange,
        first=np.ceil(first / steps.multipliers) * steps.multiply,
        rest=np.ceil((inner - first) / steps.multipliers) * steps.multiply,
    )


def design_flops_per_second(size: int, grid: tuple[int, int], design: Design) -> float:
    """Rate of the decomposition of an n x n matrix on P x Q boards with this bitstream."""
    found = phases(ceil(size / design.block_size), grid, design.steps())
    return lu_flops(size) / found.seconds()


def fit_design(design: Design, runs: Sequence[tuple[int, tuple[int, int], float]]) -> Design:
    """The design with its three figures fitted to runs of (n, (P, Q), FLOP/s), robustly in relative error.

    Raises ValueError for fewer runs than figures.
    """
    from scipy.optimize import least_squares  # imported here: the report shall not wait for it

    if len(runs) < 3:
        raise ValueError("three figures need three runs")

    def changed(figures) -> Design:
        efficiency, exchange, latency = (float(figure) for figure in figures)
        return replace(
            design,
            multiply_efficiency=efficiency,
            exchange_bytes_per_second=exchange * 1e9,
            latency_seconds=latency * 1e-3,
        )

    def errors(figures):
        tried = changed(figures)
        return [np.log(design_flops_per_second(size, grid, tried) / rate) for size, grid, rate in runs]

    ends = ([0.01, 0.01, 0.0], [1.0, 100.0, 100.0])
    return changed(least_squares(errors, [0.5, 1.0, 1.0], bounds=ends, loss="soft_l1", f_scale=0.05).x)


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
    used = [steps[1]] if parameters["transport"] == "cpu" else steps
    return float(sum(used)[0]) / _host_path.DIRECTIONS


def fpga_steps(parameters: Mapping, board: Board, ranks_here: int) -> Steps:
    """A block on an FPGA of which only the board is known: multiplications load and store, then multiply.

    Raises ValueError for a board without clock.
    """
    if board.kernel_hz is None:
        raise ValueError("kernel_hz")
    block, replications = parameters["block_size"], parameters["replications"] * ranks_here
    steps = kernel_steps(block, parameters["register_block"], board.kernel_hz, 1.0)
    moved = MULTIPLY_BLOCKS * block**2 * ELEMENT_BYTES[parameters["data_type"]]
    loading = moved * replications / board.memory_bytes_per_second
    return replace(steps, multiply=steps.multiply + loading, multipliers=parameters["replications"])


def processor_steps(
    parameters: Mapping, board: Board, ranks_here: int, figures: Mapping[str, float] | None = None
) -> Steps | None:
    """A block on a rank's share of a CPU or GPU at its calibrated arithmetic; None where that is unknown.

    `figures`: panel_efficiency and multiply_efficiency of the kernels where they were measured.
    """
    part = _roofline.share(parameters, board, ranks_here)
    if part is None:
        return None
    rate = board.flops_per_second[parameters["data_type"]] * part / ranks_here
    whole = 2 * parameters["block_size"] ** 3 / rate
    shares = {"panel_efficiency": 1.0, "multiply_efficiency": 1.0, **(figures or {})}
    panel = whole / shares["panel_efficiency"]
    multiply = whole / shares["multiply_efficiency"]
    return Steps(lu=LU_SHARE * panel, panel=2 * PANEL_SHARE * panel, multiply=multiply)  # left and top in turn


def processor_phases(
    parameters: Mapping, board: Board, ranks: int, network: Network | None, figures: Mapping[str, float]
) -> Phases | None:
    """Phases on a CPU or GPU; None where nothing says how fast its work-items or messages are."""
    steps = processor_steps(parameters, board, ceil(ranks / board.devices), figures)
    block_bytes = parameters["block_size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    exchange = exchange_seconds(block_bytes, parameters, board, ranks, network)
    if steps is None or exchange is None:
        return None
    steps = replace(steps, exchange=exchange, latency=KERNELS * board.launch_seconds)
    blocks = ceil(parameters["size"] / parameters["block_size"])
    return phases(blocks, _grid.shape(ranks, parameters.get("grid_rows", 0)), steps)


def processor_figures(runs: Sequence[Run]) -> dict[str, float]:
    """Figures of the kernels on a CPU or GPU from short runs: efficiencies of panels, multiplications, solve.

    Runs of two sizes tell panels (n^2) and multiplications (n^3) apart.
    """
    parts, seconds, solves = [], [], []
    for run in runs:
        found = processor_phases(run.parameters, run.board, run.ranks, run.network, {})
        rate = run.best("performance", "GFLOP/s", **LU)
        if found is None or rate is None:
            continue
        beside = float(np.sum(found.latency + found.exchange))
        taken = lu_flops(run.parameters["size"]) / (rate * 1e9)
        parts.append([float(np.sum(found.panels)), float(np.sum(found.first + found.rest))])
        seconds.append(max(taken - beside, taken / 2))
        element_bytes = ELEMENT_BYTES[run.parameters["data_type"]]
        ranks_here = ceil(run.ranks / run.board.devices)
        solving = solve_seconds(run.parameters["size"], element_bytes, run.board, ranks_here)
        solved = run.best("time", "s", **SOLVE)
        if solving is not None and solved is not None:
            solves.append(solving / solved)
    if not parts:
        return {}
    panel, multiply = (float(share) for share in shares(parts, seconds))
    figures = {"panel_efficiency": panel, "multiply_efficiency": multiply}
    if solves:
        figures["solve_efficiency"] = float(np.median(solves))
    return {**figures, **_transfers.processor_figures(runs)}


def limit_flops_per_second(parameters: Mapping, board: Board, ranks: int) -> float:
    """Nothing but multiplications, on all devices."""
    if board.device_class == "fpga":
        replications = parameters["replications"] * ceil(ranks / board.devices) * board.devices
        return replications * 2 * parameters["register_block"] ** 3 * board.kernel_hz
    return board.flops_per_second[parameters["data_type"]] * board.devices


def arithmetic(parameters: Mapping, board: Board, steps: Steps) -> str:
    """What a matrix multiplication waits for."""
    if board.device_class != "fpga":
        return _roofline.ARITHMETIC
    computing = kernel_steps(parameters["block_size"], parameters["register_block"], board.kernel_hz, 1.0)
    return KERNEL if steps.multiply < 2 * computing.multiply else _roofline.MEMORY


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


def solve_seconds(size: float, element_bytes: int, board: Board, ranks_here: int = 1) -> float | None:
    """Time to bring L and U to the hosts and solve there [s], reading each element once; None if unknown."""
    copying = _transfers.rate(_transfers.FROM_DEVICE, board, ranks_here)
    if board.host_bytes_per_second is None or copying is None:
        return None
    moved = size**2 * element_bytes
    return moved / (copying * board.devices) + moved / (board.host_bytes_per_second * board.hosts)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None, bitstream=None
) -> list[Prediction]:
    """GFLOP/s of the decomposition, and with the solve, all ranks together, and the transfers.

    `parameters`: those of the result file (size, block_size, grid_rows, data_type, replications, transport,
    lookahead; on an FPGA register_block) and `variant`. Raises KeyError when one of them is missing,
    ValueError for an FPGA without clock or a grid that the ranks do not fill.
    """
    size, element_bytes = parameters["size"], ELEMENT_BYTES[parameters["data_type"]]
    ranks_here = ceil(ranks / board.devices)
    grid = _grid.shape(ranks, parameters.get("grid_rows", 0))
    figures = figures_of(bitstream)
    if board.device_class == "fpga":
        steps = fpga_steps(parameters, board, ranks_here)
    else:
        steps = processor_steps(parameters, board, ranks_here, figures)
    block_bytes = parameters["block_size"] ** 2 * element_bytes
    exchange = exchange_seconds(block_bytes, parameters, board, ranks, network)
    limit = limit_flops_per_second(parameters, board, ranks)
    if steps is None or exchange is None:
        return [
            *unmodelled(size, limit, steps is None),
            *_transfers.predictions(board, ranks, bitstream),
        ]
    steps = replace(steps, exchange=exchange, latency=KERNELS * board.launch_seconds)
    found = phases(ceil(size / parameters["block_size"]), grid, steps)
    seconds = found.seconds(overlap=board.device_class != "cpu" and parameters.get("lookahead", True))
    words = bottleneck(found, seconds, arithmetic(parameters, board, steps))
    explanation = "communication and update phases of the iterations, overlapping where they share no cores"
    rates = [("performance", LU, lu_flops(size), seconds)]
    solving = solve_seconds(size, element_bytes, board, ranks_here)
    if solving is not None:
        solving /= figures.get("solve_efficiency", 1.0)
        rates.append(("performance", LU_AND_SOLVE, hpl_flops(size), seconds + solving))
    alone = [] if solving is None else [solve_prediction(solving)]
    return [
        *(
            Prediction(name, axes, flops / time / 1e9, "GFLOP/s", limit / 1e9, words, explanation)
            for name, axes, flops, time in rates
        ),
        *alone,
        *_transfers.predictions(board, ranks, bitstream),
    ]


def solve_prediction(seconds: float) -> Prediction:
    """The solve alone; its limit is not told apart from its model."""
    explanation = "L and U to the hosts, then once through their memories"
    return Prediction("time", SOLVE, seconds, "s", None, _roofline.MEMORY, explanation)


def unmodelled(size: float, limit: float, no_steps: bool) -> list[Prediction]:
    """Limits alone, and why."""
    reason = "how fast one work-item runs on this device" if no_steps else "how fast the ranks' messages are"
    about = (None, "GFLOP/s", limit / 1e9, "-", f"no model: nothing calibrated says {reason}")
    return [Prediction("performance", axes, *about) for axes in (LU, LU_AND_SOLVE)]
