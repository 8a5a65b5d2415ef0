"""More of a system's value moves a prediction the right way, for each benchmark, design and transport.

More bandwidth, banks, cores or a higher clock never slow a benchmark down, longer latencies never make it
faster.
"""

from dataclasses import replace

import pytest
from conftest import REPOSITORY
from declared import rows
from fabricmark import models
from fabricmark.base.errors import FabricmarkError
from fabricmark.models.shallow_water import device as shallow_water
from fabricmark.predict import points, settings
from fabricmark.systems import choice, local_machine

SOME = 16  # of so many rows make test takes one
MORE = 2
ROUNDING = 1e-9
LOWER_IS_BETTER = ("s", "ms", "us")
# Numbers of which more is worse, though they are no times.
COSTS = {
    "board.host.neighbour_factor",
    "board.memory.drain",
    "bitstream.cell_bytes",
    "bitstream.link_cycles",
    "bitstream.pipeline_depth",
    "network.start_cycles",
    "network.frame_overhead",
}
# Thresholds between two ways of copying, of which either may be the faster one.
EITHER = {"board.host.programmed_below", "board.host.page"}
# Values that parameters of the kernels follow.
RESIZED = {"board.processor.cores", "board.memory.banks"}
pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def own_systems(monkeypatch, tmp_path):
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(tmp_path / "none"))


def request_of(row):
    over = row.transport if row.exchanges and row.transport not in ("", choice.NONE) else None
    board = None if row.system == row.board else row.board
    chosen = choice.choose(
        row.benchmark, choice.Wanted(row.system, board, row.bitstream or None, over, "fitted")
    )
    system = local_machine.with_limits(chosen.narrowed)
    return points.PredictionRequest(row.benchmark, system, chosen.transport, points.WEAK)


def moved(request, devices):
    """By which share the headline gets better with more of each value of the system that it reads."""
    plan, run = points.planned(request, [(devices, {})])[0]
    usual = points.point(request, plan, run).headline
    if not usual.value:
        return
    network = plan.system.networks.get(request.transport)
    found = settings.of_run(request.benchmark, run, plan.board, devices, network, plan.bitstream)
    objects = {"board": plan.board, "network": network, "bitstream": plan.bitstream}
    for name in found.names():
        value = settings.value(objects, name)
        if value:
            changed = replace(request, overrides={name: MORE * value})
            other, again = points._plan(changed, devices, {}), run
            if name in RESIZED:
                ((other, again),) = points.planned(changed, [(devices, {})])
            share = points.point(changed, other, again).headline.value / usual.value - 1
            yield name, -share if usual.unit in LOWER_IS_BETTER else share


def wrong(chosen):
    """(the values that moved a prediction the wrong way, how many were looked at)."""
    found, looked_at = [], 0
    for row in chosen:
        for devices in (1, 16) if row.exchanges and row.transport != choice.NONE else (1,):
            try:
                moves = list(moved(request_of(row), devices))
            except FabricmarkError:
                continue  # test_declared.py knows which refusals are right
            for name, gain in moves:
                is_cost = name in COSTS or settings.key_of(name).dimension == "seconds"
                looked_at += 1
                if name not in EITHER and (-gain if is_cost else gain) < -ROUNDING:
                    found.append(f"{row} on {devices}: {MORE} x {name}: {gain:+.1%}")
    return found, looked_at


def test_more_of_some_values_is_better():
    found, looked_at = wrong([*rows()[::SOME], *(row for row in rows() if row.benchmark == "shallow_water")])
    assert not found and looked_at > 100


@pytest.mark.full
def test_more_of_each_value_is_better():
    found, looked_at = wrong(rows())
    assert not found and looked_at > 1500


def test_a_value_that_moves_the_wrong_way_is_found(monkeypatch):
    right, declared = shallow_water.path_of, models.inputs(models.find("shallow_water"))

    def path_of(board, bitstream, network):
        """As it once was: calls as long as cycles of a clock that has no part in them."""
        way = right(board, bitstream, network)
        return way if network is None else replace(way, call=0.24e-6 * network.get("links.clock"))

    monkeypatch.setattr(shallow_water, "path_of", path_of)
    monkeypatch.setattr(models, "inputs", lambda model: declared | {"network.links.clock"})
    (row,) = [row for row in rows() if row.bitstream == "u280_hbm_shallow_water/accl_udp"][:1]
    (found,) = wrong([row])[0]
    assert "2 x network.links.clock: -" in found
