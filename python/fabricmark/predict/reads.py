"""Which values of a described system a model reads for a run: it is watched at work.

What it does not look up cannot move its prediction; what it looks up and no file says is missing.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from fabricmark import models
from fabricmark.base import keys
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Network
from fabricmark.systems import System

PLACES = tuple(keys.OF_MODELS)


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
    """Of a value of the system."""
    place, _, rest = name.partition(".")
    return keys.VALUES[place][rest]


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
    with suppress(
        models.MissingValue, LookupError, TypeError, ValueError, ArithmeticError
    ):  # whoever predicts says why
        models.predict(
            model, Watched(run, parameters), board.watched(seen), devices,
            network=None if network is None else network.watched(seen),
            bitstream=None if bitstream is None else bitstream.watched(seen),
        )  # fmt: skip
    return Reads(frozenset(seen), frozenset(parameters))


def closed_form(network: Network | None) -> Network | None:
    """The network by its latency and bandwidth alone: no measured curve, no width and clock of its links."""
    if network is None:
        return None
    return replace(network, curves=()).having({"links.width": None, "links.clock": None})


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
            if value.name in keys.VALUES[place] and value.of(profile) is not None:
                found.add(f"{place}.{value.name}")
    return found


def absent(found: Reads, known: Iterable[str]) -> list[str]:
    """Values that were read and that nothing says."""
    return sorted(set(found.names()) - set(known))
