"""What a plot is, before anybody draws it: the page and the pictures are made from the same description."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

# Okabe and Ito's palette, told apart with every common kind of colour blindness; without its yellow, which is
# too pale for lines on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#4d4d4d", "#8c564b")
GREY = "#767676"
MOST_SERIES = len(PALETTE)
LOG_FROM_RATIO = 20.0
MOST_TICKS = 6


@dataclass(frozen=True)
class Series:
    """Values with one name in the legend, which ends with their kind.

    style: line, curve (without its points), dashed (a model), dotted (a limit), points, or bars. `colour`:
    index in PALETTE; None: grey.
    Bars lie: `y` is their row, `x` their length, `base` where they start (empty: at 0). `hover`: what to say
    of each value; `spots`: places to point at instead, (x, y, text), where values are too many for that.
    `bands`: (bottom, top) of each bar in its row, from 0 to 1 (empty: all of it).
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "line"
    colour: int | None = 0
    hover: Sequence[str] = ()
    base: Sequence[float] = ()
    spots: Sequence[tuple[float, float, str]] = ()
    bands: Sequence[tuple[float, float]] = ()

    @property
    def word(self) -> str:
        """The name without its kind: what a line shares with its model."""
        return self.name.rpartition(" (")[0] or self.name


@dataclass(frozen=True)
class Plot:
    """One plot. `slug` names its file; `left_out`: what is not drawn or has to be known, in sentences.

    `x_ticks`: positions and their labels; `rows`: labels of the rows of lying bars. `unit`: of the values,
    those along x where there are rows. `family`: what the plot shares with those beside it, of which `part`
    tells it apart. `reference`: a value that is marked by a line across all rows. `has_own_colours`: each
    series keeps its own, whatever stands beside it.
    """

    slug: str
    title: str
    x_label: str = ""
    y_label: str = ""
    series: Sequence[Series] = ()
    log_x: bool = False
    log_y: bool = False
    x_ticks: Sequence[tuple[float, str]] = ()
    rows: Sequence[str] = ()
    overlaid: bool = False
    left_out: str = ""
    unit: str = ""
    family: str = ""
    part: str = ""
    reference: float | None = None
    has_own_colours: bool = False

    def alternative(self) -> str:
        """The plot in words, for those who do not see it: axes, and the range of each series."""
        parts = [f"Plot: {self.title}."]
        if self.rows:
            parts.append(f"Bars over {self.x_label}, {len(self.rows)} rows.")
        else:
            scales = (
                f"{'logarithmic' if self.log_x else 'linear'} and {'logarithmic' if self.log_y else 'linear'}"
            )
            parts.append(f"{self.y_label} over {self.x_label}, axes {scales}.")
        for entry in self.series:
            numbers = entry.x if self.rows else entry.y
            if len(numbers):
                parts.append(
                    f"{entry.name}: {len(numbers)} values, {min(numbers):.4g} to {max(numbers):.4g}."
                )
        return " ".join(parts)


def wants_log(values: Sequence[float]) -> bool:
    """Whether values span so much that only a logarithmic axis shows all of them."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= LOG_FROM_RATIO


def not_drawn(count: int, words: str, *others: str) -> str:
    """A sentence on so many, `{}` in its words, that are left out, before others; these alone for none."""
    return " ".join(filter(None, (words.format(count) if count > 0 else "", *others)))


def slug(*parts: object) -> str:
    """A file name of letters, digits and hyphens."""
    text = "-".join(str(part) for part in parts).lower()
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
    return "-".join(piece for piece in kept.split("-") if piece)[:80]


def unique_slugs(plots: Sequence[Any]) -> list[Any]:
    """The same plots or pictures, each with a name of its own."""
    seen: dict[str, int] = {}
    named = []
    for plot in plots:
        count = seen[plot.slug] = seen.get(plot.slug, 0) + 1
        named.append(plot if count == 1 else replace(plot, slug=f"{plot.slug}-{count}"))
    return named
