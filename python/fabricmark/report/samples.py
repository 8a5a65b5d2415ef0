"""Every repetition as a point, so that drift, steps and outliers can be seen."""

import statistics
from collections.abc import Sequence
from dataclasses import replace

from fabricmark.base.grouping import grouped
from fabricmark.base.spread import thinned
from fabricmark.report import families, scales
from fabricmark.report.curves import ticks
from fabricmark.report.groups import Group, Metric
from fabricmark.report.plots import MOST_SERIES, Plot, Series, not_drawn, slug, wants_log

MOST_POINTS = 2000  # a plot
MOST_GROUPS = 24  # a benchmark
HEIGHT = 0.7  # of a row


def plots(groups: Sequence[Group]) -> list[Plot]:
    """A plot for each group and kind of metric."""
    drawn: list[Plot] = []
    for group in groups[:MOST_GROUPS]:
        sampled = [metric for metric in group.metrics if metric.values]
        of_family = grouped(((one.measurement.name, one.measurement.unit), one) for one in sampled)
        swept = families.swept_axes([metric.measurement for metric in group.metrics])
        for key, metrics in of_family.items():
            axes = sorted(swept[key], key=lambda axis: (not axis.endswith("bytes"), axis))
            plot = over_axis(group, key, metrics, axes[0]) if axes else by_operation(group, key, metrics)
            drawn.append(plot)
    if len(groups) > MOST_GROUPS and drawn:
        left = f"The samples of {len(groups) - MOST_GROUPS} further groups are left out."
        drawn[-1] = replace(drawn[-1], left_out=f"{drawn[-1].left_out} {left}".strip())
    return drawn


def numbered(values: Sequence[float], most: int) -> list[tuple[int, float]]:
    """(repetition from 0, value), thinned to at most `most`."""
    return thinned(list(enumerate(values)), max(2, most))


def left_out(metrics: Sequence[Metric], shown: int) -> str:
    total = sum(len(metric.values) for metric in metrics)
    return f"{shown} of {total} samples are drawn, evenly spread." if shown < total else ""


def spot(name: str, metric: Metric) -> str:
    """All repetitions of one metric in words: how many, from what to what, and their median."""
    values = metric.values
    numbers = (min(values), max(values), statistics.median(values))
    least, most, middle = (scales.text(value, metric.measurement.unit) for value in numbers)
    return f"{name}: {len(values)} samples from {least} to {most}, median {middle}"


def by_operation(group: Group, key: tuple[str, str], metrics: Sequence[Metric]) -> Plot:
    """A row for each operation, its repetitions in order from top to bottom."""
    shown = metrics[: 2 * MOST_SERIES]
    each = MOST_POINTS // len(shown)
    series, rows = [], []
    several_kinds = len({metric.measurement.kind for metric in shown}) > 1
    for row, metric in enumerate(shown):
        entry = metric.measurement
        name = families.axes_text(entry.axes) or families.words(entry.name)
        row_name = f"{name} ({entry.kind})" if several_kinds else name
        points = numbered(metric.values, each)
        step = HEIGHT / max(1, len(metric.values) - 1)
        y = [row - HEIGHT / 2 + number * step if len(metric.values) > 1 else row for number, _ in points]
        values = [value for _, value in points]
        spots = [(statistics.median(values), row, spot(name, metric))]
        series.append(Series(f"{name} ({entry.kind})", values, y, "points", 0, spots=spots))
        rows.append(row_name)
    left = left_out(shown, sum(len(entry.x) for entry in series))
    left = not_drawn(len(metrics) - len(shown), "{} further metrics are left out.", left)
    return replace(
        _plot(group, key, series, left),
        x_label=f"{families.words(key[0])} [{key[1]}], repetitions from top to bottom",
        y_label="",
        rows=rows,
        log_x=wants_log([value for entry in series for value in entry.x]),
    )


def over_axis(group: Group, key: tuple[str, str], metrics: Sequence[Metric], axis: str) -> Plot:
    """Repetitions over a size, one colour for each of the other axes' positions."""
    kinds = [metric.measurement.kind for metric in metrics]
    rests = [tuple(one for one in metric.measurement.axes.items() if one[0] != axis) for metric in metrics]
    others = grouped(zip(zip(kinds, rests, strict=True), metrics, strict=True))
    shown = list(others.items())[:MOST_SERIES]
    each = MOST_POINTS // sum(len(members) for _, members in shown)
    series = []
    for colour, ((kind, rest), members) in enumerate(shown):
        x, y, spots = [], [], []
        for metric in members:
            place = metric.measurement.axes[axis]
            values = [value for _, value in numbered(metric.values, each)]
            x += [place] * len(values)
            y += values
            spots.append((place, statistics.median(values), spot(families.value_text(axis, place), metric)))
        name = families.axes_text(dict(rest)) or families.words(key[0])
        series.append(Series(f"{name} ({kind})", x, y, "points", colour, spots=spots))
    left = left_out([metric for _, members in shown for metric in members], sum(len(s.x) for s in series))
    left = not_drawn(len(others) - len(shown), "{} further lines are left out.", left)
    sizes = families.distinct(value for entry in series for value in entry.x)
    return replace(
        _plot(group, key, series, left),
        x_label=families.words(axis),
        log_x=wants_log(sizes),
        log_y=wants_log([value for entry in series for value in entry.y]),
        x_ticks=ticks(axis, sizes),
    )


def _plot(group: Group, key: tuple[str, str], series: Sequence[Series], left: str) -> Plot:
    name, unit = key
    return Plot(
        slug=slug(group.benchmark, "samples", name, group.label),
        title=f"{group.benchmark}: all samples of {families.words(name)}, {group.label}",
        y_label=f"{families.words(name)} [{unit}]",
        series=series,
        left_out=left,
        unit=unit,
        family=f"samples of {families.words(name)}",
        part=group.label,
    )
