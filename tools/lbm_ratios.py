"""Writes data/fitted/codec_ratios.csv: how much shorter compression makes streams of cells of a program, by
predictor and pipelines, on the flow of docs/codec.md. Run it again when the codec or the program changes;
it takes minutes:

.venv/bin/python tools/lbm_ratios.py
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy
from fabricmark.base import cells, paths
from fabricmark.explore import stencils

STEPS = 160_000  # so many that the sound of the start has left
COLUMNS, ROWS, CHANNELS = 720, 240, 10
FLOW = "cylinder"
WEIGHTS = [4 / 9, *[1 / 9] * 4, *[1 / 36] * 4]  # of populations at rest, which files are less by
PREDICTORS = ("1d", "2d")
PIPELINES = (1, 2, 4)


def started(*words: object) -> str:
    """What a program prints. Raises CalledProcessError."""
    environment = {**os.environ, "FABRICMARK_KERNELS": str(paths.kernels())}
    command = [str(word) for word in words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def ratios(benchmark: str, folder: Path) -> dict[str, float]:
    """By predictor and lanes, as `1d 2`."""
    shape = ("--columns", COLUMNS, "--rows", ROWS, "--steps", STEPS, "--warmup", 0, "--repetitions", 1)
    started(paths.program(benchmark), "--case", FLOW, *shape, "--fields", folder)
    found = numpy.load(folder / "cells.npy")
    found[:, : len(WEIGHTS)] += numpy.array(WEIGHTS, numpy.float32)
    file = folder / "cells.bin"
    found.astype(numpy.float32).tofile(file)
    bench = paths.program(benchmark).with_name("bench_codec")
    said = json.loads(started(bench, file, CHANNELS, COLUMNS, 1))
    return {name: one["ratio"] for name, one in said.items()}


def main() -> None:
    benchmark = "lbm"
    with tempfile.TemporaryDirectory() as folder:
        found = ratios(benchmark, Path(folder))
    rows = [
        [benchmark, FLOW, predictor, number, f"{found[f'{predictor} {number}']:.4g}", "measured"]
        for predictor in PREDICTORS
        for number in PIPELINES
    ]
    paths.write_atomically(stencils.ratio_file(), cells.as_csv([stencils.RATIO_COLUMNS, *rows]))


if __name__ == "__main__":
    main()
