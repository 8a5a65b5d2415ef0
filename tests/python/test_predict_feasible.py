"""What cannot be built is refused: resources scaled from the published syntheses, and clocks that no tool
reaches."""

import pytest
from fabricmark import systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import feasible, points
from fabricmark.systems import files

BOARDS = sorted(files.listed("board"))
DESIGNS = [
    (board, place)
    for board in BOARDS
    for place in range(len(systems.load(board).bitstreams))
    if feasible.uses(systems.load(board), place, systems.load(board).bitstreams[place].parameters)
]


def uses(board, place, times=1.0, **more):
    system = systems.load(board)
    parameters = system.bitstreams[place].parameters
    replications = parameters.get("replications", 1) * times
    return feasible.uses(system, place, {**parameters, "replications": replications, **more})


def test_published_syntheses_are_covered():
    assert len(DESIGNS) > 50
    assert {board for board, _ in DESIGNS} == {*BOARDS} - {"cpu", "h200", "de5a_net"}


@pytest.mark.parametrize("board, place", DESIGNS)
def test_a_published_synthesis_fits_and_its_first_limit_is_named(board, place):
    found = uses(board, place)
    assert all(one.share <= 1 for one in found)
    system = systems.load(board)
    bitstream = system.bitstreams[place]
    line = feasible.check("it", system, place, bitstream, bitstream.parameters)
    first = max(found, key=lambda one: one.share)
    assert line.endswith(f"{feasible.NAMES[first.name]} end first")
    # With enough replications that one is indeed exceeded first.
    over = uses(board, place, 1.001 / first.share)
    assert [one.name for one in over if one.share > 1] == [first.name]


def test_half_as_much_again_of_gemm_and_hpl_does_not_fit():
    """At blocks of 512; but in half and double on the 520N, where two replications use half of the board."""
    checked, small = 0, []
    for board, place in DESIGNS:
        one = systems.load(board).bitstreams[place]
        if one.benchmark in ("gemm", "hpl") and one.parameters.get("block_size") == 512:
            checked += 1
            if all(use.share <= 1 for use in uses(board, place, 1.5)):
                small.append((board, one.name))
    assert checked >= 10
    assert small == [("520n", "gemm_half"), ("520n", "gemm_double")]


def test_the_published_values_scale_as_the_tables_have_it():
    """DSPs of GEMM: 50 replications of 3318 / 5 each; a block of twice the width takes four times the
    buffers."""
    system = systems.load("noctua1")
    place = next(place for place, one in enumerate(system.bitstreams) if one.name == "gemm")
    parameters = system.bitstreams[place].parameters
    found = {one.name: one for one in feasible.uses(system, place, {**parameters, "replications": 50})}
    assert found["dsps"].needed == pytest.approx(33180)
    assert found["dsps"].available == 5760
    wide = {one.name: one for one in feasible.uses(system, place, {**parameters, "block_size": 1024})}
    more = 5 * 3 * (1024**2 - 512**2) * 4 / feasible.M20K_BYTES
    assert wide["bram"].needed == pytest.approx(8321 + more)
    assert wide["dsps"].needed == pytest.approx(3318)


def predict(benchmark, system, **given):
    overrides = {name.replace("__", "."): value for name, value in given.items() if "__" in name}
    own = {name: value for name, value in given.items() if "__" not in name}
    request = points.PredictionRequest(benchmark, systems.load(system), "none", points.WEAK, own, overrides)
    return points.predict(request, (1,), {})


def test_what_cannot_be_built_has_no_figure():
    with pytest.raises(
        FabricmarkError, match=r"does not fit: 50 replications need .*33180 of 5760 DSPs; at most 7"
    ):
        predict("gemm", "noctua1", replications=50)
    with pytest.raises(
        FabricmarkError, match=r"clock = 2000 MHz cannot be reached: the fastest .*; set at most 620"
    ):
        predict("gemm", "noctua1", bitstream__clock=2e9)
    assert predict("gemm", "noctua1", replications=7)[0]
    assert predict("gemm", "noctua1", bitstream__clock=4e8)[0]
