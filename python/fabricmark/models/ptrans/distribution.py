"""Which blocks of the matrix a rank sends to others: (i, j) goes to where (j, i) is."""

from collections.abc import Mapping
from math import ceil, lcm

import numpy as np

from fabricmark.models import _grid


def shares_sent(grid: tuple[int, int]) -> np.ndarray:
    """Part of its blocks that each rank of a P x Q grid sends to others: (i, j) goes to where (j, i) is."""
    owner = _owners(grid)
    sent = np.bincount(owner[owner != owner.T], minlength=grid[0] * grid[1])
    return sent / np.bincount(owner.ravel())


def _owners(grid: tuple[int, int]) -> np.ndarray:
    """The ranks of a P x Q grid that have blocks (i, j), as far as they do not repeat."""
    rows, columns = grid
    place = np.arange(lcm(rows, columns))
    return (place[:, None] % rows) * columns + place[None, :] % columns


def sent(parameters: Mapping, ranks: int) -> np.ndarray:
    """The same for the distribution of the parameters.

    Along diagonals ranks are couples, which exchange all but the blocks of the main diagonal. Raises
    ValueError for a grid that the ranks do not fill.
    """
    if parameters.get("distribution", "pq") == "diagonal":
        couples = np.arange(ranks) < ranks - ranks % 2
        return np.where(couples, 1 - 1 / ceil(parameters["size"] / parameters["block_size"]), 0.0)
    return shares_sent(_grid.shape(ranks, parameters.get("grid_rows", 0)))


def most_sent(parameters: Mapping, ranks):
    """The largest of these shares; for arrays of ranks, too (in a grid as the parameters say)."""
    if np.ndim(ranks) == 0:
        return float(sent(parameters, int(ranks)).max())
    single = {name: value for name, value in parameters.items() if np.ndim(value) == 0}
    if single.get("distribution", "pq") == "diagonal":
        blocks = np.ceil(np.asarray(parameters["size"]) / parameters["block_size"])
        return np.where(np.asarray(ranks) > 1, 1 - 1 / blocks, 0.0)
    known = {rank: float(sent(single, rank).max()) for rank in set(np.ravel(ranks).tolist())}
    return np.array([known[rank] for rank in np.ravel(ranks).tolist()]).reshape(np.shape(ranks))


def most_to_one(parameters: Mapping, ranks):
    """The largest part of its blocks that a rank sends to one other; for arrays of ranks, too.

    It says in how many rounds the blocks go.
    """
    if parameters.get("distribution", "pq") == "diagonal":
        return most_sent(parameters, ranks)
    rows = parameters.get("grid_rows", 0)
    known = {one: _share_to_one(_grid.shape(one, rows)) for one in set(np.ravel(ranks).astype(int).tolist())}
    return np.reshape([known[int(one)] for one in np.ravel(ranks)], np.shape(ranks))


def _share_to_one(grid: tuple[int, int]) -> float:
    owner, ranks = _owners(grid), grid[0] * grid[1]
    pairs = np.bincount((owner * ranks + owner.T).ravel(), minlength=ranks**2).reshape(ranks, ranks)
    others = pairs - np.diag(np.diag(pairs))
    return float((others / pairs.sum(axis=1, keepdims=True)).max())
