"""AMD's v++: each kernel is compiled, and linked into as many compute units as there are replicas.

`nk` is their number, `sp` the memory of each one's arguments and `slr` the part of the chip that each is in.
A memory port for each argument is asked for when a kernel is compiled, where the board has as many.
What the tool takes and where that is documented: rules/vitis.toml. Not tried on hardware.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import accl, rules
from fabricmark.build.design import HLS, Design, Kernel
from fabricmark.build.rules import Board
from fabricmark.build.steps import USUAL, How, Steps

TOOL = "v++"
PORTS = "[hls]\nmax_memory_ports=all\n"
ONE_PORT = "-DFM_ONE_PORT=1"  # to a source in HLS C++: all pointers of a kernel share a master
EMULATIONS = ("sw_emu", "hw_emu")
REPORT = "report"  # compiled for hardware, and not linked: what HLS says of each kernel
CONFIGURES = "emconfigutil"  # what says which cards an emulation has
KINDS = ("ddr", "hbm")


def steps(
    design: Design, platform: str | None, folder: Path, extra: Sequence[str], how: How = USUAL
) -> Steps:
    """What makes the bitstream; `platform`: of the board, where the usual one is not wanted.

    Raises FabricmarkError (2) for kernels that only Intel's tools take, for a board that the version of the
    tool has no platform of, and for one that ACCL's engine has no design for.
    """
    if design.uses_channels:
        cause = "channels of Intel's kernels are nothing that v++ takes"
        raise FabricmarkError(cause, "use --tool aoc or another --variant")
    version = rules.version_of(TOOL, how.version, design.tools)
    board = rules.board(TOOL, design.board)
    platform = platform or how.platform or (board.platform(version).name if board else None)
    engine = None
    if design.engine:
        if how.target in EMULATIONS:
            cause = f"ACCL's kernels are linked for cards, not for {how.target}"
            raise FabricmarkError(cause, "use --target hw or report; the programs emulate the engine")
        engine = accl.linked(design.benchmark, design.source, design.engine, design.board, platform or "")
    target = "hw" if how.target == REPORT else how.target
    common = ["-t", target, *(["--platform", platform] if platform is not None else [])]
    common += [*_frequency(design, board, version, how), *extra]
    ports = folder / f"{design.benchmark}.compile.cfg"
    config = folder / f"{design.benchmark}.link.cfg"
    has_ports = own_ports(design, version)
    is_configured = has_ports and design.language != HLS  # whose pragmas say it
    shared = [ONE_PORT] if design.language == HLS and not has_ports and engine is None else []
    files = {ports: PORTS} if is_configured else {}
    objects, commands = [], []
    for kernel in design.kernels:
        objects.append(str(folder / f"{kernel.name}.xo"))
        asked = ["--config", str(ports)] if is_configured else []
        commands.append(
            [TOOL, "-c", *common, "-k", kernel.name, *asked,
             *paths.include_options(design.source), *design.macros(), *shared, str(design.source),
             "-o", objects[-1]]
        )  # fmt: skip
    known = accl.units(design.benchmark) if engine else {}
    names = [name for one in design.kernels for name in known.get(one.name, compute_units(one))]
    notes = [f"{TOOL} {version}", f"compute units: {', '.join(names)}"]
    if how.target == REPORT:
        commands = [[*command[:2], "--save-temps", *command[2:]] for command in commands]
        return Steps(TOOL, notes, files, commands, Path(objects[-1]), "")
    bitstream = folder / f"{design.benchmark}.xclbin"
    files[config] = engine.text if engine else connectivity(design, board, has_ports=has_ports)
    more = [*engine.options, *engine.files.values()] if engine else []
    commands.append([TOOL, "-l", *common, "--config", str(config), *more, *objects, "-o", str(bitstream)])
    if how.target in EMULATIONS and platform is not None:
        commands.append([CONFIGURES, "--platform", platform, "--od", str(folder)])
    return Steps(TOOL, notes, files, commands, bitstream, design.sidecar())


def _frequency(design: Design, board: Board | None, version: str, how: How) -> list[str]:
    """The clock that is asked for: the given one, else that of the published design, else the platform's."""
    usual = accl.clock_hz() / 1e6 if design.engine else board.clock_mhz if board else 0
    mhz = how.clock_mhz or design.clock_hz / 1e6 or usual
    if not mhz:
        return []
    form = rules.load(TOOL).form("frequency", version)
    value = str(round(mhz * 1e6 / form["unit_hz"]))
    return [f"{form['option']}={value}"] if form["form"] == "equals" else [form["option"], value]


def compute_units(kernel: Kernel) -> list[str]:
    """The names that v++ gives a kernel's copies."""
    return [f"{kernel.name}_{i + 1}" for i in range(kernel.copies)]


def own_ports(design: Design, version: str) -> bool:
    """Whether each argument gets a port: where the memory has as many, as HBM with its 32 interfaces may not.

    Else the arguments of a kernel share one, which reaches all of their banks.
    """
    known = rules.load(TOOL)
    copies = [(one, i) for one in design.kernels for i in range(one.copies)]
    reached = [banks for kernel, i in copies for _, banks in _places(kernel, i, design, True)]
    if design.memory.kind == "hbm":
        most = known.limit("hbm_masters", version)
        return most is None or len(reached) <= most
    most = known.limit("ports_of_a_bank", version)
    of_banks = Counter(bank for banks in reached for bank in banks)
    return most is None or max(of_banks.values(), default=0) <= most


def connectivity(design: Design, board: Board | None = None, *, has_ports: bool = True) -> str:
    """The linker's configuration: copies of each kernel, and the memory of each one's arguments."""
    lines = ["[connectivity]", *(f"nk={one.name}:{one.copies}" for one in design.kernels)]
    for kernel in design.kernels:
        if kernel.memories or design.memory.kind in KINDS:
            lines += _memories(kernel, design, has_ports)
    if board is not None and board.slrs > 1:
        lines += _regions(design, board)
    return "\n".join(lines) + "\n"


def _memories(kernel: Kernel, design: Design, has_ports: bool) -> Iterator[str]:
    kind = design.memory.kind.upper()
    for i, unit in enumerate(compute_units(kernel)):
        for argument, banks in _places(kernel, i, design, has_ports):
            bank = f"{banks[0]}:{banks[-1]}" if len(banks) > 1 else f"{banks[0]}"
            yield f"sp={unit}.{argument}:{kernel.memories[i] if kernel.memories else f'{kind}[{bank}]'}"


def _places(kernel: Kernel, copy: int, design: Design, has_ports: bool) -> list[tuple[str, range]]:
    """The banks of each argument of a copy: its own, all where the host may choose, and through a port that
    all share those of all."""
    memory = design.memory
    every = range(max(memory.banks, 1))
    found = []
    for argument, banks in kernel.buffers.items():
        first = memory.bank(banks[copy]) if banks and memory.banks else None
        found.append((argument, every if first is None else range(first, first + 1)))
    if has_ports or not found:
        return found
    low, high = min(one.start for _, one in found), max(one.stop for _, one in found)
    return [(argument, range(low, high)) for argument, _ in found]


def _regions(design: Design, board: Board) -> Iterator[str]:
    """The SLR of each compute unit: that of its bank of DDR; else replicas in turn, as HPCC FPGA places them,
    and kernels of which there is one where the memory is."""
    kind = design.memory.kind.upper()
    for kernel in design.kernels:
        for i, unit in enumerate(compute_units(kernel)):
            if not kernel.buffers or kernel.memories:
                continue
            banks = next(iter(kernel.buffers.values()))
            if banks and kind == "DDR":
                yield f"slr={unit}:SLR{board.slr(kind, design.memory.bank(banks[i]))}"
            elif kernel.copies > 1:
                yield f"slr={unit}:SLR{i % board.slrs}"
            else:
                yield f"slr={unit}:SLR{board.usual_slr}"
