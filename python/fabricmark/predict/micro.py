"""Predictions of micro-benchmarks by the names of their programs: messages between two ranks, and operations
of all ranks, which predict/collectives.py knows.

Which programs there are the build says (base/micro.py); what is not predicted is refused with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabricmark import models
from fabricmark.base import kernels, micro, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, _collective_costs, _point_to_point
from fabricmark.models._point_to_point import IN_DEVICE, IN_HBM, IN_HOST, LETTERS, PAIR
from fabricmark.models.machine import DIRECT, HOST, PACKET, Network
from fabricmark.predict import certainty, collectives, options, points, settings
from fabricmark.predict.collectives import ISSUER, SIZE
from fabricmark.predict.points import Case, Point, PredictionRequest
from fabricmark.predict.settings import Reads

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
    found = []
    for request in collectives.requests(name, system, transport, board, **more):
        found.append(_case(request, words, sweeps, sensitive))
    return found


def _case(
    request: PredictionRequest, words: Mapping[str, str], sweeps: Sequence[options.Sweep], sensitive: bool
) -> Case:
    given = {key: text for key, text in words.items() if "." not in key}
    keyed = [(key, text) for key, text in words.items() if "." in key]
    overrides = dict(zip([key for key, _ in keyed], options.numbers(request.benchmark, keyed), strict=True))
    request = replace(request, overrides=overrides)
    points.check_devices(request, [PAIR])
    network = request.system.networks[request.transport]
    parameters = _parameters(request, network, given)
    axes = {one.name: collectives.axis(request, one) for one in sweeps}
    for key in set(axes) & set(words):
        raise FabricmarkError(f"{key} is set and swept", "leave out one of them")
    options.check_points([PAIR], axes)
    places = collectives.all_places(axes)
    if network.kind == PACKET:
        _replay_ahead(request, parameters, places)
    found = [_point(request, place, {**parameters, **place}) for place in places]

    def predicted(overrides: Mapping[str, float]) -> list[float | None]:
        changed = replace(request, overrides=overrides)
        return [_point(changed, place, {**parameters, **place}).headline.value for place in places]

    about = _about(request, found[-1], {**parameters, **places[-1]}, [*overrides, *axes])
    about += points.not_limiting(request, found, predicted)
    if sensitive:
        about.append(_sensitivity(request, found[-1], parameters))
    reason = "the figures that are printed of such programs are too few for an interval"
    return Case(request, found, certainty.unvalidated(reason), about)


def _parameters(request: PredictionRequest, network: Network, given: Mapping[str, str]) -> dict[str, object]:
    """Those that --set gives, and the usual ones. Raises FabricmarkError (2)."""
    name = request.benchmark
    for one in given:
        known = [key for key in PARAMETERS if key != WINDOW or not _has_no_window(name)]
        if one not in known:
            raise FabricmarkError(f"{name} has no parameter {one}", f"use one of {', '.join(known)}")
    usual = IN_HOST if transports.between_hosts(request.transport) else IN_DEVICE
    found: dict[str, object] = {SIZE: collectives.DEFAULT_BYTES, ISSUER: _collective_costs.HOST_ISSUER}
    if SIZE in given:
        found[SIZE] = collectives.bytes_of(given[SIZE], f"size={given[SIZE]}")
    found[WINDOW] = _whole(WINDOW, given.get(WINDOW, str(DEFAULT_WINDOW)), MOST_WINDOW)
    found[PLACEMENT] = _placement(request, network, given.get(PLACEMENT, f"{usual} {usual}"))
    least = request.system.nodes(PAIR)
    most = PAIR if request.system.most_devices > request.system.devices_per_node else least
    found[NODES] = nodes = _whole(NODES, given.get(NODES, str(least)), most)
    if nodes < least:
        raise FabricmarkError(f"nodes={nodes}: a node has one device", f"use nodes={least}")
    if ISSUER in given:
        collectives.check_issuer(given[ISSUER], request.transport, network)
        found[ISSUER] = given[ISSUER]
    return found


def _has_no_window(name: str) -> bool:
    return name.removeprefix(micro.PREFIX) == _point_to_point.LATENCY


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


def _point(request: PredictionRequest, place: Mapping, parameters: Mapping) -> Point:
    board, network = _described(request, place, parameters)
    found = _predicted(request, parameters, board, network)
    shown = {} if SIZE in place else {SIZE: parameters[SIZE]}
    return Point(PAIR, place, shown, found, [found])


def _described(request: PredictionRequest, place: Mapping, parameters: Mapping) -> tuple[Board, Network]:
    board, network = collectives.described(request, PAIR, place)
    return replace(board, hosts=int(parameters[NODES])), network


def _predicted(request: PredictionRequest, parameters: Mapping, board: Board, network: Network):
    """Raises FabricmarkError (2)."""
    if network.kind == PACKET and not transports.between_engines(request.transport):
        cause = f"{request.about}: {network.name} sends packets, and has no engine for them"
        raise FabricmarkError(cause, "use a network of direct links, or one with an engine")
    own = request.benchmark.removeprefix(micro.PREFIX)
    try:
        return _point_to_point.predict(own, parameters, request.transport, board, network)
    except models.MissingValue as error:
        cause = f"{request.about}: no file says {error.name}"
        raise FabricmarkError(cause, "set it, or use a system whose boards have it") from None


def _replay_ahead(request: PredictionRequest, parameters: Mapping, places: Sequence[Mapping]) -> None:
    """All messages of a sweep in one start of the replayer."""
    asked = []
    for place in places:
        own = {**parameters, **place}
        board, network = _described(request, place, own)
        try:
            asked += _point_to_point.engine_requests(
                int(own[SIZE]), own[ISSUER], request.transport, board, network
            )[1]
        except models.MissingValue:  # which the point itself says
            return
    kernels.answers(asked)


def _reads(request: PredictionRequest, one: Point, parameters: Mapping) -> tuple[Reads, Reads]:
    """What a point reads, as it is and in closed form."""
    board, network = _described(request, one.axes, parameters)
    found = []
    for known in (network, settings.closed_form(network)):
        seen: set[str] = set()
        _predicted(request, parameters, board.watched(seen), known.watched(seen))
        found.append(Reads(frozenset(seen)))
    return found[0], found[1]


def _about(request: PredictionRequest, one: Point, parameters: Mapping, changed: Sequence[str]) -> list[str]:
    """What is taken for granted. Raises FabricmarkError (2) for a value that nothing reads."""
    read, closed = _reads(request, one, parameters)
    network = request.system.networks[request.transport]
    for name in (name for name in changed if "." in name):
        settings.check_system_value(name, request.about, read, closed, network, None)
    where = (request.system, request.transport, request.profile)
    lines = settings.assumed(*where, changed, [(read, None)], request.about)
    if network.kind == HOST:
        apart = "in two nodes" if parameters[NODES] == PAIR else "in one node (nodes=2: apart)"
        lines.append(f"memories {' '.join(parameters[PLACEMENT])}, {apart}")
        if not transports.between_hosts(request.transport):
            lines.append(
                "assumed: a message is read whole before it leaves, and written when all has come; copies of "
                "a device take turns"
            )
    elif network.kind == DIRECT:
        lines.append("one link of each device; kernels are started once")
    return lines


def _sensitivity(request: PredictionRequest, one: Point, parameters: Mapping) -> str:
    own = {**parameters, **one.axes}

    def again(changed: Sequence[PredictionRequest]) -> list[Point]:
        return [_point(each, one.axes, own) for each in changed]

    return collectives.sensitivity(request, one, _reads(request, one, own)[0], again)
