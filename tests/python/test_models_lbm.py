"""Lattice Boltzmann and cascades of pipelines through boards (eq. 3.8 of Mondigo 2020): computed by hand, and
as the thesis says."""

from dataclasses import replace

import pytest
from conftest import REPOSITORY
from fabricmark import models, systems
from fabricmark.models import MissingValue, _cascade, lbm
from fabricmark.models._cascade import COMPRESSORS, LINK, MEMORY, PIPELINES, START, Cascade

LONG, SHORT = 2581 * 2879, 116104  # cells of the thesis' grids of the tsunami
FLOW = 720 * 240


def cascade(program, cells, boards, profile="fitted", **wanted):
    """(the cascade that the files describe, operations of a cell)"""
    system = systems.load("arria10_ring", profile)
    bitstream = system.bitstream(program, "channels", **wanted)
    board = system.board_with(bitstream, boards)
    made = _cascade.of_design(
        bitstream.parameters, cells, boards, board, system.networks["channels"], bitstream
    )
    return made, bitstream["fitted.element_operations"]


def gigaflops(*words, **wanted):
    made, operations = cascade(*words, **wanted)
    return operations * made.rate / 1e9


@pytest.mark.parametrize("boards, printed", [(1, 323.3), (2, 645.3), (4, 1285.2), (8, 2549.2), (16, 5015.4)])
def test_the_tsunami_of_five_steps_on_a_board(boards, printed):
    assert gigaflops("tsunami", LONG, boards, pipelines=1) == pytest.approx(printed, abs=0.05)


@pytest.mark.parametrize("boards, printed", [(1, 258.9), (2, 284.5), (8, 1131.4)])
def test_two_pipelines_of_the_tsunami_wait_for_links_and_a_board_alone_has_none(boards, printed):
    assert gigaflops("tsunami", LONG, boards, pipelines=2) == pytest.approx(printed, abs=0.05)
    made, _ = cascade("tsunami", LONG, boards, pipelines=2)
    assert (made.stall == 0) == (boards == 1)
    assert made.bottleneck == (PIPELINES if boards == 1 else LINK)


def test_a_short_stream_pays_for_the_start_of_its_pipelines():
    made, operations = cascade("tsunami", SHORT, 4, pipelines=1)
    assert operations * made.rate / 1e9 == pytest.approx(842.7, abs=0.05)
    assert made.share == pytest.approx(0.650, abs=0.0005)
    assert replace(made, boards=8).bottleneck == START


@pytest.mark.parametrize("pipelines, boards, computed", [(1, 64, 915.9), (2, 8, 241.7), (4, 8, 238.0)])
def test_lattice_boltzmann_over_boards(pipelines, boards, computed):
    assert gigaflops("lbm", FLOW, boards, pipelines=pipelines) == pytest.approx(computed, abs=0.05)


def test_a_stream_16_times_as_long_has_nearly_all_of_the_peak():
    made, _ = cascade("lbm", 16 * FLOW, 64, pipelines=1)
    assert made.share == pytest.approx(0.964, abs=0.0005)


def test_a_stream_along_the_short_axis_has_more_of_the_peak():
    """Section 6.1 of the specification: 64 boards, 720 x 240."""
    system = systems.load("arria10_ring", "fitted")
    bitstream = system.bitstream("lbm", "channels", pipelines=1)
    board = system.board_with(bitstream, 64)
    shares = {}
    for axis in ("auto", "x", "y"):
        parameters = {**bitstream.parameters, "columns": 720, "rows": 240, "orientation": axis}
        made = _cascade.of_design(parameters, FLOW, 64, board, system.networks["channels"], bitstream)
        shares[axis] = made.share
    assert shares["auto"] == shares["x"] == pytest.approx(0.624, abs=0.0005)  # as it was built
    assert shares["y"] == pytest.approx(0.802, abs=0.0005)


def test_compression_makes_links_faster_and_the_way_longer():
    plain, _ = cascade("lbm", FLOW, 16, pipelines=2)
    packed = replace(plain, ratio=2.392, codec_cycles=20)
    assert plain.stall == pytest.approx(2 / 7) and packed.stall == 0
    assert packed.latency == plain.latency + 16 * 20
    assert replace(packed, boards=1).latency == plain.depth


def test_links_keep_their_latency_while_pipelines_wait():
    """Cycles of a pass: eq. 3.8 where nothing waits; else only pipelines fill more slowly."""
    made = Cascade(2, 3, 4, 200e6, 40, 470, FLOW, 20e9, 17e9, 40, codec_cycles=20)
    words, filled = FLOW / 2, 3 * 470
    assert made.stall == 0 and made.cycles == words + made.latency == words / made.share
    linked = replace(made, link=8e9)  # of 16 GB/s: all but the first board's pipelines get half of the words
    assert linked.cycles == 2 * words + filled + 3 * 2 * filled + 4 * 60
    assert words / linked.share == pytest.approx(linked.cycles + filled + 4 * 60)
    starved = replace(made, memory=8e9)
    assert starved.cycles == 2 * words + 4 * 2 * filled + 4 * 60
    assert replace(linked, memory=10e9).cycles == pytest.approx(linked.cycles + 0.6 * filled)
    alone = replace(starved, boards=1)
    assert alone.cycles == 2 * (words + filled) == pytest.approx(words / alone.share)


def test_a_compression_is_that_of_the_parameters_and_needs_a_ratio():
    described = systems.load("leaf_spine", "fitted")
    bitstream = described.bitstream("lbm", "channels", pipelines=1)
    board, network = described.board_with(bitstream, 4), described.networks["channels"]

    def made(boards=4, **more):
        parameters = {**bitstream.parameters, **more}
        return _cascade.of_design(parameters, FLOW, boards, board, network, bitstream)

    plain, packed = made(compression="none"), made(compression="2d", compression_ratio=2.5)
    assert plain.link == pytest.approx(4.41e9 * 40 / 64)  # two flits of 32 B carry a cell of 40 B
    assert (packed.link, packed.ratio) == (4.41e9, 2.5)  # no gaps
    assert packed.latency == plain.latency + 4 * 20
    assert packed.supplies[COMPRESSORS] == 2.5 * 64 * 175e6
    for missing in ({}, {"compression_ratio": 0.0}):
        with pytest.raises(MissingValue, match="compression_ratio"):
            made(compression="1d", **missing)
        assert made(1, compression="1d", **missing).stall == 0  # no link


WORDS = {"words": "a", "links": "b", "memory": "c", "start": "d"}


def test_phases_are_the_time_of_all_passes_and_name_what_is_least():
    made = Cascade(2, 3, 4, 200e6, 40, 470, FLOW, 15e9, 12e9, 40)
    steps = 5 * 12
    spent = _cascade.phases(made, {"steps": steps - 1}, WORDS)  # the last pass is one, too
    assert list(spent) == ["a", "b", "d"]
    assert sum(spent.values()) == pytest.approx(steps * FLOW / made.rate)
    assert spent["a"] == pytest.approx(5 * FLOW / 2 / 200e6)
    assert spent["b"] == pytest.approx(spent["a"] * (16e9 / 12e9 - 1))
    slow = replace(made, memory=6e9)
    assert list(_cascade.phases(slow, {}, WORDS)) == ["a", "c", "d"]
    assert list(_cascade.phases(replace(made, memory=16e9, boards=1), {}, WORDS)) == ["a", "d"]


def test_a_compressor_that_makes_too_little_is_what_is_waited_for():
    made = Cascade(4, 1, 2, 175e6, 40, 470, FLOW, 40e9, 20e9, ratio=2, codec_cycles=20, codec_bytes=64)
    assert made.stall == pytest.approx(1 - 2 * 64 * 175e6 / 28e9) and made.bottleneck == COMPRESSORS
    assert replace(made, ratio=2.5).stall == 0


def test_both_languages_have_the_same_cycles_of_the_codec():
    text = (REPOSITORY / "src" / "stencil" / "compression.hpp").read_text()
    assert f"double kCodecCycles = {_cascade.CODEC_CYCLES};" in text
    text = (REPOSITORY / "src" / "stencil" / "compressed_link.hpp").read_text()
    assert f"kWide = {_cascade.CODEC_BYTES};" in text


def test_the_memory_is_a_limit_of_a_board_alone():
    made = Cascade(4, 1, 1, 175e6, 40, 470, FLOW, 17.067e9, link=1.0, link_cycles=1e9)
    assert made.stall == pytest.approx(1 - 17.067 / 28) and made.bottleneck == MEMORY
    assert made.words == FLOW / 4 and made.parallel_efficiency == 1


def test_words_are_whole():
    assert Cascade(4, 1, 1, 1e6, 1, 10, 9, 1e9).words == 3


def predicted(devices, profile="fitted", system="arria10_ring"):
    described = systems.load(system, profile)
    bitstream = described.bitstream("lbm", "channels", pipelines=1)
    board = described.board_with(bitstream, devices)
    parameters = {
        "variant": "dataflow", "columns": 720, "rows": 240, "data_type": "float", **bitstream.parameters
    }  # fmt: skip
    network = described.networks.get("channels")
    found = models.predict(lbm, parameters, board, devices, network=network, bitstream=bitstream)
    return {(one.name, *one.axes.values()): one for one in found}


def test_a_prediction_of_boards_has_both_counts_of_operations_and_what_is_lost():
    found = predicted(16)
    cells = found["cell_steps", "steps"]
    own, theirs = found["performance", "steps"], found["performance", "steps", "as published"]
    assert theirs.value == pytest.approx(318.828, abs=0.0005)
    assert own.value / theirs.value == pytest.approx(lbm.STENCIL.flops / 131)
    assert cells.value * 1e-3 * 131 == pytest.approx(theirs.value)
    assert found["share_of_peak", "steps"].value == pytest.approx(100 * cells.value / cells.limit)
    assert found["stall", "cells"].value == 0
    alone = predicted(1)["cell_steps", "steps"].value
    assert found["parallel_efficiency", "steps"].value == pytest.approx(100 * cells.value / (16 * alone))


def test_what_is_printed_of_links_is_another_profile():
    theirs = predicted(16, "published")["performance", "steps", "as published"]
    assert theirs.value == pytest.approx(317.729, abs=0.0005)


def test_boards_without_a_network_are_refused_and_one_needs_none():
    described = systems.load("de5a_net")
    (bitstream, *_) = [one for one in described.bitstreams if one.benchmark == "lbm"]
    parameters = {"variant": "dataflow", "columns": 720, "rows": 240, **bitstream.parameters}
    board = described.board_with(bitstream, 1)
    assert models.predict(lbm, parameters, board, 1, bitstream=bitstream)[0].value > 170
    with pytest.raises(MissingValue, match=r"network\.links\.bandwidth"):
        models.predict(lbm, parameters, board, 2, bitstream=bitstream)
    with pytest.raises(MissingValue, match=r"bitstream\.pipeline_depth"):
        models.predict(lbm, parameters, board, 1)


def test_a_network_says_the_way_where_the_design_does_not():
    described = systems.load("arria10_ring")
    bitstream = described.bitstream("lbm", "channels", pipelines=1)
    bare = bitstream.having({"link_cycles": None, "fitted.link_bandwidth": None})
    board = described.board_with(bitstream, 2)
    made = _cascade.of_design(bare.parameters, FLOW, 2, board, described.networks["channels"], bare)
    assert (made.link, made.link_cycles) == (7.92e9, 64)  # 365 ns at 175 MHz


GPU = {"variant": "throughput", "columns": 4096, "rows": 4096, "data_type": "float", "steps_in_cache": 1}


def rates(parameters, ranks=1, **values):
    known = {
        "memory.banks": 1, "memory.bank_bandwidth": 1e11, "arithmetic.float": 1e13, "arithmetic.double": 1e13,
        **values,
    }  # fmt: skip
    board = models.Board("some", "gpu", devices=ranks).having(known)
    found = models.predict(lbm, parameters, board, ranks)
    return {one.name: one.value for one in found}


def test_a_device_moves_nine_numbers_in_and_out():
    found = rates(GPU)
    assert found["cell_steps"] == pytest.approx(1e11 / 72 / 1e6)
    assert found["bandwidth"] == pytest.approx(100)
    assert found["performance"] == pytest.approx(1e11 / 72 * 92 / 1e9)
    assert rates({**GPU, "data_type": "double"})["cell_steps"] == pytest.approx(1e11 / 144 / 1e6)
    assert rates(GPU, 2)["cell_steps"] == pytest.approx(2 * found["cell_steps"])


def test_steps_in_the_cache_cost_no_memory_until_arithmetic_is_slower():
    six = {**GPU, "steps_in_cache": 6}
    assert rates(six)["bandwidth"] == pytest.approx(600)
    slow = rates(six, **{"arithmetic.float": 2e11})
    assert slow["performance"] == pytest.approx(200)


def test_the_base_kernel_takes_a_word_a_cycle_and_has_the_whole_grid():
    board = models.Board("some", "fpga").having(
        {"memory.banks": 4, "memory.bank_bandwidth": 19.2e9, "clock": 200e6}
    )
    parameters = {"columns": 1000, "rows": 500, "data_type": "float", "pipelines": 1}
    found = {one.name: one for one in models.predict(lbm, parameters, board, 1)}
    cycles = 1000 * 500 + 1000 + 1
    assert found["cell_steps"].value == pytest.approx(500_000 / (cycles / 200e6) / 1e6, rel=1e-6)
    assert found["cell_steps"].limit == 200
    with pytest.raises(ValueError, match="whole grid on one device"):
        models.predict(lbm, parameters, board, 2)
