"""Limits measured again where a run was faster: they are measurements, too, of a machine that others slow.

Nothing of the run goes into a limit; what is measured is the memory, link or arithmetic by itself, in the
same minute as the run.
"""

import sys
from pathlib import Path

from fabricmark import calibration, known, report, results
from fabricmark.errors import FabricmarkError, printable
from fabricmark.launch import Job

MOST_TRIES = 2  # for one run


def above(path: Path) -> int:
    """How many metrics of a result are better than their limits; 0 where the file cannot be read."""
    try:
        result = results.load(path)
    except FabricmarkError:
        return 0
    if result.verdict() != "valid":
        return 0
    rows = report.rows(result.measurements, report.predictions(result, known.of_result(result)))
    return sum(row.efficiency is not None and row.efficiency > 1 for row in rows)


def after(job: Job, path: Path) -> int:
    """Measure the limits of a run's device again, until the run is within them; returns how often.

    A run does not fail because that failed.
    """
    for tried in range(MOST_TRIES):
        count = above(path) if job.device is not None else 0
        if not count:
            return tried
        what = f"{count} metrics of {job.benchmark} above their limits"
        print(printable(f"{what}: measuring the limits again"), file=sys.stderr)
        try:
            calibration.measure(job.runtime, job.device, passes=1)
        except FabricmarkError as error:
            print(f"fabricmark: warning: {error}", file=sys.stderr)
            return tried
    return MOST_TRIES
