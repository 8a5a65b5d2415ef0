"""`fabricmark compress` and `decompress`: files come back bit for bit, damaged ones are refused."""

import io
import json
import os
import subprocess

import fabricmark.codec
import numpy
import pytest
from conftest import REPOSITORY, one_error_line
from fabricmark.base.errors import FabricmarkError
from fabricmark.codec import parts
from scipy.io import netcdf_file

pytestmark = pytest.mark.programs

TESTS = REPOSITORY / "build/release/bin/codec_tests"


@pytest.fixture(autouse=True)
def built(place, monkeypatch):
    """The library of the build, for the commands and for calls in this process."""
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    place.environment["FABRICMARK_ROOT"] = str(REPOSITORY)


def waves(*shape, seed=1):
    """Smooth, with some noise in its last bits."""
    places = numpy.indices(shape)
    smooth = sum(numpy.sin(places[axis] / (20 + 7 * axis) + axis) for axis in range(len(shape)))
    return smooth + 1e-6 * numpy.random.default_rng(seed).standard_normal(shape)


def round_trip(place, path, *words):
    """Compresses, checks that all comes back, and returns (what was printed, ratio of the lengths)."""
    done = place.run("compress", path, *words)
    assert done.returncode == 0, done.stderr
    archive = path.with_name(path.name + ".fmc")
    before = path.read_bytes()
    path.unlink()
    assert place.run("decompress", archive).returncode == 0
    assert path.read_bytes() == before
    return done.stdout, len(before) / archive.stat().st_size


@pytest.mark.parametrize("type_", ["<f4", ">f4", "<f8", ">f8", "<i4", ">u4", "<i8", ">i8", "<u8"])
def test_arrays_of_numpy(place, tmp_path, type_):
    path = tmp_path / "field.npy"
    values = waves(60, 80) * (1 if "f" in type_ else 1000)
    numpy.save(path, values.astype(type_))
    said, ratio = round_trip(place, path)
    assert "60 x 80" in said and ratio > 1.1


def test_the_layout_of_an_array_is_found(place, tmp_path):
    path = tmp_path / "cells.npy"
    numpy.save(path, waves(50, 70, 9).astype("f4"))
    said, _ = round_trip(place, path, "--predictor", "2d", "--lanes", "4")
    assert "2d" in said and " 4 " in said
    archive = (tmp_path / "cells.npy.fmc").read_bytes()
    text = archive[archive.index(b"{") : archive.index(b"]}]}") + 4]
    assert json.loads(text) == {
        "kind": "npy", "arrays": [{"name": "", "type": "<f4", "shape": [50, 70, 9]}]
    }  # fmt: skip
    by_columns = tmp_path / "fortran.npy"
    numpy.save(by_columns, numpy.asfortranarray(waves(50, 70).astype("f4")))
    assert "70 x 50" in round_trip(place, by_columns)[0]


def test_auto_takes_the_better_predictor(place, tmp_path):
    path = tmp_path / "field.npy"
    numpy.save(path, waves(200, 300).astype("f4"))
    lengths = {}
    for predictor in ("1d", "lorenzo", "2d", "smooth", "auto"):
        place.run("compress", path, "-o", f"{predictor}.fmc", "--predictor", predictor)
        lengths[predictor] = (place.folder / f"{predictor}.fmc").stat().st_size
    assert lengths["auto"] == min(lengths.values())


def test_plain_numbers(place, tmp_path):
    path = tmp_path / "cells.bin"
    path.write_bytes(waves(30, 40, 10).astype("f4").tobytes() + b"end")
    said, ratio = round_trip(place, path, "--type", "float32", "--channels", "10", "--columns", "40")
    assert ratio > 1.1 and "12000" in said


def written(path, records):
    """A classic file with coordinates, a grid, packed numbers, letters and variables that grow."""
    with netcdf_file(path, "w", version=2) as file:
        for name, length in (("time", None), ("y", 60), ("x", 90), ("letters", 5)):
            file.createDimension(name, length)
        file.title = "a test"
        file.createVariable("x", "d", ("x",))[:] = numpy.arange(90) * 0.5
        file.createVariable("depth", "f", ("y", "x"))[:] = waves(60, 90)
        file.createVariable("packed", "h", ("y", "x"))[:] = (100 * waves(60, 90)).astype("i2")
        file.createVariable("name", "c", ("letters",))[:] = numpy.array(list("depth"), "S1")
        file.createVariable("step", "i", ())
        time = file.createVariable("time", "d", ("time",))
        wave = file.createVariable("wave", "f", ("time", "y", "x"))
        for record in range(records):
            time[record] = record
            wave[record] = waves(60, 90, seed=record)
    return path


@pytest.mark.parametrize("records", [0, 1, 7])
def test_netcdf(place, tmp_path, records):
    said, ratio = round_trip(place, written(tmp_path / "run.nc", records))
    assert "depth" in said and "packed" in said and "kept as it is" in said
    assert ratio > 1.1 and ("wave" in said) == (records > 0)


def test_values_that_are_no_numbers_come_back(place, tmp_path):
    path = tmp_path / "odd.npy"
    values = waves(40, 50).astype("f4")
    bits = values.view("u4")
    bits[3, ::2] = 0x7FC01234  # NaN, with what it carries
    bits[4, ::3] = 0x80000000  # -0
    values[5] = -numpy.inf
    bits[6] = numpy.arange(50)  # denormals
    numpy.save(path, values)
    round_trip(place, path)


def test_noise_does_not_grow(place, tmp_path):
    path = tmp_path / "noise.npy"
    numpy.save(path, numpy.random.default_rng(2).integers(0, 2**32, 20000, dtype="u4"))
    said, ratio = round_trip(place, path)
    assert "kept as it is" in said and ratio > 0.99


def test_arrays_in_memory():
    values = waves(40, 50, 9).astype("f4")
    archive = fabricmark.codec.compress(values, predictor="2d", lanes=2)
    back = fabricmark.codec.decompress(archive)
    assert back.dtype == values.dtype and back.tobytes() == values.tobytes()
    assert len(archive) < values.nbytes
    with pytest.raises(FabricmarkError, match="cannot be decompressed"):
        fabricmark.codec.decompress(archive[:-9])


@pytest.mark.parametrize(
    ("content", "words", "said"),
    [
        (b"text", (), "neither NetCDF nor .npy"),
        (b"\x89HDF\r\n\x1a\n", (), "NetCDF-4"),
        (b"\x93NUMPY\x01", (), "damaged .npy"),
        (b"CDF\x01\0\0", (), "damaged"),
        (bytes(1200), ("--type", "float32", "--channels", "7"), "no cells of 7"),
        (b"", ("--type", "float16"), "float16"),
        (bytes(8), ("--type", "int32", "--lanes", "3"), "--lanes"),
        (bytes(8), ("--type", "int32", "--columns", "0"), "--columns"),
        (None, (), "cannot read"),
    ],
)
def test_what_cannot_be_compressed_is_refused(place, content, words, said):
    if content is not None:
        (place.folder / "file").write_bytes(content)
    assert said in one_error_line(place.run("compress", "file", *words), 2)
    assert not (place.folder / "file.fmc").exists()


def test_an_array_that_is_cut_is_refused(place, tmp_path):
    path = tmp_path / "field.npy"
    numpy.save(path, waves(60, 80))
    path.write_bytes(path.read_bytes()[:-100])
    assert "is cut" in one_error_line(place.run("compress", path), 2)


@pytest.mark.parametrize("where", ["magic", "head", "coded", "end", "all", "more"])
def test_damaged_archives_are_refused(place, tmp_path, where):
    path = tmp_path / "field.npy"
    numpy.save(path, waves(60, 80))
    place.run("compress", path, "-o", "field.fmc")
    archive = bytearray((place.folder / "field.fmc").read_bytes())
    at = {"magic": 1, "head": 70, "coded": 1000}.get(where)
    if at is not None:
        archive[at] ^= 16
    archive = {"end": archive[:-1], "all": b"", "more": archive + b"x"}.get(where, archive)
    (place.folder / "field.fmc").write_bytes(archive)
    line = one_error_line(place.run("decompress", "field.fmc", "-o", "back.npy"), 2)
    assert "field.fmc cannot be decompressed" in line
    assert not (place.folder / "back.npy").exists()


def test_an_archive_of_another_name_needs_one_for_its_file(place):
    (place.folder / "archive").write_bytes(b"")
    assert "--output" in one_error_line(place.run("decompress", "archive"), 2)


def test_without_the_library_one_line_says_so(place, tmp_path, monkeypatch):
    place.environment["FABRICMARK_PRESET"] = "none"
    (place.folder / "numbers").write_bytes(bytes(4000))
    line = one_error_line(place.run("compress", "numbers", "--type", "int32"), 3)
    assert "libfabricmark_codec.so is not built" in line


def test_short_arrays_are_kept():
    layout = parts.of_npy("a", _npy(numpy.zeros(3)), parts.Wanted())
    assert not layout.arrays[0].is_coded


def _npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


@pytest.mark.full
def test_a_hundred_million_patterns():
    done = subprocess.run(
        [TESTS, "--gtest_filter=Codec.GivesBackEachBitOfEveryPattern"],
        env={**os.environ, "FABRICMARK_CODEC_PATTERNS": "100000000"},
        capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
