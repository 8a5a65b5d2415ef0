"""`fabricmark calibrate`: fm_calibrate measures the limits of a device and its host.

A limit is a maximum: of every further measurement of the same processor, device and driver the larger rates
are kept, since a machine that others share is slower in one minute than in the next.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from fabricmark.base import ended, paths, runtimes
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.measure import asked_for
from fabricmark.measure.launch import Job
from fabricmark.systems import calibration

LONGEST_SECONDS = 300
RECENT = timedelta(minutes=10)
PASSES = 2  # of a first measurement: others follow at other times


def merged(known: Mapping, now: Mapping) -> dict:
    """A calibration with the larger of each rate of two of the same machine; of all else what `now` says.

    `now` may be a part of one.
    """

    def best(old: object, new: object, key: str = "") -> object:
        if isinstance(new, Mapping):
            same = isinstance(old, Mapping)
            return {name: best(old.get(name) if same else None, one, name) for name, one in new.items()}
        if isinstance(new, list):
            found = {_place(one): one for one in old} if isinstance(old, list) else {}
            return [best(found.get(_place(one)), one) for one in new]
        is_rate = key.endswith("_per_second") and isinstance(old, int | float)
        return max(old, new) if is_rate else new

    passes = known.get("passes", 0) + now.get("passes", 0)
    return {**known, **best(known, now), "passes": passes}


def _place(entry: Mapping) -> tuple:
    """What an entry of a list is about: all but its rates."""
    return tuple((key, value) for key, value in entry.items() if not key.endswith("_per_second"))


def is_recent(document: Mapping) -> bool:
    """Whether a calibration was measured, or measured again, a short while ago."""
    return datetime.now(UTC) - datetime.fromisoformat(document["created"]) < RECENT


def measure(
    runtime: str, device: Mapping, passes: int = PASSES, *, afresh: bool = False, parts: Sequence[str] = ()
) -> dict:
    """Run fm_calibrate on one device, keep the best of this and what was known, and cache it.

    `afresh`: forget what was known. `parts`: measure these alone, where the others are known.
    Raises FabricmarkError (3) when the program is not built or fails,
    (2) when the cache cannot be written.
    """
    program = paths.program("calibrate")
    command = [str(program), "--platform", str(device["platform_index"])]
    command += ["--device", str(device["device_index"]), "--passes", str(passes), "--json", "-"]
    for part in parts if calibration.find_here(device) is not None else ():
        command += ["--only", part]
    job = Job("calibrate", runtime, device, 1, None, paths.cache())
    environment = runtimes.environment(runtime, os.environ) | asked_for.variables(job, None)
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace",
            timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FabricmarkError(f"{program}: {error}", "run it by hand", ENVIRONMENT) from error
    try:
        document = json.loads(done.stdout) if done.returncode == 0 else None
    except (ValueError, RecursionError):
        document = None
    if not afresh:
        document = _with_known(document)
    fault = first_fault(calibration.SCHEMA_FILE, document)
    if fault:
        said = ended.words(done.returncode, done.stderr) if done.returncode else f"{fault[0]}: {fault[1]}"
        cause = f"calibration of {device['name']} failed: {program.name} {said}"
        raise FabricmarkError(cause, f"run {program} by hand", ENVIRONMENT)
    paths.write_atomically(calibration.file_for(document), json.dumps(document, indent=2) + "\n")
    return document


def _with_known(measured: object) -> object:
    """What was measured now, merged with what is known of the same machine; nonsense stays as it is."""
    try:
        known = calibration.find(
            measured["host"]["cpu"], measured["device"]["name"], measured["device"]["driver"]
        )
        return measured if known is None else merged(known, measured)
    except (TypeError, KeyError, AttributeError, ValueError):
        return measured


def ensure(runtime: str, device: Mapping, *, again: bool = False) -> tuple[dict, bool]:
    """(calibration, whether it was measured now). Raises what `measure` raises."""
    known = None if again else calibration.find_here(device)
    return (known, False) if known is not None else (measure(runtime, device, afresh=again), True)
