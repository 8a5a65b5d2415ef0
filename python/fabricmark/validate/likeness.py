"""How alike the errors of a model are over metrics, devices and sizes: data/validation/likeness.csv.

An error, ln(measured / predicted), is a sum of Gaussian parts: one of a metric on all devices and sizes of a
board, one that fades with the doublings of devices and of size between two runs, one that all metrics of a
run share, and noise. Their standard deviations and ranges are those that make the errors of rows that had no
part in a fit (residuals.py) most likely, by benchmark and transport (Rasmussen and Williams 2006, eq. 5.8),
with a wide prior around USUAL. `tools/validation.py` writes the file, a test makes it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from fabricmark.base import cells, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import published
from fabricmark.validate.residuals import Residual

PLACE = ("validation", "likeness.csv")
FAR = 50.0  # doublings between a size that is known and one that is not
RUN_SIZES = 3.0  # the part of a run fades so many times as slowly with the size
MOST_ERROR = 0.3  # of ln: rows that are farther off say no more than that
WIDTHS = (0.7, 0.7, 0.7, 0.7, 0.5, 0.5)  # of the prior, in ln
BOUNDS = ((1e-3, 0.3),) * 4 + ((0.2, 8.0),) * 2


@dataclass(frozen=True)
class Likeness:
    """Standard deviations of ln, and ranges in doublings."""

    metric: float
    local: float
    run: float
    noise: float
    devices: float
    size: float


USUAL = Likeness(0.02, 0.03, 0.01, 0.01, 1.0, 2.0)
UNKNOWN = Likeness(0.05, 0.1, 0.03, 0.02, 1.0, 2.0)  # of a benchmark that nobody published
KEYS = ("benchmark", "transport")
COLUMNS = (*KEYS, *(one.name for one in fields(Likeness)))


@dataclass(frozen=True)
class Distances:
    """Between the places of two lists [rows, columns]: doublings of devices and size; whether board, metric
    and run are the same."""

    devices: np.ndarray
    size: np.ndarray
    board: np.ndarray
    metric: np.ndarray
    run: np.ndarray


def covariance(of: Likeness, apart: Distances) -> np.ndarray:
    """Of the errors without noise."""
    fading = np.exp(-apart.devices / of.devices - apart.size / of.size)
    of_metric = apart.board * apart.metric * (of.metric**2 + of.local**2 * fading)
    of_run = apart.run * np.exp(-apart.size / of.size / RUN_SIZES)
    return of_metric + of.run**2 * of_run


def distances(of: Sequence, others: Sequence, pool, metric, run) -> Distances:
    """`pool`, `metric`, `run`: what two places have to have the same of."""

    def same(key) -> np.ndarray:
        codes: dict = {}
        left, right = ([codes.setdefault(key(one), len(codes)) for one in side] for side in (of, others))
        return np.equal.outer(np.array(left, int), np.array(right, int)).astype(float)

    devices = (np.log2([float(one.devices) for one in side]) for side in (of, others))
    return Distances(
        np.abs(np.subtract.outer(*devices)), _far(of, others), same(pool), same(metric), same(run)
    )  # fmt: skip


def _far(of: Sequence, others: Sequence) -> np.ndarray:
    """Doublings of size; FAR between one that is known and one that is not."""
    sizes = [np.array([float(one.size) for one in side]) for side in (of, others)]
    logs = [np.log2(np.maximum(side, 1e-300)) for side in sizes]
    apart = np.abs(np.subtract.outer(*logs))
    known = np.subtract.outer(*((side > 0).astype(int) for side in sizes)) == 0
    return np.where(known, apart, FAR)


def of_rows(of: Sequence, others: Sequence) -> Distances:
    """Between rows of a benchmark over a transport, published or asked for."""
    return distances(
        of, others, lambda one: (one.system, one.board), lambda one: one.metric,
        lambda one: (one.system, one.board, one.devices, one.source),
    )  # fmt: skip


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


def make(rows: Iterable[Residual]) -> dict[tuple[str, str], Likeness]:
    """By benchmark and transport."""
    of: dict[tuple[str, str], list[Residual]] = {}
    for row in rows:
        of.setdefault((row.benchmark, row.transport), []).append(row)
    return {key: fit(of[key]) for key in sorted(of)}


def text(found: Mapping[tuple[str, str], Likeness]) -> str:
    """The file's content."""
    return cells.as_csv([COLUMNS, *((*key, *astuple(one)) for key, one in found.items())])


def file() -> Path:
    """Raises FabricmarkError (3) outside of a repository."""
    return paths.root().joinpath("data", *PLACE)


@cache
def load(path: Path | None = None) -> Mapping[tuple[str, str], Likeness]:
    """The file. Raises FabricmarkError (2) with line and remedy."""
    found = {}
    for place, row in published.rows(file() if path is None else path, COLUMNS):
        try:
            numbers = [float(row[name]) for name in COLUMNS[len(KEYS) :]]
        except ValueError:
            raise FabricmarkError(f"{place}: no numbers where they have to be", published.RESTORE) from None
        found[row["benchmark"], row["transport"]] = Likeness(*numbers)
    return found


def of(benchmark: str, transport: str) -> Likeness:
    return load().get((benchmark, transport), UNKNOWN)
