"""Draws docs/clock_sweep.svg: emulated boards beside closed forms and published values, over direct channels,
and writes the differences to docs/emulation.md. Run it again when kernels, models or systems change:

.venv/bin/python tools/clock_sweep.py
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from itertools import chain
from math import isqrt
from pathlib import Path

import doc_pages
from fabricmark import models, systems
from fabricmark.base import paths
from fabricmark.base.terminal import percent
from fabricmark.models import _published
from fabricmark.predict import points
from fabricmark.report.plots import GREY, PALETTE
from fabricmark.results import published
from fabricmark.results.published import PublishedValue
from fabricmark.systems import export
from fabricmark.validate import metrics, tables

PICTURE, PAGE = doc_pages.DOCS / "clock_sweep.svg", doc_pages.DOCS / "emulation.md"
MARK = "<!-- differences: written by tools/clock_sweep.py -->"
TITLE = "Direct channels: published, closed form and clock"
CHANNELS = "channels"
COUNTS = (1, 2, 4, 9, 16, 25, 36, 64)  # as many as the system has; on a grid its squares
RING = {"markersize": 9, "markerfacecolor": "none"}  # so that the cross in it is seen
TIME_OUT = 170  # seconds
DIGITS = 4  # of a share that count
PAIRS = {
    ("clock", "published"): "clock off published",
    ("closed", "published"): "closed form off published",
    ("clock", "closed"): "clock off closed form",
}


@dataclass(frozen=True)
class Sweep:
    """One line: a benchmark over the devices of a system. `size`: matrix width of each device; None: none."""

    benchmark: str
    system: str
    size: int | None = None

    @property
    def label(self) -> str:
        return self.system if self.size is None else f"{self.system}, n = {self.size} sqrt(devices)"


@dataclass(frozen=True)
class Found:
    """The headline metric by the number of devices: GB/s or GFLOP/s."""

    clock: dict[int, float]
    closed: dict[int, float]
    published: dict[int, float]
    metric: str  # in words, with its unit

    def largest(self, one: str, other: str) -> tuple[float, int]:
        """(the largest difference of two, relative to the second; on how many devices)."""
        values, against = getattr(self, one), getattr(self, other)
        return max((round(abs(values[count] / against[count] - 1), DIGITS), count) for count in against)


def closed_form(sweep: Sweep) -> list[points.Point]:
    """What `fabricmark predict` says, on as many devices as the system has."""
    system = systems.load(sweep.system)
    given = {} if sweep.size is None else {"size": sweep.size}
    request = points.PredictionRequest(sweep.benchmark, system, CHANNELS, points.WEAK, given)
    on_grid = models.traits(sweep.benchmark).on_grid
    counts = [
        count
        for count in COUNTS
        if count <= system.most_devices and (not on_grid or isqrt(count) ** 2 == count)
    ]
    return points.predict(request, counts, {})[0]


def clock(sweep: Sweep, point: points.Point, folder: Path) -> float:
    """The headline metric of a run on emulated boards that computes nothing."""
    file = folder / f"{sweep.system}.json"
    file.write_text(export.text(sweep.system, "fitted"))
    words = ["--transport", CHANNELS, "--timing-only", "--system", file, "--ranks", point.devices]
    words += ["--repetitions", 1, "--warmup", 0]
    words += [word for name, value in point.sizes.items() for word in (f"--{name.replace('_', '-')}", value)]
    name, axes = models.traits(sweep.benchmark).headline
    wanted = ("modelled", name, dict(axes), point.headline.unit)
    measurements = doc_pages.result_of(sweep.benchmark, *words, seconds=TIME_OUT)["measurements"]
    (best,) = (m["best"] for m in measurements if (m["kind"], m["name"], m["axes"], m["unit"]) == wanted)
    return best


def published_rows() -> dict[Sweep, dict[int, PublishedValue]]:
    """Rows of the headline metrics by devices, for problems that ran on more than one number of these.

    Outputs come first; of systems without any there are tables.
    """
    outputs = (row for row in published.load() if not row.scaling and row.metric == meaning(row).headline)
    printed = (
        tables.row(one) for one in published.printed() if one.metric in meaning(one).tables and one.size
    )
    found: dict[Sweep, dict[int, PublishedValue]] = {}
    for row in chain(outputs, printed):
        if row.transport == CHANNELS:
            on_grid = models.traits(row.benchmark).on_grid
            width = row.matrix_width // isqrt(row.devices) if on_grid else None
            found.setdefault(Sweep(row.benchmark, row.system, width), {}).setdefault(row.devices, row)
    return {sweep: rows for sweep, rows in found.items() if len(rows) > 1}


def meaning(row) -> _published.Published:
    return _published.of(row.benchmark)


def metric(headline) -> str:
    return f"{' '.join((headline.name.replace('_', ' '), *headline.axes.values()))} [{headline.unit}]"


def measured(row: PublishedValue, point: points.Point) -> float:
    """A row in the unit of the headline metric, which is a rate: of a time, that of the same work."""
    unit, factor = metrics.FACTORS[row.unit]
    if unit == "s":
        return (
            point.headline.value * metrics.prediction_of(row, point.predictions).value / (factor * row.value)
        )
    return row.value * factor / metrics.FACTORS[point.headline.unit][1]


def sweeps() -> dict[Sweep, Found]:
    """All lines; starts the programs."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for sweep, rows in published_rows().items():
            predicted = {point.devices: point for point in closed_form(sweep)}
            found[sweep] = Found(
                {count: clock(sweep, point, Path(folder)) for count, point in predicted.items()},
                {count: point.headline.value for count, point in predicted.items()},
                {count: measured(row, predicted[count]) for count, row in rows.items()},
                metric(predicted[1].headline),
            )
    return found


def benchmarks(found: dict[Sweep, Found]) -> list[str]:
    return sorted({sweep.benchmark for sweep in found})


def of_benchmark(found: dict[Sweep, Found], benchmark: str) -> dict[Sweep, Found]:
    return {sweep: by for sweep, by in found.items() if sweep.benchmark == benchmark}


def largest(found: dict[Sweep, Found], one: str, other: str) -> tuple[float, str]:
    """(the largest difference of all lines, where it is: of equal ones, as written, that of most devices)."""
    worst = ((by.largest(one, other), sweep.label) for sweep, by in found.items())
    (share, devices), label = max(worst)
    return share, f"{label}, {devices} device{'s' if devices > 1 else ''}"


def differences(found: dict[Sweep, Found]) -> str:
    """The table of the page: who is off by how much at most, and where."""
    rows = []
    for benchmark in benchmarks(found):
        mine = of_benchmark(found, benchmark)
        shares = (largest(mine, *pair) for pair in PAIRS)
        rows.append(
            [benchmark, *(f"{percent(share, digits=DIGITS - 2)} ({where})" for share, where in shares)]
        )
    return doc_pages.table(["", *PAIRS.values()], rows)


def draw(axes, benchmark: str, found: dict[Sweep, Found]) -> None:
    """Rings published, line closed form, crosses clock."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    ticks = set()
    for number, (sweep, by) in enumerate(found.items()):
        colour = PALETTE[number]
        axes.plot(*zip(*by.closed.items(), strict=True), "-", color=colour, linewidth=1, label=sweep.label)
        axes.plot(*zip(*by.clock.items(), strict=True), "x", color=colour, markersize=5)
        axes.plot(*zip(*by.published.items(), strict=True), "o", color=colour, **RING)
        ticks |= set(by.clock)
    off, apart = (
        percent(largest(found, "clock", other)[0], digits=DIGITS - 2) for other in ("published", "closed")
    )
    title = f"{benchmark}\nclock at most {off} off published,\n{apart} off closed form"
    axes.set(xscale="log", yscale="log", xlabel="devices", ylabel=by.metric)
    axes.set_title(title, fontsize=9)
    axes.set_xticks(sorted(ticks), [str(tick) for tick in sorted(ticks)])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    axes.minorticks_off()
    doc_pages.open_axes(axes)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def svg(found: dict[Sweep, Found]) -> bytes:
    """The picture."""
    from matplotlib.lines import Line2D

    def panels(figure) -> None:
        names = benchmarks(found)
        for axes, benchmark in zip(figure.subplots(1, len(names)), names, strict=True):
            draw(axes, benchmark, of_benchmark(found, benchmark))
        handles = [
            Line2D([], [], linestyle="", marker="o", color=GREY, label="measured, published", **RING),
            Line2D([], [], linewidth=1, color=GREY, label="modelled, closed form"),
            Line2D([], [], linestyle="", marker="x", color=GREY, markersize=5, label="modelled, clock"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)

    return doc_pages.svg(TITLE, (11.5, 4.4), panels, salt="clock")


def page(text: str, found: dict[Sweep, Found]) -> str:
    """The page with the differences between their marks."""
    return doc_pages.between(text, MARK, differences(found))


def main() -> None:
    found = sweeps()
    for sweep, by in found.items():
        print(json.dumps({"benchmark": sweep.benchmark, "line": sweep.label, **vars(by)}))
    print(differences(found))
    paths.write_atomically(PICTURE, svg(found))
    paths.write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8"), found))


if __name__ == "__main__":
    main()
