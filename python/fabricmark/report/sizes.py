"""Tables of sizes: a line for each number of bytes, as the programs of OSU and nccl-tests print them.

A program measures a time or a bandwidth; the other one follows from it and the bytes. `limit` is that of the
metric that was measured. Values are the best of the repetitions, as everywhere in a report.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fabricmark.base import units
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import NOTHING, Cell, Column, number, percent
from fabricmark.report import families
from fabricmark.results import Measurement, Result

AXES = ("message_bytes", "bytes")  # the first that a metric has
MOST_LINES = 120  # on a terminal; `--csv` has all
TIME, RATE = "latency", "bandwidth"
TIME_UNIT, RATE_UNIT, RATE_SCALE = "us", "GB/s", 1e9
WRONG, NOT_CHECKED, SOMEWHERE = "#wrong", "N/A", "?"  # as nccl-tests has them
MEANINGS = {
    WRONG: f"{WRONG}: values that are not what they have to be; {NOT_CHECKED}: not checked; {SOMEWHERE}: the "
    "failed check below says where.",
    f"time [{TIME_UNIT}]": "time, bandwidth: the best; of a program that measures one of them the other is "
    "bytes / that.",
}


@dataclass
class Line:
    """One size. `places`: the other axes; `metrics`: by name and unit, each with its limit in that unit."""

    places: Mapping[str, object]
    size: int
    kind: str
    metrics: dict[tuple[str, str], tuple[Measurement, float | None]] = field(default_factory=dict)

    def best(self, name: str, unit: str) -> float | None:
        """Of the repetitions; None where this was not measured."""
        found = self.metrics.get((name, unit))
        return None if found is None else found[0].best

    @property
    def rate(self) -> float | None:
        """GB/s, as measured or by the time."""
        measured = self.best(RATE, RATE_UNIT)
        time = self.best(TIME, TIME_UNIT)
        if measured is not None or not time:
            return measured
        return self.size / time * units.TIMES[TIME_UNIT] / RATE_SCALE

    @property
    def time(self) -> float | None:
        """us, as measured or by the bandwidth."""
        measured = self.best(TIME, TIME_UNIT)
        rate = self.best(RATE, RATE_UNIT)
        if measured is not None or not rate:
            return measured
        return self.size / (rate * RATE_SCALE) * units.TIMES[TIME_UNIT]

    @property
    def limit(self) -> tuple[float | None, float | None]:
        """(limit, share of it) of the bandwidth; of the time where none is known for that."""
        for name, unit in ((RATE, RATE_UNIT), (TIME, TIME_UNIT)):
            measurement, limit = self.metrics.get((name, unit), (None, None))
            if measurement is not None and limit and measurement.best > 0:
                ratio = measurement.best / limit
                return limit, ratio if measurement.better == "higher" else 1 / ratio
        return None, None


def lines(found: Iterable[tuple[Measurement, float | None]]) -> list[Line]:
    """Of metrics and their limits: one line for each size and place of those that have sizes; empty where
    there are few sizes."""
    kept: dict[tuple, Line] = {}
    for measurement, limit in found:
        axis = next((axis for axis in AXES if families.is_number(measurement.axes.get(axis))), None)
        if axis is None:
            continue
        places = {name: value for name, value in measurement.axes.items() if name != axis}
        size = int(str(measurement.axes[axis]))
        key = (measurement.kind, tuple(places.items()), size)
        line = kept.setdefault(key, Line(places, size, measurement.kind))
        line.metrics[measurement.name, measurement.unit] = (measurement, limit)
    of_names = grouped((tuple(one.places), one) for one in kept.values())
    return [
        one
        for several in of_names.values()
        if len({one.size for one in several}) >= families.FEWEST_VALUES
        for one in _in_order(several)
    ]


def _in_order(several: Sequence[Line]) -> list[Line]:
    """By size; where a size has several lines, those of a place together."""
    if len({(one.kind, one.size) for one in several}) == len(several):
        return sorted(several, key=lambda one: (one.kind, one.size))
    by_place = grouped(((one.kind, *one.places.values()), one) for one in several)
    return [one for together in by_place.values() for one in sorted(together, key=lambda one: one.size)]


def wrong(result: Result) -> str:
    """What `#wrong` says of each line of a run, whose checks are of all its sizes."""
    statuses = {check["status"] for check in result.document["verdicts"]}
    if "failed" in statuses:
        return SOMEWHERE
    return "0" if "passed" in statuses else NOT_CHECKED


def table(result: Result, several: Sequence[Line]) -> tuple[list[Column], list[list[Cell]]]:
    """(columns, cells) of lines that have the same axes."""
    known = dict.fromkeys(key for one in several for key in one.metrics)
    others = [key for key in known if key not in ((TIME, TIME_UNIT), (RATE, RATE_UNIT))]
    limits = {name for one in several for (name, _), (_, limit) in one.metrics.items() if limit}
    of_rate = RATE in limits or TIME not in limits
    columns = [
        *(Column(families.words(name), key=True, once=True) for name in several[0].places),
        Column("bytes", right=True, key=True),
        Column(f"time [{TIME_UNIT}]", right=True),
        Column(f"{RATE} [{RATE_UNIT}]", right=True),
        *(Column(f"{families.words(name)} [{unit}]", right=True) for name, unit in others),
        Column(f"limit [{RATE_UNIT if of_rate else TIME_UNIT}]", right=True),
        Column("efficiency", right=True),
        Column(WRONG, right=True),
        Column("kind", once=True),
    ]
    cells: list[list[Cell]] = []
    for one in several:
        limit, share = one.limit
        values = [number(one.time), number(one.rate), *(number(one.best(*key)) for key in others)]
        named = [families.cell_text(name, value) for name, value in one.places.items()]
        last = [number(limit), percent(share), wrong(result), one.kind]
        cells.append([*named, str(one.size), *values, *last])
    return columns, cells


def tables(
    result: Result, found: Iterable[tuple[Measurement, float | None]]
) -> list[tuple[list[Column], list[list[Cell]]]]:
    """A table for each set of axes, of at most MOST_LINES lines each; none of a result without sizes."""
    parts = grouped((tuple(one.places), one) for one in lines(found))
    made = []
    for several in parts.values():
        columns, cells = table(result, several[:MOST_LINES])
        left = len(several) - MOST_LINES
        if left > 0:
            more = f"and {left} more sizes: --csv FILE has all"
            cells.append([more, *[NOTHING] * (len(columns) - 1)])
        made.append((columns, cells))
    return made
