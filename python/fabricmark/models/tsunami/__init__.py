"""Tsunamis by sweeps along rows and columns, on a plane or the sphere, or by finite volumes: _stencil.py."""

from fabricmark.models._stencil import INPUTS, TRAITS, Stencil, short_runs, short_runs_of_others

__all__ = ["INPUTS", "TRAITS", "fit_parameters", "predict", "short_runs", "short_runs_of_others"]
# Operations of both sweeps of a cell, on a plane and the sphere, and of both phases of finite volumes, as the
# program counts them.
SHORES = Stencil("tsunami", numbers=14, flops=216, phases=2)
SPHERE = Stencil("tsunami", numbers=7, flops=206)
OTHERS = {("scheme", "finite_volume"): SHORES, ("coordinates", "sphere"): SPHERE}
STENCIL = Stencil("tsunami", numbers=6, flops=156, others=OTHERS)
predict = STENCIL.predict
fit_parameters = STENCIL.fit_parameters
