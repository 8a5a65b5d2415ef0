"""Links of pages: each file and heading that one names is there, and every page stands in the list."""

import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from conftest import REPOSITORY

LIST = REPOSITORY / "docs" / "README.md"
NAMES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "data/examples/README.md",
    "data/published/README.md",
    "data/validation/README.md",
)
PAGES = [
    *(REPOSITORY / name for name in NAMES if (REPOSITORY / name).exists()),
    *sorted(REPOSITORY.glob("docs/**/*.md")),
]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def links(text):
    """Where the links of a page lead, without those in blocks of code."""
    return LINK.findall(FENCED.sub("", text))


@cache
def anchors(page):
    """Of the headings, as a forge makes them of their words."""
    made, seen = set(), {}
    for heading in re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE):
        words = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda found: found[1] or "", heading.strip().lower())
        kept = (letter for letter in words if letter in " -_" or unicodedata.category(letter)[0] in "LNM")
        name = "".join(kept).replace(" ", "-")
        count = seen[name] = seen.get(name, -1) + 1
        made.add(f"{name}-{count}" if count else name)
    return made


def fault(page, link):
    """What is wrong with a link of a page; None where it holds, or leads elsewhere."""
    if re.match(r"[a-z]+:", link):
        return None
    place, _, anchor = link.partition("#")
    target = (page.parent / place).resolve() if place else page
    if not target.exists():
        return f"{link}: no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"{link}: no such heading"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_hold(page):
    found = [fault(page, link) for link in links(page.read_text(encoding="utf-8"))]
    assert [one for one in found if one] == []


def test_a_broken_link_would_be_found():
    page = REPOSITORY / "README.md"
    assert links("[a](b.md#c) ![d](e.svg)\n```\n[x](y)\n```\n") == ["b.md#c", "e.svg"]
    assert (
        fault(page, "docs/nothing.md") and fault(page, "docs/results.md#nothing") and fault(page, "#nothing")
    )
    assert fault(page, "docs/results.md#the-answer-first") is None


def test_every_page_is_in_the_list_of_pages():
    listed = {
        (LIST.parent / link.partition("#")[0]).resolve() for link in links(LIST.read_text(encoding="utf-8"))
    }
    pages = {path for path in Path(REPOSITORY / "docs").glob("**/*.md") if path != LIST}
    assert pages - listed == set()
