"""What the models of transfers between host and device share."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from statistics import mean

from fabricmark.models import Board, Prediction
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream, measured_of

TO_DEVICE = "to_device"
FROM_DEVICE = "from_device"
# Of `rate` and of the copies in a host's memory, and of `predictions`.
RATES = {TO_DEVICE: "host.write_bandwidth", FROM_DEVICE: "host.read_bandwidth"}
COPIES = (*(f"board.{name}" for name in RATES.values()), "board.host.copy_bandwidth")
INPUTS = (*COPIES[:2], "board.memory.banks", "board.memory.bank_bandwidth")


def is_host_memory(board: Board) -> bool:
    """Whether the device's memory is the host's: a transfer is then a copy, and both directions share it."""
    return board.device_class == "cpu"


def copy_limit(board: Board) -> float | None:
    """Bytes that one host's memory can copy in a second: each is read and written. None where unknown."""
    copied = board.get("host.copy_bandwidth")
    return None if copied is None else copied / 2


def rate(direction: str, board: Board, ranks_here: int = 1) -> float | None:
    """Calibrated bytes per second of all `ranks_here` ranks of one device; None where the board has none.

    Ranks on a CPU copy side by side until its memory is the limit; ranks on a GPU or FPGA share one link.
    """
    known = board.get(RATES[direction])
    if known is None or not is_host_memory(board):
        return known
    return min(known * ranks_here, max(known, copy_limit(board) or inf))


def seconds(moved_bytes: float, latency_seconds: float, bytes_per_second: float, latencies: int = 1) -> float:
    """Time of a transfer [s]: a latency for each time that is waited for, and the bytes at the rate."""
    return latencies * latency_seconds + moved_bytes / bytes_per_second


LAPS = {"host_to_device": TO_DEVICE, "device_to_host": FROM_DEVICE}


def limit(direction: str, copied_bytes: float, board: Board) -> float | None:
    """The most bytes a second between hosts and devices, all together; None where it was not measured.

    `copied_bytes`: in one host. A CPU's copy is limited by the memory or cache that holds both sides, the
    copy to another device by its link. `direction`: to_device, from_device or both.
    """
    if board.limits is None:
        return None
    if not is_host_memory(board):
        carried = board.limits.link(direction)
        return None if carried is None else carried * board.devices
    copied = board.limits.host_copy(copied_bytes)
    return None if copied is None else copied * board.hosts


def predictions(
    board: Board, ranks: int, bitstream: Bitstream | None = None, array_bytes: float = 0.0
) -> list[Prediction]:
    """The regions host_to_device and device_to_host; none of what there is no rate.

    `array_bytes`: of one array of one rank; what it and its copy fit into limits a CPU.

    At the rates that short runs of this program reached, else at the calibrated ones.
    A CPU's transfer is a copy in its memory (each byte is read and written): ranks add up until that
    limit. Ranks on one GPU or FPGA share its link.
    """
    fitted = measured_of(bitstream)
    found = []
    for operation, direction in LAPS.items():
        one = fitted.get(f"{direction}_bytes_per_second", board.get(RATES[direction]))
        most = fitted.get(f"{direction}_limit_bytes_per_second")
        if one is not None:
            shown = _prediction(operation, one, most, board, ranks)
            known_limit = limit(direction, array_bytes * -(-ranks // board.hosts), board)
            found.append(shown if known_limit is None else replace(shown, limit=known_limit / 1e9))
    return found


def _prediction(operation: str, one: float, most: float | None, board: Board, ranks: int) -> Prediction:
    """`one`: rate of one rank; `most`: of all that share a device, None where only the memory tells."""
    limit = value = one * board.devices
    if is_host_memory(board):
        limit = max(limit, board.memory_bytes_per_second / 2 * board.devices)
        value = min(one * ranks, limit if most is None else max(one, most) * board.devices)
    axes = {"operation": operation}
    explanation = "calibrated transfer of 64 MiB" if most is None else "rates of this program's short runs"
    return Prediction("bandwidth", axes, value / 1e9, "GB/s", limit / 1e9, "transfer", explanation)


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """Rates of one rank's transfers and of all ranks together; of several passes, the largest amounts last.

    `<direction>_bytes_per_second`; `<direction>_limit_bytes_per_second` where several numbers of ranks ran.
    """
    fitted = {}
    for operation, direction in LAPS.items():
        measured = [
            (run.ranks, run.parameters, rate * 1e9)
            for run in runs
            if (rate := run.best("bandwidth", "GB/s", operation=operation)) is not None
        ]
        last = {ranks: parameters for ranks, parameters, _ in measured}
        rates = {
            ranks: mean(rate for *kind, rate in measured if kind == [ranks, parameters])
            for ranks, parameters in last.items()
        }
        if rates:
            fewest = min(rates)
            fitted[f"{direction}_bytes_per_second"] = rates[fewest] / fewest
            if len(rates) > 1:
                fitted[f"{direction}_limit_bytes_per_second"] = max(rates.values())
    return fitted
