"""Messages between two ranks as micro-benchmarks measure them (docs/microbench.md): one there and one back, a
window of them one way, windows both ways.

A message passes steps one after another; those of a window follow each other through them as fast as the
slowest lets them. Over the host they are the copies of eq. 4.2 and the hosts' message; over an engine one
message is replayed (models/_collectives.py); over circuits it is words of a link.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fabricmark.base import transports
from fabricmark.models import Board, Prediction, _collective_costs, _collectives, _network, _transfers
from fabricmark.models.machine import DIRECT, HOST, Network

LATENCY, BANDWIDTH, BOTH_WAYS = "latency", "bw", "bibw"
PROGRAMS = (LATENCY, BANDWIDTH, BOTH_WAYS)  # by their names without fm_
PAIR = 2
ANSWER_BYTES = 4  # with which a receiver of a window says that all has come
BUFFERS = 16  # of an engine, for what arrives: as many messages are on their way to their place
ONE_MESSAGE, WHOLE = (
    "broadcast",
    "binomial",
)  # between two ranks one message, which this algorithm does not cut
IN_HOST, IN_DEVICE, IN_HBM = "H", "D", "B"  # letters of the memory that a message leaves or arrives in
LETTERS = (IN_HOST, IN_DEVICE, IN_HBM)


@dataclass(frozen=True)
class Message:
    """`start`: of a call [s], `is_kept` where one start is enough for the way back; `issue`: of each message.
    `steps`: that it passes [s], by name. `busy`: how long after a message the next one follows, of messages
    one way and of two that cross [s]. `answer`: of the receiver of a window [s]."""

    start: float
    steps: Mapping[str, float]
    busy: tuple[float, float]
    issue: float = 0.0
    answer: float = 0.0
    is_kept: bool = False

    @property
    def way(self) -> float:
        """From its start to its end [s]."""
        return sum(self.steps.values())


def over_hosts(
    size: int, placement: tuple[str, str], transport: str, board: Board, network: Network
) -> Message:
    """Of `size` bytes from one memory to another, each of a host or a device. Raises MissingValue."""

    copied = [letter != IN_HOST and not transports.between_hosts(transport) for letter in placement]
    shared = _network.has_neighbours(board)

    def copies(moved: int) -> tuple[float, float]:
        directions = (_transfers.FROM_DEVICE, _transfers.TO_DEVICE)
        read, write = (float(_network.copy_seconds(one, moved, board, shared)) for one in directions)
        return read, write

    def steps(moved: int) -> dict[str, float]:
        found = {"message": _between_hosts(moved, board, network)}
        read, write = copies(moved) if any(copied) else (0.0, 0.0)
        return found | ({"read": read} if copied[0] else {}) | ({"write": write} if copied[1] else {})

    own = steps(size)
    # Both ways each device reads what it sends and writes what it gets; its copies take turns.
    crossing = max(own["message"], sum(copies(size)) if any(copied) else 0.0)
    answer = sum(steps(ANSWER_BYTES).values())
    return Message(0.0, own, (max(own.values()), crossing), answer=answer)


def _between_hosts(size: int, board: Board, network: Network) -> float:
    """One way [s]: half of the exchange of two messages that the hosts' curve tells; within a node without
    one as a rank sends to itself. Raises MissingValue."""
    within = network.get("self_bandwidth")
    if network.curve(PAIR, board.hosts) is None and board.hosts == 1 and within is not None:
        return float(size / within + _network.hop_seconds(network))
    return float(_network.exchange_seconds(size, network, PAIR, board.hosts) / _network.DIRECTIONS)


def over_links(size: int, board: Board, network: Network) -> Message:
    """Over one circuit of kernels, which a host starts once. Raises MissingValue."""
    sent = float(_network.link_seconds(size, network, 1))
    words = sent - float(_network.hop_seconds(network))
    return Message(board["host.launch_latency"], {"message": sent}, (words, words), is_kept=True)


def over_engine(size: int, issuer: str, transport: str, board: Board, network: Network) -> Message:
    """Over engines beside ports of a network of packets. Raises MissingValue, FabricmarkError."""
    costs, requests = engine_requests(size, issuer, transport, board, network)
    # A message has come before its sender knows it: the lesser is without acknowledgements, unless a long one
    # goes straight to its place, which only its own protocol does.
    sent = min(found["algorithms"][WHOLE]["seconds"] for found in _collectives.answers(requests))
    frames = 1 + network["frame_overhead"] / network["frame"]
    wire = size * frames / network["links.line_rate"]
    placed = size / network["copy_bandwidth"]
    busy = max(wire, placed, (network["copy_latency"] + placed) / BUFFERS)
    issue = costs.start if issuer == _collective_costs.LOGIC_ISSUER else 0.0
    return Message(costs.start, {"message": sent}, (busy, busy), issue)


def engine_requests(
    size: int, issuer: str, transport: str, board: Board, network: Network
) -> tuple[_collective_costs.Costs, list[dict]]:
    """What is replayed of one message: by its own protocol, and by one without acknowledgements."""
    asked = {"transport": transport, "issuer": issuer, "longest": size}
    costs = _collective_costs.of(asked, board, network)
    plain = replace(costs, network={**costs.network, "transport": transports.UDP})
    return costs, [_collectives.request(ONE_MESSAGE, one, PAIR, size) for one in (costs, plain)]


def message(parameters: Mapping, transport: str, board: Board, network: Network) -> Message:
    """The message of a program. `parameters`: size, placement, issuer. Raises MissingValue."""
    size = int(parameters["size"])
    if network.kind == HOST:
        return over_hosts(size, parameters["placement"], transport, board, network)
    if network.kind == DIRECT:
        return over_links(size, board, network)
    return over_engine(size, parameters["issuer"], transport, board, network)


def predict(program: str, parameters: Mapping, transport: str, board: Board, network: Network) -> Prediction:
    """What a program prints first. `parameters`: also the messages of a window. Raises MissingValue."""
    found = message(parameters, transport, board, network)
    size, window = int(parameters["size"]), int(parameters["window"])
    axes = {"message_bytes": size}
    if program == LATENCY:
        start = found.start / 2 if found.is_kept else found.start
        phases = _kept({"start": start, **found.steps})
        why = "half of the time there and back"
        return Prediction(LATENCY, axes, (start + found.way) * 1e6, "us", None, _most(phases), why, phases)
    ways = PAIR if program == BOTH_WAYS else 1
    busy = found.busy[ways - 1]
    # Of two that cross both copies of a device count, of which the way of one may have none or one only.
    following = max((ways * window - 1) * found.issue, (window - 1) * busy + max(busy - found.way, 0.0))
    answer = found.answer if ways == 1 else 0.0
    phases = _kept({"start": found.start, **found.steps, "window": following, "answer": answer})
    rate = ways * window * size / sum(phases.values()) / 1e9
    most = ways * size / busy / 1e9
    slowest = max(found.steps, key=lambda step: found.steps[step])
    bottleneck = _most(phases) if _most(phases) != "window" else f"window: {slowest}"
    why = f"{window} messages follow each other" + (", both ways" if ways == PAIR else "")
    return Prediction("bandwidth", axes, rate, "GB/s", most, bottleneck, why, phases)


def _kept(phases: Mapping[str, float]) -> dict[str, float]:
    return {name: float(np.asarray(seconds)) for name, seconds in phases.items() if seconds}


def _most(phases: Mapping[str, float]) -> str:
    return max(phases, key=lambda name: phases[name]) if phases else "nothing"
