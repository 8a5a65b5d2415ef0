"""Metrics over a numeric axis: bandwidth and latency over message size, or anything over a parameter.

Rates of kernels over a parameter are also drawn per rank and replication, which makes runs of different
devices comparable, as Fig. 4.13 of Meyer 2024 does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from fabricmark.base.grouping import grouped
from fabricmark.base.spread import thinned
from fabricmark.report import families, run_tables, scales
from fabricmark.report.groups import Group, Metric, field_text
from fabricmark.report.plots import MOST_SERIES, MOST_TICKS, Plot, Series, not_drawn, slug, wants_log
from fabricmark.results import figures, scaling

MOST_PANELS = 24  # a benchmark, metric and axis
MOST_POINTS = 400  # a series
MOST_LIMITS = 2  # lines of the same grey cannot be told apart
PARAMETER = "parameter "
NORMALISED = "per rank and replication"


@dataclass(frozen=True)
class Point:
    """A metric with everything that tells it from the others of its plot."""

    coordinates: Mapping[str, object]
    metric: Metric

    def text(self, names: Sequence[str]) -> str:
        """`exchange, 2 ranks`: the named coordinates that this point has."""
        found = [(name, self.coordinates[name]) for name in names if name in self.coordinates]
        return ", ".join(
            families.value_text(name.removeprefix("axis "), value)
            if name.startswith("axis ")
            else field_text(name, value)
            for name, value in found
        )


def points_of(groups: Sequence[Group]) -> dict[tuple[str, str], list[Point]]:
    """{(metric's name, unit): its points over all groups of one benchmark}."""

    def point(group: Group, metric: Metric) -> Point:
        entry = metric.measurement
        axes = {f"axis {axis}": value for axis, value in entry.axes.items()}
        return Point({**axes, "kind": entry.kind, **group.coordinates}, metric)

    every = [(group, metric) for group in groups for metric in group.metrics]
    return grouped(((one.measurement.name, one.measurement.unit), point(group, one)) for group, one in every)


def normalised(groups: Sequence[Group]) -> dict[tuple[str, str], list[Point]]:
    """The rates of kernels per rank and replication, as `points_of`; nothing where all runs have as many.

    Emulated metrics are left out: their clock says nothing about hardware.
    """
    found: dict[tuple[str, str], list[Point]] = {}
    counts = set()
    for group in groups:
        replications = group.runs[0].document["parameters"].get("replications")
        if not families.is_number(replications) or replications < 1:
            continue
        parts = group.runs[0].ranks * replications
        counts.add(parts)
        for (name, unit), points in points_of([group]).items():
            for point in points:
                entry = point.metric.measurement
                if scaling.is_of_kernel(entry) and entry.kind != "emulated":
                    shared = replace(
                        point, metric=replace(point.metric, row=shared_row(point.metric.row, parts))
                    )
                    found.setdefault((f"{name} {NORMALISED}", unit), []).append(shared)
    return found if len(counts) > 1 else {}


def shared_row(row: run_tables.Row, parts: int) -> run_tables.Row:
    """A row of which each of so many parts gets the same share."""
    shares = {
        key: None if getattr(row, key) is None else getattr(row, key) / parts
        for key in ("best", "median", "modelled", "limit")
    }
    return replace(row, **shares)


def numeric_coordinates(points: Sequence[Point]) -> list[str]:
    """Axes and parameters with three numeric values or more; ranks have plots of their own."""
    names = list(dict.fromkeys(name for point in points for name in point.coordinates))
    chosen = []
    for name in names:
        values = [point.coordinates[name] for point in points if name in point.coordinates]
        numeric = all(families.is_number(value) for value in values)
        if name.startswith(("axis ", PARAMETER)) and numeric:
            chosen += [name] if len(set(values)) >= families.FEWEST_VALUES else []
    return chosen


def bare(name: str) -> str:
    """The name of a coordinate without what says where it comes from."""
    return name.removeprefix("axis ").removeprefix(PARAMETER)


def plots(groups: Sequence[Group]) -> list[Plot]:
    """All curves of one benchmark's groups."""
    drawn: list[Plot] = []
    for (name, unit), points in [*points_of(groups).items(), *normalised(groups).items()]:
        for axis in numeric_coordinates(points):
            if NORMALISED in name and axis != f"{PARAMETER}size":
                continue
            lines = lines_over(axis, points)
            panels = split(lines, varying([line[0] for line in lines], axis), [])
            for number, (fixed, members) in enumerate(panels[:MOST_PANELS]):
                last = number == MOST_PANELS - 1 and len(panels) > MOST_PANELS
                left = f"{len(panels) - MOST_PANELS} further plots of this kind are left out." if last else ""
                drawn.append(panel(groups[0].benchmark, name, unit, axis, fixed, members, left))
    return drawn


def lines_over(axis: str, points: Sequence[Point]) -> list[list[Point]]:
    """Points that differ in nothing but their place on the axis, in order; only lines worth drawing."""
    lines = grouped(
        (tuple(item for item in point.coordinates.items() if item[0] != axis), point)
        for point in points
        if axis in point.coordinates
    )
    ordered = [sorted(line, key=lambda point: point.coordinates[axis]) for line in lines.values()]
    if not any(len(line) >= families.FEWEST_VALUES for line in ordered):
        return []
    return [line for line in ordered if len(line) > 1]


def varying(points: Sequence[Point], axis: str) -> list[str]:
    """Coordinates other than the axis that tell the lines apart."""
    names = list(dict.fromkeys(name for point in points for name in point.coordinates if name != axis))
    return [name for name in names if len({point.coordinates.get(name) for point in points}) > 1]


def split(lines: list[list[Point]], names: list[str], fixed: list[str]) -> list[tuple[list[str], list]]:
    """Panels with few enough lines, split by the coordinate with the fewest values, again and again.

    Each is (coordinates that are the same in the whole panel, its lines).
    """
    if not lines:
        return []
    counts = {name: len({line[0].coordinates.get(name) for line in lines}) for name in names}
    candidates = [name for name in names if counts[name] > 1]
    if len(lines) <= MOST_SERIES or not candidates:
        return [(fixed, lines)]
    chosen = min(candidates, key=lambda name: counts[name])
    parts = grouped((line[0].coordinates.get(chosen), line) for line in lines)
    remaining = [name for name in names if name != chosen]
    panels: list[tuple[list[str], list]] = []
    for part in parts.values():
        panels += split(part, remaining, [*fixed, chosen])
    return panels


def panel(
    benchmark: str, name: str, unit: str, axis: str, fixed: list[str], lines: list[list[Point]], left: str
) -> Plot:
    """One plot: a line a series, the model dashed in its colour, limits dotted and grey."""
    names = [entry for entry in varying([line[0] for line in lines], axis) if entry != "kind"]
    series: list[Series] = []
    limits: dict[tuple, Series] = {}
    for colour, line in enumerate(lines[:MOST_SERIES]):
        line = thinned(line, MOST_POINTS)
        first = line[0]
        own = [entry for entry in first.coordinates if entry.startswith("axis ") and entry != axis]
        title = first.text(names) or first.text(own) or families.words(name)
        series += measured_and_modelled(axis, title, line, colour)
        limit = limit_line(axis, line)
        if limit is not None:
            limits.setdefault((tuple(limit.x), tuple(limit.y)), limit)
    if len(limits) <= MOST_LIMITS:
        series += limits.values()
    of_others = published(benchmark, name, unit, axis)
    room = max(0, MOST_SERIES - len(lines))
    series += [replace(one, colour=len(lines) + i) for i, one in enumerate(of_others[:room])]
    left = not_drawn(len(of_others) - room, "{} published values are left out.", left)
    x = [value for entry in series for value in entry.x]
    y = [value for entry in series for value in entry.y]
    left = not_drawn(len(lines) - MOST_SERIES, "{} further lines are left out.", left)
    where = lines[0][0].text([entry for entry in fixed if entry != "kind"])
    label = families.words(bare(axis))
    return Plot(
        slug=slug(benchmark, name, "over", bare(axis), where),
        title=f"{benchmark}: {families.words(name)} over {label}{', ' + where if where else ''}",
        x_label=label,
        y_label=f"{families.words(name)} [{unit}]",
        series=series,
        log_x=wants_log(x),
        log_y=wants_log(y),
        x_ticks=ticks(bare(axis), x),
        left_out=left,
        unit=unit,
        family=f"{families.words(name)} over {label}",
        part=where,
    )


def measured_and_modelled(axis: str, title: str, line: Sequence[Point], colour: int) -> list[Series]:
    """The best of each point, and what the model says of them."""
    x = [point.coordinates[axis] for point in line]
    hover = [
        f"{families.value_text(bare(axis), place)}: best {scales.text(row.best, row.unit)}, "
        f"median {scales.text(row.median, row.unit)}"
        for place, row in ((point.coordinates[axis], point.metric.row) for point in line)
    ]
    best = [point.metric.row.best for point in line]
    kind = line[0].metric.row.kind
    drawn = [Series(f"{title} ({kind})", x, best, "line", colour, hover)]
    modelled = [
        (place, point.metric.row.modelled)
        for place, point in zip(x, line, strict=True)
        if point.metric.row.modelled is not None
    ]
    if len(modelled) > 1:
        places, values = zip(*modelled, strict=True)
        drawn.append(Series(f"{title} (modelled)", places, values, "dashed", colour))
    return drawn


def limit_line(axis: str, line: Sequence[Point]) -> Series | None:
    """The physical limit along a line; None where there is none."""
    known = [(p.coordinates[axis], p.metric.row.limit) for p in line if p.metric.row.limit is not None]
    if len(known) < 2:
        return None
    places, values = zip(*known, strict=True)
    return Series("limit", places, values, "dotted", None)


def published(benchmark: str, name: str, unit: str, axis: str) -> list[Series]:
    """What others measured with the same program, as points over the size."""
    found = figures.points(benchmark, name, unit) if bare(axis) == "message_bytes" else []
    return [
        Series(f"{one.name} (measured)", [one.message_bytes], [one.value], "points",
               spots=[(one.message_bytes, one.value, one.said)])
        for one in found
    ]  # fmt: skip


def ticks(axis: str, values: Sequence[float]) -> list[tuple[float, str]]:
    """Ticks at some of the values themselves: bytes in binary units, powers of two as such."""
    write = families.binary if axis.endswith("bytes") else families.number_text
    places = families.distinct(values)
    return [(value, write(value)) for value in places[:: ceil(len(places) / MOST_TICKS)]]
