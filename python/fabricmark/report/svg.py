"""A plot as an SVG for the page, small enough to stand beside its like.

Drawn here and not by a library: interactive ones bring megabytes of JavaScript that may ask for the network,
and matplotlib takes a tenth of a second and a hundred kilobytes for each. Colours are classes of page.css, so
that the plot follows the page into the dark and onto paper. What a mark stands for is its <title>.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape

from fabricmark.base.errors import printable
from fabricmark.report import scales
from fabricmark.report.plots import MOST_SERIES, Plot, Series
from fabricmark.report.scales import Scale

WIDTH, HEIGHT = 380, 230
WIDE = 1100  # of a timeline
LETTER = 6.6  # width of a letter of a tick [pixels]
TOP, RIGHT, BOTTOM = 8, 14, 38
LABEL, BAND = 15, 13  # heights of a row's label and of its bars
MOST_LETTERS = 56


@lru_cache(maxsize=1 << 16, typed=True)
def text(value: object) -> str:
    """A value as text: no markup, no control characters."""
    return escape(printable(value))


def number(value: float) -> str:
    """A position in pixels, a tenth at most, in as few letters as possible."""
    return f"{value:.1f}".removesuffix(".0")


def draw(plot: Plot, colours: Mapping[str, int] | None = None) -> str:
    """The plot; `colours`: number of the colour of each series' word, where others share them."""
    shared = {entry.word: entry.colour for entry in plot.series} if colours is None else colours
    width = WIDE if plot.overlaid else WIDTH
    height = TOP + len(plot.rows) * (LABEL + BAND * bars_side_by_side(plot)) + BOTTOM if plot.rows else HEIGHT
    body = lying(plot, shared, width, height) if plot.rows else upright(plot, shared, width, height)
    label = text(plot.alternative())
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" tabindex="0" '
        f'aria-label="{label}">{body}</svg>'
    )


def bars_side_by_side(plot: Plot) -> int:
    return 1 if plot.overlaid or plot.series[0].style == "points" else len(plot.series)


def style(series: Series, colours: Mapping[str, int]) -> str:
    """The class of a series' colour."""
    if series.colour is None:
        return "g"
    return f"s{colours.get(series.word, series.colour) % MOST_SERIES}"


def mark(shape: str, classes: str, said: str) -> str:
    """A shape that can be pointed at; `shape`: an element's name and attributes."""
    return f'<{shape} class="{classes}"><title>{text(said)}</title></{shape.partition(" ")[0]}>'


def y_axis(scale: Scale, unit: str, left: float, right: float) -> str:
    """Grid lines and ticks of an upright axis."""
    values = scale.ticks()
    lines = "".join(f"M{number(left)} {number(scale(value))}H{number(right)}" for value in values)
    words = "".join(
        f'<text x="{number(left - 5)}" y="{number(scale(value) + 4)}" class="e">{text(word)}</text>'
        for value, word in zip(values, tick_words(scale, values, unit), strict=True)
    )
    return f'<path class="grid" d="{lines}"/>{words}'


def tick_words(scale: Scale, values: Sequence[float], unit: str) -> list[str]:
    """What stands at ticks: each in its own prefix on a logarithmic axis, all in one on a linear axis."""
    like = None if scale.is_log else max(abs(value) for value in values)
    return [scales.text(value, unit, like) if value or unit == "%" else "0" for value in values]


def x_axis(scale: Scale, named: Sequence[tuple[float, str]], top: float, bottom: float, label: str) -> str:
    """Grid lines, those ticks that do not touch each other, and the label."""
    lines, words, last = [], [], -1e9
    for value, word in named:
        at, half = scale(value), LETTER * len(word) / 2
        lines.append(f"M{number(at)} {number(top)}V{number(bottom)}")
        inside = min(max(at, half + 2), scale.end + RIGHT - half)  # the first and the last stand at the edges
        if inside - half > last + 3:
            words.append(
                f'<text x="{number(inside)}" y="{number(bottom + 15)}" class="m">{text(word)}</text>'
            )
            last = inside + half
    middle = (scale.start + scale.end) / 2
    words.append(f'<text x="{number(middle)}" y="{number(bottom + 31)}" class="m x">{text(label)}</text>')
    return f'<path class="grid" d="{"".join(lines)}"/>{"".join(words)}'


def upright(plot: Plot, colours: Mapping[str, int], width: float, height: float) -> str:
    """Lines and points over an axis."""
    x = [value for entry in plot.series for value in entry.x]
    y = [value for entry in plot.series for value in entry.y]
    from_zero = not plot.log_y and all(entry.style != "points" for entry in plot.series)
    y_scale = scales.over(y, height - BOTTOM, TOP, plot.log_y, from_zero=from_zero)
    words = tick_words(y_scale, y_scale.ticks(), plot.unit)
    left = 12 + LETTER * max(map(len, words), default=0)
    x_scale = scales.over(x, left, width - RIGHT, plot.log_x)
    named = plot.x_ticks or [(value, scales.text(value)) for value in x_scale.ticks()]
    axes = y_axis(y_scale, plot.unit, left, width - RIGHT)
    axes += x_axis(x_scale, named, TOP, height - BOTTOM, plot.x_label)
    return axes + "".join(
        (dots if entry.style == "points" else line)(entry, style(entry, colours), x_scale, y_scale, plot)
        for entry in sorted(plot.series, key=lambda entry: entry.style == "line")
    )


def line(series: Series, colour: str, x: Scale, y: Scale, plot: Plot) -> str:
    """A line; where it was measured, its points can be pointed at."""
    places = [(x(a), y(b)) for a, b in zip(series.x, series.y, strict=True)]
    path = "L".join(f"{number(a)} {number(b)}" for a, b in places)
    drawn = f'<path class="l {series.style} {colour}" d="M{path}"/>'
    if series.style != "line":
        return drawn
    said = series.hover or [
        f"{scales.text(a)}: {scales.text(b, plot.unit)}" for a, b in zip(series.x, series.y, strict=True)
    ]
    return drawn + "".join(
        mark(f'circle cx="{number(a)}" cy="{number(b)}" r="3"', colour, f"{series.name}: {words}")
        for (a, b), words in zip(places, said, strict=True)
    )


def dots(series: Series, colour: str, x: Scale, y: Scale, _: Plot) -> str:
    """Many points in one path; `spots` can be pointed at."""
    pairs = dict.fromkeys(
        f"M{number(x(a))} {number(y(b))}h0" for a, b in zip(series.x, series.y, strict=True)
    )
    return f'<path class="d {colour}" d="{"".join(pairs)}"/>' + "".join(
        mark(f'circle cx="{number(x(a))}" cy="{number(y(b))}" r="6"', "h", said)
        for a, b, said in series.spots
    )


def lying(plot: Plot, colours: Mapping[str, int], width: float, height: float) -> str:
    """Rows of bars or points, the label of each above it."""
    side = bars_side_by_side(plot)
    pitch = LABEL + BAND * side
    points = plot.series[0].style == "points"
    ends = [
        end
        for entry in plot.series
        for i, value in enumerate(entry.x)
        for end in ((value,) if points else (value + (entry.base[i] if entry.base else 0),))
    ]
    ends += [plot.reference] if plot.reference is not None else []
    scale = scales.over(
        ends, 6, width - RIGHT - (0 if points or plot.overlaid else 40), plot.log_x, from_zero=not points
    )
    ticks = scale.ticks()
    words = zip(ticks, tick_words(scale, ticks, plot.unit), strict=True)
    drawn = [x_axis(scale, list(words), TOP, height - BOTTOM, plot.x_label)]
    tops = Scale(0, 1, TOP + LABEL, TOP + LABEL + pitch)  # of the band of a row
    for place, entry in enumerate(plot.series):
        colour = style(entry, colours)
        if points:
            middle = Scale(0, 1, TOP + LABEL + BAND / 2, TOP + LABEL + BAND / 2 + pitch)
            rows = [spot[1] for spot in entry.spots]
            near = Scale(rows[0] - 0.5, rows[0] + 0.5, middle(rows[0]) - BAND / 2, middle(rows[0]) + BAND / 2)
            drawn.append(dots(entry, colour, scale, near, plot))
        else:
            drawn += bars(
                plot, entry, colour, scale, lambda row, place=place: tops(row) + BAND * place % (side * BAND)
            )
    if plot.reference is not None:
        at = number(scale(plot.reference))
        drawn.append(f'<path class="ref" d="M{at} {TOP}V{number(height - BOTTOM)}"/>')
    most = MOST_LETTERS if width == WIDTH else 3 * MOST_LETTERS
    drawn += [
        f'<text x="6" y="{TOP + row * pitch + 11}" class="r">{text(shortened(name, most))}</text>'
        for row, name in enumerate(plot.rows)
    ]
    return "".join(drawn)


def bars(
    plot: Plot, series: Series, colour: str, scale: Scale, top: Callable[[float], float]
) -> Iterable[str]:
    """The bars of one series; where they start at 0, their values stand at their ends."""
    for i, (length, row) in enumerate(zip(series.x, series.y, strict=True)):
        base = series.base[i] if series.base else 0.0
        start, end = scale(base), scale(base + length)
        said = series.hover[i] if series.hover else scales.text(length, plot.unit)
        low, high = series.bands[i] if series.bands else (0.0, 1.0)
        place = f'x="{number(start)}" y="{number(top(row) + (1 - high) * (BAND - 3))}"'
        size = f'width="{max(end - start, 0.5):.2f}" height="{number((high - low) * (BAND - 3))}"'
        yield mark(f"rect {place} {size}", colour, said)
        if not series.base:
            at = f'x="{number(end + 4)}" y="{number(top(row) + BAND - 4)}"'
            yield f"<text {at}>{text(scales.text(round(length), plot.unit))}</text>"


def shortened(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
