"""Writes the rows of tsunamis in data/fitted/codec_ratios.csv: of an ocean as it goes over the links of a
ring of two emulated boards. Run it again when the codec or the program changes; it takes minutes:

.venv/bin/python tools/tsunami_ratios.py
"""

import json
import tempfile
from pathlib import Path

from codec_ratios import keep, started
from fabricmark.base import paths
from fabricmark.systems import export

BENCHMARK = "tsunami"
OCEAN, SIDE, STEPS = "ocean", 512, 100
METRIC = "compression_ratio"
SYSTEM, TRANSPORT = "noctua1", "channels"


def ratio_of_ring(predictor: str, pipelines: int) -> float:
    """Of all bytes that the boards send each other."""
    with tempfile.TemporaryDirectory() as folder:
        system, result = Path(folder) / "system.json", Path(folder) / "result.json"
        system.write_text(export.text(SYSTEM, "fitted"))
        words = ("--variant", "dataflow", "--transport", TRANSPORT, "--system", system, "--ranks", 2)
        shape = ("--columns", SIDE, "--rows", SIDE, "--steps", STEPS, "--cascaded", 1)
        build = ("--case", OCEAN, "--pipelines", pipelines, "--compression", predictor)
        once = ("--warmup", 0, "--repetitions", 1, "--json", result)
        started(paths.program(BENCHMARK), *words, *shape, *build, *once)
        measured = json.loads(result.read_text())["measurements"]
    return float(next(one["best"] for one in measured if one["name"] == METRIC))


if __name__ == "__main__":
    keep(BENCHMARK, OCEAN, "emulated", ratio_of_ring)
