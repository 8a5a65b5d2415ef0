"""Every repetition as a point, so that drift, steps and outliers can be seen."""

from collections.abc import Sequence

from fabricmark import report
from fabricmark.reporting import families
from fabricmark.reporting.groups import Figure, Group
from fabricmark.reporting.plots import MOST_SERIES, MOST_TICKS, Plot, Series, slug, thinned, wants_log

MOST_POINTS = 4000  # a plot
MOST_GROUPS = 24  # a benchmark
WIDTH = 0.7  # of the place of one operation


def plots(groups: Sequence[Group]) -> list[Plot]:
    """A plot for each group and kind of figure."""
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
        drawn[-1] = Plot(**{**vars(drawn[-1]), "left_out": f"{drawn[-1].left_out} {left}".strip()})
    return drawn


def numbered(values: Sequence[float], most: int) -> list[tuple[int, float]]:
    """(repetition from 0, value), thinned to at most `most`."""
    return thinned(list(enumerate(values)), max(2, most))


def left_out(figures: Sequence[Figure], shown: int) -> str:
    total = sum(len(figure.values) for figure in figures)
    return f"{shown} of {total} samples are drawn, evenly spread." if shown < total else ""


def by_operation(group: Group, key: tuple[str, str], figures: Sequence[Figure]) -> Plot:
    """Operations side by side, each with its repetitions in order from left to right."""
    figures_shown = figures[: 2 * MOST_SERIES]
    each = MOST_POINTS // len(figures_shown)
    series, ticks = [], []
    for place, figure in enumerate(figures_shown):
        entry = figure.measurement
        name = families.axes_text(entry.axes) or families.words(entry.name)
        points = numbered(figure.values, each)
        step = WIDTH / max(1, len(figure.values) - 1)
        x = [place - WIDTH / 2 + number * step if len(figure.values) > 1 else place for number, _ in points]
        hover = [f"repetition {number}: {report.figure(value)} {entry.unit}" for number, value in points]
        values = [value for _, value in points]
        series.append(Series(f"{name} ({entry.kind})", x, values, "points", place % MOST_SERIES, hover))
        ticks.append((place, name))
    left = left_out(figures_shown, sum(len(entry.x) for entry in series))
    if len(figures) > len(figures_shown):
        left = f"{len(figures) - len(figures_shown)} further figures are left out. {left}".strip()
    return _plot(group, key, series, "operation, repetitions from left to right", left, ticks)


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
        x, y, hover = [], [], []
        for figure in members:
            place = figure.measurement.axes[axis]
            for number, value in numbered(figure.values, each):
                x.append(place)
                y.append(value)
                at = families.value_text(axis, place)
                hover.append(f"{at}, repetition {number}: {report.figure(value)} {key[1]}")
        name = families.axes_text(dict(rest)) or families.words(key[0])
        series.append(Series(f"{name} ({kind})", x, y, "points", colour, hover))
    left = left_out([figure for _, members in shown for figure in members], sum(len(s.x) for s in series))
    if len(others) > len(shown):
        left = f"{len(others) - len(shown)} further lines are left out. {left}".strip()
    sizes = families.distinct(value for entry in series for value in entry.x)
    ticks = [(size, families.value_text(axis, size)) for size in thinned(sizes, MOST_TICKS)]
    ticks = ticks if axis.endswith("bytes") else []
    return _plot(group, key, series, families.words(axis), left, ticks, wants_log(sizes))


def _plot(group, key, series, x_label, left, ticks, log_x=False) -> Plot:
    name, unit = key
    return Plot(
        slug=slug(group.benchmark, "samples", name, group.label),
        title=f"{group.benchmark}: all samples of {families.words(name)}, {group.label}",
        x_label=x_label,
        y_label=f"{families.words(name)} [{unit}]",
        series=series,
        log_x=log_x,
        log_y=wants_log([value for entry in series for value in entry.y]),
        x_ticks=ticks,
        left_out=left,
    )
