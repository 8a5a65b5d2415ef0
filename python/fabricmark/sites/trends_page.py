"""The trends of a history as one page: what changed, then each metric over the nights, a line a node."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from fabricmark.base import spread
from fabricmark.base.terminal import number, percent
from fabricmark.report import sections, tables
from fabricmark.report.page import frame
from fabricmark.report.plots import MOST_SERIES, Plot, Series, slug, unique_slugs
from fabricmark.report.svg import text
from fabricmark.sites.history import Trend

MOST_POINTS = 300  # of a line
MOST_PLOTS = 200
MOST_TICKS = 6
CHANGED = "change of level"


def html(found: Sequence[Trend], store: str) -> str:
    """The whole page, which needs no network."""
    plots = list(_plots(found))
    shown = unique_slugs(plots[:MOST_PLOTS])
    left = (
        f"<p>and {len(plots) - MOST_PLOTS} more plots: name fewer metrics</p>"
        if len(plots) > MOST_PLOTS
        else ""
    )
    nights = {point.night for trend in found for point in trend.points}
    said = f"{store}: {len(found)} series over {len(nights)} nights"
    figures = "".join(
        f'<section><h2>{text(title)}</h2><div class="families">'
        f"{''.join(sections.family([plot]) for plot in part)}</div></section>"
        for title, part in groupby(shown, key=lambda plot: plot.title)
    )
    body = f"<header><h1>Trends</h1><p>{text(said)}</p></header>{_changes(found)}{figures}{left}"
    return frame("Fabricmark trends", body)


def _changes(found: Sequence[Trend]) -> str:
    """A table of all changes, the newest first."""
    every = [(flag, trend) for trend in found for flag in trend.flagged]
    if not every:
        return "<section><h2>Changes</h2><p>No metric changed its level.</p></section>"
    headings = ("from night", "metric", "node", "tool", "change", "what changed beside it")
    rows = []
    for flag, trend in sorted(every, key=lambda pair: pair[0].night, reverse=True):
        change = percent(flag.change.ratio - 1, digits=1, signed=True)
        cells = (
            flag.night,
            trend.series.label,
            trend.series.node,
            trend.tool,
            change,
            ", ".join(flag.beside),
        )
        rows.append("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>")
    return f"<section><h2>Changes</h2>{tables.table('Changes of level', headings, rows)}</section>"


def _plots(found: Sequence[Trend]) -> Iterator[Plot]:
    """Of each metric by each tool, with as many nodes as there are colours."""
    for _, group in groupby(found, key=lambda one: (one.series.label, one.series.metric)):
        trends = list(group)
        for first in range(0, len(trends), MOST_SERIES):
            yield _plot(trends[first : first + MOST_SERIES])


def _plot(trends: Sequence[Trend]) -> Plot:
    nights = sorted({(point.started[:10], point.night) for trend in trends for point in trend.points})
    places = {night: place for place, night in enumerate(dict.fromkeys(night for _, night in nights))}
    lines, x, y, spots = [], [], [], []
    for colour, trend in enumerate(trends):
        kept = spread.thinned(trend.points, MOST_POINTS)
        name = trend.series.node if trend.tool == trends[0].tool else f"{trend.series.node} {trend.tool}"
        lines.append(
            Series(
                name, [places[point.night] for point in kept], [point.value for point in kept], colour=colour,
                hover=[f"{point.night}: {number(point.value)} {trend.series.unit}" for point in kept],
            )
        )  # fmt: skip
        for flag in trend.flagged:
            point = trend.points[flag.change.place]
            x.append(float(places[point.night]))
            y.append(point.value)
            change = percent(flag.change.ratio - 1, digits=1, signed=True)
            spots.append((x[-1], y[-1], f"{name}, {flag.night}: {change}; {', '.join(flag.beside)}"))
    first = trends[0].series
    ticks = [(float(places[night]), night) for night in spread.thinned(list(places), MOST_TICKS)]
    points = Series(CHANGED, x, y, style="points", colour=None, spots=spots)
    return Plot(
        slug(first.label), first.label, "night", first.unit, [*lines, points], x_ticks=ticks, unit=first.unit,
        has_own_colours=True,
    )  # fmt: skip
