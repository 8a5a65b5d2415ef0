"""AMD's v++: each kernel is compiled, and linked into as many compute units as there are replicas.

`nk` is their number and `sp` the memory of each one's arguments; a memory port of its own for each argument
is asked for when a kernel is compiled. Source: AMD, UG1393 2021.2, chapter "v++ Command", sections
"--connectivity Options" and "--hls Options". Not tried on hardware.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build.design import HLS, Design, Kernel
from fabricmark.build.steps import Steps

TOOL = "v++"
PORTS = "[hls]\nmax_memory_ports=all\n"


def steps(design: Design, platform: str | None, folder: Path, extra: Sequence[str]) -> Steps:
    """What makes the bitstream; `platform`: of the board, where the environment's is not wanted.

    Raises FabricmarkError (2) for kernels that only Intel's tools take.
    """
    if design.uses_channels:
        cause = "channels of Intel's kernels are nothing that v++ takes"
        raise FabricmarkError(cause, "use --tool aoc or another --variant")
    common = ["-t", "hw", *(["--platform", platform] if platform is not None else []), *extra]
    ports = folder / f"{design.benchmark}.compile.cfg"
    config = folder / f"{design.benchmark}.link.cfg"
    has_ports = design.language == HLS  # of itself, as pragmas
    configured = [] if has_ports else ["--config", str(ports)]
    objects, commands = [], []
    for kernel in design.kernels:
        objects.append(str(folder / f"{kernel.name}.xo"))
        commands.append(
            [TOOL, "-c", *common, "-k", kernel.name, *configured,
             *paths.include_options(design.source), *design.macros(), str(design.source), "-o", objects[-1]]
        )  # fmt: skip
    bitstream = folder / f"{design.benchmark}.xclbin"
    commands.append([TOOL, "-l", *common, "--config", str(config), *objects, "-o", str(bitstream)])
    names = [name for one in design.kernels for name in compute_units(one)]
    files = {config: connectivity(design)} if has_ports else {ports: PORTS, config: connectivity(design)}
    notes = [f"compute units: {', '.join(names)}"]
    return Steps(TOOL, notes, files, commands, bitstream, design.sidecar())


def compute_units(kernel: Kernel) -> list[str]:
    """The names that v++ gives a kernel's copies."""
    return [f"{kernel.name}_{i + 1}" for i in range(kernel.copies)]


def connectivity(design: Design) -> str:
    """The linker's configuration: copies of each kernel, and the memory of each one's arguments."""
    lines = ["[connectivity]", *(f"nk={one.name}:{one.copies}" for one in design.kernels)]
    for kernel in design.kernels:
        if kernel.memories or design.memory.kind in ("ddr", "hbm"):
            lines += _memories(kernel, design)
    return "\n".join(lines) + "\n"


def _memories(kernel: Kernel, design: Design) -> Iterator[str]:
    kind, last = design.memory.kind.upper(), design.memory.banks - 1
    for i, unit in enumerate(compute_units(kernel)):
        for argument, banks in kernel.buffers.items():
            bank = str(design.memory.bank(banks[i])) if banks else f"0:{last}" if last else "0"
            yield f"sp={unit}.{argument}:{kernel.memories[i] if kernel.memories else f'{kind}[{bank}]'}"
