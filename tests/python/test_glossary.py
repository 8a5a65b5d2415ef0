"""docs/reference/glossary.md: our names beside the field's, and words that are not used."""

import re
from collections import Counter

import pytest
from fabricmark.base import paths

GLOSSARY = paths.root() / "docs" / "reference" / "glossary.md"
SOURCES = ("src", "python", "kernels", "tools")
REFUSED_IN = (*SOURCES, "bench", "docs", "rtl", "tests")
SUFFIXES = (".cpp", ".hpp", ".h", ".cl", ".py", ".md", ".toml", ".sv", ".json", ".txt")
# Where a refused word stands for something else, or is what a table of old names says.
ALLOWED = (
    "docs/reference/glossary.md",
    "tests/python/test_glossary.py",
    'kOldNames{std::pair{"--charge", "--simulate"}}',
    'kOldDryRunPlatform = "phantom"',
    'options({"--charge", "--system", "s.json"}).simulates',
)


def tables() -> list[list[tuple[str, ...]]]:
    """The rows of each table, without headings."""
    found: list[list[tuple[str, ...]]] = []
    for line in GLOSSARY.read_text("utf-8").splitlines():
        if line.startswith("## "):
            found.append([])
        elif line.startswith("|"):
            found[-1].append(tuple(cell.strip() for cell in line.strip("|").split("|")))
    return [table[2:] for table in found]


def rows() -> list[tuple[str, ...]]:
    return [row for table in tables()[:-1] for row in table]


def refused() -> list[str]:
    return [word.strip() for row in tables()[-1] for word in row[0].split(",")]


def identifiers(rows_of: list[tuple[str, ...]]) -> list[str]:
    """Names of classes and functions on the left, without options."""
    ours = " ".join(row[0] for row in rows_of)
    return [name for name in re.findall(r"`([A-Za-z_]+)`", ours) if name != "costs"]


def texts(folders: tuple[str, ...]) -> dict[str, str]:
    root = paths.root()
    found = [root / name for name in ("README.md", "CONTRIBUTING.md")]
    for folder in folders:
        found += [path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES]
    return {path.relative_to(root).as_posix(): path.read_text("utf-8", errors="replace") for path in found}


def lines_with_refused(found: dict[str, str]) -> list[str]:
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(map(re.escape, refused()))})(?![A-Za-z])")
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in found.items()
        if name not in ALLOWED and pattern.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line) and not any(one in line for one in ALLOWED)
    ]


@pytest.fixture(scope="module")
def words() -> set[str]:
    return {word for text in texts(SOURCES).values() for word in re.findall(r"[A-Za-z_]+", text)}


def test_has_three_columns_and_names_nothing_twice():
    all_rows = rows()
    assert len(all_rows) >= 60
    assert {len(row) for row in all_rows} == {3}
    twice = [name for name, count in Counter(row[0] for row in all_rows).items() if count > 1]
    assert not twice


def test_names_on_the_left_are_in_the_sources(words):
    """A row whose name was changed goes from the left."""
    gone = [name for name in identifiers(rows()) if name not in words]
    assert not gone


def test_a_name_that_is_gone_is_found(words):
    assert [name for name in identifiers([("`NeverWritten`", "", "")]) if name not in words]


def test_words_that_are_not_used_are_nowhere():
    assert not lines_with_refused(texts(REFUSED_IN))


def test_a_word_that_is_not_used_is_found():
    assert len(refused()) > 20
    planted = {
        "src/a.hpp": "/// Of the part under way.\nint under_way;\nint charges_;\n",
        "docs/b.md": "river discharge",
    }
    assert len(lines_with_refused(planted)) == 2
