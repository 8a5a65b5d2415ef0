"""`fabricmark explore` of the suite's benchmarks: the published design, or a better one that fits."""

import json
import os

import numpy as np
import pytest
from conftest import REPOSITORY
from fabricmark.explore import confirm_designs, designs, designs_view
from fabricmark.explore.budget import Budget
from fabricmark.models import b_eff, ptrans
from fabricmark.systems.choice import Wanted
from inspect_support import needs_clang
from thinned import only

pytestmark = needs_clang
LOGIC_OF_FFT = ("logic", "fft", "u280_hbm")
PLACES = [
    (benchmark, system)
    for benchmark in ("stream", "gemm", "fft", "hpl")
    for system in ("noctua1", "u280_hbm", "hacc")
    if (benchmark, system) != ("hpl", "u280_hbm")  # of which there is no synthesis
]


def explored(benchmark, system, devices=(1,), budget=None, **fixed):
    asked = designs.Asked(benchmark, Wanted(system), devices, fixed)
    return designs.explore(asked, budget or Budget(), "time", 5)


@pytest.mark.parametrize("benchmark, system", only(PLACES, *PLACES[::3]))
def test_the_best_design_is_the_published_one_or_a_better_one(benchmark, system):
    answer = explored(benchmark, system)
    best, case = answer.found[0], answer.cases[0]
    own = next(one for one in answer.published if one.published == case.base)
    assert best.rate >= own.rate * (1 - 1e-9)
    assert all(share <= 1 + 1e-9 for share in best.uses.values())
    place = tuple(
        list(case.axes[name]).index(value) for name, value in own.values.items() if name in case.axes
    )
    assert case.fits[place] and case.rate[place] == pytest.approx(own.rate)
    assert answer.rank(own) == 1 + int((case.rate[case.fits] > own.rate * (1 + 1e-9)).sum())


def test_the_published_design_has_the_published_resources():
    """At it nothing is estimated: only the difference of others is."""
    case = explored("gemm", "noctua1").cases[0]
    at = dict(case.bitstream.parameters)
    place = tuple(0 if name == "devices" else list(case.axes[name]).index(at[name]) for name in case.axes)
    assert case.needs["dsps"][place] == pytest.approx(3318)
    assert case.needs["bram"][place] == pytest.approx(8321)
    assert case.needs["logic"][place] == pytest.approx(310564)


@pytest.mark.parametrize(
    "name, benchmark, system",
    only([("dsps", "gemm", "noctua1"), ("bram", "gemm", "noctua1"), LOGIC_OF_FFT], LOGIC_OF_FFT),
)
def test_a_limit_that_is_ignored_lets_designs_pass_that_do_not_fit(name, benchmark, system, monkeypatch):
    case = explored(benchmark, system).cases[0]
    refused = int((~case.fits).sum())
    loose = {**case.resources, name: 1e12}
    monkeypatch.setitem(vars(case), "resources", loose)
    vars(case).pop("fits")
    assert int((~case.fits).sum()) < refused
    taken = case.needs[name][case.fits].max()
    assert taken > explored(benchmark, system).cases[0].resources[name]


def test_designs_that_load_more_than_anybody_built_are_refused():
    case = explored("stream", "noctua1").cases[0]
    lanes = case.shaped["unroll"] * case.shaped["vector_width"]
    wide = np.broadcast_to(lanes * 4 > 64, case.shape)
    assert designs.widest() == 64 and wide.any() and not (case.fits & wide).any()


def test_replications_of_gemm_share_the_memory():
    case = explored("gemm", "noctua1").cases[0]
    blocks = np.broadcast_to(case.shaped["block_size"], case.shape)
    bandwidth = 4 * 19.2  # GB/s; A and B: 4 bytes for each of b/2 operations
    assert (case.rate <= bandwidth * blocks / 4).all()


def test_fixed_values_count_and_types_choose_the_synthesis():
    answer = explored("gemm", "u280_hbm", data_type="double", gemm_size=4)
    assert answer.cases[0].base == "u280_hbm_single/gemm_double"
    assert {one.values["gemm_size"] for one in answer.found} == {4}
    assert [one.published for one in answer.published] == ["u280_hbm_single/gemm_double"]
    known = explored("gemm", "noctua1", gemm_size=8).cases[0].needs["dsps"].max()
    assert explored("gemm", "noctua1", gemm_size=4).cases[0].needs["dsps"].max() < known


def test_transports_and_devices_are_axes_too():
    answer = explored("hpl", "noctua1", (1, 4))
    assert {case.transport for case in answer.cases} == {"channels", "host"}
    assert {one.devices for one in answer.found} == {1, 4}
    assert explored("hpl", "noctua1", (1, 4), Budget(devices=1)).cases[0].axes["devices"] == [1]


@pytest.fixture(name="run")
def run_of_the_repository(place):
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": os.devnull}
    return lambda *words: place.run("explore", *words, **own)


@pytest.mark.programs
@pytest.mark.parametrize("benchmark, devices", only([("stream", 1), ("hpl", 4)], ("stream", 1)))
def test_the_clock_confirms_designs_and_finds_a_wrong_clock(benchmark, devices, monkeypatch):
    answer = explored(benchmark, "noctua1", (devices,))
    assert all(confirm_designs.confirm(answer, one).holds for one in answer.found[:2])
    known = confirm_designs._document

    def with_a_slower_kernel(*words):
        said = known(*words)
        for row in said["bitstreams"]:
            row["values"]["kernel_hz"]["value"] /= 4
        return said

    monkeypatch.setattr(confirm_designs, "_document", with_a_slower_kernel)
    assert not confirm_designs.confirm(answer, answer.found[0]).holds


@pytest.mark.programs
@pytest.mark.parametrize("devices", [4, pytest.param(6, marks=pytest.mark.full)])
def test_blocks_over_the_host_are_as_large_as_their_messages_have_to_be(devices, monkeypatch):
    """This project's program sends each block by itself, which the other's closed form does not know."""
    answer = explored("ptrans", "hacc", (devices,))
    assert all(one.values["block_size"] >= 256 for one in answer.found[:3])
    assert all(confirm_designs.confirm(answer, one).holds for one in answer.found[:3])
    assert answer.cases[0].waits_for(answer.found[0].values) == "exchange"
    assert any("of this project's program" in line for line in designs_view.lines(answer, Budget()))

    monkeypatch.delattr(ptrans, "own_headline")
    other = explored("ptrans", "hacc", (devices,))
    assert other.found[0].values["block_size"] == 16
    assert not confirm_designs.confirm(other, other.found[0]).holds


def test_without_an_exchange_kernels_wait_for_themselves_or_for_the_memory():
    case = explored("ptrans", "hacc").cases[0]
    design = {"devices": 1, "channel_width": 16, "block_size": 256}
    assert case.waits_for({**design, "replications": 2}) == "kernel width x frequency"
    assert case.waits_for({**design, "replications": 4}) == "memory bandwidth"


@pytest.mark.programs
@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("system", ["noctua1", "cygnus"])
def test_links_are_no_faster_than_kernels_hand_over_words(system, width):
    """Of cygnus they carry 12.5 GB/s each, of which words of 32 B at 290.63 MHz are three quarters."""
    answer = explored("b_eff", system, (2,), channel_width=width)
    found = [confirm_designs.confirm(answer, one) for one in answer.found]
    assert found and all(one.holds for one in found)
    loaded = answer.system
    board = loaded.board_with(answer.cases[0].bitstream, 2)
    waits = b_eff.slower_of(4 * width, board, loaded.networks["channels"])
    is_slower = system == "cygnus" and width < 16
    assert waits == ("kernel width x frequency" if is_slower else "channels")


def test_no_buffer_makes_the_paths_to_the_memory_of_the_host_faster():
    """Each way 10.05 GB/s: two arrays are read and one is written, with two replications, too."""
    case = explored("stream", "pac_d5005").cases[0]
    assert case.rate.max() == pytest.approx(3 / 2 * 10.05)


@pytest.mark.programs
@pytest.mark.parametrize("benchmark", ["gemm", "fft"])
def test_what_copies_to_the_memory_of_the_host_take_is_in_no_headline(benchmark, monkeypatch):
    answer = explored(benchmark, "pac_d5005")
    found = confirm_designs.confirm(answer, answer.found[0])
    assert found.holds
    for table in confirm_designs.UNCOPIED.values():
        monkeypatch.setitem(table, "seconds", [1.0])
    assert confirm_designs.confirm(answer, answer.found[0]) == found


def test_each_transport_has_the_numbers_of_devices_that_it_joins():
    """Channels make square grids; the host's MPI takes any number."""
    answer = explored("ptrans", "noctua1", (1, 2, 4))
    joined = {case.transport: list(case.axes["devices"]) for case in answer.cases}
    assert joined == {"channels": [1, 4], "host": [1, 2, 4]}
    two = [one for one in answer.found if one.devices == 2]
    assert two and all(one.case.transport == "host" and answer.rank(one) for one in two)


@pytest.mark.full
def test_matrices_grow_with_the_devices():
    case = explored("hpl", "noctua1", (1, 4)).cases[0]
    assert case.sizes(4)["size"] == 2 * case.sizes(1)["size"]
    alone = explored("hpl", "noctua1", (4,))
    best = max(one.rate for one in explored("hpl", "noctua1", (1, 4)).found if one.devices == 4)
    assert alone.found[0].rate == pytest.approx(best)


def test_the_document_marks_what_was_published(run):
    done = run("fft", "--system", "noctua1", "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["found"][0]["published"] == "520n_multi/fft" and found["kind"] == "modelled"
    assert [one["published"] for one in found["published"]] == ["520n_multi/fft", "520n_single/fft"]


@pytest.mark.parametrize(
    "words, cause",
    [
        (["gemm", "--system", "noctua1", "--grid", "12x12"], "which is no stencil"),
        (["gemm", "--system", "noctua1", "--set", "block_size=3000"], "block_size"),
        (["gemm", "--system", "noctua1", "--set", "colour=red"], "gemm has no parameter colour"),
        (["gemm", "--system", "noctua1", "--set", "gemm_size=16"], "no design of gemm fits"),
        (["gemm", "--system", "noctua1", "--set", "data_type=mixed"], "no synthesis of gemm on noctua1 has"),
        (["stream", "--system", "noctua1", "--by", "cost"], "nothing says per_hour"),
        (["hpl", "--system", "u280_hbm"], "has no bitstream of hpl"),
        (
            ["hpl", "--system", "noctua1", "--transport", "channels", "--devices", "1,2"],
            "grid of devices, not 2",
        ),
        (["stream", "--system", "noctua1", "--budget", "watts=1"], "no number of devices is within"),
    ],
)
def test_wrong_input_ends_in_a_line(run, words, cause):
    done = run(*words)
    assert done.returncode == 2 and cause in done.stderr and done.stderr.count("\n") == 1
