"""What moves of a collective operation take over the networks of described systems.

Over an engine (packets): the start of the call by the host or by logic, latency and switch, the copy out of
the receive buffer (l_m, and its bytes after those of the packets: Meyer 2024, sections 5.1.4 and 5.1.5). Over
circuits: words of 64 bytes, at most one a cycle. Over the host: a message is read from the device, goes by
MPI and is written (eq. 4.2); hosts combine, in no time of their own. All as docs/collectives.md has it.
"""

from collections.abc import Mapping
from math import ceil, inf, isqrt

from fabricmark.models import Board, _network, _transfers
from fabricmark.models._collective_prices import RING, TORUS, Costs, Shape
from fabricmark.models._missing import MissingValue
from fabricmark.models.machine import DIRECT, HOST, Network

HOST_ISSUER, LOGIC_ISSUER = "host", "logic"
ISSUERS = (HOST_ISSUER, LOGIC_ISSUER)
WORD_BYTES = 64
ORDER_CYCLES = 2  # an order, and the word of its end, are seen in the cycle after
MESSAGE_HEADER = 64  # of ACCL
BUFFERS = 16  # of an engine, or one for each rank, of 1 MiB each
ENGINES = UDP, TCP, RDMA = "accl-udp", "accl-tcp", "accl-rdma"


def shape(network: Network, ranks: int) -> Shape:
    """How ranks are wired: by circuits a ring where no file says otherwise, else any to any."""
    if network.kind != DIRECT or ranks <= 3:  # a ring of three is a full mesh
        return Shape(circuits=network.kind == DIRECT)
    if not network.topology.startswith(TORUS):
        return Shape(RING, circuits=True)
    rows = next(rows for rows in range(isqrt(ranks), 0, -1) if ranks % rows == 0)
    if rows == 1:
        return Shape(RING, circuits=True)
    return Shape(TORUS, rows, ranks // rows, circuits=True)


def of(parameters: Mapping, board: Board, ranks: int, network: Network) -> Costs:
    """The costs. `parameters`: transport, issuer. Raises MissingValue for a value that the network has not,
    ValueError for an issuer that this transport has not."""
    if network.kind == HOST:
        return _host(parameters["transport"], board, network)
    if network.kind == DIRECT:
        return _circuits(board, network)
    return _engine(parameters, ranks, network)


def bytes_per_second(network: Network) -> float | None:
    """Payload of one link, one direction [GB/s]; None where a measured curve stands for it."""
    if network.kind == HOST:
        return None
    if network.kind == DIRECT:
        return _network.link_bytes_per_second(network) / 1e9
    frame, header = needed(network, "frame_bytes"), needed(network, "frame_overhead_bytes")
    return needed(network, "line_bytes_per_second") * frame / (frame + header) / 1e9


def needed(network: Network, name: str) -> float:
    """A value of an engine. Raises MissingValue with its key."""
    known = network.model_parameters.get(name)
    if known is None:
        raise MissingValue(f"network.{KEYS[name]}")
    return known


KEYS = {
    "line_bytes_per_second": "links.line_rate", "copy_seconds": "copy_latency",
    "copy_bytes_per_second": "copy_bandwidth", "frame_bytes": "frame",
    "frame_overhead_bytes": "frame_overhead", "host_start_seconds": "host_start_latency",
}  # fmt: skip


def _engine(parameters: Mapping, ranks: int, network: Network) -> Costs:
    line, frame = needed(network, "line_bytes_per_second"), needed(network, "frame_bytes")
    header = needed(network, "frame_overhead_bytes")
    copied = needed(network, "copy_bytes_per_second")
    start = needed(network, "host_start_seconds")
    if parameters["issuer"] == LOGIC_ISSUER:
        start = network.start_seconds
    latency = network.latency_seconds + network.switch_seconds
    again = needed(network, "copy_seconds")
    # UDP has no acknowledgements; TCP's window opens when what has come is copied.
    answer = 0.0 if parameters["transport"] == UDP else 2 * latency
    answer += again if parameters["transport"] == TCP else 0.0

    longest = 2**20 if parameters["transport"] == RDMA else inf  # beyond it goes straight into its place

    def wire(moved: float) -> float:
        sent = moved + MESSAGE_HEADER
        return (sent + ceil(sent / frame) * header) / line

    return Costs(
        start=start,
        issue=0.0,
        message=latency + again,
        hop=latency,
        moving=wire,
        storing=lambda moved: moved / copied if moved <= longest else 0.0,
        copying=lambda moved: again + moved / copied,
        combining=lambda moved: again + moved / copied,
        again=again,
        leaving=answer or network.latency_seconds,
        answer=answer,
        buffers=max(BUFFERS, ranks),
        longest=longest,
    )


def _circuits(board: Board, network: Network) -> Costs:
    """Without width and clock a word takes what the link's rate says, and cycles take no time."""
    if network.width_bytes is not None and network.clock_hz is not None:
        cycle = 1 / network.clock_hz
        word = max(ceil(WORD_BYTES / network.width_bytes), 1) * cycle
    else:
        cycle, word = 0.0, WORD_BYTES / _network.link_bytes_per_second(network)

    def words(moved: float) -> int:
        return max(1, ceil(moved / WORD_BYTES))

    return Costs(
        start=board.launch_seconds,
        issue=ORDER_CYCLES * cycle,
        message=network.latency_seconds,
        hop=network.latency_seconds,
        moving=lambda moved: words(moved) * word,
        storing=lambda moved: 0.0,
        copying=lambda moved: ceil(moved / WORD_BYTES) * cycle,
        combining=lambda moved: ceil(moved / WORD_BYTES) * cycle,
        combines_as_it_comes=True,
    )


def _host(transport: str, board: Board, network: Network) -> Costs:
    """A message is half of the exchange of two that the hosts' curve, or the link, tells."""
    shared = _network.has_neighbours(board)

    def copied(direction: str, moved: float) -> float:
        return float(_network.copy_seconds(direction, max(moved, 1.0), board, shared)) if over_device else 0.0

    def message(moved: float) -> float:
        both = _network.exchange_seconds(max(moved, 1.0), network, max(board.devices, 2), board.hosts)
        return float(both) / _network.DIRECTIONS

    over_device = transport != "cpu"
    return Costs(
        start=0.0,
        issue=0.0,
        message=0.0,
        hop=0.0,
        moving=lambda moved: (
            copied(_transfers.FROM_DEVICE, moved) + message(moved) + copied(_transfers.TO_DEVICE, moved)
        ),
        storing=lambda moved: 0.0,
        copying=lambda moved: copied(_transfers.FROM_DEVICE, moved) + copied(_transfers.TO_DEVICE, moved),
        combining=lambda moved: (
            2 * copied(_transfers.FROM_DEVICE, moved) + copied(_transfers.TO_DEVICE, moved)
        ),
    )
