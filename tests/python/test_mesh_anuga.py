"""ANUGA, an independent solver, on arrays of our meshes; and tides of the bight of Abaco by both."""

import importlib
import json
import subprocess
import sys

import pytest
from conftest import REAL_PROGRAM, REPOSITORY
from fabricmark.mesh import tool
from fabricmark.report import stations
from meshes import ABACO

pytestmark = [pytest.mark.programs, pytest.mark.full]
SOLVER = REAL_PROGRAM.with_name("fm_shallow_water")
HOURS = 96
LAST_HOURS = 12.0
MOST_METRES = 0.010  # of RMS difference, over all stations and the last hours


@pytest.fixture
def anuga(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "bench"))
    for name in ("anuga_peer", "common"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = importlib.import_module("anuga_peer")
    if found.python() is None:
        pytest.skip("anuga cannot be installed here")
    return found


def rms(ours, theirs, column="xi_m"):
    """Over all stations."""
    found = [stations.difference(ours[i], theirs[i], column, LAST_HOURS) for i in ours]
    return (sum(one**2 for one in found) / len(found)) ** 0.5


def test_it_runs_on_our_arrays(place, anuga):
    tool.ask("arrays", "bay:600", place.folder / "arrays")
    for algorithm in ("DE0", "DE1"):
        found = anuga.run(place.folder / "arrays", "--steps", "30", "--algorithm", algorithm)
        assert found["elements"] == 600 and found["cell_steps_per_s"] > 0
        assert 15 <= found["steps"] <= 60


@pytest.mark.skipif(not ABACO.exists(), reason="the mesh of the bight of Abaco is not here")
@pytest.mark.skipif(not SOLVER.exists(), reason="the solver is not built")
def test_both_solvers_give_the_same_tides(place, anuga):
    mesh, arrays = place.folder / "abaco.14", place.folder / "arrays"
    tool.ask("refine", ABACO, mesh, "--times", 2)
    tool.ask("arrays", mesh, arrays)
    csv = place.folder / "anuga.csv"
    anuga.run(arrays, "--hours", str(HOURS), "--stations", str(csv))
    options = ["--mesh", mesh, "--order", "0", "--hours", str(HOURS), "--fields", place.folder / "fields"]
    command = [SOLVER, *options, "--repetitions", "1", "--json", "-"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["parameters"]["fields"]
    ours, theirs = stations.read(place.folder / "fields" / "stations.csv"), stations.read(csv)
    assert len(ours) == 4
    print(f"RMS difference {rms(ours, theirs) * 1000:.2f} mm")
    assert rms(ours, theirs) <= MOST_METRES
    late = {  # a quarter of an hour too late would be found
        i: stations.Curve(
            curve.x, curve.y, {**curve.values, "time_s": [t + 900 for t in curve.values["time_s"]]}
        )
        for i, curve in ours.items()
    }
    assert rms(late, theirs) > MOST_METRES
