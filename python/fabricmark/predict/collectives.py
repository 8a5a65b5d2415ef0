"""Predictions of collective operations: time and bandwidth by devices and bytes, over any transport.

They have no kernel of the suite, so that their parameters are here: bytes of one rank, issuer and algorithm.
The programs' own moves are replayed (models/_collectives.py), those of all points in one start.
"""

from collections.abc import Mapping, Sequence

from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.models import Board, Prediction, _collective_costs, _collectives
from fabricmark.models._collective_costs import Costs
from fabricmark.models.machine import DIRECT, PACKET, Network
from fabricmark.predict import options
from fabricmark.predict.networked import DEFAULT_BYTES as DEFAULT_BYTES
from fabricmark.predict.networked import ISSUER, SIZE, Networked, requests
from fabricmark.predict.networked import bytes_of as bytes_of
from fabricmark.predict.points import Case

OPERATIONS = _collectives.OPERATIONS
SPELLED = {name.replace("_", ""): name for name in OPERATIONS} | {"bcast": "broadcast"}
ALGORITHM = "algorithm"
ELEMENT_BYTES = 4  # of which each rank has some, so that no message is left out
PARAMETERS = (SIZE, ISSUER, ALGORITHM)
OF_RANKS = "mean of ranks"  # whether the time is that, as programs print it, and not the slowest rank's
ALL_PARTS = "all parts"  # whether the size is that of all ranks' parts together, not of one rank's


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
    found = []
    for request in requests(name, system, transport, board, **more):
        one = _Operation(request, counts, words, sweeps)
        one.parameters |= {OF_RANKS: of_ranks, ALL_PARTS: all_parts}
        found.append(one.case(sensitive=sensitive))
    return found


class _Operation(Networked):
    """A collective operation of all ranks."""

    @property
    def has_size(self) -> bool:
        return self.request.benchmark != "barrier"

    @property
    def unvalidated(self) -> str:
        return f"no published value is of {self.request.about}"

    def read(self, given: Mapping[str, str]) -> None:
        name = self.request.benchmark
        for one in given:
            check_known(one, PARAMETERS, f"{name} has no parameter {one}")
        if SIZE in given and not self.has_size:
            raise FabricmarkError("barrier moves no elements", "leave out size")
        if ISSUER in given:
            self.check_issuer()
        if ALGORITHM in given:
            self.parameters[ALGORITHM] = wanted = given[ALGORITHM]
            check_known(wanted, _collectives.algorithms(name), f"{wanted!r} is no algorithm of {name}")

    def replays(self, parameters: Mapping, board: Board, devices: int, network: Network) -> list[dict]:
        return self._asked(parameters, board, devices, network)[1]

    def _asked(
        self, parameters: Mapping, board: Board, devices: int, network: Network
    ) -> tuple[Costs, list[dict]]:
        """What moves take, and what is to be replayed: the call, and what is left of it where bytes take no
        time. Raises FabricmarkError (2)."""
        self.check_engine(network)
        name, transport = self.request.benchmark, self.request.transport
        moved = _moved(parameters, devices) if self.has_size else 0
        with self.of_files():
            asked = {**parameters, "transport": transport, "longest": moved * devices}
            costs = _collective_costs.of(asked, board, network)
        shares = ELEMENT_BYTES * devices if self.has_size else 0
        return costs, [
            _collectives.request(name, costs, devices, moved),
            _collectives.request(name, costs.without_curves(), devices, shares, moves_bytes=False),
        ]

    def predictions(
        self, parameters: Mapping, board: Board, devices: int, network: Network
    ) -> tuple[list[Prediction], dict[str, object]]:
        """(time, algorithm bandwidth and bus bandwidth of a call; its algorithm)."""
        name = self.request.benchmark
        costs, asked = self._asked(parameters, board, devices, network)
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
        return found, {ALGORITHM: chosen}

    def assumptions(self) -> list[str]:
        network = self.network
        if network.kind not in (DIRECT, PACKET):
            return ["assumed: combining on the host takes no time, and steps follow one another"]
        if network.kind == DIRECT and None in (network.get("links.width"), network.get("links.clock")):
            return ["assumed, as no file says otherwise: the cycles of kernels take no time"]
        return []


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
