"""Whether a problem fits into the memory of a device, and a design onto its chip.

Memory is by the formulas of kernel.toml, as programs have it: `fabricmark-describe` says what a rank
allocates and, of a board, whether its banks have room.

A published synthesis has amounts of logic, DSPs and on-chip memory for its parameters. With others each
amount grows with the replications and with what the benchmark's `synthesis` says: arithmetic takes DSPs and
logic, larger buffers take blocks of memory beyond those. It is an estimate of what has to be there at least;
that a design fits by it says nothing of placement, routing and the clock that the tools reach.

Tools do not fill a chip. How full they got one, of each resource, is the largest share that any published
synthesis for chips of that vendor has; beyond it there is no figure either, unless it is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fabricmark import models, systems
from fabricmark.base import kernels, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import percent
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream
from fabricmark.systems import System, files

DEFAULT_SIZES = ("batch", "size", "log_size")  # the first of these that a benchmark has
HALVINGS = 60
NAMES = {
    "logic": "LUTs or ALMs",
    "registers": "registers",
    "bram": "blocks of memory",
    "uram": "UltraRAM blocks",
    "dsps": "DSPs",
}
SHARE = "logic_share"
ARITHMETIC = ("logic", "registers", "dsps")
FILLED = ("logic", "dsps", "bram")  # nobody needed many registers or UltraRAM blocks
# Bytes of a block of on-chip memory: M20K of Intel's devices, BRAM36 of AMD's, which have UltraRAM beside it.
M20K_BYTES, BRAM36_BYTES = 2560, 4608
ROUNDING = 1e-9
CLOCK_MARGIN = 1.5  # times the fastest synthesis of a board: beyond that no tool came close


@dataclass(frozen=True)
class Needed:
    """Bytes that a rank keeps in its device's memory.

    `refusal`: of the program, where banks have no room. `parameters`: that all this follows from.
    """

    bytes: float
    refusal: Mapping = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()

    def fits(self, board: Board) -> bool:
        """Whether a device of this board, whose memory is known, can hold it."""
        return self.bytes <= (board.memory_bytes or 0) and not self.refusal


def _request(benchmark: str, run: Mapping, board: Board, devices: int) -> dict:
    """What fabricmark-describe is asked; `run`: all parameters, as the model takes them."""
    known = kernels.kernel(benchmark)
    settings = {name: run[name] for name in known.parameters if name in run and name != "transport"}
    variant = run.get("variant", "")
    banks = max(int(board["memory.banks"]), 1)
    memory = {"kind": board.memory_kind, "placement": board.memory_placement,
              "bank_bytes": int((board.memory_bytes or 0) / banks)}  # fmt: skip
    given = getattr(models.find(benchmark), "given", None)
    return kernels.wanted(
        benchmark, board.device_class, settings, board.get("processor.cores"), banks=banks, ranks=devices,
        memory=memory, variant=variant if variant in known.variants else "",
        numbers=given(run, devices) if given else None,
    )  # fmt: skip


def needed(benchmark: str, run: Mapping, board: Board, devices: int) -> Needed | None:
    """None where nothing says it, or how much the device has. Raises FabricmarkError (2, or 3)."""
    (found,) = _all_needed(benchmark, [run], board, devices)
    return found


def ask_of(benchmark: str, plans: Sequence, runs: Sequence[Mapping]) -> None:
    """Asks of all runs in one start of the program, so that each is known when it is its turn. `plans`: board
    and devices of each."""
    of = [(benchmark, run, plan.board, plan.devices) for plan, run in zip(plans, runs, strict=True)]
    kernels.answers([_request(*one) for one in of if one[2].memory_bytes is not None])


def check_memory(benchmark: str, run: Mapping, board: Board, devices: int) -> None:
    """Raises FabricmarkError (2) for what does not fit."""
    found = needed(benchmark, run, board, devices)
    if found is None or found.fits(board):
        return
    about = f"{benchmark} on {devices} devices"
    if found.refusal:
        kernels.refused({"error": found.refusal}, about)
    have, wants = (f"{amount / 2**30:.3g} GiB" for amount in (board.memory_bytes or 0, found.bytes))
    raise FabricmarkError(f"{about} needs {wants} of a device's {have}", "set a smaller size")


def shrunk(benchmark: str, run: dict, given: Mapping, board: Board, devices: int) -> dict:
    """The parameters with a default size, not one that is given, halved until a device can hold it."""
    chosen = [name for name in DEFAULT_SIZES if name in run]
    if not chosen or set(chosen) & set(given):
        return run
    name = chosen[0]
    first = needed(benchmark, run, board, devices)
    if first is None or first.fits(board):
        return run
    smaller = []
    for halving in range(1, HALVINGS):
        size = run[name] - halving if name == "log_size" else run[name] >> halving
        if size < 1:
            break
        smaller.append({**run, name: size})
    for one, found in zip(smaller, _all_needed(benchmark, smaller, board, devices), strict=True):
        if found is not None and found.fits(board):
            return one
    return run


def _all_needed(benchmark: str, runs: Sequence[Mapping], board: Board, devices: int) -> list[Needed | None]:
    """Of each run; one start of the program for all."""
    if board.memory_bytes is None:
        return [None] * len(runs)
    answers = kernels.ask([_request(benchmark, run, board, devices) for run in runs])
    found: list[Needed | None] = []
    for said in (answer.get("memory") for answer in answers):
        found.append(said and Needed(said["bytes"], said.get("refusal", {}), frozenset(said["parameters"])))
    return found


@dataclass(frozen=True)
class Use:
    """Of one resource: what a design needs, and what the board has."""

    name: str
    needed: float
    available: float
    reached: float = 1.0  # share of it that the fullest published synthesis has

    @property
    def share(self) -> float:
        return self.needed / self.available

    @property
    def is_beyond(self) -> bool:
        """Whether it is more than any published synthesis has."""
        return self.share > self.reached * (1 + ROUNDING)

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
    own = resources(system.parts[list(system.designs)[place]])
    board = resources(system.parts[""])
    growth = grown(published, parameters)
    if growth is None:
        return []
    replications, arithmetic, more_bytes = growth
    block = BRAM36_BYTES if is_amd(board) else M20K_BYTES
    available = with_share(board, own)
    found = []
    for name in (name for name in own if name in board):
        if name in ARITHMETIC:
            needed = own[name] * max(arithmetic, replications)
        else:
            needed = own[name] * replications + (more_bytes / block if name == "bram" else 0)
        found.append(Use(name, needed, available[name], fullest(is_amd(board)).get(name, 1.0)))
    return found


def is_amd(board: Mapping[str, float]) -> bool:
    """Whose chip a board with these resources has, AMD's or Intel's."""
    return "uram" in board


def with_share(board: Mapping[str, float], own: Mapping[str, float]) -> dict[str, float]:
    """What kernels may use of a board. Of the logic that is what the tools' share says: tables count ALUTs of
    Intel's chips, two of which make an ALM or not, and a shell takes part of AMD's."""
    if not own.get(SHARE):
        return dict(board)
    return {**board, "logic": own["logic"] / own[SHARE]}


def fullest(amd: bool) -> Mapping[str, float]:
    """The largest share of logic, DSPs and blocks of memory that a published synthesis has, on chips of one
    vendor. The files are read as they are: what users add is not published."""
    return _fullest(paths.root() / "systems" / "bitstreams", amd)


@cache
def _fullest(folder: Path, amd: bool) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for path in sorted(folder.glob("*.toml")):
        text = files.parse(path)
        board = _raw_resources(path.parents[1] / "boards" / f"{text['board']}.toml")
        if is_amd(board) != amd:
            continue
        for one in text["bitstreams"].values():
            own = _numbers(one.get("resources", {}))
            available = with_share(board, own)
            for name in set(own) & set(available) & set(FILLED):
                found[name] = max(found.get(name, 0.0), own[name] / available[name])
    return found


def _raw_resources(path: Path) -> dict[str, float]:
    """Of a board's file, or of that which it is like."""
    text = files.parse(path)
    if "resources" not in text and "like" in text:
        return _raw_resources(path.with_name(f"{text['like']}.toml"))
    return _numbers(text.get("resources", {}))


def _numbers(table: Mapping) -> dict[str, float]:
    """The published ones: plain, or with a source of their own."""
    values = {name: one.get("value") if isinstance(one, dict) else one for name, one in table.items()}
    return {name: one for name, one in values.items() if isinstance(one, int | float)}


def grown(published: Bitstream, parameters: Mapping) -> tuple[float, float, float] | None:
    """(times the replications, times the arithmetic, bytes of buffers beyond those of the replications); None
    where the model says nothing."""
    synthesis = getattr(models.find(published.benchmark), "synthesis", None)
    if synthesis is None:
        return None
    design = {name: parameters.get(name, value) for name, value in published.parameters.items()}
    known = {**parameters, **published.parameters}
    try:
        before, now = synthesis(models.Needed(known)), synthesis(models.Needed({**known, **design}))
    except models.MissingValue:
        return None
    times = design.get("replications", 1) / published.parameters.get("replications", 1)
    more = now.buffer_bytes - before.buffer_bytes * times
    return times, now.arithmetic / before.arithmetic, max(more, 0.0)


def check(
    about: str, system: System, place: int | None, bitstream: Bitstream, parameters: Mapping,
    *, beyond: bool = False,
) -> str:  # fmt: skip
    """What is used of the board, in a line. Raises FabricmarkError (2) for a design that cannot be built.

    `system`: as its files have it, without what was set; `place`: of the bitstream in it. `bitstream`: with
    what was set. `beyond`: it may be fuller than any published synthesis.
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
    fuller = [one for one in found if one.is_beyond]
    if fuller and not beyond:
        most = ", ".join(
            f"{percent(one.share)} of the {NAMES[one.name]} where no published synthesis for such chips has "
            f"more than {percent(one.reached)}"
            for one in fuller
        )
        cause = f"{about} does not fit: {design(bitstream, parameters)} need {most}"
        raise FabricmarkError(cause, f"{remedy(system, place, parameters)}, or use --beyond")
    ordered = sorted(found, key=lambda one: -one.share)
    shares = ", ".join(f"{percent(one.share)} of the {NAMES[one.name]}" for one in ordered)
    end = f"resources, as in {bitstream.name}: {shares}; {NAMES[first(found).name]} is the limiting resource"
    return f"{end}; fuller than any published synthesis" if fuller else end


def first(found: Sequence[Use]) -> Use:
    """The limiting resource: that of which the tools reach the end first."""
    return max(found, key=lambda one: one.share / one.reached)


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
        least, most = (middle, most) if not any(one.is_beyond for one in tried) else (least, middle - 1)
    return f"at most {least} replications fit" if least else "set smaller blocks or buffers"


@cache
def fastest(board: str) -> float:
    """The fastest clock of all syntheses for a board in the files of systems [Hz]; 0 where there is none."""
    found = [0.0]
    for name, path in files.listed("bitstreams").items():
        if files.parse(path).get("board") == board:
            found += [one.get("clock") or 0.0 for one in systems.bitstreams(name).values()]
    return max(found)


def check_clock(about: str, system: System, bitstream: Bitstream) -> None:
    """Raises FabricmarkError (2) for a clock that no synthesis came close to."""
    known = max(fastest(system.board_id), *(one.get("clock") or 0.0 for one in system.bitstreams))
    own = bitstream.get("clock")
    if own is None or not known or own <= CLOCK_MARGIN * known:
        return
    mine, most = (f"{hertz / 1e6:.4g} MHz" for hertz in (own, known))
    fastest_one = f"the fastest synthesis for {system.board_id} has {most}"
    cause = f"{about}: bitstream.clock = {mine} cannot be reached: {fastest_one}"
    raise FabricmarkError(cause, f"set at most {CLOCK_MARGIN * known / 1e6:.4g} MHz")
