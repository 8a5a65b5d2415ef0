"""Draws docs/credit_link_timelines.svg: Figs. 2.2 to 2.8 of Mondigo 2020 as the cycle model steps them.

Run it again when the link changes:

.venv/bin/python tools/credit_link_timelines.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import doc_pages
from fabricmark.base import kernels, paths
from fabricmark.report.plots import GREY, PALETTE

PICTURE = doc_pages.DOCS / "credit_link_timelines.svg"
TITLE = "A credit link, cycle by cycle"
# Mondigo 2020, section 2.3.2: of Figs. 2.2 and 2.3; the receive buffer by eq. 2.4. The others: section 2.3.3.
WIDE = {"packet": 128, "update": 128, "latency": 128, "receive": 648, "timeout": 64}
LINK = {"packet": 32, "update": 32, "latency": 82, "receive": 512, "timeout": 64}
CYCLES = 2400
ALWAYS = {"every": 1}


@dataclass(frozen=True)
class Panel:
    """One figure: what the users of both ends do. `far` reads, and sends back where it `returns`."""

    figure: str
    what: str
    near: Mapping = field(default_factory=lambda: {"writes": ALWAYS})
    far: Mapping = field(default_factory=dict)
    link: Mapping = field(default_factory=lambda: LINK)

    @property
    def request(self) -> dict:
        return {"credit_link": self.link, "cycles": CYCLES, "ends": [self.near, self.far]}


SELDOM = {"every": 90}
BACK = {"returns": True}
PANELS = (
    Panel("2.2", "a sink that reads in every cycle; packets of 128 flits", link=WIDE),
    Panel("2.3", "a sink that reads in every other cycle", far={"reads": {"every": 2}}, link=WIDE),
    Panel("2.4", "full duplex, the far user sends back what it reads; packets of 32 flits", far=BACK),
    Panel("2.5", "full duplex, now and then a word: packets close by time-out", {"writes": SELDOM}, BACK),
    Panel("2.6", "half duplex"),
    Panel("2.7", "half duplex, now and then a word", {"writes": SELDOM}),
    Panel("2.8", "a sink that stops from cycle 600 to 1800", far={"stops": {"first": 600, "last": 1800}}),
)


def timelines() -> list[Mapping]:
    """What both ends show, by panel."""
    return kernels.ask([panel.request for panel in PANELS])


def _draw(axes, panel: Panel, shown: Mapping) -> None:
    near, far = shown["ends"]
    cycles = range(CYCLES)
    axes.plot(cycles, near["credit"], color=PALETTE[0], label="credit of the near end")
    axes.plot(cycles, far["receive_fill"], color=PALETTE[1], label="receive buffer of the far end")
    for kind, place, colour in (("data", 0.02, PALETTE[0]), ("credits", 0.06, PALETTE[2])):
        for end, lift in ((near, 0.0), (far, 0.09)):
            marks = [one["cycle"] for one in end.get("headers", ()) if one["kind"] == kind]
            label = f"headers with {kind}: near end, above them the far one's" if lift == 0.0 else None
            heights = [panel.link["receive"] * (1.06 + place + lift)] * len(marks)
            axes.plot(marks, heights, "|", color=colour, markersize=4, label=label)
    axes.set_title(f"Fig. {panel.figure}: {panel.what}", loc="left", fontsize=9)
    axes.set_ylim(0, panel.link["receive"] * 1.3)
    axes.set_xlim(0, CYCLES)
    axes.set_ylabel("flits")
    axes.grid(color=GREY, alpha=0.3)


def svg(found: list[Mapping]) -> bytes:
    """The picture, the same for the same timelines."""

    def draw(figure) -> None:
        rows = figure.subplots(len(PANELS), 1, sharex=True)
        for axes, panel, shown in zip(rows, PANELS, found, strict=True):
            _draw(axes, panel, shown)
        rows[-1].set_xlabel("cycle of the link's clock")
        handles, labels = rows[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)

    style = {"font.size": 8, "path.simplify_threshold": 1.0, "lines.linewidth": 1.0}
    return doc_pages.svg(TITLE, (9, 12.5), draw, salt="credit link", style=style)


def main() -> None:
    paths.write_atomically(PICTURE, svg(timelines()))


if __name__ == "__main__":
    main()
