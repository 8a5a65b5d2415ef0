"""Published curves of b_eff, from data/published: bandwidths are sums over all devices, both directions; and
the equations that they are printed with."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from fabricmark.models import _network
from fabricmark.models._host_path import DIRECTIONS
from fabricmark.models.machine import Network
from fabricmark.results import published
from fabricmark.results.published import PublishedValue


@dataclass(frozen=True)
class Published:
    """One run: bandwidth of each size [B/s], and the effective bandwidth that was printed."""

    system: str
    devices: int
    nodes: int
    sizes: list[int]
    rates: np.ndarray
    effective: float


@lru_cache
def _rows() -> list[PublishedValue]:
    return [row for row in published.load() if row.benchmark == "b_eff"]


def curves(transport: str) -> list[Published]:
    """All runs over this transport."""
    runs: dict[str, list[PublishedValue]] = {}
    for row in _rows():
        if row.transport == transport:
            runs.setdefault(row.source, []).append(row)
    return [_curve(run) for run in runs.values() if any(row.metric == "b_eff" for row in run)]


def _curve(run: list[PublishedValue]) -> Published:
    points = {row.message_bytes: row.value for row in run if row.metric == "bandwidth"}
    return Published(
        system=run[0].system,
        devices=run[0].devices,
        nodes=run[0].nodes,
        sizes=list(points),
        rates=np.array(list(points.values())),
        effective=next(row.value for row in run if row.metric == "b_eff"),
    )


def exchange_bytes_per_second(message_bytes, write_seconds, message_seconds, read_seconds):
    """Bandwidth b_L over the host, both directions: read, send and write (Meyer 2024, eq. 4.2)."""
    return DIRECTIONS * np.asarray(message_bytes) / (write_seconds + message_seconds + read_seconds)


def circuit_seconds(message_bytes, network: Network, messages=1, channels=2):
    """Time of messages one after the other over direct channels [s] (Meyer 2024, eq. 4.3).

    `channels`: c'_n = 2, those that a pair of kernels uses; their latency, width and clock are the network's.
    """
    return messages * _network.link_seconds(message_bytes, network, channels)


def circuit_bytes_per_second(message_bytes, network: Network):
    """Bandwidth b_L over direct channels (Meyer 2024, eq. 4.4).

    The text calls it that of one pair of kernels; the published values of a board with two pairs, which use
    all four channels, are those of this equation as it stands.
    """
    return DIRECTIONS * np.asarray(message_bytes) / circuit_seconds(message_bytes, network)


def peak_bytes_per_second(network_bytes_per_second, link_bytes_per_second):
    """Bandwidth b_max of long messages over the host, without latencies (Meyer 2024, eq. 4.7)."""
    return DIRECTIONS / (1 / network_bytes_per_second + 2 / link_bytes_per_second)
