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
    for system in [systems.load(board)]
    for place, bitstream in enumerate(system.bitstreams)
    if feasible.uses(system, place, bitstream.parameters)
]


def uses(board, place, times=1.0, **more):
    system = systems.load(board)
    parameters = system.bitstreams[place].parameters
    replications = parameters.get("replications", 1) * times
    return feasible.uses(system, place, {**parameters, "replications": replications, **more})


def test_published_syntheses_are_covered():
    assert len(DESIGNS) > 50
    assert {board for board, _ in DESIGNS} == {*BOARDS} - {"cpu", "h200", "de5a_net", "n6001"}


@pytest.mark.parametrize("board, place", DESIGNS)
def test_a_published_synthesis_fits_and_its_first_limit_is_named(board, place):
    found = uses(board, place)
    assert all(one.share <= 1 for one in found)
    system = systems.load(board)
    bitstream = system.bitstreams[place]
    line = feasible.check("it", system, place, bitstream, bitstream.parameters)
    first = feasible.first(found)
    assert line.endswith(f"{feasible.NAMES[first.name]} is the limiting resource")
    # With more replications that one is indeed exceeded first.
    times = first.reached / first.share
    assert not beyond(board, place, 0.9999 * times)
    assert first.name in [one.name for one in beyond(board, place, 1.0001 * times)]


def beyond(board, place, times, **more):
    """What a design has more of than any published synthesis for chips of the vendor."""
    return [use for use in uses(board, place, times, **more) if use.is_beyond]


def test_half_as_much_again_of_gemm_and_hpl_does_not_fit():
    """At blocks of 512. Of GEMM in half on the 520N three replications need 66 % of the logic; 78 % were
    built on a chip of the same family, so that nothing published says that they do not fit."""
    checked, small = 0, []
    for board, place in DESIGNS:
        one = systems.load(board).bitstreams[place]
        if one.benchmark in ("gemm", "hpl") and one.parameters.get("block_size") == 512:
            checked += 1
            if not beyond(board, place, 1.5):
                small.append((board, one.name))
    assert checked >= 10
    assert small == [("520n", "gemm_half")]


def place_of(board, name):
    return next(place for place, one in enumerate(systems.load(board).bitstreams) if one.name == name)


# What Meyer 2024 says could not be built: sections 3.2.1 (the largest GEMM_SIZE), 3.3.2 and 4.2.1.
FAILED = (
    ("u280_hbm", "gemm_double", 7 / 6, {}, "logic"),
    ("u280_hbm", "gemm_double", 1 / 2, {"gemm_size": 8}, "dsps"),
    ("u280_ddr", "hpl_host", 3 / 2, {}, "dsps"),
    ("u280_ddr", "gemm", 1, {"block_size": 512}, "bram"),
    ("520n", "gemm", 1 / 5, {"gemm_size": 16}, "dsps"),
    ("520n", "stream_double", 1, {"buffer_size": 65536}, None),
)


@pytest.mark.parametrize("board, name, times, more, resource", FAILED)
def test_what_a_document_calls_too_large(board, name, times, more, resource):
    """None: the resources do not say it, as of a buffer that failed at half of the blocks of memory."""
    over = beyond(board, place_of(board, name), times, **more)
    assert resource in [use.name for use in over] if resource else not over


def test_tools_filled_no_chip_further():
    """Logic of FFT on the 520N MX and the U280, memory of GEMM on the PAC, DSPs of FFT and GEMM."""
    intel, amd = feasible.fullest(False), feasible.fullest(True)
    assert intel == pytest.approx({"logic": 0.78, "bram": 9041 / 11721, "dsps": 2944 / 3960})
    assert amd == pytest.approx({"logic": 0.5413, "bram": 1408 / 2016, "dsps": 7714 / 9024})


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


def predict(benchmark, system, beyond=False, **given):
    overrides = {name.replace("__", "."): value for name, value in given.items() if "__" in name}
    own = {name: value for name, value in given.items() if "__" not in name}
    request = points.PredictionRequest(
        benchmark, systems.load(system), "none", points.WEAK, own, overrides, beyond=beyond
    )
    return points.predict(request, (1,), {})


def test_what_cannot_be_built_has_no_figure():
    with pytest.raises(
        FabricmarkError, match=r"does not fit: 50 replications need .*33180 of 5760 DSPs; at most 5"
    ):
        predict("gemm", "noctua1", replications=50)
    with pytest.raises(
        FabricmarkError,
        match=r"6 replications need 85 % of the blocks .* more than 77 %; at most 5 .*--beyond",
    ):
        predict("gemm", "noctua1", replications=6)
    with pytest.raises(
        FabricmarkError, match=r"clock = 2000 MHz cannot be reached: the fastest .*; set at most 620"
    ):
        predict("gemm", "noctua1", bitstream__clock=2e9)
    found, about = predict("gemm", "noctua1", beyond=True, replications=7)
    assert found and about[-1].endswith("fuller than any published synthesis")
    assert predict("gemm", "noctua1", bitstream__clock=4e8)[0]
