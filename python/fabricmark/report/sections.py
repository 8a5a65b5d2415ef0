"""A benchmark's part of the page: its table, its plots side by side under one legend, its runs in detail."""

from collections.abc import Mapping, Sequence

from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import counted
from fabricmark.report import svg, tables
from fabricmark.report.groups import Group
from fabricmark.report.plots import MOST_SERIES, Plot, Series
from fabricmark.report.svg import text

MOST_OPEN_ROWS = 20
MOST_OPEN_PLOTS = 6
MOST_HINTS = 12
# {kind of plots: (heading, meaning)}, in the order of the page. Efficiency is in the table, as bars.
KINDS = {
    "curves": ("Over sizes and parameters", "A line a series; modelled lines are dashed, limits dotted."),
    "scaling": ("Scaling", "Rates on more ranks against the fewest; emulated runs are not compared."),
    "stations": ("Stations", "Elevation and velocities where the runs recorded them, over simulated time."),
    "timeline": ("Kernel timeline", "When each kernel ran on the device, a row for each replication."),
    "waits": (
        "Modelled timeline",
        "Who computed and who waited for what, in modelled time: a row for each kernel and link.",
    ),
    "samples": ("Samples", "Every repetition as a point, from the first rank's start to the last one's end."),
}
FOLDED = ("timeline", "samples")
ALWAYS_OPEN = ("stations",)


def summary(groups: Sequence[Group]) -> str:
    """The table, folded where it would bury what comes after it."""
    rows = sum(len(group.condensed) for group in groups)
    opened = "" if rows > MOST_OPEN_ROWS else " open"
    words = f"{rows} metrics" if rows != 1 else "1 metric"
    words += ": measured beside modelled and limit"
    return f"<details{opened}><summary>{words}</summary>{tables.summary(groups)}{hints(groups)}</details>"


def hints(groups: Sequence[Group]) -> str:
    """What the reader should know of the runs, once where it is the same of all."""
    lines = grouped((hint, group) for group in groups for hint in group.hints)
    shown = [
        hint
        if len(of) == len(groups)
        else f"{of[0].label}{f' and {len(of) - 1} more' * (len(of) > 1)}: {hint}"
        for hint, of in lines.items()
    ]
    left = (
        f"<p>and {len(shown) - MOST_HINTS} more notes in the details</p>" if len(shown) > MOST_HINTS else ""
    )
    return "".join(f"<p>{text(line)}</p>" for line in shown[:MOST_HINTS]) + left


def plots(drawn: Mapping[str, Sequence[Plot]]) -> str:
    """All plots of one benchmark, by kind and family."""
    parts = []
    for kind, (heading, meaning) in KINDS.items():
        here = drawn.get(kind, ())
        if not here:
            continue
        names = dict.fromkeys(plot.family for plot in here)
        body = "".join(family([plot for plot in here if plot.family == name]) for name in names)
        count = counted(len(here), "plot")
        few = kind not in FOLDED and len(here) <= MOST_OPEN_PLOTS
        opened = " open" if few or kind in ALWAYS_OPEN else ""
        title = f"<summary><h3>{heading}</h3> <span>{count}</span></summary>"
        shown = f'<p>{meaning}</p><div class="families">{body}</div>'
        parts.append(f"<details{opened}>{title}{shown}</details>")
    return "".join(parts)


def family(members: Sequence[Plot]) -> str:
    """Plots that differ in one thing, with the legend that all share."""
    words = dict.fromkeys(entry.word for plot in members for entry in plot.series if entry.colour is not None)
    if len(words) > MOST_SERIES and len(members) > 1 and not members[0].rows:
        return "".join(family([plot]) for plot in members)
    # Rows carry their names themselves; only where bars of several kinds lie in them is a legend needed.
    labelled = members[0].rows and not members[0].overlaid
    colours = {word: i for i, word in enumerate(words)} if not labelled else None
    if members[0].has_own_colours:
        colours = {entry.word: entry.colour for plot in members for entry in plot.series}
    looks = f'class="family{" wide" if members[0].overlaid else ""}" style="--n:{min(3, len(members))}"'
    key = "" if labelled else legend([entry for plot in members for entry in plot.series], colours)
    shown = "".join(figure(plot, colours) for plot in members)
    return f'<div {looks}>{key}<div class="plots">{shown}</div></div>'


def figure(plot: Plot, colours: Mapping[str, int] | None) -> str:
    """One plot under what tells it from the others."""
    left = f' <span class="left">{text(plot.left_out)}</span>' if plot.left_out else ""
    part = f"<span>{text(plot.part)}</span>" if plot.part else ""
    metric = plot.y_label or plot.family
    frame = svg.draw(plot, colours)
    if plot.overlaid:
        frame = f'<div class="frame" tabindex="0" role="region" aria-label="{text(plot.title)}">{frame}</div>'
    caption = f"<figcaption><b>{text(metric)}</b> {part}{left}</figcaption>"
    return f'<figure id="{plot.slug}">{caption}{frame}</figure>'


def legend(series: Sequence[Series], colours: Mapping[str, int]) -> str:
    """What colours and dashes mean; nothing for a single measured line."""
    shown: dict[str, tuple[str, str]] = {}
    for entry in sorted(series, key=lambda entry: entry.style in ("dashed", "dotted")):
        if entry.style == "dashed" and len(colours) > 1:
            shown["modelled"] = ("dashed", "g")
        else:
            shown.setdefault(entry.name, (entry.style, svg.style(entry, colours)))
    items = "".join(
        f'<li><svg width="26" height="12" aria-hidden="true">{swatch(*look)}</svg>{text(name)}</li>'
        for name, look in shown.items()
    )
    return f'<ul class="legend">{items}</ul>'


def swatch(style: str, colour: str) -> str:
    """A short piece of a line, a bar or a point."""
    if style == "bars":
        return f'<rect class="{colour}" y="1" width="26" height="10"/>'
    if style == "points":
        return f'<path class="d {colour}" d="M13 6h0"/>'
    dot = f'<circle class="{colour}" cx="13" cy="6" r="3"/>' if style == "line" else ""
    return f'<path class="l {style} {colour}" d="M0 6H26"/>{dot}'
