"""Shallow water in the local memory of FPGAs: a partition on each, halos between them.

Meyer 2024, section 5.2.2, with all terms of its equations in cycles, as only then they give what the text
says of them:

    S      = E_send + E_recv                                     border elements of the partition
    L_comm = S + 2 N l_k + N l_m f + L_pingping f                eq. 5.3
    cycles = max(E_core + D_ext, L_comm) + S + L_pipe            of a step, eq. 5.2

N: neighbours. Of a partition without neighbours L_comm is nothing. The slowest partition counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, Prediction
from fabricmark.models._mesh_parts import Part, parts_of
from fabricmark.models._missing import MissingValue
from fabricmark.models.machine import Bitstream, Network

CORE, PIPELINES, BORDER = "core elements", "pipelines", "border elements"
PING, CALLS, COPIES = "latency of messages", "calls of the engine", "copies of received messages"
INPUTS = (
    "bitstream.clock", "bitstream.pipeline_depth", "bitstream.fitted.element_operations", "network.latency",
    "network.switch_latency", "network.start_latency", "network.start_cycles", "network.ping_latency",
    "network.copy_latency",
)  # fmt: skip


@dataclass(frozen=True)
class HaloPath:
    """What the kernels and an exchange of halos take, in cycles of the kernels' clock `hz`.

    `pipeline` L_pipe, `call` l_k of each send and receive, `copy` l_m of each message, `ping` L_pingping of
    all.
    """

    hz: float
    pipeline: float
    call: float
    copy: float
    ping: float


@dataclass(frozen=True)
class Step:
    """A step of one partition [cycles]: `phases` of what it waits for, one after the other."""

    phases: Mapping[str, float]
    stall: float

    @property
    def cycles(self) -> float:
        return sum(self.phases.values())

    @property
    def dominating(self) -> str:
        return max(self.phases, key=self.phases.__getitem__)


def path_of(board: Board, bitstream: Bitstream | None, network: Network | None) -> HaloPath:
    """Raises MissingValue for a board without clock, a bitstream without the depth of its pipeline, and a
    network without a latency of messages.
    """
    hz = board["clock"]
    if bitstream is None:
        raise MissingValue("bitstream.pipeline_depth")
    depth = float(bitstream["pipeline_depth"])
    if network is None:
        return HaloPath(hz, depth, 0.0, 0.0, 0.0)
    ping = network.get("ping_latency")
    ping = network["latency"] + network["switch_latency"] if ping is None else ping
    if not ping:
        raise MissingValue("network.ping_latency")
    calls = network.get("start_cycles")
    calls = network["start_latency"] * hz if calls is None else calls
    return HaloPath(hz, depth, calls, (network.get("copy_latency") or 0.0) * hz, ping * hz)


def step(part: Part, path: HaloPath) -> Step:
    """Eq. 5.2 and 5.3 of one partition."""
    computing = part.core + part.outer
    phases = {CORE: float(computing), BORDER: float(part.border), PIPELINES: path.pipeline}
    if part.neighbours == 0:
        return Step(phases, 0.0)
    waits = {
        PING: path.ping,
        CALLS: 2 * part.neighbours * path.call,
        COPIES: part.neighbours * path.copy,
    }
    exchange = part.border + sum(waits.values())
    if exchange <= computing:
        return Step(phases, 0.0)
    del phases[CORE]
    phases[BORDER] += part.border
    return Step({**phases, **waits}, exchange - computing)


def slowest(parts: Sequence[Part], path: HaloPath) -> Step:
    return max((step(part, path) for part in parts), key=lambda one: one.cycles)


def predict(
    parameters: Mapping, board: Board, ranks: int, flops: float,
    network: Network | None, bitstream: Bitstream | None,
) -> list[Prediction]:  # fmt: skip
    """Cell steps a second of all devices, the time of a step, and how long the pipeline stands still in it.

    `flops`: of an element's step, as counted of the project's own kernels; where the bitstream says what its
    authors counted, the performance by that count, too. Raises MissingValue without a mesh and as
    `path_of`, FabricmarkError (2) for a partition larger than the local memory (section 5.2.3), and as
    `parts_of`.
    """
    parts = parts_of(parameters["mesh"], ranks, parameters.get("projection", "auto"))
    largest = max(part.elements for part in parts)
    axes = {"operation": "steps"}
    most = parameters.get("partition_elements") or largest
    if largest > most:
        cells = sum(part.elements for part in parts)
        cause = f"a partition of {largest} elements does not fit into a device's local memory of {most}"
        raise FabricmarkError(cause, f"predict {ceil(cells / most)} devices or more, or a smaller mesh")
    path = path_of(board, bitstream, network if ranks > 1 else None)
    one = slowest(parts, path)
    seconds = one.cycles / path.hz
    cells = sum(part.elements for part in parts)
    spent = {name: cycles / path.hz for name, cycles in one.phases.items()}
    limit = cells / (max(part.elements for part in parts) / path.hz)
    about = f"eq. 5.2 with {max(part.neighbours for part in parts)} neighbours at most"

    def rate(name, axes, unit, scale):
        return Prediction(
            name, axes, scale * cells / seconds, unit, scale * limit, one.dominating, about, spent
        )

    found = [
        rate("cell_steps", axes, "Mcell/s", 1e-6),
        rate("performance", axes, "GFLOP/s", flops * 1e-9),
        Prediction("step_time", axes, seconds * 1e6, "us", None, one.dominating, about, spent),
        Prediction(
            "stall", {"cause": "halos"}, 100 * one.stall / one.cycles, "%", None, one.dominating, about
        ),
    ]
    published = None if bitstream is None else bitstream.get("fitted.element_operations")
    if published is not None:
        counted = {"operation": "steps", "operations": "as published"}
        found.append(rate("performance", counted, "GFLOP/s", published * 1e-9))
    return found
