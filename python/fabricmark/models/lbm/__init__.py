"""Lattice Boltzmann of D2Q9: steps of a grid of cells (_stencil.py)."""

from fabricmark.models._stencil import INPUTS, TRAITS, Stencil, short_runs, short_runs_of_others

__all__ = ["INPUTS", "TRAITS", "fit_parameters", "predict", "short_runs", "short_runs_of_others"]
# Additions, multiplications and divisions of a cell's step without a force, as the program counts them.
STENCIL = Stencil("lbm", numbers=9, flops=92)
predict = STENCIL.predict
fit_parameters = STENCIL.fit_parameters
