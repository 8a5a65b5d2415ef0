"""Tsunamis by sweeps along rows and columns, on a plane or the sphere, or by finite volumes: _stencil.py."""

from dataclasses import replace

from fabricmark.models import _stencil
from fabricmark.models._stencil import INPUTS, Stencil, short_runs, short_runs_of_others

__all__ = ["INPUTS", "TRAITS", "fit_parameters", "predict", "short_runs", "short_runs_of_others"]
TRAITS = replace(
    _stencil.TRAITS,
    illustration=(
        "--columns", "320", "--rows", "256", "--steps", "500",
        "--repetitions", "1", "--warmup", "0",
    ),
)  # fmt: skip
# Operations of both sweeps of a cell, on a plane and the sphere, and of both phases of finite volumes, as the
# program counts them.
SHORES = Stencil("tsunami", numbers=14, flops=216, phases=2)
SPHERE = Stencil("tsunami", numbers=7, flops=206)
OTHERS = {("scheme", "finite_volume"): SHORES, ("coordinates", "sphere"): SPHERE}
STENCIL = Stencil("tsunami", numbers=6, flops=156, others=OTHERS)
predict = STENCIL.predict
fit_parameters = STENCIL.fit_parameters
