"""Systems as data: boards, networks, bitstreams and the systems made of them, from systems/*.toml.

A figure is published (`value` with its `source`), fitted (`fitted` with the reasoning, `inferred`), or both.
The profile "published" takes what a document prints and nothing else; "fitted" takes the fitted figure where
there is one. docs/systems.md describes the files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Network

PROFILES = ("fitted", "published")


@dataclass(frozen=True)
class Figure:
    """One number of a system file. `value` and `fitted` in SI units of `dimension` ("" for a plain number).

    `place`: file and key, for example "boards/520n.toml: memory.bank_bandwidth".
    """

    place: str
    dimension: str
    value: float | None
    fitted: float | None
    source: str
    inferred: str

    def of(self, profile: str) -> float | None:
        """The number that counts in a profile; None where it has none."""
        return self.value if profile == "published" or self.fitted is None else self.fitted


@dataclass(frozen=True)
class System:
    """A machine: nodes with devices, its networks by transport, and its board's bitstreams."""

    name: str
    summary: str
    board: Board
    board_id: str
    devices_per_node: int
    most_devices: int
    networks: Mapping[str, Network]
    bitstreams: tuple[Bitstream, ...]
    figures: tuple[Figure, ...] = ()

    def nodes(self, devices: int) -> int:
        """Nodes that so many devices fill."""
        return -(-devices // self.devices_per_node)

    def bitstream(self, benchmark: str, transport: str = "none", **parameters: object) -> Bitstream | None:
        """The first bitstream of a benchmark for this transport ("none": exchanges nothing) that has these
        parameters; one with transport "none" serves where none of its own is there. None where none fits."""
        for wanted in (transport, "none"):
            for one in self.bitstreams:
                fits = all(one.parameters.get(key) == value for key, value in parameters.items())
                if one.benchmark == benchmark and one.transport == wanted and fits:
                    return one
        return None

    def board_with(self, bitstream: Bitstream | None, devices: int) -> Board:
        """The board with a bitstream's clock, and as many devices and hosts as the run uses."""
        clock = self.board.kernel_hz if bitstream is None else bitstream.kernel_hz
        return replace(self.board, kernel_hz=clock, devices=devices, hosts=self.nodes(devices))
