"""Limits of a device and its host, as fm_calibrate measured them: kept in the cache, and what models need."""

import contextlib
import hashlib
import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fabricmark import results
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import check
from fabricmark.models import Board
from fabricmark.models._limits import Limits

SCHEMA = "fabricmark-calibration/3"
SCHEMA_FILE = "calibration-3"
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
    check(SCHEMA_FILE, document, path, REMEDY)
    return document


def find(cpu: str, device_name: str, driver: str) -> dict | None:
    """The cached calibration, or None; a damaged one counts as absent and will be measured again."""
    path = file_for({"host": {"cpu": cpu}, "device": {"name": device_name, "driver": driver}})
    return next(_cached(path.name), None)


def find_digest(digest: str) -> dict | None:
    """The cached calibration whose key begins like this, as that of a measured board; else None."""
    return next(_cached(f"{digest}*.json"), None)


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
    for document in _cached("*.json"):
        same = all(document["device"][key] == device[key] for key in ("name", "driver"))
        host = document["host"]
        if same and (host["cpu"] == processor() or host["name"] == socket.gethostname()):
            return document
    return None


def _cached(names: str) -> Iterator[dict]:
    """The calibrations in files of such names, in their order; damaged ones count as absent."""
    for path in sorted(folder().glob(names)):
        with contextlib.suppress(FabricmarkError):
            yield load(path)


def board(document: Mapping) -> Board:
    """What a model needs, from a calibration: a CPU or GPU counts as one bank, its whole memory."""
    is_cpu = document["device"]["class"] == "cpu"
    copies = {entry["threads"]: entry["bytes_per_second"] for entry in document["host_copy"]}
    whole = max(copies.values()) if is_cpu else document["device_copy_bytes_per_second"]
    fewest = min(copies)
    within = document.get("device_copy", {})  # absent in older ones
    made = Board(
        name=document["device"]["name"],
        device_class=document["device"]["class"],
        updates_per_second=_updates(document),
        limits=limits(document),
    )
    return made.having(
        {
            "memory.banks": 1,
            "memory.bank_bandwidth": whole,
            "memory.copy_latency": within.get("seconds"),
            "memory.copy_bandwidth": within.get("bytes_per_second"),
            "host.launch_latency": document["launch_seconds"],
            "host.invocation_latency": document["launch_seconds"],
            "host.write_bandwidth": document["write_bytes_per_second"],
            "host.read_bandwidth": document["read_bytes_per_second"],
            "host.copy_bandwidth": max(copies.values()),
            "processor.cores": max(copies) if is_cpu else None,
            "processor.core_bandwidth": copies[fewest] / fewest if is_cpu else None,
            **{f"arithmetic.{entry['data_type']}": entry["flops_per_second"] for entry in document["peak"]},
        }
    )


def _updates(document: Mapping) -> tuple[tuple[float, float], ...]:
    """(table [bytes], random updates a second), ascending."""
    every = document["random_updates"]
    return tuple(sorted((float(one["table_bytes"]), one["updates_per_second"]) for one in every))


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
    ways = ("to_device", "from_device")
    staged = (document["write_bytes_per_second"], document["read_bytes_per_second"])
    links = [
        max(document["link"][f"{way}_bytes_per_second"], rate) for way, rate in zip(ways, staged, strict=True)
    ]
    return Limits(
        _by_mix(own),
        host,
        links[0],
        links[1],
        flops,
        _updates(document),
        document["passes"],
        document["created"],
    )


def _by_mix(entries: Sequence[Mapping]) -> dict[str, tuple[tuple[float, float], ...]]:
    """(working set, best rate) of each mix, ascending."""
    best: dict[str, dict[float, float]] = {}
    for entry in entries:
        points = best.setdefault(entry["mix"], {})
        size = float(entry["bytes"])
        points[size] = max(points.get(size, 0.0), entry["bytes_per_second"])
    return {mix: tuple(sorted(points.items())) for mix, points in best.items()}
