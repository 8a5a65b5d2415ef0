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
def _figures() -> list[PublishedValue]:
    return [figure for figure in published.load() if figure.benchmark == "b_eff"]


def curves(transport: str) -> list[Published]:
    """All runs over this transport."""
    runs: dict[str, list[PublishedValue]] = {}
    for figure in _figures():
        if figure.transport == transport:
            runs.setdefault(figure.source, []).append(figure)
    return [_curve(run) for run in runs.values() if any(figure.metric == "b_eff" for figure in run)]


def _curve(run: list[PublishedValue]) -> Published:
    points = {figure.message_bytes: figure.value for figure in run if figure.metric == "bandwidth"}
    return Published(
        system=run[0].system,
        devices=run[0].devices,
        nodes=run[0].nodes,
        sizes=list(points),
        rates=np.array(list(points.values())),
        effective=next(figure.value for figure in run if figure.metric == "b_eff"),
    )
