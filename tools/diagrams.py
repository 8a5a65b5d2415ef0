"""Draw the rooms of the code and the steps of a run as pictures for docs/architecture.md.

    .venv/bin/python tools/diagrams.py

Rooms are those of the page's tables, which tests/python/test_rooms.py compares with what files import and
include; steps are those that src/runtime/rank_run.cpp begins. A test compares the pictures.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
PAGE = DOCS / "architecture.md"
RUN = REPOSITORY / "src" / "runtime" / "rank_run.cpp"
ROOM = re.compile(r"^\| `([^`]+)` \|.*\|([^|]*)\|$", re.MULTILINE)
BEGUN = re.compile(r'begin\("(\w+)", "([^"]+)"\)')
CALLED = re.compile(r"benchmark_->(prepare|execute|validate_repetition)\(")
# What those three calls are, in the words of docs/architecture.md.
OF_A_REPETITION = {
    "prepare": "new inputs, outputs poisoned",
    "execute": "timed regions, each between barriers",
    "validate_repetition": "results checked",
}
STYLE = (
    "text{font:12px sans-serif;fill:#1b2a33}.small{font-size:11px;fill:#52646f}"
    ".room{fill:#e8f1f2;stroke:#2f7f86}.line{stroke:#9fb4bb;fill:none}.rank{fill:#fff7e6;stroke:#b98a2f}"
    ".paper{fill:#fff}"
)
TOP, NARROWEST = 56.0, 480.0  # where rooms begin below the title, and what its lines need
Rooms = Mapping[str, Sequence[str]]


def rooms(heading: str) -> dict[str, list[str]]:
    """{room: rooms that it uses} of the table below a heading, from the top one down."""
    below = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    section = below.partition("\n## ")[0]
    return {name: re.findall(r"`([^`]+)`", uses) for name, uses in ROOM.findall(section)}


def layers(known: Rooms) -> list[list[str]]:
    """Rooms by the longest way down, the top ones first; those that use none and that none uses are last."""
    used = {other for uses in known.values() for other in uses}

    @cache
    def depth(room: str) -> int:
        return 1 + max((depth(other) for other in known[room]), default=-1)

    found: dict[int, list[str]] = {}
    for room in known:
        alone = not known[room] and room not in used
        found.setdefault(-1 if alone else depth(room), []).append(room)
    return [found[place] for place in sorted(found, reverse=True)]


def direct(known: Rooms) -> list[tuple[str, str]]:
    """(room, other) that it uses, but those that follow from a third room between them."""

    @cache
    def below(room: str) -> frozenset[str]:
        return frozenset(known[room]).union(*(below(other) for other in known[room]))

    return [
        (room, other)
        for room, uses in known.items()
        for other in uses
        if not any(other in below(third) for third in uses)
    ]


def svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
    inner = "\n".join(parts)
    return (
        f'{head} role="img">\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n'
        f'<rect class="paper" width="{width:g}" height="{height:g}"/>\n{inner}\n</svg>\n'
    )


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>'


def text(x: float, y: float, words: str, *, small: bool = False, anchor: str = "middle") -> str:
    kind = ' class="small"' if small else ""
    return f'<text{kind} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def of_rooms(heading: str, title: str, before: str) -> str:
    """`before`: what all names begin with, which is left out."""
    known = rooms(heading)
    names = {room: room.removeprefix(before).rstrip("/") for room in known}
    widths = {room: 7.0 * len(name) + 18 for room, name in names.items()}
    rows, gap, high, step = layers(known), 14.0, 28.0, 66.0
    width = max(sum(widths[room] for room in row) + gap * (len(row) - 1) for row in rows) + 2 * gap
    width = max(width, NARROWEST)
    at: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        free = (width - sum(widths[room] for room in row)) / (len(row) + 1)
        x = free
        for room in row:
            at[room] = (x + widths[room] / 2, TOP + number * step)
            x += widths[room] + free
    lines = []
    for room, other in direct(known):
        (x, y), (to_x, to_y) = at[room], at[other]
        bend = (to_y - y - high) / 2
        lines.append(
            f'<path class="line" d="M{x:.5g} {y + high:g}c0 {bend:g} {to_x - x:.5g} {bend:g}'
            f' {to_x - x:.5g} {to_y - y - high:g}"/>'
        )
    boxes = [
        part
        for room, (x, y) in at.items()
        for part in (
            box(round(x - widths[room] / 2, 2), y, widths[room], high, "room"),
            text(round(x, 2), y + 18, names[room]),
        )
    ]
    note = "lines lead down to what a room uses; those that follow from others are left out"
    head = [text(gap, 20, title, anchor="start"), text(gap, 38, note, small=True, anchor="start")]
    return svg(round(width, 2), TOP + len(rows) * step - 20, title, [*lines, *boxes, *head])


def steps() -> list[tuple[str, str]]:
    """(name in result files, words) of what a run does, in order."""
    return BEGUN.findall(RUN.read_text(encoding="utf-8"))


def of_run() -> str:
    """The steps of a run, two ranks side by side."""
    source = RUN.read_text(encoding="utf-8")
    repeated = [OF_A_REPETITION[name] for name in CALLED.findall(source.partition("::one_repetition(")[2])]
    title, wide, high, gap = "A run, step by step", 250.0, 34.0, 40.0
    left, right = 20.0, 20.0 + wide + 40
    parts = [text(left, 22, title, anchor="start")]
    parts += [text(x + wide / 2, 44, f"rank {rank}", small=True) for rank, x in enumerate((left, right))]
    y = 54.0
    for name, words in steps():
        inner = repeated if name == "repetitions" else []
        tall = high + 30 * len(inner)
        for x in (left, right):
            parts.append(box(x, y, wide, tall, "rank"))
            parts.append(text(x + wide / 2, y + 21, f"{name}: {words}"))
            for place, one in enumerate(inner):
                parts.append(box(x + 10, y + high + 30 * place - 4, wide - 20, 24, "room"))
                parts.append(text(x + wide / 2, y + high + 30 * place + 12, one, small=True))
        y += tall + gap
        middle = y - gap / 2
        parts.append(f'<path class="line" d="M{left:g} {middle:g}H{right + wide:g}"/>')
        parts.append(text((left + right + wide) / 2, middle - 3, "all ranks agree, or all end", small=True))
    parts.append(
        text((left + right + wide) / 2, y + 8, "the first rank writes the result file, as its last act")
    )
    return svg(right + wide + left, y + 26, title, parts)


PICTURES = {
    "rooms_python.svg": lambda: of_rooms("Rooms of the Python package", "Rooms of the Python package", ""),
    "rooms_sources.svg": lambda: of_rooms("Rooms of the C++ sources", "Rooms of the C++ sources", "src/"),
    "run.svg": of_run,
}


def main() -> None:
    for name, draw in PICTURES.items():
        (DOCS / name).write_text(draw(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
