"""Every metric of every run as a row: `report --csv` and `report --markdown`."""

from collections.abc import Iterable, Iterator, Sequence

from fabricmark.base import cells
from fabricmark.base.terminal import NOTHING, number, percent
from fabricmark.report import run_tables
from fabricmark.results import Result
from fabricmark.results.inner import PERCENTILES
from fabricmark.systems import device_limits

RUN = ("benchmark", "kernel", "class", "device", "host", "ranks", "started")
METRIC_COLUMNS = (
    "kind",
    "unit",
    "best",
    "median",
    "minimum",
    "maximum",
    "modelled",
    "error_bar",
    "error",
    "limit",
)
LAST = ("efficiency", "bottleneck", "verdict", "file")


def table(loaded: Sequence[Result]) -> tuple[list[str], Iterator[list[object]]]:
    """(headings, rows): numbers in `unit`, error and efficiency as shares, None where there is nothing.

    Axes are columns `axis NAME`, those of all metrics; modelled and limit stand beside measured metrics only.
    Percentiles of inner samples are columns where any metric has them.
    """
    every = [entry for result in loaded for entry in result.measurements]
    percentiles = PERCENTILES if any(entry.percentiles for entry in every) else ()
    axes = list(dict.fromkeys(axis for entry in every for axis in entry.axes))
    headings = [*RUN, "metric", *(f"axis {axis}" for axis in axes), *METRIC_COLUMNS, *percentiles, *LAST]
    return headings, _rows(loaded, axes, percentiles)


def _rows(
    loaded: Sequence[Result], axes: Sequence[str], percentiles: Iterable[str]
) -> Iterator[list[object]]:
    devices = device_limits.Devices()
    for result in loaded:
        run, environment = result.document["run"], result.document["environment"]
        about = [
            run["benchmark"], result.kernel_name(with_digest=True), run["class"], result.device["name"],
            environment["host"]["name"], environment["ranks"]["count"], run["started"],
        ]  # fmt: skip
        predicted = run_tables.predictions(result, devices.of(result))
        for entry, row in zip(
            result.measurements, run_tables.rows(result.measurements, predicted), strict=True
        ):
            yield [
                *about, entry.name, *(entry.axes.get(axis) for axis in axes), entry.kind, entry.unit,
                entry.best, entry.median, entry.minimum, entry.maximum, row.modelled, row.error_bar,
                row.error, row.limit,
                *((entry.percentiles or {}).get(name) for name in percentiles),
                row.efficiency, None if row.bottleneck == NOTHING else row.bottleneck,
                result.verdict(), result.path,
            ]  # fmt: skip


def as_csv(loaded: Sequence[Result]) -> str:
    """Comma-separated, numbers with nine digits, nothing where there is nothing."""
    headings, rows = table(loaded)
    return cells.as_csv([headings, *([_plain(value) for value in row] for row in rows)])


def _plain(value: object) -> object:
    return f"{value:.9g}" if isinstance(value, float) else value


def as_markdown(loaded: Sequence[Result]) -> str:
    """A table as GitHub and others show it, numbers with four digits; empty columns are left out."""
    headings, found = table(loaded)
    rows = list(found)
    kept = [place for place in range(len(headings)) if any(row[place] is not None for row in rows)]
    shown = [[_shown(headings[place], row[place]) for place in kept] for row in rows]
    return cells.as_markdown([[headings[place] for place in kept], *shown])


def _shown(heading: str, value: object) -> object:
    if value is None:
        return ""
    if not isinstance(value, float):
        return value
    shares = {"error_bar": False, "error": True, "efficiency": False}
    return percent(value, signed=shares[heading]) if heading in shares else number(value)
