"""A recorded trace over the network of a described system: what each rank does, as a request says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.models.machine import Network
from fabricmark.predict import cables
from fabricmark.predict.cables import Call, Setting
from fabricmark.simulate import trace as traces
from fabricmark.simulate.calls import Found
from fabricmark.simulate.scaling import Scaled
from fabricmark.simulate.trace import BOTH, LAST, NONE, OPERATION, PROBE, RECEIVES, SENDS, WAIT, Kind, Trace


@dataclass(frozen=True)
class Whole:
    """A collective that all ranks of a communicator make: the same for each of them."""

    communicator: int
    call: str
    root: int
    sent: int


def replay(scaled: Scaled, settings: Sequence[Setting], network: Network, **more: object) -> list[Found]:
    """In each of these settings. Raises FabricmarkError (2)."""
    found = []
    trace = scaled.trace
    for setting in settings:
        wholes = _wholes(scaled)
        calls = _collectives(trace, wholes, setting, network)
        channels: dict[tuple[int, int], int] = {}
        programs = [
            _Program(scaled, rank.number, wholes, channels, len(calls)).steps() for rank in trace.ranks
        ]
        numbered = [{**one, "channel": place + 1} for place, one in enumerate(calls)]
        request = setting.request(network, programs=programs, collectives=numbered, **more)
        (answer,) = kernels.ask([request])
        found.append(Found(setting, trace.file.name, "", 0, None, answer, request))
    return found


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


def _collectives(
    trace: Trace, wholes: Mapping[Whole, int], setting: Setting, network: Network
) -> list[dict[str, Any]]:
    """As a request has them, by the algorithm whose closed form is shortest."""
    members = {number: ranks for one in trace.ranks for number, ranks in one.communicators.items()}
    asked = []
    for one in wholes:
        count = len(members[one.communicator])
        operation = OPERATION[one.call]
        sent = 0 if operation == "barrier" else max(1, one.sent)
        asked.append((Call(operation, sent), replace(setting, ranks=max(2, count))))
    chosen = cables.closed(asked, network) if asked else []
    found = []
    for one, closed in zip(wholes, chosen, strict=True):
        ranks = list(members[one.communicator])
        root = ranks.index(one.root) if one.root != NONE else 0
        found.append(
            {"collective": closed.call.operation, "algorithm": closed.call.algorithm,
             "bytes": closed.call.sent, "root": root, "ranks": ranks}
        )  # fmt: skip
    return found


class _Program:
    """Steps of a rank. Loops count steps of the request, of which a call may become several."""

    def __init__(
        self, scaled: Scaled, rank: int, wholes: Mapping[Whole, int], channels: dict, collectives: int
    ) -> None:
        self._scaled, self._rank = scaled, scaled.trace.ranks[rank]
        self._wholes, self._channels, self._first = wholes, channels, collectives + 1
        own = max((kind.slot for kind in self._rank.kinds), default=NONE) + 1
        self._send, self._receive = own, own + 1
        self._found: list[list] = []

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
            kind = self._rank.kinds[step.kind]
            work = self._scaled.work(self._rank.number, kind, step)
            if work > 0:
                self._found.append(["work", work])
            self._call(kind)
        return self._found

    def _channel(self, communicator: int, tag: int) -> int:
        """Behind those of the collectives."""
        return self._channels.setdefault((communicator, tag), self._first + len(self._channels))

    def _sent(self, kind: Kind, slot: int) -> list:
        sent = kind.bytes * self._scaled.bytes_factor(self._rank.number, kind)
        return ["send", slot, kind.to, sent, self._channel(kind.communicator, kind.tag)]

    def _received(self, kind: Kind, slot: int) -> list:
        return ["receive", slot, kind.source, self._channel(kind.communicator, kind.source_tag)]

    def _call(self, kind: Kind) -> None:
        add = self._found.append
        if kind.call in OPERATION:
            one = whole(self._scaled, self._rank.number, kind)
            if one.sent or OPERATION[kind.call] == "barrier":
                add(["collective", self._wholes[one]])
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
            if kind.source != NONE:  # else its wait knows whose message it was
                add(self._received(kind, kind.slot))
        elif kind.call == WAIT:
            if kind.source != NONE:
                add(self._received(kind, kind.slot))
            add(["wait", kind.slot])
        elif kind.call not in (PROBE, LAST):
            raise FabricmarkError(f"{self._scaled.trace.file}: {kind.call} is not replayed", traces.AGAIN)
