"""The steps of an exchange over the host: read from the device, message, write to the device."""

from collections.abc import Sequence

import numpy as np

from fabricmark.models import Board, _transfers
from fabricmark.models._fit import curve, fit_of
from fabricmark.models._measured import message_seconds
from fabricmark.models.machine import Network

DIRECTIONS = 2
EXCHANGE = "exchange"
STEPS = ("read", "message", "write")


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
    return _transfers.seconds(moved, board.launch_seconds, rate, starts)


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
