"""What of a described system a prediction reads, and what --set and --sweep change has to count.

A model is watched at work: what it does not look up cannot move its prediction. A value that no model reads
is refused, one that limits nothing is named, and a figure that is read and that no file says is refused or
stated (STATED), below the table: never taken for 0 without a word. Where the absence itself has a meaning
(SILENT), as of a memory without paths of their own for reads and writes, nothing has to be said. A value in
none of the tables is needed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from fabricmark import models
from fabricmark.base import keys, quantities
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board
from fabricmark.models.machine import HOST, Bitstream, Network
from fabricmark.predict import feasible
from fabricmark.systems import System

PLACES = tuple(keys.OF_MODELS)
CLOSED_FORM = "--closed-form"
MOST_WATCHED = 12  # points of a request that are watched, from its first to its last
FACTORS = (2.0, 0.5)
STATED: Mapping[str, str] = {
    "board.memory.bank_efficiency": "bank efficiency assumed 100 %",
    "board.memory.drain": "loops over a buffer follow each other at once",
    "board.memory.burst_latency": "burst latency assumed 0",
    "board.host.launch_latency": "launch latency assumed 0",
    "board.processor.core_bandwidth": "one core's bandwidth is unknown",
    "network.start_latency": "start latency assumed 0",
    "network.ordering_bandwidth": "ordering time assumed 0",
    "network.self_bandwidth": "a rank sends to itself as to others",
    "network.links.count": "one link",
    "bitstream.fitted.multiply_efficiency": "efficiency of multiplications assumed 100 %",
    "bitstream.fitted.multiply_latency": "latency assumed 0",
    "bitstream.fitted.panel_efficiency": "efficiency of panel kernels assumed 100 %",
    "bitstream.fitted.pipeline_efficiency": "pipeline efficiency assumed 100 %",
    "bitstream.fitted.channel_efficiency": "channel efficiency assumed 100 %",
    "bitstream.fitted.start_latency": "start latency assumed 0",
}
SILENT: Mapping[str, str] = {
    "board.memory.clock": "that of the kernel",
    "board.memory.read_bandwidth": "reads and writes share a bank",
    "board.memory.write_bandwidth": "reads and writes share a bank",
    "board.host.write_bandwidth": "its model says where it needs one",
    "board.host.read_bandwidth": "its model says where it needs one",
    "board.host.page": "no copy is known to wait longer",
    "board.host.page_latency": "no copy is known to wait longer",
    "board.host.programmed_below": "no copy is known to be made word by word",
    "board.host.programmed_bandwidth": "no copy is known to be made word by word",
    "board.host.programmed_latency": "no copy is known to be made word by word",
    "board.host.programmed_at_once": "as many as fit into the least time at their rate",
    "board.host.staging_bandwidth": "the driver is not known to copy messages itself",
    "board.host.array_staging_bandwidth": "the driver is not known to copy arrays itself",
    "board.host.neighbour_factor": "devices of a node are not known to slow each other down",
    "board.host.copy_bandwidth": "the memory of a host is no limit",
    "board.processor.cores": "unknown, and said so where it is needed",
    "board.arithmetic.half": "the model says where it needs one",
    "board.arithmetic.float": "the model says where it needs one",
    "board.arithmetic.double": "the model says where it needs one",
    "bitstream.clock": "the model says where it needs one",
    "bitstream.memory.matrix_banks": "a matrix lies in all banks",
    "bitstream.fitted.element_operations": "the rate by its authors' count is left out",
    "bitstream.link_cycles": "the latency of the network",
    "bitstream.fitted.link_bandwidth": "that of the network's links",
    **dict.fromkeys(
        (
            "bitstream.memory.bank_bandwidth", "bitstream.memory.bank_efficiency", "bitstream.memory.clock",
            "bitstream.memory.drain", "bitstream.memory.burst_latency", "bitstream.memory.update_latency",
            "bitstream.memory.read_bandwidth", "bitstream.memory.write_bandwidth",
        ),
        "the board's",
    ),
    "network.links.bandwidth": "its model says where it needs one",
    "network.start_cycles": "calls take start_latency",
    "network.links.width": "kernels do not write to the links",
    "network.links.clock": "kernels do not write to the links",
    "network.flow.packet": "the link is no credit link",
    "network.flow.overhead": "one, the header",
    "network.cable_latency": "all devices are on one switch",
    "network.switch_ports": "all devices are on one switch",
    "network.node_latency": "latency is not split over devices and cables",
}  # fmt: skip
# What only networks of some kinds have: circuits and hosts' MPI have neither engines nor switches.
OF_KIND: Mapping[str, tuple[str, ...]] = {
    "network.switch_latency": ("packet",),
    "network.start_latency": ("packet",),
    "network.copy_latency": ("packet",),
}


class Watched(models.Needed):
    """Parameters that note which of them are asked for, whether they are there or not."""

    def __init__(self, values: Mapping, note: set[str]) -> None:
        super().__init__(values)
        self._note = note

    def __getitem__(self, key):
        self._note.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self._note.add(key)
        return super().get(key, default)

    def __contains__(self, key) -> bool:
        self._note.add(key)
        return super().__contains__(key)


@dataclass(frozen=True)
class Reads:
    """What a model looked up: values of the system, named as its files do (board.memory.banks), and
    parameters by name."""

    values: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()

    def __or__(self, other: "Reads") -> "Reads":
        return Reads(self.values | other.values, self.parameters | other.parameters)

    def names(self) -> list[str]:
        """All values of the system, in the order of base/keys.py."""
        return [name for name in every_name() if name in self.values]


def every_name() -> Iterator[str]:
    """Every value of board, network and bitstream that some model may read."""
    for place in PLACES:
        for rest, key in keys.VALUES[place].items():
            if key.symbol and not rest.startswith(keys.MEASURED):
                yield f"{place}.{rest}"


def key_of(name: str) -> keys.Key:
    """The key of a system file that a dotted name means. Raises FabricmarkError (2) for an unknown one."""
    place, _, rest = name.partition(".")
    possible = keys.VALUES[place] if place in PLACES else {}
    key = possible.get(rest)
    if key is None or not key.symbol:
        known = sorted(one for one, key in possible.items() if key.symbol)
        remedy = f"use one of {', '.join(known)}" if known else "begin with board, network or bitstream"
        raise FabricmarkError(f"{name} is no value that a model reads", remedy)
    return key


def value(objects: Mapping[str, Board | Network | Bitstream | None], name: str) -> float | None:
    """A value of the board, network or bitstream; None where it has none."""
    place, _, rest = name.partition(".")
    made = objects["board" if name == "bitstream.clock" else place]
    if made is None:
        return None
    return made.values.known.get(rest) if place == "bitstream" else made.get(rest)


def watch(
    benchmark: str, run: Mapping, board: Board, devices: int, network: Network | None,
    bitstream: Bitstream | None,
) -> Reads:  # fmt: skip
    """What the model of a benchmark reads for this run; for one that it cannot predict, until it stops."""
    seen: set[str] = set()
    parameters: set[str] = set()
    model = models.find(benchmark)
    if model is None:
        return Reads()
    # Whoever predicts says why.
    with suppress(models.MissingValue, LookupError, TypeError, ValueError, ArithmeticError):
        models.predict(
            model, Watched(run, parameters), board.watched(seen), devices,
            network=None if network is None else network.watched(seen),
            bitstream=None if bitstream is None else bitstream.watched(seen),
        )  # fmt: skip
    return Reads(frozenset(seen), frozenset(parameters))


def closed_form(network: Network) -> Network:
    """The network by its latency and bandwidth alone: no measured curve, no width and clock of its links."""
    return replace(network, curves=()).having({"links.width": None, "links.clock": None})


def said(system: System, transport: str, bitstream: Bitstream | None, profile: str) -> set[str]:
    """The values that the files of a system say in this profile, by their names here."""
    parts = {"board": [""], "network": [system.network_ids.get(transport, transport)]}
    ids = system.designs
    parts["bitstream"] = [name for name, one in ids.items() if one is bitstream] or [
        name for name in ids if bitstream is not None and name.endswith(f"/{bitstream.name}")
    ][:1]
    found = set()
    for place, names in parts.items():
        for value in (value for name in names for value in system.parts.get(name, ())):
            if value.name in keys.VALUES[place] and value.of(profile) is not None:
                found.add(f"{place}.{value.name}")
    return found


def meaning(name: str, kind: str = "") -> str | None:
    """What is said of a value that no file says; "" where its absence says all, None where it is needed.

    `kind`: of the network.
    """
    is_of_other_kind = name in OF_KIND and kind not in OF_KIND[name]
    return "" if is_of_other_kind or name in SILENT else STATED.get(name)


def spread_over(points: Sequence) -> list:
    """Some of many points: the first, the last, and others between them."""
    if len(points) <= MOST_WATCHED:
        return list(points)
    last = len(points) - 1
    return [points[round(place * last / (MOST_WATCHED - 1))] for place in range(MOST_WATCHED)]


def of_run(
    benchmark: str, run: Mapping, board: Board, devices: int, network: Network | None,
    bitstream: Bitstream | None,
) -> Reads:  # fmt: skip
    """What a prediction reads: the model, and the check whether the problem fits into the memory."""
    found = watch(benchmark, run, board, devices, network, bitstream)
    needed = feasible.needed(benchmark, run, board, devices)
    return found if needed is None else found | Reads(parameters=needed.parameters)


def check_system_value(
    name: str, about: str, found: Reads, in_closed_form: Reads, network: Network | None,
    bitstream: Bitstream | None,
) -> None:  # fmt: skip
    """Raises FabricmarkError (2) for a value of the system that the prediction does not read, and says why.

    `about`: the benchmark and where it runs. `in_closed_form`: what it would read without measured curves.
    """
    if name in found.values:
        return
    place, _, rest = name.partition(".")
    if place == "bitstream" and bitstream is None:
        raise FabricmarkError(f"{name}: {about} uses no bitstream", "leave it out")
    if place == "board" and bitstream is not None and f"bitstream.{rest}" in found.values:
        cause = f"{name}: the bitstream {bitstream.name} has its own, which counts"
        raise FabricmarkError(cause, f"set bitstream.{rest}")
    if name in in_closed_form.values and network is not None:
        if network.curves and network.kind == HOST:
            raise FabricmarkError(f"{name}: a measured curve of {network.name} overrides it",
                                  f"use {CLOSED_FORM} to predict by latency and bandwidth")  # fmt: skip
        raise FabricmarkError(f"{name}: network.links.width times network.links.clock override it",
                              f"set these, or use {CLOSED_FORM}")  # fmt: skip
    known = found.names()
    kinds = [one for one in known if one.startswith(f"{place}.")] or known
    remedy = f"use one of {', '.join(kinds)}" if kinds else "leave it out"
    raise FabricmarkError(f"{about} reads no {name}", remedy)


def check_parameter(name: str, about: str, found: Reads, known: Sequence[str]) -> None:
    """The same for a parameter. `known`: all parameters of the kernel."""
    if name in found.parameters:
        return
    read = sorted(set(known) & found.parameters)
    remedy = f"set one of {', '.join(read)}" if read else "leave it out"
    raise FabricmarkError(f"{about}: its model reads no parameter {name}", remedy)


def assumed(
    system: System, transport: str, profile: str, overrides: Sequence[str],
    watched: Sequence[tuple[Reads, Bitstream | None]], about: str,
) -> list[str]:  # fmt: skip
    """What a prediction takes for granted, a line for all. Raises FabricmarkError (2) for what it needs."""
    network = system.networks.get(transport)
    words: dict[str, list[str]] = {}
    for found, bitstream in watched:
        known = said(system, transport, bitstream, profile) | set(overrides)
        for name in sorted(set(found.names()) - known):
            text = meaning(name, network.kind if network is not None else "")
            if text is None:
                cause = f"{about}: no file says {name}"
                remedy = "set it" if profile == "fitted" else "set it, or use --profile fitted"
                example = quantities.EXAMPLES.get(key_of(name).dimension, "1")
                raise FabricmarkError(cause, f"{remedy}, as --set {name}={example}")
            if text and name not in words.setdefault(text, []):
                words[text].append(name)
    parts = [f"{text} ({', '.join(names)})" for text, names in words.items() if names]
    return [f"assumed, as no file says otherwise: {'; '.join(parts)}"] if parts else []


def not_limiting(
    names: Sequence[str], values: Callable[[Mapping[str, float]], Sequence[float | None]],
    given: Mapping[str, float],
) -> list[str]:  # fmt: skip
    """Those of the given values of the system without which, and with twice or half as much, all is the same.

    `values`: all predictions with these values of the system in place of the files'.
    """
    usual, found = values(given) if names else [], []
    for name in names:
        others = {other: value for other, value in given.items() if other != name}
        tried = [others, *({**given, name: given[name] * by} for by in FACTORS)]
        if not any(moved_by(values, one, usual) for one in tried):
            found.append(name)
    return found


def moved_by(values: Callable, given: Mapping[str, float], usual: Sequence[float | None]) -> bool:
    """Whether other values of the system move a prediction, or leave none."""
    try:
        return list(values(given)) != list(usual)
    except FabricmarkError:
        return True


def without_curves(system: System) -> System:
    """The system with its networks in closed form."""
    networks = {name: closed_form(one) for name, one in system.networks.items()}
    return replace(system, networks=networks)
