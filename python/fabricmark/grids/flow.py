"""A picture of the flow on a plane lattice: what a run of lattice Boltzmann has written with --fields."""

from pathlib import Path

from fabricmark.base.errors import FabricmarkError
from fabricmark.grids.run_fields import REMEDY
from fabricmark.mesh.arrays import load_array
from fabricmark.mesh.drawing import canvas, png

EAST, NORTH, CELLS = "u.npy", "v.npy", "cells.npy"
WIDTH_INCHES, LEAST_HEIGHT, MOST_HEIGHT, DOTS_PER_INCH = 8.0, 2.4, 9.0, 100
MOST_PIXELS = 1200  # of the longer side: what is finer is thinned
WALLS = (1, 2, 5)  # the last word of a cell (kernels/lbm/cell.h)
SOLID = "#b8b2a7"


def is_there(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (EAST, NORTH, CELLS))


def speed_picture(folder: Path, title: str) -> bytes:
    """The magnitude of the velocity of each cell, in lattice units, as a PNG; walls are grey.

    Raises FabricmarkError (2) for files that do not fit each other.
    """
    import numpy

    east, north, cells = (load_array(folder / name) for name in (EAST, NORTH, CELLS))
    if east.ndim != 2 or east.shape != north.shape or cells.shape[:1] != (east.size,) or cells.ndim != 2:
        raise FabricmarkError(f"the fields in {folder} have different shapes", REMEDY)
    is_wall = numpy.isin(cells[:, -1].reshape(east.shape), WALLS)
    step = max(1, -(-max(east.shape) // MOST_PIXELS))
    speed = numpy.ma.masked_where(is_wall, numpy.hypot(east, north))[::step, ::step]
    inches = min(max(WIDTH_INCHES * 0.8 * east.shape[0] / east.shape[1] + 0.9, LEAST_HEIGHT), MOST_HEIGHT)
    with canvas(title, (WIDTH_INCHES, inches), DOTS_PER_INCH) as (figure, axes):
        axes.set_xlabel("column")
        axes.set_ylabel("row")
        axes.set_facecolor(SOLID)
        extent = (0, east.shape[1], 0, east.shape[0])
        shown = axes.imshow(speed, origin="lower", extent=extent, cmap="viridis", interpolation="nearest")
        figure.colorbar(shown, ax=axes, label="speed [cells a step]", shrink=0.85)
        return png(figure, f"{title}: a map of the speed")
