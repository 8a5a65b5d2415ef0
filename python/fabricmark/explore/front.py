"""The designs that no other one beats in everything that counts."""

from collections.abc import Sequence

import numpy as np


def pareto(costs: Sequence[np.ndarray], ties: np.ndarray) -> np.ndarray:
    """Places of the points that no other one is at least as good as in every cost and better in one.

    `costs`: one array a cost, of as many points, the less the better, the first with few values. Of points
    with the same costs the one with the least of `ties` stands for all. In the order of the first cost.
    """
    first, *others = (np.asarray(one, dtype=float) for one in costs)
    kept: list[np.ndarray] = []
    front = np.empty((0, len(others)))
    for value in np.unique(first):
        own = np.flatnonzero(first == value)
        own = own[_undominated(np.stack([one[own] for one in others], axis=1), ties[own])]
        table = np.stack([one[own] for one in others], axis=1)
        beaten = np.array([bool(np.any(np.all(front <= row, axis=1))) for row in table], dtype=bool)
        kept.append(own[~beaten])
        front = np.concatenate([front, table[~beaten]])
    return np.concatenate(kept) if kept else np.empty(0, dtype=int)


def _undominated(table: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """Of rows of one value of the first cost: sorted by the next cost, each has to be better in the last."""
    order = np.lexsort((ties, *reversed([table[:, place] for place in range(table.shape[1])])))
    last = table[order, -1]
    best = np.minimum.accumulate(np.concatenate([[np.inf], last[:-1]]))
    return order[last < best]
