"""Every repetition as a point, so that drift, steps and outliers can be seen."""

import statistics
from collections.abc import Sequence
from dataclasses import replace

from fabricmark.reporting import families, scales
from fabricmark.reporting.curves import ticks
from fabricmark.reporting.groups import Figure, Group
from fabricmark.reporting.plots import MOST_SERIES, Plot, Series, slug, thinned, wants_log

MOST_POINTS = 2000  # a plot
MOST_GROUPS = 24  # a benchmark
HEIGHT = 0.7  # of a row


def plots(groups: Sequence[Group]) -> list[Plot]:
    """A plot for each group and kind of metric."""
    drawn: list[Plot] = []
    for group in groups[:MOST_GROUPS]:
        families_of_group: dict[tuple[str, str], list[Figure]] = {}
        for figure in group.figures:
            if figure.values:
                key = (figure.measurement.name, figure.measurement.unit)
                families_of_group.setdefault(key, []).append(figure)
        swept = families.swept_axes([figure.measurement for figure in group.figures])
        for key, figures in families_of_group.items():
            axes = sorted(swept[key], key=lambda axis: (not axis.endswith("bytes"), axis))
            plot = over_axis(group, key, figures, axes[0]) if axes else by_operation(group, key, figures)
            drawn.append(plot)
    if len(groups) > MOST_GROUPS and drawn:
        left = f"The samples of {len(groups) - MOST_GROUPS} further groups are left out."
        drawn[-1] = replace(drawn[-1], left_out=f"{drawn[-1].left_out} {left}".strip())
    return drawn


def numbered(values: Sequence[float], most: int) -> list[tuple[int, float]]:
    """(repetition from 0, value), thinned to at most `most`."""
    return thinned(list(enumerate(values)), max(2, most))


def left_out(figures: Sequence[Figure], shown: int) -> str:
    total = sum(len(figure.values) for figure in figures)
    return f"{shown} of {total} samples are drawn, evenly spread." if shown < total else ""


def spot(name: str, figure: Figure) -> str:
    """All repetitions of one metric in words: how many, from what to what, and their median."""
    values = figure.values
    numbers = (min(values), max(values), statistics.median(values))
    least, most, middle = (scales.text(value, figure.measurement.unit) for value in numbers)
    return f"{name}: {len(values)} samples from {least} to {most}, median {middle}"


def by_operation(group: Group, key: tuple[str, str], figures: Sequence[Figure]) -> Plot:
    """A row for each operation, its repetitions in order from top to bottom."""
    shown = figures[: 2 * MOST_SERIES]
    each = MOST_POINTS // len(shown)
    series, rows = [], []
    for row, figure in enumerate(shown):
        entry = figure.measurement
        name = families.axes_text(entry.axes) or families.words(entry.name)
        points = numbered(figure.values, each)
        step = HEIGHT / max(1, len(figure.values) - 1)
        y = [row - HEIGHT / 2 + number * step if len(figure.values) > 1 else row for number, _ in points]
        values = [value for _, value in points]
        spots = [(statistics.median(values), row, spot(name, figure))]
        series.append(Series(f"{name} ({entry.kind})", values, y, "points", 0, spots=spots))
        rows.append(name)
    left = left_out(shown, sum(len(entry.x) for entry in series))
    if len(figures) > len(shown):
        left = f"{len(figures) - len(shown)} further metrics are left out. {left}".strip()
    return replace(
        _plot(group, key, series, left),
        x_label=f"{families.words(key[0])} [{key[1]}], repetitions from top to bottom",
        y_label="",
        rows=rows,
        log_x=wants_log([value for entry in series for value in entry.x]),
    )


def over_axis(group: Group, key: tuple[str, str], figures: Sequence[Figure], axis: str) -> Plot:
    """Repetitions over a size, one colour for each of the other axes' positions."""
    others: dict[tuple, list[Figure]] = {}
    for figure in figures:
        rest = tuple(item for item in figure.measurement.axes.items() if item[0] != axis)
        others.setdefault((figure.measurement.kind, rest), []).append(figure)
    shown = list(others.items())[:MOST_SERIES]
    each = MOST_POINTS // sum(len(members) for _, members in shown)
    series = []
    for colour, ((kind, rest), members) in enumerate(shown):
        x, y, spots = [], [], []
        for figure in members:
            place = figure.measurement.axes[axis]
            values = [value for _, value in numbered(figure.values, each)]
            x += [place] * len(values)
            y += values
            spots.append((place, statistics.median(values), spot(families.value_text(axis, place), figure)))
        name = families.axes_text(dict(rest)) or families.words(key[0])
        series.append(Series(f"{name} ({kind})", x, y, "points", colour, spots=spots))
    left = left_out([figure for _, members in shown for figure in members], sum(len(s.x) for s in series))
    if len(others) > len(shown):
        left = f"{len(others) - len(shown)} further lines are left out. {left}".strip()
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
        x_label="",
        y_label=f"{families.words(name)} [{unit}]",
        series=series,
        left_out=left,
        unit=unit,
        family=f"samples of {families.words(name)}",
        part=group.label,
    )
