"""Paired comparisons: two or more commands in turn, so that a drift of the machine meets them all alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Contender:
    """Something that yields one value each time it is run, larger being better."""

    name: str
    run: Callable[[], float]
    values: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Ratio:
    """Value of a contender over its peer's, pair by pair."""

    median: float
    smallest: float
    largest: float


def interleave(contenders: list[Contender], pairs: int) -> None:
    """Runs every contender once a round; the order turns, so that none is always first."""
    for i in range(pairs):
        turn = i % len(contenders)
        for contender in contenders[turn:] + contenders[:turn]:
            contender.values.append(contender.run())


def ratio(contender: Contender, peer: Contender) -> Ratio:
    """Ratio of values of the same round."""
    ratios = [ours / theirs for ours, theirs in zip(contender.values, peer.values, strict=True)]
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))
