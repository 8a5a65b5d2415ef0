"""Intel's aoc: one command for a file of kernels, whose replicas are entry points of their own.

What the tool takes and where that is documented: rules/aoc.toml. Not tried on hardware.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import rules
from fabricmark.build.design import HLS, Design, Kernel
from fabricmark.build.steps import USUAL, How, Steps

TOOL = "aoc"
EMULATOR, REPORT = "emulator", "report"
STAGES = {EMULATOR: ["-march=emulator"], REPORT: ["-rtl", "-report"]}


def steps(
    design: Design, platform: str | None, folder: Path, extra: Sequence[str], how: How = USUAL
) -> Steps:
    """What makes the bitstream; `platform`: the board's name in its support package, else the usual one.

    Raises FabricmarkError (2) for a kernel that is to be linked to several kinds of memory, and for channels
    where no package of the board has any.
    """
    if design.language == HLS:
        raise FabricmarkError("aoc takes no HLS C++", "leave out --language, or use --tool v++")
    if any(len(one.memories) > 1 for one in design.kernels):
        raise FabricmarkError("aoc links a kernel to one kind of memory", "name one, or use --tool v++")
    version = rules.version_of(TOOL, how.version, design.tools)
    board = rules.board(TOOL, design.board)
    # -rtl stops before there is a bitstream: the reports lie in a folder of the output's name.
    made = folder / f"{design.benchmark}.{'aocr' if how.target == REPORT else 'aocx'}"
    command = [TOOL, *STAGES.get(how.target, []), *paths.include_options(design.source), *definitions(design)]
    platform = platform or how.platform
    if platform is None and board is not None:
        platform = board.platform(version, has_channels=design.uses_channels).name
    if platform is not None and how.target != EMULATOR:
        command.append(f"-board={platform}")
    has_banks = any(any(one.buffers.values()) for one in design.kernels)  # of arguments
    if has_banks and (design.memory.placement == "interleaved" or not design.memory.banks):
        command.append("-no-interleaving=default")  # else a bank that the host asks for counts for nothing
    if how.relaxed if how.relaxed is not None else design.bitstream:  # as the published ones were built
        command += rules.load(TOOL).form("relaxed", version)["options"]
    command += [*extra, "-o", str(made), str(design.source)]
    names = [name for one in design.kernels for name in entry_points(one)]
    notes = [f"{TOOL} {version}", f"kernels: {', '.join(names)}"]
    return Steps(TOOL, notes, {}, [command], made, "" if how.target == REPORT else design.sidecar())


def entry_points(kernel: Kernel) -> list[str]:
    """The names of a kernel's copies, as the dialect header makes them and the host looks for them."""
    return [f"{kernel.name}_{i}" for i in range(kernel.copies)] if kernel.is_replicated else [kernel.name]


def definitions(design: Design) -> list[str]:
    """The options of the compiler's preprocessor, with memory by argument where the board has it by name."""
    found = [
        name if name.startswith("-") else f"-D{name}={value}" for name, value in design.definitions.items()
    ]
    return found + (list(_locations(design)) if design.memory.placement == "kernel" else [])


def _locations(design: Design) -> Iterator[str]:
    """FM_GLOBAL of the dialect header: the memory of each argument of each copy, by its name on the board.

    What may lie anywhere is in the first one, as memories of different names cannot share an array.
    """
    yield "-DFM_LOCATIONS"
    for kernel in design.kernels:
        for argument, banks in kernel.buffers.items():
            for i in range(kernel.copies):
                bank = design.memory.bank(banks[i] if banks else 0)
                name = f"{design.memory.kind.upper()}{bank}"
                yield f'-DFM_LOCATION_{kernel.name}_{argument}_{i}="{name}"'
