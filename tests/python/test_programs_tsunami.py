"""The real fm_tsunami: the same bits by all kernels, a lake at rest, the order of a wave, faults."""

import csv
import itertools
import math
from functools import partial

import numpy
import pytest
import wrong_kernels
from fabricmark.models import _verification
from shallow_water_runs import DOUBLE, failed, note, verdicts
from simulated_runs import exported
from stream_program import on_a_device, one_error
from wrong_kernels import Wrong

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


@pytest.mark.parametrize(
    "case, edges",
    [("ocean", "open"), *(pytest.param(case, "wall", marks=FULL) for case in ("ocean", "shelf", "hump"))],
)
def test_all_kernels_ranks_and_boards_give_the_same_bits(program, ring, case, edges):
    words = (*SHORT, *EXACT, "--case", case, "--edges", edges)
    of_usual = program.valid(*words).digest
    for more in (
        ("--steps-in-cache", 1, "--vector-bytes", 16, "--ranks", 3),
        ("--variant", "base", "--pipelines", 4),
        (*ring, "--ranks", 3, "--cascaded", 2, "--cascaded-on-first", 1, "--pipelines", 2),
    ):
        assert program.valid(*words, *more).digest == of_usual, more


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
    of_ring = any_program.valid(*words, *switches, "--ranks", boards).digest
    assert of_ring == any_program.valid(*SHORT, *EXACT).digest


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
    of_usual = any_program.valid(*SHORT, *EXACT).digest
    words = ("--pipelines", pipelines, "--ranks", boards, "--cascaded", cascaded)
    for flow in (("--flow", "credit-link"), ()):
        assert any_program.valid(*SHORT, *EXACT, *ring, *words, *flow).digest == of_usual


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


SPHERE = ("--coordinates", "sphere", "--south", 20, "--spacing", 50_000)


def test_the_sphere_has_the_same_bits_by_all_kernels_ranks_and_boards(program, ring):
    words = (*SHORT, *EXACT, *SPHERE)
    of_usual = program.valid(*words).digest
    assert of_usual != program.valid(*words, "--coriolis", "false").digest
    for more in (
        ("--steps-in-cache", 1, "--vector-bytes", 16, "--ranks", 3),
        ("--variant", "base", "--pipelines", 4),
        (*ring, "--ranks", 3, "--cascaded", 2, "--cascaded-on-first", 1, "--pipelines", 2),
    ):
        assert program.valid(*words, *more).digest == of_usual, more


@pytest.mark.parametrize("data_type", ["float", pytest.param("double", marks=FULL)])
def test_a_lake_on_the_sphere_stays_at_rest_in_every_bit(program, data_type):
    words = ("--case", "lake", "--columns", 40, "--rows", 40, "--steps", 2000, *ONCE, *SPHERE)
    assert verdicts(program.valid(*words, "--data-type", data_type))["lake at rest"]["error"] == 0


def on_sphere(run):
    """What `fabricmark verify` finds of a case, by `run` of the options of each of its grids."""

    def reached(case):
        one = _verification.of("tsunami")[case]
        options = [[f"--{name.replace('_', '-')}={value}" for name, value in run.items()] for run in one.runs]
        return [found.is_reached for found in one.judge([run(*words, *ONCE).document for words in options])]

    return reached


@pytest.mark.parametrize("case", [pytest.param("sphere", marks=FULL), "zonal"])
def test_water_on_the_sphere_converges_with_the_second_order(program, case):
    assert all(on_sphere(program.valid)(case))


WRONG_ON_SPHERE = {
    "rows that are as long as the equator": (
        "sphere",
        "constants.of[TS_HALF_X] * row.secant",
        "(real)(constants.of[TS_HALF_X])",
    ),
    "meridians that stay apart": (
        "sphere",
        "(left.narrows + right.narrows)",
        "(left.narrows - right.narrows)",
    ),
    "meridians that come nearer for an old speed": (
        "sphere",
        "(swept.along - own.along);",
        "(own.along - own.along);",
    ),
    "an Earth that turns the other way round": (
        "zonal",
        "water.narrows * (constants.of[TS_SPIN] *",
        "water.narrows * (-constants.of[TS_SPIN] *",
    ),
    "an Earth as a cylinder": (
        "zonal",
        "row.cosine + water.across) * water.across;",
        "row.cosine) * water.across;",
    ),
}
QUICK_ON_SPHERE = ("an Earth that turns the other way round",)


# On the grids of the case its error is still below that of the scheme: only the check of steps finds it.
MISSED_BY_ORDER = {"meridians that come nearer for an old speed"}
SMALL = pytest.mark.xfail(reason="smaller than the scheme's own error on these grids", strict=True)


def of_sphere(what):
    """A planted fault with its marks."""
    marks = [FULL] * (what not in QUICK_ON_SPHERE) + [SMALL] * (what in MISSED_BY_ORDER)
    return pytest.param(what, marks=marks)


@pytest.mark.parametrize("what", [of_sphere(one) for one in WRONG_ON_SPHERE])
def test_a_wrong_sphere_does_not_reach_its_order(program, tmp_path, what):
    """Besides the check of steps, which has the cell of the sources."""
    case, *change = WRONG_ON_SPHERE[what]
    wrong = Wrong("throughput", (tuple(change),), file="tsunami/splitting.h")
    variables = {"FABRICMARK_KERNELS": str(wrong_kernels.install(wrong, "tsunami", tmp_path))}
    assert not all(on_sphere(partial(program.run, variables=variables))(case))


SHORES = ("--scheme", "finite_volume", "--edges", "wall")
BOWL = (*SHORES, "--case", "bowl", "--depth", 1, "--height", 0.1, "--wet-height", 0.001)


@pytest.mark.parametrize(
    "words",
    [
        (*BOWL, "--spacing", 1),
        *(pytest.param((*SHORES[:2], "--case", one), marks=FULL) for one in ("ocean", "hump")),
    ],
)
def test_shores_have_the_same_bits_by_both_kernels_and_any_ranks(program, words):
    """Launches of an odd number of phases begin between the phases of a step."""
    words = (*SHORT, *EXACT, *words)
    of_usual = program.valid(*words).digest
    for more in (
        ("--steps-in-cache", 1, "--vector-bytes", 16, "--ranks", 3),
        ("--steps-in-cache", 5, "--bands", 3),
        ("--variant", "base", "--pipelines", 4),
    ):
        assert program.valid(*words, *more).digest == of_usual, more


@pytest.mark.parametrize("variant", ["throughput", pytest.param("base", marks=FULL)])
@pytest.mark.parametrize("data_type", ["float", "double"])
def test_a_lake_with_shores_stays_at_rest_and_keeps_its_mass(program, data_type, variant):
    words = (*SHORES, "--case", "lake", "--columns", 40, "--rows", 40, "--steps", 500, "--variant", variant)
    found = verdicts(program.valid(*words, *ONCE, "--data-type", data_type))
    assert found["lake at rest"]["error"] == 0 and found["mass"]["error"] == 0


def test_water_swings_in_a_bowl_and_stays_as_much(program):
    """Half a period: the heap in the middle is a hollow, and land around is under water."""
    done = program.valid(*BOWL, *DOUBLE, *ONCE, "--columns", 50, "--rows", 50, "--spacing", 2, "--steps", 87)
    assert verdicts(done)["mass"]["error"] <= 1e-14
    assert float(note(done, r"water's height: L1 ([\d.e+-]+)")[1]) < 0.02
    assert float(note(done, r"run-up ([\d.e+-]+) m")[1]) == pytest.approx(0.1, rel=0.15)


def test_a_wave_runs_up_a_beach_as_high_as_the_law_says(program):
    grid = ("--columns", 800, "--rows", 2, "--spacing", 10, "--steps", 3520)
    done = program.valid(*SHORES, "--case", "beach", *grid, "--depth", 100, "--height", 1.9, *ONCE)
    assert float(note(done, r"([\d.e+-]+) of the law")[1]) == pytest.approx(1, abs=0.05)


def test_moving_shores_write_how_high_and_when_water_came(program, tmp_path):
    words = (*BOWL, "--columns", 50, "--rows", 50, "--spacing", 2, "--steps", 100, "--snapshot-every", 25)
    done = program.valid(*words, *ONCE, "--fields", tmp_path, "--gauges", "dry:2,25;wet:25,25")
    depth, largest, arrival, end = (
        numpy.load(tmp_path / f"{name}.npy") for name in ("depth", "largest", "arrival", "elevation")
    )
    highest = float(note(done, r"run-up ([\d.e+-]+) m")[1])
    flooded = (depth <= 0) & (largest + depth > 0.001)
    assert flooded.any() and largest[flooded].max() == pytest.approx(highest, rel=1e-5)
    assert (numpy.isfinite(arrival) == flooded)[depth <= 0].all()
    assert (largest >= end)[end + depth > 0.001].all() and (end + depth >= 0).all()
    assert largest[25, 2] == end[25, 2] == -depth[25, 2]  # dry ground is as high as it is
    assert len(list(tmp_path.glob("elevation_*.npy"))) == 5


@pytest.mark.full
def test_gauges_are_the_same_in_float_and_double(program, tmp_path):
    """Six hours of the synthetic ocean."""
    words = ("--case", "ocean", "--columns", 512, "--rows", 512, "--steps", 1800, *ONCE, "--gauge-every", 20)
    gauges = ("--gauges", "south:256,100;land:300,400;west:100,256;east:400,256")
    levels = {}
    for kind in ("float", "double"):
        program.valid(*words, *gauges, "--data-type", kind, "--fields", tmp_path / kind)
        with (tmp_path / kind / "stations.csv").open() as file:
            levels[kind] = [float(row["xi_m"]) for row in csv.DictReader(file)]
    off = numpy.subtract(levels["float"], levels["double"])
    assert len(off) == 4 * 91 and 0 < abs(off).max() <= 1e-3 * max(map(abs, levels["double"]))
    print(abs(off).max() / max(map(abs, levels["double"])))


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
    "shores on boards": (
        ("--variant", "dataflow", "--scheme", "finite_volume"),
        "the dataflow kernels have --scheme splitting alone",
    ),
    "a bowl without moving shores": (("--case", "bowl"), "--case bowl has shores that move"),
    "depths that are too wet": (
        (*SHORES, "--case", "hump", "--depth", 5, "--wet-height", 9),
        "there is no water of --wet-height 9 m",
    ),
    "finite volumes on the sphere": (
        (*SHORES, "--variant", "base", "--coordinates", "sphere"),  # of which fewer kernels are built
        "--scheme finite_volume has no --coordinates sphere",
    ),
    "a plane that turns": (("--case", "zonal"), "--case zonal is one of the sphere"),
    "a sphere without a middle": (
        ("--coordinates", "sphere", "--case", "shelf"),
        "--case shelf is one of the plane",
    ),
    "beyond a pole": (
        ("--coordinates", "sphere", "--south", 80, "--spacing", 50_000),
        "rows from 80 to 101.584 degrees go beyond a pole",
    ),
    "round and round": (
        ("--coordinates", "sphere", "--spacing", 700_000),
        "columns of 402.896 degrees go round the Earth more than once",
    ),
    "long steps on the sphere": (
        (*SPHERE, "--cfl", 0.95),
        "a wave crosses that share of the cell in column ",
    ),
    "doubles on boards": (("--variant", "dataflow", *DOUBLE), "the dataflow kernels have floats"),
    "long rows on boards": (
        ("--variant", "dataflow", "--row-cells", 32, "--orientation", "x"),
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


def test_water_that_is_too_fast_by_finite_volumes_stops_the_run_in_its_cell(program):
    words = ("--case", "wave", "--height", 100, "--depth", 1, "--cfl", 1, "--spacing", 10)
    line = one_error(program.run(*SHORT, *SHORES, *words, "--steps-in-cache", 5), (1,))
    assert "the water runs faster than a step allows" in line and " of step " in line and "column" in line
