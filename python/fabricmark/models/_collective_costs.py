"""What a request says of described systems, for `fabricmark-describe` to replay collective operations there.

Of the network's values it makes what moves take over an engine (packets) and over circuits, as the programs
do: src/collectives/replay/over_networks.hpp. Over the host a message is read from the device, goes by MPI and
is written (eq. 4.2): curves. Combining on the host takes no time. All as docs/collectives.md has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

from fabricmark.base import keys, transports
from fabricmark.models import Board, _network, _transfers
from fabricmark.models.machine import DIRECT, HOST, Network

HOST_ISSUER, LOGIC_ISSUER = "host", "logic"
ISSUERS = (HOST_ISSUER, LOGIC_ISSUER)
OF_ENGINE = (
    "latency", "switch_latency", "node_latency", "cable_latency", "links.line_rate", "frame",
    "frame_overhead", "copy_bandwidth", "copy_latency",
)  # fmt: skip
NEEDED = ("links.line_rate", "frame", "frame_overhead", "copy_bandwidth", "copy_latency")
OF_LINKS = ("latency", "links.width", "links.clock", "flow.packet", "flow.overhead")
INPUTS = frozenset((
    *_network.MESSAGES, *_network.LINK, *(f"network.{name}" for name in OF_ENGINE),
    "board.host.launch_latency", "network.host_start_latency",
))  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """`start`: of the whole call [s]. `network`: as a request of `fabricmark-describe` has it."""

    start: float
    network: Mapping[str, object]

    def without_curves(self) -> "Costs":
        """For requests in which bytes take no time: so those of several sizes are one."""
        return Costs(self.start, {name: said for name, said in self.network.items() if name != "curves"})


def of(parameters: Mapping, board: Board, network: Network) -> Costs:
    """The costs. `parameters`: transport, issuer, and the most bytes of a message. Raises MissingValue for a
    value that the network has not."""
    if network.kind == HOST:
        curves = _curves(parameters["transport"], board, network, parameters["longest"])
        return Costs(0.0, {"kind": network.kind, "curves": curves})
    wired = {"topology": network.topology} if network.topology else {}
    said = {"kind": network.kind, "transport": parameters["transport"], **wired}
    if network.kind == DIRECT:
        return Costs(board["host.launch_latency"], {**said, "values": _values_of_links(network)})
    start = network["host_start_latency"]
    if parameters["issuer"] == LOGIC_ISSUER:
        start = network["start_latency"]
    return Costs(start, {**said, "values": values(network, OF_ENGINE, NEEDED)})


def _values_of_links(network: Network) -> dict[str, float]:
    rate = {keys.NETWORK["links.bandwidth"].symbol: _network.link_bytes_per_second(network)}
    return {**values(network, OF_LINKS), **rate}


def values(network: Network, names: tuple[str, ...], needed: tuple[str, ...] = ()) -> dict[str, float]:
    """By the names of an exported system: those that the network has. Raises MissingValue."""
    known = {name: network[name] if name in needed else network.get(name) for name in names}
    return {keys.NETWORK[name].symbol: value for name, value in known.items() if value is not None}


def _curves(transport: str, board: Board, network: Network, longest: float) -> dict[str, list[list[float]]]:
    """A message is half of the exchange of two that the hosts' curve, or the link, tells."""
    shared = _network.has_neighbours(board)
    sizes = _sizes(longest)

    def copied(direction: str) -> np.ndarray:
        if transports.between_hosts(transport):
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
    }


def _sizes(longest: float) -> np.ndarray:
    """Bytes at which a curve is told: two each doubling, and just below each power of two, where a copy may
    take another way."""
    powers = 2.0 ** np.arange(1, ceil(max(longest, 2)).bit_length() + 1)
    return np.sort(np.concatenate([[1.0], powers * (1 - 1e-9), powers, powers + powers / 2]))
