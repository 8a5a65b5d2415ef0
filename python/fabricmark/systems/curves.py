"""Measured curves: the hosts' MPI (calibration rows of a published file, or the network's own), and transfers
of a bitstream."""

import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from fabricmark.models.machine import Curve, Times
from fabricmark.results import published
from fabricmark.systems import quantity
from fabricmark.systems.sourced_value import RANGES, Fault

KEYS = ("from", "system", "transport", "source")
OWN_KEYS = ("devices", "nodes", "message_bytes", "seconds", "source")
OF_TRANSFER = "{ bytes = [4096, 8192], seconds = [1e-5, 2e-5] }"
DIRECTIONS = 2  # each rank sends to both neighbours
MOST_POINTS = 1000


def of_rows(
    rows: Iterable[published.PublishedValue], system: str, transport: str = "cpu"
) -> tuple[Curve, ...]:
    """The hosts' curves of a system among published rows: those with the role calibration.

    A row's bandwidth is the sum over all devices in both directions, so that an exchange of one size takes
    2 x devices x size / bandwidth.
    """
    runs: dict[tuple, list[tuple[float, float]]] = {}
    for row in rows:
        if (row.role, row.system, row.transport, row.metric) == (
            "calibration",
            system,
            transport,
            "bandwidth",
        ):
            rate = row.value * quantity.UNITS["bytes_per_second"][row.unit]
            seconds = DIRECTIONS * row.devices * row.message_bytes / rate
            key = (row.devices, row.nodes, row.source)
            runs.setdefault(key, []).append((float(row.message_bytes), seconds))
    return tuple(
        Curve(devices, nodes, *zip(*sorted(points), strict=True))
        for (devices, nodes, _), points in sorted(runs.items())
    )


@lru_cache(maxsize=8)
def _rows(path: Path, changed: int) -> tuple[published.PublishedValue, ...]:
    return tuple(row for row in published.load(path) if row.role == "calibration")


def read(raw: object, file: Path, at: tuple) -> tuple[Curve, ...]:
    """The curves of a network file. Raises Fault, FabricmarkError (2) for a broken CSV."""
    if isinstance(raw, dict):
        return _published(raw, file, at)
    if not isinstance(raw, list) or not raw:
        remedy = 'write curves = { from = "FILE.csv", system = "NAME", source = "..." } or [[curves]]'
        raise Fault(at, "no curves", remedy)
    return tuple(_own(one, (*at, place)) for place, one in enumerate(raw))


def _published(raw: dict, file: Path, at: tuple) -> tuple[Curve, ...]:
    for key in raw:
        if key not in KEYS:
            raise Fault((*at, key), f"unknown key {key}", f"use {', '.join(KEYS)}")
    for key in KEYS:
        if key != "transport" and not (isinstance(raw.get(key), str) and raw[key].strip()):
            raise Fault((*at, key), "no text", "write it in quotes")
    if Path(raw["from"]).name != raw["from"] or not raw["from"].isprintable():
        raise Fault((*at, "from"), "not the name of a file", "name a file of data/published")
    beside = file.parent / raw["from"]
    path = beside if beside.is_file() else published.folder() / raw["from"]
    if not path.is_file():
        raise Fault((*at, "from"), f"there is no {raw['from']}", f"name a file of {published.folder()}")
    found = of_rows(_rows(path, path.stat().st_mtime_ns), raw["system"], raw.get("transport", "cpu"))
    if not found:
        cause = f"{raw['from']} has no calibration rows of {raw['system']}"
        raise Fault((*at, "system"), cause, "name a system whose hosts were measured")
    return found


def _own(raw: object, at: tuple) -> Curve:
    if not isinstance(raw, dict):
        raise Fault(at, "no table", f"write {', '.join(OWN_KEYS)}")
    for key in raw:
        if key not in OWN_KEYS:
            raise Fault((*at, key), f"unknown key {key}", f"use {', '.join(OWN_KEYS)}")
    if not (isinstance(raw.get("source"), str) and raw["source"].strip()):
        raise Fault(at, "no source", 'add source = "document, table or section"')
    for key in ("devices", "nodes"):
        if type(raw.get(key)) is not int or not 0 < raw[key] < 2**31:
            raise Fault((*at, key), "no count", "write a whole number from 1 on")
    return Curve(raw["devices"], raw["nodes"], *_points(raw, "message_bytes", at))


def of_bitstream(raw: object, at: tuple) -> dict[str, Times]:
    """Times by size of each kind of transfer of a bitstream. Raises Fault."""
    if not isinstance(raw, dict):
        raise Fault(at, "no table", f"write NAME = {OF_TRANSFER}")
    found = {}
    for name, one in raw.items():
        if not isinstance(one, dict) or set(one) != {"bytes", "seconds"}:
            raise Fault((*at, name), "not bytes and seconds", f"write {OF_TRANSFER}")
        found[name] = Times(*_points(one, "bytes", (*at, name)))
    return found


def _points(raw: dict, sizes_key: str, at: tuple) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(sizes, times) of a curve. Raises Fault."""
    sizes, seconds = (_numbers(raw.get(key), (*at, key)) for key in (sizes_key, "seconds"))
    if len(sizes) != len(seconds):
        raise Fault((*at, "seconds"), "not as many times as sizes", "give each size its time")
    if any(b <= a for a, b in pairwise(sizes)):
        raise Fault((*at, sizes_key), "not ascending", "sort sizes and times")
    return sizes, seconds


def _numbers(raw: object, at: tuple) -> tuple[float, ...]:
    """Plain numbers, whose unit the key names."""
    if not isinstance(raw, list) or not 0 < len(raw) <= MOST_POINTS:
        raise Fault(at, "no list of numbers", "write [1, 2, 4], in the unit that the key names")
    most = RANGES["seconds" if at[-1] == "seconds" else "bytes"][1]
    for place, number in enumerate(raw):
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or not math.isfinite(number) or not 0 < number <= most:
            raise Fault((*at, place), f"{number!r} is no positive number", "write a plain number")
    return tuple(float(number) for number in raw)
