"""Published curves of b_eff, from data/published: bandwidths are sums over all devices, both directions."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
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
