"""HPL by dataflow kernels on emulated boards, n = 4096 on 2 x 2: its wall time against the OpenCL design.

Both compute the same on four ranks of one process: single work-item kernels with blocks of 128 in register
blocks of 16. Beside the arithmetic the emulation passes each word over the links, and keeps its time.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from common import OwnRuns, Row, Settings, best, ratio_row, run_result, runtime_variables
from fabricmark.systems import export
from pairs import Contender, interleave, ratio

BAR = 0.5
SIZE = 4096
SHAPE = ["--size", str(SIZE), "--ranks", "4", "--block-size", "128", "--register-block", "16"]
OPTIONS = [*SHAPE, "--repetitions", "3"]


def over_channels() -> float:
    """GFLOP/s by the wall clock: emulated, and good for this comparison only."""
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder) / "noctua1.json"
        system.write_text(export.text("noctua1", "fitted"), encoding="utf-8")
        words = ["--transport", "channels", "--system", str(system), "--replications", "2"]
        result = run_result("fm_hpl", [*OPTIONS, *words])
    return next(m["best"] for m in result["measurements"] if (m["kind"], m["axes"]) == KEY)


KEY = ("emulated", {"operation": "lu"})


def over_the_host(runtime: str) -> float:
    """GFLOP/s of the base kernels."""
    words = ["--variant", "base", "--transport", "host"]
    return best(run_result("fm_hpl", [*OPTIONS, *words], runtime_variables(runtime)), "lu")


def own_runs(_runtime: str) -> OwnRuns:
    """The emulated boards."""
    return {"channels, 4 boards": lambda: {"lu": over_channels()}}


def compare(settings: Settings) -> list[Row]:
    """A row for each runtime of the OpenCL design."""
    boards = Contender("boards", over_channels)
    peers = [Contender(name, lambda name=name: over_the_host(name)) for name in settings.runtimes]
    interleave([boards, *peers], settings.pairs)
    return [
        ratio_row(
            f"HPL n = {SIZE} on 2 x 2, emulated boards over channels / base kernels over the host on "
            f"{peer.name}",
            ratio(boards, peer), BAR, settings.pairs,
        )
        for peer in peers
    ]  # fmt: skip
