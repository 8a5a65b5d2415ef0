"""A recorded trace over the network of a described system: what each rank does, as a request says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.models.machine import DIRECT, Network
from fabricmark.predict import cables
from fabricmark.predict.cables import Call, Setting
from fabricmark.simulate import open_mpi
from fabricmark.simulate import trace as traces
from fabricmark.simulate.calls import Found
from fabricmark.simulate.scaling import Scaled
from fabricmark.simulate.trace import (
    BOTH,
    LAST,
    NONE,
    OPERATION,
    PROBE,
    RECEIVES,
    SENDS,
    WAIT,
    Kind,
    Rank,
    Trace,
)

COMPUTATION = "computation"
EAGER = "eager_limit"
# Open MPI's over TCP (btl_tcp_eager_limit of version 4.1), and of SimGrid's SMPI above which a sender waits
# (smpi/send-is-detached-thresh).
USUAL_EAGER_BYTES = 65536


@dataclass(frozen=True)
class Whole:
    """A collective that all ranks of a communicator make: the same for each of them."""

    communicator: int
    call: str
    root: int
    sent: int


def replay(
    scaled: Scaled, settings: Sequence[Setting], network: Network, *, by_call: bool = False,
    choice: str = "", **more: object,
) -> list[Found]:  # fmt: skip
    """In each of these settings, the time of each kind of call told where `by_call`. `choice`: of algorithms,
    Open MPI's or the suite's. Raises FabricmarkError (2)."""
    found = []
    trace = scaled.trace
    parts = _times(trace) if by_call else {}
    told = {"parts": len(parts)} if parts else {}
    for setting in settings:
        wholes = _wholes(scaled)
        calls, plans = _collectives(trace, wholes, setting, network, choice)
        channels: dict[tuple[int, int], int] = {}
        programs = [
            _Program(scaled, rank.number, wholes, channels, plans, list(parts)).steps()
            for rank in trace.ranks
        ]
        numbered = [{**one, "channel": place + 1} for place, one in enumerate(calls)]
        limit = {"eager_bytes": eager_bytes(network)}
        request = setting.request(network, programs=programs, collectives=numbered, **limit, **told, **more)
        (answer,) = kernels.ask([request])
        found.append(Found(setting, trace.file.name, "", 0, None, answer, request, parts=parts))
    return found


def _times(trace: Trace) -> dict[str, float]:
    """How often a rank makes each kind of call, the mean of all; before them computation."""
    found: dict[str, float] = {COMPUTATION: 0}
    for rank in trace.ranks:
        for kind, step in rank.calls():
            found[kind.call] = found.get(kind.call, 0) + step.times / len(trace.ranks)
    return found


def eager_bytes(network: Network) -> float:
    """Of the longest message that leaves before its receiver asks for it."""
    said = network.get(EAGER)
    return USUAL_EAGER_BYTES if said is None else said


def _wholes(scaled: Scaled) -> dict[Whole, int]:
    """All collectives, by number. Where ranks have bytes of their own, each has their mean."""
    found: dict[Whole, int] = {}
    for rank in scaled.trace.ranks:
        for kind, _ in rank.calls():
            if kind.call in OPERATION:
                found.setdefault(whole(scaled, rank.number, kind), len(found))
    return found


def whole(scaled: Scaled, rank: int, kind: Kind) -> Whole:
    """Of a call of a rank."""
    sent = scaled.mean(kind) if kind.varies else kind.bytes
    return Whole(kind.communicator, kind.call, kind.to, round(sent * scaled.bytes_factor(rank, kind)))


class _Linear(NamedTuple):
    """Every message of a collective at once; the root first. `channel`: of its messages alone."""

    operation: str
    ranks: Sequence[int]
    sent: int
    channel: int


def _collectives(
    trace: Trace, wholes: Mapping[Whole, int], setting: Setting, network: Network, choice: str
) -> tuple[list[dict[str, Any]], list[list[int | _Linear]]]:
    """Those of a request, and for each whole the numbers of those that play it: by the algorithm whose closed
    form is shortest, or by those that Open MPI takes."""
    members = {number: ranks for one in trace.ranks for number, ranks in one.communicators.items()}
    if choice and network.kind == DIRECT:
        raise FabricmarkError(
            f"--collectives {choice} over circuits", "leave it out: few ranks are neighbours"
        )
    asked, pieces = [], []
    for one in wholes:
        count = len(members[one.communicator])
        operation = OPERATION[one.call]
        sent = 0 if operation == "barrier" else max(1, one.sent)
        plan = open_mpi.plan(operation, count, sent) if choice and count > 1 else None
        pieces.append(plan or [open_mpi.Piece(operation, "", sent)])
        for piece in pieces[-1]:
            if piece.algorithm != open_mpi.LINEAR:
                call = Call(piece.operation, piece.sent, piece.algorithm)
                asked.append((call, replace(setting, ranks=max(2, count))))
    chosen = iter(cables.closed(asked, network) if asked else [])
    found: list[dict[str, Any]] = []
    plans: list[list[int | _Linear]] = []
    linear = len(asked)
    for one, its in zip(wholes, pieces, strict=True):
        ranks = list(members[one.communicator])
        root = ranks.index(one.root) if one.root != NONE else 0
        own: list[int | _Linear] = []
        for piece in its:
            if piece.algorithm == open_mpi.LINEAR:
                linear += 1
                own.append(_Linear(piece.operation, ranks[root:] + ranks[:root], piece.sent, linear))
                continue
            call = next(chosen).call
            own.append(len(found))
            found.append(
                {"collective": call.operation, "algorithm": call.algorithm, "bytes": call.sent,
                 "root": root, "ranks": ranks}
            )  # fmt: skip
        plans.append(own)
    return found, plans


class _Program:
    """Steps of a rank. Loops count steps of the request, of which a call may become several."""

    def __init__(
        self, scaled: Scaled, rank: int, wholes: Mapping[Whole, int], channels: dict,
        plans: Sequence[Sequence[int | _Linear]],
        parts: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._scaled, self._rank = scaled, scaled.trace.ranks[rank]
        self._wholes, self._channels, self._plans = wholes, channels, plans
        self._first = sum(map(len, plans)) + 1
        own = max((kind.slot for kind in self._rank.kinds), default=NONE) + 1
        self._send, self._receive = own, own + 1
        self._found: list[list] = []
        self._part = {name: place for place, name in enumerate(parts)}
        self._early = sources(self._rank)
        self._place = 0

    def steps(self) -> list[list]:
        """Raises FabricmarkError (2)."""
        begins: list[int] = []
        for place, step in enumerate(self._rank.steps):
            begins.append(len(self._found))
            if step.length:
                body = len(self._found) - begins[place - step.length]
                if body and step.turns > 1:
                    self._found.append(["repeat", body, step.turns])
                continue
            kind, self._place = self._rank.kinds[step.kind], place
            work = self._scaled.work(self._rank.number, kind, step)
            if work > 0:
                self._begin(COMPUTATION)
                self._found.append(["work", work])
            self._begin(kind.call)
            self._call(kind)
        return self._found

    def _begin(self, part: str) -> None:
        if self._part:
            self._found.append(["part", self._part[part]])

    def _channel(self, communicator: int, tag: int) -> int:
        """Behind those of the collectives."""
        return self._channels.setdefault((communicator, tag), self._first + len(self._channels))

    def _sent(self, kind: Kind, slot: int) -> list:
        sent = kind.bytes * self._scaled.bytes_factor(self._rank.number, kind)
        return ["send", slot, kind.to, sent, self._channel(kind.communicator, kind.tag)]

    def _received(self, kind: Kind, slot: int) -> list:
        return ["receive", slot, kind.source, self._channel(kind.communicator, kind.source_tag)]

    def _at_once(self, call: _Linear) -> None:
        """Receives, sends, and waits for all."""
        place = call.ranks.index(self._rank.number)
        to, of = open_mpi.messages(call.operation, place, len(call.ranks))
        slot = self._receive + 1
        for peer in of:
            self._found.append(["receive", slot, call.ranks[peer], call.channel])
            slot += 1
        for peer in to:
            self._found.append(["send", slot, call.ranks[peer], call.sent, call.channel])
            slot += 1
        self._found += [["wait", one] for one in range(self._receive + 1, slot)]

    def _call(self, kind: Kind) -> None:
        add = self._found.append
        if kind.call in OPERATION:
            one = whole(self._scaled, self._rank.number, kind)
            if one.sent or OPERATION[kind.call] == "barrier":
                for piece in self._plans[self._wholes[one]]:
                    if isinstance(piece, _Linear):
                        self._at_once(piece)
                    else:
                        add(["collective", piece])
        elif kind.call in (*SENDS[:1], *RECEIVES[:1], BOTH):
            sends, receives = kind.to != NONE, kind.source != NONE
            if receives:
                add(self._received(kind, self._receive))
            if sends:
                add(self._sent(kind, self._send))
                add(["wait", self._send])
            if receives:
                add(["wait", self._receive])
        elif kind.call == SENDS[1]:
            add(self._sent(kind, kind.slot))
        elif kind.call == RECEIVES[1]:
            known = self._early.get(self._place, kind)
            if known.source != NONE:  # else its wait knows whose message it was
                add(self._received(known, kind.slot))
        elif kind.call == WAIT:
            if kind.source != NONE and self._place not in self._early:
                add(self._received(kind, kind.slot))
            add(["wait", kind.slot])
        elif kind.call not in (PROBE, LAST):
            raise FabricmarkError(f"{self._scaled.trace.file}: {kind.call} is not replayed", traces.AGAIN)


def sources(rank: Rank) -> dict[int, Kind]:
    """Steps of receives from anybody whose waits agree on whose message it was, and those waits: with the
    wait that says it. Such a receive begins where the program has begun it, which its sender may wait for."""
    waits = {
        place: _waits_of(rank, place, rank.kinds[step.kind].slot)
        for place, step in enumerate(rank.steps)
        if not step.length and _is_from_anybody(rank.kinds[step.kind])
    }
    found: dict[int, Kind] = {}
    for place, its in waits.items():
        kinds = {rank.kinds[rank.steps[one].kind] for one in its}
        if len(kinds) == 1 and (kind := kinds.pop()).source != NONE:
            found[place] = kind
    while True:
        late = {one for place, its in waits.items() if place not in found for one in its}
        gone = [place for place in found if late & waits[place]]
        if not gone:
            break
        for place in gone:
            del found[place]
    return found | {one: found[place] for place in list(found) for one in waits[place]}


def _is_from_anybody(kind: Kind) -> bool:
    return kind.call == RECEIVES[1] and kind.source == NONE


def _waits_of(rank: Rank, place: int, slot: int) -> set[int]:
    """Steps that wait for what a step has begun in a slot, in whatever turn of the loops around."""
    found, seen, open_places = set(), set(), [place + 1]
    while open_places:
        at = open_places.pop()
        if at in seen or at >= len(rank.steps):
            continue
        seen.add(at)
        step = rank.steps[at]
        kind = None if step.length else rank.kinds[step.kind]
        if kind is not None and kind.slot == slot and kind.call in (WAIT, RECEIVES[1], SENDS[1]):
            if kind.call == WAIT:
                found.add(at)
            continue
        open_places += [at + 1] + ([at - step.length] if step.length else [])
    return found
