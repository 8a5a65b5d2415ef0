"""What the report draws: numeric axes become curves, kinds stay apart, and what is left out is said."""

import pytest
import samples
from compare_samples import own_kernel
from fabricmark import results
from fabricmark.report import bars, curves, families, gantt, groups, plots, speedups
from fabricmark.report import samples as sample_plots
from fabricmark.report.inputs import Scaling

KINDS = ("measured", "modelled")
EMULATOR = {**samples.DEVICE, "name": "emulated board", "class": "emulator", "emulated": True}


def grouped(place, *documents):
    """The groups of these documents, as one report."""
    loaded = [results.load(place.write(f"{i:03}.json", document)) for i, document in enumerate(documents)]
    return groups.make(loaded)


def sized(power, variant="throughput"):
    """STREAM Triad with 2^power elements, the slower per byte the smaller."""
    size = 1 << power
    document = samples.result(operations=(), variant=variant)
    document["parameters"]["size"] = size
    document["measurements"] = [samples.measurement("triad", ((1e-5 + size / 2e9,) * 3,), size=size)]
    return document


def test_equal_settings_are_one_group(place):
    first, second, other = samples.result(), samples.result(), samples.result(ranks=2)
    second["measurements"] = [samples.measurement("triad", ((0.005, 0.02, 0.02),))]
    made = grouped(place, first, second, other)
    assert [len(group.runs) for group in made] == [2, 1]
    assert [group.label for group in made] == ["1 rank", "2 ranks"]
    triad = next(f for f in made[0].metrics if f.measurement.axes["operation"] == "triad")
    bests = [samples.measurement()["best"], second["measurements"][0]["best"]]
    medians = [samples.measurement()["median"], second["measurements"][0]["median"]]
    assert triad.row.best == pytest.approx(max(bests))
    assert triad.row.median == pytest.approx(sum(medians) / 2)
    assert len(triad.values) == 6


def test_own_kernels_of_other_content_are_other_groups(place):
    documents = [samples.result() for _ in range(5)]
    for document, file, digit in zip(documents, ("a.cl", "a.cl", "b.cl", "b.cl"), "1123", strict=False):
        own_kernel(document, file, digit)
    made = grouped(place, *documents)
    assert [(group.label, len(group.runs)) for group in made] == [
        ("a.cl (base kernel)", 2), ("b.cl 22222222 (base kernel)", 1), ("b.cl 33333333 (base kernel)", 1),
        ("base kernel", 1),
    ]  # fmt: skip


def test_the_worst_verdict_of_a_group_is_shown(place):
    made = grouped(place, samples.result(), samples.result(status="failed"), samples.result())
    assert made[0].verdict() == "INVALID in 1 of 3"


def test_labels_leave_out_what_follows_from_the_rest(place):
    documents = [samples.result(ranks=ranks) for ranks in (1, 2, 4)]
    for document in documents:
        document["parameters"]["replications"] = 4 // document["environment"]["ranks"]["count"]
    assert [group.label for group in grouped(place, *documents)] == ["1 rank", "2 ranks", "4 ranks"]


def test_metrics_over_message_size(place):
    made = grouped(place, samples.b_eff())
    drawn = {plot.title: plot for plot in curves.plots(made)}
    assert set(drawn) == {"b_eff: bandwidth over message bytes", "b_eff: latency over message bytes"}
    bandwidth = drawn["b_eff: bandwidth over message bytes"]
    assert (bandwidth.log_x, bandwidth.log_y, bandwidth.y_label) == (True, True, "bandwidth [GB/s]")
    assert [series.name for series in bandwidth.series] == ["exchange (measured)"]
    assert list(bandwidth.series[0].x) == [2**power for power in range(21)]
    steps = [series.name for series in drawn["b_eff: latency over message bytes"].series]
    assert steps == [f"{name} (measured)" for name in ("exchange", "kernel", "read", "message", "write")]
    assert ("1 B" in dict(bandwidth.x_ticks).values()) and ("1 MiB" in dict(bandwidth.x_ticks).values())


def test_two_values_are_no_curve(place):
    assert curves.plots(grouped(place, samples.b_eff(sizes=(1, 1024)))) == []
    assert curves.plots(grouped(place, samples.result())) == []


def test_transports_are_series_of_one_plot(place):
    made = grouped(place, samples.b_eff(transport="cpu"), samples.b_eff(transport="host"))
    bandwidth = curves.plots(made)[0]
    assert [s.name for s in bandwidth.series] == ["transport cpu (measured)", "transport host (measured)"]


def test_many_lines_are_split_and_none_is_lost(place):
    made = grouped(place, samples.host_transfer(methods=("blocking", "queued", "migrate", "sub-buffer")))
    drawn = curves.plots(made)
    lines = [series.name + plot.title for plot in drawn for series in plot.series]
    assert len(lines) == len(set(lines)) == 3 * 4 * 2 * 2
    assert all(len(plot.series) <= plots.MOST_SERIES and not plot.left_out for plot in drawn)
    assert {len(series.x) for plot in drawn for series in plot.series} == {5}


def test_a_parameter_is_an_axis_too_and_the_model_is_dashed(calibrated):
    (plot,) = curves.plots(grouped(calibrated, *(sized(power) for power in range(12, 17))))
    assert plot.title == "stream: bandwidth over size"
    assert [(s.name, s.style) for s in plot.series] == [
        ("triad (measured)", "line"),
        ("triad (modelled)", "dashed"),
        ("limit", "dotted"),
    ]


def test_rates_over_the_size_are_normalised_too(calibrated):
    documents = []
    for ranks in (1, 2):
        for power in range(20, 24):
            document = samples.result(ranks, operations=("triad", "host_to_device"), variant="throughput")
            document["parameters"].update(size=1 << power, replications=4)
            documents.append(document)
    drawn = {plot.title: plot for plot in curves.plots(grouped(calibrated, *documents))}
    assert set(drawn) == {
        "stream: bandwidth over size",
        "stream: bandwidth per rank and replication over size",
    }
    plain, shared = (
        {series.name: list(series.y) for series in drawn[title].series if series.name != "limit"}
        for title in sorted(drawn, key=len)
    )
    assert set(shared) == {f"{ranks} ({kind})" for ranks in ("1 rank", "2 ranks") for kind in KINDS}
    for name, values in shared.items():  # of Triad alone, as a link has no replications
        parts = 8 if "2 ranks" in name else 4
        whole = plain[f"triad, {name}"]
        assert values == pytest.approx([value / parts for value in whole])
    shared = drawn["stream: bandwidth per rank and replication over size"]
    assert shared.y_label == "bandwidth per rank and replication [GB/s]"


def test_nothing_is_normalised_where_all_runs_have_as_many_replications(place):
    assert len(curves.plots(grouped(place, *(sized(power) for power in range(12, 17))))) == 1


def test_emulated_curves_have_no_model(calibrated):
    documents = [sized(power) for power in range(12, 17)]
    for document in documents:
        document["environment"]["device"] = EMULATOR
        document["measurements"][0]["kind"] = document["measurements"][0]["samples"]["kind"] = "emulated"
    (plot,) = curves.plots(grouped(calibrated, *documents))
    assert [(s.name, s.style) for s in plot.series] == [("triad (emulated)", "line")]


def test_kinds_are_lines_of_their_own(place):
    documents = [samples.b_eff(sizes=(1, 2, 4)), samples.b_eff(sizes=(1, 2, 4), kind="emulated")]
    names = [series.name for series in curves.plots(grouped(place, *documents))[0].series]
    assert sorted(names) == ["exchange (emulated)", "exchange (measured)"]


def test_more_panels_than_can_be_drawn_are_counted(place, monkeypatch):
    monkeypatch.setattr(curves, "MOST_PANELS", 2)
    drawn = curves.plots(grouped(place, samples.host_transfer()))
    assert len(drawn) == 2 and drawn[-1].left_out == "2 further plots of this kind are left out."


def test_curves_are_one_row_of_the_summary(place):
    (group,) = grouped(place, samples.b_eff())
    found = {(f.measurement.name, *f.measurement.axes.values()): points for f, points in group.condensed}
    assert found["bandwidth", "exchange", 2**20] == 21
    assert found["latency", "exchange", 1] == 21  # a time is best where it is shortest
    assert found[("effective_bandwidth",)] == 1


def test_speed_up_of_results(place):
    up, share = speedups.plots(grouped(place, *(samples.result(ranks=n, devices=n) for n in (1, 2, 4))))
    triad = next(series for series in up.series if series.name.startswith("triad"))
    assert list(triad.x) == [1, 2, 4] and triad.y[0] == 1
    assert triad.y[1] == pytest.approx(2 * 0.0100 / 0.0101)
    assert (up.series[-1].name, list(up.series[-1].y)) == ("ideal", [1, 2, 4])
    triad = next(series for series in share.series if series.name.startswith("triad"))
    assert triad.y[1] == pytest.approx(100 * 0.0100 / 0.0101)


def test_what_changes_with_the_ranks_is_said(place):
    documents = [samples.result(ranks=ranks, devices=ranks) for ranks in (1, 2)]
    assert speedups.plots(grouped(place, *documents))[0].left_out == ""
    documents[1]["parameters"]["size"] //= 2
    note = speedups.plots(grouped(place, *documents))[0].left_out
    assert note == "Beside the ranks, these differ: size."


def test_speed_up_starts_at_the_fewest_ranks(place):
    up, _ = speedups.plots(grouped(place, *(samples.result(ranks=n, devices=n) for n in (2, 4, 8))))
    assert up.y_label == "speed-up over 2 ranks" and list(up.series[-1].y) == [1, 2, 4]


def test_two_numbers_of_ranks_are_bars(place):
    (plot,) = speedups.plots(grouped(place, *(samples.result(ranks=n, devices=n) for n in (1, 2))))
    assert (plot.rows[3], plot.unit, plot.reference) == ("triad (measured)", "%", 100)
    assert plot.series[0].x[3] == pytest.approx(100 * 0.0100 / 0.0101)
    assert plot.series[0].hover[3] == "triad (measured): 1.98 times 1 rank, 99 % of ideal"


def test_ranks_that_share_a_device_have_no_ideal(place):
    (up,) = speedups.plots(grouped(place, *(samples.result(ranks=ranks) for ranks in (1, 2, 4))))
    assert "ideal" not in [series.name for series in up.series] and up.left_out == speedups.SHARED
    up, share = speedups.plots(grouped(place, *(samples.result(ranks=n, devices=2) for n in (1, 2, 4))))
    assert list(up.series[-1].x) == [1, 2] and list(share.series[0].x) == [1, 2]
    assert up.left_out == speedups.SHARED and len(up.series[0].x) == 3
    (bars_of_two,) = speedups.plots(grouped(place, *(samples.result(ranks=ranks) for ranks in (1, 2))))
    assert (bars_of_two.unit, bars_of_two.part) == ("", "speed-up of 2 ranks")
    assert bars_of_two.series[0].hover[3] == "triad (measured): 1.98 times 1 rank"


def test_emulated_runs_do_not_scale(place):
    documents = [samples.result(ranks=ranks, kind="emulated", device=EMULATOR) for ranks in (1, 2)]
    assert speedups.plots(grouped(place, *documents)) == []


def test_speed_up_of_a_scaling_file(place):
    document = samples.scaling("strong", (1.0, 1.8, 3.0))
    up, share = speedups.of_document(Scaling(place.write("scaling.json", document), document))
    assert up.title == "stream on sample-cpu: strong scaling, speed-up"
    assert list(up.series[0].y) == [1.0, 1.8, 3.0]
    assert list(share.series[0].y) == pytest.approx([100, 90, 75])


def test_efficiency_against_model_and_limit(calibrated):
    (plot,) = bars.plots(grouped(calibrated, samples.result()))
    model, limit = plot.series
    assert plot.rows[3] == "triad"
    assert limit.x[3] == pytest.approx(100 * samples.measurement()["best"] / 50)
    assert limit.x[3] < model.x[3] < 100


def test_no_efficiency_without_a_model(place):
    assert bars.plots(grouped(place, samples.result())) == []


def test_timeline_has_a_row_for_each_replication(place):
    document = samples.result(ranks=2)
    document["timeline"] = samples.timeline(ranks=2)
    (plot,) = gantt.plots(grouped(place, document))
    assert plot.rows[1] == "rank 0, replication 1" and len(plot.rows) == 4
    assert plot.series[0].name == "copy (measured)"
    copy = plot.series[0]
    assert copy.x[0] == pytest.approx(1.48) and copy.base[0] == pytest.approx(0.02)


def test_a_long_timeline_is_cut_and_says_so(place, monkeypatch):
    monkeypatch.setattr(gantt, "MOST_EVENTS", 10)
    document = samples.result()
    document["timeline"] = samples.timeline(repetitions=5)
    (plot,) = gantt.plots(grouped(place, document))
    assert sum(len(series.x) for series in plot.series) == 10
    assert plot.left_out == "The first 10 kernels of 40; the rest is in the result file."


def phases(late=0.0):
    """Timeline of two iterations of HPL on two ranks: the exchange of the second runs during `inner`."""
    events = []
    parts = {"lu": (0, 1), "left": (1, 3), "top": (1, 3), "inner": (3, 9), "exchange": (3 + late, 5 + late)}
    for rank in range(2):
        for iteration in range(2):
            for operation, (start, end) in parts.items():
                times = {"started": 0.01 * (iteration * 10 + start), "ended": 0.01 * (iteration * 10 + end)}
                events.append(
                    {"rank": rank, "repetition": 0, "operation": operation, "replication": 0}
                    | {"kernel": operation, "queued": 0.0, "submitted": 0.0, **times}
                )
    return events


def test_operations_that_overlap_have_rows_of_their_own(place):
    document = samples.result(ranks=2)
    document["timeline"] = phases()
    (plot,) = gantt.plots(grouped(place, document))
    names = ["lu", "left", "top", "inner", "exchange"]
    assert list(plot.rows) == [f"rank {rank}, {name}" for rank in range(2) for name in names]
    assert [series.name for series in plot.series] == [f"{name} (measured)" for name in names]
    assert len({series.colour for series in plot.series}) == 5
    exchange = plot.series[-1]
    assert list(exchange.y) == [4, 9, 4, 9]
    assert list(exchange.base) == pytest.approx([30, 30, 130, 130])


def test_operations_one_after_the_other_share_a_row(place):
    document = samples.result(ranks=2)
    events = [event for event in phases(late=6.0) if event["operation"] not in ("left", "top")]
    for event in events:  # clocks that differ by a hair are no overlap
        event["ended"] += 1e-4
    document["timeline"] = [event for event in events if event["started"] < 0.1]
    (plot,) = gantt.plots(grouped(place, document))
    assert list(plot.rows) == ["rank 0, replication 0", "rank 1, replication 0"]


def test_rows_that_are_left_out_are_counted(place, monkeypatch):
    monkeypatch.setattr(gantt, "MOST_ROWS", 5)
    document = samples.result(ranks=2)
    document["timeline"] = phases()
    (plot,) = gantt.plots(grouped(place, document))
    assert len(plot.rows) == 5 and plot.left_out == "5 further rows are left out."


def test_every_sample_is_a_point(place):
    (plot,) = sample_plots.plots(grouped(place, samples.result()))
    assert list(plot.rows) == list(samples.STREAMS)
    assert all(len(series.x) == 3 for series in plot.series)
    triad = plot.series[3].spots[0][2]
    assert triad == "triad: 3 samples from 33.55 GB/s to 40.27 GB/s, median 36.6 GB/s"
    by_name = {plot.y_label: plot for plot in sample_plots.plots(grouped(place, samples.b_eff()))}
    bandwidth = by_name["bandwidth [GB/s]"].series[0]
    assert len(bandwidth.y) == 21 * 5 and len(bandwidth.spots) == 21


def test_too_many_samples_are_thinned_and_said(place, monkeypatch):
    monkeypatch.setattr(sample_plots, "MOST_POINTS", 12)
    (plot,) = sample_plots.plots(grouped(place, samples.result()))
    assert sum(len(series.y) for series in plot.series) == 12
    assert plot.left_out == "12 of 18 samples are drawn, evenly spread."


@pytest.mark.parametrize(
    "value, shown", [(1, "1 B"), (1023, "1023 B"), (1024, "1 KiB"), (1 << 20, "1 MiB"), (3 << 30, "3 GiB")]
)
def test_sizes(value, shown):
    assert families.binary(value) == shown


def test_plots_say_what_they_show(place):
    text = curves.plots(grouped(place, samples.b_eff(sizes=(1, 2, 4))))[0].alternative()
    assert "bandwidth [GB/s] over message bytes" in text and "exchange (measured): 3 values" in text


def test_file_names_are_safe_and_unique():
    one = plots.Plot(plots.slug("../a", "<b>", "ü"), "", "", "", ())
    assert [plot.slug for plot in plots.unique_slugs([one, one])] == ["a-b", "a-b-2"]
