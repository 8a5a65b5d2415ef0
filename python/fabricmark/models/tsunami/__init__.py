"""Tsunamis by sweeps along rows and columns: steps of a grid of cells (_stencil.py)."""

from fabricmark.models._stencil import INPUTS, TRAITS, Stencil, short_runs, short_runs_of_others

__all__ = ["INPUTS", "TRAITS", "fit_parameters", "predict", "short_runs", "short_runs_of_others"]
# Operations of both sweeps of a cell, as the program counts them.
STENCIL = Stencil("tsunami", numbers=6, flops=156)
predict = STENCIL.predict
fit_parameters = STENCIL.fit_parameters
