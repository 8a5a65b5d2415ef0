"""Tsunamis by sweeps along rows and columns, or by finite volumes: steps of a grid of cells (_stencil.py)."""

from fabricmark.models._stencil import INPUTS, TRAITS, Stencil, short_runs, short_runs_of_others

__all__ = ["INPUTS", "TRAITS", "fit_parameters", "predict", "short_runs", "short_runs_of_others"]
# Operations of both sweeps of a cell, and of both phases of finite volumes, as the program counts them.
SHORES = Stencil("tsunami", numbers=14, flops=216, phases=2)
STENCIL = Stencil("tsunami", numbers=6, flops=156, schemes={"finite_volume": SHORES})
predict = STENCIL.predict
fit_parameters = STENCIL.fit_parameters
