"""What pairs of nodes do, as a picture: a cell a pair, darker where it is slower than the median of all."""

from collections.abc import Collection, Mapping, Sequence

from fabricmark.base.errors import printable
from fabricmark.report.plots import GREY, PALETTE
from fabricmark.report.svg import LETTER, mark, number, text

CELL, GAP, MARGIN = 18, 1, 8
LINE = 16  # height of a line of the title and the legend
ALONE = "#f2f2f2"  # a node with itself
SHADES = 5
WORST = 0.5  # share of a loss that has the darkest colour, at most
STYLE = (
    "text{font:11px sans-serif;fill:#222}.e{text-anchor:end}.w{stroke:#000;stroke-width:1.5}"
    f".c{{stroke:#ddd;stroke-width:.5}}.a{{fill:{ALONE}}}.n{{fill:#fff;stroke:{GREY};stroke-dasharray:2}}"
)


def draw(
    title: str,
    nodes: Sequence[str],
    losses: Mapping[tuple[str, str], float],
    slow: Collection[frozenset[str]],
) -> str:
    """An SVG of its own. `losses`: shares by pair, in either order; `slow`: pairs with a border.

    A pair that was not measured is dashed. What a cell stands for is its <title>.
    """
    darkest = min(max((loss for loss in losses.values()), default=0.0), WORST)
    wide = max((len(printable(node)) for node in nodes), default=1) * LETTER
    left, top = MARGIN + wide + 4, MARGIN + 2 * LINE + wide
    size = len(nodes) * CELL
    parts = [f'<text x="{MARGIN}" y="{MARGIN + 11}">{text(title)}</text>']
    for place, node in enumerate(nodes):
        middle = place * CELL + CELL / 2
        parts.append(
            f'<text class="e" x="{number(left - 4)}" y="{number(top + middle + 4)}">{text(node)}</text>'
        )
        x, y = number(left + middle + 4), number(top - 4)
        parts.append(f'<text x="{x}" y="{y}" transform="rotate(-90 {x} {y})">{text(node)}</text>')
        for other, peer in enumerate(nodes):
            parts.append(
                _cell((node, peer), (left + other * CELL, top + place * CELL), losses, slow, darkest)
            )
    parts.append(_legend(left, top + size + LINE, darkest))
    width, height = left + max(size, 300) + MARGIN, top + size + 2 * LINE + MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" role="img" aria-label="{text(title)}">'
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _cell(
    pair: tuple[str, str],
    at: tuple[float, float],
    losses: Mapping[tuple[str, str], float],
    slow: Collection[frozenset[str]],
    darkest: float,
) -> str:
    side = CELL - GAP
    shape = f'rect x="{number(at[0])}" y="{number(at[1])}" width="{side}" height="{side}"'
    if pair[0] == pair[1]:
        return mark(shape, "a", pair[0])
    names = f"{pair[0]} and {pair[1]}"
    loss = losses.get(pair)
    if loss is None:
        return mark(shape, "n", f"{names}: not measured")
    is_slow = frozenset(pair) in slow
    said = f"{names}: {100 * loss:+.1f} %{', slow' if is_slow else ''}"
    return mark(f'{shape} fill="{colour(loss, darkest)}"', "w" if is_slow else "c", said)


def colour(loss: float, darkest: float) -> str:
    """From white, for no loss, to the palette's vermilion."""
    share = min(max(loss / darkest, 0.0), 1.0) if darkest > 0 else 0.0
    dark = [int(PALETTE[1][place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in dark)


def _legend(left: float, top: float, darkest: float) -> str:
    steps = []
    for step in range(SHADES):
        loss = darkest * step / (SHADES - 1)
        x = left + step * (CELL + 36)
        steps.append(
            f'<rect x="{number(x)}" y="{number(top - 12)}" width="{CELL}" height="{CELL - 4}" '
            f'fill="{colour(loss, darkest)}" stroke="{GREY}"/>'
            f'<text x="{number(x + CELL + 3)}" y="{number(top)}">{100 * loss:.0f} %</text>'
        )
    return "".join(steps)
