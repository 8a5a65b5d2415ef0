"""A system of systems/*.toml, ready for the models: what the tests of the models predict with."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark import models, systems
from fabricmark.models._sweep import Described
from fabricmark.systems import System

# One run of each benchmark and transport that the systems describe: its size, and what else it needs.
RUNS = {
    ("stream", "none"): {"size": 2**27},
    ("random_access", "none"): {"log_size": 27, "scope": "global"},
    ("fft", "none"): {"batch": 4096, "data_type": "float"},
    ("gemm", "none"): {"size": 8192},
    ("hpl", "channels"): {"size": 12288},
    ("hpl", "host"): {"size": 12288},
    ("ptrans", "channels"): {"size": 16384},
    ("ptrans", "host"): {"size": 16384},
    ("b_eff", "channels"): {},
    ("b_eff", "host"): {},
}


@dataclass(frozen=True)
class Run:
    """A benchmark over a transport on a loaded system."""

    benchmark: str
    transport: str
    system: System

    @property
    def described(self) -> Described:
        bitstream = self.system.bitstream(self.benchmark, self.transport)
        board = self.system.board_with(bitstream, 1)
        network = self.system.networks.get(self.transport)
        return Described(board, network, bitstream, self.system.devices_per_node)

    @property
    def parameters(self) -> dict:
        known = {} if self.described.bitstream is None else self.described.bitstream.parameters
        fixed = {"variant": "base", "transport": self.transport}
        return {**fixed, **known, **RUNS[self.benchmark, self.transport]}

    def predict(self, devices=1, board=None, network=None, **parameters):
        """All predictions, with other values of board or network where given."""
        by = self.described
        on = replace(by.board, devices=devices, hosts=self.system.nodes(devices)).having(board or {})
        wired = by.network and by.network.having(network or {})
        known = {**self.parameters, **parameters}
        return models.find(self.benchmark).predict(known, on, devices, network=wired, bitstream=by.bitstream)

    def headline(self, *args, **more):
        """The one prediction that stands for the benchmark."""
        name, axes = models.traits(self.benchmark).headline
        found = self.predict(*args, **more)
        return next(one for one in found if (one.name, dict(one.axes)) == (name, dict(axes)))


def run(benchmark: str, transport: str, system: str | Path = "noctua1") -> Run:
    return Run(benchmark, transport, systems.load(system))


def rewrite(file: Path, key: str, text: str, below: str = "") -> None:
    """Gives a key of a system file another value, where `below` stands above it. It has to be there."""
    lines = file.read_text().splitlines()
    start = lines.index(below) + 1 if below else 0
    place = next(at for at in range(start, len(lines)) if re.match(rf"{re.escape(key)} = ", lines[at]))
    lines[place] = f'{key} = {{ value = {text}, source = "a test" }}'
    file.write_text("\n".join(lines) + "\n")
