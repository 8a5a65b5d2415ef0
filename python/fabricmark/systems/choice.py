"""Which board, bitstream and transport of a system a command means: one choice, one refusal for all of them.

What is named counts. Of what is not named: the first of the system's kinds of devices that can do it, and the
first transport in the order of the command. Whether one of several bitstreams may be taken unasked is the
command's rule: a run, a build and an inspection need one to be named, a prediction takes the first and says
so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from fabricmark import models, systems
from fabricmark.base import transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.systems import files
from fabricmark.systems.build import System

NONE = transports.NONE
FPGA = "fpga"
# What is taken where no transport is named: the fastest that designs were built for.
PREFERRED = (transports.CHANNELS, transports.HOST, transports.CPU)
OPTION = "--bitstream-id"


@dataclass(frozen=True)
class Wanted:
    """What a command line names; None: it does not. `bitstream`: FILE/NAME."""

    system: str
    board: str | None = None
    bitstream: str | None = None
    transport: str | None = None
    profile: str = "fitted"


@dataclass(frozen=True)
class Choice:
    """`system`: as the chosen board has it. `bitstreams`: ids of those that fit, one where it was named.

    `is_named`: whether it was.
    """

    benchmark: str
    system: System
    transport: str
    bitstreams: tuple[str, ...]
    is_named: bool = False

    @cached_property
    def narrowed(self) -> System:
        """The system without the benchmark's other bitstreams, where one was named."""
        if not self.is_named:
            return self.system
        return with_only(self.system, self.benchmark, self.bitstreams[0])

    def one(self) -> str:
        """The id of the only one that fits, "" for none. Raises FabricmarkError (2) for several."""
        if len(self.bitstreams) > 1:
            raise several(self.system.name, self.benchmark, self.bitstreams)
        return "".join(self.bitstreams)


def usual(ids: Sequence[str], benchmark: str) -> str:
    """Of several designs of one file, that with the benchmark's name, as the programs take it; "": none."""
    files = {one.partition("/")[0] for one in ids}
    own = f"{min(files)}/{benchmark}"
    return own if len(files) == 1 and own in ids else ""


def several(system: str, benchmark: str, ids: Sequence[str]) -> FabricmarkError:
    """As the programs say it (src/runtime/system_file.cpp)."""
    cause = f"'{system}' has several bitstreams of {benchmark}"
    return FabricmarkError(cause, f"choose with {OPTION} one of {', '.join(ids)}")


def check_needs_system(bitstream: str | None, board: str | None = None) -> None:
    """Raises FabricmarkError (2) for what is part of a system, where none is named."""
    if bitstream is not None:
        raise FabricmarkError(f"{OPTION} without --system", "name the system that has the bitstream")
    if board is not None:
        raise FabricmarkError("--board without --system", "name the system that has the board")


def wanted(
    system: str | None, board: str | None, bitstream: str | None, transport: str | None
) -> Wanted | None:
    """What the options say; None without a system. Raises FabricmarkError (2)."""
    if system is None:
        check_needs_system(bitstream, board)
        return None
    return Wanted(system, board, bitstream, transport)


def bitstream_of(benchmark: str, wanted: Wanted, variant: str = "", verb: str = "build") -> str | None:
    """The bitstream for a command that may do without one: what was named, or the only one for what was.

    None where nothing decides here: the programs then look among all of the system, and refuse several, too.
    Raises FabricmarkError (2) for what there is not.
    """
    if wanted.bitstream is None and wanted.transport is None:
        if wanted.board is not None:
            systems.load(wanted.system, wanted.profile, wanted.board)
        return None
    _, within = _kinds_within(wanted)
    has_any = any(one.benchmark == benchmark for kind in within for one in kind.bitstreams)
    ways = {way for one in within for way in one.networks} or {
        str(wanted.transport)
    }  # a board alone has none
    if wanted.bitstream is None and wanted.transport in {NONE, *ways}:
        if not has_any or wanted.transport == NONE:
            return None  # kernels of no bitstream, by their defaults
        if not any(of_transport(one, benchmark, wanted.transport) for one in within):
            return None  # the system has the way, and programs may take another bitstream's kernels over it
    chosen = choose(benchmark, wanted, verb=verb)
    known = chosen.system.designs
    fits = [name for name in chosen.bitstreams if variant in ("", known[name].variant)]
    if len(fits) > 1:
        if found := usual(fits, benchmark):
            return found
        raise several(chosen.system.name, benchmark, fits)
    return fits[0] if fits else None


def kinds(wanted: Wanted) -> list[System]:
    """The system as each of its kinds of devices has it. Raises FabricmarkError (2)."""
    return systems.kinds(wanted.system, wanted.profile)


def _kinds_within(wanted: Wanted) -> tuple[list[System], list[System]]:
    """(all kinds, those of the board that was named). Raises FabricmarkError (2)."""
    every = kinds(wanted)
    within = [one for one in every if wanted.board in (None, one.board_id)]
    if not within:
        cause = f"{wanted.system}: {wanted.board} is no board of this system"
        raise FabricmarkError(cause, f"use one of {', '.join(one.board_id for one in every)}")
    return every, within


def choose(
    benchmark: str, wanted: Wanted, preferred: Sequence[str] = PREFERRED, verb: str = "predict"
) -> Choice:
    """What a command means. Raises FabricmarkError (2) for what there is not, with what is there instead."""
    if wanted.board is None and wanted.bitstream is None:  # the first kind, as a rule
        first = systems.load(wanted.system, wanted.profile)
        if found := _of_kind(benchmark, wanted, first, preferred):
            return found
    every, within = _kinds_within(wanted)
    if wanted.bitstream is not None:
        return _named(benchmark, wanted, every, within)
    if wanted.transport not in (None, NONE) and not models.traits(benchmark).exchanges:
        raise FabricmarkError(
            f"{benchmark} exchanges nothing over {wanted.transport}", "leave out --transport"
        )
    for one in within:
        if found := _of_kind(benchmark, wanted, one, preferred):
            return found
    raise refused(benchmark, wanted, every, within, verb)


def _of_kind(benchmark: str, wanted: Wanted, kind: System, preferred: Sequence[str]) -> Choice | None:
    """None where this kind of devices cannot do it."""
    ways = transports_of(benchmark, kind, preferred)
    transport = next(iter(ways), None) if wanted.transport is None else wanted.transport
    return Choice(benchmark, kind, transport, ways[transport]) if transport in ways else None


def transports_of(
    benchmark: str, system: System, preferred: Sequence[str] = PREFERRED
) -> dict[str, tuple[str, ...]]:
    """The transports that a benchmark has on a kind of devices, with the ids of the bitstreams of each."""
    own = [name for name, one in system.designs.items() if one.benchmark == benchmark]
    traits = models.traits(benchmark)
    needs_one = system.board.device_class == FPGA and not traits.is_host_code
    if not traits.exchanges:
        return {NONE: tuple(own)} if own or not needs_one else {}
    known = [name for name in preferred if name in system.networks]
    known += sorted(set(system.networks) - set(known))
    found = {}
    for transport in (*known, *([] if traits.to_itself else [NONE])):
        fits = of_transport(system, benchmark, transport)
        if fits or not needs_one:
            found[transport] = fits
    return found


def of_transport(system: System, benchmark: str, transport: str) -> tuple[str, ...]:
    """Ids of a benchmark's bitstreams for a transport, as `System.bitstream` takes them: its own, else those
    that exchange nothing."""
    for wanted in (transport, NONE):
        found = tuple(
            name
            for name, one in system.designs.items()
            if (one.benchmark, one.transport) == (benchmark, wanted)
        )
        if found:
            return found
    return ()


def with_only(system: System, benchmark: str, name: str) -> System:
    """The system with no other bitstream of a benchmark."""
    kept = [(own, one) for own, one in system.designs.items() if one.benchmark != benchmark or own == name]
    names = {own for own, _ in kept}
    parts = {part: values for part, values in system.parts.items() if "/" not in part or part in names}
    return replace(system, bitstreams=tuple(one for _, one in kept), parts=parts)


def _named(benchmark: str, wanted: Wanted, every: Sequence[System], within: Sequence[System]) -> Choice:
    """The bitstream that was named. Raises FabricmarkError (2)."""
    name = wanted.bitstream
    held = [(kind, one) for kind in every for own, one in kind.designs.items() if own == name]
    if not held or held[0][1].benchmark != benchmark:
        raise no_such(benchmark, wanted, within)
    kind, found = held[0]
    if kind not in within:
        cause = f"the bitstream {name} is for the board {kind.board_id}, not for {wanted.board}"
        raise FabricmarkError(cause, _instead(_or_ids(benchmark, within), [kind.board_id]))
    exchanges = models.traits(benchmark).exchanges
    if wanted.transport not in (None, NONE) and not exchanges:
        raise FabricmarkError(
            f"{benchmark} exchanges nothing over {wanted.transport}", "leave out --transport"
        )
    if wanted.transport is not None and found.transport not in (wanted.transport, NONE):
        cause = f"the bitstream {name} is for the transport {found.transport}, not for {wanted.transport!s}"
        fits = of_transport(kind, benchmark, wanted.transport)
        remedy = f"use --transport {found.transport}" + (f", or {OPTION} {' or '.join(fits)}" if fits else "")
        raise FabricmarkError(cause, remedy)
    transport = wanted.transport or (found.transport if exchanges else NONE)
    if transport != NONE and transport not in kind.networks and kind.networks:
        raise FabricmarkError(f"{_place(wanted, kind)} has no transport {transport}",
                              f"use one of {', '.join(kind.networks)}")  # fmt: skip
    return Choice(benchmark, kind, transport, (str(name),), is_named=True)


def no_such(benchmark: str, wanted: Wanted, within: Sequence[System]) -> FabricmarkError:
    """For a bitstream that a system has not, or that is of another benchmark."""
    cause = f"{wanted.system} has no bitstream {wanted.bitstream} of {benchmark}"
    elsewhere = _systems_with(wanted.bitstream) if _ids(benchmark, within) == [] else []
    remedy = _or_ids(benchmark, within)
    return FabricmarkError(cause, remedy + (f", or --system {' or '.join(elsewhere)}" if elsewhere else ""))


def _systems_with(name: str | None) -> list[str]:
    """Systems that list the file of a bitstream."""
    file = str(name).partition("/")[0]
    return [
        system
        for system, path in sorted(files.listed("system").items())
        if any(file in kind.get("bitstreams", []) for kind in files.parse(path).get("devices", []))
    ]


def _ids(benchmark: str, within: Iterable[System]) -> list[str]:
    return [name for kind in within for name, one in kind.designs.items() if one.benchmark == benchmark]


def _or_ids(benchmark: str, within: Iterable[System]) -> str:
    known = _ids(benchmark, within)
    return f"use one of {', '.join(known)}" if known else f"leave out {OPTION}"


def _place(wanted: Wanted, kind: System) -> str:
    return (
        f"{kind.board_id} of {kind.name}" if wanted.board is not None and len(kind.boards) > 1 else kind.name
    )


def over_networks(name: str, wanted: Wanted, preferred: Sequence[str]) -> Choice:
    """For what needs a network and no kernel, as a collective operation. Raises FabricmarkError (2)."""
    every, within = _kinds_within(wanted)
    for one in within:
        known = [way for way in preferred if way in one.networks]
        if known and wanted.transport in (None, *known):
            return Choice(name, one, wanted.transport or known[0], ())
    here = _ordered((one.networks for one in within), preferred)
    if not here:
        raise FabricmarkError(f"{_place(wanted, within[0])} has no network for {name}", "use another system")
    raise _no_transport(wanted, within[0], here, [one for one in every if one not in within])


def _ordered(networks: Iterable[Iterable[str]], preferred: Sequence[str]) -> list[str]:
    known = {name for some in networks for name in some}
    return [name for name in preferred if name in known]


def _no_transport(
    wanted: Wanted, kind: System, here: Sequence[str], others: Sequence[System], name: str = ""
) -> FabricmarkError:
    boards = [one.board_id for one in others if wanted.transport in one.networks]
    rest = f"use one of {', '.join(here)}" if here else f"it has none for {name}"
    remedy = _instead(rest, boards) if here or not boards else f"use --board {' or '.join(boards)}"
    return FabricmarkError(f"{_place(wanted, kind)} has no transport {wanted.transport}", remedy)


def refused(
    benchmark: str, wanted: Wanted, every: Sequence[System], within: Sequence[System], verb: str = "predict"
) -> FabricmarkError:
    """Why no kind of devices can do it, and what is there instead. `verb`: what the command does."""
    kind, transport = within[0], wanted.transport
    traits = models.traits(benchmark)
    others = [one for one in every if one not in within]
    here = list(dict.fromkeys(way for one in within for way in transports_of(benchmark, one) if way != NONE))
    is_over = transport not in (None, NONE)
    if is_over and not any(transport in one.networks for one in within):
        able = [one for one in others if transport in transports_of(benchmark, one)]
        return _no_transport(wanted, kind, here, able, benchmark)
    boards = [one.board_id for one in others if _has_way(benchmark, one, transport)]
    if traits.to_itself and not is_over:
        rest = f"use --transport {' or '.join(here)}, or another system" if here else "use another system"
        return FabricmarkError(f"{_place(wanted, kind)} has no network", f"{rest}, or add one to its file")
    about = f"{_place(wanted, kind)} has no bitstream of {benchmark}"
    own = {one.transport for some in within for _, one in some.designs.items() if one.benchmark == benchmark}
    if own and not is_over:
        rest = f"use --transport {' or '.join(here)}" if here else "use a system that has one"
        return FabricmarkError(f"{about} without a network, only over {', '.join(sorted(own))}",
                               _instead(rest, boards))  # fmt: skip
    if own:
        rest = f"use --transport {' or '.join(here or sorted(own))}"
        return FabricmarkError(f"{about} over {transport}", _instead(rest, boards))
    known = {one.benchmark for some in within for one in some.bitstreams} & set(models.names())
    rest = f"{verb} {', '.join(sorted(known))}" if known else "add one to its file"
    elsewhere = [] if boards else systems_of(benchmark, transport)
    rest += f", or use --system {' or '.join(elsewhere)}" if elsewhere else ""
    return FabricmarkError(about, _instead(rest, boards))


def _has_way(benchmark: str, system: System, transport: str | None) -> bool:
    ways = transports_of(benchmark, system)
    return bool(ways) if transport in (None, NONE) else transport in ways


def _instead(rest: str, boards: Sequence[str]) -> str:
    """What to do: another board of the system first."""
    return f"use --board {' or '.join(boards)}, or {rest.removeprefix('use ')}" if boards else rest


def systems_of(benchmark: str, transport: str | None) -> list[str]:
    """The systems that have a bitstream of a benchmark, over this transport where one is named."""
    paths = [*files.listed("system").values(), *files.listed("bitstreams").values()]
    known = _declared(tuple((path, path.stat().st_mtime_ns) for path in paths))
    return [
        name
        for name, has in known.items()
        if any(own == benchmark and transport in (None, NONE, over) for own, over in has)
    ]


@cache
def _declared(stamped: tuple[tuple[Path, int], ...]) -> dict[str, set[tuple[str, str]]]:
    """(benchmark, transport) of the bitstreams of each system, as the files say it; unchecked, as a refusal
    must not wait for all of them. What cannot be read has none."""
    found: dict[str, set[tuple[str, str]]] = {}
    for name, path in sorted(files.listed("system").items()):
        found[name] = set()
        try:
            for kind in files.parse(path).get("devices", []):
                for file in kind.get("bitstreams", []):
                    every = files.parse(files.find("bitstreams", file)).get("bitstreams", {})
                    found[name] |= {
                        (one.get("benchmark"), one.get("transport", NONE)) for one in every.values()
                    }
        except (FabricmarkError, KeyError, AttributeError, TypeError):
            continue
    return found


def said(chosen: Choice, taken: Iterable[str], board: str | None) -> list[str]:
    """A line where more than one was possible: what was taken, and what else there is. `taken`: ids."""
    names = sorted(name for name in taken if name)
    others = [name for name in chosen.bitstreams if name not in names]
    parts = []
    if board is None and len(chosen.system.boards) > 1:
        rest = [one for one in chosen.system.boards if one != chosen.system.board_id]
        parts.append(f"board {chosen.system.board_id} (others: {', '.join(rest)}, by --board)")
    if names and others:
        parts.append(f"bitstream {', '.join(names)} (others: {', '.join(others)}, by {OPTION})")
    return [f"of several: {'; '.join(parts)}"] if parts else []
