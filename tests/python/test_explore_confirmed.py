"""Of every benchmark and system that `fabricmark explore` accepts the best three designs by the modelled
clock: within 2 %, or for a reason that has a row here."""

import pytest
from conftest import REPOSITORY
from fabricmark import models
from fabricmark.base.errors import FabricmarkError
from fabricmark.explore import budget, confirm, confirm_designs, designs, stencils
from fabricmark.explore.cascades import Problem
from fabricmark.explore.command import CONFIRMED
from fabricmark.models import _network
from fabricmark.systems.choice import Wanted
from inspect_support import needs_clang

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("of_the_repository"), needs_clang]
FILES = ("systems", "systems/boards")
SYSTEMS = sorted(file.stem for folder in FILES for file in (REPOSITORY / folder).glob("*.toml"))
BENCHMARKS = [
    name
    for name in sorted(file.parent.name for file in (REPOSITORY / "kernels").glob("*/kernel.toml"))
    if hasattr(models.find(name), "synthesis")
]
PLACES = [(benchmark, system) for benchmark in BENCHMARKS for system in SYSTEMS]
FAILURES = (AssertionError, FabricmarkError)
SHORT = [("gemm", "noctua1"), ("ptrans", "noctua1"), ("ptrans", "hacc")]
# What is further apart, and why. A row goes when its cause is gone: the test fails where it holds.
REASONS = {
    ("stream", "pac_d5005"): "without a buffer its loops merge, which no formula of kernel.toml knows",
}
# Grids of which a pass takes seconds to run, of the size of a benchmark's own and with short streams.
FLOWS = {"usual": Problem(720, 240, 6400), "short": Problem(256, 64, 6400)}
# Boards that are looked at, None: all. Over switches many take long, and links too: see docs/explore.md.
BOARDS = {"arria10_ring": None, "leaf_spine": (2, 4, 8)}
RINGS = [
    (benchmark, system, flow, {} if pipelines is None else {"pipelines": str(pipelines)})
    for benchmark in ("lbm", "tsunami")
    for system in ("arria10_ring", "leaf_spine")
    for flow in FLOWS
    for pipelines in (None, 1, 2, 4)
]
SHORT_RINGS = [(benchmark, "arria10_ring", "short", 4) for benchmark in ("lbm", "tsunami")]
SHORT_RINGS += [("tsunami", "leaf_spine", "short", 1)]


def full(place, short, reasons):
    """A case of the full run, or of each; with a reason it has to fail by its figures."""
    marks = [] if place in short else [pytest.mark.full]
    if place in reasons:
        marks.append(pytest.mark.xfail(strict=True, raises=FAILURES, reason=reasons[place]))
    return pytest.param(*place, marks=marks, id="-".join(map(str, place)))


def check(answer, of):
    found = [of.confirm(answer, one) for one in answer.found[:CONFIRMED]]
    assert found
    said = "; ".join(f"{one.design}: {one.apart:+.2%}" for one in found)
    print(said)
    assert all(one.holds for one in found), said


@pytest.mark.parametrize("benchmark, system", [full(one, SHORT, REASONS) for one in PLACES])
def test_the_clock_confirms_the_best_designs(benchmark, system):
    asked = designs.Asked(benchmark, Wanted(system), (1,), {})
    try:
        answer = designs.explore(asked, budget.Budget(), "time", CONFIRMED)
    except FabricmarkError as error:
        pytest.skip(str(error))
    check(answer, confirm_designs)


@pytest.mark.parametrize(
    "benchmark, system, flow, pipelines",
    [
        full(
            (benchmark, system, flow, int(fixed["pipelines"]) if fixed else "any"),
            SHORT_RINGS,
            {},  # all hold
        )
        for benchmark, system, flow, fixed in RINGS
    ],
)
def test_the_clock_confirms_the_best_cascades(benchmark, system, flow, pipelines):
    fixed = {} if pipelines == "any" else {"pipelines": str(pipelines)}
    asked = stencils.Asked(benchmark, Wanted(system), FLOWS[flow], BOARDS[system], fixed)
    check(stencils.explore(asked, budget.parse([], "de5a_net", benchmark), "time"), confirm)


@pytest.mark.parametrize("system, boards", [("fat_tree", 12), ("dragonfly", 6)])
def test_the_clock_confirms_the_switches_between_neighbours(monkeypatch, system, boards):
    """On two switches: several times nearer than without the ones in between."""

    def apart():
        asked = stencils.Asked("tsunami", Wanted(system), FLOWS["short"], (boards,), {"pipelines": "1"})
        answer = stencils.explore(asked, budget.parse([], "de5a_net", "tsunami"), "time")
        return abs(confirm.confirm(answer, answer.found[0]).apart)

    assert apart() < 0.002
    monkeypatch.setattr(_network, "further_switches", lambda *_: (0.0, 0.0))
    assert apart() > 0.005
