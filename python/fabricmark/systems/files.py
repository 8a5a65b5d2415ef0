"""Finding and reading the files of a system: what does not fit is refused in one line with its place."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from fabricmark.base import keys, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.systems import shape, sourced_value
from fabricmark.systems.sourced_value import Fault, SourcedValue

FOLDERS = {"system": "", "board": "boards", "network": "networks", "bitstreams": "bitstreams"}
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
LARGEST_FILE = 2**20
MOST_KEPT = 128  # contents of files
SCHEMA_PAGE = "docs/systems.md has all keys"


@dataclass(frozen=True)
class Table:
    """A checked table: texts and values by key; `rest`: what the kind of file has beside them."""

    texts: Mapping[str, str]
    sourced: Mapping[str, SourcedValue]
    rest: Mapping[str, object] = field(default_factory=dict)


def user_folder() -> Path:
    """Folder of the user's own systems (not created here): FABRICMARK_SYSTEMS, else in the configuration."""
    given = os.environ.get("FABRICMARK_SYSTEMS")
    if given:
        return Path(given)
    return paths.configuration() / "systems"


def folders() -> list[Path]:
    """Where names are looked up: the user's folder, then the repository's."""
    return [user_folder(), paths.root() / "systems"]


def listed(kind: str, near: Path | None = None) -> dict[str, Path]:
    """All files of a kind by id; what is found first counts. `near`: a folder to search before the others."""
    found: dict[str, Path] = {}
    for folder in ([near] if near else []) + folders():
        try:
            files = sorted((folder / FOLDERS[kind]).glob("*.toml"))
        except OSError:
            continue
        for file in files:
            found.setdefault(file.stem, file)
    return found


def find(kind: str, name: str, near: Path | None = None) -> Path:
    """The file of an id. Raises KeyError with the known ids where there is none."""
    if ID.fullmatch(name):
        for folder in ([near] if near else []) + folders():
            file = folder / FOLDERS[kind] / f"{name}.toml"
            if os.path.isfile(file):  # no where a folder cannot be read, unlike Path.is_file
                return file
    raise KeyError(f"use one of {', '.join(listed(kind, near)) or 'those that you write first'}")


def place(path: Path) -> str:
    """File as it is named in values: with its folder, where that is one of a kind."""
    return f"{path.parent.name}/{path.name}" if path.parent.name in FOLDERS.values() else path.name


def text_of(path: Path) -> str:
    """Content of a file. Raises FabricmarkError (2)."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise FabricmarkError(f"{path}: larger than 1 MiB", "name a system file")
        return paths.content(path).decode("utf-8")
    except OSError as error:
        raise FabricmarkError(f"{path}: cannot be read: {error.strerror}", "name a system file") from error
    except UnicodeError as error:
        remedy = "save the file in that encoding"
        raise FabricmarkError(f"{path}: not UTF-8: {error.reason}", remedy) from error
    except ValueError as error:  # a path with a zero byte
        raise FabricmarkError(f"{path}: no file name: {error}", "name a system file") from error


def parse(path: Path) -> dict:
    """The TOML of a file, to be read and not changed. Raises FabricmarkError (2) with line and cause."""
    text = text_of(path)
    try:
        return _parsed(text)
    except RecursionError as error:
        raise FabricmarkError(f"{path}: nested too deeply", SCHEMA_PAGE) from error
    except ValueError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        cause = str(error).replace(found[0], "").strip() if found else str(error)
        cause = cause.replace(" (at end of document)", ", but the file ends")
        raise FabricmarkError(
            f"{path}: line {line}: not valid TOML: {cause}", "correct that place"
        ) from error


@lru_cache(maxsize=MOST_KEPT)
def _parsed(text: str) -> dict:
    """Kept, as one command reads a file again for each board, network and comparison that names it."""
    return tomllib.loads(text)


def load(kind: str, path: Path) -> dict:
    """The TOML of a file that has the shape of its kind. Raises FabricmarkError (2)."""
    raw = parse(path)
    try:
        shape.check(kind, raw)
    except RecursionError as error:
        raise FabricmarkError(f"{path}: nested too deeply", SCHEMA_PAGE) from error
    except Fault as fault:
        raise refused(path, fault) from fault
    return raw


def refused(path: Path, fault: Fault) -> FabricmarkError:
    """The one line of a fault: file, line, key, cause and remedy."""
    from fabricmark.systems import key_lines  # imported here: only a refusal needs it

    try:
        known = key_lines.of_keys(text_of(path))
    except (RecursionError, ValueError, FabricmarkError):
        known = {}
    at = fault.path
    while at and at not in known:
        at = at[:-1]
    key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault.path).lstrip(".")
    where = f"line {known.get(at, 1)}: " + (f"{key}: " if key else "")
    return FabricmarkError(f"{path}: {where}{fault.cause}", fault.remedy)


def table(
    raw: Mapping, kind: str, at: tuple, file: str, rest: tuple[str, ...] = (), source: str = ""
) -> Table:
    """The texts and values of a table (of `keys.TEXTS`, `keys.VALUES`) that has the shape of its kind.

    `at`: its path in the file. `rest`: keys beside them. `source`: of the enclosing table. Raises Fault.
    """
    texts = {}
    for name in keys.TEXTS[kind]:
        group, _, single = name.rpartition(".")
        place = raw.get(group, {}) if group else raw
        if single in place:
            texts[name] = place[single]
    source = texts.get("source", source)
    found: dict[str, SourcedValue] = {}
    for name, key in _keys(kind).items():
        group, _, single = name.rpartition(".")
        place = raw.get(group, {}) if group else raw
        if single in place:
            path = (*at, *name.split("."))
            given = place.get("source", source)
            found[name] = sourced_value.read(
                place[single], key, f"{file}: {_dotted(path)}", path, given, name
            )
    return Table(texts, found, {name: raw[name] for name in rest if name in raw})


def _keys(kind: str) -> Mapping[str, keys.Key]:
    return keys.VALUES.get(kind, {})


def require(checked: Table, kind: str, at: tuple) -> None:
    """Raises Fault for a text or value that has to be there."""
    for name, (needed, meaning) in keys.TEXTS[kind].items():
        if needed and name not in checked.texts:
            raise Fault((*at, *name.split(".")), "missing", f"add it: {meaning}")
    for name, key in _keys(kind).items():
        if key.required and name not in checked.sourced:
            raise Fault((*at, *name.split(".")), "missing", f"add it: {key.meaning}")


def merged(base: Table, own: Table) -> Table:
    """All of one table, and what it lacks from the one that it is like."""
    inherited = {name: text for name, text in base.texts.items() if name not in ("source", "like")}
    rest = {**base.rest, **own.rest}
    if isinstance(base.rest.get("parameters"), dict) and isinstance(own.rest.get("parameters"), dict):
        rest["parameters"] = {**base.rest["parameters"], **own.rest["parameters"]}
    return Table({**inherited, **own.texts}, {**base.sourced, **own.sourced}, rest)


def _dotted(path: tuple) -> str:
    return ".".join(str(step) for step in path)
