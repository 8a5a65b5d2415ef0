"""Lattice Boltzmann of D2Q9: steps of a grid of cells (_stencil.py)."""

from dataclasses import replace

from fabricmark.models import _stencil
from fabricmark.models._stencil import INPUTS, Stencil, short_runs, short_runs_of_others

__all__ = ["INPUTS", "TRAITS", "fit_parameters", "predict", "short_runs", "short_runs_of_others"]
TRAITS = replace(
    _stencil.TRAITS,
    illustration=(
        "--case", "cylinder", "--columns", "480", "--rows", "144", "--steps", "30000",
        "--repetitions", "1", "--warmup", "0",
    ),
)  # fmt: skip
# Additions, multiplications and divisions of a cell's step without a force, as the program counts them.
STENCIL = Stencil("lbm", numbers=9, flops=92)
predict = STENCIL.predict
fit_parameters = STENCIL.fit_parameters
