"""How a value becomes a cell of CSV and of Markdown: the one place where either is escaped.

Names of devices, hosts and files come from elsewhere; none may become a formula, a tag or another column.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any

from fabricmark.base.errors import printable

# A spreadsheet takes a cell that begins with one of these for a formula (OWASP, "CSV Injection").
FORMULA = ("=", "+", "-", "@")


def csv_cell(value: object) -> object:
    """None as nothing, numbers as they are, a text so that no spreadsheet calculates it.

    A text that begins as a formula does gets an apostrophe before it, as spreadsheets have it; one that is a
    number, such as `-3`, does not.
    """
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def columns(kind: Any) -> tuple[str, ...]:
    """The columns of a file with a row for each object of a dataclass: its fields."""
    return tuple(one.name for one in fields(kind))


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Rows, the headings first, as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return text.getvalue()


def markdown_cell(value: object) -> str:
    """One line without tags, links, code or further columns."""
    text = escape(printable(value), quote=False)
    for letter in "\\|`[":
        text = text.replace(letter, f"\\{letter}")
    return text


def as_markdown(rows: Iterable[Sequence[object]]) -> str:
    """Rows, the headings first, as a table of GitHub's Markdown."""
    lines = [[markdown_cell(value) for value in row] for row in rows]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
