"""How devices of a described system exchange: circuits, packets, or copies to the hosts and MPI between them.

All take and return numbers or arrays of NumPy, in bytes and seconds; a field of a board or network may be an
array, too (models/_sweep.py).
"""

from dataclasses import replace

import numpy as np

from fabricmark.base import transports
from fabricmark.models import Board, _transfers
from fabricmark.models._credit_link import efficiency
from fabricmark.models._measured import curve_seconds
from fabricmark.models._switches import further_switches
from fabricmark.models.machine import DIRECT, HOST, Curve, Network

DIRECTIONS = 2
# Of copies between a device and its host, of arrays and of messages; of a message on a link, and in a ring.
ARRAYS = (
    "board.host.write_bandwidth", "board.host.read_bandwidth", "board.host.write_latency",
    "board.host.read_latency", "board.host.staging_bandwidth", "board.host.array_staging_bandwidth",
)  # fmt: skip
MESSAGES = (
    *ARRAYS[:-1], "board.host.page", "board.host.page_latency", "board.host.programmed_below",
    "board.host.programmed_bandwidth", "board.host.programmed_latency", "board.host.programmed_at_once",
    "board.host.neighbour_factor",
)  # fmt: skip
LINK = (
    "network.links.width", "network.links.clock", "network.flow.packet", "network.flow.overhead",
    "network.links.bandwidth", "network.latency",
    "network.start_latency", "network.switch_latency", "network.self_bandwidth",
)  # fmt: skip
RING = (*LINK, "network.links.count", "network.switch_ports", "network.cable_latency")


def inverse(bytes_per_second):
    """Seconds a byte; 0 where no rate is known to limit."""
    return 0.0 if bytes_per_second is None else 1 / np.asarray(bytes_per_second, dtype=float)


def words(network: Network):
    """Width [bytes] and rate [Hz] of the words of long messages, where kernels write to a cable directly.

    Each packet of a credit link takes cycles beside its data. (None, None) of other links.
    """
    width, clock = network.get("links.width"), network.get("links.clock")
    if width is None or clock is None or network.kind != DIRECT:
        return None, None
    packet = network.get("flow.packet")
    return width, clock if packet is None else clock * efficiency(packet, network["flow.overhead"])


def link_bytes_per_second(network: Network):
    """One link, one direction: width x clock where kernels write to it directly, else its rate.

    Raises MissingValue for a network that has neither.
    """
    width, clock = words(network)
    return network["links.bandwidth"] if width is None else width * clock


def word_bytes_per_second(network: Network, word_bytes):
    """One link, one direction, where kernels hand it words of so many bytes.

    A link that kernels write to directly takes a word in whole cycles of its own, however narrow the word is;
    others pack words, and go at their rate.
    """
    width, clock = words(network)
    if width is None:
        return link_bytes_per_second(network)
    return word_bytes / np.ceil(word_bytes / width) * clock


def handed_bytes_per_second(network: Network, word_bytes, board: Board):
    """The same, no faster than a kernel hands over a word in each cycle of its clock."""
    return np.minimum(word_bytes_per_second(network, word_bytes), word_bytes * board["clock"])


def handed(network: Network, word_bytes, board: Board) -> tuple | None:
    """(bytes of the words, the rate at which they pass); None where no kernel hands words to a cable, or
    nothing says its clock."""
    if word_bytes is None or network.kind != DIRECT or board.get("clock") is None:
        return None
    return word_bytes, handed_bytes_per_second(network, word_bytes, board)


def hop_seconds(network: Network):
    """Of the first byte from one device to the next; packets also start and pass a switch."""
    if network.kind == DIRECT:
        return network["latency"] + network["start_latency"]
    return network["latency"] + network["start_latency"] + network["switch_latency"]


def spine_seconds(network: Network, devices):
    """What the slowest pair of neighbours in a ring waits longer for further switches [s].

    Each with its cable (Mondigo 2020, section 4.3.3 and eq. 4.3: two of each between leaves).
    """
    return further_switches(network, devices)[0] * _further_seconds(network)


def mean_spine_seconds(network: Network, devices: int) -> float:
    """The same on average over the ring [s]."""
    return float(further_switches(network, devices)[1] * _further_seconds(network))


def _further_seconds(network: Network):
    return network["switch_latency"] + (network.get("cable_latency") or 0.0)


def link_seconds(message_bytes, network: Network, links, by_words: tuple | None = None):
    """Time of one message over so many links of a device at once [s] (Meyer 2024, eq. 4.3 with i = 1).

    t = ceil(L / (c'_n c_w)) / c_f + c_l; without width and clock L / (c'_n b) + c_l. `by_words`: of a
    kernel's words, as `handed` has them, c_w and c_w c_f.
    """
    sent = np.asarray(message_bytes, dtype=float)
    width, clock = words(network)
    if by_words is not None:
        word_bytes, rate = by_words
        moving = np.ceil(sent / (links * word_bytes)) * word_bytes / rate
    elif width is not None:
        moving = np.ceil(sent / (links * width)) / clock
    else:
        moving = sent / (links * link_bytes_per_second(network))
    return moving + hop_seconds(network)


def exchange_seconds(message_bytes, network: Network, devices, nodes):
    """Time in which each host sends a message to both neighbours and receives theirs [s].

    The hosts' curve; without one a rank sends to itself through its memory, and others through the link.
    `devices` and `nodes` may be arrays. Raises ValueError where nothing says.
    """
    if np.ndim(devices) == 0 and np.ndim(nodes) == 0:
        curve = network.curve(int(devices), int(nodes))
        return _seconds_of(message_bytes, network, curve, int(devices) == 1)
    devices, nodes = np.broadcast_arrays(devices, nodes)
    pairs = list(zip(devices.ravel().tolist(), nodes.ravel().tolist(), strict=True))
    known = {pair: (network.curve(*pair), pair[0] == 1) for pair in set(pairs)}
    kinds = list({(id(curve), alone): (curve, alone) for curve, alone in known.values()}.values())
    number = {pair: kinds.index(kind) for pair, kind in known.items()}
    which = np.array([number[pair] for pair in pairs]).reshape(devices.shape)
    times = [_seconds_of(message_bytes, network, *kind) for kind in kinds]
    return times[0] if len(times) == 1 else np.choose(which, times)


def _seconds_of(message_bytes, network: Network, curve: Curve | None, alone: bool):
    if curve is not None:
        return curve_seconds(curve, message_bytes)
    sent, to_itself = DIRECTIONS * np.asarray(message_bytes, dtype=float), network.get("self_bandwidth")
    if alone and to_itself is not None:
        return sent / to_itself
    return sent / link_bytes_per_second(network) + DIRECTIONS * hop_seconds(network)


def copy_seconds(direction: str, moved_bytes, board: Board, neighbours=False):
    """Time to copy one message between host and device [s]: one of the driver's two ways.

    By DMA: latency (more from a page on) + bytes x (1 / rate + 1 / staging), longer by `neighbour_factor`
    where the node's other devices copy, too. Short ones word by word: a fixed time, and the bytes beyond
    those that it is enough for / programmed rate. Source: the published rows of b_eff over the host
    (data/published); the documents give none of these parameters. Raises MissingValue for a board without
    the rate.
    """
    moved = np.asarray(moved_bytes, dtype=float)
    rate, latency = _way(direction, board)
    waiting = latency + np.where(moved >= board["host.page"], board["host.page_latency"], 0.0)
    copied = waiting + moved * (inverse(rate) + inverse(board.get("host.staging_bandwidth")))
    copied = copied * np.where(neighbours, board["host.neighbour_factor"], 1.0)
    return np.where(moved < board["host.programmed_below"], _by_words(moved, board), copied)


def _by_words(moved, board: Board):
    """Time of copies that are made word by word [s]."""
    beyond = np.maximum(moved - programmed_at_once(board), 0.0)
    return board["host.programmed_latency"] + beyond * inverse(board.get("host.programmed_bandwidth"))


def programmed_at_once(board: Board):
    """Bytes that go word by word in the least time; where nothing says, what their rate makes of it."""
    known = board.get("host.programmed_at_once")
    if known is not None:
        return known
    rate = board.get("host.programmed_bandwidth")
    return 0.0 if rate is None else board["host.programmed_latency"] * rate


def _way(direction: str, board: Board) -> tuple:
    """(bytes a second, latency [s]) of copies in a direction. Raises MissingValue without a rate."""
    way = "write" if direction == _transfers.TO_DEVICE else "read"
    return board[f"host.{way}_bandwidth"], board[f"host.{way}_latency"]


def array_copy_seconds(direction: str, moved_bytes, board: Board, staged: bool = True):
    """Time to copy a whole array between host and device [s]: latency + bytes x (1 / rate + 1 / staging).

    Not `staged`: memory that the driver knows from an earlier copy.
    """
    rate, latency = _way(direction, board)
    staging = board.get("host.array_staging_bandwidth")
    if staging is None:
        staging = board.get("host.staging_bandwidth")
    a_byte = inverse(rate) + (inverse(staging) if staged else 0.0)
    return latency + np.asarray(moved_bytes, dtype=float) * a_byte


def has_neighbours(board: Board):
    """Whether another device of a run shares a device's node."""
    return np.asarray(board.devices) > np.asarray(board.hosts)


def host_steps(message_bytes, board: Board, network: Network) -> list:
    """Times of read, message and write of an exchange with both neighbours over the host [s], in this order.

    The devices' copies of both messages, one after the other, and the hosts' exchange (eq. 4.2).
    """
    shared = has_neighbours(board)
    return [
        DIRECTIONS * copy_seconds(_transfers.FROM_DEVICE, message_bytes, board, shared),
        exchange_seconds(message_bytes, network, board.devices, board.hosts),
        DIRECTIONS * copy_seconds(_transfers.TO_DEVICE, message_bytes, board, shared),
    ]


def ring_seconds(
    message_bytes, board: Board, network: Network, transport: str, pairs=None, word_bytes=None
) -> list:
    """Times of the steps of an exchange with both neighbours in a ring [s]: one, or three over the host.

    Direct links are shared out to both neighbours; a pair of kernels writes to one of each (`pairs`: how many
    there are, None: enough for all links), words of `word_bytes`.
    """
    if network.kind == HOST:
        if transports.between_hosts(transport):
            return [exchange_seconds(message_bytes, network, board.devices, board.hosts)]
        return host_steps(message_bytes, board, network)
    links = np.maximum(network["links.count"] // DIRECTIONS, 1)
    links = links if pairs is None else np.minimum(links, pairs)
    sending = link_seconds(message_bytes, network, links, handed(network, word_bytes, board))
    return [sending + spine_seconds(network, board.devices)]


def ring_limit(board: Board, network: Network, transport: str) -> float | None:
    """Bytes per second of all devices, both directions, that links or copies carry; None where unknown."""
    if network.kind != HOST:
        links = max(network["links.count"] // DIRECTIONS, 1)
        return DIRECTIONS * links * link_bytes_per_second(network) * board.devices
    rates = [board.get(name) for name in _transfers.RATES.values()]
    if transports.between_hosts(transport) or None in rates:
        return None
    return board.devices / sum(inverse(rate) for rate in rates)


def with_axis(described):
    """A board or network whose arrays have one more axis, for example for the sizes of messages."""

    def wider(values):
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return {name: value[..., np.newaxis] for name, value in arrays.items()}

    return replace(described.having(wider(described.values.known)), **wider(vars(described)))
