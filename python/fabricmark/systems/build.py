"""From checked files to what the models take: boards, networks, bitstreams, systems, and measured curves: the
hosts' MPI (calibration rows of a published file, or the network's own) and transfers of a bitstream."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from fabricmark.base import keys, quantities, transports
from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.models import Board, Values
from fabricmark.models.machine import Bitstream, Curve, ErrorBars, Network, Times
from fabricmark.results import published
from fabricmark.systems import files
from fabricmark.systems.files import PROFILES, Fault, SourcedValue, Table

MOST_LIKE = 8
MOST_DEVICES = 2**20
DIRECTIONS = 2  # each rank sends to both neighbours
MOST_POINTS = 1000  # of a curve
MOST_ERROR = 1e6  # of an error bar
BITSTREAM_PARTS = ("parameters", "curves", "error_bars")  # beside its values
Synthesised = tuple[Bitstream, tuple[SourcedValue, ...]]


@dataclass(frozen=True)
class System:
    """A machine: nodes with devices, its networks by transport, and its board's bitstreams.

    `boards`: ids of all its kinds of devices, of which `board_id` is the one that this is about.
    `network_ids`: by transport. `parts`: the values of the devices (""), of each network and each bitstream
    (FILE/NAME, in the order of `bitstreams`) by id; of several values of one key the first counts.
    """

    name: str
    summary: str
    board: Board
    board_id: str
    devices_per_node: int
    most_devices: int
    networks: Mapping[str, Network]
    bitstreams: tuple[Bitstream, ...]
    parts: Mapping[str, tuple[SourcedValue, ...]] = field(default_factory=dict)
    boards: tuple[str, ...] = ()
    network_ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def sourced(self) -> tuple[SourcedValue, ...]:
        """All values of all parts."""
        return tuple(one for values in self.parts.values() for one in values)

    @property
    def designs(self) -> dict[str, Bitstream]:
        """The bitstreams by FILE/NAME."""
        return dict(zip((name for name in self.parts if "/" in name), self.bitstreams, strict=True))

    def nodes(self, devices: int) -> int:
        """Nodes that so many devices fill."""
        return -(-devices // self.devices_per_node)

    def bitstream(
        self, benchmark: str, transport: str = transports.NONE, **parameters: object
    ) -> Bitstream | None:
        """The first bitstream of a benchmark for this transport ("none": exchanges nothing) that has these
        parameters; one with transport "none" serves where none of its own is there. None where none fits."""
        for wanted in (transport, transports.NONE):
            for one in self.bitstreams:
                fits = all(one.parameters.get(key) == value for key, value in parameters.items())
                if one.benchmark == benchmark and one.transport == wanted and fits:
                    return one
        return None

    def board_with(self, bitstream: Bitstream | None, devices: int) -> Board:
        """The board with a bitstream's clock and what else of the memory depends on it, and as many devices
        and hosts as the run uses."""
        board = replace(self.board, devices=devices, hosts=self.nodes(devices))
        if bitstream is None:
            return board
        said = bitstream.values.known
        own = {name: said[name] for name in keys.SYNTHESISED if name in said}
        values = replace(board.values, synthesised=frozenset(own))
        return replace(board, values=values).having({"clock": None, **own})


@dataclass(frozen=True)
class Source:
    """Where to look for the files that a file names: beside it first; and what counts in them."""

    profile: str
    near: Path | None = None
    depth: int = 0

    def deeper(self) -> "Source":
        return Source(self.profile, self.near, self.depth + 1)


def names() -> list[str]:
    """Systems of the user's folder and of the repository."""
    return sorted(files.listed("system"))


def load(name_or_path: str | Path, profile: str = "fitted", board: str | None = None) -> System:
    """The system of a name or a file. `board`: which of its kinds of devices, by default the first.

    The id of a board is a system, too: that board alone with all its bitstreams. Raises FabricmarkError (2)
    in one line with file, line, cause and remedy.
    """
    found = kinds(name_or_path, profile, board)
    return next((one for one in found if one.board_id == board), found[0])


def kinds(name_or_path: str | Path, profile: str = "fitted", board: str | None = None) -> list[System]:
    """The same as each of its kinds of devices has it. `board`: one that has to be among them."""
    check_known(profile, PROFILES, f"there is no profile {profile}")
    name = str(name_or_path)
    if name not in files.listed("system") and name in files.listed("board"):
        return [alone(name, Source(profile))]
    return read_kinds(_path("system", name_or_path), profile, board)


def board(name_or_path: str | Path, profile: str = "fitted") -> Board:
    """The board of an id or a file. Raises FabricmarkError (2)."""
    return read_board(*_file("board", name_or_path, profile))[0]


def network(name_or_path: str | Path, profile: str = "fitted") -> Network:
    """The network of an id or a file. Raises FabricmarkError (2)."""
    return read_network(*_file("network", name_or_path, profile))[0]


def bitstreams(name_or_path: str | Path, profile: str = "fitted") -> dict[str, Bitstream]:
    """All bitstreams of a file of them, by name. Raises FabricmarkError (2)."""
    found = read_bitstreams(*_file("bitstreams", name_or_path, profile))[1]
    return {name: one for name, (one, _) in found.items()}


def _file(kind: str, name_or_path: str | Path, profile: str) -> tuple[Path, Source]:
    check_known(profile, PROFILES, f"there is no profile {profile}")
    path = _path(kind, name_or_path)
    near = path.parent.parent if path.parent.name == files.FOLDERS[kind] else path.parent
    return path, Source(profile, near)


def _path(kind: str, name_or_path: str | Path) -> Path:
    """The file; a text with a slash or the ending .toml is a path, others are names."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith(".toml"):
        return Path(text)
    try:
        return files.find(kind, text)
    except KeyError as error:
        raise FabricmarkError(f"there is no {kind} {text}", f"{error.args[0]}, or name a file") from None


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


def read_board(path: Path, source: Source) -> tuple[Board, tuple[SourcedValue, ...]]:
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
    pairs: list[tuple] = []
    all_values: list[SourcedValue] = []
    for number, one in enumerate(table.rest.get("random_updates", [])):
        at = ("random_updates", number)
        source = one.get("source", table.texts.get("source", ""))
        parts = [
            files.value(one[name], key, f"{place}: random_updates[{number}].{name}", (*at, name), source)
            for name, key in known.items()
        ]
        pair = tuple(part.of(profile) for part in parts)
        all_values += parts
        if None not in pair:
            pairs.append(pair)
    return tuple(sorted(pairs)), tuple(all_values)


def read_network(path: Path, source: Source) -> tuple[Network, tuple[SourcedValue, ...]]:
    """A network, the curves of its hosts, and its values."""
    table = checked("network", path, source, ("curves",))
    found = numbers(table.sourced, source.profile)
    try:
        measured: tuple[Curve, ...] = ()
        if "curves" in table.rest:
            measured = read_curves(table.rest["curves"], path, ("curves",))
        for name in ("links.count", "links.width", *(name for name in found if name.startswith("flow."))):
            if name in found and (found[name] < 1 or found[name] != int(found[name])):
                raise Fault(tuple(name.split(".")), "not a whole number from 1 on", "correct it")
    except Fault as fault:
        raise files.refused(path, fault) from fault
    if "links.width" in found:
        found["links.width"] = int(found["links.width"])
    texts = {name: table.texts[name] for name in ("name", "kind", "topology") if name in table.texts}
    made = Network(**texts, curves=measured, values=Values("network", found))
    return made, tuple(table.sourced.values())


def read_bitstreams(path: Path, source: Source) -> tuple[str, dict[str, Synthesised]]:
    """The board's id and all bitstreams of a file, each with its values."""
    raw = files.load("bitstreams", path)
    try:
        _reference("board", raw["board"], ("board",), source)
        return raw["board"], {
            name: (_bitstream(name, table, raw["board"], source.profile), tuple(table.sourced.values()))
            for name, table in _tables(path, raw, source).items()
        }
    except Fault as fault:
        raise files.refused(path, fault) from fault


def _entry(
    name: str, raw: Mapping, before: dict[str, Table], path: Path, whole: Mapping, source: Source
) -> Table:
    """One table of a bitstreams file, with what it inherits, also from all of the file. Raises Fault."""
    at, given = ("bitstreams", name), whole.get("source", "")
    own = files.table(raw, "bitstream", at, files.place(path), BITSTREAM_PARTS, given)
    for part in BITSTREAM_PARTS:
        if own.rest.get(part) and not own.texts.get("source", given):
            raise Fault((*at, part), "no source", 'add source = "document, table or section"')
    transfer_curves(own.rest.get("curves", {}), (*at, "curves"))
    error_bars(own.rest.get("error_bars", {}), (*at, "error_bars"))
    if "like" in own.texts:
        like = (*at, "like")
        file, slash, other = own.texts["like"].rpartition("/")
        tables = before
        if slash:
            if source.depth >= MOST_LIKE:
                raise Fault(like, "likes without end", "name one that is not like this one")
            there = _reference("bitstreams", file, like, source)
            tables = _tables(there, files.load("bitstreams", there), source.deeper())
        if other not in tables:
            known = ", ".join(tables) or "FILE/NAME of another file"
            raise Fault(like, f"{other} is no bitstream before this one", f"use one of {known}")
        own = files.merged(tables[other], own)
    files.require(own, "bitstream", at)
    of_all = {key: whole[key] for key in ("tools", "shell") if key in whole}
    return replace(own, texts={**of_all, **own.texts})


def _tables(path: Path, raw: Mapping, source: Source) -> dict[str, Table]:
    """The checked tables of a bitstreams file."""
    tables: dict[str, Table] = {}
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
        transfer_curves(table.rest.get("curves", {}), ("bitstreams", name, "curves")),
        table.texts.get("tools", ""),
        table.texts.get("shell", ""),
        error_bars(table.rest.get("error_bars", {}), ("bitstreams", name, "error_bars")),
        values=Values("bitstream", numbers(table.sourced, profile)),
    )


def read_kinds(path: Path, profile: str, board_id: str | None = None) -> list[System]:
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
    made, sourced = read_board(files.find("board", board_id), source)
    streams: dict[str, Synthesised] = {}
    for name, path in files.listed("bitstreams").items():
        if files.parse(path).get("board") == board_id:
            streams |= _with_ids(name, read_bitstreams(path, source)[1])
    parts = {"": sourced, **{name: values for name, (_, values) in streams.items()}}
    found = tuple(one for one, _ in streams.values())
    return System(board_id, f"{made.name} by itself", made, board_id, 1, 1, {}, found, parts, (board_id,))


def _devices(path: Path, top: Table, tables: list[Table], place: int, source: Source) -> System:
    """The system as one of its [[devices]] has it. Raises Fault."""
    table, at = tables[place], ("devices", place)
    made_board, sourced = read_board(
        _reference("board", table.texts["board"], (*at, "board"), source), source
    )
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
        of_board, entries = read_bitstreams(_reference("bitstreams", name, where, source), source)
        if of_board != table.texts["board"]:
            raise Fault(where, f"{name} is for the board {of_board}", f"name one for {table.texts['board']}")
        streams |= _with_ids(name, entries)
    parts |= {name: values for name, (_, values) in streams.items()}
    return System(
        path.stem, top.texts["summary"], made_board, table.texts["board"], int(found["per_node"]),
        int(found["most"]), networks, tuple(one for one, _ in streams.values()), parts,
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
        networks[transport], parts[name] = read_network(_reference("network", name, where, source), source)
    return networks, parts


def curves_of_rows(
    rows: Iterable[published.PublishedValue], system: str, transport: str = transports.CPU
) -> tuple[Curve, ...]:
    """The hosts' curves of a system among published rows: those with the role calibration.

    A row's bandwidth is the sum over all devices in both directions, so that an exchange of one size takes
    2 x devices x size / bandwidth.
    """
    runs: dict[tuple, list[tuple[float, float]]] = {}
    for row in rows:
        about = (row.role, row.system, row.transport, row.metric)
        if about == ("calibration", system, transport, "bandwidth") and row.message_bytes is not None:
            rate = row.value * quantities.UNITS["bytes_per_second"][row.unit]
            seconds = DIRECTIONS * row.devices * row.message_bytes / rate
            key = (row.devices, row.nodes, row.source)
            runs.setdefault(key, []).append((float(row.message_bytes), seconds))
    return tuple(
        Curve(devices, nodes, *zip(*sorted(points), strict=True))
        for (devices, nodes, _), points in sorted(runs.items())
    )


@lru_cache(maxsize=8)
def _calibration_rows(path: Path, changed: int) -> tuple[published.PublishedValue, ...]:
    return tuple(row for row in published.load(path) if row.role == "calibration")


def read_curves(raw: dict | list, file: Path, at: tuple) -> tuple[Curve, ...]:
    """The curves of a network file. Raises Fault, FabricmarkError (2) for a broken CSV."""
    if isinstance(raw, dict):
        return _published_curves(raw, file, at)
    return tuple(
        Curve(int(one["devices"]), int(one["nodes"]), *_points(one, "message_bytes", (*at, place)))
        for place, one in enumerate(raw)
    )


def _published_curves(raw: dict, file: Path, at: tuple) -> tuple[Curve, ...]:
    if Path(raw["from"]).name != raw["from"] or not raw["from"].isprintable():
        raise Fault((*at, "from"), "not the name of a file", "name a file of data/published")
    beside = file.parent / raw["from"]
    path = beside if beside.is_file() else published.folder() / raw["from"]
    if not path.is_file():
        raise Fault((*at, "from"), f"there is no {raw['from']}", f"name a file of {published.folder()}")
    found = curves_of_rows(
        _calibration_rows(path, path.stat().st_mtime_ns), raw["system"], raw.get("transport", transports.CPU)
    )
    if not found:
        cause = f"{raw['from']} has no calibration rows of {raw['system']}"
        raise Fault((*at, "system"), cause, "name a system whose hosts were measured")
    return found


def transfer_curves(raw: Mapping, at: tuple) -> dict[str, Times]:
    """Times by size of each kind of transfer of a bitstream. Raises Fault."""
    return {name: Times(*_points(one, "bytes", (*at, name))) for name, one in raw.items()}


def error_bars(raw: Mapping, at: tuple) -> dict[str, ErrorBars]:
    """Of a bitstream's predictions, by kind of metric. Raises Fault."""
    return {name: ErrorBars(*_points(one, "bytes", (*at, name), "shares")) for name, one in raw.items()}


def _points(
    raw: dict, sizes_key: str, at: tuple, values_key: str = "seconds"
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(sizes, values) of a curve; values are times, or shares. Raises Fault."""
    most = {sizes_key: quantities.RANGES["bytes"][1], "shares": MOST_ERROR}
    for key in (sizes_key, values_key):
        for place, number in enumerate(raw[key]):
            if (
                not 0 < number <= most.get(key, quantities.RANGES["seconds"][1])
            ):  # the schema takes infinities
                raise Fault((*at, key, place), f"{number} is out of range", "write a plain number")
    sizes, values = (tuple(float(number) for number in raw[key]) for key in (sizes_key, values_key))
    if len(sizes) != len(values):
        words = {"seconds": "time", "shares": "share"}[values_key]
        raise Fault((*at, values_key), f"not as many {words}s as sizes", f"give each size its {words}")
    if any(b <= a for a, b in pairwise(sizes)):
        raise Fault((*at, sizes_key), "not ascending", "sort sizes and times")
    return sizes, values
