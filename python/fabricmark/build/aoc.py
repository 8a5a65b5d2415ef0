"""Intel's aoc: one command for a file of kernels, whose replicas are entry points of their own.

Source: Intel FPGA SDK for OpenCL Pro Edition, Programming Guide (UG-OCL002), chapters 2, 6.2 and 9. Not tried
on hardware.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build.design import HLS, Design, Kernel
from fabricmark.build.steps import Steps

TOOL = "aoc"


def steps(design: Design, platform: str | None, folder: Path, extra: Sequence[str]) -> Steps:
    """What makes the bitstream; `platform`: the board's name in its support package, by default the first.

    Raises FabricmarkError (2) for a kernel that is to be linked to several kinds of memory.
    """
    if design.language == HLS:
        raise FabricmarkError("aoc takes no HLS C++", "leave out --language, or use --tool v++")
    if any(len(one.memories) > 1 for one in design.kernels):
        raise FabricmarkError("aoc links a kernel to one kind of memory", "name one, or use --tool v++")
    bitstream = folder / f"{design.benchmark}.aocx"
    command = [TOOL, *paths.include_options(design.source), *definitions(design)]
    if platform is not None:
        command.append(f"-board={platform}")
    has_banks = any(any(one.buffers.values()) for one in design.kernels)  # of arguments
    if has_banks and (design.memory.placement == "interleaved" or not design.memory.banks):
        command.append("-no-interleaving=default")  # else a bank that the host asks for counts for nothing
    command += [*extra, "-o", str(bitstream), str(design.source)]
    names = [name for one in design.kernels for name in entry_points(one)]
    return Steps(TOOL, [f"kernels: {', '.join(names)}"], {}, [command], bitstream, design.sidecar())


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
