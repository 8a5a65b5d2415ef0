"""Draws docs/stream_*.svg: Figs. 2.9 to 4.10 of Mondigo 2020 by models, modelled clock and yosys, beside
what is printed. Figs. 2.2 to 2.8 are those of tools/credit_link_timelines.py.

Run it again when models, systems, data/emulated/stream_clock.csv (tools/stream_clock.py) or
rtl/resources.toml (rtl/tests/run.py --only resources --full --write) change:

.venv/bin/python tools/stream_figures.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import doc_pages
import stream_series as series
from fabricmark.base import paths
from fabricmark.report.plots import GREY, PALETTE

STYLES = {
    series.MODEL: {"linestyle": "-", "linewidth": 1},
    series.OTHER: {"linestyle": "--", "linewidth": 1},
    series.LIMIT: {"linestyle": ":", "linewidth": 1},
    series.CLOCK: {"linestyle": "", "marker": "x", "markersize": 4},
    series.COUNTED: {"linestyle": "", "marker": "s", "markersize": 5},
    series.PRINTED: {
        "linestyle": "", "marker": "o", "markersize": 9, "markerfacecolor": "none", "markeredgewidth": 1.5,
    },
}  # fmt: skip
MANY = 10  # ticks, of which every other is named
SHORT = 100
HIGH, WIDE = 3.4, 7.2  # inches of a picture of one row


def picture(figure: str) -> Path:
    return doc_pages.DOCS / f"stream_{figure.replace('.', '_')}.svg"


def _is_short(panel: series.Panel) -> bool:
    """Whether the values stay within a factor of 100."""
    every = [value for line in panel.lines for value in line.y]
    return max(every) < SHORT * min(every)


def _draw(axes, panel: series.Panel) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, StrMethodFormatter

    for line in panel.lines:
        colour = "#000000" if line.kind == series.PRINTED else GREY
        colour = colour if line.colour is None else PALETTE[line.colour]
        axes.plot(line.x, line.y, color=colour, **STYLES[line.kind])
    axes.set_title(panel.title, loc="left", fontsize=9)
    axes.set(xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if _is_short(panel) else (1,)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0)
    if panel.log_x:
        axes.set_xscale("log", base=2)
        if panel.x_label != "bytes":
            ticks = sorted({float(one) for line in panel.lines for one in line.x})
            shown = ticks[:: 1 if len(ticks) < MANY else 2]
            axes.set_xticks(shown, [f"{tick:.0f}" for tick in shown])
            axes.minorticks_off()
    elif not panel.names:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if panel.names:
        axes.set_xticks(range(len(panel.names)), panel.names)
        axes.margins(x=0.2)
    axes.grid(color=GREY, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _handles(panels: Sequence[series.Panel]) -> list:
    """What colours mean, then what the kinds of lines and marks mean."""
    from matplotlib.lines import Line2D

    every = [line for panel in panels for line in panel.lines]
    named = {line.label: PALETTE[line.colour] for line in every if line.label and line.colour is not None}
    found = [Line2D([], [], color=colour, linewidth=3, label=label) for label, colour in named.items()]
    for kind in dict.fromkeys(line.kind for line in every):
        said = dict.fromkeys(line.label for line in every if line.kind == kind and line.colour is None)
        words = ", ".join(word for word in said if word)
        label = f"{kind}: {words}" if words else kind
        colour = "#000000" if kind == series.PRINTED else GREY
        found.append(Line2D([], [], color=colour, label=label, **STYLES[kind]))
    return found


def svg(figure: str) -> bytes:
    """The picture."""
    panels = series.FIGURES[figure]()
    columns = 1 if len(panels) == 1 else 2
    rows = -(-len(panels) // columns)

    def draw(drawn) -> None:
        every = list(drawn.subplots(rows, columns, squeeze=False).flat)
        for axes, panel in zip(every, panels, strict=False):
            _draw(axes, panel)
        for axes in every[len(panels) :]:
            axes.set_axis_off()
        drawn.legend(handles=_handles(panels), loc="outside lower center", ncols=2, frameon=False)

    return doc_pages.svg(f"Mondigo 2020, Fig. {figure}", (WIDE, 0.9 + HIGH * rows), draw, salt=figure)


def main() -> None:
    for figure in series.FIGURES:
        paths.write_atomically(picture(figure), svg(figure))


if __name__ == "__main__":
    main()
