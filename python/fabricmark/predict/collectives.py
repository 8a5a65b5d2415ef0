"""Predictions of collective operations: time and bandwidth by devices and bytes, over any transport.

They have no kernel of the suite, so that their parameters are here: bytes of one rank, issuer and algorithm.
The programs' own moves are replayed (models/_collectives.py), those of all points in one start.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabricmark import models
from fabricmark.base import kernels, quantities, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, Prediction, _collective_costs, _collectives
from fabricmark.models._collective_costs import INPUTS, Costs
from fabricmark.models.machine import DIRECT, PACKET, Network
from fabricmark.predict import certainty, options, points, settings, view
from fabricmark.predict.points import Case, Point, PredictionRequest
from fabricmark.predict.settings import Reads
from fabricmark.systems import choice, local_machine

OPERATIONS = _collectives.OPERATIONS
SPELLED = {name.replace("_", ""): name for name in OPERATIONS} | {"bcast": "broadcast"}
SIZE, ISSUER, ALGORITHM = "size", "issuer", "algorithm"
DEFAULT_BYTES = 2**20
ELEMENT_BYTES = 4  # of which each rank has some, so that no message is left out
PARAMETERS = (SIZE, ISSUER, ALGORITHM)
OF_RANKS = "mean of ranks"  # whether the time is that, as programs print it, and not the slowest rank's
ALL_PARTS = "all parts"  # whether the size is that of all ranks' parts together, not of one rank's
# The first that a system has is meant.
NETWORKS = (*reversed(transports.between(transports.ENGINES)), *choice.PREFERRED)


def operation(name: str) -> str | None:
    """The operation that a name means, also as MPI spells it (allreduce, bcast); None for another name."""
    return name if name in OPERATIONS else SPELLED.get(name.lower())


def cases(
    name: str, system: str, transport: str | None, counts: Sequence[int], words: Mapping[str, str],
    sweeps: Sequence[options.Sweep], board: str | None, *, sensitive: bool = False, of_ranks: bool = False,
    all_parts: bool = False, **more: object,
) -> list[Case]:  # fmt: skip
    """One for each system and transport. `sensitive`: with a line of what moves it most; `of_ranks`: times
    are the mean of all ranks, not the slowest one's; `all_parts`: sizes are those of all ranks' parts
    together, not of one rank's. `more`: profile, closed_form and beyond.

    Raises FabricmarkError (2).
    """
    asked = requests(name, system, transport, board, **more)
    usual = {OF_RANKS: of_ranks, ALL_PARTS: all_parts}
    return [_case(request, counts, words, sweeps, usual, sensitive=sensitive) for request in asked]


def requests(
    name: str, system: str, transport: str | None, board: str | None, **more: Any
) -> Iterator[PredictionRequest]:
    """For what needs a network and no kernel, of each system and transport. Raises FabricmarkError (2)."""
    for one in options.names(system, "--system"):
        for wanted in options.names(transport, "--transport"):
            asked = choice.Wanted(str(one), board, None, wanted, more["profile"])
            chosen = choice.over_networks(name, asked, NETWORKS)
            described = local_machine.with_limits(chosen.system)
            closed = settings.without_curves(described) if more["closed_form"] else described
            yield PredictionRequest(name, closed, chosen.transport, points.WEAK, **more)


def _case(
    request: PredictionRequest, counts: Sequence[int], words: Mapping[str, str],
    sweeps: Sequence[options.Sweep], usual: Mapping[str, object], *, sensitive: bool,
) -> Case:  # fmt: skip
    given = {key: text for key, text in words.items() if "." not in key}
    keyed = [(key, text) for key, text in words.items() if "." in key]
    overrides = dict(zip([key for key, _ in keyed], options.numbers(request.benchmark, keyed), strict=True))
    usual = {ISSUER: _collective_costs.HOST_ISSUER, SIZE: DEFAULT_BYTES, **usual}
    parameters = {**usual, **_parameters(request, given)}
    axes = {one.name: axis(request, one) for one in sweeps}
    for key in set(axes) & set(words):
        raise FabricmarkError(f"{key} is set and swept", "leave out one of them")
    options.check_points(counts, axes)
    request = replace(request, overrides=overrides)
    points.check_devices(request, counts)
    places = [(devices, place) for devices in counts for place in all_places(axes)]
    _replay_ahead((request, devices, {**parameters, **place}, place) for devices, place in places)
    found = [_point(request, devices, place, {**parameters, **place}) for devices, place in places]
    about = _about(request, found, {**parameters, **all_places(axes)[-1]}, [*overrides, *axes])

    def predicted(overrides: Mapping[str, float]) -> list[float | None]:
        changed = replace(request, overrides=overrides)
        _replay_ahead((changed, devices, {**parameters, **place}, place) for devices, place in places)
        again = [_point(changed, devices, place, {**parameters, **place}) for devices, place in places]
        return [one.headline.value for one in again]

    about += points.not_limiting(request, found, predicted)
    about += [_sensitivity(request, found[-1], parameters)] if sensitive else []
    unvalidated = f"no published value is of {request.about}"
    return Case(request, found, certainty.unvalidated(unvalidated), about)


def all_places(axes: Mapping[str, Sequence]) -> list[dict]:
    """All values of the axes together."""
    found: list[dict] = [{}]
    for name, axis in axes.items():
        found = [{**place, name: value} for place in found for value in axis]
    return found


def _parameters(request: PredictionRequest, given: Mapping[str, str]) -> dict[str, object]:
    """Those that --set gives. Raises FabricmarkError (2)."""
    for name in given:
        if name not in PARAMETERS:
            raise FabricmarkError(
                f"{request.benchmark} has no parameter {name}", f"use one of {', '.join(PARAMETERS)}"
            )
    found: dict[str, object] = dict(given)
    if SIZE in found:
        found[SIZE] = bytes_of(given[SIZE], f"size={given[SIZE]}")
        if request.benchmark == "barrier":
            raise FabricmarkError("barrier moves no elements", "leave out size")
    network = request.system.networks[request.transport]
    if ISSUER in found:
        check_issuer(given[ISSUER], request.transport, network)
    known = _collectives.algorithms(request.benchmark) if ALGORITHM in found else []
    if ALGORITHM in found and found[ALGORITHM] not in known:
        cause = f"{found[ALGORITHM]!r} is no algorithm of {request.benchmark}"
        raise FabricmarkError(cause, f"use one of {', '.join(known)}")
    return found


def check_issuer(issuer: str, transport: str, network: Network) -> None:
    """Raises FabricmarkError (2) for one that there is not, or where none issues calls."""
    if issuer not in _collective_costs.ISSUERS or network.kind != PACKET:
        allowed = " or ".join(_collective_costs.ISSUERS)
        remedy = f"write issuer={allowed}" if network.kind == PACKET else "leave it out, or use an engine"
        raise FabricmarkError(f"issuer={issuer} over {transport}", remedy)


def bytes_of(text: str, what: str) -> int:
    """Bytes as 65536, 64KiB or 1MB. Raises FabricmarkError (2)."""
    try:
        number = int(text) if text.isascii() and text.isdigit() else quantities.parse(text, "bytes")
    except ValueError as error:
        cause = str(error).split("; ")[0]
        raise FabricmarkError(f"{what}: {cause}", "write for example 64KiB") from None
    if not 1 <= number <= 2**50:
        raise FabricmarkError(f"{what}: no number of bytes", "write 1 to 2^50")
    return round(number)


def axis(request: PredictionRequest, sweep: options.Sweep) -> list:
    """The values of a sweep over sizes, or over a value of the system. Raises FabricmarkError (2)."""
    if "." in sweep.name:
        return options.axis(sweep, request.benchmark)
    if sweep.name != SIZE or request.benchmark == "barrier":
        raise FabricmarkError(
            f"--sweep {sweep.name}: not of {request.benchmark}", "sweep over a value of the system"
            if request.benchmark == "barrier" else "sweep over size, or a value of the system",
        )  # fmt: skip
    what = f"--sweep {sweep.name}"
    first, last = (bytes_of(text, what) for text in (sweep.first, sweep.last))
    step = bytes_of(sweep.step, what) if sweep.step else None
    return options.values(first, last, step, sweep.factor, True, sweep.name)


def _point(request: PredictionRequest, devices: int, place: Mapping, parameters: Mapping) -> Point:
    board, network = described(request, devices, place)
    found, algorithm = predictions(request, parameters, board, devices, network)
    shown = {ALGORITHM: algorithm}
    if request.benchmark != "barrier" and SIZE not in place:
        shown = {SIZE: parameters[SIZE], **shown}
    return Point(devices, place, shown, found[0], found)


def described(request: PredictionRequest, devices: int, place: Mapping) -> tuple[Board, Network]:
    """Board and network, with the values that are set or swept."""
    keyed = {**request.overrides, **{name: value for name, value in place.items() if "." in name}}
    system = points.with_overrides(request.system, request.benchmark, request.transport, keyed)
    board, network = system.board_with(None, devices), system.networks[request.transport]
    return board.only(INPUTS), network.only(INPUTS)


def _replay_ahead(points: Iterable[tuple[PredictionRequest, int, Mapping, Mapping]]) -> None:
    """Of all these points at once, whoever asks for one then has its answer: request, devices, parameters and
    axes of each."""
    asked = []
    for request, devices, parameters, place in points:
        board, network = described(request, devices, place)
        try:
            asked += _asked(request, parameters, board, devices, network)[1]
        except FabricmarkError:  # which the point itself raises
            continue
    kernels.answers(asked)


def _asked(
    request: PredictionRequest, parameters: Mapping, board: Board, devices: int, network: Network
) -> tuple[Costs, list[dict]]:
    """What moves take, and what is to be replayed: the call, and what is left of it where bytes take no time.
    Raises FabricmarkError (2)."""
    name = request.benchmark
    if network.kind == PACKET and not transports.between_engines(request.transport):
        cause = (
            f"{request.about}: {network.name} sends packets, and {request.transport} has no engine for them"
        )
        raise FabricmarkError(cause, "use a network of direct links, or one with an engine")
    moved = 0 if name == "barrier" else _moved(parameters, devices)
    asked = {**parameters, "transport": request.transport, "longest": moved * devices}
    try:
        costs = _collective_costs.of(asked, board, network)
    except models.MissingValue as error:
        cause = f"{request.about}: no file says {error.name}"
        raise FabricmarkError(cause, "set it, or use a system whose boards have it") from None
    shares = 0 if name == "barrier" else ELEMENT_BYTES * devices
    return costs, [
        _collectives.request(name, costs, devices, moved),
        _collectives.request(name, costs.without_curves(), devices, shares, moves_bytes=False),
    ]


def _moved(parameters: Mapping, devices: int) -> int:
    """Bytes of one rank: of all parts together its own, in whole elements, as programs have it. Raises
    FabricmarkError (2) where it has none."""
    size = int(parameters[SIZE])
    if not parameters.get(ALL_PARTS):
        return size
    part = size // ELEMENT_BYTES // devices * ELEMENT_BYTES
    if part == 0:
        cause = f"size={size}: {devices} parts of it have no element"
        raise FabricmarkError(cause, f"use size={ELEMENT_BYTES * devices} or more")
    return part


def predictions(
    request: PredictionRequest, parameters: Mapping, board: Board, devices: int, network: Network
) -> tuple[list[Prediction], str]:
    """(time, algorithm bandwidth and bus bandwidth of a call; its algorithm). Raises FabricmarkError (2)."""
    name = request.benchmark
    costs, asked = _asked(request, parameters, board, devices, network)
    whole, latency = _collectives.answers(asked)
    wanted = parameters.get(ALGORITHM)
    if wanted is not None and wanted not in whole["algorithms"]:
        cause = f"{wanted} does no {name} of {devices} ranks over {whole['shape']}"
        raise FabricmarkError(cause, f"use {' or '.join(whole['algorithms'])}")
    chosen = str(wanted or whole["chosen"])
    timed = "mean_seconds" if parameters.get(OF_RANKS) else "seconds"
    of_call = whole["algorithms"][chosen][timed]
    seconds = costs.start + of_call
    of_latency = min(latency["algorithms"].get(chosen, {timed: 0.0})[timed], of_call)
    phases = {"start": costs.start, "latency": of_latency, "bytes": of_call - of_latency}
    about = (max(phases, key=phases.get), f"moves of {chosen} replayed, over {whole['shape']}", phases)
    moved = asked[0]["bytes"]
    axes = {"operation": name, **({"bytes": moved} if moved else {})}
    found = [Prediction("time", axes, seconds * 1e6, "us", None, *about)]
    if moved and seconds:
        bus = whole["bus_bytes"] / seconds / 1e9
        link = whole.get("link_bytes_per_second")
        limit = link and link / 1e9
        found.append(Prediction("algorithm_bandwidth", axes, moved / seconds / 1e9, "GB/s", None, *about))
        found.append(Prediction("bus_bandwidth", axes, bus, "GB/s", limit, *about))
    return found, chosen


def _about(
    request: PredictionRequest, found: Sequence[Point], parameters: Mapping, changed: Sequence[str]
) -> list[str]:
    """What is taken for granted. Raises FabricmarkError (2) for a value that nothing reads."""
    read, without = _reads(request, found[-1], parameters)
    network = request.system.networks[request.transport]
    for name in (name for name in changed if "." in name):
        settings.check_system_value(name, request.about, read, without, network, None)
    of_system = (request.system, request.transport, request.profile)
    lines = settings.assumed(*of_system, changed, [(read, None)], request.about)
    if network.kind == DIRECT and (network.get("links.width") is None or network.get("links.clock") is None):
        lines.append("assumed, as no file says otherwise: the cycles of kernels take no time")
    if network.kind not in (DIRECT, PACKET):
        lines.append("assumed: hosts combine in no time, and steps follow one another")
    return lines


def _sensitivity(request: PredictionRequest, one: Point, parameters: Mapping) -> str:
    """By how much the time of a call moves with a tenth more of each value of the system."""
    own = {**parameters, **one.axes}

    def again(changed: Sequence[PredictionRequest]) -> list[Point]:
        _replay_ahead((each, one.devices, own, one.axes) for each in changed)
        return [_point(each, one.devices, one.axes, own) for each in changed]

    return sensitivity(request, one, _reads(request, one, own)[0], again)


def sensitivity(
    request: PredictionRequest, one: Point, read: Reads,
    again: Callable[[Sequence[PredictionRequest]], Sequence[Point]],
) -> str:  # fmt: skip
    """By how much the headline moves with a tenth more of each value that is read. `again`: the same point of
    other requests."""
    usual = one.headline.value
    if not usual:
        return "sensitivity: none, as it takes no time"
    board, network = described(request, one.devices, one.axes)
    known = view.above_nothing(read, {"board": board, "network": network, "bitstream": None})
    changes = {
        name: replace(request, overrides={**request.overrides, name: value * view.MORE})
        for name, value in {**known, **request.overrides}.items()
    }
    moved = {}
    for name, changed in zip(changes, again(list(changes.values())), strict=True):
        found = changed.headline.value
        if found is not None and abs(found / usual - 1) >= view.LEAST_CHANGE:
            moved[name] = found / usual - 1
    return view.most_moving(moved, one.devices)


def _reads(request: PredictionRequest, one: Point, parameters: Mapping) -> tuple[Reads, Reads]:
    """What the last point reads, as it is and in closed form."""
    board, network = described(request, one.devices, one.axes)
    found = []
    for known in (network, settings.closed_form(network)):
        seen: set[str] = set()
        predictions(request, parameters, board.watched(seen), one.devices, known.watched(seen))
        found.append(Reads(frozenset(seen)))
    return found[0], found[1]
