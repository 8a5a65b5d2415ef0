"""The fit of the factors of area.py: which builds there are, which of them it takes, and how far off it is.

Builds are those of systems/bitstreams that have resources of their own and a kernel of this suite as HPCC
FPGA has it; of a vendor they are put in the order of benchmark and name, and every second one is left out of
the fit. What is minimised are the logarithms of estimate over published value, large ones as they are.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from fabricmark import models, systems
from fabricmark.base import cells, transports
from fabricmark.base.kernels import text
from fabricmark.build.design import Design, resolve
from fabricmark.explore import area
from fabricmark.explore.area import BITS, BLOCKS, DSPS, LOGIC_BITS, SHELL, UNITS
from fabricmark.inspect.chips import INTEL, XILINX
from fabricmark.predict import feasible
from fabricmark.systems import files

# What each resource follows from. AMD's tool makes operators of logic and DSPs alike, so that bits count.
# Intel's DSPs each have registers and logic around them, whether they multiply, add or do both: builds of the
# fit, each estimated from the others (`left_out`), are nearer by DSPs than by operations.
TAKES = {
    INTEL: {
        "logic": (SHELL, UNITS, DSPS, LOGIC_BITS),
        "registers": (SHELL, UNITS, DSPS, LOGIC_BITS),
        "bram": (SHELL, UNITS, BLOCKS),
        "dsps": (DSPS,),
    },
    XILINX: {
        "logic": (SHELL, UNITS, BITS),
        "registers": (SHELL, UNITS, BITS),
        "bram": (SHELL, UNITS, BLOCKS),
        "dsps": (DSPS,),
    },
}
NEAR = 0.2  # of logarithms: beyond that a build pulls with its first power alone
DIGITS = 4
MEDIAN_BAR, P90_BAR = 0.25, 0.60
FIT, TEST = "fit", "test"


@dataclass(frozen=True)
class Build:
    """A published build. `amounts`: as area.py counts them; `resources`: as its table has them."""

    name: str
    family: str
    vendor: str
    amounts: Mapping[str, float]
    resources: Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """One resource of a build beside its estimate. `part`: of the fit, or of the test."""

    bitstream: str
    family: str
    vendor: str
    part: str
    resource: str
    published: float
    estimate: float

    @property
    def error(self) -> float:
        return abs(self.estimate / self.published - 1)


COLUMNS = cells.columns(Row)


def builds() -> list[Build]:
    """In the order of vendor, benchmark and name. Raises FabricmarkError where clang is missing."""
    found = []
    for file, path in sorted(files.listed("bitstreams").items()):
        said = files.parse(path)
        board = systems.load(said["board"])
        known = board.designs
        for name, own in said["bitstreams"].items():
            one = known[f"{file}/{name}"]
            if "resources" in own and not models.traits(one.benchmark).is_application:
                found.append(_build(f"{file}/{name}", one, board))
    return sorted(found, key=lambda one: (one.vendor, one.family, one.name))


def _build(name, one, board) -> Build:
    resources = feasible.resources(board.parts[name])
    vendor = area.vendor_of(feasible.resources(board.parts[""]), board.board_id)
    # Tables of kernels alone say their share of what the shell leaves.
    shell = vendor == INTEL or feasible.SHARE not in resources
    made = area.amounts(base_design(one.benchmark, one.parameters), vendor, shell=shell)
    return Build(name, one.benchmark, vendor, made, resources)


@dataclass(frozen=True)
class Engine:
    """What an engine of messages takes beside a kernel: `more` of each resource than the same without."""

    board: str
    transport: str
    design: str
    more: Mapping[str, float]
    note: str


def engines() -> Iterator[Engine]:
    """Of each published design whose kernels call an engine, beside one of the same file that copies to the
    host."""
    for file, path in sorted(files.listed("bitstreams").items()):
        board = systems.load(files.parse(path)["board"])
        own = [(name, one) for name, one in board.designs.items() if name.startswith(f"{file}/")]
        for name, one in own:
            plain = [
                (other, base)
                for other, base in own
                if base.benchmark == one.benchmark and base.transport == transports.HOST
            ]
            if not transports.between_engines(one.transport) or not plain:
                continue
            other, base = plain[0]
            before, now = (feasible.resources(board.parts[key]) for key in (other, name))
            more = {key: now[key] - before[key] for key in now if key in before}
            alike = one.parameters == base.parameters
            note = "" if alike else "of other parameters, so that memory says nothing"
            yield Engine(board.board_id, one.transport, name, more, note)


def base_design(benchmark: str, parameters: Mapping) -> Design:
    """Of these parameters with base kernels, which `inspect` reads."""
    return resolve(benchmark, "base", None, None, {name: text(value) for name, value in parameters.items()})


def halves(every: Sequence[Build], resource: str) -> tuple[list[Build], list[Build]]:
    """(of the fit, of the test): every second one of those that have the resource in their table."""
    fit = [one for place, one in enumerate(every) if place % 2 == 0]
    having = [one for one in every if one.resources.get(resource) and _can(one, resource)]
    return [one for one in having if one in fit], [one for one in having if one not in fit]


def _can(one: Build, resource: str) -> bool:
    """Whether anything of this build follows from its amounts: not the DSPs of kernels without arithmetic."""
    return any(one.amounts[name] for name in TAKES[one.vendor][resource])


def fitted(
    of: Sequence[Build], vendor: str, resource: str, names: Sequence[str] | None = None
) -> dict[str, float]:  # fmt: skip
    """The factors, none of which is below 0; an amount that none of these builds has is left out. `names`: of
    other amounts than TAKES has."""
    from scipy.optimize import least_squares, nnls

    names = [name for name in names or TAKES[vendor][resource] if any(one.amounts[name] for one in of)]
    table = np.array([[one.amounts[name] for name in names] for one in of])
    wanted = np.array([one.resources[resource] for one in of])
    scale = table.max(axis=0)
    first, _ = nnls(table / scale / wanted[:, None], np.ones(len(of)))

    def apart(factors: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(table / scale @ np.abs(factors), 1e-9) / wanted)

    best = least_squares(apart, first + wanted.mean() / 1e3, loss="soft_l1", f_scale=NEAR)
    return {
        name: float(f"{value:.{DIGITS}g}") for name, value in zip(names, np.abs(best.x) / scale, strict=True)
    }


def left_out(of: Sequence[Build], vendor: str, resource: str, names: Sequence[str]) -> list[float]:
    """The error of each of these builds by the factors of the others: which amounts to choose, without a look
    at the builds of the test."""
    found = []
    for one in of:
        factors = fitted([other for other in of if other is not one], vendor, resource, names)
        estimate = sum(factor * one.amounts[name] for name, factor in factors.items())
        found.append(abs(estimate / one.resources[resource] - 1))
    return found


def tables(every: Sequence[Build]) -> dict[str, dict[str, area.Factors]]:
    """By vendor and resource."""
    found: dict[str, dict[str, area.Factors]] = {}
    for vendor, resources in TAKES.items():
        own = [one for one in every if one.vendor == vendor]
        found[vendor] = {}
        for resource in resources:
            fit, test = halves(own, resource)
            names = [tuple(one.name for one in half) for half in (fit, test)]
            found[vendor][resource] = area.Factors(fitted(fit, vendor, resource), *names)
    return found


def rows(every: Sequence[Build], of: Mapping[str, Mapping[str, area.Factors]]) -> Iterator[Row]:
    """Each build beside its estimate."""
    for one in every:
        for resource, factors in of[one.vendor].items():
            if one.name in (*factors.fitted_to, *factors.tested_on):
                part = FIT if one.name in factors.fitted_to else TEST
                estimate = float(f"{factors.estimate(one.amounts):.{DIGITS}g}")
                yield Row(one.name, one.family, one.vendor, part, resource, one.resources[resource], estimate)


def spread(of: Sequence[Row]) -> tuple[float, float]:
    """(median, what 90 % stay within) of the errors, as shares of what is published."""
    errors = [one.error for one in of]
    return statistics.median(errors), float(np.quantile(errors, 0.9))


def toml_text(of: Mapping[str, Mapping[str, area.Factors]]) -> str:
    """data/fitted/area.toml."""
    lines = [
        "# Factors of resources, as tools/area_factors.py writes them: amounts of explore/area.py by these.",
        "# fitted_to, tested_on: designs of systems/bitstreams, FILE/NAME, each with its source there.",
    ]
    for vendor, resources in of.items():
        for resource, one in resources.items():
            inside = ", ".join(f"{name} = {value!r}" for name, value in one.of.items())
            lines += ["", f"[{vendor}.{resource}]", f"factors = {{ {inside} }}"]
            for name, ids in (("fitted_to", one.fitted_to), ("tested_on", one.tested_on)):
                lines += [f"{name} = [", *(f'  "{word}",' for word in ids), "]"]
    return "\n".join(lines) + "\n"


def csv_text(of: Sequence[Row]) -> str:
    """data/fitted/area_builds.csv."""
    return cells.as_csv([COLUMNS, *map(astuple, of)])
