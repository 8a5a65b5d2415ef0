"""A call of all ranks over a network of a described system: closed form, own ports, all cables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fabricmark import models
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _collectives, _simulated
from fabricmark.models.machine import Network
from fabricmark.simulate import closed_form
from fabricmark.simulate.closed_form import EXCHANGE, Wire

OPERATIONS = (*_collectives.OPERATIONS, EXCHANGE)
PLACEMENTS = ("packed", "spread", "random")
LEAF_SPINE = "leaf-spine:"
MOST_LINKS = 10_000


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
    """`sent`: bytes of one rank's elements; `algorithm`: "" for the one whose closed form is shortest."""

    operation: str
    sent: int
    algorithm: str = ""

    def request(self, algorithm: str = "") -> dict:
        """As a request has it."""
        if self.operation == EXCHANGE:
            return {"exchange": "ring", "bytes": self.sent}
        named = {"algorithm": algorithm} if algorithm else {}
        return {"collective": self.operation, "bytes": self.sent, **named}


@dataclass(frozen=True)
class Found:
    """Seconds of a call. `closed`: by the closed form, None without one. `alone`: where ranks share their own
    ports only; `shared`: where they share all cables. `links`: what went over cables, the busiest first."""

    setting: Setting
    call: Call
    wire: Wire
    closed: float | None
    alone: float
    shared: float
    about: Mapping

    @property
    def links(self) -> Sequence[Mapping]:
        return self.about["links"]

    @property
    def bound(self) -> float:
        """What the busiest cable alone takes for its bytes [s]."""
        return self.links[0]["busy_seconds"] if self.links else 0.0


def simulate(call: Call, settings: Sequence[Setting], network: Network, *, links: int = 1) -> list[Found]:
    """The call in each of these settings, and so many of the busiest cables. Raises FabricmarkError (2: what
    there is not, 3: nothing is built)."""
    asked = [one.request(network, call=call.request()) for one in settings]
    wires, chosen = [], []
    for setting, answer in zip(settings, kernels.ask(asked), strict=True):
        wire = closed_form.wire_of(answer)
        wires.append(wire)
        chosen.append(_algorithm(call, answer, wire, setting.ranks))
    played = []
    for setting, one in zip(settings, chosen, strict=True):
        played.append(setting.request(network, calls=[one.request(one.algorithm)], links=links))
    return [
        Found(
            setting, one, wire,
            closed_form.seconds(one.operation, one.algorithm, wire, setting.ranks, one.sent),
            answer["own_ports_seconds"], answer["seconds"], answer,
        )
        for setting, one, wire, answer in zip(settings, chosen, wires, kernels.ask(played), strict=True)
    ]  # fmt: skip


def _algorithm(call: Call, answer: Mapping, wire: Wire, ranks: int) -> Call:
    """The call with the algorithm that is meant. Raises FabricmarkError (2) for one that does not fit."""
    if call.operation == EXCHANGE:
        if call.algorithm not in ("", "ring"):
            raise FabricmarkError(f"{EXCHANGE} has no algorithm {call.algorithm}", "leave it out")
        return replace(call, algorithm="ring")
    fitting = list(answer["algorithms"])
    if not fitting:
        cause = f"no algorithm does {call.operation} over {answer['topology']}"
        raise FabricmarkError(cause, "use a ring, or a network in which any two ranks can talk")
    if call.algorithm and call.algorithm not in fitting:
        cause = f"{call.algorithm} does no {call.operation} of {ranks} ranks over {answer['topology']}"
        raise FabricmarkError(cause, f"use {' or '.join(fitting)}")
    named = call.algorithm or closed_form.fastest(call.operation, fitting, wire, ranks, call.sent)
    return replace(call, algorithm=named)


def oversubscribed(topology: str, factor: int) -> str:
    """The same leaves with so many times fewer cables to spines than devices. Raises FabricmarkError (2)."""
    sizes, _, lanes = topology.removeprefix(LEAF_SPINE).partition("*")
    parts = sizes.split("x")
    if not topology.startswith(LEAF_SPINE) or len(parts) != 3 or not "".join(parts).isdecimal():
        cause = f"--oversubscription over {topology or 'a network without leaves'}"
        raise FabricmarkError(cause, "use --topology leaf-spine:LxSxN, or leave it out")
    devices, rest = int(parts[2]), f"*{lanes}" if lanes else ""
    cables = factor * (int(lanes) if lanes.isdecimal() else 1)
    if factor < 1 or devices % cables:
        cause = f"--oversubscription {factor}: {devices} devices of a leaf do not share {factor} to a cable"
        raise FabricmarkError(cause, f"use a divisor of {devices}")
    return f"{LEAF_SPINE}{parts[0]}x{devices // cables}x{devices}{rest}"
