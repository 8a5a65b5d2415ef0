"""The block-cyclic distribution of a matrix over a grid of P x Q ranks, as ScaLAPACK has it."""

from math import isqrt

import numpy as np


def shape(ranks: int, rows: int = 0) -> tuple[int, int]:
    """(P, Q) of so many ranks; `rows` = 0: as square as it gets, P <= Q.

    Raises ValueError for ranks that do not fill so many rows.
    """
    if rows == 0:
        rows = next(divisor for divisor in range(isqrt(ranks), 0, -1) if ranks % divisor == 0)
    if rows < 0 or ranks % rows:
        raise ValueError(f"{ranks} ranks do not fill a grid of {rows} rows")
    return rows, ranks // rows


def shapes(ranks, rows=0) -> tuple:
    """The same for arrays of ranks and rows."""
    if np.ndim(ranks) == 0 and np.ndim(rows) == 0:
        return shape(int(ranks), int(rows))
    pairs = np.broadcast_arrays(ranks, rows)
    known = {pair: shape(*pair) for pair in set(zip(*(one.ravel().tolist() for one in pairs), strict=True))}
    found = np.array([known[pair] for pair in zip(*(one.ravel().tolist() for one in pairs), strict=True)])
    return tuple(found[:, side].reshape(pairs[0].shape) for side in (0, 1))


def most_blocks(blocks, parts: int):
    """Blocks of the part that has most of them, the first (numroc of process 0 with blocks of 1)."""
    return np.ceil(np.asarray(blocks) / parts)
