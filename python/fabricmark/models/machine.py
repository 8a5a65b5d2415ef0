"""What the models know of a system: values by the names of its files (base/keys.py), and beside one board how
devices exchange and what was synthesised."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

import numpy as np

from fabricmark.base import keys
from fabricmark.models._missing import MissingValue

DIRECT = "direct"
PACKET = "packet"
HOST = "host"
Known = Mapping[str, Any]
USUAL = {place: {name: key.usual for name, key in known.items()} for place, known in keys.OF_MODELS.items()}
BOARD, CLOCK = "board", "clock"


class UndeclaredInput(Exception):
    """A model looks up a value that its INPUTS do not name: a mistake in the model."""


@dataclass(frozen=True)
class Values:
    """Numbers, or arrays of NumPy, in SI units.

    `place`: board, network or bitstream. `known`: what is said. `synthesised`: of a board, the values that
    its bitstream says in its place; None without a bitstream. `seen`: gets the full name of each value that
    is looked up. `declared`: names of those that may be; None: all.
    """

    place: str
    known: Known = field(default_factory=dict)
    synthesised: frozenset[str] | None = None
    seen: set[str] | None = field(default=None, compare=False, repr=False)
    declared: frozenset[str] | None = field(default=None, compare=False, repr=False)

    def settable(self, name: str) -> list[str]:
        """The full names that change what is looked up with this one."""
        if self.place != BOARD:
            return [full_name(self.place, name)]
        found = [] if name == CLOCK or name in (self.synthesised or ()) else [full_name(BOARD, name)]
        if self.synthesised is not None and name in keys.SYNTHESISED:
            found.append(full_name("bitstream", name))
        return found


def full_name(place: str, name: str) -> str:
    """With its place: board.memory.banks. A board's clock is that of its bitstream."""
    return f"{'bitstream' if (place, name) == (BOARD, CLOCK) else place}.{name}"


@dataclass(frozen=True, kw_only=True)
class HasValues:
    """What has values: board["memory.banks"], of which MissingValue says that nothing says it, and
    board.get("memory.clock"), which may be None."""

    values: Values

    def __getitem__(self, name: str) -> Any:
        value = self.get(name)
        if value is None:
            raise MissingValue(full_name(self.values.place, name))
        return value

    def get(self, name: str) -> Any:
        """A value, or what counts where nothing says it; None without any. Raises UndeclaredInput."""
        values = self.values
        if values.declared is not None and name not in values.declared:
            raise UndeclaredInput(f"the INPUTS of the model have no {full_name(values.place, name)}")
        if values.seen is not None:
            values.seen.update(values.settable(name))
        value = values.known.get(name)
        return USUAL[values.place][name] if value is None else value

    def having(self, changes: Known) -> Self:
        """The same with other values; None takes one away. Raises KeyError for a name that is none."""
        for name in changes.keys() - USUAL[self.values.place].keys():
            raise KeyError(f"{self.values.place}.{name}")
        known = {**self.values.known, **changes}
        said = {name: value for name, value in known.items() if value is not None}
        return self._with("known", said)

    def watched(self, seen: set[str]) -> Self:
        """The same, which notes in `seen` what is looked up."""
        return self._with("seen", seen)

    def only(self, declared: frozenset[str]) -> Self:
        """The same, of which no other values may be looked up than those of these full names."""
        return self._with("declared", _of_place(declared, self.values.place))

    def _with(self, name: str, value: object) -> Self:
        """Another field of the values; models are called so often that `replace` takes too long."""
        values, made = object.__new__(Values), object.__new__(type(self))
        vars(values).update(vars(self.values))
        vars(values)[name] = value
        vars(made).update(vars(self))
        vars(made)["values"] = values
        return made


@cache
def _of_place(full_names: frozenset[str], place: str) -> frozenset[str]:
    """How an object of this place names its values among these."""
    return frozenset(name for name in USUAL[place] if full_name(place, name) in full_names)


@dataclass(frozen=True)
class Times:
    """Measured times of a copy [s] for each size [bytes], ascending."""

    bytes: tuple[float, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class ErrorBars:
    """What 90 % of measured values stay within, as shares of a prediction, by size [bytes], ascending."""

    bytes: tuple[float, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """Time of one message between two hosts' memories, measured for each size.

    `devices` and `nodes` of the run (two ranks in one node share memory; one rank sends to itself). Sizes in
    bytes ascending, seconds of one exchange: each rank sends to both neighbours and receives from both.
    """

    devices: int
    nodes: int
    message_bytes: tuple[float, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class Network(HasValues):
    """How devices of a system exchange over one transport, beside its values (base/keys.py, of networks).

    `kind`: "direct" (circuits: serial channels, Aurora), "packet" (Ethernet with an engine on the board) or
    "host" (PCI Express and MPI, or MPI alone). `curves`: the hosts' MPI where `kind` is "host".
    `topology`: how cables connect the devices (docs/fabric.md), for the emulated fabric; "": nothing says.
    """

    name: str
    kind: str
    curves: tuple[Curve, ...] = ()
    topology: str = ""
    values: Values = field(default=Values("network"), kw_only=True)

    def curve(self, devices: int, nodes: int) -> Curve | None:
        """The curve of the most similar run; None without any.

        One rank sends to itself and one node has memory only: such curves say nothing of others, those of
        several devices nothing of one. Then as many devices a node, as many nodes and devices count, nearest
        first.
        """
        fitting = [one for one in self.curves if (one.devices == 1) == (devices == 1)]
        if not fitting:
            return None
        return min(
            fitting,
            key=lambda one: (
                (one.nodes == 1) != (nodes == 1),
                abs(np.log2(one.devices / one.nodes * nodes / devices)),
                abs(np.log2(one.nodes / nodes)),
                abs(np.log2(one.devices / devices)),
            ),
        )


@dataclass(frozen=True)
class Bitstream(HasValues):
    """A synthesised kernel, or one that a CPU's or GPU's runtime compiles, with what only runs tell of it.

    `parameters`: as in kernel.toml. Its values (base/keys.py, of bitstreams) are of the synthesis (the clock,
    memory.* in place of the board's), fitted to published rows (fitted.*) or to short runs on a machine
    (measured.*). `curves`: measured times by size, of each kind of transfer (host_transfer). `error_bars`: of
    its predictions, by kind of metric (_measured.kind_of). `tools`, `shell`: what made it, for results.
    """

    name: str
    benchmark: str
    board: str
    variant: str
    transport: str
    parameters: Mapping[str, object]
    curves: Mapping[str, Times] = field(default_factory=dict)
    tools: str = ""
    shell: str = ""
    error_bars: Mapping[str, ErrorBars] = field(default_factory=dict)
    values: Values = field(default=Values("bitstream"), kw_only=True)

    @property
    def measured(self) -> dict[str, float]:
        """What short runs on a machine tell of its kernel, by the names of base/measured_keys.py."""
        known = self.values.known.items()
        return {
            name.removeprefix(keys.MEASURED): value for name, value in known if name.startswith(keys.MEASURED)
        }

    def with_measured(self, values: Mapping[str, float]) -> "Bitstream":
        """The same with these."""
        return self.having({f"{keys.MEASURED}{name}": value for name, value in values.items()})


def measured_of(bitstream: Bitstream | None) -> Mapping[str, float]:
    """Parameters of a kernel's model; empty where nothing was measured."""
    return {} if bitstream is None else bitstream.measured
