"""From checked files to what the models take: boards, networks, bitstreams, systems."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark.base import keys, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, Values
from fabricmark.models.machine import Bitstream, Curve, Network
from fabricmark.systems import curves, files, sourced_value
from fabricmark.systems.files import Table
from fabricmark.systems.sourced_value import Fault, SourcedValue
from fabricmark.systems.system import System

MOST_LIKE = 8
MOST_DEVICES = 2**20
Synthesised = tuple[Bitstream, tuple[SourcedValue, ...]]


@dataclass(frozen=True)
class Source:
    """Where to look for the files that a file names: beside it first; and what counts in them."""

    profile: str
    near: Path | None = None
    depth: int = 0

    def deeper(self) -> "Source":
        return Source(self.profile, self.near, self.depth + 1)


def checked(kind: str, path: Path, source: Source, rest: tuple[str, ...]) -> Table:
    """A board or network file, with what it inherits. Raises FabricmarkError (2)."""
    raw = files.load(kind, path)
    try:
        own = files.table(raw, kind, (), files.place(path), rest)
        if "like" in own.texts:
            if source.depth >= MOST_LIKE:
                raise Fault(("like",), "likes without end", "name a file that is not like this one")
            base = _reference(kind, own.texts["like"], ("like",), source)
            own = files.merged(checked(kind, base, source.deeper(), rest), own)
        files.require(own, kind, ())
        return own
    except Fault as fault:
        raise files.refused(path, fault) from fault


def _reference(kind: str, name: str, at: tuple, source: Source) -> Path:
    """The file that a name stands for. Raises Fault with the known names."""
    try:
        return files.find(kind, name, source.near)
    except KeyError as error:
        what = "bitstreams" if kind == "bitstreams" else f"a {kind}"
        raise Fault(at, f"there are no {what} {name}" if kind == "bitstreams" else f"{name} is no {kind}",
                    str(error.args[0])) from error  # fmt: skip


def numbers(sourced: Mapping[str, SourcedValue], profile: str) -> dict[str, float]:
    """Numbers by name; what has none in this profile is left out."""
    found = {name: one.of(profile) for name, one in sourced.items()}
    return {name: number for name, number in found.items() if number is not None}


def needed(found: Mapping, known: Mapping[str, keys.Key], at: tuple = ()) -> None:
    """Raises Fault for a required value that the profile has not, or that is 0."""
    for name, key in known.items():
        if key.required and name not in found:
            cause = "no published value, which the profile published asks for"
            raise Fault((*at, *name.split(".")), cause, "use the profile fitted")
        if key.required and not found[name]:
            raise Fault((*at, *name.split(".")), "is 0", f"write at least 1: {key.meaning}")


def board(path: Path, source: Source) -> tuple[Board, tuple[SourcedValue, ...]]:
    """A board and its values."""
    table = checked("board", path, source, ("random_updates",))
    found = numbers(table.sourced, source.profile)
    try:
        needed(found, keys.BOARD)
        updates, more = _updates(table, files.place(path), source.profile)
    except Fault as fault:
        raise files.refused(path, fault) from fault
    made = Board(
        table.texts["name"],
        table.texts["class"],
        updates,
        memory_kind=table.texts.get("memory.kind", ""),
        memory_placement=table.texts.get("memory.placement", ""),
        values=Values("board", found),
    )
    return made, (*table.sourced.values(), *more)


def _updates(table: Table, place: str, profile: str) -> tuple[tuple, tuple[SourcedValue, ...]]:
    """[[random_updates]]: rate by size of the table. Raises Fault."""
    known = {"table": keys.Key("bytes", "", ""), "rate": keys.Key("updates_per_second", "", "")}
    pairs, all_values = [], []
    for number, one in enumerate(table.rest.get("random_updates", [])):
        at = ("random_updates", number)
        source = one.get("source", table.texts.get("source", ""))
        parts = [
            sourced_value.read(
                one[name], key, f"{place}: random_updates[{number}].{name}", (*at, name), source
            )
            for name, key in known.items()
        ]
        pair = tuple(part.of(profile) for part in parts)
        all_values += parts
        if None not in pair:
            pairs.append(pair)
    return tuple(sorted(pairs)), tuple(all_values)


def network(path: Path, source: Source) -> tuple[Network, tuple[SourcedValue, ...]]:
    """A network, the curves of its hosts, and its values."""
    table = checked("network", path, source, ("curves",))
    found = numbers(table.sourced, source.profile)
    try:
        measured: tuple[Curve, ...] = ()
        if "curves" in table.rest:
            measured = curves.read(table.rest["curves"], path, ("curves",))
        for name in ("links.count", "links.width"):
            if name in found and (found[name] < 1 or found[name] != int(found[name])):
                raise Fault(tuple(name.split(".")), "not a whole number from 1 on", "correct it")
    except Fault as fault:
        raise files.refused(path, fault) from fault
    if "links.width" in found:
        found["links.width"] = int(found["links.width"])
    texts = {name: table.texts[name] for name in ("name", "kind", "topology") if name in table.texts}
    made = Network(**texts, curves=measured, values=Values("network", found))
    return made, tuple(table.sourced.values())


def bitstreams(path: Path, source: Source) -> tuple[str, dict[str, Synthesised]]:
    """The board's id and all bitstreams of a file, each with its values."""
    raw = files.load("bitstreams", path)
    try:
        board_id, tables = raw["board"], {}
        _reference("board", board_id, ("board",), source)
        for name, entry in raw["bitstreams"].items():
            tables[name] = _entry(name, entry, tables, path, raw, source)
        made = {}
        for name, table in tables.items():
            made[name] = (_bitstream(name, table, board_id, source.profile), tuple(table.sourced.values()))
        return board_id, made
    except Fault as fault:
        raise files.refused(path, fault) from fault


def _entry(
    name: str, raw: Mapping, before: dict[str, Table], path: Path, whole: Mapping, source: Source
) -> Table:
    """One table of a bitstreams file, with what it inherits, also from all of the file. Raises Fault."""
    at, given = ("bitstreams", name), whole.get("source", "")
    own = files.table(raw, "bitstream", at, files.place(path), ("parameters", "curves"), given)
    for part in ("parameters", "curves"):
        if own.rest.get(part) and not own.texts.get("source", given):
            raise Fault((*at, part), "no source", 'add source = "document, table or section"')
    curves.of_bitstream(own.rest.get("curves", {}), (*at, "curves"))
    if "like" in own.texts:
        like = (*at, "like")
        file, slash, other = own.texts["like"].rpartition("/")
        tables = before
        if slash:
            if source.depth >= MOST_LIKE:
                raise Fault(like, "likes without end", "name one that is not like this one")
            tables = _tables(_reference("bitstreams", file, like, source), source.deeper())
        if other not in tables:
            known = ", ".join(tables) or "FILE/NAME of another file"
            raise Fault(like, f"{other} is no bitstream before this one", f"use one of {known}")
        own = files.merged(tables[other], own)
    files.require(own, "bitstream", at)
    of_all = {key: whole[key] for key in ("tools", "shell") if key in whole}
    return replace(own, texts={**of_all, **own.texts})


def _tables(path: Path, source: Source) -> dict[str, Table]:
    """The checked tables of another bitstreams file."""
    raw, tables = files.load("bitstreams", path), {}
    try:
        for name, entry in raw["bitstreams"].items():
            tables[name] = _entry(name, entry, tables, path, raw, source)
    except Fault as fault:
        raise files.refused(path, fault) from fault
    return tables


def _bitstream(name: str, table: Table, board_id: str, profile: str) -> Bitstream:
    return Bitstream(
        name,
        table.texts["benchmark"],
        board_id,
        table.texts.get("variant", "base"),
        table.texts.get("transport", transports.NONE),
        dict(table.rest.get("parameters", {})),
        curves.of_bitstream(table.rest.get("curves", {}), ("bitstreams", name, "curves")),
        table.texts.get("tools", ""),
        table.texts.get("shell", ""),
        values=Values("bitstream", numbers(table.sourced, profile)),
    )


def system(path: Path, profile: str, board_id: str | None = None) -> System:
    """A system from its file; `board_id` chooses among its kinds of devices, by default the first."""
    return next(one for one in kinds(path, profile, board_id) if board_id in (None, one.board_id))


def kinds(path: Path, profile: str, board_id: str | None = None) -> list[System]:
    """The system as each of its kinds of devices has it; `board_id`: one that has to be among them."""
    source = Source(profile, path.parent)
    raw = files.load("system", path)
    try:
        top = files.table(raw, "system", (), files.place(path))
        given = top.texts.get("source", "")
        rest = ("networks", "bitstreams")
        tables = [
            files.table(one, "devices", ("devices", place), files.place(path), rest, given)
            for place, one in enumerate(raw["devices"])
        ]
        boards = tuple(table.texts["board"] for table in tables)
        if len(set(boards)) < len(boards):
            raise Fault(("devices",), "a board stands twice", "write one [[devices]] for each board")
        if board_id is not None and board_id not in boards:
            remedy = f"use one of {', '.join(boards)}"
            raise FabricmarkError(f"{path}: {board_id} is no board of this system", remedy)
        return [_devices(path, top, tables, place, source) for place in range(len(tables))]
    except Fault as fault:
        raise files.refused(path, fault) from fault


def alone(board_id: str, source: Source) -> System:
    """One board by itself, with all bitstreams that are made for it."""
    made, sourced = board(files.find("board", board_id), source)
    streams: dict[str, Synthesised] = {}
    for name, path in files.listed("bitstreams").items():
        if files.parse(path).get("board") == board_id:
            streams |= _with_ids(name, bitstreams(path, source)[1])
    parts = {"": sourced, **{name: values for name, (_, values) in streams.items()}}
    found = tuple(one for one, _ in streams.values())
    return System(board_id, f"{made.name} by itself", made, board_id, 1, 1, {}, found, parts, (board_id,))


def _devices(path: Path, top: Table, tables: list[Table], place: int, source: Source) -> System:
    """The system as one of its [[devices]] has it. Raises Fault."""
    table, at = tables[place], ("devices", place)
    made_board, sourced = board(_reference("board", table.texts["board"], (*at, "board"), source), source)
    found = numbers(table.sourced, source.profile)
    needed(found, keys.DEVICES, at)
    made_board = made_board.having({name: number for name, number in found.items() if name in keys.BOARD})
    if found["most"] > MOST_DEVICES:
        raise Fault((*at, "most"), "too many devices", f"at most {MOST_DEVICES}")
    networks, parts = _networks(table, at, source)
    parts = {"": (*table.sourced.values(), *sourced), **parts}
    streams: dict[str, Synthesised] = {}
    for number, name in enumerate(table.rest.get("bitstreams", [])):
        where = (*at, "bitstreams", number)
        of_board, entries = bitstreams(_reference("bitstreams", name, where, source), source)
        if of_board != table.texts["board"]:
            raise Fault(where, f"{name} is for the board {of_board}", f"name one for {table.texts['board']}")
        streams |= _with_ids(name, entries)
    parts |= {name: values for name, (_, values) in streams.items()}
    return System(
        path.stem, top.texts["summary"], made_board, table.texts["board"], found["per_node"],
        found["most"], networks, tuple(one for one, _ in streams.values()), parts,
        tuple(one.texts["board"] for one in tables), dict(table.rest.get("networks", {})),
    )  # fmt: skip


def _with_ids(file: str, entries: Mapping[str, Synthesised]) -> dict[str, Synthesised]:
    """Bitstreams of a file by their ids, which no other file of a system has."""
    return {f"{file}/{name}": one for name, one in entries.items()}


def _networks(
    table: Table, at: tuple, source: Source
) -> tuple[dict[str, Network], dict[str, tuple[SourcedValue, ...]]]:
    """[devices.networks], transport = id of a network: by transport, and their values by id. Raises Fault."""
    networks, parts = {}, {}
    for transport, name in table.rest.get("networks", {}).items():
        where = (*at, "networks", transport)
        networks[transport], parts[name] = network(_reference("network", name, where, source), source)
    return networks, parts
