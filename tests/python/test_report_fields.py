"""Fields of a run in the report: film, pictures, map of parts, and curves at stations beside a reference."""

import base64
import io
import json
import re
from pathlib import Path

import numpy
import pytest
import samples
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import launch, running
from fabricmark.measure.launch import Job
from fabricmark.mesh import tool
from fabricmark.report import fields, stations
from meshes import write_fields, write_stations
from PIL import Image

pytestmark = pytest.mark.programs


@pytest.fixture
def run(place):
    """A place with a result whose run has written fields."""
    folder = place.results / "fields"
    folder.mkdir(parents=True)
    tool.ask("arrays", "bay:400", folder)
    write_fields(folder, tool.arrays("bay:400")[0])
    document = samples.result()
    document["parameters"]["fields"] = "fields"
    place.write("run.json", document)
    return place


def page(place, *words):
    done = place.run("report", "results", "--html", "report.html", *words)
    assert done.returncode == 0, done.stderr
    return (place.folder / "report.html").read_text()


def test_film_pictures_and_map_are_in_the_page(run):
    html = page(run, "--png", "pictures")
    found = re.findall(r'<img alt="([^"]+)" src="data:(image/\w+);base64,([^"]+)">', html)
    assert [mime for _, mime, _ in found] == ["image/gif", "image/png", "image/png"]
    assert "img-src data:" in html and "surface elevation after 2.00 h" in html and "map of 3 parts" in html
    assert all(said.startswith("stream, ") for said, _, _ in found)
    film = Image.open(io.BytesIO(base64.b64decode(found[0][2])))
    assert film.format == "GIF" and film.n_frames == 3
    frames = []
    for number in range(3):
        film.seek(number)
        frames.append(numpy.asarray(film.convert("RGB")))
    assert (frames[0] != frames[2]).any()
    names = {path.name.split("-")[1] for path in (run.folder / "pictures").glob("stream-*.???")}
    assert {"film", "elevation", "parts", "station"} <= names


def test_stations_stand_beside_a_reference(run):
    reference = run.folder / "reference.csv"
    write_stations(reference, shift=0.005)
    html = page(run, "--reference", reference)
    assert "station 2 (0.20 km, 0.20 km)" in html and "velocity to the north (v)" in html
    assert "RMS difference from the reference over the last 12 h of both: 5 mm." in html
    assert "over the last 12 h of both: 0 mm/s." in html


def test_differences_are_those_of_common_times():
    times = [600.0 * i for i in range(100)]
    known = stations.Curve(0, 0, {"time_s": times, "xi_m": [0.0] * 100})
    late = stations.Curve(
        0, 0, {"time_s": [t + 300 for t in times], "xi_m": [3.0 + (i >= 50) for i in range(100)]}
    )
    assert stations.difference(late, known, "xi_m", 1.0) == 4
    assert stations.difference(late, known, "xi_m", 100.0) == pytest.approx((12.5 - 7 / 198) ** 0.5, rel=1e-3)
    apart = stations.Curve(0, 0, {"time_s": [1e9], "xi_m": [0.0]})
    assert stations.difference(apart, known, "xi_m", 12.0) is None


def test_no_reference_no_fields_no_pictures(place):
    place.write("run.json", samples.result())
    html = page(place)
    assert "<img" not in html and "<h3>Fields" not in html and "<h3>Stations" not in html


def test_a_folder_that_is_gone_is_no_fault(run):
    document = samples.result()
    document["parameters"]["fields"] = "/nowhere/at/all"
    run.write("run.json", document)
    assert "<img" not in page(run)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("snapshots.json", "{", "is no list of snapshots"),
        ("snapshots.json", json.dumps({"schema": "other", "snapshots": []}), "is no list of snapshots"),
        (
            "snapshots.json",
            json.dumps({"schema": fields.FORMAT, "snapshots": [{"file": "../x.npy", "time_s": 0}]}),
            "is no list of snapshots",
        ),
        ("xi_0001.npy", "not an array", "cannot read"),
        ("elements.npy", "not an array", "cannot read"),
    ],
)
def test_broken_fields_are_told_in_the_page(run, name, content, said):
    (run.results / "fields" / name).write_text(content)
    html = page(run)
    assert said in html and "<img" not in html


def test_fields_of_another_mesh_are_told(run):
    numpy.save(run.results / "fields" / "xi_0002.npy", numpy.zeros(7))
    assert "has not one value for each of 400 elements" in page(run)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0,1,2", "line 4 is no record of a station"),
        ("600,1,1,1,nan,0,0", "line 4 is no record of a station"),
        ("0,1,1,1,0,0,0", "line 4: the time of station 1 does not grow"),
    ],
)
def test_wrong_references(run, one_error_line, line, said):
    path = run.folder / "reference.csv"
    write_stations(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], line, *lines[4:]]) + "\n")
    words = ("report", "results", "--html", "report.html", "--reference", path)
    done = run.run(*words)
    assert said in done.stderr and done.returncode == 2 and "Traceback" not in done.stderr
    assert not (run.folder / "report.html").exists()


def test_a_reference_that_is_none(run, tmp_path):
    for content in ("", "a,b\n"):
        (tmp_path / "x.csv").write_text(content)
        with pytest.raises(FabricmarkError, match="has other columns"):
            stations.read(tmp_path / "x.csv")
    with pytest.raises(FabricmarkError, match="cannot read"):
        stations.read(tmp_path / "none.csv")


def write_flow(folder, rows=6, columns=9):
    folder.mkdir(parents=True)
    cells = numpy.zeros((rows * columns, 10), dtype=numpy.float32)
    cells[:columns, 9] = 1  # a wall
    for name, values in (("cells", cells), *((name, numpy.ones((rows, columns))) for name in "uv")):
        numpy.save(folder / f"{name}.npy", values)


def write_illustration(place):
    document = samples.result()
    document["parameters"] |= {"fields": "gone/flow-fields", "steps": 12, "case": "cylinder"}
    place.write("run.json", samples.result())
    write_flow(place.results / "fields" / "flow-fields")
    place.write("fields/flow.json", document)


def test_of_runs_for_pictures_nothing_else_is_shown(place):
    write_illustration(place)
    html = page(place)
    found = re.findall(r'<img alt="([^"]+)" src="data:(image/\w+);base64,([^"]+)">', html)
    assert [mime for _, mime, _ in found] == ["image/png"]
    assert (
        "speed after 12 steps, case cylinder" in found[0][0]
        and "1 valid" in place.run("report", "results").stdout
    )
    assert (
        Image.open(io.BytesIO(base64.b64decode(found[0][2]))).info["Description"].endswith("map of the speed")
    )


def test_fields_of_a_flow_that_do_not_fit_are_told(place):
    write_illustration(place)
    numpy.save(place.results / "fields" / "flow-fields" / "u.npy", numpy.ones((3, 3)))
    html = page(place)
    assert "<img" not in html and "have different shapes" in html


def test_each_application_has_a_run_for_pictures():
    device = {"emulated": False, "name": "d", "platform_index": 0, "device_index": 0}
    todo = [
        Job(name, "system", one, 2, None, Path("out"), ("--repetitions", "5"))
        for name in ("stream", "lbm", "tsunami", "shallow_water")
        for one in (device | {"emulated": True}, device, device)
    ]
    found = list(running.illustrations(todo))
    assert [job.benchmark for job in found] == ["lbm", "tsunami", "shallow_water"]
    for job in found:
        assert job.output == Path("out/fields") and job.ranks == 1 and job.device == device
        assert launch.fields_option(job, Path("out/fields/x.json")) == ["--fields", "out/fields/x-fields"]
    assert not launch.fields_option(todo[4], Path("x.json"))
