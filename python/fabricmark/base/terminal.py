"""Tables on a terminal of any width, and how they and messages write a number and a share.

No name and no number is ever cut, shrunk or wrapped.

Columns without a value are left out, columns that say the same in every row are said once above the table.
What is still too wide becomes several tables one below the other, each with the columns that tell the rows
apart; where not even one value fits beside those, each row becomes a block of lines.
"""

import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fabricmark.base.errors import printable

NOTHING = "-"
PIPED_COLUMNS = 130  # of what is not a terminal; COLUMNS says otherwise
GAPS = (2, 1)  # spaces between columns; the second where that saves a split
NARROWEST_PROSE = 24
INDENT = "  "
JOINED = "\N{NO-BREAK SPACE}"  # stands for a space of prose at which no line is broken

Cell = str | Text
Row = Sequence[Cell]


@dataclass(frozen=True)
class Column:
    """How a column is shown; the heading may be broken between words.

    `right`: numbers. `key`: tells the rows apart, and is there in every part of a table. `once`: said above
    the table where all rows agree. `prose`: text that may be broken between words.
    """

    heading: str
    right: bool = False
    key: bool = False
    once: bool = False
    prose: bool = False


def number(value: float | None) -> str:
    """Four significant digits without an exponent where that is readable."""
    if value is None:
        return NOTHING
    return f"{value:.4g}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.3e}"


def counted(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def percent(share: float | None, *, digits: int = 0, signed: bool = False) -> str:
    """A share: `81 %`; an error with its sign: `+173 %`; with `digits` after the point: `4.1 %`."""
    if share is None:
        return NOTHING
    text = f"{100 * share:.{digits}f}"
    if signed and not text.startswith("-"):
        text = f"+{text}"
    return f"+0{text[2:]} %" if signed and float(text) == 0 else f"{text} %"


def numbers(*headings: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(heading, right=True) for heading in headings]


def console() -> Console:
    """Of standard output, as wide as the terminal, COLUMNS or else PIPED_COLUMNS say."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return Console(width=int(given), highlight=False)
    return Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)


def say(out: Console, text: Cell, style: str = "") -> None:
    """Prose, broken between words only."""
    plain = text if isinstance(text, Text) else Text(printable(text), style=style)
    for line in wrapped(plain, out.width):
        out.print(line, soft_wrap=True)


def title(out: Console, parts: Iterable[str], style: str = "bold") -> None:
    """Names on one line where they fit, else on several; none is broken."""
    for line in packed([Text(printable(part), style=style) for part in parts], out.width):
        out.print(line, soft_wrap=True)


def items(parts: Iterable[str]) -> Text:
    """Parts for a column of prose, none of which is broken."""
    return Text(", ".join(printable(part).replace(" ", JOINED) for part in parts) or NOTHING)


def show(out: Console, columns: Sequence[Column], rows: Iterable[Row]) -> set[str]:
    """Print a table; the headings that it has, above it or within."""
    cells = [[cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row] for row in rows]
    kept = [place for place in range(len(columns)) if any(not _is_empty(row[place]) for row in cells)]
    said = [place for place in kept if columns[place].once and len({row[place].plain for row in cells}) == 1]
    for line in packed([_pair(columns[place], cells[0][place]) for place in said], out.width):
        out.print(line, soft_wrap=True)
    inside = [place for place in kept if place not in said]
    layout = _Layout([columns[place] for place in inside], [[row[at] for at in inside] for row in cells])
    layout.show(out)
    return {columns[place].heading for place in kept}


def table(parts: Iterable[str], columns: Sequence[Column], rows: Iterable[Row]) -> None:
    """Print a table below its title."""
    out = console()
    title(out, parts)
    show(out, columns, rows)


def packed(parts: Sequence[Text], width: int, indent: str = "", separator: str = ", ") -> list[Text]:
    """Parts on as few lines as hold each of them whole."""
    lines: list[Text] = []
    end = separator.rstrip()
    for part in parts:
        if lines and lines[-1].cell_len + len(separator) + part.cell_len + len(end) <= width:
            lines[-1] = lines[-1] + Text(separator) + part
        else:
            if lines:
                lines[-1] = lines[-1] + Text(end)
            lines.append(Text(indent if lines else "") + part)
    return lines


class _Layout:
    """The columns that are left, and how they fit."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> None:
        self.columns, self.rows = columns, rows
        every = range(len(columns))
        self.keys = [place for place in every if columns[place].key] or [*every][:1]
        self.others = [place for place in every if place not in self.keys]
        self.natural = [self._widest(place) for place in every]
        self.least = [self._narrowest(place) for place in every]

    def _widest(self, place: int) -> int:
        """Columns of the terminal that nothing is broken in."""
        return max(cell_len(self.columns[place].heading), *(row[place].cell_len for row in self.rows), 0)

    def _narrowest(self, place: int) -> int:
        """Those that it takes where headings and prose may be broken."""
        heading = max(cell_len(word) for word in self.columns[place].heading.split(" "))
        if not self.columns[place].prose:
            return max(heading, *(row[place].cell_len for row in self.rows), 0)
        words = (word for row in self.rows for word in row[place].plain.split(" "))
        return max(heading, min(NARROWEST_PROSE, self.natural[place]), *map(cell_len, words), 0)

    def show(self, out: Console) -> None:
        if not self.columns or not self.rows:
            return
        fitting = [(gap, parts) for gap in GAPS if (parts := self._parts(out.width, gap)) is not None]
        if not fitting:
            self._blocks(out)
            return
        gap, parts = min(fitting, key=lambda pair: len(pair[1]))  # of equal ones the first, which is wider
        for number, part in enumerate(parts):
            if number:
                out.print()
            out.print(self._table(part, out.width, gap), soft_wrap=True, crop=False)

    def _parts(self, width: int, gap: int) -> list[list[int]] | None:
        """Which columns stand beside each other; None where one does not fit beside the keys."""
        keys = sum(self.least[place] + gap for place in self.keys)
        parts: list[list[int]] = []
        room = 0
        for place in self.others:
            if not parts or room < self.least[place]:
                parts.append([*self.keys])
                room = width - keys
            if room < self.least[place]:
                return None
            parts[-1].append(place)
            room -= self.least[place] + gap
        if not parts and keys - gap <= width:
            parts = [[*self.keys]]
        return [sorted(part) for part in parts] or None

    def _table(self, part: Sequence[int], width: int, gap: int) -> Table:
        drawn = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False)
        room = width - sum(self.least[place] for place in part) - gap * (len(part) - 1)
        widths = {}
        for place in part:
            more = min(room, self.natural[place] - self.least[place])
            widths[place] = self.least[place] + more
            room -= more
            column = self.columns[place]
            heading = Text("\n").join(wrapped(Text(column.heading), widths[place]))
            drawn.add_column(
                heading, justify="right" if column.right else "left", no_wrap=True,
                min_width=widths[place], vertical="top",
            )  # fmt: skip
        for row in self.rows:
            drawn.add_row(*(Text("\n").join(wrapped(row[place], widths[place])) for place in part))
        return drawn

    def _blocks(self, out: Console) -> None:
        """Each row as lines of its own: the keys, then what is known of them."""
        for row in self.rows:
            for line in packed([row[place] for place in self.keys], out.width, INDENT, " "):
                out.print(line, soft_wrap=True)
            told = [place for place in self.others if not _is_empty(row[place])]
            pairs = [_pair(self.columns[place], row[place]) for place in told]
            short = [pair for pair, place in zip(pairs, told, strict=True) if not self.columns[place].prose]
            for line in packed(short, out.width - len(INDENT)):
                out.print(Text(INDENT) + line, soft_wrap=True)
            for pair, place in zip(pairs, told, strict=True):
                if self.columns[place].prose:
                    for line in wrapped(pair, out.width - len(INDENT)):
                        out.print(Text(INDENT) + line, soft_wrap=True)


def _is_empty(cell: Text) -> bool:
    return cell.plain in ("", NOTHING)


def _pair(column: Column, cell: Text) -> Text:
    """`kind: measured`."""
    return Text(f"{column.heading}: ", style="dim") + cell


def wrapped(text: Text, width: int) -> list[Text]:
    """Lines that are broken between words; a longer word keeps its line whole."""
    if text.cell_len <= width:
        return [_plain(text)]
    lines = textwrap.wrap(text.plain, max(width, 1), break_long_words=False, break_on_hyphens=False)
    return [Text(line.replace(JOINED, " "), style=text.style) for line in lines]


def _plain(text: Text) -> Text:
    return Text(text.plain.replace(JOINED, " "), style=text.style) if JOINED in text.plain else text
