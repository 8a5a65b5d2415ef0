"""A system: its board, how many devices it has, its networks by transport, and its bitstreams."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fabricmark.base import keys, transports
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Network
from fabricmark.systems.sourced_value import SourcedValue


@dataclass(frozen=True)
class System:
    """A machine: nodes with devices, its networks by transport, and its board's bitstreams.

    `boards`: ids of all its kinds of devices, of which `board_id` is the one that this is about.
    `network_ids`: by transport. `parts`: the values of the devices (""), of each network and each bitstream
    (FILE/NAME, in the order of `bitstreams`) by id; of several values of one key the first counts.
    """

    name: str
    summary: str
    board: Board
    board_id: str
    devices_per_node: int
    most_devices: int
    networks: Mapping[str, Network]
    bitstreams: tuple[Bitstream, ...]
    parts: Mapping[str, tuple[SourcedValue, ...]] = field(default_factory=dict)
    boards: tuple[str, ...] = ()
    network_ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def sourced(self) -> tuple[SourcedValue, ...]:
        """All values of all parts."""
        return tuple(one for values in self.parts.values() for one in values)

    def nodes(self, devices: int) -> int:
        """Nodes that so many devices fill."""
        return -(-devices // self.devices_per_node)

    def bitstream(
        self, benchmark: str, transport: str = transports.NONE, **parameters: object
    ) -> Bitstream | None:
        """The first bitstream of a benchmark for this transport ("none": exchanges nothing) that has these
        parameters; one with transport "none" serves where none of its own is there. None where none fits."""
        for wanted in (transport, transports.NONE):
            for one in self.bitstreams:
                fits = all(one.parameters.get(key) == value for key, value in parameters.items())
                if one.benchmark == benchmark and one.transport == wanted and fits:
                    return one
        return None

    def board_with(self, bitstream: Bitstream | None, devices: int) -> Board:
        """The board with a bitstream's clock and what else of the memory depends on it, and as many devices
        and hosts as the run uses."""
        board = replace(self.board, devices=devices, hosts=self.nodes(devices))
        if bitstream is None:
            return board
        said = bitstream.values.known
        own = {name: said[name] for name in keys.SYNTHESISED if name in said}
        values = replace(board.values, synthesised=frozenset(own))
        return replace(board, values=values).having({"clock": None, **own})
