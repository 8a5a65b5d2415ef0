"""What moves of a collective operation take over the networks of described systems.

Over an engine (packets): the start of the call by the host or by logic, latency and switch, the copy out of
the receive buffer (l_m, and its bytes after those of the packets: Meyer 2024, sections 5.1.4 and 5.1.5). Over
circuits: words of 64 bytes, at most one a cycle. Over the host: a message is read from the device, goes by
MPI and is written (eq. 4.2); hosts combine, in no time of their own. All as docs/collectives.md has it.
`fabricmark-describe` replays the programs with them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, isqrt

import numpy as np

from fabricmark.base import keys
from fabricmark.models import Board, _network, _transfers
from fabricmark.models.machine import DIRECT, HOST, Network

HOST_ISSUER, LOGIC_ISSUER = "host", "logic"
ISSUERS = (HOST_ISSUER, LOGIC_ISSUER)
WORD_BYTES = 64
ORDER_CYCLES = 2  # an order, and the word of its end, are seen in the cycle after
MESSAGE_HEADER = 64  # of ACCL
BUFFERS, BUFFER_BYTES = 16, 2**20  # receive buffers of an engine, or one for each rank
BURST_BYTES = 65536  # that go to the network at once
INPUTS = frozenset((
    *_network.MESSAGES, *_network.LINK, "board.host.launch_latency", "network.host_start_latency",
    "network.links.line_rate", "network.frame", "network.frame_overhead", "network.copy_bandwidth",
    "network.copy_latency",
))  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """`start`: of the whole call [s]. `moves`, `shape` and `buffers`: as a request of `fabricmark-describe`
    has them, `costs`, `shape` and `buffers` there."""

    start: float
    moves: Mapping[str, object]
    shape: Mapping[str, object]
    buffers: Mapping[str, int] = field(default_factory=dict)

    def without_bytes(self) -> "Costs":
        """The same where links and memory move bytes in no time: what is left are latencies."""
        taken = {name: value for name, value in self.moves.items() if name not in BYTE_COSTS}
        return Costs(self.start, taken, self.shape, self.buffers)


BYTE_COSTS = (
    "bytes_per_second", "copy_bytes_per_second", "combine_bytes_per_second", "store_bytes_per_second",
    "moving", "copying", "combining",
)  # fmt: skip


def shape(network: Network, ranks: int) -> dict[str, object]:
    """How ranks are wired: by circuits a ring where no file says otherwise, else any to any."""
    is_direct = network.kind == DIRECT
    if not is_direct or ranks <= 3:  # a ring of three is a full mesh
        return {"wiring": "any to any", "circuits": is_direct}
    rows = 1
    if network.topology.startswith("torus"):
        rows = next(rows for rows in range(isqrt(ranks), 0, -1) if ranks % rows == 0)
    if rows == 1:
        return {"wiring": "ring", "circuits": True}
    return {"wiring": "torus", "rows": rows, "columns": ranks // rows, "circuits": True}


def of(parameters: Mapping, board: Board, ranks: int, network: Network) -> Costs:
    """The costs. `parameters`: transport, issuer, and the most bytes of a message. Raises MissingValue for a
    value that the network has not."""
    wired = shape(network, ranks)
    if network.kind == HOST:
        moves = _host(parameters["transport"], board, network, parameters["longest"])
        return Costs(0.0, moves, wired)
    if network.kind == DIRECT:
        return Costs(board["host.launch_latency"], _circuits(network), wired)
    start = network["host_start_latency"]
    if parameters["issuer"] == LOGIC_ISSUER:
        start = network["start_latency"]
    # Those longer than a buffer go straight into their place.
    longest = {"longest": BUFFER_BYTES} if parameters["transport"] == keys.RDMA else {}
    buffers = {"count": max(BUFFERS, ranks), "bytes": BUFFER_BYTES, **longest}
    return Costs(start, _engine(parameters["transport"], network), wired, buffers)


def bytes_per_second(network: Network) -> float | None:
    """Payload of one link, one direction [GB/s]; None where a measured curve stands for it."""
    if network.kind == HOST:
        return None
    if network.kind == DIRECT:
        return _network.link_bytes_per_second(network) / 1e9
    frame, header = network["frame"], network["frame_overhead"]
    return network["links.line_rate"] * frame / (frame + header) / 1e9


def _engine(transport: str, network: Network) -> dict[str, object]:
    frame, copied = network["frame"], network["copy_bandwidth"]
    latency = network["latency"] + network["switch_latency"]
    again = network["copy_latency"]
    # UDP has no acknowledgements; TCP's window opens when what has come is copied.
    answer = 0.0 if transport == keys.UDP else 2 * latency
    answer += again if transport == keys.TCP else 0.0
    return {
        "message_seconds": latency + again,
        "hop_seconds": network["latency"],
        "bytes_per_second": network["links.line_rate"],
        "copy_bytes_per_second": copied,
        "combine_bytes_per_second": copied,
        "store_bytes_per_second": copied,
        "header_bytes": MESSAGE_HEADER,
        "packet_bytes": frame,
        "packet_header_bytes": network["frame_overhead"],
        "copy_seconds": again,
        "combines_as_it_comes": False,
        "answer_seconds": answer,
        # TCP has a window of packets under way, the others a burst after the other.
        "turn_bytes": round(frame) if transport == keys.TCP else BURST_BYTES,
        "leaves_in_turns": transport != keys.TCP,
    }


def _circuits(network: Network) -> dict[str, object]:
    """Without width and clock a word takes what the link's rate says, and cycles take no time."""
    if network.get("links.width") is None or network.get("links.clock") is None:
        rate = _network.link_bytes_per_second(network)
        return {
            "message_seconds": network["latency"],
            "bytes_per_second": rate,
            "word_bytes": WORD_BYTES,
        }
    cycle = 1 / network["links.clock"]
    word = max(ceil(WORD_BYTES / network["links.width"]), 1) * cycle
    return {
        "issue_seconds": ORDER_CYCLES * cycle,
        "message_seconds": network["latency"],
        "bytes_per_second": WORD_BYTES / word,
        "copy_bytes_per_second": WORD_BYTES / cycle,
        "combine_bytes_per_second": WORD_BYTES / cycle,
        "word_bytes": WORD_BYTES,
    }


def _host(transport: str, board: Board, network: Network, longest: float) -> dict[str, object]:
    """A message is half of the exchange of two that the hosts' curve, or the link, tells."""
    shared = _network.has_neighbours(board)
    sizes = _sizes(longest)

    def copied(direction: str) -> np.ndarray:
        if transport == "cpu":
            return np.zeros_like(sizes)
        return _network.copy_seconds(direction, sizes, board, shared)

    def curve(seconds: np.ndarray) -> list[list[float]]:
        return np.column_stack([sizes, seconds]).tolist()

    read, written = copied(_transfers.FROM_DEVICE), copied(_transfers.TO_DEVICE)
    both = _network.exchange_seconds(sizes, network, max(board.devices, 2), board.hosts)
    return {
        "moving": curve(read + both / _network.DIRECTIONS + written),
        "copying": curve(read + written),
        "combining": curve(2 * read + written),
        "combines_as_it_comes": False,
    }


def _sizes(longest: float) -> np.ndarray:
    """Bytes at which a curve is told: two each doubling, and just below each power of two, where a copy may
    take another way."""
    powers = 2.0 ** np.arange(1, ceil(max(longest, 2)).bit_length() + 1)
    return np.sort(np.concatenate([[1.0], powers * (1 - 1e-9), powers, powers + powers / 2]))
