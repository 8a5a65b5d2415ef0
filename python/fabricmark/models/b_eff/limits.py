"""The most that messages of b_eff can reach: what the hosts' memories and the devices' links carry."""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricmark.base import transports
from fabricmark.models import Board, _transfers
from fabricmark.models._host_path import DIRECTIONS, MEASURED

COPIES_OVER_HOST = 3  # on a CPU: read, message, write
COPIES_OF_SHARED = 2  # where the receiver writes from what the sender has read


def limit_bytes_per_second(transport: str, board: Board) -> float | None:
    """What the hosts' memories can carry, summed over all ranks and both directions; None where unknown.

    Each byte is copied (read and written) once between host memories. On the path over the host of a GPU or
    FPGA the link writes and reads it once more, and a CPU copies it three times.
    """
    copying = _transfers.copy_limit(board)
    if copying is None:
        return None
    over_host = COPIES_OVER_HOST if _transfers.is_host_memory(board) else 2
    return copying * board.hosts / (1 if transports.between_hosts(transport) else over_host)


def limits_by_size(sizes, parameters: Mapping, board: Board, ranks: int) -> list[float | None]:
    """The most bytes a second of all ranks and both directions, for each size of a message.

    Where the limits were measured: one copy of all messages in the memory or cache that holds them; on the
    path over the host of a CPU three, two where staging memory may be shared, unless the messages are mapped;
    of a GPU no more than its link carries.
    """
    transport = parameters["transport"]
    plain = limit_bytes_per_second(transport, board)
    if board.limits is None:
        return [plain] * len(sizes)
    chunk = parameters.get("chunk_bytes", 0)
    staging = parameters.get("staging", "private")  # which results of earlier versions do not say
    may_share = staging == "shared" or (staging == "measured" and chunk == MEASURED)
    link = [board.limits.link(way) for way in (_transfers.TO_DEVICE, _transfers.FROM_DEVICE)]
    found: list[float | None] = []
    for size in sizes:
        copied = board.limits.host_copy(DIRECTIONS * size * ranks / board.hosts)
        if copied is None:
            found.append(plain)
            continue
        copied *= board.hosts
        if not transports.between_hosts(transport) and _transfers.is_host_memory(board):
            may_map = (
                staging != "shared"
                and parameters.get("map_memory", False)
                and (chunk == MEASURED or 0 < chunk < size)
            )
            copied /= 1 if may_map else COPIES_OF_SHARED if may_share else COPIES_OVER_HOST
        elif not transports.between_hosts(transport) and None not in link:
            copied = min(copied, *(way * board.devices for way in link))
        found.append(copied)
    return found


def effective_limit(limits: Sequence[float | None]) -> float | None:
    """Eq. 4.1 of the limits: their mean over the sizes; None where one is unknown."""
    return None if None in limits or not limits else float(np.mean(limits))
