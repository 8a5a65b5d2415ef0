"""Estimates on the terminal: a table of loops for each vendor, and a line for each kernel."""

import os
from collections.abc import Sequence
from pathlib import Path

from fabricmark.base import paths, terminal
from fabricmark.base.terminal import Column
from fabricmark.build.design import Design
from fabricmark.inspect.chips import Vendor
from fabricmark.inspect.inspection import Found, Kernel

LIMITS = (
    "Estimated from the source: modelled, not measured. Not estimated: loops around others, the units that"
    " load and store, the clock, and block RAM, which copies and banks add to."
)


def show(design: Design, vendor: Vendor, kernels: Sequence[Kernel]) -> None:
    """Print it."""
    out = terminal.console()
    of = f", bitstream {design.bitstream}" if design.bitstream else ""
    terminal.say(out, f"{design.benchmark} for {vendor.label}{of}", style="bold")
    columns = [Column("kernel", key=True), Column("loop", key=True), Column("pipelined")]
    columns += [Column("II", right=True), Column("reason", prose=True), Column("operations", prose=True)]
    columns += terminal.numbers("DSPs")
    rows = [
        [
            kernel.name, f"{shown_file(loop.file)}:{loop.line}", "marked" if loop.is_marked else "",
            str(loop.interval), _reason(loop), loop.operations,
            str(loop.dsps) if loop.operations else "",
        ]
        for kernel in kernels
        for loop in kernel.loops
    ]  # fmt: skip
    terminal.show(out, columns, rows)
    for kernel in kernels:
        terminal.say(out, _total(design, kernel))
    if len(kernels) > 1 or any(copies(design, one) > 1 for one in kernels):
        every = sum(one.dsps * copies(design, one) for one in kernels)
        terminal.say(out, f"all together: {every} DSPs of floating-point arithmetic")
    terminal.say(out, LIMITS, style="dim")


def _reason(loop: Found) -> str:
    """Why the interval is no shorter, and where to look."""
    if not loop.reason:
        return ""
    place = f"line {loop.reason_line}" if loop.reason_file == loop.file else ""
    return f"{loop.reason} ({place or f'{shown_file(loop.reason_file)}:{loop.reason_line}'})"


def _total(design: Design, kernel: Kernel) -> str:
    """DSPs and local memory of a kernel in one line."""
    number = copies(design, kernel)
    times = f" in each of {number} copies" if number > 1 else ""
    total = sum(size for _, size in kernel.arrays)
    arrays = ", ".join(f"{name} {_bytes(size)}" for name, size in kernel.arrays)
    memory = f"; local memory {_bytes(total)}: {arrays}" if kernel.arrays else ""
    return f"{kernel.name}: {kernel.dsps} DSPs{times}{memory}"


def copies(design: Design, kernel: Kernel) -> int:
    """How many of a kernel the design has."""
    return next((one.copies for one in design.kernels if one.name == kernel.name), 1)


def shown_file(file: str) -> str:
    """A file below the folder of kernels, as the sources include it."""
    path = Path(os.path.normpath(file))
    return path.relative_to(paths.kernels()).as_posix() if path.is_relative_to(paths.kernels()) else file


def _bytes(number: int) -> str:
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= size:
            return f"{number / size:g} {unit}"
    return f"{number} B"
