"""Writes data/fitted/codec_ratios.csv: how much shorter compression makes streams of cells of a program, by
predictor and pipelines: of the flow of docs/codec.md, and of an ocean as it goes over the links of a ring of
emulated boards. Run it again when the codec or the programs change; it takes minutes:

.venv/bin/python tools/codec_ratios.py
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy
from fabricmark.base import cells, paths
from fabricmark.explore import stencils
from fabricmark.systems import export

STEPS = 160_000  # so many that the sound of the start has left
COLUMNS, ROWS, CHANNELS = 720, 240, 10
FLOW = "cylinder"
WEIGHTS = [4 / 9, *[1 / 9] * 4, *[1 / 36] * 4]  # of populations at rest, which files are less by
OCEAN, SIDE, RING_STEPS = "ocean", 512, 100
SYSTEM, TRANSPORT = "noctua1", "channels"
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


def ratio_of_ring(benchmark: str, folder: Path, predictor: str, pipelines: int) -> str:
    """Of all bytes that two boards send each other, as the run's note has it."""
    system, result = folder / "system.json", folder / "result.json"
    system.write_text(export.text(SYSTEM, "fitted"))
    words = ("--variant", "dataflow", "--transport", TRANSPORT, "--system", system, "--ranks", 2)
    shape = ("--columns", SIDE, "--rows", SIDE, "--steps", RING_STEPS, "--cascaded", 1)
    build = ("--case", OCEAN, "--pipelines", pipelines, "--compression", predictor)
    once = ("--warmup", 0, "--repetitions", 1, "--json", result)
    started(paths.program(benchmark), *words, *shape, *build, *once)
    notes = " ".join(json.loads(result.read_text())["notes"])
    return re.search(r"emulated: ratio ([0-9.]+)", notes)[1]


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found = ratios("lbm", folder)
        for predictor in PREDICTORS:
            for number in PIPELINES:
                ratio = f"{found[f'{predictor} {number}']:.4g}"
                rows.append(["lbm", FLOW, predictor, number, ratio, "measured"])
        for predictor in PREDICTORS:
            for number in PIPELINES:
                ratio = f"{float(ratio_of_ring('tsunami', folder, predictor, number)):.4g}"
                rows.append(["tsunami", OCEAN, predictor, number, ratio, "emulated"])
    paths.write_atomically(stencils.ratio_file(), cells.as_csv([stencils.RATIO_COLUMNS, *rows]))


if __name__ == "__main__":
    main()
