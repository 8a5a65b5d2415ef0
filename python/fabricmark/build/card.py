"""Bitstreams for the emulated card (docs/xrt.md): kernels compiled by clang for the host, in an .xclbin.

The card loads a shared library: the kernels, of OpenCL C or HLS C++, OpenCL's functions that they call
(src/card/builtins.cl), and for each kernel a function that starts it with pointers to its arguments. No tool
of a vendor is needed.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import vitis, xclbin
from fabricmark.build.design import HLS, Design, Kernel, Memory
from fabricmark.build.steps import CLANG, USUAL, How, Steps

TOOL = "fabricmark"
TARGET = "sw_emu"
OF_AMD = "host"  # placement of memory: who chooses the banks of its boards
VERSION = 1  # of the description, as src/card/kernels.hpp reads it
PROTOCOL = "ap_ctrl_hs"
FIRST_UNIT, UNIT_BYTES = 0x1800000, 0x10000  # addresses of units' registers
FIRST_ARGUMENT = 0x10  # behind the registers that control a unit
UNLINKED_BYTES = 2**28  # of a memory that no argument is linked to; XRT puts its own commands into the first
CLOCK_MHZ = 300  # in the metadata, which must have one: the card knows no clock
# As v++ lays registers out, each argument has its own and a spare one; by its kind, as C and its bytes.
TYPES = {
    "uchar": ("unsigned char", 1), "uint": ("unsigned int", 4), "ulong": ("unsigned long", 8),
    "half": ("_Float16", 2), "float": ("float", 4), "double": ("double", 8), "buffer": ("void *", 8),
}  # fmt: skip
REGISTER = 4
HLS_LANGUAGE = ["-x", "c++", "-std=c++14"]  # as Vitis HLS takes it, whose pragmas mean nothing here
QUIET = ["-Wno-unknown-pragmas"]
COMPILER = [CLANG, "-O2", "-march=native", "-ffp-contract=off", "-fPIC"]
CLANG_REMEDY = f"install {CLANG} (Debian: the package {CLANG})"


def steps(
    design: Design, platform: str | None, folder: Path, extra: Sequence[str], how: How = USUAL
) -> Steps:
    """What makes the bitstream; `platform`: the board's name, as the runtime shows it; `how` says nothing.

    Raises FabricmarkError (2) for a design without a board, with channels or with ACCL's engine.
    """
    check_memories(design)
    if design.uses_channels:
        cause = "channels of Intel's kernels are nothing that the card takes"
        raise FabricmarkError(cause, "use another --variant")
    if design.engine:
        cause = "ACCL's kernels are linked for cards, not for emulated ones"
        raise FabricmarkError(cause, "use --target hw or report; the programs emulate the engine")
    description = describe(design, platform)
    stem = folder / design.benchmark
    kernels, functions, library, text, entry = (
        stem.with_name(f"{design.benchmark}.{ending}")
        for ending in ("kernels.o", "builtins.o", "so", "card.json", "card.c")
    )
    bitstream = folder / f"{design.benchmark}.xclbin"
    opencl = [
        "-x",
        "cl",
        "-cl-std=CL1.2",
        "-target",
        "x86_64-linux-gnu",
        "-Xclang",
        "-finclude-default-header",
    ]
    language = [*HLS_LANGUAGE, *QUIET] if design.language == HLS else opencl
    commands = [
        [*COMPILER, *language, *paths.include_options(design.source), *design.macros(), *extra,
         "-c", str(design.source), "-o", str(kernels)],
        [*COMPILER, *opencl, "-c", str(paths.card_functions()), "-o", str(functions)],
        [*COMPILER, "-shared", "-Wl,--no-undefined", str(entry), str(kernels), str(functions), "-lm",
         "-o", str(library)],
        [sys.executable, "-m", "fabricmark.build.xclbin", str(text), str(library), str(bitstream)],
    ]  # fmt: skip
    files = {
        text: json.dumps(description, indent=1) + "\n",
        entry: entry_source(description),
        folder / "emconfig.json": xclbin.emulation_config(description, 1),
    }
    names = [unit["name"] for unit in description["units"]]
    notes = [f"compute units: {', '.join(names)}"]
    return Steps(CLANG, notes, files, commands, bitstream, design.sidecar(), CLANG_REMEDY)


def check_memories(design: Design) -> None:
    """Raises FabricmarkError (2) for a design without a board of AMD's."""
    has_memories = design.memory.placement == OF_AMD and design.memory.bank_bytes
    if not has_memories or design.memory.kind.upper() not in xclbin.MEMORY_TYPES:
        raise FabricmarkError(
            "nothing says which memories the card has", "name a board of AMD's: --system u280_hbm"
        )


def memories_of(memory: Memory) -> list[dict[str, Any]]:
    """Those of a board, as the description has them."""
    kind = memory.kind.upper()
    other = "HBM" if kind == "DDR" else "DDR"
    # What the shell lists before the board's memory, to which nothing is linked.
    unlinked = range(memory.index_offset)
    found = [{"name": f"{other}[{i}]", "bytes": UNLINKED_BYTES, "used": False} for i in unlinked]
    banks = range(memory.banks)
    return found + [{"name": f"{kind}[{i}]", "bytes": memory.bank_bytes, "used": True} for i in banks]


def head(design: Design, platform: str | None) -> dict[str, Any]:
    """What a description begins with."""
    name = platform or f"xilinx_{design.board or 'board'}_card"
    return {"version": VERSION, "platform": name, "clock_mhz": CLOCK_MHZ}


def describe(design: Design, platform: str | None) -> dict[str, Any]:
    """The description that container and card are made from (xclbin.py)."""
    kind = design.memory.kind.upper()
    memories = memories_of(design.memory)
    numbers = {bank["name"]: number for number, bank in enumerate(memories)}
    links = links_of(design)
    missing = {one for of in links.values() for names in of.values() for one in names} - numbers.keys()
    if missing:
        cause = f"the emulated card has no {min(missing)}"
        raise FabricmarkError(cause, f"name memories of its board, which has {kind}[0] and so on")
    units: list[dict[str, Any]] = []
    for kernel in design.kernels:
        for name in vitis.compute_units(kernel):
            banks = {argument: [numbers[one] for one in of] for argument, of in links[name].items()}
            units.append({
                "kernel": kernel.name, "name": name, "control": PROTOCOL,
                "base": FIRST_UNIT + UNIT_BYTES * len(units), "arguments": list(_arguments(kernel, banks)),
            })  # fmt: skip
    return {**head(design, platform), "memories": memories, "units": units}


def links_of(design: Design) -> dict[str, dict[str, list[str]]]:
    """By compute unit and argument the memories that it is linked to, as v++'s linker is told where each has
    a port: all where the host chooses."""
    memory, found = design.memory, {}
    every = [f"{memory.kind.upper()}[{bank}]" for bank in range(memory.banks)]
    for kernel in design.kernels:
        for i, unit in enumerate(vitis.compute_units(kernel)):
            usual = [kernel.memories[i]] if kernel.memories else every
            found[unit] = {
                argument: [every[memory.bank(banks[i])]] if banks else usual
                for argument, banks in kernel.buffers.items()
            }
    return found


def _arguments(kernel: Kernel, banks: dict[str, list[int]]) -> Iterator[dict[str, Any]]:
    offset = FIRST_ARGUMENT
    for name, kind in kernel.arguments:
        if kind not in TYPES:
            raise FabricmarkError(
                f"{kernel.name} has the argument {name} of the type {kind}", "use another kernel"
            )
        size = TYPES[kind][1]
        yield {"name": name, "kind": "buffer" if kind == "buffer" else "scalar",
               "type": "void*" if kind == "buffer" else kind, "offset": offset, "bytes": size,
               "banks": banks.get(name, [])}  # fmt: skip
        offset += max(size, REGISTER) + REGISTER


def entry_source(description: dict[str, Any]) -> str:
    """C: what the card finds in the library, a function for each kernel and the description."""
    lines = []
    arguments = {unit["kernel"]: unit["arguments"] for unit in description["units"]}
    for kernel, given in arguments.items():
        types = [TYPES["buffer" if one["kind"] == "buffer" else one["type"]][0] for one in given]
        values = [f"*({one} *)arguments[{number}]" for number, one in enumerate(types)]
        lines += [f"extern void {kernel}({', '.join(types)});"]
        lines += [f"void fabricmark_card_start_{kernel}(void *const *arguments) {{"]
        lines += [f"  {kernel}({', '.join(values)});", "}"]
    text = json.dumps(json.dumps(description))  # a string of JSON is one of C, as none of its names has more
    return "\n".join([*lines, f"const char fabricmark_card_description[] = {text};", ""])
