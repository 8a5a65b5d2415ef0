"""Rivers of a given discharge: exactly so much water comes, through every section of a channel."""

import csv
import math
import re

import pytest
from shallow_water_runs import errors, failed, verdicts
from stream_program import KERNELS, on_a_device, one_error
from wrong_kernels import with_own_headers

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
CASE = ("--case", "inflow", "--warmup", "0", "--data-type", "double")
DISCHARGE = 400.0  # m^3/s


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return on_a_device(tmp_path_factory, "shallow_water")


@pytest.fixture(scope="module")
def channel(tmp_path_factory):
    """40 x 8 cells, 4 km long, 200 m wide and 10 m deep: a river at x = 0, the sea at the other end."""
    across, along = 9, 41
    nodes = [(100.0 * i, 25.0 * j) for i in range(along) for j in range(across)]
    number = [[i * across + j + 1 for j in range(across)] for i in range(along)]
    cells = [(i, j) for i in range(along - 1) for j in range(across - 1)]
    elements = [
        corners
        for i, j in cells
        for corners in (
            (number[i][j], number[i + 1][j], number[i + 1][j + 1]),
            (number[i][j], number[i + 1][j + 1], number[i][j + 1]),
        )
    ]
    left, right = number[0][::-1], number[-1]
    bottom, top = [column[0] for column in number], [column[-1] for column in number][::-1]
    lines = ["channel", f"{len(elements)} {len(nodes)}"]
    lines += [f"{i} {x} {y} 10" for i, (x, y) in enumerate(nodes, 1)]
    lines += [f"{i} 3 {a} {b} {c}" for i, (a, b, c) in enumerate(elements, 1)]
    lines += ["1", str(across), str(across), *map(str, right), "3", str(across + 2 * along)]
    for kind, segment in ((22, left), (0, bottom), (0, top)):
        lines += [f"{len(segment)} {kind}", *map(str, segment)]
    file = tmp_path_factory.mktemp("channel") / "channel.14"
    file.write_text("\n".join(lines) + "\n")
    return file


def tide(channel, *more):
    return ("--mesh", channel, "--river-discharge", DISCHARGE, "--ramp-hours", "0.1", "--warmup", "0", *more)


@pytest.mark.parametrize("order, rate", [(0, 0.9), pytest.param(1, 1.95, marks=FULL)])
def test_water_that_comes_in_flows_steadily(program, order, rate):
    """From rest to the profile that linear friction gives it."""
    coarse, fine = (errors(program, "inflow", f"{n}x1", "--order", order)[0] for n in (25, 50))
    assert math.log2(coarse / fine) >= rate


def test_every_section_has_the_given_discharge(program, tmp_path):
    points = ";".join(f"{x},10" for x in (5, 137, 411, 702, 995))
    words = ("--mesh", "rectangle:25x1", "--order", 1, "--fields", tmp_path, "--stations", points)
    done = program.valid(*CASE, *words, "--station-minutes", 8)
    rows = list(csv.DictReader((tmp_path / "stations.csv").open()))
    last = [row for row in rows if row["time_s"] == rows[-1]["time_s"]]
    flows = [(10 + float(row["xi_m"])) * float(row["u_m_per_s"]) for row in last]
    assert len(flows) == 5 and flows == pytest.approx([10.0] * 5, rel=2e-3)
    assert {row["u_m_per_s"] for row in rows[:5]} == {"0"}  # it was at rest
    for name in ("mass", "inflow"):
        assert verdicts(done)[name]["status"] == "passed"


@pytest.mark.parametrize(
    "flux, order", [("rusanov", 0), pytest.param("hll", 1, marks=FULL), pytest.param("roe", 2, marks=FULL)]
)
def test_a_river_brings_what_is_given(program, channel, flux, order):
    words = tide(channel, "--steps", 300, "--data-type", "double", "--flux", flux, "--order", order)
    found = verdicts(program.valid(*words))
    assert found["inflow"]["error"] < 1e-12 and found["mass"]["error"] < 1e-12
    assert found["inflow"]["checked"] > 0


def test_without_a_discharge_it_has_the_tide(program, channel):
    plain = program.valid("--mesh", channel, "--steps", 40, "--warmup", "0", "--data-type", "double")
    assert "inflow" not in verdicts(plain)


@pytest.mark.parametrize("order", [0, pytest.param(1, marks=FULL)])
def test_any_partition_and_variant_gives_the_same_bits(program, channel, order):
    words = tide(channel, "--steps", 100, "--exact", "true", "--order", order)
    alone = program.valid(*words).digest
    for more in (("--ranks", 2, "--variant", "base"), ("--ranks", 4)):
        assert program.valid(*words, *more).digest == alone, more


def test_too_much_water_is_found(program, channel):
    words = tide(channel, "--steps", 40, "--data-type", "double")
    assert failed(program.run(*words, "--inject-fault", "scale:inflow")) == {"mass", "inflow"}


def test_a_kernel_that_lets_the_flux_say_it_is_found(program, channel, tmp_path):
    """Mass is kept all the same."""
    text = with_own_headers(KERNELS / "shallow_water" / "throughput.cl")
    given = "FM_TRUTH(code == SW_INFLOW)"
    assert text.count(given) == 1
    (tmp_path / "weak.cl").write_text(text.replace(given, "FM_TRUTH(code < SW_INFLOW)"))
    words = tide(channel, "--steps", 100, "--data-type", "double", "--variant", "throughput")
    found = failed(program.run(*words, "--kernel-file", tmp_path / "weak.cl"))
    assert "inflow" in found and "mass" not in found


def test_a_checkpoint_knows_what_came(program, channel, tmp_path):
    words = tide(channel, "--data-type", "double")
    program.valid(*words, "--steps", 60, "--checkpoint", tmp_path / "state", "--checkpoint-steps", 60)
    program.valid(*words, "--steps", 90, "--restart", tmp_path / "state")


def test_what_is_refused(program, channel):
    for words, said in (
        (("--mesh", "bay:500", "--river-discharge", 400), "has no edge of a river; use a mesh that has one"),
        (("--mesh", "bay:500", "--case", "lake", "--river-discharge", 400), "the case lake.*; leave one"),
        (tide(channel, "--variant", "dataflow"), "no rivers of a given inflow; choose --variant base"),
        (("--mesh", channel, "--river-discharge", -1), "river.discharge"),
    ):
        done = program.run(*words)
        assert done.code == 2
        assert re.search(said, one_error(done))
