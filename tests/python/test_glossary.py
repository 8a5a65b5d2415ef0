"""docs/reference/glossary.md: our words beside the field's."""

import re
from collections import Counter

import pytest
from fabricmark.base import paths

GLOSSARY = paths.root() / "docs" / "reference" / "glossary.md"
SOURCES = ("src", "python", "kernels", "tools")


def rows() -> list[tuple[str, str, str]]:
    lines = [line for line in GLOSSARY.read_text("utf-8").splitlines() if line.startswith("|")]
    found = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    return [row for row in found if row[0] != "ours" and set(row[0]) != {"-"}]


def identifiers(rows_of: list[tuple[str, str, str]]) -> list[str]:
    """Names of classes and functions on the left, without options."""
    ours = " ".join(row[0] for row in rows_of)
    return [name for name in re.findall(r"`([A-Za-z_]+)`", ours) if name != "costs"]


@pytest.fixture(scope="module")
def words() -> set[str]:
    found: set[str] = set()
    for folder in SOURCES:
        for path in (paths.root() / folder).rglob("*"):
            if path.suffix in (".cpp", ".hpp", ".h", ".cl", ".py"):
                found |= set(re.findall(r"[A-Za-z_]+", path.read_text("utf-8")))
    return found


def test_has_three_columns_and_names_nothing_twice():
    all_rows = rows()
    assert len(all_rows) >= 60
    assert {len(row) for row in all_rows} == {3}
    twice = [name for name, count in Counter(row[0] for row in all_rows).items() if count > 1]
    assert not twice


def test_names_on_the_left_are_in_the_sources(words):
    """A row whose name was changed goes from the left: the glossary tells what is left to rename."""
    gone = [name for name in identifiers(rows()) if name not in words]
    assert not gone


def test_a_name_that_is_gone_is_found(words):
    assert [name for name in identifiers([("`NeverWritten`", "", "")]) if name not in words]
