"""Which element each pixel of a picture shows: meshes of any size are drawn in the time that pixels take."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.mesh.arrays import Arrays

if TYPE_CHECKING:
    import numpy

NEAREST = 12  # elements, by their centres, one of which a pixel lies in
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Raster:
    """element: [rows][columns], from the lowest row; -1 outside. extent: left, right, bottom, top [m]."""

    element: "numpy.ndarray"
    extent: tuple[float, float, float, float]

    def image(self, values: "numpy.ndarray") -> "numpy.ndarray":
        """Values of elements at the pixels, masked outside."""
        import numpy

        return numpy.ma.masked_where(self.element < 0, values[numpy.maximum(self.element, 0)])


def make(arrays: Arrays, pixels: int) -> Raster:
    """As many pixels along the mesh's longer side. Raises FabricmarkError (3) without SciPy."""
    import numpy

    try:
        from scipy.spatial import cKDTree
    except ModuleNotFoundError as error:
        remedy = "draw it with an installation of Fabricmark: a bundle brings no SciPy"
        raise FabricmarkError("a mesh is drawn with SciPy, which is not here", remedy, ENVIRONMENT) from error

    corners = arrays.corners()
    left, bottom = arrays.x.min(), arrays.y.min()
    width, height = arrays.x.max() - left, arrays.y.max() - bottom
    size = max(width, height) / pixels
    columns, rows = max(1, round(width / size)), max(1, round(height / size))
    x = left + (numpy.arange(columns) + 0.5) * width / columns
    y = bottom + (numpy.arange(rows) + 0.5) * height / rows
    points = numpy.stack(numpy.meshgrid(x, y), axis=-1).reshape(-1, 2)
    tree = cKDTree(corners.mean(axis=1))
    nearest = min(NEAREST, len(corners))
    found = numpy.concatenate(
        [
            _containing(points[start : start + _AT_ONCE], tree, corners, nearest)
            for start in range(0, len(points), _AT_ONCE)
        ]
    )
    return Raster(found.reshape(rows, columns), (left, left + width, bottom, bottom + height))


def _containing(points, tree, corners, nearest: int):
    """The element that each point lies in, of those whose centres are nearest; -1: none."""
    import numpy

    _, candidates = tree.query(points, k=range(1, nearest + 1))
    found = numpy.full(len(points), -1, dtype=numpy.int64)
    for place in range(nearest):
        open_ones = numpy.flatnonzero(found < 0)
        if not len(open_ones):
            break
        which = candidates[open_ones, place]
        triangle, point = corners[which], points[open_ones]
        inside = numpy.ones(len(open_ones), dtype=bool)
        for i in range(3):
            start, end = triangle[:, i], triangle[:, (i + 1) % 3]
            side, to = end - start, point - start
            inside &= side[:, 0] * to[:, 1] - side[:, 1] * to[:, 0] >= 0
        found[open_ones[inside]] = which[inside]
    return found
