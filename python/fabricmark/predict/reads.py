"""Which values of a described system the models read: found by watching a model at work, not by a list.

A model's `predict` gets a board, a network and a bitstream that note each of their fields that it looks at.
What it did not look at cannot move its prediction; what it looked at and no file says is missing.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace

from fabricmark import models
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Network
from fabricmark.systems import System, keys
from fabricmark.systems.system import OF_BOARD

PLACES: Mapping[str, Mapping[str, keys.Key]] = {
    "board": keys.BOARD,
    "network": keys.NETWORK,
    "bitstream": keys.BITSTREAM,
}
MAPPINGS = ("model_parameters", "flops_per_second")


class Watched(models.Needed):
    """A mapping that notes which of its keys are asked for, whether it has them or not."""

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


def watched(described, note: set[str]):
    """The same board, network or bitstream; it notes the fields that are read from it."""
    if described is None:
        return None
    kind = type(described)
    known = {one.name for one in fields(kind)}

    class Watching(kind):
        def __getattribute__(self, name):
            if name in known and name not in MAPPINGS:
                note.add(name)
            return object.__getattribute__(self, name)

    made = object.__new__(Watching)
    vars(made).update(vars(described))
    for name in MAPPINGS:
        if name in known:
            vars(made)[name] = Watched(getattr(described, name), note)
    return made


@dataclass(frozen=True)
class Reads:
    """What a model looked at: fields of the board, the network and the bitstream, and parameters by name."""

    board: frozenset[str] = frozenset()
    network: frozenset[str] = frozenset()
    bitstream: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()

    def __or__(self, other: "Reads") -> "Reads":
        return Reads(*(getattr(self, one.name) | getattr(other, one.name) for one in fields(Reads)))

    def has(self, name: str, bitstream: Bitstream | None) -> bool:
        """Whether a value of the system was read, named as its files do: board.memory.banks.

        A bitstream's clock and memory stand in for the board's: one of both is read, never both.
        """
        place, _, rest = name.partition(".")
        field = field_of(name)
        replaced = bitstream is not None and field in OF_BOARD and field in bitstream.model_parameters
        if place == "board":
            return field in self.board and not replaced
        if place == "network":
            return field in self.network
        if rest == "clock":
            return bitstream is not None and "kernel_hz" in self.board
        if field in OF_BOARD:
            return bitstream is not None and field in self.board
        return field in self.bitstream

    def names(self, bitstream: Bitstream | None) -> list[str]:
        """All values of the system that were read, named as its files do."""
        return [name for name in every_name() if self.has(name, bitstream)]


def every_name() -> Iterator[str]:
    """Every value of board, network and bitstream that some model may read."""
    for place, known in PLACES.items():
        for rest, key in known.items():
            if key.field and not rest.startswith("measured."):
                yield f"{place}.{rest}"


def field_of(name: str) -> str:
    """What the models call a value of a system file."""
    place, _, rest = name.partition(".")
    field = PLACES[place][rest].field
    return rest.partition(".")[2] if field == "flops_per_second" else field.removeprefix("model_parameters.")


def name_in_files(field: str) -> str:
    """How system files call what a model calls so; a name that none of them has as it is."""
    return next((name for name in every_name() if field_of(name) == field), field)


def value(objects: Mapping[str, Board | Network | Bitstream | None], name: str) -> float | None:
    """A value of the board, network or bitstream by its name here; None where it has none."""
    place, _, rest = name.partition(".")
    if place == "bitstream" and rest == "clock":
        return objects["board"].kernel_hz
    field = PLACES[place][rest].field
    made, own = objects[place], field_of(name)
    if made is None:
        return None
    if field == "flops_per_second":
        return made.flops_per_second.get(own)
    if place == "bitstream" or field.startswith("model_parameters."):
        return made.model_parameters.get(own)
    return getattr(made, own)


def watch(
    benchmark: str, run: Mapping, board: Board, devices: int, network: Network | None,
    bitstream: Bitstream | None,
) -> Reads:  # fmt: skip
    """What the model of a benchmark reads for this run; for one that it cannot predict, until it stops."""
    notes = {name: set() for name in ("board", "network", "bitstream", "parameters")}
    model = models.find(benchmark)
    with suppress(
        models.MissingValue, LookupError, TypeError, ValueError, ArithmeticError
    ):  # whoever predicts says why
        models.predict(
            model, Watched(run, notes["parameters"]), watched(board, notes["board"]), devices,
            network=watched(network, notes["network"]), bitstream=watched(bitstream, notes["bitstream"]),
        )  # fmt: skip
    return Reads(**{name: frozenset(found) for name, found in notes.items()})


def closed_form(network: Network | None) -> Network | None:
    """The network by its latency and bandwidth alone: no measured curve, no width and clock of its links."""
    return None if network is None else replace(network, curves=(), width_bytes=None, clock_hz=None)


def said(system: System, transport: str, bitstream: Bitstream | None, profile: str) -> set[str]:
    """The values that the files of a system say in this profile, by their names here."""
    parts = {"board": [""], "network": [system.network_ids.get(transport, transport)]}
    ids = [name for name in system.parts if "/" in name]
    parts["bitstream"] = [
        name for name, one in zip(ids, system.bitstreams, strict=True) if one is bitstream
    ] or [name for name in ids if bitstream is not None and name.endswith(f"/{bitstream.name}")][:1]
    found = set()
    for place, names in parts.items():
        for value in (value for name in names for value in system.parts.get(name, ())):
            if value.name in PLACES[place] and value.of(profile) is not None:
                found.add(f"{place}.{value.name}")
    return found


def absent(found: Reads, known: Iterable[str], bitstream: Bitstream | None) -> list[str]:
    """Values that were read and that nothing says."""
    return sorted(set(found.names(bitstream)) - set(known))
