"""What this project's own program takes over the host, on a described FPGA (docs/simulated-time.md).

It moves the blocks that belong to others, each as a message, in rounds of `round_blocks` to each rank, while
the kernels add those that stay and those of the round before (src/benchmarks/ptrans/staged_execution.cpp).
The closed form of the source is that of another host program. Parameters, ranks and fields of the board may
be arrays.
"""

from collections.abc import Mapping
from functools import reduce

import numpy as np

from fabricmark.models import Board, _grid, _host_path, _network, _roofline
from fabricmark.models._kernel_time import KernelTime, kernel_time
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import Bitstream, Network
from fabricmark.models.ptrans.distribution import most_sent, most_to_one

EXCHANGE = "exchange"
HOST_CHOOSES = "host"  # memory.placement of a board whose host says in which bank a buffer lies


def headline(parameters: Mapping, board: Board, ranks, *, network: Network, bitstream=None):
    """GB/s of the transposition: bytes of one matrix over the time."""
    matrix = np.asarray(parameters["size"], dtype=float) ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    times = bounds(parameters, board, ranks, network, bitstream)
    return matrix / 1e9 / reduce(np.maximum, times.values())


def bottleneck(parameters: Mapping, board: Board, ranks: int, *, network: Network, bitstream=None) -> str:
    """What a run waits for."""
    times = bounds(parameters, board, ranks, network, bitstream)
    if times[EXCHANGE] > times[_roofline.KERNEL]:
        return EXCHANGE
    return waits_for(kernel_time("ptrans", "transpose", {"count": 1}, parameters, board, bitstream))


def waits_for(time: KernelTime) -> str:
    """What the additions wait for."""
    is_of_kernel = all(np.all(one.is_of_kernel) for one in time.loops)
    return _roofline.KERNEL if is_of_kernel else _roofline.MEMORY


def bounds(
    parameters: Mapping, board: Board, ranks, network: Network, bitstream: Bitstream | None
) -> dict[str, np.ndarray]:
    """Times by what they are of [s], of which the longest is that of the run: the exchange with what is added
    after it, the kernels with what they wait for before them."""
    block_bytes = parameters["block_size"] ** 2 * ELEMENT_BYTES[parameters["data_type"]]
    rows, columns, blocks = _blocks(parameters, ranks)
    leaving = np.round(blocks * most_sent(parameters, ranks))
    staying = blocks - leaving
    rounds, in_round, in_last = _rounds(parameters, ranks, blocks, leaving)
    banks = _banks(parameters, board)

    def in_a_bank(count):
        """Of blocks that come column by column of C, whose blocks lie in the banks in turn, row by row."""
        whole = np.floor(count / rows)
        more = np.where(whole % banks > 0, rows, count - whole * rows)
        return np.where(columns % banks == 0, whole // banks * rows + more, np.ceil(count / banks))

    def adding(count):
        each = np.ceil(in_a_bank(count) / np.floor(parameters["replications"] / banks))
        found = kernel_time("ptrans", "transpose", {"count": each}, parameters, board, bitstream)
        return np.where(count > 0, found.seconds, 0.0)

    def starting(count):
        reached = np.where(in_a_bank(count) < count, banks, 1)
        return np.minimum(parameters["replications"] * reached / banks, count) * board["host.launch_latency"]

    message = message_seconds(block_bytes, parameters, board, network)
    waits = leaving * message + rounds * starting(in_round) + adding(in_last)
    added = np.maximum(adding(staying), in_round * message)
    added = added + np.maximum(rounds - 1, 0) * adding(in_round) + adding(in_last)
    alone = starting(blocks) + adding(blocks)  # of a rank whose blocks all stay
    exchanged, kernels = (
        np.where(leaving > 0, starting(staying) + seconds, 0.0) for seconds in (waits, added)
    )
    return {EXCHANGE: exchanged, _roofline.KERNEL: np.maximum(kernels, alone)}


def message_seconds(block_bytes, parameters: Mapping, board: Board, network: Network):
    """Of one block to another device, where others come behind it: whole, or in the pieces that are fastest.

    Pieces of all blocks of a round leave in turn: one piece is read while that before it is on its way.
    """
    whole = sum(_network.host_steps(block_bytes, board, network)) / _network.DIRECTIONS
    chunk = parameters.get("chunk_bytes", _host_path.MEASURED)
    if chunk != _host_path.MEASURED:
        count = 1.0 if chunk == 0 else np.ceil(block_bytes / np.minimum(chunk, block_bytes))
        return _in_pieces(block_bytes, count, board, network)
    fastest = whole
    for count in _host_path.PIECES:
        in_pieces = _in_pieces(block_bytes, count, board, network)
        tried = block_bytes / count >= _host_path.SHORTEST_PIECE
        fastest = np.where(tried, np.minimum(fastest, in_pieces), fastest)
    return fastest


def _in_pieces(block_bytes, count, board: Board, network: Network):
    steps = _network.host_steps(np.ceil(block_bytes / count), board, network)
    each = np.broadcast_arrays(*(step / _network.DIRECTIONS for step in steps))
    return sum(each) + (count - 1) * np.max(each, axis=0)


def _blocks(parameters: Mapping, ranks):
    """(rows and columns of the blocks of the rank that has most, how many these are)."""
    edge = np.ceil(np.asarray(parameters["size"], dtype=float) / parameters["block_size"])
    if parameters.get("distribution", "pq") == "diagonal":
        return edge, 1, np.ceil(edge**2 / ranks)  # in no order of columns
    rows, columns = _grid.shapes(ranks, parameters.get("grid_rows", 0))
    down, across = np.ceil(edge / rows), np.ceil(edge / columns)
    return down, across, down * across


def _rounds(parameters: Mapping, ranks, blocks, leaving):
    """(rounds, blocks of a round, blocks of the last one) of the rank that sends most."""
    to_one = np.round(blocks * most_to_one(parameters, ranks))
    most = parameters.get("round_blocks", 0)
    rounds = np.ceil(to_one / most) if most else np.minimum(to_one, 1)
    others = np.where(to_one > 0, leaving / np.maximum(to_one, 1), 0.0)
    in_round = np.minimum(others * (most or to_one), leaving)
    return rounds, in_round, leaving - np.maximum(rounds - 1, 0) * in_round


def _banks(parameters: Mapping, board: Board):
    """Banks over which the host spreads B and C (matrix_banks)."""
    if board.memory_placement != HOST_CHOOSES:
        return np.maximum(parameters.get("matrix_banks", 0), 1)
    return np.minimum(parameters["replications"], board["memory.banks"])
