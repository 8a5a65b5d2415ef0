"""Published runs of HPL (data/published) and their bitstreams, as systems/*.toml describe them."""

from dataclasses import dataclass, replace
from functools import lru_cache

from fabricmark import systems
from fabricmark.models import Board, hpl
from fabricmark.models.machine import Bitstream, Network
from fabricmark.results import published
from fabricmark.results.published import PublishedValue

# Name of a row's bitstream: system, transport and width of its blocks.
NAMES = {
    "520N IEC": ("noctua1", "channels", 512),
    "520N PCIe": ("noctua1", "host", 512),
    "520N PCIe, b = 256": ("noctua1", "host", 256),
    "U280 PCIe": ("hacc", "host", 256),
}
# Torus width, n, TFLOP/s on Cygnus (Table 4.10): the same sources, no run had a part in any fit.
CYGNUS = [(1, 3072, 0.18), (8, 8 * 3072, 8.48), (1, 24576, 0.86), (8, 8 * 24576, 48.78)]


@dataclass(frozen=True)
class Described:
    """What predicts the runs of one bitstream."""

    board: Board
    network: Network
    bitstream: Bitstream

    def changed(self, board=(), network=(), bitstream=()) -> "Described":
        """The same with other values."""
        described = (self.board, self.network, self.bitstream)
        changes = map(dict, (board, network, bitstream))
        return Described(*(one.having(change) for one, change in zip(described, changes, strict=True)))

    def predict(self, size: int, devices: int, nodes: int, **parameters):
        """The prediction of the decomposition."""
        board = replace(self.board, devices=devices, hosts=nodes)
        known = {
            "variant": "base",
            "transport": "host",
            **self.bitstream.parameters,
            "size": size,
            **parameters,
        }
        found = hpl.predict(known, board, devices, network=self.network, bitstream=self.bitstream)
        return next(entry for entry in found if entry.axes == hpl.LU)


@lru_cache
def described(name: str, profile: str = "fitted") -> Described:
    """Board with the bitstream's clock, network and bitstream, with the replications that its runs print."""
    system, transport, block = NAMES[name]
    loaded = systems.load(system, profile)
    bitstream = loaded.bitstream("hpl", transport, block_size=block)
    (printed,) = {row.replications or bitstream.parameters["replications"] for row in runs()[name]}
    bitstream = replace(bitstream, parameters={**bitstream.parameters, "replications": printed})
    return Described(loaded.board_with(bitstream, 1), loaded.networks[transport], bitstream)


def runs() -> dict[str, list[PublishedValue]]:
    """All runs by bitstream."""
    found: dict[str, list[PublishedValue]] = {name: [] for name in NAMES}
    known = {key: name for name, key in NAMES.items()}
    for row in published.load():
        if row.benchmark == "hpl":
            found[known[row.system, row.transport, row.block]].append(row)
    return found


def ratio(row: PublishedValue, by: Described) -> float:
    """Modelled over measured."""
    return by.predict(row.matrix_width, row.devices, row.nodes).value / row.value
