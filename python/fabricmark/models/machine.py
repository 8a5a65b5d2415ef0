"""What the models know of a system beside one board: how devices exchange, and what was synthesised."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

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
class Network:
    """How devices of a system exchange over one transport; times in seconds, rates in bytes per second.

    `kind`: "direct" (circuits: serial channels, Aurora), "packet" (Ethernet with an engine on the board) or
    "host" (PCI Express and MPI, or MPI alone).
    `links`: serial links of a device that carry data. `width_bytes` a cycle of `clock_hz` each, where a
    kernel writes to it directly; `link_bytes_per_second`: of one link, one direction.
    `latency_seconds`: from one device to the next, `switch_seconds`: more for each switch in between,
    `start_seconds`: to issue one message. `curves`: the hosts' MPI where `kind` is "host"; there also
    `self_bytes_per_second`: of a rank to itself where no curve says [key self_bandwidth], and
    `ordering_bytes_per_second`: at which a host puts the blocks of a matrix in order [ordering_bandwidth].
    `topology`: how cables connect the devices (docs/fabric.md), for the emulated fabric; "": nothing says.
    """

    name: str
    kind: str
    links: int = 1
    link_bytes_per_second: float | None = None
    width_bytes: int | None = None
    clock_hz: float | None = None
    latency_seconds: float = 0.0
    switch_seconds: float = 0.0
    start_seconds: float = 0.0
    curves: tuple[Curve, ...] = ()
    self_bytes_per_second: float | None = None
    ordering_bytes_per_second: float | None = None
    topology: str = ""
    model_parameters: Mapping[str, float] = field(default_factory=dict)

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
class Bitstream:
    """A synthesised kernel, or one that a CPU's or GPU's runtime compiles, with what only runs tell of it.

    `parameters`: as in kernel.toml. `kernel_hz`: None where no clock of its own is known (CPU, GPU).
    `model_parameters`: fitted numbers in SI units by name. Those that the models read:
    hpl: "multiply_efficiency", "panel_efficiency" (rates of the kernels over a register block each cycle);
    fft: "pipeline_efficiency" (rate over eq. 3.1); ptrans: "channel_efficiency" (rate over the channels'),
    "start_seconds" (of all kernels). Fields of a Board stand in for the board's (System.board_with), for
    example "memory_hz" (gemm) and "update_seconds" (random_access). `curves`: measured times by size, of each
    kind of transfer (host_transfer). `tools`, `shell`: what made it, for results.
    """

    name: str
    benchmark: str
    board: str
    variant: str
    transport: str
    parameters: Mapping[str, object]
    kernel_hz: float | None = None
    model_parameters: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, Times] = field(default_factory=dict)
    tools: str = ""
    shell: str = ""
