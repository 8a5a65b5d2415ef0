"""The real fm_tsunami: the same bits by all kernels, a lake at rest, the order of a wave, faults."""

import itertools
import math

import pytest
from charged_runs import exported
from shallow_water_runs import DOUBLE, failed, note, verdicts
from stream_program import on_a_device, one_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
ONCE = ("--warmup", 0, "--repetitions", 1)
SHORT = ("--columns", 64, "--rows", 48, "--steps", 25, *ONCE)
EXACT = ("--exact", "true")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return on_a_device(tmp_path_factory, "tsunami")


def through_boards(folder, system):
    return ("--variant", "dataflow", "--transport", "channels", "--system", exported(folder, system))


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """Options of a cascade through boards."""
    return through_boards(tmp_path_factory.mktemp("systems"), "noctua1")


def digest(done):
    return note(done, "digest of the cells: ([0-9a-f]{16})")[1]


@pytest.mark.parametrize(
    "case, edges",
    [("ocean", "open"), *(pytest.param(case, "wall", marks=FULL) for case in ("ocean", "shelf", "hump"))],
)
def test_all_kernels_ranks_and_boards_give_the_same_bits(program, ring, case, edges):
    words = (*SHORT, *EXACT, "--case", case, "--edges", edges)
    of_usual = digest(program.valid(*words))
    for more in (
        ("--steps-in-cache", 1, "--vector-bytes", 16, "--ranks", 3),
        ("--variant", "base", "--pipelines", 4),
        (*ring, "--ranks", 3, "--cascaded", 2, "--cascaded-on-first", 1, "--pipelines", 2),
    ):
        assert digest(program.valid(*words, *more)) == of_usual, more


@pytest.mark.parametrize(
    "benchmark, boards, pipelines",
    [
        ("lbm", 4, 2),
        ("tsunami", 2, 1),
        *(pytest.param(b, 8, n, marks=FULL) for b in ("lbm", "tsunami") for n in (1, 4)),
    ],
)
def test_frames_over_switches_give_the_same_bits(tmp_path_factory, benchmark, boards, pipelines):
    any_program = on_a_device(tmp_path_factory, benchmark)
    switches = through_boards(tmp_path_factory.mktemp("systems"), "leaf_spine")
    words = (*SHORT, *EXACT, "--pipelines", pipelines, "--cascaded", 1)
    of_ring = digest(any_program.valid(*words, *switches, "--ranks", boards))
    assert of_ring == digest(any_program.valid(*SHORT, *EXACT))


def test_a_credit_link_needs_flits(program, tmp_path):
    ring = through_boards(tmp_path, "arria10_ring")
    error = one_error(program.run(*SHORT, *ring, "--ranks", 2, "--flow", "credit-link"))
    assert "only says how many bytes a second" in error and "links.width" in error


@FULL
@pytest.mark.parametrize("benchmark", ["lbm", "tsunami"])
@pytest.mark.parametrize("pipelines", [1, 2, 4])
@pytest.mark.parametrize("boards, cascaded", [(1, 3), (2, 2), (4, 1), (8, 2)])
def test_every_cascade_gives_the_same_bits(tmp_path_factory, ring, benchmark, pipelines, boards, cascaded):
    """25 steps: a multiple of none of these passes."""
    any_program = on_a_device(tmp_path_factory, benchmark)
    of_usual = digest(any_program.valid(*SHORT, *EXACT))
    words = ("--pipelines", pipelines, "--ranks", boards, "--cascaded", cascaded)
    for flow in (("--flow", "credit-link"), ()):
        assert digest(any_program.valid(*SHORT, *EXACT, *ring, *words, *flow)) == of_usual


@pytest.mark.parametrize("data_type", ["float", "double"])
def test_a_lake_at_rest_stays_so_in_every_bit(program, data_type):
    words = ("--case", "lake", "--columns", 40, "--rows", 40, "--steps", 10_000, *ONCE)
    assert verdicts(program.valid(*words, "--data-type", data_type))["lake at rest"]["error"] == 0


def wave(program, cells, *words):
    """The relative error of the elevation after 0.4 of 800 km."""
    grid = ("--columns", cells, "--rows", 4, "--spacing", 800_000 / cells, "--steps", cells * 4 // 5)
    done = program.valid(
        "--case", "wave", "--height", 0.01, "--cfl", 0.5, "--edges", "wall", *grid, *ONCE, *words
    )
    return float(note(done, r"error of the elevation: L2 ([\d.e+-]+)")[1])


@pytest.mark.parametrize("more", [(), pytest.param(DOUBLE, marks=FULL)])
def test_a_wave_converges_with_the_second_order(program, more):
    found = [wave(program, cells, *more) for cells in (200, 400, 800)]
    for coarse, fine in itertools.pairwise(found):
        assert math.log2(coarse / fine) >= 1.9


@pytest.mark.parametrize("kind", ["element", *(pytest.param(one, marks=FULL) for one in ("zeros", "stale"))])
def test_wrong_cells_are_found(program, kind):
    assert "steps again" in failed(program.run(*SHORT, "--inject-fault", kind))


@pytest.mark.parametrize("benchmark", ["lbm", "tsunami"])
@pytest.mark.parametrize(
    "kind", ["flipped", "lost", *(pytest.param(one, marks=FULL) for one in ("late", "blank", "dead", "half"))]
)
def test_wrong_words_of_links_are_found(tmp_path_factory, ring, benchmark, kind):
    words = (*SHORT, *ring, "--ranks", 3, "--inject-fault", f"{kind}@1")
    done = on_a_device(tmp_path_factory, benchmark).run(*words)
    assert done.code == 1, done.errors
    assert done.errors or "halos" in failed(done)


BAD = {
    "no water": (("--depth", 5, "--least-depth", 20), "there is no water of --least-depth 20 m"),
    "doubles on boards": (("--variant", "dataflow", *DOUBLE), "the dataflow kernels have floats"),
    "long rows on boards": (
        ("--variant", "dataflow", "--row-cells", 32),
        "rows have 64 cells, and the local memory has room for 32",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(program, name):
    words, said = BAD[name]
    done = program.run(*SHORT, *words)
    assert done.code == 2
    assert said in one_error(done)


def test_water_that_is_too_fast_stops_the_run_in_its_cell(program):
    line = one_error(program.run(*SHORT, "--case", "hump", "--height", 100, "--depth", 50, "--cfl", 1), (1,))
    assert "the water runs faster than a step allows" in line and " of step " in line
