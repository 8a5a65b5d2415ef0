"""`fabricmark explore`: stencils over all designs of a system, beside what Mondigo 2020 built and says."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.explore import budget, confirm, elements, stencils
from fabricmark.explore.cascades import AXES, Problem
from fabricmark.explore.front import pareto
from fabricmark.models._cascade import ALONG_X, ALONG_Y, LINK, START, depth_of
from fabricmark.systems.choice import Wanted

OCEAN, FLOW = Problem(2581, 2879, 4000), Problem(720, 240, 6400)


def explored(benchmark, problem, devices=None, system="arria10_ring", by="time", **fixed):
    asked = stencils.Asked(
        benchmark, Wanted(system), problem, devices, {name: str(value) for name, value in fixed.items()}
    )
    return stencils.explore(asked, budget.parse([], "de5a_net", benchmark), by)


@pytest.fixture(name="run")
def run_of_the_repository(place):
    """`fabricmark explore words...` with the repository's systems."""
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    return lambda *words: place.run("explore", *words, **own)


def at(answer, **values):
    """The place of a design."""
    wanted = {"orientation": ALONG_X, "compression": "none", **values}
    found = []
    for axis, known in zip(AXES, answer.exploration.space.values, strict=True):
        own = [str(one) for one in known]
        found.append(own.index(str(wanted[axis])))
    return tuple(found)


@pytest.fixture(scope="module")
def ocean():
    return explored("tsunami", OCEAN)


def test_the_tsunami_on_the_ring_is_one_pipeline_and_five_elements(ocean):
    best = ocean.found[0].values
    assert (best["boards"], best["pipelines"], best["cascaded"]) == (8, 1, 5)
    said = [str(step) for step in ocean.found[0].next]
    assert any(word.startswith("m 6: ") and word.endswith("DSPs") for word in said)
    assert any(word.startswith("n 2: with m 2 +") and word.endswith(LINK) for word in said)


def test_designs_have_what_eq_3_8_says(ocean):
    """2549.2 GFLOP/s of 288 operations (Mondigo 2020, section 3.3.2), with the printed link."""
    place = at(ocean, boards=8, pipelines=1, cascaded=5, link="D 32, RX 512")
    one = ocean.exploration.one(place)
    assert 288 * one.rate / 1e9 == pytest.approx(2549.2, abs=0.05)
    passes = 4000 / 40
    expected = passes * (OCEAN.cells * 40 / one.rate + 60e-6)
    assert ocean.exploration.seconds[place] == pytest.approx(expected)


def test_a_limit_that_is_ignored_lets_a_larger_design_win(ocean, monkeypatch):
    """The fault: boards with more DSPs than theirs. What wins then does not fit the real one."""
    known = stencils.elements.board_resources
    monkeypatch.setattr(stencils.elements, "board_resources", lambda system: {**known(system), "dsps": 10**9})
    assert explored("tsunami", OCEAN).found[0].values["cascaded"] > 5
    for name in ("logic", "registers", "bram", "dsps"):
        most = np.max(ocean.exploration.needs[name])
        assert most > ocean.exploration.resources[name], f"no design is too large for its {name}"


@pytest.mark.parametrize("boards, dominant", [(8, False), (16, True), (64, True)])
def test_lattice_boltzmann_is_bound_by_its_pipelines_from_some_16_boards_on(boards, dominant):
    answer = explored("lbm", FLOW, [boards], cascaded=1)
    one = answer.exploration.one(at(answer, boards=boards, pipelines=1, cascaded=1, link="D 32, RX 512"))
    assert (one.start > 0.1) == dominant and one.costliest == START and one.stall == 0


def test_lattice_boltzmann_is_better_along_the_short_axis_and_two_pipelines_wait_for_the_link():
    answer = explored("lbm", FLOW, [16], cascaded=1)
    times = {
        way: answer.exploration.seconds[
            at(answer, boards=16, pipelines=1, cascaded=1, link="D 32, RX 512", orientation=way)
        ]
        for way in (ALONG_X, ALONG_Y)
    }
    assert times[ALONG_Y] < times[ALONG_X]
    wide = at(answer, boards=16, pipelines=2, cascaded=1, link="D 32, RX 512")
    assert answer.exploration.one(wide).stall == pytest.approx(2 / 7)
    assert answer.exploration.one(wide).costliest == LINK
    packed = at(answer, boards=16, pipelines=2, cascaded=1, link="D 32, RX 512", compression="published")
    assert answer.exploration.one(packed).stall == 0


def test_a_ring_needs_as_many_ports_as_its_network_says():
    answer = explored("lbm", FLOW, [1, 2], cascaded=1, packet=32, receive_depth=512)
    known = answer.exploration
    fewer = replace(known.space, links=[replace(one, ports=1) for one in known.space.links])
    bare = replace(known, space=fewer)
    assert known.fits[1].any() and not bare.fits[1].any() and bare.fits[0].any()
    assert "ports" in bare.why_not(at(answer, boards=2, pipelines=1, cascaded=1, link="D 32, RX 512"))


def test_buffers_that_are_too_short_and_ratios_that_nobody_measured_are_refused():
    answer = explored("lbm", FLOW, [2], cascaded=1)
    fits = answer.exploration.fits
    assert not fits[at(answer, boards=2, pipelines=1, cascaded=1, link="D 128, RX 256")]
    assert fits[at(answer, boards=2, pipelines=1, cascaded=1, link="D 128, RX 512")]
    none = at(answer, boards=2, pipelines=8, cascaded=1, link="D 32, RX 512", compression="published")
    assert "no known ratio" in answer.exploration.why_not(none)


def test_a_board_alone_needs_no_link(ocean):
    own, other = (
        ocean.exploration.need("bram", at(ocean, boards=boards, pipelines=1, cascaded=5, link="D 32, RX 512"))
        for boards in (1, 2)
    )
    assert other - own == 2 * 30  # M10K of rtl/resources.toml, at both ends


def test_compression_takes_logic_for_each_pipeline():
    answer = explored("lbm", FLOW, [2], cascaded=1)
    taken = {
        (n, way): answer.exploration.need(
            "logic", at(answer, boards=2, pipelines=n, cascaded=1, link="D 32, RX 512", compression=way)
        )
        for n in (1, 2)
        for way in ("none", "1d", "2d", "published")
    }
    one = taken[1, "1d"] - taken[1, "none"]
    assert one == 12380 + 18770 and taken[1, "published"] == taken[1, "1d"]  # rtl/resources.toml
    assert taken[2, "1d"] - taken[2, "none"] == pytest.approx(2 * one)
    assert answer.exploration.space.ratios["2d", 2] > answer.exploration.space.ratios["1d", 2] > 2


def test_ratios_are_those_of_the_page_of_the_codec():
    page = (REPOSITORY / "docs/codec.md").read_text().partition("## Measured")[2]
    known = stencils.ratios_of("lbm", "de5a_net")
    for line, predictor in (("| 1d, n = 1, 2, 4 |", "1d"), ("| 2d |", "2d")):
        printed = page.partition(line)[2].partition("|")[0].split(",")
        for n, text in zip((1, 2, 4), printed, strict=True):
            assert known[predictor, n] == pytest.approx(float(text), abs=0.006)
    assert known["published", 4] == 1.853
    ocean = stencils.ratios_of("tsunami", "de5a_net")  # of a ring of emulated boards: no document has one
    assert set(ocean) == {(way, n) for way in ("1d", "2d") for n in (1, 2, 4)} and min(ocean.values()) > 2


def test_depths_follow_from_the_rows_that_pipelines_keep():
    flow = depth_of({1: 1550, 2: 830, 4: 470}, 720, 2)
    assert flow.rows == 2 and [flow.of(n, 720) for n in (1, 2, 4)] == [1550, 830, 470]
    assert flow.of(1, 240) == 590
    ocean = depth_of({1: 3099, 2: 1808}, 2581)
    assert ocean.rows == 1 and ocean.of(1, 2581) == 3099 and ocean.of(2, 2879) == 1957


def test_the_front_is_what_nothing_beats():
    random = np.random.default_rng(3)
    points = random.integers(0, 12, size=(300, 3))
    kept = set(pareto(list(points.T), np.arange(300)).tolist())
    for place, one in enumerate(points):
        beaten = any(
            np.all(other <= one) and (np.any(other < one) or at < place)
            for at, other in enumerate(points)
            if at != place
        )
        assert (place in kept) == (not beaten)


HEAT = """name = "heat"
clock = "200 MHz"
cell = "8 B"
rows_kept = 2
depth = 60
operations = 10
dsps = 8
grid = { columns = 512, rows = 512, steps = 100 }
"""


def test_a_stencil_that_nobody_built_is_explored_from_a_file(run, tmp_path):
    file = tmp_path / "heat.toml"
    file.write_text(HEAT)
    done = run(str(file), "--system", "arria10_ring", "--set", "cascaded=4", "--json", "-")
    assert done.returncode == 0, done.stderr
    best = json.loads(done.stdout)["found"][0]
    passes = -(-100 // (4 * best["boards"]))
    words = 512 * 512 / best["pipelines"]
    filled, way = 4 * (2 * 512 / best["pipelines"] + 60), 365e-9 * 200e6 + best["packet"] - 32
    first = filled * max(1, best["pipelines"] * 8 * 200e6 / 17.067e9)  # as fast as the memory brings cells
    behind = (words + (best["boards"] - 1) * filled) / (1 - best["stall"])
    cycles = first + behind + best["boards"] * way
    assert best["seconds"] == pytest.approx(passes * (cycles / 200e6 + 60e-6), rel=1e-3)


@pytest.mark.parametrize(
    "old, new, cause",
    [
        ("dsps = 8", "", "not one of dsps and benchmark"),
        ("200 MHz", "200", "clock"),
        ("rows_kept = 2", "rows_kept = 0", "rows_kept"),
        ("depth = 60", "deep = 60", "deep"),
    ],
)
def test_wrong_files_are_refused(run, tmp_path, old, new, cause):
    file = tmp_path / "heat.toml"
    file.write_text(HEAT.replace(old, new))
    done = run(str(file), "--system", "arria10_ring")
    assert done.returncode == 2 and cause in done.stderr and done.stderr.count("\n") == 1
    assert "heat.toml" in done.stderr


def test_systems_stand_side_by_side(run):
    done = run(
        "tsunami", "--system", "arria10_ring,leaf_spine", "--devices", "1..8", "--top", "1",
        "--set", "compression=none",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.partition("the best of each system:")[2].splitlines()
    assert START in next(line for line in lines if line.startswith("arria10_ring"))
    assert LINK in next(line for line in lines if line.startswith("leaf_spine"))


def test_switches_are_explored_too_and_spines_cost_more():
    answer = explored("tsunami", OCEAN, [32, 64], "leaf_spine", cascaded=5, pipelines=1)
    link = answer.exploration.space.links[0]
    assert link.latency(64) > link.latency(32) and link.switched
    assert answer.found[0].values["boards"] == 64


def test_energy_and_cost_are_sorted_by(tmp_path):
    file = tmp_path / "prices.toml"
    file.write_text('currency = "EUR"\nper_kwh = 0.5\n[boards.de5a_net]\nper_hour = 2\nwatts = 40\n')
    spent = budget.parse([f"price={file},watts=200"], "de5a_net", "tsunami")
    asked = stencils.Asked("tsunami", Wanted("arria10_ring"), OCEAN, None, {})
    for by in ("energy", "cost"):
        found = stencils.explore(asked, spent, by).found
        assert max(one.values["boards"] for one in found) == 5  # 200 W
        values = [one.joules if by == "energy" else one.cost for one in found]
        assert values == sorted(values)
    one = found[0]
    assert one.joules == pytest.approx(40 * one.values["boards"] * one.seconds)
    assert one.cost == pytest.approx(one.values["boards"] * one.seconds / 3600 * (2 + 0.04 * 0.5))


@pytest.mark.parametrize(
    "words, cause",
    [
        (["devices=2.5"], "no whole number"),
        (["watts=0"], "no number above 0"),
        (["yen=3"], "no budget"),
        (["watts=100"], "nothing says how many watts de5a_net takes"),
        (["devices=2", "devices=3"], "given twice"),
    ],
)
def test_wrong_budgets_are_refused(words, cause):
    with pytest.raises(FabricmarkError, match=cause):
        budget.parse(words, "de5a_net", "tsunami")


@pytest.mark.parametrize(
    "words, cause",
    [
        (["tsunami"], "nothing says on which system"),
        (["tsunami", "--system", "arria10_ring", "--grid", "12"], "no columns and rows"),
        (["tsunami", "--system", "arria10_ring", "--set", "cascaded=20"], "no design fits: DSPs"),
        (["tsunami", "--system", "arria10_ring", "--devices", "9"], "has no 9 devices; use at most 8"),
        (["tsunami", "--system", "arria10_ring", "--set", "packet=5"], "no link of that size was counted"),
        (["tsunami", "--system", "arria10_ring", "--set", "colour=red"], "explore does not vary it"),
        (["tsunami", "--system", "arria10_ring", "--by", "energy"], "nothing says watts of the board"),
        (["tsunami", "--system", "noctua1"], "has no bitstream of tsunami"),
        (["sunami", "--system", "noctua1"], "there is no benchmark"),
    ],
)
def test_wrong_input_ends_in_a_line(run, words, cause):
    done = run(*words)
    assert done.returncode == 2 and cause in done.stderr and done.stderr.count("\n") == 1


def test_the_document_has_all_of_the_front(run):
    words = ("--system", "arria10_ring", "--devices", "1..8", "--top", "1", "--json", "-")
    done = run("tsunami", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kind"] == "modelled" and len(found["found"]) > 5
    best = found["found"][0]
    assert (best["boards"], best["pipelines"], best["cascaded"]) == (8, 1, 5)
    assert found["fitting"] < found["designs"] and all(one["next"] for one in found["found"])


def test_packets_over_switches_fit_into_a_frame():
    """1056 B with the header's flit: 128 data flits of 32 B, which waste less, are no frame."""
    answer = explored("lbm", FLOW, [1, 2], "leaf_spine")
    refused = np.broadcast_to(answer.exploration.refused["frame"], answer.exploration.space.shape)
    packets = {
        str(one).split(",")[0] for one in np.array(answer.exploration.space.links)[refused[1, 0, 0, 0, 0]]
    }
    assert packets == {"D 64", "D 128"} and not refused[0].any()
    assert not any(one.startswith("D 128") for one in (str(found.values["link"]) for found in answer.found))
    ring = explored("lbm", FLOW, [2]).exploration
    assert not np.any(ring.refused["frame"])


def test_compressed_words_have_no_gaps_on_links_of_whole_flits():
    """Two cells of 40 B take three flits of 32 B as they are."""
    answer = explored("lbm", FLOW, [2], "leaf_spine", pipelines=2)
    (link,) = (one for one in answer.exploration.space.links if str(one).startswith("D 32, RX 1024"))
    plain, packed = (link.bandwidth_of(2, 2, packed=packed) for packed in (False, True))
    assert plain == pytest.approx(packed * 80 / 96)


@pytest.mark.programs
def test_without_what_frames_take_the_clock_does_not_confirm_rings_over_switches(monkeypatch):
    answer = explored("tsunami", Problem(256, 64, 6400), [2, 4], "leaf_spine", pipelines=2)
    assert all(confirm.confirm(answer, one).holds for one in answer.found[:2])
    monkeypatch.setattr(elements.Links, "framed", lambda *words: None)
    bare = explored("tsunami", Problem(256, 64, 6400), [4], "leaf_spine", pipelines=2)
    assert not confirm.confirm(bare, bare.found[0]).holds


@pytest.mark.programs
def test_the_clock_confirms_designs_and_finds_a_wrong_depth(monkeypatch):
    answer = explored("lbm", Problem(240, 60, 8), [2], cascaded=5)
    best = answer.found[:2]
    assert all(confirm.confirm(answer, one).holds for one in best)
    known = confirm._document

    def with_deeper_pipelines(*words):
        said = known(*words)
        for row in said["bitstreams"]:
            row["values"]["pipeline_cycles"]["value"] *= 2
        return said

    monkeypatch.setattr(confirm, "_document", with_deeper_pipelines)
    assert not confirm.confirm(answer, best[0]).holds


@pytest.mark.programs
def test_confirmed_designs_are_in_the_document_and_pictures_are_drawn(run, tmp_path):
    words = ("--system", "arria10_ring", "--grid", "240x60", "--steps", "8", "--devices", "1,2")
    more = ("--confirm", "--plot", str(tmp_path / "front.svg"), "--json", str(tmp_path / "found.json"))
    done = run("lbm", *words, *more)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 confirmed" in done.stdout
    assert len(json.loads((tmp_path / "found.json").read_text())["confirmed"]) == 3
    for name in ("front.svg", "front-efficiency.svg"):
        assert "<svg" in (tmp_path / name).read_text()
