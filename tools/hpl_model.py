"""Draws docs/hpl_model.svg: the model of HPL beside the published runs. Run it again when either changes:

.venv/bin/python tools/hpl_model.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))

import doc_pages
import numpy as np
from fabricmark.base import paths
from fabricmark.base.terminal import percent
from fabricmark.report.pictures import MARKERS
from fabricmark.report.plots import GREY, PALETTE
from published_hpl import NAMES, described, runs

PICTURE = doc_pages.DOCS / "hpl_model.svg"
TITLE = "HPL: model and published runs"
SMALLEST_BLOCKS, LARGEST_SIZE = 2, 31744
BAND = 0.10  # beside the diagonal


def gflops(name: str, size: int, devices: int = 1, nodes: int = 1) -> float:
    return described(name).predict(size, devices, nodes).value


def draw_sizes(axes, name: str, number: int, figures) -> None:
    """Single devices: points over n, and the model as a line."""
    colour, block = PALETTE[number], NAMES[name][2]
    single = [(figure.matrix_width, figure.value) for figure in figures if figure.devices == 1]
    axes.plot(*zip(*single, strict=True), MARKERS[number], color=colour, markersize=4, label=name)
    sizes = range(SMALLEST_BLOCKS * block, LARGEST_SIZE + 1, block)
    axes.plot(sizes, [gflops(name, size) for size in sizes], "-", color=colour, linewidth=1.2)


def draw_both(axes, name: str, number: int, figures) -> None:
    """All runs: modelled over measured."""
    measured = [figure.value for figure in figures]
    modelled = [gflops(name, figure.matrix_width, figure.devices, figure.nodes) for figure in figures]
    axes.plot(measured, modelled, MARKERS[number], color=PALETTE[number], markersize=4, alpha=0.8)


def draw(figure) -> None:
    sizes, both = figure.subplots(1, 2)
    for number, (name, figures) in enumerate(runs().items()):
        draw_sizes(sizes, name, number, figures)
        draw_both(both, name, number, figures)
    ends = np.array([15, 2e4])
    both.plot(ends, ends, "-", color=GREY, linewidth=1)
    for side in (1 - BAND, 1 + BAND):
        both.plot(ends, side * ends, ":", color=GREY, linewidth=1)
    sizes.set(
        xlabel="matrix width n",
        ylabel="LU [GFLOP/s]",
        title="one device: measured points, modelled lines",
    )
    title = f"all 77 runs on 1, 4 and 16 devices (dotted: {percent(BAND)} off)"
    both.set(xlabel="measured [GFLOP/s]", ylabel="modelled [GFLOP/s]", title=title)
    both.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    for axes in (sizes, both):
        doc_pages.open_axes(axes)
    figure.legend(loc="outside lower center", ncols=len(NAMES), frameon=False)


def svg() -> bytes:
    """The picture."""
    return doc_pages.svg(TITLE, (10, 4.4), draw, salt="hpl")


if __name__ == "__main__":
    paths.write_atomically(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE, svg())
