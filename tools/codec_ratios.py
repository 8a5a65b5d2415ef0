"""Rows of data/fitted/codec_ratios.csv: how much shorter compression makes streams of cells of a program, by
predictor and pipelines. A tool of each program writes its own."""

import os
import subprocess
from collections.abc import Callable

from fabricmark.base import cells, paths
from fabricmark.explore import stencils
from fabricmark.results import published

PREDICTORS = ("1d", "2d")
PIPELINES = (1, 2, 4)


def started(*words: object) -> str:
    """What a program prints. Raises CalledProcessError."""
    environment = {**os.environ, "FABRICMARK_KERNELS": str(paths.kernels())}
    command = [str(word) for word in words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def keep(benchmark: str, flow: str, kind: str, ratio: Callable[[str, int], float]) -> None:
    """Writes the rows of a benchmark in place of those that there are."""
    file = stencils.ratio_file()
    others = [row for _, row in published.rows(file, stencils.RATIO_COLUMNS) if row["benchmark"] != benchmark]
    rows = [[row[name] for name in stencils.RATIO_COLUMNS] for row in others]
    rows += [
        [benchmark, flow, predictor, str(number), f"{ratio(predictor, number):.4g}", kind]
        for predictor in PREDICTORS
        for number in PIPELINES
    ]
    ordered = sorted(rows, key=lambda row: row[0])
    paths.write_atomically(file, cells.as_csv([stencils.RATIO_COLUMNS, *ordered]))
