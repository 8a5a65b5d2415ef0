"""Predictions of micro-benchmarks by the names of their programs: messages between two ranks, and operations
of all ranks, which predict/collectives.py knows.

Which programs there are the build says (base/micro.py); what is not predicted is refused with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabricmark.base import micro, transports
from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.models import Board, Prediction, _point_to_point
from fabricmark.models._point_to_point import IN_DEVICE, IN_HBM, IN_HOST, LETTERS, PAIR
from fabricmark.models.machine import DIRECT, HOST, PACKET, Network
from fabricmark.predict import collectives, options
from fabricmark.predict.networked import ISSUER, SIZE, Networked, requests
from fabricmark.predict.points import Case, PredictionRequest

WINDOW, PLACEMENT, NODES = "window", "placement", "nodes"
PARAMETERS = (SIZE, WINDOW, PLACEMENT, NODES, ISSUER)
DEFAULT_WINDOW, MOST_WINDOW = 64, 2**20
COUNTED = "v"  # ends the name of an operation whose ranks say how much each has, here all as much
BESIDE = "i"  # begins that of one beside computation
HBM = "hbm"
# Programs of several pairs, and what one of these is.
ONE_PAIR = {"multi_lat": _point_to_point.LATENCY, "mbw_mr": _point_to_point.BANDWIDTH}


MEAN = "time is the mean of all ranks, as the program prints it"
PARTS = "size is that of all ranks' parts of the sums together, as the program's -m"
ALL_PARTS = ("reduce_scatter",)  # operations whose size that is, in the programs


def is_one(name: str) -> bool:
    """Whether a name is that of a program, with fm_."""
    own = name.removeprefix(micro.PREFIX)
    is_known = own in _point_to_point.PROGRAMS or collectives.operation(own) is not None
    return name.startswith(micro.PREFIX) and (is_known or micro.named(name) is not None)


def operation(name: str) -> str | None:
    """The operation of all ranks that a program measures; None for messages between two ranks.

    Raises FabricmarkError (2) for a program that nothing predicts, with the reason.
    """
    own = name.removeprefix(micro.PREFIX)
    if own in _point_to_point.PROGRAMS:
        return None
    for spelled in (own, own.removesuffix(COUNTED)):
        if (found := collectives.operation(spelled)) is not None:
            return found
    if collectives.operation(own.removeprefix(BESIDE)) is not None:
        cause = "what an operation hides behind computation is not modelled"
        remedy = f"predict {micro.PREFIX}{own.removeprefix(BESIDE)}, the operation alone"
    elif own in ONE_PAIR:
        cause = "several pairs at the same time are not modelled"
        remedy = f"predict {micro.PREFIX}{ONE_PAIR[own]}, of one pair"
    else:
        cause, remedy = "it measures what is named to it", "predict an operation, such as all_reduce"
    raise FabricmarkError(f"{name}: {cause}", remedy)


def of_operation(name: str, operation: str, found: Sequence[Case]) -> list[Case]:
    """The predictions of an operation as those of a program, whose times are the mean of all ranks."""
    lines = [f"{name}: {line}" for line in (MEAN, *[PARTS] * (operation in ALL_PARTS))]
    return [replace(one, about=[*one.about, *lines]) for one in found]


def by_size(
    name: str, system: str, transport: str, ranks: int, sizes: Sequence[int], given: Mapping[str, str]
) -> dict[int, float]:
    """What a program's results have, by the bytes of a message: the time of the slowest rank [us], or the
    bandwidth [GB/s] of messages between two. `given`: as --set has it. Raises FabricmarkError (2) where
    nothing predicts it."""
    own = operation(name)
    usual: dict[str, Any] = {"profile": "fitted", "closed_form": False, "beyond": True}
    found = {}
    for size in sizes:
        words = {**given, SIZE: str(size)}
        if own is not None:
            words = {key: text for key, text in words.items() if key in collectives.PARAMETERS}
            parts = {"all_parts": own in ALL_PARTS}
            asked = collectives.cases(own, system, transport, [ranks], words, [], None, **parts, **usual)
        else:
            asked = cases(name, system, transport, [PAIR], words, [], None, **usual)
        value = asked[0].points[0].headline.value
        if value is not None:
            found[size] = value
    return found


def cases(
    name: str, system: str, transport: str | None, counts: Sequence[int], words: Mapping[str, str],
    sweeps: Sequence[options.Sweep], board: str | None, *, sensitive: bool = False, **more: Any,
) -> list[Case]:  # fmt: skip
    """As those of collective operations, one for each system and transport. Raises FabricmarkError (2)."""
    if list(counts) not in ([1], [PAIR]):
        raise FabricmarkError(f"{name} has two ranks", "leave out --devices")
    asked = requests(name, system, transport, board, **more)
    return [_Messages(request, [PAIR], words, sweeps).case(sensitive=sensitive) for request in asked]


class _Messages(Networked):
    """Messages between two ranks."""

    unvalidated = "the figures that are printed of such programs are too few for an interval"

    def read(self, given: Mapping[str, str]) -> None:
        request, found = self.request, self.parameters
        own = request.benchmark.removeprefix(micro.PREFIX)
        for one in given:
            known = [key for key in PARAMETERS if key != WINDOW or own != _point_to_point.LATENCY]
            check_known(one, known, f"{request.benchmark} has no parameter {one}")
        usual = IN_HOST if transports.between_hosts(request.transport) else IN_DEVICE
        found[WINDOW] = _whole(WINDOW, given.get(WINDOW, str(DEFAULT_WINDOW)), MOST_WINDOW)
        found[PLACEMENT] = _placement(request, self.network, given.get(PLACEMENT, f"{usual} {usual}"))
        least = request.system.nodes(PAIR)
        most = PAIR if request.system.most_devices > request.system.devices_per_node else least
        found[NODES] = nodes = _whole(NODES, given.get(NODES, str(least)), most)
        if nodes < least:
            raise FabricmarkError(f"nodes={nodes}: a node has one device", f"use nodes={least}")
        if ISSUER in given:
            self.check_issuer()

    def described(self, request: PredictionRequest, devices: int, place: Mapping) -> tuple[Board, Network]:
        board, network = super().described(request, devices, place)
        return replace(board, hosts=int(self.parameters[NODES])), network

    def replays(self, parameters: Mapping, board: Board, devices: int, network: Network) -> list[dict]:
        if network.kind != PACKET:
            return []
        size, issuer = int(parameters[SIZE]), parameters[ISSUER]
        return _point_to_point.engine_requests(size, issuer, self.request.transport, board, network)[1]

    def predictions(
        self, parameters: Mapping, board: Board, devices: int, network: Network
    ) -> tuple[list[Prediction], dict[str, object]]:
        self.check_engine(network)
        own = self.request.benchmark.removeprefix(micro.PREFIX)
        with self.of_files():
            return [_point_to_point.predict(own, parameters, self.request.transport, board, network)], {}

    def assumptions(self) -> list[str]:
        if self.network.kind == DIRECT:
            return ["one link of each device; kernels are started once"]
        if self.network.kind != HOST:
            return []
        apart = "in two nodes" if self.parameters[NODES] == PAIR else "in one node (nodes=2: apart)"
        lines = [f"memories {' '.join(self.parameters[PLACEMENT])}, {apart}"]
        if not transports.between_hosts(self.request.transport):
            lines.append(
                "assumed: a message is read whole before it leaves, and written when all has come; copies of "
                "a device take turns"
            )
        return lines


def _whole(name: str, text: str, most: int) -> int:
    """Raises FabricmarkError (2)."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= most:
        raise FabricmarkError(f"{name}={text}: no whole number from 1 to {most}", "correct it")
    return int(text)


def _placement(request: PredictionRequest, network: Network, text: str) -> tuple[str, str]:
    """The two letters of memories. Raises FabricmarkError (2)."""
    letters = tuple(text.split())
    said = f"placement={text}"
    if len(letters) != PAIR or not set(letters) <= set(LETTERS):
        raise FabricmarkError(f"{said}: not two of {', '.join(LETTERS)}", 'write for example "D D"')
    if IN_HBM in letters and request.system.board.memory_kind != HBM:
        raise FabricmarkError(f"{said}: {request.system.board.name} has no high-bandwidth memory", "use D")
    are_hosts = set(letters) == {IN_HOST}
    if are_hosts != transports.between_hosts(request.transport) or (
        network.kind != HOST and IN_HOST in letters
    ):
        raise FabricmarkError(f"{said} over {request.transport}", "use another --transport, or other letters")
    return letters[0], letters[1]
