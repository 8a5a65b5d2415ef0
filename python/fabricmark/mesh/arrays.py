"""A mesh as NumPy arrays, as `fabricmark-mesh arrays` and the solvers write it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricmark.base.errors import FabricmarkError, refusing

if TYPE_CHECKING:
    import numpy

LAND, SEA, RIVER = 1, 2, 3
KINDS = {LAND: "land", SEA: "sea", RIVER: "river"}
_NAMES = ("x", "y", "depth", "elements", "boundary_nodes", "boundary_kinds")


@dataclass(frozen=True)
class Arrays:
    """x, y and depth of nodes [m]; elements: three nodes each, from 0, counterclockwise; boundary_nodes: two
    of each edge that one element only has, and boundary_kinds: LAND, SEA or RIVER."""

    x: "numpy.ndarray"
    y: "numpy.ndarray"
    depth: "numpy.ndarray"
    elements: "numpy.ndarray"
    boundary_nodes: "numpy.ndarray"
    boundary_kinds: "numpy.ndarray"

    @classmethod
    def load(cls, folder: Path) -> "Arrays":
        """From a folder of .npy files. Raises FabricmarkError (2) for one that holds no mesh."""
        made = cls(**{name: load_array(folder / f"{name}.npy") for name in _NAMES})
        made._check(folder)
        return made

    def _check(self, folder: Path) -> None:
        nodes, elements = self.x.shape, self.elements.shape
        fits = len(nodes) == 1 and self.y.shape == nodes and self.depth.shape == nodes
        fits = fits and len(elements) == 2 and elements[1] == 3 and elements[0] > 0
        fits = fits and self.boundary_nodes.shape == (len(self.boundary_kinds), 2)
        places = (self.elements, self.boundary_nodes)
        if not fits or any(
            len(which) and (which.min() < 0 or which.max() >= len(self.x)) for which in places
        ):
            raise FabricmarkError(f"the arrays in {folder} are no mesh", "write them again")

    def corners(self) -> "numpy.ndarray":
        """Coordinates of the nodes of each element: [elements][3][2]."""
        import numpy

        return numpy.stack([self.x, self.y], axis=1)[self.elements]


def load_array(path: Path) -> "numpy.ndarray":
    """An array of numbers. Raises FabricmarkError (2) where the file is none."""
    import numpy

    with refusing(f"cannot read {path}", "write it again"):
        found = numpy.load(path, allow_pickle=False)
    if not isinstance(found, numpy.ndarray) or found.dtype.kind not in "iuf":
        raise FabricmarkError(f"{path} holds no numbers", "write it again")
    return found
