"""A program of the user's, phase by phase, from a file (schemas/application-1): its work by the board's
limits, its calls over the network."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark.base import quantities, toml_file
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board
from fabricmark.models._missing import MissingValue
from fabricmark.predict import cables, collectives
from fabricmark.predict.cables import Call, Place, Setting
from fabricmark.predict.closed_form import EXCHANGE

SCHEMA = "application-1"
ENDING = ".toml"
RANKS = "ranks"
WORK = ("seconds", "flops", "memory_bytes")
# What a phase is made of, by what gives it away.
KINDS = {"a loop": ("phases",), "work": WORK, "a collective": ("collective",), "an exchange": ("exchange",)}
WITH = {"a loop": ("phases",), "work": WORK, "a collective": ("collective", "algorithm", "over", "bytes"),
        "an exchange": ("exchange", "bytes")}  # fmt: skip
MOST_TURNS = 10**9
MOST = 1e300  # and neither of TOML's inf and nan


@dataclass(frozen=True)
class Phase:
    """`repeat` times in all. `work`: seconds of a rank, or `call`, or `phases` of a loop. `limit`: what the
    work's time goes to."""

    name: str
    repeat: int
    work: float = 0.0
    limit: str = ""
    call: Call | None = None
    phases: tuple["Phase", ...] = ()


@dataclass(frozen=True)
class Application:
    """`memory`: bytes of a rank, 0 where the file says none."""

    name: str
    phases: tuple[Phase, ...]
    memory: float = 0.0


@dataclass(frozen=True)
class Spent:
    """A phase that is no loop: how often, seconds each time (None: no closed form), what they go to."""

    name: str
    times: int
    seconds: float | None
    limit: str


def load(file: Path) -> Mapping:
    """What a file says. Raises FabricmarkError (2)."""
    return toml_file.load(file, SCHEMA, "give a file as docs/simulate.md shows")


def patterns(document: Mapping) -> set[str]:
    """Kinds of exchanges between ranks, and rows or columns of them that make calls."""

    def walk(said: Sequence[Mapping]) -> Iterator[str]:
        for one in said:
            yield from walk(one.get("phases", ()))
            yield from (one[key] for key in (EXCHANGE, "over") if key in one)

    return set(walk(document["phases"]))


def read(file: Path, document: Mapping, given: Mapping[str, str], board: Board, ranks: int) -> Application:
    """What a file says for so many ranks. `given`: parameters in place of the file's. Raises FabricmarkError
    (2) that names file, key and remedy."""
    names = {**document.get("parameters", {})}
    for name, text in given.items():
        if name not in names:
            known = f"use one of {', '.join(names)}" if names else "the file has no [parameters]"
            raise FabricmarkError(f"{file}: {document['name']} has no parameter {name}", known)
        names[name] = _number(f"--set {name}={text}", text, None, {})
    for name in (RANKS, cables.ROWS, cables.COLUMNS):
        if name in names:
            raise FabricmarkError(f"{file}: parameters.{name}", "leave it out: it follows from the devices")
    rows = cables.rows_of(ranks)
    grid = {cables.ROWS: float(rows), cables.COLUMNS: float(ranks // rows)}
    reader = _Reader(file, {**names, RANKS: float(ranks), **grid}, board, document.get("device", {}))
    memory = reader.amount("memory", document["memory"], "bytes") if "memory" in document else 0.0
    _check_room(file, board, memory)
    return Application(document["name"], reader.phases("phases", document["phases"]), memory)


def _check_room(file: Path, board: Board, memory: float) -> None:
    """Raises FabricmarkError (2) where a device has less."""
    has = board.memory_bytes
    if has is not None and memory > has:
        needed, there = (quantities.written(one, "bytes") for one in (memory, has))
        raise FabricmarkError(
            f"{file}: a rank needs {needed} of memory, and {board.name} has {there}", "use more devices"
        )


def _number(where: str, text: object, dimension: str | None, names: Mapping[str, float]) -> float:
    """A number, a quantity of the dimension, or a formula. Raises FabricmarkError (2)."""
    if not isinstance(text, str):
        if not abs(text) < MOST:  # type: ignore[arg-type]
            raise FabricmarkError(f"{where} is {str(text)[:40]}", f"write a number below {MOST:g}")
        return float(text)  # type: ignore[arg-type]
    try:
        return quantities.value(text, names)
    except ValueError as error:
        reason = str(error)
    if dimension is None:
        raise FabricmarkError(f"{where}: {reason}", "write a number, or a formula")
    try:
        return quantities.parse(text, dimension)
    except ValueError as error:
        has_unit = any(text.strip().endswith(unit) for units in quantities.UNITS.values() for unit in units)
        cause = str(error).split("; ")[0] if has_unit and " " in text.strip() else reason
        example = quantities.EXAMPLES[dimension]
        raise FabricmarkError(f"{where}: {cause}", f"write a formula, or for example {example}") from None


class _Reader:
    """The phases of a file, with the numbers that its formulas name."""

    def __init__(self, file: Path, names: Mapping[str, float], board: Board, device: Mapping) -> None:
        self._file, self._names, self._board, self._device = file, names, board, device

    def amount(self, where: str, said: object, dimension: str | None) -> float:
        """Raises FabricmarkError (2)."""
        found = _number(f"{self._file}: {where}", said, dimension, self._names)
        if found < 0:
            raise FabricmarkError(f"{self._file}: {where} is {found:g}", "write what is not negative")
        return found

    def phases(self, where: str, said: Sequence[Mapping]) -> tuple[Phase, ...]:
        """Raises FabricmarkError (2)."""
        return tuple(self._phase(f"{where}[{place}]", one) for place, one in enumerate(said))

    def _phase(self, where: str, said: Mapping) -> Phase:
        kinds = [kind for kind, marks in KINDS.items() if any(mark in said for mark in marks)]
        if len(kinds) != 1:
            cause = f"{self._file}: {where} ({said['name']}) is {' and '.join(kinds) or 'no phase'}"
            raise FabricmarkError(
                cause, "give one of phases, seconds, flops and memory_bytes, collective, exchange"
            )
        (kind,) = kinds
        for key in set(said) - {"name", "repeat", *WITH[kind]}:
            cause = f"{self._file}: {where} ({said['name']}) is {kind}, which has no {key}"
            raise FabricmarkError(cause, f"leave it out, or use {', '.join(WITH[kind])}")
        repeat = self.amount(f"{where}.repeat", said.get("repeat", 1), None)
        if not 1 <= repeat <= MOST_TURNS or repeat != int(repeat):
            raise FabricmarkError(f"{self._file}: {where}.repeat is {repeat:g}", f"write 1 to {MOST_TURNS}")
        phase = Phase(said["name"], int(repeat))
        if kind == "a loop":
            return replace(phase, phases=self.phases(f"{where}.phases", said["phases"]))
        if kind == "work":
            work, limit = self._work(where, said)
            return replace(phase, work=work, limit=limit)
        return replace(phase, call=self._call(where, said))

    def _call(self, where: str, said: Mapping) -> Call:
        name = EXCHANGE if "exchange" in said else collectives.operation(said["collective"])
        if name is None:
            cause = f"{self._file}: {where}: there is no collective {said['collective']!r}"
            raise FabricmarkError(cause, f"use one of {', '.join(collectives.OPERATIONS)}")
        if ("bytes" in said) == (name == "barrier"):
            lacks = "moves no bytes" if name == "barrier" else "has no bytes"
            raise FabricmarkError(f"{self._file}: {where}: {name} {lacks}", "see docs/simulate.md")
        sent = self.amount(f"{where}.bytes", said.get("bytes", 0), "bytes")
        rows = cables.rows_of(int(self._names[RANKS]))
        if name == EXCHANGE:
            return Call(name, round(sent), said["exchange"], "", rows)
        over = said.get("over", "")
        return Call(name, round(sent), said.get("algorithm", ""), over, rows if over else 1)

    def _work(self, where: str, said: Mapping) -> tuple[float, str]:
        """Seconds and what limits: the longest of what goes on side by side."""
        found: dict[str, float] = {}
        if "seconds" in said:
            found["seconds"] = self.amount(f"{where}.seconds", said["seconds"], "seconds")
        if "flops" in said:
            flops = self.amount(f"{where}.flops", said["flops"], None)
            found["arithmetic"] = flops / self._rate("flops", "flops_per_second", None) if flops else 0.0
        if "memory_bytes" in said:
            moved = self.amount(f"{where}.memory_bytes", said["memory_bytes"], "bytes")
            usual = self._bandwidth()
            rate = self._rate("memory_bandwidth", "bytes_per_second", usual) if moved else 1.0
            found["memory"] = moved / rate
        limit = max(found, key=lambda name: found[name])
        return found[limit], limit

    def _bandwidth(self) -> float | None:
        try:
            return self._board.memory_bytes_per_second
        except MissingValue:
            return None

    def _rate(self, name: str, dimension: str, usual: float | None) -> float:
        """Raises FabricmarkError (2) where neither file nor board says it."""
        if name in self._device:
            found = _number(f"{self._file}: device.{name}", self._device[name], dimension, self._names)
            if found <= 0:
                raise FabricmarkError(f"{self._file}: device.{name} is {found:g}", "write a rate above 0")
            return found
        if usual is None:
            cause = f"{self._file}: nothing says device.{name} of {self._board.name}"
            raise FabricmarkError(cause, f'write [device] {name} = "{quantities.EXAMPLES[dimension]}"')
        return usual


def calls_of(phases: Sequence[Phase]) -> Iterator[Call]:
    """All calls, as often as the file has them."""
    for one in phases:
        if one.call is not None:
            yield one.call
        yield from calls_of(one.phases)


def spent(application: Application, place: Place, setting: Setting) -> list[Spent]:
    """Of each phase that is no loop, in the order of the file, by work and closed forms. Raises
    FabricmarkError (2)."""
    known = in_closed_form(application, place, setting)

    def walk(phases: Sequence[Phase], times: int) -> Iterator[Spent]:
        for one in phases:
            often = times * one.repeat
            yield from walk(one.phases, often)
            if one.call is not None:
                closed = known[one.call]
                yield Spent(one.name, often, closed.seconds, _words(closed.call))
            elif not one.phases:
                yield Spent(one.name, often, one.work, one.limit)

    return list(walk(application.phases, 1))


def _words(call: Call) -> str:
    return f"{call.operation} by {call.algorithm}" + (f" over {call.over}" if call.over else "")


def in_closed_form(application: Application, place: Place, setting: Setting) -> dict[Call, cables.Closed]:
    """Of each of its calls. Raises FabricmarkError (2)."""
    calls = list(dict.fromkeys(calls_of(application.phases)))
    found = cables.closed([(call, setting) for call in calls], place.network)
    return dict(zip(calls, found, strict=True))


def total(phases: Sequence[Spent]) -> float | None:
    """Seconds of all; None where one has none."""
    seconds = [one.times * one.seconds if one.seconds is not None else None for one in phases]
    return None if None in seconds else sum(one for one in seconds if one is not None)
