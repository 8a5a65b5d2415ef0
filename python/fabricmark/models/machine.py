"""What the models know of a system beside one board: how devices exchange, and what was synthesised."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fabricmark.base import keys
from fabricmark.models._values import HasValues, Values

DIRECT = "direct"
PACKET = "packet"
HOST = "host"


@dataclass(frozen=True)
class Times:
    """Measured times of a copy [s] for each size [bytes], ascending."""

    bytes: tuple[float, ...]
    seconds: tuple[float, ...]


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
    (measured.*). `curves`: measured times by size, of each kind of transfer (host_transfer). `tools`,
    `shell`: what made it, for results.
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
