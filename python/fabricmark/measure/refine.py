"""Limits measured again where a run was faster: they are measurements, too, of a machine that others slow.

Nothing of the run goes into a limit; what is measured is the memory, link or arithmetic by itself, in the
same minute as the run.
"""

import sys
from pathlib import Path

from fabricmark import results
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.measure import calibrate
from fabricmark.measure.launch import Job
from fabricmark.report import run_tables
from fabricmark.report.run_tables import Row
from fabricmark.systems import device_limits

MOST_TRIES = 2  # for one run
NOISE = 0.03  # by which a run may be faster than the limits without their being measured again
MUCH = 0.05  # by which it must be faster for a second try
# What limits metrics with this unit, as fm_calibrate names it; a CPU's transfers are copies in its memory.
PARTS = {"GFLOP/s": ("arithmetic", "memory"), "GUOP/s": ("updates",), "GB/s": ("memory", "transfers")}


def above(path: Path, by: float = NOISE) -> list[Row]:
    """The metrics of a result above their limits by such a share; none of a file that cannot be read."""
    try:
        result = results.load(path)
    except FabricmarkError:
        return []
    if result.verdict() != "valid":
        return []
    rows = run_tables.rows(
        result.measurements, run_tables.predictions(result, device_limits.of_result(result))
    )
    return [row for row in rows if row.efficiency is not None and row.efficiency > 1 + by]


def after(job: Job, path: Path) -> int:
    """Measure the limits of a run's device again, until the run is within them; returns how often.

    A run does not fail because that failed.
    """
    for tried in range(MOST_TRIES):
        rows = above(path, MUCH if tried else NOISE) if job.device is not None else []
        if not rows:
            return tried
        count = "1 metric" if len(rows) == 1 else f"{len(rows)} metrics"
        what = f"{count} of {job.benchmark} above the limits"
        print(printable(f"{what}: measuring these again"), file=sys.stderr)
        parts = sorted({part for row in rows for part in PARTS.get(row.unit, ())})
        try:
            calibrate.measure(job.runtime, job.device, passes=1, parts=parts)
        except FabricmarkError as error:
            print(f"fabricmark: warning: {error}", file=sys.stderr)
            return tried
    return MOST_TRIES
