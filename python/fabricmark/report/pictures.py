"""A plot as a PNG, drawn by matplotlib without a display."""

import textwrap
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import printable
from fabricmark.report import scales
from fabricmark.report.plots import GREY, PALETTE, Plot, Series

MARKERS = ("o", "s", "D", "^", "P", "X", "*", "h")
DASHES = {"line": "-", "curve": "-", "dashed": "--", "dotted": ":"}
WIDTH_INCHES = 8.0
DOTS_PER_INCH = 120
MOST_PICTURES = 60
LONGEST_LABEL = 30
FEW_POINTS = 9  # which are drawn larger than those of samples
TITLE_LETTERS = 90


def save_all(plots: Sequence[Plot], folder: Path) -> tuple[list[Path], int]:
    """(files written, number of plots left out). Raises FabricmarkError (2) when a file cannot be written."""
    written = []
    for plot in plots[:MOST_PICTURES]:
        path = folder / f"{plot.slug}.png"
        paths.write_atomically(path, picture(plot, "png"))
        written.append(path)
    return written, max(0, len(plots) - MOST_PICTURES)


def picture(plot: Plot, kind: str) -> bytes:
    """The picture as the bytes of a file: "png" or "svg"."""
    # Imported here: it takes a second, which the terminal's table shall not wait for.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    height = max(3.2, 1.6 + 0.34 * len(plot.rows)) if plot.rows else 4.6
    # Names are plain text: without this, what stands between two dollar signs would be a formula.
    with rc_context(
        {"text.parse_math": False, "font.size": 9, "axes.axisbelow": True, "svg.hashsalt": plot.slug}
    ):
        figure = Figure(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, layout="constrained")
        axes = figure.add_subplot()
        for number, series in enumerate(plot.series):
            if series.style == "bars":
                draw_bars(axes, plot, series, number)
            else:
                draw_line(axes, series)
        set_axes(axes, plot)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
        buffer = BytesIO()
        about = {"Description": printable(plot.alternative())}
        figure.savefig(buffer, format=kind, metadata=about | ({"Date": None} if kind == "svg" else {}))
    return buffer.getvalue()


def draw_line(axes, series: Series) -> None:
    """A line, a dashed or dotted line, or points."""
    colour = GREY if series.colour is None else PALETTE[series.colour]
    marker = MARKERS[(series.colour or 0) % len(MARKERS)]
    name = printable(series.name)
    if series.style == "points":
        size = 3 if len(series.x) > FEW_POINTS else 6
        axes.plot(series.x, series.y, marker, color=colour, markersize=size, alpha=0.7, label=name)
    else:
        plain = {"marker": marker, "markersize": 4} if series.style == "line" else {}
        axes.plot(series.x, series.y, DASHES[series.style], color=colour, label=name, linewidth=1.6, **plain)


def draw_bars(axes, plot: Plot, series: Series, number: int) -> None:
    """Lying bars: over each other where they start at their own times, side by side otherwise."""
    thickness = 0.7 if plot.overlaid else 0.7 / len(plot.series)
    shift = 0.0 if plot.overlaid else (number - (len(plot.series) - 1) / 2) * thickness
    bands = series.bands or [(0.0, 1.0)] * len(series.y)
    middles = [
        row + shift + thickness * (0.5 - (low + high) / 2)
        for row, (low, high) in zip(series.y, bands, strict=True)
    ]
    axes.barh(
        middles, series.x, [thickness * (high - low) for low, high in bands], left=list(series.base) or 0,
        color=GREY if series.colour is None else PALETTE[series.colour],
        label=printable(series.name), linewidth=0,
    )  # fmt: skip


def title(plot: Plot) -> str:
    """The title, and below it what is not drawn."""
    lines = textwrap.wrap(printable(plot.title), TITLE_LETTERS)
    return "\n".join([*lines, *textwrap.wrap(printable(plot.left_out), TITLE_LETTERS)])


def set_axes(axes, plot: Plot) -> None:
    """Title, labels, scales, ticks."""
    axes.set_title(title(plot), fontsize=10, loc="left")
    axes.set_xlabel(printable(plot.x_label))
    axes.set_ylabel(printable(plot.y_label))
    axes.set_xscale("log" if plot.log_x else "linear")
    axes.set_yscale("log" if plot.log_y else "linear")
    values = axes.xaxis if plot.rows else axes.yaxis
    for axis, is_log in ((axes.xaxis, plot.log_x), (axes.yaxis, plot.log_y)):
        unit = plot.unit if axis is values else ""
        if is_log or unit:  # the powers of ten that matplotlib would write are formulas
            axis.set_major_formatter(lambda value, _, unit=unit: scales.text(value, unit) if value else "0")
            axis.set_minor_formatter(lambda value, _: "")
    if plot.reference is not None:
        axes.axvline(plot.reference, color="black", linestyle="--", linewidth=1)
    if plot.x_ticks:
        many = sum(len(text) for _, text in plot.x_ticks) > 90
        names = [printable(text) for _, text in plot.x_ticks]
        axes.set_xticks([place for place, _ in plot.x_ticks], names, rotation=30 if many else 0)
        axes.set_xticks([], minor=True)
    if plot.rows:
        names = ["\n".join(textwrap.wrap(printable(text), LONGEST_LABEL)) or "-" for text in plot.rows]
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.set_ylim(len(names) - 0.5, -0.5)
    elif not plot.log_y and all(entry.style != "points" for entry in plot.series):
        axes.set_ylim(bottom=0)
    axes.grid(True, axis="x" if plot.rows else "both", color="#e2e2e2", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
