"""What a user says that a system has other than the one it is like: KEY=VALUE, checked as the files are."""

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fabricmark.base import kernels, keys
from fabricmark.base.errors import FabricmarkError
from fabricmark.systems import files
from fabricmark.systems.files import Fault
from fabricmark.systems.original import BITSTREAM, BOARD, DEVICES, NETWORK, Original

TEXT, PARAMETER = "text", "parameter"  # of a board, and of a bitstream's kernel
TEXTS = ("name", "summary", "memory.kind", "memory.placement")
GIVEN = "given"  # the source of a value while it is checked
Place = tuple[str, str, str]  # kind, of, name of a Change
EXAMPLE = "write for example --set memory.banks=16"


@dataclass(frozen=True)
class Change:
    """`kind`: which file's key, or TEXT or PARAMETER; `of`: the network's id or the bitstream's name, "" for
    the board. `raw`: as a file has it; `value` in SI units, NaN for what is no number. `key`: as it was set,
    which may be one of several changes."""

    kind: str
    of: str
    name: str
    raw: str | int | float | bool
    key: str
    value: float = math.nan


def parse(words: Sequence[str], original: Original) -> tuple[list[Change], list[FabricmarkError]]:
    """All changes, and all that is wrong with them."""
    found: dict[Place, Change] = {}
    faults = []
    for word in words:
        try:
            for change in _changes(word, original):
                place = (change.kind, change.of, change.name)
                if place in found:
                    cause = f"--set {word}: set before by {found[place].key}"
                    raise FabricmarkError(cause, "leave out one of them")
                found[place] = change
        except FabricmarkError as error:
            faults.append(error)
    return list(found.values()), faults


def _changes(word: str, original: Original) -> list[Change]:
    """Those of one KEY=VALUE, which may be about all bitstreams. Raises FabricmarkError (2)."""
    key, equals, text = word.partition("=")
    key, text = key.strip(), text.strip()
    if not equals or not key or not text:
        raise FabricmarkError(f"--set {word}: not KEY=VALUE", EXAMPLE)
    made = []
    for kind, of, name in _meant(key, original):
        try:
            made.append(replace(_checked(kind, of, name, text, original), key=key))
        except Fault as fault:
            raise FabricmarkError(f"--set {word}: {fault.cause}", fault.remedy) from fault
    return made


def _meant(key: str, original: Original) -> list[Place]:
    """All that a key is about. Raises FabricmarkError (2)."""
    first, _, rest = key.partition(".")
    if first == NETWORK:
        found = _of_networks(key, rest, original)
    elif first == BITSTREAM:
        found = _of_designs(rest, original)
    else:
        kinds = (first,) if first in (BOARD, DEVICES) else (BOARD, DEVICES, TEXT)
        name = rest if first in (BOARD, DEVICES) else key
        found = [(kind, "", name) for kind in kinds if name in _settable(kind)]
    if not found:
        close = difflib.get_close_matches(key, known_keys(original), n=1)
        remedy = f"did you mean {close[0]}?" if close else "docs/systems.md has all keys"
        raise FabricmarkError(f"--set {key}: {original.name} has no such value", remedy)
    return found


def _of_networks(key: str, rest: str, original: Original) -> list[Place]:
    """network.TRANSPORT.KEY, or network.KEY of the only one. Raises FabricmarkError (2) for several."""
    if rest in _settable(NETWORK):
        if len(original.networks) > 1:
            names = ", ".join(f"network.{one}.{rest}" for one in original.transports)
            raise FabricmarkError(f"--set {key}: {original.name} has several networks", f"use one of {names}")
        return [(NETWORK, one, rest) for one in original.networks]
    part, _, name = rest.partition(".")
    of = original.transports.get(part, part)
    return [(NETWORK, of, name)] if of in original.networks and name in _settable(NETWORK) else []


def _of_designs(rest: str, original: Original) -> list[Place]:
    """bitstream.NAME.KEY, KEY a value or a parameter of its kernel, or bitstream.KEY of all of them."""
    if rest in _settable(BITSTREAM):
        return [(BITSTREAM, one, rest) for one in original.designs]
    part, _, name = rest.partition(".")
    if part not in original.designs:
        return []
    if name in original.designs[part].bitstream.parameters:
        return [(PARAMETER, part, name)]
    return [(BITSTREAM, part, name)] if name in _settable(BITSTREAM) else []


def _settable(kind: str) -> Iterable[str]:
    """Keys of a kind of file that a description may set: what only runs tell is no part of one."""
    if kind == TEXT:
        return TEXTS
    if kind == DEVICES:
        return ("per_node", "most")
    return [name for name in keys.VALUES[kind] if not name.startswith(keys.MEASURED)]


def known_keys(original: Original) -> list[str]:
    """All keys that --set takes for a system like this one."""
    found = [*_settable(BOARD), *TEXTS, *_settable(DEVICES)]
    found += [f"{NETWORK}.{one}.{name}" for one in original.transports for name in _settable(NETWORK)]
    if len(original.networks) == 1:
        found += [f"{NETWORK}.{name}" for name in _settable(NETWORK)]
    for name, design in original.designs.items():
        found += [f"{BITSTREAM}.{name}.{one}" for one in design.bitstream.parameters]
    return found + [f"{BITSTREAM}.{one}.{name}" for one in original.designs for name in _settable(BITSTREAM)]


def _checked(kind: str, of: str, name: str, text: str, original: Original) -> Change:
    """Raises Fault for what a file could not have."""
    if kind == PARAMETER:
        benchmark = original.designs[of].bitstream.benchmark
        try:
            found = kernels.ask([kernels.settings(benchmark, {name: text})])[0]["parameters"][name]
        except FabricmarkError as error:
            cause, _, remedy = str(error).partition("; ")
            raise Fault((name,), cause, remedy) from error
        return Change(kind, of, name, found, name)
    if kind == TEXT:
        files.check_shape(BOARD, _nested(name, text))
        return Change(kind, of, name, text, name)
    key = keys.VALUES[kind][name]
    raw = _number(text, key) if key.dimension in keys.PLAIN else text
    whole = {"value": raw, "source": GIVEN}
    file_kind = {BITSTREAM: "bitstreams", DEVICES: "system"}.get(kind, kind)
    files.check_shape(file_kind, _document(kind, _nested(name, whole)))
    number = files.value(whole, key, key.symbol, (name,), "").value
    if key.required and not number:
        raise Fault((name,), f"{name} is 0", f"write at least 1: {key.meaning}")
    if key.dimension == keys.SHARE and not number:
        raise Fault((name,), f"{name} is 0: without it nothing moves", "write a share above 0")
    assert number is not None
    return Change(kind, of, name, raw, name, float(number))


def _number(text: str, key: keys.Key) -> int | float:
    """A plain number. Raises Fault."""
    try:
        return int(text) if key.dimension == keys.COUNT else float(text)
    except ValueError:
        what = "a whole number, without a unit" if key.dimension == keys.COUNT else "a number without a unit"
        raise Fault((), f"{text!r} is no plain number", f"write {what}: {key.meaning}") from None


def _nested(name: str, content: object) -> dict:
    for part in reversed(name.split(".")):
        content = {part: content}
    assert isinstance(content, dict)
    return content


def _document(kind: str, table: dict) -> dict:
    """The least file that holds a table of a kind."""
    if kind == BITSTREAM:
        return {"board": GIVEN, "bitstreams": {GIVEN: table}}
    if kind == DEVICES:
        devices = {"board": GIVEN, "source": GIVEN, "per_node": 1, "most": 1, **table}
        return {"name": GIVEN, "summary": GIVEN, "devices": [devices]}
    return table
