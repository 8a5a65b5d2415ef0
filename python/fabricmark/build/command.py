"""The command `fabricmark build`."""

from pathlib import Path
from typing import Annotated

import typer

from fabricmark.base import choices, kernels, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import aoc, card, vitis
from fabricmark.build import steps as builds
from fabricmark.build.design import LANGUAGES, MEMORIES, OPENCL, TOUCH, Design, resolve, touching
from fabricmark.systems import option_types

TOOLS = {aoc.TOOL: aoc.steps, vitis.TOOL: vitis.steps, card.TOOL: card.steps}
TARGETS = {"hw": (aoc.TOOL, vitis.TOOL), card.TARGET: (card.TOOL,)}
# Whose compiler a board takes, by who chooses the banks of its memory; by its kind where nobody does.
OF_PLACEMENTS = {"interleaved": aoc.TOOL, "kernel": aoc.TOOL, "host": vitis.TOOL}
OF_KINDS = {"host": aoc.TOOL}
Language = Annotated[str, choices.one_of(list(LANGUAGES), "Of the kernel's source.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated.")
]


def build(
    name: Annotated[str, choices.benchmark("A benchmark of `fabricmark list`, or touch.", TOUCH)],
    extra: Annotated[
        list[str] | None, typer.Argument(help="After ` -- `: options for each call of the tool.")
    ] = None,
    system: Annotated[str | None, option_types.system("Memory and parameters of this system")] = None,
    board: option_types.Board = None,
    bitstream_id: option_types.BitstreamId = None,
    transport: option_types.Transport = None,
    variant: Annotated[str, typer.Option(help="Kind of kernel (default: the bitstream's, else base).")] = "",
    given: Settings = None,
    tool: Annotated[
        str | None, choices.one_of(list(TOOLS), "Whose compiler (default: that of the system's board).")
    ] = None,
    target: Annotated[str, choices.one_of(list(TARGETS), "For a board, or the emulated card.")] = "hw",
    language: Language = OPENCL,
    platform: Annotated[str | None, typer.Option(help="The board, as the vendor's tool names it.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the bitstream.")] = Path("bitstreams"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, as a script.")] = False,
) -> None:
    """Build a bitstream for an FPGA with the vendor's tools, with the sidecar that says what it is."""
    words = settings(name, given or [])
    if name != TOUCH:
        found = resolve(name, variant, system, bitstream_id, words, board, transport)
    elif bitstream_id or variant or transport:
        remedy = "leave out --bitstream-id, --variant and --transport"
        raise FabricmarkError(f"{TOUCH} is a kernel of no benchmark", remedy)
    else:
        found = touching(system, board, words)
    found = found.in_language(language)
    memory = found.memory
    if target not in TARGETS:
        raise FabricmarkError(f"there is no target {target}", f"use --target {' or '.join(TARGETS)}")
    if tool in TOOLS and tool not in TARGETS[target]:
        remedy = f"use --tool {' or '.join(TARGETS[target])}, or another --target"
        raise FabricmarkError(f"{tool} makes nothing for {target}", remedy)
    if target == card.TARGET:
        tool = tool or card.TOOL
    chosen = tool or OF_PLACEMENTS.get(memory.placement) or OF_KINDS.get(memory.kind, "")
    if chosen not in TOOLS:
        cause = f"there is no tool {tool}" if tool else "nothing says whose compiler it is for"
        raise FabricmarkError(cause, f"use --tool {' or '.join(TOOLS)}")
    made = TOOLS[chosen](found, platform, output, extra or [])
    if dry_run:
        print(f"# {title(found)}\n{builds.script(made)}", end="")
        return
    builds.carry_out(made)
    print(
        f"{made.bitstream}: run it with --bitstream; its clock_hz and resources may be added to its sidecar"
    )


def title(design: Design) -> str:
    """The design in one line."""
    source = design.source.resolve().relative_to(paths.kernels().resolve())
    of = f", for {design.board}" if design.board else ""
    of += f", as bitstream {design.bitstream}" if design.bitstream else ""
    return f"{source}: {design.benchmark}, variant {design.variant}{of}"


def settings(benchmark: str, words: list[str]) -> dict[str, str]:
    """Values by parameter. Raises FabricmarkError (2) for another form or a parameter that there is not."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise FabricmarkError(f"--set {word} is no NAME=VALUE", "write for example --set unroll=8")
        found[name.replace("-", "_")] = value
    known = {MEMORIES} if benchmark == TOUCH or not found else kernels.kernel(benchmark).parameters.keys()
    unknown = found.keys() - known
    if unknown:
        remedy = f"use {MEMORIES}" if benchmark == TOUCH else f"see `fabricmark list {benchmark}`"
        raise FabricmarkError(f"{benchmark} has no parameter {min(unknown)}", remedy)
    return found
