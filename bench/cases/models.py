"""Models of described systems on grids: evaluations a second; and the whole command from a cold start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np
from common import ROOT, Row, Settings
from fabricmark import systems
from fabricmark.models import _sweep

BAR_PER_SECOND = 1e6
# The whole command from a cold start, and the seconds that it may take.
COMMANDS = (
    (["predict", "hpl", "--system", "cygnus", "--devices", "64"], 2.0),
    (
        ["predict", "hpl", "--system", "noctua1,cygnus,hacc", "--transport", "host", "--devices", "1,4",
         "--sensitivity"],
        3.0,
    ),
    (["predict", "allreduce", "--system", "noctua1", "--transport", "channels,host", "--devices", "8"], 3.0),
)  # fmt: skip
SQUARES = np.arange(1, 33) ** 2
CLOCKS = np.linspace(1e8, 4e8, 32)
SIZES = np.arange(1, 1001) * 64
MANY = {"bitstream.clock": np.linspace(1e8, 4e8, 1000)}
# Benchmark and transport: what the parameters of its bitstream lack, and the axes of about a million points.
GRIDS = {
    ("stream", "none"): ({}, {"size": SIZES * 1000, **MANY}),
    ("random_access", "none"): ({}, {"log_size": np.linspace(20, 30, 1000), **MANY}),
    ("fft", "none"): ({"data_type": "float"}, {"batch": SIZES, **MANY}),
    ("gemm", "none"): ({}, {"size": SIZES, **MANY}),
    ("ptrans", "host"): ({}, {"size": SIZES, "devices": SQUARES, "bitstream.clock": CLOCKS}),
    ("ptrans", "channels"): ({}, {"size": SIZES, "devices": SQUARES, "network.links.clock": CLOCKS}),
    ("hpl", "host"): ({}, {"size": SIZES, "devices": SQUARES, "bitstream.clock": CLOCKS}),
    ("hpl", "channels"): ({}, {"size": SIZES, "devices": SQUARES, "bitstream.clock": CLOCKS}),
    ("b_eff", "host"): (
        {}, {"devices": np.arange(1, 33), "board.host.page_latency": CLOCKS / 1e13,
             "board.host.write_bandwidth": np.linspace(1e9, 1e10, 1000)},
    ),
    ("b_eff", "channels"): (
        {}, {"devices": np.arange(1, 33), "network.latency": np.geomspace(1e-7, 1e-5, 32000)}
    ),
}  # fmt: skip


def evaluations(benchmark: str, transport: str) -> float:
    """Evaluations a second of the benchmark's grid on Noctua 1."""
    more, axes = GRIDS[benchmark, transport]
    system = systems.load("noctua1")
    bitstream = system.bitstream(benchmark, transport)
    network = system.networks.get(transport)
    described = _sweep.Described(system.board_with(bitstream, 1), network, bitstream, system.devices_per_node)
    known = {} if bitstream is None else bitstream.parameters
    parameters = {"variant": "base", "transport": transport, **known, **more}
    start = time.perf_counter()
    found = _sweep.sweep(benchmark, described, parameters, axes)
    return found.size / (time.perf_counter() - start)


def command_seconds(words: list[str]) -> float:
    """Wall clock of the whole command, interpreter and imports included."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "fabricmark", *words], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - start


def compare(settings: Settings) -> list[Row]:
    """A row for each model, in million evaluations a second, and for commands in seconds."""
    rows = []
    for benchmark, transport in GRIDS:
        rates = [evaluations(benchmark, transport) / 1e6 for _ in range(settings.pairs)]
        over = f" over {transport}" if transport != "none" else ""
        what = f"model of {benchmark}{over}, million evaluations per second on a grid"
        rows.append(_row(what, rates, f">= {BAR_PER_SECOND / 1e6:.0f}", lambda x: x * 1e6 >= BAR_PER_SECOND))
    for words, most in COMMANDS:
        times = [command_seconds(words) for _ in range(settings.pairs)]
        what = f"`fabricmark {' '.join(words)}`, seconds"
        rows.append(_row(what, times, f"< {most:.0f}", lambda x, most=most: x < most))
    return rows


def _row(what: str, values: list[float], bar: str, reached) -> Row:
    middle = statistics.median(values)
    spread = f"{min(values):.2f} to {max(values):.2f}, {len(values)} runs"
    return Row(what, middle, spread, bar, reached(middle))
