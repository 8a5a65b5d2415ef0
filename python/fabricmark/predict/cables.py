"""Calls of all ranks over a network of a described system: where ranks run, and their closed form."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from fabricmark import models
from fabricmark.base import kernels, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, _collectives, _simulated
from fabricmark.models._network import hop_seconds
from fabricmark.models.machine import DIRECT, Network
from fabricmark.predict import closed_form, networked, options, points
from fabricmark.predict.closed_form import EXCHANGE, Wire
from fabricmark.systems.build import System

OPERATIONS = (*_collectives.OPERATIONS, EXCHANGE)
ROWS, COLUMNS = "rows", "columns"
RING, GRID, TRANSPOSE, ALL = EXCHANGES = ("ring", "grid", "transpose", "all")
# The circuits over which messages of a pattern have neighbours, as programs lay theirs.
CIRCUITS = {RING: "ring", GRID: "torus", ROWS: "torus", COLUMNS: "torus", TRANSPOSE: "full-mesh",
            ALL: "full-mesh"}  # fmt: skip
PLACEMENTS = ("packed", "spread", "random")
USUAL_RANKS = 64  # at most, where none are asked for: a second, also of SimGrid


@dataclass(frozen=True)
class Setting:
    """Where ranks run. `topology`: "" for the usual one of the network. `placement`: packed, spread or
    random, by the `seed`. `failed`: cables by the names of their ends."""

    ranks: int
    topology: str = ""
    placement: str = PLACEMENTS[0]
    seed: int = 1
    per_port: int = 1
    failed: tuple[str, ...] = ()

    def request(self, network: Network, **more: object) -> dict:
        """Of `fabricmark-describe`. Raises FabricmarkError (2) for a network without a rate of links."""
        try:
            said = _simulated.network_of(network)
        except models.MissingValue as error:
            raise FabricmarkError(
                f"{network.name}: no file says {error.name}", "set it, or use another network"
            ) from None
        return {
            "simulate": self.topology, "ranks": self.ranks, "ranks_per_device": self.per_port,
            "placement": self.placement, "seed": self.seed, "failed": list(self.failed), "network": said,
            **more,
        }  # fmt: skip


@dataclass(frozen=True)
class Call:
    """`sent`: bytes of one rank's elements, or of a message; `algorithm`: "" for the one whose closed form is
    shortest; of an exchange its kind. `rows` of a grid of ranks, `over` whose rows or columns a collective
    is; "": over all."""

    operation: str
    sent: int
    algorithm: str = ""
    over: str = ""
    rows: int = 1

    def request(self) -> dict:
        """As a request has it."""
        if self.operation == EXCHANGE:
            kind = self.algorithm or EXCHANGES[0]
            return {"exchange": kind, "bytes": self.sent, "rows": self.rows}
        named = {"algorithm": self.algorithm} if self.algorithm else {}
        within = {"over": self.over, "rows": self.rows} if self.over else {}
        return {"collective": self.operation, "bytes": self.sent, **named, **within}

    def together(self, ranks: int) -> int:
        """Ranks that make it together."""
        whole = {"": ranks, ROWS: ranks // self.rows, COLUMNS: self.rows}
        return whole[self.over]


def rows_of(ranks: int) -> int:
    """Of a grid as square as it goes."""
    return max(rows for rows in range(1, math.isqrt(ranks) + 1) if ranks % rows == 0)


def patterns(operation: str, algorithm: str) -> set[str]:
    """Of a call: the kind of an exchange; none of a collective operation, whose algorithms know circuits."""
    kind = algorithm or EXCHANGES[0]
    return {kind} if operation == EXCHANGE and kind in EXCHANGES else set()


def usual_ranks(devices: int, patterns: Collection[str]) -> int:
    """Where none are asked for: one for each device, up to USUAL_RANKS; for transpositions a square."""
    most = min(devices, USUAL_RANKS)
    return math.isqrt(most) ** 2 if TRANSPOSE in patterns else most


def wiring(network: Network, patterns: Collection[str]) -> str:
    """The topology of a network, or circuits where all messages of these patterns have neighbours."""
    wanted = {CIRCUITS[one] for one in patterns}
    if network.kind != DIRECT or len(wanted) != 1 or network.topology.startswith((*wanted,)):
        return network.topology
    return wanted.pop()


@dataclass(frozen=True)
class Closed:
    """A call with its algorithm, and its `seconds` in closed form; None without one."""

    call: Call
    seconds: float | None


def closed(calls: Sequence[tuple[Call, Setting]], network: Network) -> list[Closed]:
    """Of each call in its setting. Raises FabricmarkError (2: what there is not, 3: nothing is built)."""
    asked = [setting.request(network, call=call.request()) for call, setting in calls]
    found = []
    for (call, setting), answer in zip(calls, kernels.ask(asked), strict=True):
        wire = closed_form.wire_of(answer)
        if call.over:  # whose next rank may be anywhere
            wire = replace(wire, next_latency=wire.any_latency)
        ranks = call.together(setting.ranks)
        one = _algorithm(call, answer, wire, ranks)
        if ranks == 1:
            seconds: float | None = 0.0
        elif network.kind == DIRECT and one.operation == EXCHANGE:
            seconds = _over_circuits(one, wire, ranks, float(hop_seconds(network)))
        else:
            seconds = closed_form.seconds(one.operation, one.algorithm, wire, ranks, one.sent)
        found.append(Closed(one, seconds))
    return found


def _over_circuits(call: Call, wire: Wire, ranks: int, hop: float) -> float:
    """Each neighbour of an exchange is at the end of a cable of its own: a hop, and the bytes at once; twice
    where the next and the previous one are the same."""
    circles = {RING: (ranks,), GRID: (call.rows, ranks // call.rows), TRANSPOSE: (), ALL: ()}
    return hop + wire.seconds(call.sent) * (2 if 2 in circles[call.algorithm] else 1)


def _algorithm(call: Call, answer: Mapping, wire: Wire, ranks: int) -> Call:
    """The call with the algorithm that is meant. Raises FabricmarkError (2) for one that does not fit."""
    if call.operation == EXCHANGE:
        if call.algorithm not in ("", *EXCHANGES):
            cause = f"{EXCHANGE} has no algorithm {call.algorithm}"
            raise FabricmarkError(cause, f"use {' or '.join(EXCHANGES)}")
        return replace(call, algorithm=call.algorithm or EXCHANGES[0])
    if ranks == 1:
        return replace(call, algorithm="alone")
    fitting = list(answer["algorithms"])
    if not fitting:
        cause = f"no algorithm does {call.operation} over {answer['topology']}"
        remedy = "use --topology ring (of simulate), or a network in which any two ranks can talk"
        raise FabricmarkError(cause, remedy)
    if call.algorithm and call.algorithm not in fitting:
        cause = f"{call.algorithm} does no {call.operation} of {ranks} ranks over {answer['topology']}"
        raise FabricmarkError(cause, f"use {' or '.join(fitting)}")
    named = call.algorithm or closed_form.fastest(call.operation, fitting, wire, ranks, call.sent)
    return replace(call, algorithm=named)


@dataclass(frozen=True)
class Place:
    """A network of a system, one of its boards, and ranks on it. `words`: which, for a title; `system`: with
    the values that were set."""

    network: Network
    board: Board
    ranks: int
    transport: str
    words: str
    system: System


def place(
    about: str, system: str, transport: str | None, board: str | None, ranks: int | None,
    words: Sequence[str], patterns: Collection[str] = (), *, beyond: bool = False, profile: str = "fitted",
) -> Place:  # fmt: skip
    """What the options of a command mean. `ranks`: None for the usual ones of messages of these `patterns`.
    `words`: of --set, values of network and board. Raises FabricmarkError (2)."""
    more = {"profile": profile, "closed_form": True, "beyond": beyond}
    requests = list(networked.requests(about, system, transport, board, **more))
    if len(requests) > 1:
        raise FabricmarkError("several systems or transports at once", "name one of them")
    (request,) = requests
    ranks = usual_ranks(request.system.most_devices, patterns) if ranks is None else ranks
    points.check_devices(request, (ranks,))
    given = list(options.settings(words).items())
    for name, _ in given:
        if not name.startswith(("network.", "board.")):
            raise FabricmarkError(f"--set {name}: no value of network or board", "write for example "
                                  "network.latency=1us")  # fmt: skip
    values = options.numbers(about, given)
    overrides = dict(zip([name for name, _ in given], values, strict=True))
    changed = points.with_overrides(request.system, about, request.transport, overrides)
    where = f"on {request.system.name}{transports.over(request.transport)}"
    used = changed.board_with(None, ranks)
    return Place(changed.networks[request.transport], used, ranks, request.transport, where, changed)
