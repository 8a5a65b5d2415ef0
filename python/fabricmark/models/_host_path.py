"""The steps of an exchange over the host: read from the device, message, write to the device."""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricmark.models import Board, _transfers
from fabricmark.models._fit import Modelled, curve, fit_of
from fabricmark.models._measured import message_seconds
from fabricmark.models.machine import Network

DIRECTIONS = 2
INPUTS = (*_transfers.COPIES, "board.host.launch_latency")
EXCHANGE = "exchange"
STEPS = ("read", "message", "write")
MEASURED = -1  # chunk_bytes: the program has measured which protocol is the fastest for each size
PIECES = (2, 4, 8)  # the numbers of chunks of a message that it has tried
SHORTEST_PIECE = 65536  # bytes of the shortest of these over a network that is simulated


def copy_seconds(step: str, sizes, board: Board, ranks: int):
    """Time of the step "read" or "write" for whole messages [s]; None where the board has no rate for it.

    Ranks that share a GPU or FPGA also wait for the start of each other's copies.
    """
    ranks_here = -(-ranks // board.devices)
    direction = _transfers.FROM_DEVICE if step == "read" else _transfers.TO_DEVICE
    rate = _transfers.rate(direction, board, ranks_here)
    if rate is None:
        return None
    moved = DIRECTIONS * ranks_here * np.asarray(sizes, dtype=float)
    starts = 1 if _transfers.is_host_memory(board) else ranks_here
    return _transfers.seconds(moved, board["host.launch_latency"], rate, starts)


def measured_steps(sizes, measurements: Sequence) -> list[np.ndarray] | None:
    """Times of read, message and write as the run measured each alone [s]; None where it did not."""
    curves = [curve(measurements, step) for step in STEPS]
    if not all(curves):
        return None
    return [np.interp(sizes, sorted(one), [one[size] for size in sorted(one)]) for one in curves]


def calculated_steps(
    sizes, board: Board, ranks: int, measurements: Sequence, network: Network | None = None
) -> tuple[list[np.ndarray], str] | None:
    """(times of read, message and write [s], where they are from); None where nothing says.

    `network`: the hosts' MPI as it was measured.
    """
    copies = [copy_seconds(step, sizes, board, ranks) for step in ("read", "write")]
    if copies[0] is None or copies[1] is None:
        return None
    message = message_seconds(network, sizes, ranks, board)
    if message is not None:
        return [copies[0], message, copies[1]], "copies as calibrated, messages as the hosts' were measured"
    moved = DIRECTIONS * ranks * np.asarray(sizes, dtype=float)
    fit = fit_of(curve(measurements, EXCHANGE), DIRECTIONS * ranks)
    copying = _transfers.copy_limit(board)
    if fit is not None:
        message = np.maximum(fit.seconds(moved) - sum(copies), 0)
        return [copies[0], message, copies[1]], "copies as calibrated, the rest a fit of this run's exchanges"
    if copying is None or board.hosts > 1:
        return None
    return [copies[0], moved / copying, copies[1]], "copies as calibrated, the message one more of the host's"


def protocols(sizes: np.ndarray, parameters: Mapping, in_host_memory: bool) -> list:
    """Chunks [bytes] that the program has chosen from: 0, whole; mapped from the shortest message on, or for
    each size some numbers of them."""
    if in_host_memory:
        return [0, 1] if parameters.get("map_memory", False) else [0]
    return [0, *(np.ceil(sizes / count) for count in PIECES)]


def fastest(of_protocols: Sequence[Modelled | None]) -> Modelled | None:
    """Of each size the fastest; None where one is not known."""
    if None in of_protocols:
        return None
    times = np.stack([protocol.seconds for protocol in of_protocols])
    best = np.argmin(times, axis=0)
    words = [of_protocols[protocol].words[i] for i, protocol in enumerate(best)]
    return Modelled(times.min(axis=0), words, of_protocols[0].explanation)


def forced_protocols(sizes, parameters: Mapping, board: Board) -> list[dict]:
    """The parameters of runs with each of these protocols forced; the given ones if they say it."""
    if parameters.get("chunk_bytes", 0) != MEASURED:
        return [dict(parameters)]
    chunks = protocols(np.asarray(sizes, dtype=float), parameters, _transfers.is_host_memory(board))
    return [{**parameters, "chunk_bytes": one} for one in chunks]
