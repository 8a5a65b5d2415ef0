"""Limits of a device and its host, measured by fm_calibrate and kept in the cache.

A limit is a maximum: of every further measurement of the same processor, device and driver the larger rates
are kept, since a machine that others share is slower in one minute than in the next.
"""

import contextlib
import hashlib
import json
import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fabricmark import paths, results, runtimes
from fabricmark.errors import ENVIRONMENT, FabricmarkError
from fabricmark.models import Board
from fabricmark.models._limits import Limits
from fabricmark.schemas import first_fault

SCHEMA = "fabricmark-calibration/3"
SCHEMA_FILE = "calibration-3"
LONGEST_SECONDS = 300
RECENT = timedelta(minutes=10)
PASSES = 2  # of a first measurement: others follow at other times
REMEDY = "run `fabricmark calibrate --again`"


def folder() -> Path:
    return paths.cache() / "calibration"


def file_for(document: Mapping) -> Path:
    """Place in the cache, keyed by the host's processor, the device and its driver."""
    device = document["device"]
    key = json.dumps([document["host"]["cpu"], device["name"], device["driver"]])
    return folder() / f"{hashlib.sha256(key.encode('utf-8', 'backslashreplace')).hexdigest()[:24]}.json"


def load(path: Path) -> dict:
    """Read and check one calibration. Raises FabricmarkError (2) naming file, cause and remedy."""
    document = results.read_json(path, REMEDY)
    results.check_version(path, document, SCHEMA)
    fault = first_fault(SCHEMA_FILE, document)
    if fault:
        raise FabricmarkError(f"{path}: {fault[0]}: {fault[1]}", REMEDY)
    return document


def find(cpu: str, device_name: str, driver: str) -> dict | None:
    """The cached calibration, or None; a damaged one counts as absent and will be measured again."""
    path = file_for({"host": {"cpu": cpu}, "device": {"name": device_name, "driver": driver}})
    try:
        return load(path) if path.is_file() else None
    except FabricmarkError:
        return None


def find_digest(digest: str) -> dict | None:
    """The cached calibration whose key begins like this, as that of a measured board; else None."""
    for path in sorted(folder().glob(f"{digest}*.json")):
        with contextlib.suppress(FabricmarkError):
            return load(path)
    return None


def processor() -> str:
    """Model of this host's processor as Linux names it; empty where it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else ""


def find_here(device: Mapping) -> dict | None:
    """The cached calibration of a device of this host, or of a host with the same processor."""
    for path in sorted(folder().glob("*.json")):
        try:
            document = load(path)
        except FabricmarkError:
            continue
        same = (document["device"]["name"], document["device"]["driver"]) == (
            device["name"],
            device["driver"],
        )
        host = document["host"]
        if same and (host["cpu"] == processor() or host["name"] == socket.gethostname()):
            return document
    return None


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
    runtime: str, device: Mapping, passes: int = PASSES, afresh: bool = False, parts: Sequence[str] = ()
) -> dict:
    """Run fm_calibrate on one device, keep the best of this and what was known, and cache it.

    `afresh`: forget what was known. `parts`: measure these alone, where the others are known.
    Raises FabricmarkError (3) when the program is not built or fails,
    (2) when the cache cannot be written.
    """
    program = paths.program("calibrate")
    command = [str(program), "--platform", str(device["platform_index"])]
    command += ["--device", str(device["device_index"]), "--passes", str(passes), "--json", "-"]
    for part in parts if find_here(device) is not None else ():
        command += ["--only", part]
    environment = runtimes.environment(runtime, os.environ)
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
    fault = first_fault(SCHEMA_FILE, document)
    if fault:
        said = (done.stderr.strip().splitlines() or [f"{fault[0]}: {fault[1]}"])[-1]
        cause = f"calibration of {device['name']} failed (exit code {done.returncode}): {said}"
        raise FabricmarkError(cause, f"run {program} by hand", ENVIRONMENT)
    paths.write_atomically(file_for(document), json.dumps(document, indent=2) + "\n")
    return document


def _with_known(measured: object) -> object:
    """What was measured now, merged with what is known of the same machine; nonsense stays as it is."""
    try:
        known = find(measured["host"]["cpu"], measured["device"]["name"], measured["device"]["driver"])
        return measured if known is None else merged(known, measured)
    except (TypeError, KeyError, AttributeError, ValueError):
        return measured


def ensure(runtime: str, device: Mapping, again: bool = False) -> tuple[dict, bool]:
    """(calibration, whether it was measured now). Raises what `measure` raises."""
    known = None if again else find_here(device)
    return (known, False) if known is not None else (measure(runtime, device, afresh=again), True)


def board(document: Mapping) -> Board:
    """What a model needs, from a calibration: a CPU or GPU counts as one bank, its whole memory."""
    is_cpu = document["device"]["class"] == "cpu"
    copies = {entry["threads"]: entry["bytes_per_second"] for entry in document["host_copy"]}
    whole = max(copies.values()) if is_cpu else document["device_copy_bytes_per_second"]
    fewest = min(copies)
    return Board(
        name=document["device"]["name"],
        device_class=document["device"]["class"],
        banks=1,
        bank_bytes_per_second=whole,
        launch_seconds=document["launch_seconds"],
        core_bytes_per_second=copies[fewest] / fewest if is_cpu else None,
        host_to_device_bytes_per_second=document["write_bytes_per_second"],
        device_to_host_bytes_per_second=document["read_bytes_per_second"],
        host_bytes_per_second=max(copies.values()),
        cores=max(copies) if is_cpu else None,
        flops_per_second={entry["data_type"]: entry["flops_per_second"] for entry in document["peak"]},
        updates_per_second=tuple(
            sorted(
                (float(entry["table_bytes"]), entry["updates_per_second"])
                for entry in document["random_updates"]
            )
        ),
        limits=limits(document),
    )


def limits(document: Mapping) -> Limits:
    """The limits of a calibration. A CPU's memory is its host's: the faster of both measurements counts."""
    is_cpu = document["device"]["class"] == "cpu"
    host = _by_mix(document["host_memory"])
    own = document["device_memory"] + (document["host_memory"] if is_cpu else [])
    peaks = document["peak"] + (document["host_arithmetic"] if is_cpu else [])
    flops: dict[str, float] = {}
    for entry in peaks:
        kind = entry["data_type"]
        flops[kind] = max(flops.get(kind, 0.0), entry["flops_per_second"])
    updates = [
        (float(entry["table_bytes"]), entry["updates_per_second"]) for entry in document["random_updates"]
    ]
    ways = ("to_device", "from_device")
    staged = (document["write_bytes_per_second"], document["read_bytes_per_second"])
    links = [
        max(document["link"][f"{way}_bytes_per_second"], rate) for way, rate in zip(ways, staged, strict=True)
    ]
    return Limits(
        _by_mix(own), host, *links, flops, tuple(sorted(updates)), document["passes"], document["created"]
    )


def _by_mix(entries: Sequence[Mapping]) -> dict[str, tuple[tuple[float, float], ...]]:
    """(working set, best rate) of each mix, ascending."""
    best: dict[str, dict[float, float]] = {}
    for entry in entries:
        points = best.setdefault(entry["mix"], {})
        size = float(entry["bytes"])
        points[size] = max(points.get(size, 0.0), entry["bytes_per_second"])
    return {mix: tuple(sorted(points.items())) for mix, points in best.items()}
