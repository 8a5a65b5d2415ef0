"""How far the report's predictions of this machine are from what the suite then measures, at its defaults.

First `fabricmark systems new` measures the machine at other sizes, then everything runs with its defaults on
one rank and on two, as `make run` does. What is not predicted counts as wrong by 100 %.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from common import Row, Settings, run_program
from fabricmark import results
from fabricmark.base.terminal import percent
from fabricmark.report import families, run_tables
from fabricmark.systems import device_limits

ONLY_WHEN_NAMED = True  # takes some minutes
BAR_PERCENT = 20.0
REPETITIONS = "10"
COMMAND = [sys.executable, "-c", "from fabricmark.cli import app; app(prog_name='fabricmark')"]


def run_suite(runtime: str, folder: Path) -> list[Path]:
    """Result files of all benchmarks on one and two ranks, after the machine was measured."""
    run_program([*COMMAND, "systems", "new", "bench", "--runtime", runtime])
    for ranks in ([], ["--mpi", "2"] if shutil.which("mpirun") else ["--ranks", "2"]):
        words = ["run", "all", "--runtime", runtime, "--output", str(folder), *ranks]
        run_program([*COMMAND, *words, "--", "--repetitions", REPETITIONS])
    return sorted(folder.glob("*.json"))


def errors(files: list[Path], devices: device_limits.Devices) -> tuple[list[float], list[float]]:
    """(error of each value, of each value that the report's tables show), as shares; prints the latter."""
    everything, shown = [], []
    for file in files:
        result = results.load(file)
        predicted = run_tables.predictions(result, devices.of(result))
        rows = run_tables.rows(result.measurements, predicted)
        of_tables = {id(measurement) for measurement, _ in families.condensed(result.measurements)}
        for row, measurement in zip(rows, result.measurements, strict=True):
            if row.kind != "measured":
                continue
            error = 1.0 if row.error is None else abs(row.error)
            everything.append(error)
            if id(measurement) in of_tables:
                shown.append(error)
                modelled = "not predicted" if row.modelled is None else f"{row.modelled:.4g}"
                what = f"{result.benchmark}, {result.ranks} ranks, {measurement.name} {row.operation}"
                print(f"{what}: {row.best:.4g} {row.unit}, modelled {modelled}, error {percent(error)}")
    return everything, shown


def row(what: str, found: list[float]) -> Row:
    """The median error of a list in per cent."""
    middle = 100 * statistics.median(found)
    ninth = 100 * sorted(found)[int(0.9 * (len(found) - 1))]
    spread = f"90 % of {len(found)} within {ninth:.0f} %"
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
