"""Pictures of meshes and of fields on them, drawn by matplotlib without a display."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from fabricmark.base.errors import printable
from fabricmark.mesh import raster
from fabricmark.mesh.arrays import KINDS, LAND, RIVER, SEA, Arrays

if TYPE_CHECKING:
    import numpy

PIXELS = 900
FILM_PIXELS = 420
FILM_DOTS_PER_INCH = 80
FILM_COLOURS = 160
FRAME_MILLISECONDS = 150
PICTURE_COLOURS = 256
MOST_FRAMES = 36
DOTS_PER_INCH = 120
WIDTH_INCHES = 8.0
MOST_DRAWN_ELEMENTS = 30_000  # whose edges can be told apart
KIND_COLOURS = {LAND: "#5a3d1e", SEA: "#0072b2", RIVER: "#009e73"}


@dataclass(frozen=True)
class Frame:
    """A snapshot: a value of each element or cell, and when it was [s]."""

    seconds: float
    values: "numpy.ndarray"


def depth_picture(arrays: Arrays, title: str) -> bytes:
    """The bed's depth, the elements' edges where they can be seen, and the kinds of boundary, as a PNG."""
    with _figure(arrays, title) as (figure, axes):
        found = raster.make(arrays, PIXELS)
        depths = found.image(arrays.depth[arrays.elements].mean(axis=1))
        shown = axes.imshow(depths, origin="lower", extent=_kilometres(found), cmap="viridis_r")
        figure.colorbar(shown, ax=axes, label="depth below still water [m]", shrink=0.85)
        _draw_edges(axes, arrays)
        _draw_boundary(axes, arrays)
        return png(figure, f"{title}: a map of {len(arrays.elements)} elements, coloured by depth")


def parts_picture(arrays: Arrays, part_of: "numpy.ndarray", title: str) -> bytes:
    """Each part in a colour that its neighbours do not have, with its number, as a PNG."""
    import numpy
    from matplotlib.colors import ListedColormap

    colours = part_colours(arrays, part_of)
    with _figure(arrays, title) as (figure, axes):
        found = raster.make(arrays, PIXELS)
        palette = ListedColormap(_palette(int(colours.max()) + 1))
        axes.imshow(
            found.image(colours[part_of]), origin="lower", extent=_kilometres(found), cmap=palette,
            vmin=-0.5, vmax=colours.max() + 0.5, interpolation="nearest",
        )  # fmt: skip
        _draw_edges(axes, arrays)
        _draw_boundary(axes, arrays)
        centres = arrays.corners().mean(axis=1) / 1000
        for part in range(len(colours)):
            mine = centres[part_of == part]
            place = mine[numpy.argmin(((mine - mine.mean(axis=0)) ** 2).sum(axis=1))]
            axes.annotate(str(part), place, ha="center", va="center", fontsize=8, weight="bold")
        return png(figure, f"{title}: a map of {len(colours)} parts")


def field_picture(arrays: Arrays, frame: Frame, title: str, label: str) -> bytes:
    """One snapshot of a field as a PNG."""
    limit = _limit([frame])
    with _figure(arrays, f"{title}, {hours(frame.seconds)}") as (figure, axes):
        found = raster.make(arrays, PIXELS)
        _draw_field(figure, axes, found, frame, limit, label)
        _draw_boundary(axes, arrays)
        return png(figure, f"{title}, {hours(frame.seconds)}: a map of {label}")


def film(arrays: Arrays, frames: Sequence[Frame], title: str, label: str) -> bytes:
    """Snapshots one after another as an animated GIF, which every browser shows without help."""
    found = raster.make(arrays, FILM_PIXELS)
    with _figure(arrays, title, FILM_DOTS_PER_INCH) as (figure, axes):
        shown = _draw_field(figure, axes, found, frames[0], _limit(frames), label)
        _draw_boundary(axes, arrays)

        def show(frame: Frame) -> None:
            shown.set_data(found.image(frame.values))
            axes.set_title(printable(f"{title}, {hours(frame.seconds)}"), fontsize=10)

        return animated(figure, frames, show, lambda frame: _limit([frame]))


def animated(
    figure: Any, frames: Sequence[Frame], show: Callable[[Frame], None], strength: Callable[[Frame], float]
) -> bytes:
    """A GIF of a figure in which `show` puts one frame after another. One palette for all, else colours would
    flicker: that of the frame with the largest `strength`."""
    from PIL import Image

    drawn = []
    for frame in frames:
        show(frame)
        buffer = BytesIO()
        figure.savefig(buffer, format="png")
        drawn.append(Image.open(buffer).convert("RGB"))
        figure.set_layout_engine("none")  # nothing may move between frames
    strongest = max(range(len(frames)), key=lambda i: strength(frames[i]))
    palette = drawn[strongest].quantize(FILM_COLOURS, dither=Image.Dither.NONE)
    pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in drawn]
    buffer = BytesIO()
    pictures[0].save(
        buffer, format="GIF", save_all=True, append_images=pictures[1:], duration=FRAME_MILLISECONDS, loop=0,
        optimize=False,
    )  # fmt: skip
    return buffer.getvalue()


def hours(seconds: float) -> str:
    """When it was, in words."""
    return f"{seconds / 3600:.2f} h"


def part_colours(arrays: Arrays, part_of: "numpy.ndarray") -> "numpy.ndarray":
    """A small number for each part, another one than those of the parts beside it (greedily)."""
    import numpy

    sides = numpy.concatenate([arrays.elements[:, (i, (i + 1) % 3)] for i in range(3)])
    order = numpy.lexsort(numpy.sort(sides, axis=1).T)
    keys = numpy.sort(sides, axis=1)[order]
    owners = numpy.tile(part_of, 3)[order]
    same = (keys[1:] == keys[:-1]).all(axis=1)
    pairs = numpy.stack([owners[1:][same], owners[:-1][same]], axis=1)
    count = int(part_of.max()) + 1
    beside: list[set[int]] = [set() for _ in range(count)]
    for a, b in numpy.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
        beside[a].add(b)
        beside[b].add(a)
    colours: list[int] = []
    for part in range(count):
        taken = {colours[other] for other in beside[part] if other < part}
        colours.append(next(i for i in range(count + 1) if i not in taken))
    return numpy.array(colours)


def _palette(count: int) -> list[tuple[float, float, float]]:
    """Pale colours, on which numbers and edges can be read."""
    from colorsys import hsv_to_rgb

    return [hsv_to_rgb(i / count, 0.45 if i % 2 else 0.3, 0.95) for i in range(count)]


def _limit(frames: Sequence[Frame]) -> float:
    import numpy

    return max(float(numpy.nanmax(numpy.abs(frame.values))) for frame in frames) or 1.0


def _draw_field(figure, axes, found: raster.Raster, frame: Frame, limit: float, label: str):
    shown = axes.imshow(
        found.image(frame.values), origin="lower", extent=_kilometres(found), cmap="RdBu_r",
        vmin=-limit, vmax=limit,
    )  # fmt: skip
    figure.colorbar(shown, ax=axes, label=printable(label), shrink=0.85)
    return shown


@contextmanager
def canvas(title: str, size: tuple[float, float], dots_per_inch: int) -> Iterator[tuple[Any, Any]]:
    """A figure of these inches with one pair of axes."""
    # Imported here: it takes a second, which tables in the terminal shall not wait for.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"text.parse_math": False, "font.size": 9}):
        figure = Figure(figsize=size, dpi=dots_per_inch, layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(printable(title), fontsize=10)
        yield figure, axes


@contextmanager
def _figure(arrays: Arrays, title: str, dots_per_inch: int = DOTS_PER_INCH) -> Iterator:
    """A figure as high as the mesh needs."""
    width, height = arrays.x.max() - arrays.x.min(), arrays.y.max() - arrays.y.min()
    inches = min(max(WIDTH_INCHES * 0.82 * height / width + 0.9, 3.0), 10.0)
    with canvas(title, (WIDTH_INCHES, inches), dots_per_inch) as (figure, axes):
        axes.set_aspect("equal")
        axes.set_xlabel("x [km]")
        axes.set_ylabel("y [km]")
        yield figure, axes


def _kilometres(found: raster.Raster) -> tuple[float, ...]:
    return tuple(edge / 1000 for edge in found.extent)


def _draw_edges(axes, arrays: Arrays) -> None:
    import numpy
    from matplotlib.collections import LineCollection

    if len(arrays.elements) > MOST_DRAWN_ELEMENTS:
        return
    sides = numpy.concatenate([arrays.elements[:, (i, (i + 1) % 3)] for i in range(3)])
    sides = numpy.unique(numpy.sort(sides, axis=1), axis=0)
    lines = numpy.stack([arrays.x, arrays.y], axis=1)[sides] / 1000
    width = max(0.08, 0.5 - 0.04 * len(arrays.elements) ** 0.25)
    axes.add_collection(LineCollection(lines, colors="black", linewidths=width, alpha=0.5))


def _draw_boundary(axes, arrays: Arrays) -> None:
    """Outlines in the colours of their kinds, named in a legend."""
    import numpy
    from matplotlib.collections import LineCollection

    lines = numpy.stack([arrays.x, arrays.y], axis=1)[arrays.boundary_nodes] / 1000
    for kind, name in KINDS.items():
        mine = lines[arrays.boundary_kinds == kind]
        if len(mine):
            axes.add_collection(LineCollection(mine, colors=KIND_COLOURS[kind], linewidths=1.6, label=name))
    axes.legend(loc="best", fontsize=8, framealpha=0.8)
    axes.autoscale_view()


def png(figure, words: str) -> bytes:
    """A figure, and what it shows in words for those who cannot see it.

    In as many colours as a palette has, which takes a third of the bytes.
    """
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    buffer, packed, said = BytesIO(), BytesIO(), PngInfo()
    figure.savefig(buffer, format="png")
    said.add_text("Description", printable(words))
    picture = Image.open(buffer).convert("RGB").quantize(PICTURE_COLOURS, dither=Image.Dither.NONE)
    picture.save(packed, format="PNG", optimize=True, pnginfo=said)
    return packed.getvalue()
