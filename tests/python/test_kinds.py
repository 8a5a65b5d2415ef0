"""Kinds of time: each metric has its own, and what reads result files keeps them apart, also in old files."""

import csv
import dataclasses
import io
import json
import re

import pytest
import samples
from fabricmark import results
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board
from fabricmark.report import groups, headlines, run_tables, tables
from fabricmark.report.gantt import plots as timelines
from fabricmark.results import scaling

EMULATOR = {**samples.DEVICE, "name": "sample-emulator", "class": "emulator", "emulated": True}


def mixed(factor=1.0, **how):
    """Copy and Triad as measured, and the same as modelled, twice as fast."""
    document = samples.result(operations=("copy", "triad"), **how)
    times = (tuple(factor * seconds for seconds in (0.005, 0.006, 0.0055)),) * how.get("ranks", 1)
    document["measurements"] += [samples.measurement(name, times, "modelled") for name in ("copy", "triad")]
    return document


def load(place, document, name="one.json"):
    return results.load(place.write(name, document))


@pytest.mark.parametrize(
    "document", [samples.result(ranks=2), samples.b_eff(), samples.result(kind="emulated", device=EMULATOR)]
)
def test_files_of_version_1_are_read_as_those_of_version_2(place, document):
    old = samples.of_version_1(document)
    loaded = load(place, old)
    assert loaded.document == document and loaded.verdict() == "valid"
    assert loaded.measurements == load(place, document, "two.json").measurements
    assert old["schema"] == "fabricmark-result/1"


def test_a_folder_of_both_versions(place):
    documents = [samples.result(ranks=ranks) for ranks in (1, 2, 1, 2)]
    for number, document in enumerate(documents):
        document["run"]["started"] = f"2026-11-21T01:02:{number:02}Z"
        old = number % 2 == 0
        place.write(f"{number}.json", samples.of_version_1(document) if old else document)
    done = place.run("report", "results", "--csv", "all.csv", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((place.folder / "all.csv").read_text())))
    assert len(rows) == 4 * len(samples.STREAMS) and {row["verdict"] for row in rows} == {"valid"}
    done = place.run("compare", "--base", "results/0.json", "--new", "results/2.json")
    assert done.returncode == 0, done.stderr
    done = place.run(
        "compare", "--base", "results/0.json", "--new", "results/3.json", "--ignore", "ranks,ranks-kind"
    )
    assert "bandwidth triad" in done.stdout, done.stderr
    runs = [scaling.Run(n, None, results.load(place.results / f"{n - 1}.json")) for n in (1, 2)]
    assert all(len(entry.best) == 2 for entry in scaling.series("weak", runs, scaling.Design()))


@pytest.mark.parametrize("claim", ["measured", "emulated"])
def test_a_modelled_metric_that_says_otherwise_is_refused(place, claim):
    document = mixed()
    document["measurements"][2]["kind"] = claim
    with pytest.raises(FabricmarkError, match=r"measurements\[2\].samples.kind"):
        load(place, document)


def test_modelled_times_may_be_zero_on_some_ranks_only(place):
    document = samples.result(ranks=2, operations=("copy",))
    times = ((0.0, 0.0, 0.0), (0.01, 0.02, 0.03))
    document["measurements"].append(samples.measurement("copy", times, "modelled"))
    assert load(place, document).measurements[1].seconds() == [0.01, 0.02, 0.03]
    document["measurements"][1]["samples"]["per_rank"][1][2] = 0.0
    with pytest.raises(FabricmarkError, match="took no time"):
        load(place, document)


def test_only_measured_metrics_have_model_limit_and_efficiency(calibrated):
    done = calibrated.run("report", calibrated.write("one.json", mixed()), "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["kind"] for row in rows] == ["measured"] * 2 + ["modelled"] * 2
    for row in rows:
        has = row["kind"] == "measured"
        assert [bool(row[name]) for name in ("modelled", "limit", "efficiency")] == [has] * 3


def test_a_metric_of_an_emulated_kind_has_no_limit_on_any_device(calibrated):
    path = calibrated.write("one.json", samples.result(kind="emulated", operations=("triad",)))
    (row,) = csv.DictReader(io.StringIO(calibrated.run("report", path, "--csv", "-").stdout))
    assert not row["limit"] and not row["efficiency"]
    done = calibrated.run("report", path, "--full")
    assert "systems new" not in done.stdout


def test_models_see_measured_steps_only(place, monkeypatch):
    seen = []
    model = type("model", (), {"predict": lambda *_, measurements, **__: seen.extend(measurements) or []})
    monkeypatch.setattr(run_tables.models, "find", lambda _: model)
    monkeypatch.setattr(run_tables.models, "within_limits", lambda found, _: found)
    known = type("known", (), {"arguments": lambda *_: {}, "board": Board("any", "cpu")})()
    run_tables.predictions(load(place, mixed()), known)
    assert [entry.kind for entry in seen] == ["measured"] * 2


def test_each_kind_has_its_headline(place):
    (group,) = groups.make([load(place, mixed())])
    found = headlines.make([group])
    assert [entry.kind for entry in found] == ["measured", "modelled"]
    assert found[1].metric.row.best == pytest.approx(2 * found[0].metric.row.best)


def test_watts_are_of_what_was_measured(place):
    document = {**mixed(), "energy": [samples.energy()]}
    (group,) = groups.make([load(place, document)])
    cells = {m.row.kind: tables.power_cells(m, tables.power(group)) for m in group.metrics}
    assert "GB/s/W" in cells["measured"] and "GB/s/W" not in cells["modelled"]


# Meyer 2024, Tables 3.11 and 3.12: best of the operations, peak [W], and per watt as printed.
TABLES_OF_POWER = [
    (70.08, 76.78, 0.91), (340.41, 73.8, 4.61), (378.55, 59.98, 6.31), (34.67, 47.09, 0.74),
    (20.43, 55.21, 0.37), (183.99, 344.91, 0.53), (727.58, 87.38, 8.33), (771.99, 64.73, 11.93),
    (615.14, 71.48, 8.61), (270.87, 72.42, 3.74), (689.31, 80.39, 8.57), (4552.19, 362.10, 12.57),
]  # fmt: skip


@pytest.mark.parametrize("best, peak, printed", TABLES_OF_POWER)
def test_per_watt_is_that_of_the_tables(place, best, peak, printed):
    (group,) = groups.make([load(place, samples.result(operations=("triad",)))])
    (metric,) = group.metrics
    metric = dataclasses.replace(metric, row=dataclasses.replace(metric.row, best=best))
    cells = tables.power_cells(metric, tables.Power("xrt", 0.9 * peak, peak, 1.0))
    (shown,) = re.findall(r">([0-9.]+) GB/s/W<", cells)
    assert float(shown) == pytest.approx(printed, abs=0.0051)


def test_timelines_are_of_the_wall_clock(place):
    document = {**mixed(), "timeline": samples.timeline()}
    document["measurements"].reverse()
    (group,) = groups.make([load(place, document)])
    assert {series.name.rpartition(" ")[2] for series in timelines([group])[0].series} == {"(measured)"}


def test_comparisons_keep_kinds_apart(place):
    for name, document in (
        ("a", mixed()),
        ("b", mixed(1.5)),
        ("c", samples.result(operations=("copy", "triad"))),
    ):
        place.write(f"{name}.json", document)
    done = place.run("compare", "--base", "results/a.json", "--new", "results/b.json", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((place.folder / "found.json").read_text())["metrics"]
    ratios = {(m["axes"]["operation"], m["kind"]): m["ratio"] for m in found}
    assert len(ratios) == 4
    for operation in ("copy", "triad"):
        assert ratios[operation, "measured"] == pytest.approx(1)
        assert ratios[operation, "modelled"] == pytest.approx(1 / 1.5)
    done = place.run("compare", "--base", "results/a.json", "--new", "results/c.json")
    assert "bandwidth copy (modelled): only in the base runs" in done.stderr
    assert "bandwidth copy:" not in done.stderr
    for name, kind in (("d", "measured"), ("e", "modelled")):
        place.write(f"{name}.json", samples.result(operations=("copy",), kind=kind))
    done = place.run("compare", "--base", "results/d.json", "--new", "results/e.json")
    assert done.returncode == 2 and "are never compared" in done.stderr


def test_modelled_times_scale_whatever_devices_ran_them(place):
    runs = [scaling.Run(n, None, load(place, mixed(ranks=n), f"{n}.json")) for n in (1, 2)]
    found = {(entry.operation, entry.kind): entry for entry in scaling.series("weak", runs, scaling.Design())}
    assert found["copy", "modelled"].efficiency == pytest.approx([1, 1])
    assert found["copy", "measured"].efficiency == [1, None]  # both ranks were on one device


def test_derived_metrics_follow_from_those_of_their_kind(place):
    document, other = samples.b_eff(sizes=(1, 1024)), samples.b_eff(sizes=(1, 1024), kind="modelled")
    for entry in other["measurements"]:
        if entry["work"]:
            entry["samples"]["per_rank"] = [[2 * t for t in rank] for rank in entry["samples"]["per_rank"]]
            entry.update({key: entry[key] / 2 for key in ("best", "median", "mean", "minimum", "maximum")})
    effective = other["measurements"][-1]
    effective.update({key: effective[key] / 2 for key in ("best", "median", "mean", "minimum", "maximum")})
    document["measurements"] += other["measurements"]
    assert load(place, document).contradictions == []
    effective["best"] *= 2
    assert len(load(place, document, "two.json").contradictions) == 1


def with_inner(place, change=lambda entry: None):
    document = samples.result(operations=("copy",))
    document["measurements"].append(samples.with_inner())
    change(document["measurements"][-1])
    return place.write("one.json", document)


def test_percentiles_of_single_times_are_in_the_details_and_in_csv(place):
    path = with_inner(place)
    assert results.load(path).measurements[1].percentiles == pytest.approx(
        {"p50": 2.0, "p90": 4.0, "p99": 4.0, "largest": 4.0}
    )
    place.run("report", path, "--csv", "found.csv", "--html", "page.html")
    rows = list(csv.DictReader(io.StringIO((place.folder / "found.csv").read_text())))
    assert [row["p50"] for row in rows] == ["", "2"] and [row["largest"] for row in rows] == ["", "4"]
    page = (place.folder / "page.html").read_text(encoding="utf-8")
    assert "Single times of stream" in page
    place.write("one.json", samples.result())
    assert "p50" not in place.run("report", "results", "--csv", "-", "--html", "page.html").stdout
    assert "Single times" not in (place.folder / "page.html").read_text(encoding="utf-8")


def corrupt_inner(entry):
    entry["samples"]["inner"][0][1][0] *= 1.01


WRONG_INNER = {
    "no percentiles": (lambda entry: entry.pop("percentiles"), "only go together"),
    "no inner samples": (lambda entry: entry["samples"].pop("inner"), "only go together"),
    "another percentile": (lambda entry: entry["percentiles"].update(p90=3.0), "p90 is given as 3 us"),
    "another mean": (corrupt_inner, "its inner samples make"),
    "too few repetitions": (lambda entry: entry["samples"]["inner"][0].pop(), "other ranks or repetitions"),
    "of a rate": (
        lambda entry: entry.update(work={"amount": 1.0, "unit": "B"}),
        "only times have percentiles",
    ),
}


@pytest.mark.parametrize("fault", WRONG_INNER)
def test_inner_samples_that_contradict_the_metric(place, fault):
    change, cause = WRONG_INNER[fault]
    with pytest.raises(FabricmarkError, match=cause):
        results.load(with_inner(place, change))
