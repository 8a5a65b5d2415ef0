"""What others measured on the system that a run was modelled for, beside what the run's clock says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricmark import models
from fabricmark.base import terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import Column
from fabricmark.models import _published
from fabricmark.results import Result, published

GIGA = {"B/s": 1e-9, "MB/s": 1e-3, "GB/s": 1.0, "GFLOP/s": 1.0, "TFLOP/s": 1e3, "us": 1.0}
SECONDS = {"s": 1.0, "us": 1e-6}
COLUMNS = (
    Column("metric", key=True), Column("message", key=True, right=True), Column("modelled", right=True),
    Column("published", right=True), Column("unit"), Column("difference", right=True), Column("source"),
)  # fmt: skip
MOST = 5  # rows of one metric: the longest messages


@dataclass(frozen=True)
class Beside:
    """A modelled value of a run and the published one, in `unit`."""

    metric: str
    message_bytes: int | None
    modelled: float
    published: float
    unit: str
    source: str

    @property
    def cells(self) -> tuple[str, ...]:
        message = "" if self.message_bytes is None else str(self.message_bytes)
        off = f"{100 * (self.modelled / self.published - 1):+.1f} %"
        values = (f"{self.modelled:.4g}", f"{self.published:.4g}")
        return (self.metric, message, *values, self.unit, off, self.source)


def _modelled(document: Mapping) -> dict[tuple, Mapping]:
    """Modelled measurements by metric, operation and size of the message."""
    return {
        (one["name"], one["axes"].get("operation"), one["axes"].get("message_bytes")): one
        for one in document["measurements"]
        if one["kind"] == "modelled"
    }


def _is_of(row, system: str, document: Mapping) -> bool:
    """Whether a row is of the same benchmark, system, transport and number of devices."""
    run, parameters = document["run"], document["parameters"]
    ranks = document["environment"]["ranks"]["count"]
    return (row.benchmark, row.system, row.transport, row.devices) == (
        run["benchmark"], system, parameters.get("transport"), ranks,
    )  # fmt: skip


def _headline(found: Mapping[tuple, Mapping], benchmark: str) -> Mapping | None:
    """The modelled measurement that stands for the benchmark."""
    headline = models.traits(benchmark).headline
    if headline is None:
        return None
    name, axes = headline
    return found.get((name, axes.get("operation"), axes.get("message_bytes")))


def _rate(one: Mapping, seconds: float) -> float | None:
    """A published time as the rate that a measurement is: that of the same work. None where it is no rate."""
    if one["work"] is None or one["unit"] not in GIGA or one["unit"] in SECONDS:
        return None
    return one["work"]["amount"] * 1e-9 / seconds / GIGA[one["unit"]]


def beside(document: Mapping, system: str) -> Iterator[Beside]:
    """The published values that a run's modelled ones can be compared with: of the same size."""
    found, parameters = _modelled(document), document["parameters"]
    if not found:
        return
    for row in published.load():
        if not _is_of(row, system, document):
            continue
        means = _published.of(row.benchmark)
        sizes = means.size(row, parameters)
        if ("size" in sizes and sizes["size"] != parameters.get("size")) or row.metric not in means.metrics:
            continue
        name, operation = means.metrics[row.metric]
        one = found.get((name, operation, row.message_bytes))
        if one is not None and row.unit in GIGA:
            value = row.value * GIGA[row.unit]
        elif one is None and row.metric == means.headline and row.unit in SECONDS:
            one = _headline(found, row.benchmark)
            value = None if one is None else _rate(one, row.value * SECONDS[row.unit])
        else:
            continue
        if one is not None and value is not None:
            yield Beside(one["name"], row.message_bytes, one["best"], value, one["unit"], row.source)


def show(loaded: list[Result], system: str) -> None:
    """Print these values of all results, where there are any outside of a program that was installed."""
    try:
        rows = [one for result in loaded for one in beside(result.document, Path(system).stem)]
    except FabricmarkError:
        return  # no repository, no published values
    kept = [row for row in rows if sum(row.metric == other.metric for other in rows) <= MOST]
    for metric in dict.fromkeys(row.metric for row in rows if row not in kept):
        kept += [row for row in rows if row.metric == metric][-MOST:]
    if kept:
        terminal.table(["modelled beside published"], COLUMNS, [row.cells for row in kept])
