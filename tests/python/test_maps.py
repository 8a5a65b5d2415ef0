"""`fabricmark maps` and the report: pictures of what a run on a grid has written."""

import base64
import io
import json
import re

import numpy
import pytest
import samples
from fabricmark.grids import drawing, run_fields
from grid_samples import write_run
from PIL import Image

LAND = (0xB8, 0xB2, 0xA7)


def colours(content):
    return Image.open(io.BytesIO(content)).convert("RGB")


def share_of(picture, colour):
    """Of the picture, but for a rounding."""
    return (numpy.abs(numpy.asarray(picture, int) - colour) <= 2).all(axis=2).mean()


@pytest.mark.parametrize("degrees", [(140.0, 152.0, 32.0, 40.0), (170.0, 200.0, -5.0, 15.0), None])
def test_all_pictures_are_drawn(place, degrees):
    folder = write_run(place.folder / "waves", degrees=degrees)
    done = place.run("maps", folder)
    assert done.returncode == 0, done.stderr
    for name in ("largest", "arrival", "elevation"):
        picture = Image.open(folder / f"{name}.png").convert("RGB")
        assert picture.width == 960
        assert 0.03 < share_of(picture, LAND) < 0.3  # a sixth of the map
    film = Image.open(folder / "film.gif")
    assert film.format == "GIF" and film.n_frames == 3
    assert len([line for line in done.stdout.splitlines() if line.startswith("picture: ")]) == 4


def test_pictures_go_where_they_are_wanted(place):
    folder = write_run(place.folder / "waves", snapshots=0)
    assert place.run("maps", folder, "-o", "pictures").returncode == 0
    names = sorted(path.name for path in (place.folder / "pictures").iterdir())
    assert names == ["arrival.png", "elevation.png", "largest.png"]  # nothing moves without snapshots


def test_no_wave_and_no_land_are_drawn_as_well(tmp_path):
    folder = write_run(tmp_path, columns=3, rows=2)
    for name, value in (("largest", 0.0), ("elevation", 0.0), ("arrival", numpy.nan), ("depth", 100.0)):
        numpy.save(folder / f"{name}.npy", numpy.full((2, 3), value, "f4"))
    found = run_fields.load(folder)
    for draw in (drawing.largest_picture, drawing.arrival_picture, drawing.elevation_picture):
        assert colours(draw(found, "still")).width == 960


@pytest.mark.parametrize(("minutes", "each"), [(14, 1), (40, 5), (300, 20), (800, 60), (1e5, 720)])
def test_isochrones_are_few(minutes, each):
    assert drawing.isochrone_minutes(minutes) == each


BROKEN = {
    "none": (lambda folder: (folder / "grid.json").unlink(), "cannot read"),
    "other": (lambda folder: (folder / "grid.json").write_text("{}"), "is no description of a grid"),
    "text": (lambda folder: (folder / "grid.json").write_text("depth"), "is no description of a grid"),
    "size": (lambda folder: changed(folder, rows=17), "has not 24 x 17 cells"),
    "outside": (
        lambda folder: changed(folder, snapshots=[{"file": "../x.npy", "time_s": 1}]),
        "is no description of a grid",
    ),
    "degrees": (lambda folder: changed(folder, degrees=[1, 2, 3]), "is no description of a grid"),
    "no field": (lambda folder: (folder / "largest.npy").unlink(), "largest.npy: No such file"),
    "no numbers": (lambda folder: (folder / "arrival.npy").write_text("soon"), "cannot read"),
    "stations": (lambda folder: (folder / "stations.csv").write_text("a,b\n1,2\n"), "no records of gauges"),
}


def changed(folder, **values):
    path = folder / "grid.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize("name", BROKEN)
def test_broken_folders_get_one_line(place, one_error_line, name):
    corrupt, said = BROKEN[name]
    folder = write_run(place.folder / "waves")
    corrupt(folder)
    assert said in one_error_line(place.run("maps", folder), 2)
    assert not list(folder.glob("*.png"))


def test_the_page_of_a_report_has_them(place):
    write_run(place.results / "waves")
    document = samples.result()
    document["parameters"]["fields"] = "waves"
    place.write("run.json", document)
    done = place.run("report", "results", "--html", "report.html", "--png", "pictures")
    assert done.returncode == 0, done.stderr
    html = (place.folder / "report.html").read_text()
    found = re.findall(r'<img alt="([^"]+)" src="data:(image/\w+);base64,([^"]+)">', html)
    assert [mime for _, mime, _ in found] == ["image/gif", *["image/png"] * 3]
    assert share_of(colours(base64.b64decode(found[1][2])), LAND) > 0.03
    assert "station buoy (420.00 km, 325.00 km)" in html and "station port-2" in html
    (place.results / "waves" / "depth.npy").write_text("deep")
    assert place.run("report", "results", "--html", "report.html").returncode == 0
    html = (place.folder / "report.html").read_text()
    assert "<img" not in html and "are not drawn" in html
