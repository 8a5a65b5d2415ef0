"""How alike the errors of a model are over metrics, devices and sizes: data/validation/likeness.csv.

An error, ln(measured / predicted), is a sum of Gaussian parts: one of a metric on all devices and sizes of a
board, one of its bitstream, one of this that fades with the doublings of devices and of size between two
runs, one that all metrics of a run share, and noise. Their standard deviations and ranges are those that make
the errors of rows that had no part in a fit (residuals.py) most likely, by benchmark and transport, copies
between host and device apart (Rasmussen and Williams 2006, eq. 5.8), with a wide prior around USUAL.
`tools/validation.py` writes the file, a test makes it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple

import numpy as np

from fabricmark.base import cells
from fabricmark.validate.intervals import (
    LIKENESS_COLUMNS,
    MOST_ERROR,
    OF_COPIES,
    OF_OTHERS,
    USUAL,
    Likeness,
    Residual,
    covariance,
    is_over_link,
    of_rows,
)  # fmt: skip

WIDTHS = (0.7, 0.7, 0.7, 0.7, 0.7, 0.5, 0.5)  # of the prior, in ln
BOUNDS = ((1e-3, 0.3),) * 5 + ((0.2, 8.0),) * 2


def fit(rows: Sequence[Residual]) -> Likeness:
    """Of the errors of a benchmark over a transport."""
    from scipy.optimize import minimize  # imported here: predictions shall not wait for it

    errors = -np.log1p(np.clip([one.error for one in rows], -MOST_ERROR, MOST_ERROR))
    apart = of_rows(rows, rows)
    usual = np.log(astuple(USUAL))

    def unlikely(logs: np.ndarray) -> float:
        of = Likeness(*np.exp(logs))
        lower = np.linalg.cholesky(covariance(of, apart) + of.noise**2 * np.eye(len(rows)))
        plain = np.linalg.solve(lower, errors)
        prior = np.sum(((logs - usual) / WIDTHS) ** 2)
        return float(plain @ plain / 2 + np.log(np.diag(lower)).sum() + prior / 2)

    found = minimize(unlikely, usual, method="L-BFGS-B", bounds=np.log(BOUNDS))
    return Likeness(*(float(f"{value:.2g}") for value in np.exp(found.x)))


def make(rows: Iterable[Residual]) -> dict[tuple[str, str, str], Likeness]:
    """By benchmark and transport, of copies between host and device and of all else."""
    of: dict[tuple[str, str, str], list[Residual]] = {}
    for row in rows:
        kind = OF_COPIES if is_over_link(row.benchmark, row.metric) else OF_OTHERS
        of.setdefault((row.benchmark, row.transport, kind), []).append(row)
    return {key: fit(of[key]) for key in sorted(of)}


def text(found: Mapping[tuple[str, str, str], Likeness]) -> str:
    """The file's content."""
    return cells.as_csv([LIKENESS_COLUMNS, *((*key, *astuple(one)) for key, one in found.items())])
