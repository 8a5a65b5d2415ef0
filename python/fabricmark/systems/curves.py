"""Measured curves: the hosts' MPI (calibration rows of a published file, or the network's own), and transfers
of a bitstream."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from fabricmark.base import transports
from fabricmark.models.machine import Curve, Times
from fabricmark.results import published
from fabricmark.systems import quantity
from fabricmark.systems.sourced_value import RANGES, Fault

DIRECTIONS = 2  # each rank sends to both neighbours
MOST_POINTS = 1000


def of_rows(
    rows: Iterable[published.PublishedValue], system: str, transport: str = transports.CPU
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


def read(raw: dict | list, file: Path, at: tuple) -> tuple[Curve, ...]:
    """The curves of a network file. Raises Fault, FabricmarkError (2) for a broken CSV."""
    if isinstance(raw, dict):
        return _published(raw, file, at)
    return tuple(
        Curve(int(one["devices"]), int(one["nodes"]), *_points(one, "message_bytes", (*at, place)))
        for place, one in enumerate(raw)
    )


def _published(raw: dict, file: Path, at: tuple) -> tuple[Curve, ...]:
    if Path(raw["from"]).name != raw["from"] or not raw["from"].isprintable():
        raise Fault((*at, "from"), "not the name of a file", "name a file of data/published")
    beside = file.parent / raw["from"]
    path = beside if beside.is_file() else published.folder() / raw["from"]
    if not path.is_file():
        raise Fault((*at, "from"), f"there is no {raw['from']}", f"name a file of {published.folder()}")
    found = of_rows(_rows(path, path.stat().st_mtime_ns), raw["system"], raw.get("transport", transports.CPU))
    if not found:
        cause = f"{raw['from']} has no calibration rows of {raw['system']}"
        raise Fault((*at, "system"), cause, "name a system whose hosts were measured")
    return found


def of_bitstream(raw: Mapping, at: tuple) -> dict[str, Times]:
    """Times by size of each kind of transfer of a bitstream. Raises Fault."""
    return {name: Times(*_points(one, "bytes", (*at, name))) for name, one in raw.items()}


def _points(raw: dict, sizes_key: str, at: tuple) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(sizes, times) of a curve. Raises Fault."""
    for key, dimension in ((sizes_key, "bytes"), ("seconds", "seconds")):
        for place, number in enumerate(raw[key]):
            if not 0 < number <= RANGES[dimension][1]:  # the schema takes infinities, too
                raise Fault((*at, key, place), f"{number} is out of range", "write a plain number")
    sizes, seconds = (tuple(float(number) for number in raw[key]) for key in (sizes_key, "seconds"))
    if len(sizes) != len(seconds):
        raise Fault((*at, "seconds"), "not as many times as sizes", "give each size its time")
    if any(b <= a for a, b in pairwise(sizes)):
        raise Fault((*at, sizes_key), "not ascending", "sort sizes and times")
    return sizes, seconds
