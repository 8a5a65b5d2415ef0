"""Finding and reading the files of a system: what does not fit its JSON Schema or lacks something is refused
in one line with its place, in words that a person acts on."""

from __future__ import annotations

import difflib
import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricmark.base import keys, paths, quantities, schema
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.grouping import grouped

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

PROFILES = ("fitted", "published")
MOST_COUNT = 2**53
FOLDERS = {"system": "", "board": "boards", "network": "networks", "bitstreams": "bitstreams"}
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
LARGEST_FILE = 2**20
MOST_KEPT = 128  # contents of files
SCHEMA_PAGE = "docs/systems.md has all keys"
# What a type is called, and how it is written.
TYPES = {
    "object": ("table", "write [{key}] and its keys below"),
    "array": ("list", "write {key} = [...]"),
    "string": ("text", "write words in quotes"),
    "integer": ("plain number", "write the number alone, without quotes and unit"),
    "number": ("plain number", "write the number alone, without quotes and unit"),
}
UNITS = {quantities.pattern(dimension): dimension for dimension in quantities.UNITS}
# Of several faults in one place the one that explains the others; those of keys in it are one step deeper.
FIRST = ("additionalProperties", "type", "enum", "pattern")
OF_KEYS = ("additionalProperties", "required", "anyOf")


class Fault(Exception):
    """Why a file is refused: the path of the key, the cause, the remedy. The reader adds file and line."""

    def __init__(self, path: tuple[str | int, ...], cause: str, remedy: str) -> None:
        super().__init__(cause)
        self.path, self.cause, self.remedy = path, cause, remedy


@dataclass(frozen=True)
class SourcedValue:
    """One number of a system file. `value` and `fitted` in SI units of `dimension` ("count", "number" and
    "share" are plain numbers).

    `place`: file and key, for example "boards/520n.toml: memory.bank_bandwidth". The texts: as written.
    `name`: the key in its table, as `keys.VALUES` has it.
    """

    place: str
    dimension: str
    value: float | None
    fitted: float | None
    source: str
    inferred: str
    value_text: str = ""
    fitted_text: str = ""
    name: str = ""

    def of(self, profile: str) -> float | None:
        """The number that counts in a profile; None where it has none."""
        return self.value if profile == "published" or self.fitted is None else self.fitted


@dataclass(frozen=True)
class Table:
    """A checked table: texts and values by key; `rest`: what the kind of file has beside them."""

    texts: Mapping[str, str]
    sourced: Mapping[str, SourcedValue]
    rest: Mapping[str, Any] = field(default_factory=dict)


def user_folder() -> Path:
    """Folder of the user's own systems (not created here): FABRICMARK_SYSTEMS, else in the configuration."""
    given = os.environ.get("FABRICMARK_SYSTEMS")
    if given:
        return Path(given)
    return paths.configuration() / "systems"


def folders() -> list[Path]:
    """Where names are looked up: the user's folder, then the repository's."""
    return [user_folder(), shipped_folder()]


def shipped_folder() -> Path:
    """Folder of the repository's systems."""
    return paths.root() / "systems"


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


def check_name(name: str) -> None:
    """Raises FabricmarkError (2) for what is no name of a system."""
    if not ID.fullmatch(name):
        raise FabricmarkError(f"{name!r} is no name of a system", "use letters, digits, '_', '-' and '.'")


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
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
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
        check_shape(kind, raw)
    except RecursionError as error:
        raise FabricmarkError(f"{path}: nested too deeply", SCHEMA_PAGE) from error
    except Fault as fault:
        raise refused(path, fault) from fault
    return raw


def check_shape(kind: str, document: dict) -> None:
    """Raises Fault where a document is no file of a kind ("system", "board", "network", "bitstreams")."""
    error = _first(schema.errors(f"{kind}-1", document))
    if error is not None:
        raise _fault(error)


def _first(errors: Iterator[ValidationError] | list[ValidationError]) -> ValidationError | None:
    def order(error: ValidationError) -> tuple[int, int]:
        rank = FIRST.index(error.validator) if error.validator in FIRST else len(FIRST)
        return len(error.absolute_path) + (error.validator in OF_KEYS), rank

    return min(errors, key=order, default=None)


def _fault(error: ValidationError) -> Fault:
    path, given, allowed = tuple(error.absolute_path), error.instance, error.validator_value
    key = path[-1] if path else ""
    match error.validator:
        case "anyOf":
            return _of_branches(error, path)
        case "additionalProperties":
            return _unknown(error, path)
        case "required":
            name = next(one for one in allowed if one not in given)
            meaning = error.schema["properties"][name].get("description", "it is needed")
            return Fault((*path, name), "missing", f"add it: {meaning}")
        case "dependentRequired":
            return Fault(path, "no reasoning for the fitted value", 'add inferred = "from what, and how"')
        case "enum":
            at = (*path, given) if "propertyNames" in error.absolute_schema_path else path
            return Fault(at, f"{given} is not known", f"use one of {', '.join(allowed)}")
        case "pattern" | "type" if error.schema.get("pattern") in UNITS:
            return _quantity(given, UNITS[error.schema["pattern"]], path)
        case "pattern" if allowed in keys.REMEDIES:
            return Fault(path, f"{given!r} is no {key}", keys.REMEDIES[allowed])
        case "pattern":
            return Fault(path, f"{given!r} is no text", "write words in quotes")
        case "type":
            return _type(given, error.schema, path)
        case "minItems" | "minProperties":
            return Fault(path, "nothing in it", f"write at least one entry of {key}")
        case "maxItems":
            return Fault(path, "too many entries", f"write at most {allowed}")
    return Fault(path, f"{given} is out of range", f"write a number {_range(error.schema)}")


def _unknown(error: ValidationError, path: tuple) -> Fault:
    """A key that no table has, with what was probably meant."""
    known = list(error.schema["properties"])
    name = next(one for one in error.instance if one not in known)
    close = difflib.get_close_matches(name, known, n=1)
    remedy = f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
    return Fault((*path, name), f"unknown key {name}", remedy)


def _of_branches(error: ValidationError, path: tuple) -> Fault:
    """What is wrong in the branch of anyOf that was meant: that of the instance's type."""
    if all(list(branch) == ["required"] for branch in error.validator_value):
        names = [name for branch in error.validator_value for name in branch["required"]]
        return Fault(path, f"neither {' nor '.join(names)}", 'write { value = "...", source = "..." }')
    for errors in grouped((one.schema_path[0], one) for one in error.context).values():
        if not any(one.validator == "type" and not one.path for one in errors):
            return _fault(_first(errors))
    first = error.validator_value[0]
    if first.get("pattern") in UNITS:
        return _quantity(error.instance, UNITS[first["pattern"]], path)
    return _type(error.instance, first, path)


def _type(given: object, of: dict, path: tuple) -> Fault:
    wanted = of["type"]
    if isinstance(wanted, list):
        return Fault(path, f"{given!r} is no plain value", "write a number, a text or true or false")
    if wanted == "integer" and isinstance(given, float):
        return Fault(path, f"{given} is no count", "write a whole number that is not negative")
    name, remedy = TYPES[wanted]
    if of.get("items", {}).get("type") == "object":
        remedy = "write [[{key}]] and its keys below"
    cause = f"no {name}" if wanted in ("object", "array") else f"{given!r} is no {name}"
    return Fault(path, cause, remedy.format(key=path[-1] if path else "KEY"))


def _quantity(given: object, dimension: str, path: tuple) -> Fault:
    try:
        quantities.parse(given, dimension)
    except ValueError as error:
        cause, _, remedy = str(error).partition("; ")
    else:
        cause, remedy = f'"{given}" is no quantity', ""
    return Fault(path, cause, remedy or f"write a number and one of {', '.join(quantities.UNITS[dimension])}")


def _range(of: dict) -> str:
    least, most = of.get("minimum", of.get("exclusiveMinimum")), of.get("maximum")
    above = "above" if "exclusiveMinimum" in of else "from"
    return f"{above} {least:g}" + (f" to {most:g}" if most is not None else "")


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
    for name, key in keys.VALUES.get(kind, {}).items():
        group, _, single = name.rpartition(".")
        place = raw.get(group, {}) if group else raw
        if single in place:
            path = (*at, *name.split("."))
            given = place.get("source", source)
            found[name] = value(place[single], key, f"{file}: {'.'.join(map(str, path))}", path, given, name)
    return Table(texts, found, {name: raw[name] for name in rest if name in raw})


def require(checked: Table, kind: str, at: tuple) -> None:
    """Raises Fault for a text or value that has to be there."""
    for name, (needed, meaning) in keys.TEXTS[kind].items():
        if needed and name not in checked.texts:
            raise Fault((*at, *name.split(".")), "missing", f"add it: {meaning}")
    for name, key in keys.VALUES.get(kind, {}).items():
        if key.required and name not in checked.sourced:
            raise Fault((*at, *name.split(".")), "missing", f"add it: {key.meaning}")


def merged(base: Table, own: Table) -> Table:
    """All of one table, and what it lacks from the one that it is like."""
    inherited = {name: text for name, text in base.texts.items() if name not in ("source", "like")}
    rest = {**base.rest, **own.rest}
    if isinstance(base.rest.get("parameters"), dict) and isinstance(own.rest.get("parameters"), dict):
        rest["parameters"] = {**base.rest["parameters"], **own.rest["parameters"]}
    return Table({**inherited, **own.texts}, {**base.sourced, **own.sourced}, rest)


def value(raw: Any, key: keys.Key, place: str, path: tuple, source: str, name: str = "") -> SourcedValue:
    """The value of a key, of the shape that the schema asks for: a table, or what is written in its place.

    `source`: that of the enclosing table, "" for none. Raises Fault.
    """
    if not isinstance(raw, dict):
        raw = {"value": raw}
    source = raw.get("source", source)
    if "value" in raw and not source:
        raise Fault(path, "no source", 'add source = "document, table or section"')
    numbers = {part: _number(raw[part], key, (*path, part)) for part in ("value", "fitted") if part in raw}
    return SourcedValue(
        place,
        key.dimension,
        numbers.get("value"),
        numbers.get("fitted"),
        source if "value" in raw else "",
        raw.get("inferred", ""),
        str(raw.get("value", "")),
        str(raw.get("fitted", "")),
        name,
    )


def _number(raw: Any, key: keys.Key, path: tuple) -> float:
    """The number in SI units. Raises Fault: out of range."""
    if key.dimension in keys.PLAIN:
        if not math.isfinite(raw):
            raise Fault(path, f"{raw} is out of range", "write a finite number")
        return int(raw) if key.dimension == keys.COUNT else float(raw)
    try:
        number = quantities.parse(raw, key.dimension)
    except ValueError as error:
        raise Fault(path, str(error), f"write for example {quantities.EXAMPLES[key.dimension]}") from error
    least, most = quantities.RANGES[key.dimension]
    if not least <= number <= most:
        cause = f'"{raw}" is out of range'
        raise Fault(path, cause, f"{key.dimension} are from {least:g} to {most:g} in SI units")
    return number
