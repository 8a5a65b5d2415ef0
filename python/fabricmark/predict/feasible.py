"""Whether a design can be built: its resources, scaled from the synthesis that it starts from, and its clock.

A published synthesis has amounts of logic, DSPs and on-chip memory for its parameters. With others each
amount grows with the replications and with what the benchmark's `synthesis` says: arithmetic takes DSPs and
logic, larger buffers take blocks of memory beyond those. It is an estimate of what has to be there at least;
that a design fits by it says nothing of placement, routing and the clock that the tools reach.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fabricmark import models, systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.written import percent
from fabricmark.models.machine import Bitstream
from fabricmark.systems import System, files

NAMES = {
    "logic": "LUTs or ALMs",
    "registers": "registers",
    "bram": "blocks of memory",
    "uram": "UltraRAM blocks",
    "dsps": "DSPs",
}
ARITHMETIC = ("logic", "registers", "dsps")
# Bytes of a block of on-chip memory: M20K of Intel's devices, BRAM36 of AMD's, which have UltraRAM beside it.
M20K_BYTES, BRAM36_BYTES = 2560, 4608
CLOCK_MARGIN = 1.5  # times the fastest synthesis of a board: beyond that no tool came close


@dataclass(frozen=True)
class Use:
    """Of one resource: what a design needs, and what the board has."""

    name: str
    needed: float
    available: float

    @property
    def share(self) -> float:
        return self.needed / self.available

    def __str__(self) -> str:
        return f"{round(self.needed)} of {round(self.available)} {NAMES[self.name]}"


def resources(values) -> dict[str, float]:
    """Amounts by name from the values of a board or bitstream."""
    found: dict[str, float] = {}
    for one in values:
        place, _, name = one.name.partition(".")
        number = one.of("fitted")
        if place == "resources" and number is not None:
            found.setdefault(name, number)
    return found


def uses(system: System, place: int, parameters: Mapping) -> list[Use]:
    """Of each resource that board and synthesis say.

    `place`: of the synthesis among the system's. `parameters`: of the design, as the model takes them.
    """
    published = system.bitstreams[place]
    own = resources(system.parts[[name for name in system.parts if "/" in name][place]])
    board = resources(system.parts[""])
    growth = grown(published, parameters)
    if growth is None:
        return []
    replications, arithmetic, more_bytes = growth
    block = BRAM36_BYTES if "uram" in board else M20K_BYTES
    found = []
    for name in (name for name in own if name in board):
        if name in ARITHMETIC:
            needed = own[name] * max(arithmetic, replications)
        else:
            needed = own[name] * replications + (more_bytes / block if name == "bram" else 0)
        found.append(Use(name, needed, board[name]))
    return found


def grown(published: Bitstream, parameters: Mapping) -> tuple[float, float, float] | None:
    """(times the replications, times the arithmetic, bytes of buffers beyond those of the replications); None
    where the model says nothing."""
    synthesis = getattr(models.find(published.benchmark), "synthesis", None)
    if synthesis is None:
        return None
    design = {name: parameters.get(name, value) for name, value in published.parameters.items()}
    known = {**parameters, **published.parameters}
    try:
        before, now = synthesis(known), synthesis({**known, **design})
    except KeyError:
        return None
    times = design.get("replications", 1) / published.parameters.get("replications", 1)
    more = now.buffer_bytes - before.buffer_bytes * times
    return times, now.arithmetic / before.arithmetic, max(more, 0.0)


def check(about: str, system: System, place: int | None, bitstream: Bitstream, parameters: Mapping) -> str:
    """What is used of the board, in a line. Raises FabricmarkError (2) for a design that cannot be built.

    `system`: as its files have it, without what was set; `place`: of the bitstream in it. `bitstream`: with
    what was set.
    """
    if place is None or system.board.device_class != "fpga":
        return ""
    check_clock(about, system, bitstream)
    found = uses(system, place, parameters)
    if not found:
        return ""
    over = [one for one in found if one.needed > one.available]
    if over:
        what = design(bitstream, parameters)
        cause = f"{about} does not fit: {what} need {' and '.join(map(str, over))}"
        raise FabricmarkError(cause, remedy(system, place, parameters))
    ordered = sorted(found, key=lambda one: -one.share)
    shares = ", ".join(f"{percent(one.share)} of the {NAMES[one.name]}" for one in ordered)
    return f"resources, as in {bitstream.name}: {shares}; {NAMES[ordered[0].name]} end first"


def design(bitstream: Bitstream, parameters: Mapping) -> str:
    """The parameters that make a design large, in words."""
    replications = parameters.get("replications", bitstream.parameters.get("replications", 1))
    others = [
        f"{name} {parameters[name]}"
        for name, value in bitstream.parameters.items()
        if name != "replications" and parameters.get(name, value) != value
    ]
    return " with ".join([f"{replications} replications", *([", ".join(others)] if others else [])])


def remedy(system: System, place: int, parameters: Mapping) -> str:
    """The most replications that fit with the other parameters."""
    least, most = 0, int(parameters.get("replications", 1))
    while least < most:  # the largest that fits is between both
        middle = (least + most + 1) // 2
        tried = uses(system, place, {**parameters, "replications": middle})
        least, most = (middle, most) if all(one.share <= 1 for one in tried) else (least, middle - 1)
    return f"at most {least} replications fit" if least else "set smaller blocks or buffers"


@cache
def fastest(board: str) -> float:
    """The fastest clock of all syntheses for a board in the files of systems [Hz]; 0 where there is none."""
    found = [0.0]
    for name, path in files.listed("bitstreams").items():
        if files.parse(path).get("board") == board:
            found += [one.kernel_hz or 0.0 for one in systems.bitstreams(name).values()]
    return max(found)


def check_clock(about: str, system: System, bitstream: Bitstream) -> None:
    """Raises FabricmarkError (2) for a clock that no synthesis came close to."""
    known = max(fastest(system.board_id), *(one.kernel_hz or 0.0 for one in system.bitstreams))
    if bitstream.kernel_hz is None or not known or bitstream.kernel_hz <= CLOCK_MARGIN * known:
        return
    mine, most = (f"{hertz / 1e6:.4g} MHz" for hertz in (bitstream.kernel_hz, known))
    fastest_one = f"the fastest synthesis for {system.board_id} has {most}"
    cause = f"{about}: bitstream.clock = {mine} cannot be reached: {fastest_one}"
    raise FabricmarkError(cause, f"set at most {CLOCK_MARGIN * known / 1e6:.4g} MHz")
