"""A plot for the page: the description as data for plotly's JavaScript, and where that JavaScript lies."""

import json
from html import escape
from importlib.util import find_spec
from math import ceil
from pathlib import Path

from fabricmark.errors import ENVIRONMENT, FabricmarkError, printable
from fabricmark.reporting.plots import GREY, PALETTE, Plot, Series, wants_log

MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
DASHES = {"line": "solid", "dashed": "dash", "dotted": "dot"}
LONGEST_LABEL = 26  # letters in one line of a row's label
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"


def library() -> str:
    """Plotly's JavaScript from its Python package. Raises FabricmarkError (3) where that is not installed."""
    # Found, not imported: nothing else of the package is needed, and it takes longer than the page itself.
    found = find_spec("plotly")
    place = Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None
    try:
        if place is None:
            raise FileNotFoundError("plotly is not installed")
        text = (place / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    except OSError as error:
        raise FabricmarkError(f"no plotly.min.js: {error}", "run `make setup`", ENVIRONMENT) from error
    return text.replace("</script", "<\\/script")  # the only words that could end the element it stands in


def label(text: str) -> str:
    """A name as plotly shall show it: its texts are a kind of HTML, and names are none."""
    return escape(printable(text), quote=False)


def wrapped(text: str) -> str:
    """A row's label in lines short enough for a phone."""
    lines: list[str] = []
    for word in printable(text).split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= LONGEST_LABEL:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return "<br>".join(escape(line, quote=False) for line in lines)


def data(plot: Plot) -> str:
    """{"traces", "layout"} as JSON that may stand inside a script element."""
    document = {"traces": [trace(plot, entry) for entry in plot.series], "layout": layout(plot)}
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028")


def trace(plot: Plot, series: Series) -> dict:
    """One series."""
    colour = GREY if series.colour is None else PALETTE[series.colour]
    drawn = {
        "name": label(series.name),
        "x": [number(value) for value in series.x],
        "y": [number(value) for value in series.y],
        "hovertemplate": "%{fullData.name}<br>%{x:.4~g}: %{y:.4~g}<extra></extra>",
    }
    if series.hover:
        drawn["text"] = [label(text) for text in series.hover]
        drawn["hovertemplate"] = "%{fullData.name}<br>%{text}<extra></extra>"
        drawn["textposition"] = "none" if plot.rows else "top center"
    if series.style == "bars":
        drawn |= {"type": "bar", "orientation": "h", "marker": {"color": colour}}
        if plot.overlaid:
            drawn["marker"]["line"] = {"width": 0.5, "color": "#ffffff"}
            drawn["width"] = 0.7
        if series.base:
            drawn["base"] = [number(value) for value in series.base]
        return drawn
    marker = {"color": colour, "size": 7, "symbol": MARKERS[(series.colour or 0) % len(MARKERS)]}
    if series.style == "points":
        return drawn | {"type": "scatter", "mode": "markers", "marker": {**marker, "size": 5, "opacity": 0.7}}
    line = {"color": colour, "dash": DASHES[series.style], "width": 2}
    mode = "lines+markers" if series.style == "line" else "lines"
    return drawn | {"type": "scatter", "mode": mode, "line": line, "marker": marker}


def number(value: float) -> float:
    """Six digits are more than a screen shows; fewer letters make a smaller page."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def inside_height(plot: Plot) -> int:
    """Height of the area between the axes [pixels]: room for every row's label."""
    if not plot.rows:
        return 320
    lines = max(wrapped(text).count("<br>") + 1 for text in plot.rows)
    return max(120, len(plot.rows) * max(34, 17 * lines + 5))


def layout(plot: Plot) -> dict:
    """Axes, legend below, and a height that leaves room for every row and line of the legend."""
    plain = {"gridcolor": "#e2e2e2", "zerolinecolor": "#bdbdbd", "linecolor": "#767676", "automargin": True}
    x = {**plain, "title": {"text": label(plot.x_label)}, "type": "log" if plot.log_x else "linear"}
    y = {**plain, "title": {"text": label(plot.y_label)}, "type": "log" if plot.log_y else "linear"}
    for axis, values in ((x, "x"), (y, "y")):
        numbers = [value for entry in plot.series for value in getattr(entry, values)]
        if axis["type"] == "log" and wants_log(numbers, 100):
            axis["dtick"] = 1  # powers of ten only: more labels than that would touch each other
    if plot.x_ticks:
        x |= {
            "tickmode": "array",
            "tickvals": [place for place, _ in plot.x_ticks],
            "ticktext": [label(text) for _, text in plot.x_ticks],
        }
    if plot.rows:
        y |= {
            "tickmode": "array",
            "tickvals": list(range(len(plot.rows))),
            "ticktext": [wrapped(text) for text in plot.rows],
            "range": [len(plot.rows) - 0.5, -0.5],  # the first row on top
            "showgrid": False,
            "zeroline": False,
        }
    elif not plot.log_y and all(entry.style != "points" for entry in plot.series):
        y["rangemode"] = "tozero"
    return {
        "height": inside_height(plot) + 90 + 22 * ceil(len(plot.series) / 2),
        "margin": {"l": 60, "r": 16, "t": 34, "b": 50},
        "font": {"family": FONT, "size": 13, "color": "#1a1a1a"},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "xaxis": x,
        "yaxis": y,
        "barmode": "overlay" if plot.overlaid else "group",
        "bargap": 0.25,
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0,
            "xanchor": "left",
        },
        "hovermode": "closest",
        "hoverlabel": {"align": "left"},
    }
