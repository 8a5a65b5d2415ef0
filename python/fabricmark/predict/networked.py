"""Predictions that need a network and no kernel: of collective operations, and of messages between two ranks.

What one of them is about says a `Networked`; points, what they read and what moves them are the same for
all.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any

from fabricmark import models
from fabricmark.base import kernels, quantities, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board, Prediction
from fabricmark.models._collective_costs import HOST_ISSUER, INPUTS, ISSUERS
from fabricmark.models.machine import PACKET, Network
from fabricmark.predict import certainty, options, points, settings, view
from fabricmark.predict.points import Case, Point, PredictionRequest
from fabricmark.predict.settings import Reads
from fabricmark.systems import choice, local_machine

SIZE, ISSUER = "size", "issuer"
DEFAULT_BYTES = 2**20
# The first that a system has is meant.
NETWORKS = (*reversed(transports.between(transports.ENGINES)), *choice.PREFERRED)


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


class Networked(ABC):
    """One request over the axes that are swept. `parameters`: the usual ones and those that --set gives.

    Raises FabricmarkError (2) for words and sweeps that it does not have.
    """

    def __init__(
        self, request: PredictionRequest, counts: Sequence[int], words: Mapping[str, str],
        sweeps: Sequence[options.Sweep],
    ) -> None:  # fmt: skip
        given = {key: text for key, text in words.items() if "." not in key}
        keyed = [(key, text) for key, text in words.items() if "." in key]
        values = options.numbers(request.benchmark, keyed)
        self.request = replace(request, overrides=dict(zip(dict(keyed), values, strict=True)))
        self.network = request.system.networks[request.transport]
        points.check_devices(self.request, counts)
        self.parameters: dict[str, Any] = {SIZE: DEFAULT_BYTES, ISSUER: HOST_ISSUER}
        if SIZE in given:
            self.parameters[SIZE] = bytes_of(given[SIZE], f"size={given[SIZE]}")
        if ISSUER in given:
            self.parameters[ISSUER] = given[ISSUER]
        self.read(given)
        axes = {one.name: self._axis(one) for one in sweeps}
        options.check_swept(axes, words)
        options.check_points(counts, axes)
        places = [dict(zip(axes, place, strict=True)) for place in product(*axes.values())]
        self.places = [(devices, place) for devices in counts for place in places]
        self.changed = [*self.request.overrides, *axes]

    @property
    def has_size(self) -> bool:
        """Whether it moves bytes."""
        return True

    @property
    @abstractmethod
    def unvalidated(self) -> str:
        """Why there is no narrow interval."""

    @abstractmethod
    def read(self, given: Mapping[str, str]) -> None:
        """Put what --set gives into the parameters. Raises FabricmarkError (2)."""

    @abstractmethod
    def replays(self, parameters: Mapping, board: Board, devices: int, network: Network) -> Iterable[Mapping]:
        """What a point asks of the replayer. Raises FabricmarkError (2) and MissingValue."""

    @abstractmethod
    def predictions(
        self, parameters: Mapping, board: Board, devices: int, network: Network
    ) -> tuple[list[Prediction], dict[str, object]]:
        """(the headline first, what is shown beside the size). Raises FabricmarkError (2)."""

    @abstractmethod
    def assumptions(self) -> list[str]:
        """What is taken for granted, beside values that no file says."""

    def case(self, *, sensitive: bool) -> Case:
        """All points. `sensitive`: with a line of what moves the last one most."""
        found = self._points(self.request)
        last = found[-1]
        read, closed = self._reads(last)
        for name in (name for name in self.changed if "." in name):
            settings.check_system_value(name, self.request.about, read, closed, self.network, None)
        where = (self.request.system, self.request.transport, self.request.profile)
        about = settings.assumed(*where, self.changed, [(read, None)], self.request.about)
        about += self.assumptions()

        def predicted(overrides: Mapping[str, float]) -> list[float | None]:
            return [one.headline.value for one in self._points(replace(self.request, overrides=overrides))]

        about += points.not_limiting(self.request, found, predicted)
        about += [self._sensitivity(last, read)] if sensitive else []
        return Case(self.request, found, certainty.over_network(self.request, found, self.unvalidated), about)

    def described(self, request: PredictionRequest, devices: int, place: Mapping) -> tuple[Board, Network]:
        """Board and network, with the values that are set or swept."""
        keyed = {**request.overrides, **{name: value for name, value in place.items() if "." in name}}
        system = points.with_overrides(request.system, request.benchmark, request.transport, keyed)
        board, network = system.board_with(None, devices), system.networks[request.transport]
        return board.only(INPUTS), network.only(INPUTS)

    def check_engine(self, network: Network) -> None:
        """Raises FabricmarkError (2) where packets have no engine."""
        if network.kind == PACKET and not transports.between_engines(self.request.transport):
            cause = f"{network.name} sends packets, and {self.request.transport} has no engine for them"
            remedy = "use a network of direct links, or one with an engine"
            raise FabricmarkError(f"{self.request.about}: {cause}", remedy)

    @contextmanager
    def of_files(self) -> Iterator[None]:
        """Raises FabricmarkError (2) for a value that no file says."""
        try:
            yield
        except models.MissingValue as error:
            cause = f"{self.request.about}: no file says {error.name}"
            raise FabricmarkError(cause, "set it, or use a system whose boards have it") from None

    def _points(self, request: PredictionRequest) -> list[Point]:
        self._replay_ahead([request], self.places)
        return [self._point(request, *place) for place in self.places]

    def _point(self, request: PredictionRequest, devices: int, place: Mapping) -> Point:
        board, network = self.described(request, devices, place)
        parameters = {**self.parameters, **place}
        found, shown = self.predictions(parameters, board, devices, network)
        if self.has_size and SIZE not in place:
            shown = {SIZE: parameters[SIZE], **shown}
        return Point(devices, place, shown, found[0], found)

    def _replay_ahead(
        self, requests: Iterable[PredictionRequest], places: Sequence[tuple[int, Mapping]]
    ) -> None:
        """Of all these points at once: whoever asks for one then has its answer."""
        asked: list[Mapping] = []
        for request, (devices, place) in product(requests, places):
            board, network = self.described(request, devices, place)
            try:
                asked += self.replays({**self.parameters, **place}, board, devices, network)
            except (FabricmarkError, models.MissingValue):  # which the point itself raises
                continue
        kernels.answers(asked)

    def _reads(self, one: Point) -> tuple[Reads, Reads]:
        """What a point reads, as it is and in closed form."""
        board, network = self.described(self.request, one.devices, one.axes)
        found = []
        for known in (network, settings.closed_form(network)):
            seen: set[str] = set()
            self.predictions(
                {**self.parameters, **one.axes}, board.watched(seen), one.devices, known.watched(seen)
            )
            found.append(Reads(frozenset(seen)))
        return found[0], found[1]

    def _sensitivity(self, one: Point, read: Reads) -> str:
        """By how much the headline moves with a tenth more of each value that is read."""
        usual = one.headline.value
        if not usual:
            return "sensitivity: none, as it takes no time"
        board, network = self.described(self.request, one.devices, one.axes)
        known = view.above_nothing(read, {"board": board, "network": network, "bitstream": None})
        overrides = self.request.overrides
        changes = {
            name: replace(self.request, overrides={**overrides, name: value * view.MORE})
            for name, value in {**known, **overrides}.items()
        }
        self._replay_ahead(changes.values(), [(one.devices, one.axes)])
        found = {
            name: self._point(changed, one.devices, one.axes).headline.value
            for name, changed in changes.items()
        }
        return view.most_moving(found, usual, one.devices)

    def _axis(self, sweep: options.Sweep) -> list:
        """The values of a sweep over sizes, or over a value of the system. Raises FabricmarkError (2)."""
        if "." in sweep.name:
            return options.axis(sweep, self.request.benchmark)
        if sweep.name != SIZE or not self.has_size:
            remedy = "over size, or a value of the system" if self.has_size else "over a value of the system"
            raise FabricmarkError(f"--sweep {sweep.name}: not of {self.request.benchmark}", f"sweep {remedy}")
        what = f"--sweep {sweep.name}"
        first, last = (bytes_of(text, what) for text in (sweep.first, sweep.last))
        step = bytes_of(sweep.step, what) if sweep.step else None
        return options.values(first, last, step, sweep.factor, True, sweep.name)

    def check_issuer(self) -> None:
        """Raises FabricmarkError (2) for one that there is not, or where none issues calls."""
        issuer, is_packet = self.parameters[ISSUER], self.network.kind == PACKET
        if issuer not in ISSUERS or not is_packet:
            remedy = f"write issuer={' or '.join(ISSUERS)}" if is_packet else "leave it out, or use an engine"
            raise FabricmarkError(f"issuer={issuer} over {self.request.transport}", remedy)


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
