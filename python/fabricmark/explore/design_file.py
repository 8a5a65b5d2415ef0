"""A stencil of the user's that nobody built: what a file says of its elements (schemas/stencil-1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import quantities, toml_file
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import number
from fabricmark.explore import area
from fabricmark.explore.elements import Element, arithmetic_of
from fabricmark.inspect.chips import VENDORS
from fabricmark.models._cascade import Depth

SCHEMA = "stencil-1"
ENDING = ".toml"
FLOAT = "float"
PIPELINES = (1, 2, 4, 8)


@dataclass(frozen=True)
class DesignFile:
    """`hz`: of the kernels; `cell_bytes`: of a cell that streams; `rows`: that an element keeps;
    `arithmetic`: cycles of an element beyond them; `operations`: of a cell; `dsps`: of a pipeline's element,
    None: those that `inspect` finds in the base kernel of `benchmark`. `grid`: columns, rows, steps."""

    path: Path
    name: str
    hz: float
    cell_bytes: float
    rows: int
    arithmetic: float
    operations: float
    dsps: float | None
    benchmark: str
    pipelines: tuple[int, ...]
    grid: Mapping[str, int]

    def element(self, vendor: str) -> Element:
        """On chips of a vendor. Raises FabricmarkError as `inspect` does."""
        if self.dsps is None:
            amounts = arithmetic_of(self.benchmark, vendor, self.operations)
        else:
            amounts = dict.fromkeys((area.OPERATIONS, area.BITS, area.LOGIC_BITS), 0.0)
            area.add(amounts, VENDORS[vendor], FLOAT, self.operations)
            amounts[area.DSPS] = self.dsps
        return Element(self.hz, self.cell_bytes, Depth(self.rows, {}, self.arithmetic), vendor, amounts)


def is_one(name: str) -> bool:
    """Whether a word of the command line names a file."""
    return name.endswith(ENDING)


def load(path: Path) -> DesignFile:
    """Raises FabricmarkError (2) in one line that names file and key."""
    said = toml_file.load(path, SCHEMA, "name a file that describes a stencil, as docs/explore.md has one")
    if ("dsps" in said) == ("benchmark" in said):
        raise FabricmarkError(
            f"{path}: not one of dsps and benchmark",
            "write how many DSPs an element takes, or whose kernel it is",
        )
    return DesignFile(
        path, said["name"], _quantity(path, said, "clock", "hertz"), _quantity(path, said, "cell", "bytes"),
        said["rows_kept"], said["depth"], said["operations"], said.get("dsps"), said.get("benchmark", ""),
        tuple(said.get("pipelines", PIPELINES)), said["grid"],
    )  # fmt: skip


def _quantity(path: Path, said: Mapping, key: str, dimension: str) -> float:
    least, most = quantities.RANGES[dimension]
    try:
        value = quantities.parse(said[key], dimension)
    except ValueError as error:
        raise FabricmarkError(f"{path}: {key}: {error}", "correct that value") from None
    if not least <= value <= most:
        raise FabricmarkError(f"{path}: {key}: {number(value)} is out of range", "correct that value")
    return value
