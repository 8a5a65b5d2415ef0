"""What a design takes of a chip, before any synthesis: amounts that `inspect` finds in its base kernel, times
factors that were fitted on every second published build and tested on the others.

The factors stand in data/fitted/area.toml, and each build beside its estimate in data/fitted/area_builds.csv:
tools/area_factors.py writes both (area_fit.py). All of it is modelled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fabricmark.base import paths, toml_file
from fabricmark.base.errors import FabricmarkError
from fabricmark.build.design import Design
from fabricmark.inspect.chips import VENDORS, XILINX, Vendor
from fabricmark.inspect.command import inspect_design
from fabricmark.inspect.view import copies

SCHEMA = "area-1"
WIDTHS = {"half": 16, "float": 32, "double": 64}  # bits of a number
SHELL, UNITS, OPERATIONS, BITS, LOGIC_BITS, BLOCKS, DSPS = AMOUNTS = (
    "shell", "units", "operations", "bits", "logic_bits", "blocks", "dsps"
)  # fmt: skip
MEANINGS = {
    SHELL: "the board's static part, where a table counts it",
    UNITS: "buffers in global memory that kernels load from or store to, of all copies",
    OPERATIONS: "floating-point operations of a cycle",
    BITS: "the same, times the bits of a number",
    LOGIC_BITS: "the same, of operations whose additions no DSP makes",
    BLOCKS: "blocks of on-chip memory that hold the kernels' arrays",
    DSPS: "DSPs as inspect counts them",
}


@dataclass(frozen=True)
class Factors:
    """Of one resource of a vendor's chips: by amount, and the builds of the fit and of the test."""

    of: Mapping[str, float]
    fitted_to: tuple[str, ...]
    tested_on: tuple[str, ...]

    def estimate(self, amounts: Mapping):
        """Numbers, or arrays where the amounts are."""
        return sum(factor * amounts.get(name, 0.0) for name, factor in self.of.items())


def folder() -> Path:
    """data/fitted of the repository. Raises FabricmarkError (3) outside of one."""
    return paths.root() / "data" / "fitted"


def factors(vendor: str) -> Mapping[str, Factors]:
    """By resource. Raises FabricmarkError (2) for a file that is none."""
    return _factors(folder() / "area.toml")[vendor]


@cache
def _factors(path: Path) -> Mapping[str, Mapping[str, Factors]]:
    said = toml_file.load(path, SCHEMA, "restore the file from the repository")
    return {
        vendor: {
            name: Factors(one["factors"], tuple(one["fitted_to"]), tuple(one["tested_on"]))
            for name, one in of_vendor.items()
        }
        for vendor, of_vendor in said.items()
    }


def amounts(design: Design, vendor_name: str, *, shell: bool = True) -> dict[str, float]:
    """What the kernels of a design are made of, all copies together. `shell`: whether the board's static part
    counts. Raises FabricmarkError as `inspect` does.
    """
    vendor = VENDORS[vendor_name]
    found = dict.fromkeys(AMOUNTS, 0.0)
    found[SHELL] = float(shell)
    found[UNITS] = float(sum(one.copies * len(one.buffers) for one in design.kernels))
    for kernel in inspect_design(design, vendor_name):
        times = copies(design, kernel)
        for kind, number in kernel.by_type:
            add(found, vendor, kind, times * number)
        kept = [size for _, size in kernel.arrays if size > vendor.register_bytes]
        found[BLOCKS] += times * sum(-(-size // vendor.block_bytes) for size in kept)
        found[DSPS] += times * kernel.dsps
    return found


def add(found: dict, vendor: Vendor, kind: str, number) -> None:
    """Operations on numbers of a type, to what is there; `number` may be an array."""
    found[OPERATIONS] += number * (not vendor.in_logic(kind))
    found[BITS] += number * WIDTHS[kind]
    found[LOGIC_BITS] += number * WIDTHS[kind] * vendor.in_logic(kind)


def estimates(amounts_of: Mapping, vendor_name: str) -> dict:
    """By resource, from amounts; numbers or arrays."""
    return {name: one.estimate(amounts_of) for name, one in factors(vendor_name).items()}


def blocks_of_rows(vendor: Vendor, word_bytes, words):
    """Blocks of memory that keep so many words of so many bytes, each read in one cycle; arrays of NumPy."""
    wide, deep = vendor.block
    return -(-word_bytes * 8 // wide) * -(-words // deep)


def vendor_of(resources: Mapping[str, float], about: str) -> str:
    """Whose chip a board with these resources has. Raises FabricmarkError (2) for a board without any."""
    if "dsps" not in resources:
        raise FabricmarkError(
            f"nothing says which resources {about} has", "give its file a table resources with dsps and logic"
        )
    from fabricmark.predict import feasible

    return XILINX if feasible.is_amd(resources) else next(name for name in VENDORS if name != XILINX)
