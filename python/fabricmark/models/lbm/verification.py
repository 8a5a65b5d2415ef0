"""What lattice Boltzmann has to reach where a solution is known, in double precision."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import log, pi, sqrt

from fabricmark.models._verification import Case, Reached, at_most, error_of, near, orders_on, said

ROUNDINGS = 1e-12  # relative: of a flow that the method gives exactly
HALF_WAY = 1 / (1 / 2 + sqrt(3 / 16))  # the omega of which walls lie half-way between cells
OMEGA = 1.25
VISCOSITY = (1 / OMEGA - 1 / 2) / 3
CELLS = (16, 32, 64)
MASS = {"float": 1e-6, "double": 1e-14}
GHIA = re.compile(r"largest difference from Ghia[^:]*: ([\d.e+-]+)")
STROUHAL = re.compile(r"Strouhal number ([\d.e+-]+)")
# Relative errors of the velocity: L2, and the largest.
ERRORS = re.compile(r"velocity: L2 ([\d.e+-]+), largest ([\d.e+-]+)")


def vortices(cells: int) -> dict[str, object]:
    """Until half of the speed is left. Sound counts less on finer grids, where they are slower."""
    steps = round(log(2) / (2 * VISCOSITY * (2 * pi / cells) ** 2))
    speed = 0.004 * 32 / cells
    return {**grid("taylor_green", cells, cells, steps), "omega": OMEGA, "speed": speed}


def grid(case: str, columns: int, rows: int, steps: int) -> dict[str, object]:
    return {"case": case, "columns": columns, "rows": rows, "steps": steps, "data_type": "double"}


def exact(documents: Sequence[Mapping]) -> list[Reached]:
    return [at_most("largest error of the velocity", max(said(one, ERRORS)), ROUNDINGS) for one in documents]


def mass(documents: Sequence[Mapping]) -> list[Reached]:
    found = []
    for one in documents:
        kind = one["parameters"]["data_type"]
        found.append(at_most(f"relative change of the mass, {kind}", error_of(one, "mass"), MASS[kind]))
    return found


def centre_line(documents: Sequence[Mapping]) -> list[Reached]:
    (one,) = documents
    (difference,) = said(one, GHIA)
    return [at_most("largest difference of the speed on the centre line", difference, 0.01)]


def wake(documents: Sequence[Mapping]) -> list[Reached]:
    (one,) = documents
    (strouhal,) = said(one, STROUHAL, otherwise=(0.0,))  # where no vortices pass
    # 0.164 to 0.166 in free flow (Williamson 1989); more between walls, here ten diameters apart.
    return [near("Strouhal number", strouhal, 0.18, 0.02)]


ORDER = orders_on(CELLS, ERRORS, partial(near, wanted=2, by=0.1))
BOX = grid("box", 64, 64, 10_000)
CASES = {
    "taylor_green": Case("vortices that decay, on three grids", tuple(map(vortices, CELLS)), ORDER),
    "poiseuille": Case(
        "a force between walls", ({**grid("poiseuille", 8, 16, 6000), "omega": HALF_WAY},), exact
    ),
    "couette": Case(
        "a wall that pulls", ({**grid("couette", 8, 16, 6000), "omega": HALF_WAY},), exact
    ),
    # Until the flow no longer changes: forty times the time in which the lid moves along the box.
    "cavity": Case(
        "a box under a moving lid, beside Ghia et al. 1982", (grid("cavity", 128, 129, 51_200),), centre_line
    ),
    "cylinder": Case(
        "vortices behind a cylinder, at a Reynolds number of 100",
        ({**grid("cylinder", 720, 240, 40_000), "wake_every": 100, "data_type": "float"},), wake
    ),
    "box": Case("sound in a closed box", ({**BOX, "data_type": "float"}, BOX), mass),
}  # fmt: skip
