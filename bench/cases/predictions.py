"""How far the report's predictions of this machine are from what the suite then measures, at its defaults.

First `fabricmark systems new` measures the machine at other sizes, then everything runs with its defaults on
one rank and on two, as `make run` does. What is not predicted counts as wrong by 100 %.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from common import Row, Settings, run_program
from fabricmark import results
from fabricmark.base.terminal import percent
from fabricmark.report import families, model_errors, run_tables
from fabricmark.report.model_errors import Compared
from fabricmark.systems import device_limits

ONLY_WHEN_NAMED = True  # takes some minutes
BAR_PERCENT = 20.0
NOT_PREDICTED = 1.0
REPETITIONS = "10"
COMMAND = [sys.executable, "-c", "from fabricmark.cli import app; app(prog_name='fabricmark')"]


def run_suite(runtime: str, folder: Path) -> list[Path]:
    """Result files of all benchmarks on one and two ranks, after the machine was measured."""
    run_program([*COMMAND, "systems", "new", "bench", "--runtime", runtime])
    for ranks in ([], ["--mpi", "2"] if shutil.which("mpirun") else ["--ranks", "2"]):
        words = ["run", "all", "--runtime", runtime, "--output", str(folder), *ranks]
        run_program([*COMMAND, *words, "--", "--repetitions", REPETITIONS])
    return sorted(folder.glob("*.json"))


def errors(files: list[Path], devices: device_limits.Devices) -> tuple[list[Compared], list[Compared]]:
    """(all values, those that the report's tables show) beside their models; prints the latter."""
    everything: list[Compared] = []
    shown: list[Compared] = []
    for file in files:
        result = results.load(file)
        predicted = run_tables.predictions(result, devices.of(result))
        rows = run_tables.rows(result.measurements, predicted)
        beside = list(zip(result.measurements, rows, strict=True))
        of_tables = {id(measurement) for measurement, _ in families.condensed(result.measurements)}
        everything += model_errors.compared(result, beside)
        in_tables = [(one, row) for one, row in beside if id(one) in of_tables]
        shown += model_errors.compared(result, in_tables)
        for measurement, row in in_tables:
            if row.kind == "measured":
                modelled = "not predicted" if row.modelled is None else f"{row.modelled:.4g}"
                what = f"{result.benchmark}, {result.ranks} ranks, {measurement.name} {row.operation}"
                error = percent(row.error, signed=True)
                print(f"{what}: {row.best:.4g} {row.unit}, modelled {modelled}, error {error}")
    return everything, shown


def row(what: str, found: list[Compared]) -> Row:
    """The median error of a list in per cent."""
    of_all = [replace(one, error=NOT_PREDICTED if one.error is None else one.error) for one in found]
    known = model_errors.errors(of_all)
    middle = 100 * known.median
    spread = f"{model_errors.MOST} % of {len(found)} within {100 * known.most:.0f} %"
    return Row(f"median error of {what}, %", middle, spread, f"<= {BAR_PERCENT:.0f}", middle <= BAR_PERCENT)


def compare(settings: Settings) -> list[Row]:
    """Two rows for each runtime: all values of the result files, and those of the report's tables."""
    rows = []
    for runtime in settings.runtimes:
        with tempfile.TemporaryDirectory() as place, patch.dict(os.environ):
            os.environ["FABRICMARK_SYSTEMS"] = str(Path(place) / "systems")
            files = run_suite(runtime, Path(place) / "results")
            everything, shown = errors(files, device_limits.Devices())
        rows.append(row(f"all results on {runtime}", everything))
        rows.append(row(f"the report's tables on {runtime}", shown))
    return rows
