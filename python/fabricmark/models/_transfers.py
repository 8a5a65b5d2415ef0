"""What the models of transfers between host and device share."""

from math import inf

from fabricmark.models import Board, Prediction

TO_DEVICE = "to_device"
FROM_DEVICE = "from_device"


def is_host_memory(board: Board) -> bool:
    """Whether the device's memory is the host's: a transfer is then a copy, and both directions share it."""
    return board.device_class == "cpu"


def copy_limit(board: Board) -> float | None:
    """Bytes that one host's memory can copy in a second: each is read and written. None where unknown."""
    return None if board.host_bytes_per_second is None else board.host_bytes_per_second / 2


def rate(direction: str, board: Board, ranks_here: int = 1) -> float | None:
    """Calibrated bytes per second of all `ranks_here` ranks of one device; None where the board has none.

    Ranks on a CPU copy side by side until its memory is the limit; ranks on a GPU or FPGA share one link.
    """
    known = board.host_to_device_bytes_per_second
    if direction == FROM_DEVICE:
        known = board.device_to_host_bytes_per_second
    if known is None or not is_host_memory(board):
        return known
    return min(known * ranks_here, max(known, copy_limit(board) or inf))


def seconds(moved_bytes: float, latency_seconds: float, bytes_per_second: float, latencies: int = 1) -> float:
    """Time of a transfer [s]: a latency for each time that is waited for, and the bytes at the rate."""
    return latencies * latency_seconds + moved_bytes / bytes_per_second


def predictions(board: Board, ranks: int) -> list[Prediction]:
    """The laps host_to_device and device_to_host at the calibrated rates; none of what the board has no rate.

    A CPU's transfer is a copy in its memory (each byte is read and written): ranks add up until that
    limit. Ranks on one GPU or FPGA share its link.
    """
    known = {
        "host_to_device": board.host_to_device_bytes_per_second,
        "device_to_host": board.device_to_host_bytes_per_second,
    }
    return [_prediction(operation, one, board, ranks) for operation, one in known.items() if one is not None]


def _prediction(operation: str, one: float, board: Board, ranks: int) -> Prediction:
    limit = value = one * board.devices
    if is_host_memory(board):
        limit = max(limit, board.memory_bytes_per_second / 2 * board.devices)
        value = min(one * ranks, limit)
    axes = {"operation": operation}
    explanation = "calibrated transfer of 64 MiB"
    return Prediction("bandwidth", axes, value / 1e9, "GB/s", limit / 1e9, "transfer", explanation)
