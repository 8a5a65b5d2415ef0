"""The real fm_lbm: the same bits by all kernels, cases with known solutions, faults, and what is refused."""

import itertools
import math
import re

import numpy
import pytest
from shallow_water_runs import DOUBLE, failed, note, verdicts
from stream_program import mpirun, on_a_device, one_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
ONCE = ("--warmup", 0, "--repetitions", 1)
SMALL = ("--columns", 64, "--rows", 48)
SHORT = (*SMALL, "--steps", 25, *ONCE)
EXACT = ("--exact", "true")
WALLED, PERIODIC = ("cavity", "cylinder", "box"), ("taylor_green", "poiseuille", "couette")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return on_a_device(tmp_path_factory, "lbm")


# The same bits --------------------------------------------------------------------------------------------

BASE = [
    ("--variant", "base", "--orientation", axis, "--pipelines", number)
    for axis in "xy" for number in (1, 4, 2, 8)
]  # fmt: skip
CASCADES = [
    ("--steps-in-cache", 1, "--vector-bytes", 16, "--ranks", 3, "--transport", "host"),
    ("--steps-in-cache", 11, "--bands", 3, "--tile-columns", 64, "--ranks", 2),
    ("--steps-in-cache", 6, "--vector-bytes", 32),
    ("--steps-in-cache", 1),
    *(("--vector-bytes", 16, "--bands", bands, "--tile-columns", 64) for bands in (1, 7, 48)),
    *(("--ranks", ranks, "--transport", way) for ranks in (2, 3, 4) for way in ("cpu", "host")),
]


def check_digests(program, words, kinds):
    of_usual = program.valid(*words).digest
    for more in kinds:
        assert program.valid(*words, *more).digest == of_usual, more


@pytest.mark.parametrize("case", ["cavity", pytest.param("cylinder", marks=FULL)])
def test_all_kernels_and_ranks_give_the_same_bits(program, case):
    check_digests(program, (*SHORT, *EXACT, "--case", case), (BASE[1], BASE[5], *CASCADES[:2]))


def test_a_grid_that_is_periodic_both_ways_gives_the_same_bits_on_any_ranks(program):
    check_digests(program, (*SHORT, *EXACT, "--case", "taylor_green"), CASCADES[:2])


@FULL
@pytest.mark.parametrize("data_type", ["float", "double"])
@pytest.mark.parametrize("case", [*WALLED, *PERIODIC])
def test_every_kind_of_kernel_gives_the_same_bits(program, case, data_type):
    words = (*SHORT, *EXACT, "--case", case, "--data-type", data_type)
    check_digests(program, words, CASCADES if case in PERIODIC else (*BASE, *CASCADES))


# Columns that are no whole vectors, rows fewer than a launch has steps, and grids of one column or row.
UNEVEN = [(1, 2), (3, 5), (63, 7), (65, 40), (129, 17), (200, 6), (260, 29)]


@FULL
@pytest.mark.parametrize("columns, rows", UNEVEN)
@pytest.mark.parametrize("case", [*WALLED, *PERIODIC])
def test_uneven_grids_give_the_same_bits(program, case, columns, rows):
    """Slow and viscous, as some have a single cell of fluid between walls."""
    grid = ("--columns", columns, "--rows", rows, "--reynolds", 5, "--speed", 0.03)
    words = (*grid, "--steps", 13, *ONCE, *EXACT, "--case", case)
    kinds = [("--steps-in-cache", steps, "--bands", bands) for steps in (1, 2, 16) for bands in (1, 3)]
    if rows >= 6:
        kinds += [("--steps-in-cache", 2, "--ranks", 3)]
    check_digests(program, words, kinds if case in PERIODIC else (BASE[0], *kinds))


@FULL
def test_processes_give_the_same_bits(program):
    words = (*SHORT, *EXACT, "--case", "cylinder")
    assert program.valid(*words).digest == program.valid(*words, launcher=mpirun(2)).digest


def test_the_usual_build_differs_by_roundings_only(program):
    """Whose check has the host's step beside it; here the digests differ, and both are valid."""
    program.valid(*SHORT)
    program.valid(*SHORT, "--variant", "base")


# Cases with known solutions -------------------------------------------------------------------------------


def errors(program, case, columns, rows, steps, *words):
    """Relative errors of the velocity: (L2, largest)."""
    grid = ("--case", case, "--columns", columns, "--rows", rows, "--steps", steps)
    found = note(
        program.valid(*grid, *ONCE, *DOUBLE, *words), r"velocity: L2 ([\d.e+-]+), largest ([\d.e+-]+)"
    )
    return float(found[1]), float(found[2])


HALF_WAY = 1 / (1 / 2 + math.sqrt(3 / 16))  # the omega of which walls lie half-way between cells


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=FULL)])
def test_a_channel_keeps_its_parabola(program, ranks):
    assert max(errors(program, "poiseuille", 8, 16, 6000, "--omega", HALF_WAY, "--ranks", ranks)) <= 1e-12


def test_a_channel_with_another_relaxation_has_walls_elsewhere(program):
    assert errors(program, "poiseuille", 8, 16, 6000, "--omega", 0.8)[0] > 1e-4


@pytest.mark.parametrize("omega", [HALF_WAY, pytest.param(0.7, marks=FULL)])
def test_a_wall_pulls_a_straight_line(program, omega):
    assert max(errors(program, "couette", 8, 16, 6000, "--omega", omega)) <= 1e-12


OMEGA = 1.25
VISCOSITY = (1 / OMEGA - 1 / 2) / 3


def vortices(program, cells):
    """Their error after half of the energy's decay; they are slower on finer grids, as sound counts."""
    steps = round(math.log(2) / (2 * VISCOSITY * (2 * math.pi / cells) ** 2))
    speed = 0.004 * 32 / cells
    return errors(program, "taylor_green", cells, cells, steps, "--omega", OMEGA, "--speed", speed)[0]


def test_vortices_converge_with_the_second_order(program):
    found = [vortices(program, cells) for cells in (16, 32, 64)]
    assert found[0] < 0.004
    for coarse, fine in itertools.pairwise(found):
        assert abs(math.log2(coarse / fine) - 2) <= 0.1


@FULL
@pytest.mark.parametrize("data_type, most", [("float", 1e-6), ("double", 1e-14)])
def test_a_closed_box_keeps_its_mass(program, data_type, most):
    words = ("--case", "box", "--columns", 64, "--rows", 64, "--steps", 10_000, *ONCE)
    assert verdicts(program.valid(*words, "--data-type", data_type))["mass"]["error"] <= most


@pytest.mark.parametrize("case", ["box", "taylor_green"])
def test_the_mass_of_many_cells_is_summed_without_roundings_of_its_own(program, case):
    """A step keeps the mass; the sum of a million cells must not be what changes."""
    words = ("--case", case, "--columns", 1024, "--rows", 1024, "--steps", 2, *ONCE, *DOUBLE)
    program.valid(*words)


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["element", "scale", "zeros", "stale"])
def test_wrong_cells_are_found(program, kind):
    done = program.run(*SHORT, "--inject-fault", kind)
    assert "steps again" in failed(done)


def test_a_wrong_cell_is_named(program):
    done = program.run(*SHORT, "--inject-fault", "element:rest")
    worst = verdicts(done)["steps again"]["worst"]
    assert re.fullmatch(r"rest in column \d+, row \d+ after step 25", worst["place"])


@pytest.mark.parametrize(
    "kind", ["flipped", "late", *(pytest.param(kind, marks=FULL) for kind in ("swapped", "blank", "half"))]
)
def test_a_wrong_halo_is_found(program, kind):
    done = program.run(*SHORT, "--ranks", 4, "--inject-fault", kind)
    assert done.code == 1, done.errors
    # What comes of the rest of a message may be no fluid, and the run stops.
    assert "halos" in failed(done) if done.document else "the fluid is faster than" in one_error(done, (1,))


@pytest.mark.parametrize("kind", ["lost", pytest.param("dead", marks=FULL)])
def test_a_halo_that_does_not_come_ends_all_ranks(program, kind):
    done = program.run(*SHORT, "--ranks", 4, "--timeout", 1, "--inject-fault", kind)
    assert "no sign of a message" in one_error(done, (3,))


def test_fluid_that_is_too_fast_stops_the_run_in_its_cell(program):
    fast = ("--case", "cylinder", "--speed", 0.2, "--most-speed", 0.21)
    line = one_error(program.run(*SHORT, *fast), (1,))
    assert re.search(
        r"the fluid is faster than --most-speed 0\.21, .* in column \d+, row \d+ of step 2; ", line
    )
    line = one_error(program.run(*SHORT, *fast, "--ranks", 2), (1,))
    assert "in a cell of step 2; use less --speed" in line


@pytest.mark.parametrize("more", [(), ("--variant", "base"), ("--steps-in-cache", 1)])
def test_every_kernel_finds_the_same_step_and_the_first_cell_is_named(program, more):
    words = ("--case", "cylinder", "--most-speed", 0.11, *more)
    line = one_error(program.run(*SHORT, *EXACT, *words), (1,))
    assert "in column 1, row 1 of step 2; " in line


# Refusals -------------------------------------------------------------------------------------------------

ON_BASE = ("--variant", "base")


def test_vortices_leave_a_cylinder(program):
    """A coarse one, five cells thick."""
    words = ("--case", "cylinder", "--columns", 144, "--rows", 48, *ONCE, "--wake-every", 50)
    done = program.valid(*words, "--steps", 20000)
    assert 0.13 < float(note(done, r"Strouhal number ([\d.]+)")[1]) < 0.2
    assert note(program.valid(*words, "--steps", 100), "no vortices pass")


BAD = {
    "wake of no cylinder": (("--wake-every", 10), "--wake-every 10 of --case cavity; choose --case cylinder"),
    "rows for the steps of a launch": (
        ("--rows", 30, "--ranks", 6),
        "a rank has 5 rows, and a launch of 6 steps needs as many",
    ),
    "a row for each rank": (("--rows", 3, "--ranks", 4), "3 rows do not give 4 ranks one each"),
    "no omega": (("--columns", 4, "--reynolds", 1e6), "on this grid needs an omega of 1.999995, at which"),
    "a lid on nothing": (("--rows", 1), "--case cavity has a row that moves, and --rows 1"),
    "long rows": ((*ON_BASE, "--columns", 64, "--row-cells", 32), "rows have 64 cells, .* has room for 32"),
    "a part of a word": ((*ON_BASE, "--columns", 66, "--pipelines", 4), "make columns a multiple of pipe"),
    "a part of a word of rows": (
        (*ON_BASE, "--rows", 66, "--pipelines", 4, "--orientation", "y"),
        "66 rows are no whole words of 4 cells; make rows a multiple of pipelines: 68",
    ),
    "long columns": (
        (*ON_BASE, "--rows", 64, "--row-cells", 32, "--orientation", "y"),
        "columns have 64 cells, and the local memory has room for 32; use fewer --rows and more --columns",
    ),
    "a part of vectors": (("--tile-columns", 100), "make tile_columns a multiple of 64"),
    "base on ranks": ((*ON_BASE, "--ranks", 2), "the base kernel has the whole grid on one device"),
    **{
        f"base, {case}": ((*ON_BASE, "--case", case), "cannot begin again at the other side of the grid")
        for case in PERIODIC
    },
    "messages of one rank": ((*SMALL, "--inject-fault", "late"), "a single rank has no messages to corrupt"),
    "no such number": ((*SMALL, "--inject-fault", "element:u"), "use rest"),
    "no such case": (("--case", "sphere"), "cavity"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(program, name):
    words, said = BAD[name]
    done = program.run("--steps", 5, *ONCE, *words)
    assert done.code == 2
    assert re.search(said, one_error(done))


# Files ----------------------------------------------------------------------------------------------------


def test_fields_are_those_of_the_whole_grid(program, tmp_path):
    words = (*SHORT, *EXACT, "--case", "cylinder")
    fields = {}
    for ranks in (1, 2):
        folder = tmp_path / str(ranks)
        done = program.valid(*words, "--ranks", ranks, "--fields", folder, "--wake-every", 5)
        assert note(done, "(no vortices)")
        fields[ranks] = {name: numpy.load(folder / f"{name}.npy") for name in ("cells", "u", "v")}
    for name, one in fields[1].items():
        assert numpy.array_equal(one, fields[2][name])
    cells = fields[1]["cells"].reshape(48, 64, 10)
    assert set(numpy.unique(cells[..., 9])) >= {0, 1}
    weights = numpy.array([4 / 9, *[1 / 9] * 4, *[1 / 36] * 4])
    across = numpy.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    fluid = cells[..., 9] == 0
    full = cells[..., :9].astype(float) + weights
    assert numpy.allclose((full @ across / full.sum(-1))[fluid], fields[1]["u"][fluid], atol=1e-6)
