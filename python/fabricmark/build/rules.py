"""What the vendors' tools take, as data: rules/*.toml, each rule with the page of the vendor's documents.

A rule is known by its name, which a finding says; check.py has the code of each.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError, check_known

FOLDER = paths.PACKAGE / "build" / "rules"
ONEAPI = "icpx"  # has its own packages of boards that aoc has, too
FILES = {"v++": "vitis", "aoc": "aoc", ONEAPI: "icpx"}  # by the name of the tool
NOTE = "note"  # the mark of a rule that is said and stops nothing


@dataclass(frozen=True)
class Span:
    """Versions of a tool, both ends included; "" where there is no end."""

    since: str = ""
    until: str = ""

    def has(self, version: str) -> bool:
        """Whether the version lies in it."""
        return (not self.since or key(version) >= key(self.since)) and (
            not self.until or key(version) <= key(self.until)
        )


@dataclass(frozen=True)
class Rule:
    """`said`: what holds. `source`: the page that says so. `is_note`: the tool goes on where it does not.
    `remedy`: what to do then, where the file says it."""

    name: str
    said: str
    source: str
    is_note: bool
    remedy: str = ""


@dataclass(frozen=True)
class Option:
    """`takes`: how a value follows (none, separate, joined, equals, any). `calls`: letters of the steps that
    know it; "" for all. `same`: the long name of a short one. `values`: all that there are; () for any."""

    name: str
    takes: str
    span: Span
    calls: str = ""
    same: str = ""
    values: Sequence[str] = ()
    once: bool = False

    @property
    def meaning(self) -> str:
        """The name that stands for both forms."""
        return self.same or self.name


@dataclass(frozen=True)
class Rules:
    """One file. `limits`: numbers by name, each with the versions that have it. `variants`: lists of tables
    that say what is written for which version (frequency, relaxed)."""

    tool: str
    versions: Sequence[str]
    usual: str
    targets: Sequence[str]
    rules: Mapping[str, Rule]
    options: Mapping[str, Option]
    families: Sequence[str]
    limits: Mapping[str, tuple[int, Span]] = field(default_factory=dict)
    variants: Mapping[str, Sequence[Mapping]] = field(default_factory=dict)
    reserved: Mapping[str, Sequence[str] | str] = field(default_factory=dict)

    def limit(self, name: str, version: str) -> int | None:
        """The number, where the version has one."""
        most, span = self.limits[name]
        return most if span.has(version) else None

    def form(self, name: str, version: str) -> Mapping:
        """Of a list of variants the one for the version."""
        return next(one for one in self.variants[name] if _span(one).has(version))

    def reserved_names(self) -> frozenset[str]:
        """Names of arguments that the tool changes, in small letters."""
        lists = [words for words in self.reserved.values() if not isinstance(words, str)]
        return frozenset(word for words in lists for word in words)


@dataclass(frozen=True)
class Platform:
    """A name of a board, as a tool has it, with the versions of the tool for which it is the usual one."""

    name: str
    span: Span
    io_channels: int = 0


@dataclass(frozen=True)
class Board:
    """What a tool knows of a board. `banks`: how many of each kind of memory. `slr_of`: the SLR of each
    bank, or of all. `family`: how names of its platforms call the board; "" where they do not."""

    id: str
    tool: str
    platforms: Sequence[Platform]
    family: str = ""
    slrs: int = 0
    usual_slr: int = 0
    clock_mhz: int = 0
    banks: Mapping[str, int] = field(default_factory=dict)
    slr_of: Mapping[str, int | Sequence[int]] = field(default_factory=dict)

    def platform(self, version: str, *, has_channels: bool = False) -> Platform:
        """The usual one for a version of the tool. Raises FabricmarkError (2) where there is none."""
        able = [one for one in self.platforms if one.io_channels or not has_channels]
        for one in able:
            if one.span.has(version):
                return one
        if not able:
            cause = f"no package of {self.id} with I/O channels is known"
            raise FabricmarkError(cause, "name the board by --platform, or build another --variant")
        known = [f"{one.name} ({_words(one.span)})" for one in able]
        cause = f"{self.tool} {version} has no platform of {self.id}"
        raise FabricmarkError(cause, f"use --tool-version for {', '.join(known)}, or name one by --platform")

    def slr(self, kind: str, bank: int) -> int:
        """The SLR that a bank of memory is joined to."""
        place = self.slr_of.get(kind, self.usual_slr)
        return place if isinstance(place, int) else place[bank % len(place)]


def key(version: str) -> tuple[int, ...]:
    """A version as numbers, for comparison: of 2022.1.1 the first two count."""
    return tuple(int(part) for part in version.split(".")[:2])


@cache
def load(tool: str) -> Rules:
    """The rules of a tool."""
    document = _read(FILES[tool])
    sources = document["sources"]
    found = {
        name: Rule(name, one["said"], sources[one["source"]], one.get("mark") == NOTE, one.get("remedy", ""))
        for name, one in document["rules"].items()
    }
    options = {
        name: Option(
            name, one["takes"], _span(one), one.get("calls", ""), one.get("same", ""),
            tuple(one.get("values", ())), one.get("once", False),
        )
        for name, one in document["options"].items()
    }  # fmt: skip
    limits = {name: (one["most"], _span(one)) for name, one in document.get("limits", {}).items()}
    variants = {name: one for name, one in document.items() if isinstance(one, list) and _are_tables(one)}
    return Rules(
        tool, document["versions"], document["usual"], document["targets"], found, options,
        list(document["families"]), limits, variants, document.get("reserved", {}),
    )  # fmt: skip


@cache
def boards() -> Mapping[str, Board]:
    """All boards, by the names of systems/boards, as the vendor's tool for OpenCL C has them."""
    return _boards("boards")


def boards_of(tool: str) -> Mapping[str, Board]:
    """Those that a tool has a platform of."""
    found = {**boards(), **_boards("oneapi")} if tool == ONEAPI else boards()
    return {name: one for name, one in found.items() if one.tool == tool}


@cache
def _boards(section: str) -> Mapping[str, Board]:
    document, found = _read("boards"), {}
    for name, given in document[section].items():
        one = document[section][given["like"]] if "like" in given else given
        platforms = [Platform(p["name"], _span(p), p.get("io_channels", 0)) for p in one["platforms"]]
        numbers = {part: one[part] for part in ("slrs", "usual_slr", "clock_mhz") if part in one}
        found[name] = Board(
            name, one["tool"], platforms, one.get("family", ""), banks=one.get("banks", {}),
            slr_of=one.get("slr_of", {}), **numbers,
        )  # fmt: skip
    return found


def board(tool: str, name: str) -> Board | None:
    """What the tool knows of a board; None where it has none of that name, or another tool has."""
    return boards_of(tool).get(name)


def version_of(tool: str, given: str | None, made_by: str) -> str:
    """The version to write for: the given one, else the one in `made_by`, as `Vitis 2022.2`, else the usual.

    Raises FabricmarkError (2) for a version that the rules do not know.
    """
    known = load(tool)
    if given is not None:
        check_known(given, known.versions, f"no rules for {tool} {given}")
        return given
    numbers = re.findall(r"\b\d+\.\d+", made_by)
    return next((one for one in numbers if one in known.versions), known.usual)


def _span(one: Mapping) -> Span:
    return Span(one.get("since", ""), one.get("until", ""))


def _words(span: Span) -> str:
    return f"{span.since or 'the first'} to {span.until or 'the last'}"


def _are_tables(values: list) -> bool:
    return all(isinstance(one, dict) for one in values)


def _read(name: str) -> dict:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
