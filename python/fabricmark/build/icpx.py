"""Intel's icpx: SYCL kernels for an FPGA, compiled ahead of time into a shared library that a host loads.

The tool knows no free kernels, so that a wrapper is written: it includes the kernel's OpenCL C, which
kernels/common/sycl.hpp makes C++ of, and has for each copy of each kernel a function that submits it as a
single task. A table names these functions with their arguments. What the tool takes and where that is
documented: rules/icpx.toml. Tried neither with the tool nor on hardware.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import aoc, rules
from fabricmark.build.design import SYCL, Design, Kernel
from fabricmark.build.steps import USUAL, How, Steps

TOOL = "icpx"
EMULATOR, REPORT = "emulator", "report"
ANYWHERE = -1  # the board's usual memory
# Kinds of arguments in kernel.toml as the wrapper writes them; void: what a pointer leads to.
TYPES = {
    "buffer": "void", "uchar": "unsigned char", "int": "int", "uint": "unsigned int",
    "ulong": "unsigned long", "float": "float", "double": "double",
}  # fmt: skip


def steps(
    design: Design, platform: str | None, folder: Path, extra: Sequence[str], how: How = USUAL
) -> Steps:
    """What makes the library; `platform`: BSP:VARIANT of the board, or its name alone, else the usual one.

    Raises FabricmarkError (2) for a variant that is no SYCL C++, and for a board of which no package for
    oneAPI is known.
    """
    design = in_sycl(design)
    version = rules.version_of(TOOL, how.version, design.tools)
    known = rules.load(TOOL)
    board = rules.board(TOOL, design.board)
    stem = folder / design.benchmark
    wrapper = stem.with_name(f"{design.benchmark}.icpx.cpp")
    made = stem.with_suffix(".a" if how.target == REPORT else ".so")
    command = [TOOL, "-fsycl", "-fintelfpga", "-fPIC"]
    if how.target == EMULATOR:
        command += ["-shared", "-DFPGA_EMULATOR"]
    else:
        command += ["-fsycl-link=early"] if how.target == REPORT else ["-shared"]
        command += ["-Xshardware", "-DFPGA_HARDWARE"]
        command += _target(design, platform or how.platform, version)
        command += [f"-Xsclock={how.clock_mhz:g}MHz"] if how.clock_mhz else []
    is_relaxed = how.relaxed if how.relaxed is not None else bool(design.bitstream)
    command += [] if is_relaxed else list(known.form("strict", version)["options"])
    command += [*paths.include_options(design.source), *definitions(design), *extra]
    command += [str(wrapper), "-o", str(made)]
    locations = board is not None and design.memory.placement == "kernel" and how.target != EMULATOR
    names = [name for one in design.kernels for name in aoc.entry_points(one)]
    notes = [f"{TOOL} {version}, which was never tried", f"kernels: {', '.join(names)}"]
    text = wrapped(design, has_locations=locations)
    sidecar = "" if how.target == REPORT else design.sidecar(f"{TOOL} {version}")
    return Steps(TOOL, notes, {wrapper: text}, [command], made, sidecar)


def in_sycl(design: Design) -> Design:
    """The design in SYCL C++. Raises FabricmarkError (2) for a kernel that is not written in it."""
    if any(len(one.memories) > 1 for one in design.kernels):
        raise FabricmarkError(f"{TOOL} links no kernel to several kinds of memory", "use --tool v++")
    return design.in_language(SYCL)


def definitions(design: Design) -> list[str]:
    """The options of the preprocessor: parameters, and the dialect that sycl.hpp is for."""
    found = [f"-D{name}={value}" for name, value in design.definitions.items() if not name.startswith("-")]
    return ["-DFM_SYCL_AHEAD=1", *found]


def _target(design: Design, platform: str | None, version: str) -> list[str]:
    """The board: a package and its variant by -Xstarget, a board's name alone by -Xsboard."""
    board = rules.board(TOOL, design.board)
    if platform is None and board is None and design.board:
        known = ", ".join(sorted(one for one in rules.boards_of(TOOL)))
        cause = f"no support package of {design.board} for oneAPI is known"
        raise FabricmarkError(cause, f"name it by --platform BSP:VARIANT, or use a board of {known}")
    if platform is None and board is not None:
        platform = board.platform(version, has_channels=design.uses_channels).name
    if platform is None:
        return []
    return [f"-Xstarget={platform}" if ":" in platform else f"-Xsboard={platform}"]


def wrapped(design: Design, *, has_locations: bool = False) -> str:
    """The wrapper's text. `has_locations`: each argument lies in a memory that the design chooses."""
    source = f"{design.benchmark}/{design.source.name}"
    if ".." in design.source.parts:  # a file that several benchmarks share
        source = str(design.source.resolve().relative_to(paths.kernels().resolve()))
    copies = max(one.copies for one in design.kernels)
    lines = [
        f"// Kernels of {source}, each started by a function of its own. Written by `fabricmark build`.",
        "#define FM_REPLICA 0",
        '#include "common/sycl_ahead.hpp"',
        "",
    ]
    for i in range(copies):
        lines += ["#undef FM_REPLICA", f"#define FM_REPLICA {i}", f'#include "{source}"']
    for kernel in design.kernels:
        for i, name in enumerate(aoc.entry_points(kernel)):
            lines += ["", *_start(design, kernel, name, i, has_locations)]
    return "\n".join([*lines, "", *_table(design, has_locations)]) + "\n"


def _start(design: Design, kernel: Kernel, name: str, copy: int, has_locations: bool) -> Iterator[str]:
    """The function that starts a copy (fm::Start), with the arguments in the order of kernel.toml."""
    kinds = [TYPES[kind] for _, kind in kernel.arguments]
    yield f"class {name}_task;"
    yield f'static_assert(fm::takes<decltype({name}), {", ".join(kinds)}>(), "arguments of {name}");'
    yield f'extern "C" void fm_start_{name}(sycl::queue* queue_, const sycl::event* after_,'
    yield "    unsigned count_, sycl::event* done_, const void* const* arguments_) {"
    passed = []
    for at, (argument, kind) in enumerate(kernel.arguments):
        place = location(design, kernel, argument, copy) if has_locations and kind == "buffer" else ANYWHERE
        of = f"fm::parameter<{at}, decltype({name})>"
        if place != ANYWHERE:
            yield f"  const fm::located<{of}, {place}> {argument}(fm::given<{of}>(arguments_[{at}]));"
            passed.append(f"static_cast<{of}>({argument})")
        else:
            yield f"  const auto {argument} = fm::given<{of}>(arguments_[{at}]);"
            passed.append(f"fm::on_device({argument})" if kind == "buffer" else argument)
    yield "  *done_ = queue_->submit([&](sycl::handler& group) {"
    yield "    for (unsigned i = 0; i < count_; ++i) group.depends_on(after_[i]);"
    yield f"    group.single_task<{name}_task>([=]() [[intel::kernel_args_restrict]] {{"
    yield f"      {name}({', '.join(passed)});"
    yield "    });"
    yield "  });"
    yield "}"


def location(design: Design, kernel: Kernel, argument: str, copy: int) -> int:
    """The number of an argument's memory on the board; what may lie anywhere is in the first."""
    banks = kernel.buffers.get(argument, ())
    return design.memory.bank(banks[copy] if banks else 0)


def _table(design: Design, has_locations: bool) -> Iterator[str]:
    """By what a host finds the functions: dlsym(library, "fm_entry_points")."""
    entries = []
    for kernel in design.kernels:
        for i, name in enumerate(aoc.entry_points(kernel)):
            rows = []
            for argument, kind in kernel.arguments:
                is_placed = has_locations and kind == "buffer"
                place = location(design, kernel, argument, i) if is_placed else ANYWHERE
                rows.append(f'{{"{argument}", "{kind}", {place}}}')
            yield f"static const fm::Argument arguments_of_{name}[] = {{{', '.join(rows)}}};"
            entries.append(
                f'    {{"{name}", "fm_start_{name}", {len(kernel.arguments)}, arguments_of_{name}}},'
            )
    yield 'extern "C" {'
    yield "extern const fm::EntryPoint fm_entry_points[];"
    yield "extern const unsigned fm_entry_point_count;"
    yield "extern const int fm_is_emulated;"  # for which of Intel's device selectors the library is
    yield "const fm::EntryPoint fm_entry_points[] = {"
    yield from entries
    yield "};"
    yield f"const unsigned fm_entry_point_count = {len(entries)};"
    yield from ("#if defined(FPGA_EMULATOR)", "const int fm_is_emulated = 1;")
    yield from ("#else", "const int fm_is_emulated = 0;", "#endif")
    yield "}"
