"""What a request says of a network of a described system, for `fabricmark-describe` to simulate it packet by
packet (docs/simulate.md)."""

from fabricmark.base import keys
from fabricmark.models import _collective_costs, _network
from fabricmark.models.machine import Network

OF_NETWORK = (
    "latency", "start_latency", "switch_latency", "node_latency", "cable_latency", "links.width",
    "links.clock", "flow.packet", "flow.overhead", "frame", "frame_overhead",
)  # fmt: skip


def network_of(network: Network) -> dict[str, object]:
    """Kind and values, by the names of an exported system. Raises MissingValue without a rate of links."""
    rate = {keys.NETWORK["links.bandwidth"].symbol: _network.link_bytes_per_second(network)}
    return {"kind": network.kind, "values": {**_collective_costs.values(network, OF_NETWORK), **rate}}
