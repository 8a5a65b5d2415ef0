"""`fabricmark bathymetry`: depths as others publish them on plane grids, and what lifts the water."""

import math
import random

import numpy
import pytest
from conftest import REPOSITORY
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.grids import cut, earthquake, resample
from fabricmark.grids.cut import Wanted
from fabricmark.grids.earthquake import Fault, Hump
from fabricmark.mesh import packages
from grid_samples import height, write_gebco, write_grid
from scipy.io import netcdf_file

WINDOW = Wanted(longitude=(138, 150), latitude=(30, 42), columns=48, rows=48)
GLOBE = numpy.arange(-179.75, 180, 0.5), numpy.arange(-89.75, 90, 0.5)


def expected(frame):
    return -height(*numpy.meshgrid(*frame.degrees()))


def published(path, kind):
    """The same sea in the ways of several publishers."""
    longitude, latitude = GLOBE
    up = height(*numpy.meshgrid(longitude, latitude))
    if kind == "from 0 to 360, southwards, as ROSE":
        order = numpy.argsort(longitude % 360)
        return write_grid(path, (longitude % 360)[order], latitude[::-1], up[::-1, order], "ROSE",
                          ("ETOPO05_X", "ETOPO05_Y"), units="METERS",
                          long_name="RELIEF OF THE SURFACE OF THE EARTH")  # fmt: skip
    if kind == "depths in km":
        return write_grid(path, longitude, latitude, -up / 1000, "bathy", units="km", positive="down")
    if kind == "packed":
        return write_grid(path, longitude, latitude, numpy.rint((up - 100) / 0.5), "z", ("x", "y"), "i",
                          scale_factor=0.5, add_offset=100.0)  # fmt: skip
    if kind == "round the globe and on":
        more = numpy.concatenate([longitude, longitude[:20] + 360])
        return write_grid(path, more, latitude, numpy.concatenate([up, up[:, :20]], axis=1), "topo")
    return write_grid(path, longitude, latitude, -up, "deep", standard_name="sea_floor_depth_below_geoid")


KINDS = (
    "from 0 to 360, southwards, as ROSE", "depths in km", "packed", "round the globe and on", "by its name",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_metadata_say_what_numbers_are(tmp_path, kind):
    made = cut.cut(published(tmp_path / "any.nc", kind), WINDOW)
    assert made.missing == 0
    near = numpy.abs(made.depth - expected(made.frame))
    assert near.max() < 250 and near.mean() < 25  # between cells of half a degree
    assert (made.frame.columns, made.frame.rows) == (48, 48)
    assert made.frame.dy == pytest.approx(math.radians(0.25) * 6.371e6)
    assert made.frame.dx == pytest.approx(made.frame.dy * math.cos(math.radians(36)))


@pytest.mark.parametrize("kind", KINDS[:4])
@pytest.mark.parametrize("longitude", [(170, -170), (-190, -170), (170, 190), (350, 10), (-10, 10)])
def test_a_cut_crosses_the_seam(tmp_path, kind, longitude):
    path = published(tmp_path / "any.nc", kind)
    made = cut.cut(path, Wanted(longitude=longitude, latitude=(0, 10), columns=40, rows=20))
    west, east = longitude
    assert (made.frame.west, made.frame.east) == (west, east if east > west else east + 360)
    # Half a degree each, as in the file: the numbers themselves.
    places = (made.frame.degrees()[0] + 180) % 360 - 180
    assert made.depth == pytest.approx(-height(*numpy.meshgrid(places, made.frame.degrees()[1])), abs=0.3)


def test_coarse_cells_are_means_and_fine_ones_lie_between():
    def read(rows, columns):
        return numpy.add.outer(100.0 * numpy.arange(*rows), numpy.arange(*columns))

    rows, columns = resample.weights(-0.5, 4, 5, 20), resample.weights(-0.5, 2, 10, 20)
    coarse = resample.resampled(read, rows, columns)
    middles = numpy.add.outer(100 * (4 * numpy.arange(5) + 1.5), 2 * numpy.arange(10) + 0.5)
    assert coarse == pytest.approx(middles)
    halves = resample.resampled(read, rows, resample.weights(-0.5, 2.5, 8, 20))
    assert halves[0, :2] == pytest.approx(
        [150 + 2 / 2.5, 150 + 8 / 2.5]
    )  # 0, 1 and half of 2; the rest of it
    fine = resample.resampled(read, resample.weights(2, 0.25, 9, 20), resample.weights(3, 0.5, 4, 20))
    assert fine == pytest.approx(
        numpy.add.outer(100 * (2.125 + 0.25 * numpy.arange(9)), 3.25 + 0.5 * numpy.arange(4))
    )


def test_large_cuts_go_in_pieces(tmp_path, monkeypatch):
    path = published(tmp_path / "any.nc", KINDS[0])
    wanted = Wanted(longitude=(170, -170), latitude=(-40, 40), columns=11)
    whole = cut.cut(path, wanted)
    monkeypatch.setattr(resample, "MOST_AT_ONCE", 150)
    assert cut.cut(path, wanted).depth == pytest.approx(whole.depth)
    assert whole.frame.rows == 44 and whole.frame.dx / whole.frame.dy == pytest.approx(1, abs=0.02)


def test_what_is_missing_is_land_and_said(place):
    longitude, latitude = numpy.arange(10.0), numpy.arange(10.0)
    values = numpy.full((10, 10), 3000.0)
    values[2:4, 5] = -1e34
    values[7, 7] = numpy.nan
    path = write_grid(place.folder / "holes.nc", longitude, latitude, values, "depth", _FillValue=-1e34)
    done = place.run("bathymetry", path, "-o", "plane.nc")
    assert done.returncode == 0, done.stderr
    assert "3 cells, taken for land" in done.stdout
    with netcdf_file(place.folder / "plane.nc", mmap=False) as file:
        depth = file.variables["depth"]
        assert (depth.units, depth.positive) == (b"m", b"down")
        assert (depth[:] == 0).sum() == 3 and (depth[:] == 3000).sum() == 97
        assert file.variables["x"].units == b"m" and "elevation" not in file.variables
        assert (file.geospatial_lon_min, file.geospatial_lat_max) == (-0.5, 9.5)


# Okada (1985), table 2, cases 2 to 4: what slip along strike, up dip and opening of 1 lift the surface by.
TABLE = [
    ((2, 3, 4, 70), (-2.747e-3, -3.564e-2, 3.214e-3)),
    ((0, 0, 4, 90), (0, 0, -1.606e-2)),
    ((0, 0, 4, -90), (0, 0, -7.740e-3)),
]


@pytest.mark.parametrize("case, lifts", TABLE)
def test_okada_s_check_values(case, lifts):
    x, y, depth, dip = map(float, case)
    for number, lift in enumerate(lifts):
        moves = [0.0, 0.0, 0.0]
        moves[number] = 1.0
        found = earthquake.okada_lift(
            numpy.array(x), numpy.array(y), depth, math.radians(dip), 3.0, 2.0, moves
        )
        assert float(f"{float(found):.3e}") == pytest.approx(lift, abs=1e-16)


def test_a_fault_dips_to_the_right_of_its_strike():
    """A thrust that dips to the east lifts its west, above its upper edge; of strike 90, its north."""
    text = "longitude=0,latitude=0,depth=20,length=100,width=60,dip=30,rake=90,slip=5,strike="
    near = numpy.linspace(-1, 1, 81)
    places = numpy.meshgrid(near, near)
    to_east = earthquake.parsed(Fault, text + "0").lift(*places)
    row, column = numpy.unravel_index(to_east.argmax(), to_east.shape)
    assert near[column] < -0.05 and abs(near[row]) < 0.3 and 1 < to_east.max() < 5 and to_east.min() < -0.1
    to_south = earthquake.parsed(Fault, text + "90").lift(*places)
    # Of strike 90 north is what west is of strike 0; east is what north is.
    assert to_south == pytest.approx(to_east.T[::-1], abs=1e-9)
    assert earthquake.parsed(Fault, text + "0").lift(places[0] + 360, places[1]) == pytest.approx(to_east)


def test_a_finite_fault_is_the_sum_of_its_parts(tmp_path):
    """A fault of two halves, one behind the other along its strike, as a file."""
    names = ("longitude", "latitude", "depth", "length", "width", "strike", "dip", "rake", "slip")
    half = math.degrees(50 / 6371)
    path = tmp_path / "faults.csv"
    rows = [f"0,{north},20,{length},60,0,30,90,5" for north, length in ((half, 100), (-half, 100))]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    near = numpy.meshgrid(numpy.linspace(-1, 1, 9), numpy.linspace(-1, 1, 9))
    parts = sum(fault.lift(*near) for fault in earthquake.faults(str(path)))
    pairs = zip(names, (0, 0, 20, 200, 60, 0, 30, 90, 5), strict=True)
    (whole,) = earthquake.faults(",".join(f"{name}={value}" for name, value in pairs))
    assert parts == pytest.approx(whole.lift(*near), abs=1e-3)
    for content, said in (
        ("", "has no faults"),
        ("longitude,latitude\n1\n", "line 2 has 1 values for 2 names"),
        ("longitude,latitude\n1,2\n", "line 2: .* has no depth"),
        (",".join(names) + "\n0,0,1,100,60,0,30,90,5\n", "line 2: the fault's upper edge lies"),
    ):
        path.write_text(content)
        with pytest.raises(FabricmarkError, match=said):
            earthquake.faults(str(path))


def test_a_hump_has_its_height():
    hump = earthquake.parsed(Hump, "longitude=-150,latitude=10,radius=100,height=3")
    assert float(hump.lift(numpy.array(210.0), numpy.array(10.0))) == 3
    north = 10 + 100 / (math.radians(1) * 6371)
    assert float(hump.lift(numpy.array(210.0), numpy.array(north))) == pytest.approx(3 / math.e)


FAULT = "longitude=143,latitude=38,depth=15,length=200,width=80,strike=200,dip=12,rake=90,slip=8"


def test_the_command_writes_depths_water_and_a_picture(place):
    write_gebco(place.folder / "gebco.nc")
    words = ("bathymetry", "gebco.nc", "-o", "japan.nc", "--longitude", "138:152", "--latitude", "32:44")
    done = place.run(*words, "--columns", 60, "--okada", FAULT, "--picture", "japan.png")
    assert done.returncode == 0, done.stderr
    assert "growing up by its standard_name" in done.stdout and "water at the start" in done.stdout
    assert (place.folder / "japan.png").read_bytes().startswith(b"\x89PNG")
    with netcdf_file(place.folder / "japan.nc", mmap=False) as file:
        elevation = file.variables["elevation"][:]
        assert elevation.shape == file.variables["depth"].shape == (65, 60)
        assert 1 < elevation.max() < 8


def write(path, **changes):
    """A grid whose depths, places or attributes are changed."""
    longitude, latitude = numpy.arange(0.0, 10.0), numpy.arange(0.0, 8.0)
    words = {"values": numpy.full((8, 10), -3000.0), "longitude": longitude, "latitude": latitude, **changes}
    return write_grid(path, words.pop("longitude"), words.pop("latitude"), words.pop("values"), **words)


BAD = {
    "nowhere": (lambda path: None, (), "cannot read"),
    "text": (lambda path: path.write_text("lon,lat,z\n"), (), "is no NetCDF file"),
    "cut": (lambda path: path.write_bytes(write(path).read_bytes()[:400]), (), "is damaged or cut"),
    "no variable": (write, ("--variable", "z"), "has no variable 'z'; it has elevation"),
    "no grid": (write, ("--variable", "lon"), "lon is no grid by latitude and longitude"),
    "land": (lambda path: write(path, values=numpy.full((8, 10), 5.0)), (), "no water there, but land of"),
    "wrong sign": (write, ("--positive", "down"), "give --positive up"),
    "no such depth": (lambda path: write(path, values=numpy.full((8, 10), -3e4)), (), "the Earth has not"),
    "all missing": (
        lambda path: write(path, values=numpy.full((8, 10), numpy.nan)), (), "has no numbers there"
    ),
    "which way": (lambda path: write(path, name="w"), (), "grows upwards or downwards"),
    "units": (lambda path: write(path, units="leagues"), (), "is in 'leagues'"),
    "uneven": (
        lambda path: write(path, latitude=numpy.array([0, 1, 2, 3.5, 4, 5, 6, 7.0])), (),
        "lat is not evenly spaced: 2 and 3.5 lie 1.5 degrees apart, others 1",
    ),
    "outside": (write, ("--latitude", "0:20"), "has no latitude 0:20, but -0.5:7.5"),
    "outside in the west": (write, ("--longitude", "-10:5"), "has no longitude -10:5, but -0.5:9.5"),
    "upside down": (write, ("--latitude", "5:1"), "does not go from south to north"),
    "no range": (write, ("--longitude", "5"), "is no range of degrees"),
    "too many": (write, ("--columns", 1000000, "--rows", 1000000), "cells are more than"),
    "no fault": (write, ("--okada", "longitude=1"), "has no latitude, depth, length"),
    "odd fault": (write, ("--okada", "longitude=1,lat=2"), "'lat=2' of"),
    "high fault": (write, ("--okada", FAULT.replace("depth=15", "depth=5")), "above the sea floor"),
    "steep fault": (write, ("--okada", FAULT.replace("dip=12", "dip=120")), "dip 120 is not between"),
    "flat hump": (write, ("--hump", "longitude=1,latitude=1,radius=0,height=1"), "a hump has no radius"),
    "nothing moves": (write, ("--hump", "longitude=90,latitude=1,radius=1,height=1"), "nothing lifts"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_line(place, one_error_line, name):
    make, words, said = BAD[name]
    make(place.folder / "any.nc")
    assert said in one_error_line(place.run("bathymetry", "any.nc", "-o", "plane.nc", *words), 2)
    assert not (place.folder / "plane.nc").exists()


def test_several_grids_have_to_be_told_apart(tmp_path):
    path = write(tmp_path / "two.nc", name="first")
    with netcdf_file(path, "a", mmap=False) as file:
        made = file.createVariable("second", "f", ("lat", "lon"))
        made[:] = numpy.zeros((8, 10))
    with pytest.raises(FabricmarkError, match="several grids: first, second"):
        cut.cut(path, Wanted())


def test_a_plane_grid_is_not_cut_again(place, one_error_line):
    write(place.folder / "any.nc")
    assert place.run("bathymetry", "any.nc", "-o", "plane.nc").returncode == 0
    done = place.run("bathymetry", "plane.nc", "-o", "again.nc")
    assert "is a plane grid in metres already" in one_error_line(done, 2)


def test_damaged_files_end_in_a_line_or_a_grid(tmp_path):
    content = write(tmp_path / "whole.nc").read_bytes()
    path = tmp_path / "damaged.nc"
    draw = random.Random(7)
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(4, 320)] = draw.randrange(256)
        path.write_bytes(damaged[: draw.choice([len(damaged), draw.randrange(len(damaged))])])
        try:
            cut.cut(path, Wanted())
        except FabricmarkError:
            refused += 1
    assert refused > 50


def test_netcdf_4_is_read_through_its_library(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "runtimes", lambda: REPOSITORY / ".runtimes")
    try:
        library = packages.load("netCDF4")
    except FabricmarkError as error:
        pytest.skip(f"not installed here: {error}")
    longitude, latitude = GLOBE
    path = tmp_path / "gebco.nc"
    with library.Dataset(path, "w") as file:
        for name, places in (("lat", latitude), ("lon", longitude)):
            file.createDimension(name, len(places))
            file.createVariable(name, "f8", (name,))[:] = places
        made = file.createVariable("elevation", "i2", ("lat", "lon"), zlib=True)
        made.standard_name = "height_above_mean_sea_level"
        made[:] = numpy.rint(height(*numpy.meshgrid(longitude, latitude)))
    made = cut.cut(path, Wanted(longitude=(170, 190), latitude=(0, 10)))
    places = (made.frame.degrees()[0] + 180) % 360 - 180
    assert made.depth == pytest.approx(-height(*numpy.meshgrid(places, made.frame.degrees()[1])), abs=0.6)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(FabricmarkError, match="is damaged or cut"):
        cut.cut(path, Wanted())
