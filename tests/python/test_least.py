"""Fits without SciPy find what SciPy's find."""

import sys

import numpy as np
import pytest
from fabricmark import cli
from fabricmark.base.errors import FabricmarkError
from fabricmark.mesh import raster
from fabricmark.models import _least

GENERATOR = np.random.default_rng(20261201)


@pytest.fixture
def no_scipy(monkeypatch):
    """As in a bundle: every import of it fails."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)


def problems():
    for shift in (0, 0.2) * 40:
        matrix = GENERATOR.random((GENERATOR.integers(3, 30), GENERATOR.integers(1, 6)))
        yield matrix * 10 ** GENERATOR.uniform(-9, 0), GENERATOR.random(len(matrix)) - shift
    yield np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([-1.0, -2.0])  # all factors are zero


def test_factors_that_are_not_negative(no_scipy, monkeypatch):
    found = [(*problem, _least.nonnegative(*problem)) for problem in problems()]
    monkeypatch.undo()
    from scipy.optimize import nnls

    for matrix, wanted, own in found:
        assert own == pytest.approx(nnls(matrix, wanted)[0], rel=1e-9, abs=1e-9)


def test_robust_lines(no_scipy, monkeypatch):
    found = []
    for _ in range(30):
        moved = 2 ** GENERATOR.uniform(0, 24, GENERATOR.integers(4, 25))
        times = (1e-6 + moved / 1e9) * np.exp(GENERATOR.normal(0, 0.2, len(moved)))
        columns = np.stack([1 / times, moved / times], axis=1)
        columns /= np.linalg.norm(columns, axis=0)
        start = np.maximum(np.linalg.lstsq(columns, np.ones(len(columns)), rcond=None)[0], 0)
        found.append((columns, start, _least.robust(columns, start, 0.15, 1e-9)))
    monkeypatch.undo()
    for columns, start, own in found:
        assert own == pytest.approx(_least.robust(columns, start, 0.15, 1e-9), rel=1e-6, abs=1e-6)


def test_what_needs_scipy_says_so(no_scipy):
    with pytest.raises(FabricmarkError, match="SciPy, which is not here"):
        raster.make(None, 100)
    try:
        import scipy.special  # noqa: F401
    except ModuleNotFoundError as error:
        assert "this needs SciPy, which is not here; take an installation" in str(cli.internal(error))
