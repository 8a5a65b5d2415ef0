"""Lattice Boltzmann of D2Q9: steps of a grid of cells (_stencil.py)."""

from collections.abc import Mapping, Sequence

from fabricmark.models import Board, Prediction
from fabricmark.models._measured import Run
from fabricmark.models._stencil import INPUTS, TRAITS, Stencil, short_runs
from fabricmark.models.machine import Bitstream

__all__ = ["INPUTS", "TRAITS", "fit_parameters", "predict", "short_runs"]
# Additions, multiplications and divisions of a cell's step without a force, as the program counts them.
STENCIL = Stencil("lbm", numbers=9, flops=92)


def predict(
    parameters: Mapping, board: Board, ranks: int, *, measurements=(), network=None,
    bitstream: Bitstream | None = None,
) -> list[Prediction]:  # fmt: skip
    """As Stencil.predict."""
    return STENCIL.predict(parameters, board, ranks, network, bitstream)


def fit_parameters(runs: Sequence[Run]) -> dict[str, float]:
    """As Stencil.fit_parameters."""
    return STENCIL.fit_parameters(runs)
