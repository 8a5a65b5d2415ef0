"""Writes the rows of lattice Boltzmann in data/fitted/codec_ratios.csv: of the flow of docs/codec.md. Run it
again when the codec or the program changes; it takes minutes:

.venv/bin/python tools/lbm_ratios.py
"""

import json
import tempfile
from pathlib import Path

import numpy
from codec_ratios import keep, started
from fabricmark.base import paths

BENCHMARK = "lbm"
STEPS = 160_000  # so many that the sound of the start has left
COLUMNS, ROWS, CHANNELS = 720, 240, 10
FLOW = "cylinder"
WEIGHTS = [4 / 9, *[1 / 9] * 4, *[1 / 36] * 4]  # of populations at rest, which files are less by


def ratios(folder: Path) -> dict[str, float]:
    """By predictor and lanes, as `1d 2`."""
    shape = ("--columns", COLUMNS, "--rows", ROWS, "--steps", STEPS, "--warmup", 0, "--repetitions", 1)
    started(paths.program(BENCHMARK), "--case", FLOW, *shape, "--fields", folder)
    found = numpy.load(folder / "cells.npy")
    found[:, : len(WEIGHTS)] += numpy.array(WEIGHTS, numpy.float32)
    file = folder / "cells.bin"
    found.astype(numpy.float32).tofile(file)
    bench = paths.program(BENCHMARK).with_name("bench_codec")
    said = json.loads(started(bench, file, CHANNELS, COLUMNS, 1))
    return {name: one["ratio"] for name, one in said.items()}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = ratios(Path(folder))
    keep(BENCHMARK, FLOW, "measured", lambda predictor, number: found[f"{predictor} {number}"])


if __name__ == "__main__":
    main()
