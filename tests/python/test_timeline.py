"""Modelled timelines: their schema, what the report draws of them, and files that are damaged."""

import json
from pathlib import Path

import pytest
import samples
from fabricmark import results
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.report import groups, outputs, svg, waits
from fabricmark.results import timeline
from test_report_page import HOSTILE, Elements

# What a unit test sees the dataflow fabric write (tests/unit/dataflow_timeline_test.cpp).
WRITTEN = json.loads((Path(__file__).parents[1] / "pipeline.timeline.json").read_text())


def series(lane="consume", kind="compute", activities=((0.0, 1e-6, 1e-6, 1),), **more):
    entry = {"device": 0, "lane": lane, "kind": kind, "what": "", "whom": ""}
    return {**entry, "activities": [list(each) for each in activities], **more}


def document(*entries, **more):
    head = {"schema": timeline.SCHEMA, "program": "pipe", "title": "two kernels", "kind": "modelled"}
    counts = {"resolution": 0.0, "left_out": {"count": 0, "seconds": 0.0}}
    return {**head, **counts, "series": list(entries), **more}


def drawn(*entries, **more):
    return waits.of_file(timeline.made(Path("pipe.timeline.json"), document(*entries, **more)))


def test_what_the_fabric_writes_is_valid_and_drawn():
    assert timeline.first_fault_of(WRITTEN) is None
    plot = waits.of_file(timeline.made(Path("pipeline.timeline.json"), WRITTEN))
    assert list(plot.rows) == ["device 0, host", "device 0, produce", "device 0, consume"]
    assert [entry.name for entry in plot.series] == [
        "computes (modelled)", "waits for a word (modelled)", "waits for space (modelled)",
        "waits for memory (modelled)", "launch (modelled)",
    ]  # fmt: skip
    space = plot.series[2]
    assert list(zip(space.base, space.x, space.y, strict=True)) == [
        (pytest.approx(13e-9), pytest.approx(2e-9), 1), (pytest.approx(16e-9), pytest.approx(2e-9), 1),
    ]  # fmt: skip
    said = "produce of device 0 waits for space in words, which consume reads: 2 ns, 13 ns to 15 ns"
    assert space.hover[0] == said
    assert (
        "Longest waits: consume of device 0 waits for memory (7 ns, 35 % of its time); produce"
        in plot.left_out
    )


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda d: d.update(kind="measured"), "kind"),
        (lambda d: d.update(more=1), "the document"),
        (lambda d: d["series"][0].update(kind="sleeps"), "series[0].kind"),
        (lambda d: d["series"][0].update(lane=""), "series[0].lane"),
        (lambda d: d["series"][0]["activities"].append([9e-6, 8e-6, 1e-6, 1]), "series[0].activities[1]"),
        (lambda d: d["series"][0]["activities"].append([0.5e-6, 2e-6, 1e-6, 1]), "series[0].activities[1]"),
        (lambda d: d["series"][0]["activities"].append([2e-6, 3e-6, 0, 1]), "series[0].activities[1]"),
        (lambda d: d["series"][0]["activities"].append([2e-6, 3e-6, 1e-6, 0]), "series[0].activities[1][3]"),
        (lambda d: d["series"][0]["activities"].append([2e-6, 3e-6, 1e-6]), "series[0].activities[1]"),
        (lambda d: d.pop("left_out"), "the document"),
    ],
)
def test_damaged_timelines_have_one_line(place, one_error_line, change, key):
    damaged = document(series())
    change(damaged)
    place.write("bad.timeline.json", damaged)
    place.write("good.timeline.json", document(series()))
    done = place.run("report", "results", "--html", "report.html")
    assert f"bad.timeline.json: {key}: " in one_error_line(done, 2)
    html = (place.folder / "report.html").read_text()
    assert "two kernels" in html and "bad.timeline.json" in html  # the other one is drawn


def test_newer_versions_are_named(place, one_error_line):
    place.write("a.timeline.json", document(series(), schema="fabricmark-timeline/2"))
    done = place.run("report", "results")
    assert "written by a newer version (fabricmark-timeline/2)" in one_error_line(done, 2)


def test_result_files_may_hold_one(place):
    run = samples.result()
    run["modelled_timeline"] = document(series(kind="wait-for-word", what="rows", whom="load"), title="")
    assert first_fault("result-2", run) is None
    place.write("run.json", run)
    (plot,) = waits.plots(groups.make([results.load(place.results / "run.json")]))
    assert plot.title == "stream: modelled timeline, base kernel, sample-cpu"
    assert waits.plots(groups.make([results.load(place.write("plain.json", samples.result()))])) == []
    place.write("beside.timeline.json", document(series()))  # a folder of results may hold others
    done = place.run("report", "results", "--full", "--html", "report.html")
    assert done.returncode == 0, done.stderr
    assert (
        "run.json, modelled timeline: Longest waits: consume of device 0 waits for a word of rows"
        in done.stdout
    )
    assert "beside.timeline.json, modelled timeline: Nobody waited." in done.stdout
    html = (place.folder / "report.html").read_text()
    assert html.count("<b>modelled timeline</b>") == 2


def test_a_wrong_one_in_a_result_file_is_found(place):
    run = samples.result()
    run["modelled_timeline"] = document(series(activities=[(2, 1, 1, 1)]))
    with pytest.raises(
        FabricmarkError, match=r"modelled_timeline.series\[0\].activities\[0\]: it ends at 1 s"
    ):
        results.load(place.write("run.json", run))


def test_lanes_stand_by_device_with_links_last():
    plot = drawn(
        series("b", device=1),
        series("link 0 to 1", "link"),
        series("late", activities=[(5e-6, 6e-6, 1e-6, 1)]),
        series("early"),
    )
    rows = ["device 0, early", "device 0, late", "device 0, link 0 to 1", "device 1, b"]
    assert list(plot.rows) == rows


def test_bars_are_as_high_as_their_part_of_the_time():
    plot = drawn(
        series(activities=[(0, 1e-6, 0.25e-6, 100)]),
        series(kind="wait-for-word", what="a", activities=[(0, 1e-6, 0.5e-6, 100)]),
        series(kind="wait-for-space", what="b", activities=[(0, 1e-6, 0.25e-6, 100)]),
        resolution=1e-9,
    )
    computes, _, _ = plot.series
    assert [entry.bands for entry in plot.series] == [[(0.75, 1.0)], [(0.25, 0.75)], [(0.0, 0.25)]]
    assert "100 pieces" in computes.hover[0]
    assert "they stand for that part of the time" in plot.left_out
    heights = [0.25, 0.5, 0.25]
    picture = svg.draw(plot)
    assert [f'height="{svg.number(part * (svg.BAND - 3))}"' in picture for part in heights] == [True] * 3


def test_many_activities_are_joined_and_no_time_is_lost():
    many = [(i * 1e-6, i * 1e-6 + 0.4e-6, 0.4e-6, 1) for i in range(20_000)]
    plot = drawn(series(activities=many), series(kind="wait-for-word", what="a", activities=many))
    assert sum(len(entry.x) for entry in plot.series) <= waits.MOST_BARS
    assert "8 ms, 40 % of its time" in plot.left_out
    assert all(low == pytest.approx(0.6, abs=0.05) for low, _ in plot.series[0].bands)


def test_few_of_many_lanes_are_drawn_and_those_that_waited_are_among_them():
    entries = [series(f"k{i:03}", device=i) for i in range(waits.MOST_LANES + 20)]
    entries.append(series("k119", "wait-for-word", [(1e-6, 2e-6, 1e-6, 1)], device=119, what="a"))
    plot = drawn(*entries)
    assert len(plot.rows) == waits.MOST_LANES
    assert "device 119, k119" in plot.rows
    assert "20 further rows" in plot.left_out


def test_what_a_run_did_not_keep_is_said():
    plot = drawn(series(), left_out={"count": 17, "seconds": 1.0})
    assert "17 activities were not recorded" in plot.left_out


def test_names_are_text_and_ticks_have_prefixes(place):
    entry = series(HOSTILE, "wait-for-word", what=HOSTILE, whom=HOSTILE)
    path = place.write("a.timeline.json", document(entry, program=HOSTILE, title=HOSTILE))
    assert outputs.main([path], place.folder / "a.html", place.folder / "png", None).errors == []
    html = (place.folder / "a.html").read_text()
    elements = Elements(html)
    assert [tag for tag, _ in elements.found if tag in ("script", "img")] == ["script"]  # its own
    assert "<script>alert(1)</script>" in " ".join(elements.text)
    assert "modelled time" in html and ">0.5 us<" in html
    assert len(list((place.folder / "png").iterdir())) == 1


def test_no_series_is_a_plot_too():
    assert timeline.first_fault_of(document()) is None
    plot = drawn()
    assert plot.left_out.startswith("Nobody waited.")
    assert "<svg" in svg.draw(plot)
