"""Maps of plane grids: depth, largest elevation, arrival of the wave, and films; land is grey."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricmark.base.errors import printable
from fabricmark.grids.run_fields import Gauge, RunFields
from fabricmark.mesh.drawing import Frame, animated, canvas, hours, png

if TYPE_CHECKING:
    import numpy

WIDTH_INCHES, LEAST_HEIGHT, MOST_HEIGHT = 8.0, 2.6, 9.0
DOTS_PER_INCH, FILM_DOTS_PER_INCH = 120, 80
MOST_PIXELS = 1600  # of a map's longer side: what is finer is thinned
LAND = "#b8b2a7"
COAST = "#4a463f"
LIFTED, STILL = "#f6d9c4", "#eef3f7"  # water that an arrival is not told of
SURE = 99.5  # percent of the water that the scale has room for; the rest has its last colour
ISOCHRONES = 15  # at most
STEPS_OF_MINUTES = (1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720)


@dataclass(frozen=True)
class Ground:
    """Where a map lies. `edges`: of degrees where they are known, else of km."""

    depth: "numpy.ndarray"
    dx: float
    dy: float
    degrees: tuple[float, float, float, float] | None
    gauges: Sequence[Gauge] = ()

    @property
    def width(self) -> float:
        return self.depth.shape[1] * self.dx

    @property
    def height(self) -> float:
        return self.depth.shape[0] * self.dy

    @property
    def edges(self) -> tuple[float, float, float, float]:
        return self.degrees or (0.0, self.width / 1000, 0.0, self.height / 1000)

    def place(self, gauge: Gauge) -> tuple[float, float]:
        west, east, south, north = self.edges
        return west + gauge.x / self.width * (east - west), south + gauge.y / self.height * (north - south)


def ground(found: RunFields) -> Ground:
    return Ground(found.depth, found.dx, found.dy, found.degrees, found.gauges)


def depth_picture(where: Ground, elevation: "numpy.ndarray | None", title: str) -> bytes:
    """Depths as a PNG, with lines of the elevation at the start."""
    import numpy

    with _map(where, title) as (figure, axes):
        _field(figure, axes, where, where.depth, "depth below still water [m]", "Blues", 0, where.depth.max())
        largest = 0.0 if elevation is None else float(numpy.abs(elevation).max())
        if elevation is not None and largest > 0:
            levels = [share * largest for share in (-0.75, -0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 0.75)]
            colours = ["#1a1aff"] * 4 + ["#d00000"] * 4
            _lines(axes, where, elevation, levels, colours, "%.2g m")
        return png(figure, f"{title}: a map of depths")


def largest_picture(found: RunFields, title: str) -> bytes:
    """The largest elevation of each cell as a PNG."""
    import numpy

    where = ground(found)
    water = found.largest[where.depth > 0]
    most = float(numpy.percentile(water, SURE)) if water.size else 0.0
    with _map(where, f"{title}: largest elevation in {_time(found.seconds)}") as (figure, axes):
        label = "largest elevation [m]"
        _field(figure, axes, where, found.largest, label, "YlOrRd", 0, most or float(water.max()) or 1.0)
        return png(figure, f"{title}: a map of the largest elevation")


def arrival_picture(found: RunFields, title: str) -> bytes:
    """When the wave came to each cell, as a PNG with isochrones."""
    import numpy

    where = ground(found)
    has_come = numpy.isfinite(found.arrival) & (where.depth > 0)
    first = float(found.arrival[has_come].min()) if has_come.any() else 0.0
    lifted = has_come & (found.arrival <= first)  # with the first step, which is no wave that travels
    minutes = numpy.where(lifted, numpy.nan, found.arrival) / 60
    most = float(numpy.nanmax(minutes)) if (has_come & ~lifted).any() else found.seconds / 60
    each = isochrone_minutes(most)
    with _map(where, f"{title}: arrival of the wave, lines every {each} min") as (figure, axes):
        axes.set_facecolor(STILL)
        _area(axes, where, where.depth <= 0, LAND)
        _area(axes, where, lifted, LIFTED)
        _field(figure, axes, where, minutes, "arrival after [min]", "viridis_r", 0, most)
        _legend(axes, {"lifted at the start": LIFTED, "not reached": STILL})
        levels = list(numpy.arange(each, most, each))
        if levels:
            _lines(axes, where, minutes, levels, ["white"] * len(levels), "%g")
        return png(figure, f"{title}: a map of when the wave came")


def film(found: RunFields, frames: Sequence[Frame], title: str) -> bytes:
    """Snapshots one after another as an animated GIF."""
    import numpy

    where = ground(found)
    is_water = where.depth > 0
    later = frames[1:] or frames  # the first one is as high as no wave that leaves it
    limits = [float(numpy.percentile(numpy.abs(frame.values[is_water]), SURE)) for frame in later]
    limit = max(limits, default=0.0) or 1.0
    with _map(where, title, FILM_DOTS_PER_INCH) as (figure, axes):
        label = "surface elevation [m]"
        shown = _field(figure, axes, where, frames[0].values, label, "RdBu_r", -limit, limit)

        def show(frame: Frame) -> None:
            shown.set_data(_thinned(_masked(where, frame.values)))
            axes.set_title(printable(f"{title}, {_time(frame.seconds)}"), fontsize=10)

        return animated(figure, frames, show, lambda frame: numpy.abs(frame.values[is_water]).sum())


def elevation_picture(found: RunFields, title: str) -> bytes:
    """The elevation at the end as a PNG."""
    import numpy

    where = ground(found)
    water = numpy.abs(found.elevation[where.depth > 0])
    limit = (float(numpy.percentile(water, SURE)) if water.size else 0.0) or 1.0
    with _map(where, f"{title}: elevation after {_time(found.seconds)}") as (figure, axes):
        _field(figure, axes, where, found.elevation, "surface elevation [m]", "RdBu_r", -limit, limit)
        return png(figure, f"{title}: a map of the elevation")


# {name: (what it shows, how it is drawn)}
PICTURES: Mapping[str, tuple[str, Callable[[RunFields, str], bytes]]] = {
    "largest": ("largest elevation", largest_picture),
    "arrival": ("arrival of the wave", arrival_picture),
    "elevation": ("surface elevation at the end", elevation_picture),
}


def isochrone_minutes(most: float) -> int:
    """From a line to the next, so that they are few."""
    return next((each for each in STEPS_OF_MINUTES if most / each <= ISOCHRONES), STEPS_OF_MINUTES[-1])


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 3 * 3600 else hours(seconds)


def _masked(where: Ground, values: "numpy.ndarray") -> "numpy.ma.MaskedArray":
    import numpy

    return numpy.ma.masked_where((where.depth <= 0) | ~numpy.isfinite(values), values)


def _thinned(values: Any) -> Any:
    """As many rows and columns as a picture shows; each value is one of a cell."""
    step = max(1, math.ceil(max(values.shape) / MOST_PIXELS))
    return values[::step, ::step]


@contextmanager
def _map(where: Ground, title: str, dots_per_inch: int = DOTS_PER_INCH) -> Iterator[tuple[Any, Any]]:
    """Axes on land, with the coast and the gauges."""
    from matplotlib import patheffects

    west, east, south, north = where.edges
    # A degree of latitude is longer than one of longitude, as the grid's cells say.
    aspect = where.height / (north - south) / (where.width / (east - west))
    inches = WIDTH_INCHES * 0.8 * where.height / where.width + 0.9
    size = (WIDTH_INCHES, min(max(inches, LEAST_HEIGHT), MOST_HEIGHT))
    with canvas(title, size, dots_per_inch) as (figure, axes):
        axes.set_xlabel("longitude [degrees]" if where.degrees else "x [km]")
        axes.set_ylabel("latitude [degrees]" if where.degrees else "y [km]")
        axes.set_facecolor(LAND)
        axes.set_xlim(west, east)
        axes.set_ylim(south, north)
        axes.set_aspect(aspect)
        if where.degrees and east > 180:  # 200 is 160 W
            axes.xaxis.set_major_formatter(lambda value, _: f"{(value + 180) % 360 - 180:g}")
        halo = [patheffects.withStroke(linewidth=2.5, foreground="white")]
        for gauge in where.gauges:
            x, y = where.place(gauge)
            axes.plot([x], [y], "^", color="black", markeredgecolor="white", markersize=6, zorder=6)
            at_right = x > west + 0.8 * (east - west)  # where the name would leave the map
            axes.annotate(
                printable(gauge.name),
                (x, y),
                (-5 if at_right else 5, 4),
                textcoords="offset points",
                ha="right" if at_right else "left",
                fontsize=8,
                path_effects=halo,
                zorder=6,
            )
        yield figure, axes


def _area(axes: Any, where: Ground, inside: "numpy.ndarray", colour: str) -> None:
    """In one colour."""
    import numpy
    from matplotlib.colors import ListedColormap

    axes.imshow(
        _thinned(numpy.ma.masked_where(~inside, inside.astype(float))), origin="lower", extent=where.edges,
        cmap=ListedColormap([colour]), aspect=axes.get_aspect(), interpolation="nearest", zorder=1,
    )  # fmt: skip


def _legend(axes: Any, colours: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=colour, edgecolor=COAST, label=name) for name, colour in colours.items()]
    axes.legend(handles=patches, loc="lower right", fontsize=7, framealpha=0.8).set_zorder(7)


def _field(
    figure: Any, axes: Any, where: Ground, values: "numpy.ndarray", label: str, colours: str, low: float,
    high: float,
) -> Any:  # fmt: skip
    """Water in colours, where it has a value."""
    aspect = axes.get_aspect()
    water = _masked(where, values)
    most = float(water.max()) if water.count() else high
    shown = axes.imshow(
        _thinned(water), origin="lower", extent=where.edges, cmap=colours, vmin=low, vmax=high, aspect=aspect,
        interpolation="nearest", zorder=2,
    )  # fmt: skip
    beyond = "both" if low < 0 else "max"
    extend = beyond if most > high * (1 + 1e-6) else "neither"
    figure.colorbar(shown, ax=axes, label=printable(label), shrink=0.85, extend=extend)
    is_land = (where.depth <= 0).astype(float)
    if 0 < is_land.mean() < 1:
        _contour(axes, where, is_land, [0.5], [COAST], 0.5)
    return shown


def _lines(
    axes: Any, where: Ground, values: "numpy.ndarray", levels: Sequence[float], colours: Sequence[str],
    style: str,
) -> None:  # fmt: skip
    """Labelled lines of equal values over water."""
    import numpy

    drawn = _contour(axes, where, numpy.ma.filled(_masked(where, values), numpy.nan), levels, colours, 0.9)
    axes.clabel(drawn, fmt=style, fontsize=7)


def _contour(
    axes: Any, where: Ground, values: "numpy.ndarray", levels: Sequence[float], colours: Sequence[str],
    width: float,
) -> Any:  # fmt: skip
    import numpy

    west, east, south, north = where.edges
    shown = _thinned(values)
    rows, columns = shown.shape
    x = west + (numpy.arange(columns) + 0.5) * (east - west) / columns
    y = south + (numpy.arange(rows) + 0.5) * (north - south) / rows
    if min(shown.shape) < 2:
        return axes.contour([0, 1], [0, 1], [[0, 0], [0, 0]], levels=[1])
    return axes.contour(x, y, shown, levels=sorted(levels), colors=colours, linewidths=width, zorder=4)
