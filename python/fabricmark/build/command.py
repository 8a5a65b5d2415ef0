"""The command `fabricmark build`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fabricmark.base import choices, kernels, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import (
    accl,
    aoc,
    card,
    check,
    check_aoc,
    check_icpx,
    check_vitis,
    icpx,
    rules,
    streams,
    vitis,
)
from fabricmark.build import steps as builds
from fabricmark.build.design import LANGUAGES, MEMORIES, OPENCL, SYCL, TOUCH, Design, resolve, touching
from fabricmark.systems import option_types

TOOLS = {aoc.TOOL: aoc.steps, vitis.TOOL: vitis.steps, icpx.TOOL: icpx.steps, card.TOOL: card.steps}
# Who makes what. icpx is nobody's choice but the user's: no board says that it is for its kernels.
TARGETS = {
    "hw": (aoc.TOOL, vitis.TOOL, icpx.TOOL), card.TARGET: (card.TOOL, vitis.TOOL), "hw_emu": (vitis.TOOL,),
    aoc.EMULATOR: (aoc.TOOL, icpx.TOOL), "report": (aoc.TOOL, vitis.TOOL, icpx.TOOL),
}  # fmt: skip
SOURCE = ".cpp"  # of dataflow kernels that are no benchmark's
CHECKS = {aoc.TOOL: check_aoc.findings, vitis.TOOL: check_vitis.findings, icpx.TOOL: check_icpx.findings}
VERSIONS = {name: rules.load(name).versions for name in CHECKS}
# Whose compiler a board takes, by who chooses the banks of its memory; by its kind where nobody does.
OF_PLACEMENTS = {"interleaved": aoc.TOOL, "kernel": aoc.TOOL, "host": vitis.TOOL}
OF_KINDS = {"host": aoc.TOOL}
Language = Annotated[str, choices.one_of(list(LANGUAGES), "Of the kernel's source.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated.")
]


def build(
    name: Annotated[
        str,
        choices.benchmark("A benchmark of `fabricmark list`, touch, or dataflow kernels in FILE.cpp.", TOUCH),
    ],
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
    target: Annotated[
        str, choices.one_of(list(TARGETS), "For a board, an emulation of one, or only what the tool reports.")
    ] = "hw",
    language: Language = OPENCL,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The board, as the vendor's tool names it (default: the usual name)."
        ),
    ] = None,
    tool_version: Annotated[
        str | None,
        choices.one_of(
            list(dict.fromkeys(one for of in VERSIONS.values() for one in of)),
            "Of the tool (default: the bitstream's).",
        ),
    ] = None,
    clock: Annotated[
        float | None,
        typer.Option(min=1, help="MHz to ask v++ or icpx for (v++'s default: what the bitstream reached)."),
    ] = None,
    relaxed: Annotated[
        bool | None,
        typer.Option(help="Let aoc or icpx round in another order (default: where the published one did)."),
    ] = None,
    checked: Annotated[
        bool, typer.Option("--check/--no-check", help="Refuse what the tool's documents refuse.")
    ] = True,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Of FILE.cpp: v++'s link configuration, which joins its streams."),
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for the bitstream.")] = Path("bitstreams"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, as a script.")] = False,
) -> None:
    """Build a bitstream for an FPGA with the vendor's tools, with the sidecar that says what it is."""
    if name.endswith(SOURCE) or config is not None:
        _check_of_source(name, config, target, (bitstream_id, variant, transport, given, tool_version, clock))
        board_of = touching(system, board, {})
        _finish(streams.steps(Path(name), config or Path(), board_of, platform, output, extra or []), dry_run)
        return
    words = settings(name, given or [])
    if name != TOUCH:
        found = resolve(name, variant, system, bitstream_id, words, board, transport)
    elif bitstream_id or variant or transport:
        remedy = "leave out --bitstream-id, --variant and --transport"
        raise FabricmarkError(f"{TOUCH} is a kernel of no benchmark", remedy)
    else:
        found = touching(system, board, words)
    found = found if found.engine else found.in_language(language)
    chosen = _chosen(found, tool, target)
    found = icpx.in_sycl(found) if chosen == icpx.TOOL else found
    how = builds.How(target, platform, tool_version, clock, relaxed)
    made = TOOLS[chosen](found, platform, output, extra or [], how)
    notes = []
    if checked and chosen in CHECKS:
        said = judged(chosen, found, made, how)
        check.refuse(said)
        notes = [one.text for one in said if one.is_note]
    if dry_run:
        lines = [f"# {title(found)}", *(f"# note: {one}" for one in notes)]
        print("\n".join(lines))
    else:
        for one in notes:
            print(f"note: {one}")
    after = "run it with --bitstream; `fabricmark bitstreams import` adds clock and resources to its sidecar"
    _finish(made, dry_run, after if made.sidecar else "beside it lie the reports")


def _finish(made: builds.Steps, dry_run: bool, after: str = "load it from a host of its own") -> None:
    """Print the steps as a script, or carry them out and say what comes `after`."""
    if dry_run:
        print(builds.script(made), end="")
        return
    builds.carry_out(made)
    print(f"{made.bitstream}: {after}")


def _check_of_source(name: str, config: Path | None, target: str, others: Sequence[object]) -> None:
    """Raises FabricmarkError (2) for what does not go with dataflow kernels of the user's own."""
    if not name.endswith(SOURCE):
        raise FabricmarkError("--config joins dataflow kernels", f"name their source, FILE{SOURCE}")
    if config is None:
        remedy = "give it by --config: which kernels there are, and what joins their streams"
        raise FabricmarkError(f"{name} needs a link configuration", remedy)
    if target != card.TARGET:
        remedy = f"use --target {card.TARGET}, or call v++ with the same source and configuration"
        raise FabricmarkError(f"{name} is built for emulated cards only", remedy)
    if any(one for one in others):
        remedy = "leave out --set, --variant, --transport, --bitstream-id, --tool-version and --clock"
        raise FabricmarkError(f"{name} is no benchmark of the suite", remedy)


def _chosen(found: Design, tool: str | None, target: str) -> str:
    """Whose compiler it is. Raises FabricmarkError (2) where nothing says that, or it makes nothing for the
    target."""
    if target not in TARGETS:
        raise FabricmarkError(f"there is no target {target}", f"use --target {' or '.join(TARGETS)}")
    if found.language == SYCL:
        tool = tool or icpx.TOOL
        if tool != icpx.TOOL:
            cause = f"{LANGUAGES[SYCL]} is for {icpx.TOOL}, not for {tool}"
            raise FabricmarkError(cause, f"use --tool {icpx.TOOL} or another --language")
    of_board = OF_PLACEMENTS.get(found.memory.placement) or OF_KINDS.get(found.memory.kind, "")
    if found.board in rules.boards_of(icpx.TOOL) and found.board not in rules.boards():
        of_board = icpx.TOOL  # no package for the older tool
    able = TARGETS[target]
    if tool in TOOLS and tool not in able:
        remedy = f"use --tool {' or '.join(able)}, or another --target"
        raise FabricmarkError(f"{tool} makes nothing for {target}", remedy)
    if tool is None and target == card.TARGET:
        return card.TOOL
    if tool is None and of_board and of_board not in able:
        raise FabricmarkError(f"{of_board} makes nothing for {target}", "use another --target")
    usual = [one for one in able if one != icpx.TOOL]
    chosen = tool or of_board or (usual[0] if len(usual) == 1 else "")
    if chosen not in TOOLS:
        cause = f"there is no tool {tool}" if tool else "nothing says whose compiler it is for"
        raise FabricmarkError(cause, f"use --tool {' or '.join(able)}")
    return chosen


def judged(tool: str, design: Design, made: builds.Steps, how: builds.How) -> list[check.Finding]:
    """What the rules of the tool say of a script."""
    script = check.Script(
        made.commands,
        {str(file): text for file, text in made.files.items()},
        rules.load(tool),
        rules.version_of(tool, how.version, design.tools),
        rules.board(tool, design.board),
        {one.name: check.Arguments(tuple(one.buffers)) for one in design.kernels},
        design.uses_channels,
        **_of_engine(design, made),
    )
    return list(CHECKS[tool](script))


def _of_engine(design: Design, made: builds.Steps) -> dict[str, Mapping]:
    """What is known of ACCL's kernels: their objects, and the ports of all streams."""
    if not design.engine:
        return {}
    of = {Path(word).name.split("_xc")[0].removesuffix(".xo"): word
          for word in made.commands[-1] if word.endswith(".xo")}  # fmt: skip
    known = accl.data()["kernels"]
    objects = {name: word for name, word in of.items() if name in known}
    return {"objects": objects, "ports": accl.ports(design.benchmark, design.source)}


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
