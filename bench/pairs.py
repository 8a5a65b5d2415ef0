"""Paired comparisons: two or more commands in turn, so that a drift of the machine meets them all alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field, replace


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


def ratio_to_best(contender: Contender, peers: list[Contender]) -> tuple[Ratio, list[str]]:
    """Ratio to the best of several peers, and the names of those that were taken for the best.

    The best of noisy values looks better than it is in the rounds that made it the best. So the peer that is
    best in the even rounds is met in the odd ones, and the other way round. Needs two rounds or more.
    """
    ours, theirs = replace(contender, values=[]), Contender("best", contender.run)
    names = []
    for first in (0, 1):
        best = max(peers, key=lambda peer: statistics.median(peer.values[first::2]))
        names.append(best.name)
        ours.values += contender.values[1 - first :: 2]
        theirs.values += best.values[1 - first :: 2]
    return ratio(ours, theirs), sorted(set(names))
