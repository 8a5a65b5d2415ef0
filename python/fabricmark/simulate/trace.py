"""Traces of MPI programs as libfabricmark-record writes them (docs/simulate.md): read and checked."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.grouping import grouped

ENDING = ".trace"
VERSIONS, VERSION_KEY = (1, 2), "fabricmark_trace"  # the first has no tests
NONE = -1
AGAIN = "record it again with `fabricmark record`"
SENDS, RECEIVES, BOTH = ("MPI_Send", "MPI_Isend"), ("MPI_Recv", "MPI_Irecv"), "MPI_Sendrecv"
WAIT, PROBE, LAST = "MPI_Wait", "MPI_Probe", "MPI_Finalize"
# The suite's operation of each collective. A scan goes as an all_reduce, and who makes a communicator
# waits for all others.
OPERATION = {
    "MPI_Barrier": "barrier", "MPI_Bcast": "broadcast", "MPI_Reduce": "reduce", "MPI_Allreduce": "all_reduce",
    "MPI_Gather": "gather", "MPI_Scatter": "scatter", "MPI_Allgather": "all_gather",
    "MPI_Alltoall": "all_to_all", "MPI_Reduce_scatter": "reduce_scatter", "MPI_Scan": "all_reduce",
    "MPI_Comm_create": "barrier",
}  # fmt: skip
CALLS = {*SENDS, *RECEIVES, BOTH, WAIT, PROBE, LAST, *OPERATION}
LARGEST = 2**53
MOST_SLOTS = 2**16


class Kind(NamedTuple):
    """A call with all that tells it from others; ranks are those of MPI_COMM_WORLD. `to`: receiver or root;
    `bytes`: sent, or of one rank's elements; `room`: what a receive takes; `varies`: ranks of a collective
    have their own bytes. NONE: there is none."""

    call: str
    communicator: int
    to: int
    tag: int
    bytes: int
    source: int
    source_tag: int
    room: int
    slot: int
    varies: int


class Step(NamedTuple):
    """A call: `times` as often as its loops turn, `compute` seconds before each, `inside` in each. Of a loop
    `length` steps before it, which follow each other `turns` times; of a call 0. Before each call, `tests`
    that found nothing while the rank worked, and `testing` seconds in these."""

    kind: int
    compute: float
    inside: float
    times: int
    length: int = 0
    turns: int = 0
    tests: float = 0
    testing: float = 0


@dataclass(frozen=True)
class Rank:
    """`test`: seconds of a test that finds nothing, 0 where nobody has measured it. `unmodelled`: calls by
    name that are no part of the trace, and how many."""

    number: int
    seconds: float
    test: float
    unmodelled: Mapping[str, int]
    communicators: Mapping[int, Sequence[int]]
    kinds: Sequence[Kind]
    steps: Sequence[Step]

    @property
    def compute(self) -> float:
        """Seconds that it spent outside of calls."""
        return sum(one.compute * one.times for one in self.steps)

    @property
    def testing(self) -> float:
        """Seconds in tests that found nothing while it worked."""
        return sum(one.testing * one.times for one in self.steps)

    def calls(self) -> Iterator[tuple[Kind, Step]]:
        """Without loops: how often each is made, stands in its step."""
        return ((self.kinds[one.kind], one) for one in self.steps if not one.length)


@dataclass(frozen=True)
class Trace:
    """`about`: host, command, library and created, as the file says."""

    file: Path
    about: Mapping[str, str]
    ranks: Sequence[Rank]

    @property
    def seconds(self) -> float:
        """Of the slowest rank from behind MPI_Init to MPI_Finalize."""
        return max(one.seconds for one in self.ranks)


def read(file: Path) -> Trace:
    """Raises FabricmarkError (2) that names file, rank and call."""
    try:
        lines = paths.content(file).decode("utf-8").splitlines()
    except OSError as error:
        raise FabricmarkError(f"{file}: cannot be read: {error.strerror}", "name a recorded trace") from error
    except ValueError as error:
        raise FabricmarkError(f"{file}: no text: {error}", AGAIN) from error
    head = _object(file, "line 1", lines[0] if lines else "")
    if head.get(VERSION_KEY) not in VERSIONS:
        said = head.get(VERSION_KEY)
        known = f"{VERSIONS[0]} to {VERSIONS[-1]} are read"
        what = "is no trace" if said is None else f"is a trace of version {said}, and {known}"
        raise FabricmarkError(f"{file}: {what}", AGAIN)
    count = head.get("ranks")
    if type(count) is not int or not 2 <= count <= LARGEST:
        raise FabricmarkError(f"{file}: a trace of {count!r} ranks", "record two ranks or more")
    found: dict[int, Rank] = {}
    for place, line in enumerate(lines[1:], 2):
        if place == len(lines) and '"end"' in line[:8]:
            break
        one = _Reader(file, f"line {place}", _object(file, f"line {place}", line), count).rank()
        if one.number in found:
            raise FabricmarkError(f"{file}: rank {one.number} is there twice", AGAIN)
        found[one.number] = one
    else:
        raise FabricmarkError(f"{file}: is cut off behind line {len(lines)}", AGAIN)
    missing = next((rank for rank in range(count) if rank not in found), None)
    if missing is not None:
        raise FabricmarkError(f"{file}: rank {missing} is missing", AGAIN)
    about = {key: str(head.get(key, "")) for key in ("host", "command", "library", "created")}
    trace = Trace(file, about, [found[rank] for rank in range(count)])
    _check_communicators(trace)
    _check_messages(trace)
    _check_collectives(trace)
    return trace


def _object(file: Path, where: str, text: str) -> Mapping:
    """A line of a file. Raises FabricmarkError (2)."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FabricmarkError(f"{file}: {where}: no JSON, as of a file that is cut off", AGAIN) from error
    if not isinstance(found, dict):
        raise FabricmarkError(f"{file}: {where}: no trace of a rank", AGAIN)
    return found


class _Reader:
    """The line of a rank."""

    def __init__(self, file: Path, where: str, said: Mapping, ranks: int) -> None:
        self._file, self._where, self._said, self._ranks = file, where, said, ranks

    def _wrong(self, what: str) -> FabricmarkError:
        return FabricmarkError(f"{self._file}: {self._where}: {what}", AGAIN)

    def _whole(self, what: str, value: object, least: int, most: int) -> int:
        if type(value) is not int or not least <= value <= most:
            raise self._wrong(f"{what} is {value!r}, not from {least} to {most}")
        return value

    def _seconds(self, what: str, value: object) -> float:
        if type(value) not in (int, float) or not 0 <= value < math.inf:  # type: ignore[operator]
            raise self._wrong(f"{what} is {value!r}")
        return float(value)  # type: ignore[arg-type]

    def _list(self, what: str, value: object) -> list:
        if not isinstance(value, list):
            raise self._wrong(f"{what} are no list")
        return value

    def _table(self, name: str) -> Mapping:
        found = self._said.get(name)
        if not isinstance(found, dict):
            raise self._wrong(f"{name} is missing")
        return found

    def rank(self) -> Rank:
        """Raises FabricmarkError (2)."""
        number = self._whole("rank", self._said.get("rank"), 0, self._ranks - 1)
        self._where = f"rank {number}"
        left_out = self._whole("left_out", self._said.get("left_out"), 0, LARGEST)
        if left_out:
            why = f"{left_out} calls were left out for want of room"
            raise FabricmarkError(f"{self._file}: rank {number}: {why}", "record fewer steps of the program")
        unmodelled = {
            str(name): self._whole(str(name), count, 0, LARGEST)
            for name, count in self._table("unmodelled").items()
        }
        communicators = {}
        for name, ranks in self._table("communicators").items():
            members = self._list(f"communicator {name}", ranks)
            for one in members:
                self._whole(f"a rank of communicator {name}", one, 0, self._ranks - 1)
            if not name.isdecimal() or len(name) > 10 or len(set(members)) != len(members) or not members:
                raise self._wrong(f"communicator {name} has ranks twice, or none, or no number")
            communicators[int(name)] = members
        kinds = [self._kind(one, communicators) for one in self._list("kinds", self._said.get("kinds"))]
        steps = self._steps(self._list("steps", self._said.get("steps")), kinds)
        seconds = self._seconds("seconds", self._said.get("seconds"))
        test = self._seconds("test", self._said.get("test", 0))
        return Rank(number, seconds, test, unmodelled, communicators, kinds, steps)

    def _kind(self, said: object, communicators: Mapping[int, Sequence[int]]) -> Kind:
        if not isinstance(said, list) or len(said) != len(Kind._fields) or said[0] not in CALLS:
            raise self._wrong(f"{str(said)[:60]} is no call")
        for name, value in zip(Kind._fields[1:], said[1:], strict=True):
            self._whole(f"{said[0]}: {name}", value, -LARGEST if name.endswith("tag") else NONE, LARGEST)
        kind = Kind(*said)
        if kind.call not in (WAIT, LAST) and kind.communicator not in communicators:
            raise self._wrong(f"{kind.call}: there is no communicator {kind.communicator}")
        members = communicators.get(kind.communicator, ())
        for peer in (kind.to, kind.source):
            if peer != NONE and peer not in members:
                raise self._wrong(f"{kind.call}: rank {peer} is not in communicator {kind.communicator}")
        needs_slot = kind.call in (SENDS[1], RECEIVES[1], WAIT)
        if kind.slot >= MOST_SLOTS or (needs_slot and kind.slot == NONE) or kind.bytes < 0:
            raise self._wrong(f"{kind.call}: slot {kind.slot}, {kind.bytes} B")
        if kind.call in SENDS and kind.to == NONE:
            raise self._wrong(f"{kind.call} goes to no rank")
        if kind.call == RECEIVES[0] and kind.source == NONE:
            raise self._wrong(f"{kind.call} comes from no rank")
        return kind

    def _steps(self, said: Sequence, kinds: Sequence[Kind]) -> list[Step]:
        """From the last to the first, as loops stand behind their steps."""
        found: list[Step] = []
        around: list[tuple[int, int]] = []  # first step and times of the loops that a step is in
        for place in range(len(said) - 1, -1, -1):
            one = said[place]
            while around and place < around[-1][0]:
                around.pop()
            times = around[-1][1] if around else 1
            if not isinstance(one, list) or len(one) not in (2, 3, 5):
                raise self._wrong(f"step {place} is {str(one)[:60]}")
            if len(one) == 2:
                least = around[-1][0] if around else 0
                length = -self._whole(f"step {place}: the length of a loop", one[0], least - place, -1)
                turns = self._whole(f"step {place}: turns of a loop", one[1], 1, LARGEST)
                around.append((place - length, self._whole("turns of all loops", times * turns, 1, LARGEST)))
                found.append(Step(NONE, 0, 0, times, length, turns))
                continue
            kind = self._whole(f"step {place}", one[0], 0, len(kinds) - 1)
            where = f"{kinds[kind].call} (step {place})"
            compute, inside = (self._seconds(f"{where}: time", value) for value in one[1:3])
            tests, testing = one[3:] if len(one) > 3 else (0, 0)
            tests = self._whole(f"{where}: tests", tests, 0, LARGEST)
            testing = self._seconds(f"{where}: time of tests", testing)
            each = (compute / times, inside / times, times)
            found.append(Step(kind, *each, tests=tests / times, testing=testing / times))
        return found[::-1]


def _check_communicators(trace: Trace) -> None:
    """Raises FabricmarkError (2) where two ranks say something else of one."""
    known: dict[int, tuple[int, Sequence[int]]] = {}
    for rank in trace.ranks:
        for number, members in rank.communicators.items():
            other, first = known.setdefault(number, (rank.number, members))
            if list(first) != list(members):
                cause = f"rank {rank.number}: communicator {number} has other ranks than for rank {other}"
                raise FabricmarkError(f"{trace.file}: {cause}", AGAIN)


def messages(rank: Rank) -> Iterator[tuple[tuple[int, int, int, int], bool, Kind, int]]:
    """Of what a rank sends (True) and receives: sender, receiver, communicator and tag; call, how often."""
    own = rank.number
    for kind, step in rank.calls():
        if (kind.call in SENDS or kind.call == BOTH) and kind.to != NONE:
            yield (own, kind.to, kind.communicator, kind.tag), True, kind, step.times
        if kind.call in (*RECEIVES, BOTH, WAIT) and kind.source != NONE:
            yield (kind.source, own, kind.communicator, kind.source_tag), False, kind, step.times


def _check_messages(trace: Trace) -> None:
    """Raises FabricmarkError (2) for those that are sent and not received, or the other way."""
    made = grouped(
        ((between, is_send), (kind, times))
        for rank in trace.ranks
        for between, is_send, kind, times in messages(rank)
    )
    for between in dict.fromkeys(between for between, _ in sorted(made, key=lambda one: not one[1])):
        sender, receiver, communicator, tag = between
        where = f"communicator {communicator}, tag {tag}"
        sends, receives = (made.get((between, is_send), []) for is_send in (True, False))
        sent, received = (sum(times for _, times in calls) for calls in (sends, receives))
        if sent != received:
            is_receive = received > sent
            own, other = (receiver, sender) if is_receive else (sender, receiver)
            call = (receives if is_receive else sends)[-1][0].call
            what = "receives {} messages of" if is_receive else "sends {} messages to"
            cause = (
                f"rank {own}, {call}: {what.format(max(sent, received))} rank {other} "
                f"({where}), which {'sends' if is_receive else 'receives'} {min(sent, received)}"
            )
            raise FabricmarkError(f"{trace.file}: {cause}", AGAIN)
        longest, room = max(kind.bytes for kind, _ in sends), max(kind.room for kind, _ in receives)
        if longest > room:
            cause = (
                f"rank {receiver}, {receives[-1][0].call}: has room for {room} B of "
                f"rank {sender} ({where}), which sends {longest} B"
            )
            raise FabricmarkError(f"{trace.file}: {cause}", AGAIN)


def _check_collectives(trace: Trace) -> None:
    """Raises FabricmarkError (2) where ranks of a communicator do not make the same calls."""
    made: dict[int, dict[int, Counter]] = {}
    for rank in trace.ranks:
        for number in rank.communicators:
            made.setdefault(number, {})[rank.number] = Counter()
        for kind, step in rank.calls():
            if kind.call in OPERATION:
                what = (kind.call, kind.to, NONE if kind.varies else kind.bytes)
                made[kind.communicator][rank.number][what] += step.times
    for number, by_rank in made.items():
        members = next(one.communicators[number] for one in trace.ranks if number in one.communicators)
        first = by_rank.get(members[0], Counter())
        for member in members:
            own = by_rank.get(member, Counter())
            for call, root, size in {**own, **first}:
                what = call, root, size
                if own[what] == first[what]:
                    continue
                of = f" of {size} B" if size > 0 else ""
                cause = (
                    f"rank {member}, {call}{of}: called {own[what]} times in communicator {number}, and "
                    f"{first[what]} times by rank {members[0]}"
                )
                raise FabricmarkError(f"{trace.file}: {cause}", AGAIN)
