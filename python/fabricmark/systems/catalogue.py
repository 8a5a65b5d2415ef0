"""All files of systems and their values: what `fabricmark systems list`, `show` and `check` tell."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base.errors import FabricmarkError
from fabricmark.systems import build, files
from fabricmark.systems.files import SourcedValue

KINDS = ("system", "board", "network", "bitstreams")
CURVES = "measured curves"


@dataclass(frozen=True)
class Entry:
    """One file: its kind, its id, what it is, and its values, which may come from the files it is like."""

    kind: str
    name: str
    path: Path
    summary: str
    sourced: tuple[SourcedValue, ...]


def kind_of(path: Path) -> str:
    """What a file describes: by its folder, else by the keys that only one kind has.

    Raises FabricmarkError (2) where neither tells.
    """
    for kind in KINDS[1:]:
        if path.parent.name == files.FOLDERS[kind]:
            return kind
    document = files.parse(path)
    for key, kind in (
        ("devices", "system"),
        ("bitstreams", "bitstreams"),
        ("kind", "network"),
        ("class", "board"),
    ):
        if key in document:
            return kind
    cause = f"{path}: line 1: neither a system nor a board, network or bitstreams"
    raise FabricmarkError(
        cause, "write [[devices]], class, kind or [bitstreams.NAME]; docs/systems.md has examples"
    )


def entry(kind: str, path: Path, profile: str = "fitted") -> Entry:
    """A file, checked with all that it refers to. Raises FabricmarkError (2)."""
    folder = path.parent
    near = folder.parent if folder.name == files.FOLDERS[kind] != "" else folder
    source = build.Source(profile, near)
    if kind == "system":
        every = build.read_kinds(path, profile)
        sourced = unique(value for one in every for value in one.sourced)
        return Entry(kind, path.stem, path, every[0].summary, sourced)
    if kind == "board":
        made, sourced = build.read_board(path, source)
        return Entry(kind, path.stem, path, made.name, sourced)
    if kind == "network":
        network, sourced = build.read_network(path, source)
        count = len(network.curves)
        more = f", {count} {CURVES}" if count else ""
        return Entry(kind, path.stem, path, network.name + more, sourced)
    board, entries = build.read_bitstreams(path, source)
    sourced = tuple(value for _, parts in entries.values() for value in parts)
    return Entry(kind, path.stem, path, f"{len(entries)} for {board}", sourced)


def everything(kinds: Iterable[str] = KINDS) -> list[Entry]:
    """All files of the user's folder and of the repository. Raises FabricmarkError (2) for a wrong one."""
    return [entry(kind, path) for kind in kinds for _, path in sorted(files.listed(kind).items())]


def named(name: str) -> Entry:
    """The file of a path, or of a name among all kinds, systems first. Raises FabricmarkError (2)."""
    if "/" in name or name.endswith(".toml"):
        path = Path(name)
        return entry(kind_of(path), path)
    for kind in KINDS:
        try:
            return entry(kind, files.find(kind, name))
        except KeyError:
            continue
    raise FabricmarkError(f"there is no {name}", "see `fabricmark systems list`, or name a file")


def unique(sourced: Iterable[SourcedValue]) -> tuple[SourcedValue, ...]:
    """Each value once, by its place."""
    return tuple({value.place: value for value in sourced}.values())
