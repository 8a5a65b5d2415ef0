"""The real fm_tsunami with files: depths of `fabricmark bathymetry`, fields, snapshots and gauges."""

import json
import shutil
from pathlib import Path

import numpy
import pytest
from fabricmark.grids import run_fields
from fabricmark.report import stations
from grid_samples import write_sea
from shallow_water_runs import note, verdicts
from simulated_runs import exported
from stream_program import mpirun, on_a_device, one_error

pytestmark = pytest.mark.programs

ONCE = ("--warmup", 0, "--repetitions", 1)
EXACT = ("--exact", "true")
GAUGES = "buoy:30,12;far@149.9,36;port@-218,38"  # 142 degrees east is also 218 west


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return on_a_device(tmp_path_factory, "tsunami")


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """Options of a cascade through boards, of which the first one has all cells."""
    system = exported(tmp_path_factory.mktemp("systems"), "noctua1")
    return ("--variant", "dataflow", "--transport", "channels", "--system", system)


@pytest.fixture(scope="module")
def sea(program):
    return write_sea(program.folder / "sea.nc")


def fields_of(program, name, *words, **how):
    folder = program.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    words = (*words, "--fields", folder) if "--repetitions" in words else (*words, *ONCE, "--fields", folder)
    done = program.valid(*words, **how)
    return done, folder


def test_a_run_writes_what_it_computed(program, sea):
    words = ("--depths", sea, "--steps", 60, "--snapshot-every", 20, "--gauges", GAUGES, "--gauge-every", 15)
    done, folder = fields_of(program, "waves", *words)
    parameters = done.document["parameters"]
    assert (parameters["columns"], parameters["rows"]) == (40, 33)
    found = run_fields.load(folder)
    assert found.degrees == (138, 150, 32, 40)
    frames = found.frames(found.snapshots)
    assert [frame.seconds for frame in frames] == pytest.approx([found.seconds * i / 3 for i in range(4)])
    assert 1.9 < frames[0].values.max() <= 2
    assert (frames[3].values == found.elevation).all()
    water = found.depth > 0
    assert 0.2 < water.mean() < 0.95 and (found.elevation[~water] == 0).all()
    highest = numpy.max([frame.values for frame in frames], axis=0)
    assert (found.largest >= highest)[water].all()
    # The wave goes out from where the water was lifted: it comes later the farther a place is.
    along = found.arrival[16, 26:38]
    assert (numpy.diff(along[numpy.isfinite(along)]) >= 0).all() and numpy.nanmax(
        found.arrival
    ) <= found.seconds
    curves = stations.read(folder / run_fields.STATIONS)
    assert list(curves) == ["buoy", "far", "port"]
    cells = {"buoy": (30, 12), "far": (39, 16), "port": (13, 24)}
    for name, (column, row) in cells.items():
        curve = curves[name]
        assert curve.values["time_s"] == pytest.approx([found.seconds * i / 4 for i in range(5)])
        assert curve.x == pytest.approx((column + 0.5) * found.dx) and curve.y == pytest.approx(
            (row + 0.5) * found.dy
        )
        assert curve.values["xi_m"][0] == pytest.approx(frames[0].values[row, column], abs=1e-7)
        assert curve.values["xi_m"][4] == pytest.approx(found.elevation[row, column], abs=1e-7)
    assert max(map(abs, curves["buoy"].values["u_m_per_s"])) > 0


def test_a_file_in_degrees_lies_on_the_sphere(program, sea):
    """Rows are as far apart as the file has them: both have one Earth."""
    words = ("--depths", sea, "--steps", 3)
    done, folder = fields_of(program, "sphere", *words)
    assert done.document["parameters"]["coordinates"] == "sphere"
    assert (
        "0.3 x 0.242424 degrees on the sphere, from 32 to 40 degrees of latitude"
        in note(done, "cells of.*")[0]
    )
    on_plane, other = fields_of(program, "plane", *words, "--coordinates", "plane")
    assert on_plane.document["parameters"]["coordinates"] == "plane"
    round_earth, flat = run_fields.load(folder), run_fields.load(other)
    assert (round_earth.dx, round_earth.dy) == pytest.approx((flat.dx, flat.dy), rel=1e-12)
    volumes, _ = fields_of(program, "volumes", *words, "--scheme", "finite_volume")
    assert "finite volumes have no sphere" in note(volumes, "on the plane.*")[0]


def test_a_file_without_degrees_is_refused_on_the_sphere(program):
    path = write_sea(program.folder / "metres.nc")
    path.write_bytes(path.read_bytes().replace(b"geospatial_lat_max", b"geospatial_lat_top"))
    assert program.valid("--depths", path, *SHORT).document["parameters"]["coordinates"] == "plane"
    done = program.run("--depths", path, *SHORT, "--coordinates", "sphere")
    assert "does not say which degrees its edges have" in one_error(done)


def test_all_ranks_write_the_same_files(program, ring, sea):
    words = (*EXACT, "--depths", sea, "--steps", 30, "--snapshot-every", 8, "--gauges", GAUGES)
    _, alone = fields_of(program, "alone", *words)
    for name, more, how in (
        ("in one process", ("--ranks", 3), {}),
        ("base", ("--variant", "base"), {}),
        ("boards", (*ring, "--ranks", 3, "--pipelines", 2), {}),
        ("processes", (), {"launcher": mpirun(2)}),
        ("often", ("--warmup", 1, "--repetitions", 2), {}),
    ):
        _, folder = fields_of(program, name, *words, *more, **how)
        names = sorted(path.name for path in alone.iterdir())
        assert sorted(path.name for path in folder.iterdir()) == names
        for one in names:
            assert (folder / one).read_bytes() == (alone / one).read_bytes(), (name, one)


def test_recording_changes_no_bit(program, sea):
    words = (*EXACT, "--depths", sea, "--steps", 30, *ONCE)
    recorded, _ = fields_of(program, "recorded", *words, "--snapshot-every", 7)
    assert program.valid(*words).digest == recorded.digest


@pytest.mark.parametrize("data_type", ["float", "double"])
def test_a_sea_of_a_file_stays_at_rest(program, sea, data_type):
    done = program.valid("--depths", sea, "--case", "lake", "--steps", 500, "--data-type", data_type, *ONCE)
    assert verdicts(done)["lake at rest"]["error"] == 0


@pytest.mark.parametrize("data_type", ["float", "double"])
def test_a_sea_of_a_file_with_moving_shores_stays_at_rest(program, sea, data_type):
    scheme = ("--scheme", "finite_volume", "--edges", "wall")
    words = ("--depths", sea, "--case", "lake", *scheme, "--steps", 300)
    found = verdicts(program.valid(*words, "--data-type", data_type, *ONCE))
    assert found["lake at rest"]["error"] == 0 and found["mass"]["error"] == 0


def test_a_wave_of_a_file_floods_its_shores(program, sea):
    words = ("--depths", sea, "--steps", 60, "--snapshot-every", 20, "--gauges", GAUGES)
    done, folder = fields_of(program, "flood", *words, "--scheme", "finite_volume")
    found = run_fields.load(folder)
    assert (found.depth < 0).any() and len(found.snapshots) == 4
    assert (found.largest >= found.elevation).all()
    assert "of land were under water" in note(done, "run-up .*")[0]


def test_a_file_on_several_lines_names_gauges(program, sea):
    path = program.folder / "gauges.txt"
    path.write_text("# two buoys\nnear : 30, 12\n\nfar @ 149.9, 36 # by degrees\n")
    _, folder = fields_of(program, "lines", "--depths", sea, "--steps", 3, "--gauges", path)
    assert list(stations.read(folder / run_fields.STATIONS)) == ["far", "near"]


def test_a_run_that_fails_leaves_no_description_of_an_older_one(program, sea):
    _, folder = fields_of(program, "older", "--depths", sea, "--steps", 3)
    assert run_fields.is_there(folder)
    words = (
        "--depths",
        sea,
        "--steps",
        400,
        "--case",
        "hump",
        "--height",
        100,
        "--cfl",
        1,
        "--coordinates",
        "plane",
    )
    done = program.run(*words, *ONCE, "--fields", folder, "--least-depth", 0.01)
    assert done.code == 1 and not run_fields.is_there(folder)


SHORT = ("--steps", 2, *ONCE)
BAD = {
    "nowhere": (("--depths", "nowhere.nc"), "cannot read the depths 'nowhere.nc'"),
    "no grid": (("--depths", __file__), "are no NetCDF file"),
    "other size": (("--columns", 41), "have 40 x 33 cells, and the grid 41 x 33; leave out --columns"),
    "own depths": (("--case", "wave"), "--case wave has depths of its own"),
    "no folder": (("--gauges", "buoy:30,12"), "nothing says where gauges and snapshots are to be written"),
    "no snapshots": (("--snapshot-every", 2), "nothing says where gauges and snapshots are to be written"),
    "on land": (("--fields", "f", "--gauges", "hill:0,16"), "in column 0, row 16; the nearest water is"),
    "outside": (("--fields", "f", "--gauges", "off:40,1"), "outside of the 40 x 33 cells"),
    "north": (("--fields", "f", "--gauges", "off@140,41"), "the gauge 'off' lies outside"),
    "no place": (("--fields", "f", "--gauges", "buoy"), "which is no gauge"),
    "no numbers": (("--fields", "f", "--gauges", "buoy:a,b"), "which has no two numbers"),
    "halves": (("--fields", "f", "--gauges", "buoy:1.5,2"), "no whole numbers"),
    "no name": (("--fields", "f", "--gauges", "a b:1,2"), "whose name has more than letters"),
    "twice": (("--fields", "f", "--gauges", "a:30,12;a:31,12"), "--gauges names 'a' twice"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(program, sea, name):
    words, said = BAD[name]
    depths = () if "--depths" in words else ("--depths", sea)
    done = program.run(*SHORT, *depths, *words)
    assert done.code == 2
    assert said in one_error(done)


def test_more_bad_depths(program):
    flat = write_sea(program.folder / "flat.nc", lifted=False)
    assert "has no variable 'elevation'" in one_error(program.run(*SHORT, "--depths", flat))
    land = write_sea(program.folder / "land.nc", shift=-20000)
    assert "there is no water of --least-depth 10 m" in one_error(program.run(*SHORT, "--depths", land))
    cut_off = program.folder / "cut.nc"
    cut_off.write_bytes(land.read_bytes()[:6000])
    assert "are cut" in one_error(program.run(*SHORT, "--depths", cut_off))
    done = program.run(*SHORT, "--gauges", "a@140,30", "--fields", program.folder / "f")
    assert "nothing says where the grid lies" in one_error(done)


def test_hosts_with_different_files_are_refused(program):
    """Of several hosts each may have a file of its own: here two processes in folders of their own."""
    folders = [program.folder / name for name in ("one", "two")]
    for number, folder in enumerate(folders):
        folder.mkdir()
        write_sea(folder / "sea.nc", shift=number)
    words = ["--depths", "sea.nc", *map(str, SHORT)]
    first, *launcher = mpirun(1)
    second = [":", *launcher[-2:], "-wdir", str(folders[1]), str(program.program), *words]
    done = program.start(*words, *second, launcher=[first, *launcher, "-wdir", folders[0]])
    assert "rank 1 has other depths in 'sea.nc' than rank 0" in one_error(done)


def test_the_description_says_what_grid_it_is(program, sea):
    _, folder = fields_of(program, "described", "--columns", 20, "--rows", 10, "--steps", 2)
    document = json.loads((Path(folder) / run_fields.DESCRIPTION).read_text())
    assert document["degrees"] is None and document["dx_m"] == document["dy_m"] == 4000
    assert run_fields.load(folder).depth.shape == (10, 20)
