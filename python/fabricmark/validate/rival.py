"""The naive rival of the models: the nearest measured row, scaled.

What somebody does who has no model: of all rows of the same benchmark and metric that are not of the same
group (groups.py), the one of the most similar run, times the devices. Rates of messages are taken as they
are at the nearest size; times of a whole matrix grow with its elements on a device.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log2

from fabricmark.models import _published
from fabricmark.results import published
from fabricmark.results.published import PublishedValue
from fabricmark.validate import groups
from fabricmark.validate.metrics import FACTORS
from fabricmark.validate.outcomes import Outcome

# Doublings of size or devices that another board, transport, system, block or scaling is away.
OTHER = {"board": 8.0, "transport": 6.0, "system": 2.0, "block": 1.0}


def distance(row: PublishedValue, other: PublishedValue) -> float:
    """Doublings between two runs of a benchmark."""
    far = sum(by for column, by in OTHER.items() if getattr(row, column) != getattr(other, column))
    return far + abs(log2(row.devices / other.devices)) + abs(log2(size(row) / size(other)))


def size(row: PublishedValue) -> float:
    """Bytes of a message, or elements of the matrix on one device; 1 where a row has neither."""
    if row.message_bytes is not None:
        return float(row.message_bytes)
    if row.matrix_width_printed is None:
        return 1.0
    whole = _published.of(row.benchmark).size(row, {})["size"]
    return whole**2 / row.devices


def prediction(row: PublishedValue, rows: Sequence[PublishedValue]) -> float | None:
    """What the rival says of a row, in its unit; None where no other row is of its metric."""
    own = groups.key_of(row)
    kind = FACTORS[row.unit][0]
    alike = [
        other
        for other in rows
        if other.role == "test"
        and (other.benchmark, other.metric) == (row.benchmark, row.metric)
        and (other.message_bytes is None) == (row.message_bytes is None)
        and FACTORS[other.unit][0] == kind
        and groups.key_of(other) != own
    ]
    if not alike:
        return None
    nearest = min(alike, key=lambda other: distance(row, other))
    value = nearest.value * FACTORS[nearest.unit][1] / FACTORS[row.unit][1]
    if kind == "s":
        return value * size(row) / size(nearest)
    return value * row.devices / nearest.devices


def outcomes(found: Sequence[Outcome]) -> list[Outcome]:
    """What the rival says of the same rows, knowing all others of them and of HPCC FPGA's."""
    rows = [one.row for one in found]
    known = list(dict.fromkeys([*rows, *published.load()]))
    return [
        replace(one, predicted=prediction(one.row, known), reason="no other row is of its metric")
        for one in found
    ]
