"""The real fm_shallow_water: the cases of the specification, ranks, faults, files and what stops a run."""

import csv
import json
import math
import re
import signal
import struct
import subprocess
import time

import numpy as np
import pytest
from shallow_water_runs import DOUBLE, errors, failed, note, verdicts
from stream_program import mpirun, on_a_device, one_error

pytestmark = pytest.mark.programs

FULL = pytest.mark.full
SHORT = ("--mesh", "bay:500", "--steps", "40", "--warmup", "0")
EXACT = ("--exact", "true")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return on_a_device(tmp_path_factory, "shallow_water")


# The cases of the specification ---------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["base", "throughput"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_lake_at_rest_stays_at_rest(program, order, variant):
    done = program.valid(*SHORT, "--case", "lake", *DOUBLE, "--order", order, "--variant", variant)
    found = verdicts(done)
    assert found["elevation at rest"]["threshold"] == (0 if order == 0 else 1e-15)
    assert found["velocity at rest"]["threshold"] == 1e-14


@pytest.mark.parametrize("order", [0, pytest.param(1, marks=FULL), pytest.param(2, marks=FULL)])
def test_mass_is_kept_for_20_000_steps(program, order):
    words = ("--case", "mass", "--mesh", "bay:300", "--steps", "20000", "--warmup", "0", "--order", order)
    mass = verdicts(program.valid(*words, *DOUBLE))["mass"]
    assert mass["error"] <= mass["threshold"] == 1e-14


STOKER = {50: 0.0264, 100: 0.0164, 200: 0.0099, 400: 0.0060}


@pytest.mark.parametrize("cells", [50, 100, pytest.param(200, marks=FULL), pytest.param(400, marks=FULL)])
def test_a_dam_breaks_as_stoker_says(program, cells):
    _, depth = errors(program, "stoker", f"{cells}x1", "--cfl", "0.7")
    assert depth <= STOKER[cells] * 1.005


# Of each order the rate from one mesh to the next that is measured; towards 1, 2 and 3.
@pytest.mark.parametrize(
    "order, cells, rate",
    [
        (0, 16, 0.8),
        (1, 8, 1.95),
        (2, 8, 2.95),
        pytest.param(0, 64, 0.94, marks=FULL),
        pytest.param(1, 32, 1.98, marks=FULL),
        pytest.param(2, 16, 2.97, marks=FULL),
    ],
)
def test_a_standing_wave_converges_with_its_order(program, order, cells, rate):
    coarse, fine = (
        errors(program, "standing_wave", f"{n}x{n}", "--order", order)[0] for n in (cells, 2 * cells)
    )
    assert math.log2(coarse / fine) >= rate


@pytest.mark.parametrize(
    "order, cells, rate", [(0, 16, 0.9), (1, 16, 1.95), pytest.param(2, 16, 2.8, marks=FULL)]
)
def test_a_tide_in_a_channel_converges_with_its_order(program, order, cells, rate):
    coarse, fine = (errors(program, "lynch_gray", f"{n}x2", "--order", order)[0] for n in (cells, 2 * cells))
    assert math.log2(coarse / fine) >= rate


@pytest.mark.parametrize(
    "case, cells", [("bump", 50), ("bump_shock", 50), pytest.param("bump_shock", 200, marks=FULL)]
)
def test_a_steady_flow_over_a_bump_converges(program, case, cells):
    coarse, fine = (errors(program, case, f"{n}x1")[1] for n in (cells, 2 * cells))
    assert math.log2(coarse / fine) >= 0.8


@pytest.mark.parametrize("flux", ["hll", "roe"])
@pytest.mark.parametrize("order", [0, 1, pytest.param(2, marks=FULL)])
def test_the_other_fluxes_are_right(program, flux, order):
    program.valid(*SHORT, *DOUBLE, "--flux", flux, "--order", order)


# Ranks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1, pytest.param(2, marks=FULL)])
def test_any_partition_gives_the_same_bits(program, order):
    words = ("--mesh", "bay:1500", "--steps", "100", "--warmup", "0", *EXACT, "--order", order)
    alone = program.valid(*words).digest
    for more in (
        ("--ranks", 2, "--variant", "base"),
        ("--ranks", 4, "--transport", "cpu"),
        ("--ranks", 7),
    ):
        assert program.valid(*words, *more).digest == alone, more


@FULL
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("ranks", [16, 48])
def test_many_partitions_give_the_same_bits(program, order, ranks):
    words = ("--mesh", "bay:3000", "--steps", "100", "--warmup", "0", *EXACT, "--order", order)
    assert program.valid(*words).digest == program.valid(*words, "--ranks", ranks).digest


def test_processes_give_the_same_bits(program):
    words = (*SHORT, *EXACT, "--order", 1)
    assert program.valid(*words).digest == program.valid(*words, launcher=mpirun(2)).digest


def last_snapshot(folder):
    snapshots = json.loads((folder / "snapshots.json").read_text())["snapshots"]
    return np.load(folder / snapshots[-1]["file"])


def test_the_default_build_differs_by_roundings_only(program, tmp_path):
    found = {}
    for ranks in (1, 3):
        folder = tmp_path / str(ranks)
        program.valid("--mesh", "bay:1500", "--steps", "100", "--ranks", ranks, "--fields", folder)
        found[ranks] = last_snapshot(folder)
    assert np.abs(found[3] - found[1]).max() <= 1e-5 * np.abs(found[1]).max()


# Faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["element", "scale", "zeros", "stale"])
def test_a_wrong_field_is_found(program, kind):
    done = program.run(*SHORT, "--inject-fault", kind)
    assert any(name.startswith("steps") for name in failed(done))


def test_every_check_finds_its_fault(program):
    assert "mass" in failed(program.run(*SHORT, "--case", "mass", "--inject-fault", "scale"))
    lake = (*SHORT, "--case", "lake", "--ranks", 2, "--inject-fault")
    assert "elevation at rest" in failed(program.run(*lake, "element"))
    assert "velocity at rest" in failed(program.run(*lake, "blank@1"))


def test_a_wrong_element_is_named(program):
    done = program.run(*SHORT, "--inject-fault", "element")
    worst = verdicts(done)["steps again"]["worst"]
    assert re.fullmatch(r"xi\[0\] of element \d+ after step 40", worst["place"])


@pytest.mark.parametrize("kind", ["late", "swapped", "blank", "half", "flipped"])
def test_a_wrong_halo_is_found(program, kind):
    done = program.run(*SHORT, "--ranks", 4, "--inject-fault", f"{kind}@1")
    assert done.code == 1, done.errors


def test_a_lost_halo_ends_all_ranks(program):
    done = program.run(*SHORT, "--ranks", 2, "--timeout", 1, "--inject-fault", "lost@1")
    assert done.code == 3
    assert "did not" in done.errors or "rank" in done.errors


def test_a_run_that_falls_dry_names_element_and_time(program):
    done = program.run(*SHORT, "--minimum-depth", "2.5")
    assert done.code == 1
    assert re.search(
        r"step 0 at 0 s .* of water, less than the minimum depth of 2.5 m in element \d+", done.errors
    )


@pytest.mark.parametrize("order", [0, 1])
def test_a_step_that_is_too_long_stops_the_run(program, order):
    done = program.run(*SHORT, "--dt", "100", "--order", order)
    assert done.code == 1
    assert re.search(r"a step of 100 s, longer than the [\d.]+ s that are stable in element \d+", done.errors)


# Files ----------------------------------------------------------------------------------------------------


def test_stations_and_snapshots_are_written(program, tmp_path):
    words = ("--hours", "2", "--fields", tmp_path, "--snapshots", "4", "--station-minutes", "30")
    program.valid("--mesh", "bay:500", "--ranks", 2, *words)
    rows = list(csv.DictReader((tmp_path / "stations.csv").open()))
    assert [row["station"] for row in rows[:4]] == ["1", "2", "3", "4"]
    times = sorted({float(row["time_s"]) for row in rows})
    assert len(times) == 5 and times[0] == 0 and abs(times[-1] - 7200) < 60
    assert max(abs(float(row["xi_m"])) for row in rows) > 1e-6
    document = json.loads((tmp_path / "snapshots.json").read_text())
    assert document["schema"] == "fabricmark-fields-1"
    assert len(np.load(tmp_path / document["snapshots"][-1]["file"])) == 500
    assert set(np.load(tmp_path / "part_of.npy")) == {0, 1}


def test_a_killed_run_goes_on_to_the_same_bits(program, tmp_path):
    words = ("--mesh", "bay:2000", "--steps", "60000", "--order", "1", "--warmup", "0", *EXACT)
    kept = ("--checkpoint", tmp_path / "state", "--checkpoint-steps", "500")
    command = [str(word) for word in (program.program, *words, *kept)]
    process = subprocess.Popen(command, env=program.environment, stdout=subprocess.DEVNULL)
    try:
        while not (tmp_path / "state").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    finally:
        process.wait()
    assert process.returncode == -signal.SIGKILL
    # The step where it was killed stands behind a line and two digests; few follow, as ranks that take turns
    # on busy cores need long for each.
    (step,) = struct.unpack_from(
        "<q", (tmp_path / "state").read_bytes(), len("fabricmark shallow water 1\n") + 64
    )
    words = tuple(str(step + 100) if word == "60000" else word for word in words)
    whole = program.valid(*words)
    rest = program.valid(*words, "--restart", tmp_path / "state", "--ranks", 2)
    assert int(note(rest, rf"steps (\d+) to {step + 100}")[1]) == step > 0
    assert rest.digest == whole.digest


def test_a_checkpoint_of_another_run_is_refused(program, tmp_path):
    kept = ("--checkpoint", tmp_path / "state", "--checkpoint-steps", "20")
    program.valid(*SHORT, *kept)
    other = program.run(*SHORT, "--order", "1", "--restart", tmp_path / "state")
    assert "is of another run" in one_error(other)
    content = (tmp_path / "state").read_bytes()
    for damaged in (content[:-1], content[:40], b"", content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]):
        (tmp_path / "damaged").write_bytes(damaged)
        done = program.run(*SHORT, "--restart", tmp_path / "damaged")
        assert "is no whole checkpoint" in one_error(done)


BAD = {
    "no such file": (("--mesh", "nowhere.14"), "nowhere.14"),
    "no such case on it": (("--mesh", "bay:100", "--case", "stoker"), "give|say how many cells"),
    "no rectangle": (("--mesh", "rectangle:3x"), "is no rectangle"),
    "no point": (("--mesh", "bay:100", "--fields", "x", "--stations", "1;2"), "which is no point"),
    "outside": (("--mesh", "bay:100", "--fields", "x", "--stations", "-1e9,0"), "outside of the mesh"),
    "no checkpoint": (("--mesh", "bay:100", "--restart", "nowhere"), "cannot read the checkpoint"),
    "fabric": (("--mesh", "bay:100", "--transport", "channels"), "channels"),
    "more ranks than elements": (("--mesh", "bay:2", "--ranks", "3"), "2 elements|elements"),
    "too large a part": (("--mesh", "bay:100", "--partition-elements", "99"), "do not fit 99"),
    "messages of one rank": ((*SHORT, "--inject-fault", "late"), "no messages"),
    "no such target": ((*SHORT, "--inject-fault", "element:b"), "use xi"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(program, name):
    words, said = BAD[name]
    done = program.run(*words)
    assert done.code == 2
    assert re.search(said, one_error(done))
