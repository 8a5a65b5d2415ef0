"""docs/clock_sweep.svg and the table below it: what tools/clock_sweep.py draws and writes."""

import json
import re
from dataclasses import replace

import clock_sweep
import doc_pages
import pytest

AGAIN = "draw it again: .venv/bin/python tools/clock_sweep.py"
B_EFF = clock_sweep.Sweep("b_eff", "noctua1")
PTRANS = clock_sweep.Sweep("ptrans", "noctua1", 32768)
NEAR = clock_sweep.Found({1: 10.0, 4: 41.0, 9: 90.0}, {1: 10.0, 4: 40.0, 9: 91.8}, {1: 10.0, 4: 40.0}, "GB/s")


def numbers(picture):
    """Every coordinate of a picture, however matplotlib wrote it."""
    return [float(word) for word in re.findall(r"-?\d+\.\d+", picture)]


@pytest.mark.full
@pytest.mark.programs
@pytest.mark.usefixtures("of_the_repository")
def test_picture_and_table_are_of_these_programs():
    found = clock_sweep.sweeps()
    drawn = clock_sweep.svg(found)
    assert drawn == clock_sweep.svg(found)
    assert numbers(clock_sweep.PICTURE.read_text()) == pytest.approx(numbers(drawn.decode()), abs=1e-3), AGAIN
    page = clock_sweep.PAGE.read_text(encoding="utf-8")
    assert clock_sweep.page(page, found) == page, AGAIN
    wrong = {
        sweep: replace(by, clock={n: 1.1 * x for n, x in by.clock.items()}) for sweep, by in found.items()
    }
    assert clock_sweep.page(page, wrong) != page
    assert numbers(clock_sweep.svg(wrong).decode()) != pytest.approx(numbers(drawn.decode()), abs=1e-3)


def test_the_page_shows_the_picture_and_its_table():
    page = clock_sweep.PAGE.read_text(encoding="utf-8")
    assert f"]({clock_sweep.PICTURE.name})" in page and clock_sweep.PICTURE.exists()
    lines = page.partition(clock_sweep.MARK)[2].partition(doc_pages.END)[0].strip().splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| b_eff", "| hpl", "| ptrans"]
    assert all(line.count(" %") == 3 for line in lines[2:])
    with pytest.raises(SystemExit, match="has no lines"):
        clock_sweep.page(page.replace(clock_sweep.MARK, ""), {})


def test_the_largest_difference_is_named():
    assert NEAR.largest("clock", "published") == (0.025, 4)
    assert NEAR.largest("clock", "closed") == (0.025, 4)
    assert NEAR.largest("closed", "published") == (0, 4)
    other = replace(NEAR, clock={**NEAR.clock, 1: 9.0})
    found = {B_EFF: NEAR, clock_sweep.Sweep("b_eff", "cygnus"): other}
    assert clock_sweep.largest(found, "clock", "published") == (0.1, "cygnus, 1 device")
    assert clock_sweep.largest(found, "closed", "published")[1] == "noctua1, 4 devices"


def test_every_line_has_published_values():
    devices = {sweep: sorted(rows) for sweep, rows in clock_sweep.published_rows().items()}
    assert devices == {
        B_EFF: [1, 2, 4, 16],
        PTRANS: [1, 4, 16],
        clock_sweep.Sweep("hpl", "noctua1", 24576): [1, 4, 16],
        clock_sweep.Sweep("hpl", "cygnus", 24576): [1, 64],
        clock_sweep.Sweep("hpl", "cygnus", 3072): [1, 64],
    }


@pytest.mark.programs
@pytest.mark.usefixtures("of_the_repository")
def test_published_values_are_in_the_unit_of_the_metric():
    """Meyer 2024, Tables 4.8 and 4.10."""
    printed = {PTRANS: (16, 293.45), clock_sweep.Sweep("hpl", "cygnus", 3072): (64, 8480)}
    for sweep, (devices, value) in printed.items():
        point = next(one for one in clock_sweep.closed_form(sweep) if one.devices == devices)
        row = clock_sweep.published_rows()[sweep][devices]
        assert clock_sweep.measured(row, point) == pytest.approx(value, rel=1e-3)


@pytest.mark.programs
@pytest.mark.usefixtures("of_the_repository")
def test_the_clock_is_that_of_the_described_system(monkeypatch, tmp_path):
    point = next(one for one in clock_sweep.closed_form(B_EFF) if one.devices == 2)
    published = clock_sweep.measured(clock_sweep.published_rows()[B_EFF][2], point)
    assert clock_sweep.clock(B_EFF, point, tmp_path) == pytest.approx(published, rel=0.03)
    document = json.loads(clock_sweep.export.text("noctua1", "fitted"))
    values = next(one["values"] for one in document["networks"] if one["kind"] == "direct")
    values["latency_seconds"]["value"] *= 1.5
    monkeypatch.setattr(clock_sweep.export, "text", lambda *_: json.dumps(document))
    assert clock_sweep.clock(B_EFF, point, tmp_path) < 0.95 * published
    monkeypatch.setattr(clock_sweep.export, "text", lambda *_: "{}")
    with pytest.raises(SystemExit, match=r"fm_b_eff .*error"):
        clock_sweep.clock(B_EFF, point, tmp_path)
