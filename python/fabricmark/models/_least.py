"""Least squares without negative factors: SciPy's where it is, and the same without it, as in a bundle.

Raises nothing of its own; what each solves has one solution, which both ways find.
"""

import numpy as np

ROUNDS = 200
TOLERANCE = 1e-12  # of factors from one round to the next, relative


def nonnegative(matrix: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Factors, none negative, with which columns add up to `wanted` best (Lawson and Hanson 1974)."""
    try:
        from scipy.optimize import nnls  # here: the report shall not wait for it
    except ModuleNotFoundError:
        return lawson_hanson(np.asarray(matrix, float), np.asarray(wanted, float))
    return nnls(matrix, wanted)[0]


def lawson_hanson(matrix: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """That, by the active sets of `Solving Least Squares Problems`, chapter 23."""
    count = matrix.shape[1]
    free, found = np.zeros(count, bool), np.zeros(count)
    small = 10 * max(matrix.shape) * np.finfo(float).eps * np.abs(matrix).sum(axis=0).max(initial=0)
    for _ in range(3 * count + 10):
        downhill = matrix.T @ (wanted - matrix @ found)
        if free.all() or downhill[~free].max() <= small:
            break
        free[np.argmax(np.where(free, -np.inf, downhill))] = True
        while True:
            tried = np.zeros(count)
            tried[free] = np.linalg.lstsq(matrix[:, free], wanted, rcond=None)[0]
            if not free.any() or tried[free].min() > 0:
                break
            back = free & (tried <= 0)
            step = np.min(found[back] / (found[back] - tried[back]))
            found = found + step * (tried - found)
            free &= found > small
            found[~free] = 0
        found = tried
    return found


def robust(columns: np.ndarray, start: np.ndarray, scale: float, tolerance: float) -> np.ndarray:
    """Factors, none negative, with which columns add up to one best by Huber's loss: residuals beyond
    `scale` count by their size and not its square."""
    try:
        from scipy.optimize import least_squares  # here: most commands fit nothing
    except ModuleNotFoundError:
        return reweighted(columns, start, scale)
    return least_squares(
        lambda factors: columns @ factors - 1, start, jac=lambda _: columns, bounds=(0, np.inf),
        method="dogbox", loss="huber", f_scale=scale, xtol=tolerance, ftol=tolerance, gtol=tolerance,
    ).x  # fmt: skip


def reweighted(columns: np.ndarray, start: np.ndarray, scale: float) -> np.ndarray:
    """That, by least squares whose weights follow from the residuals before."""
    found = np.asarray(start, float)
    for _ in range(ROUNDS):
        away = np.abs(columns @ found - 1)
        weights = np.sqrt(scale / np.maximum(away, scale))
        before, found = found, lawson_hanson(columns * weights[:, None], weights)
        if np.abs(found - before).max() <= TOLERANCE * max(np.abs(found).max(), TOLERANCE):
            break
    return found
