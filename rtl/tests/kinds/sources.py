"""Lint, a synthesis check, and what is refused at elaboration."""

import re
import subprocess
from collections.abc import Iterator
from functools import partial

from common import FAULTS, SOURCES, TOP, Failure, Options, Task, run

TOOLS = ("verilator", "yosys")
WIDTHS = (128, 256, 512)


def lint(width: int) -> None:
    run(["verilator", "--lint-only", "-Wall", f"-I{SOURCES}", f"-GW={width}", SOURCES / f"{TOP}.sv"],
        f"verilator --lint-only, {width} bits")  # fmt: skip


def refuses(flits: int, reason: str) -> None:
    """Raises Failure where a receive buffer of so many flits is taken."""
    words = ["verilator", "--lint-only", f"-I{SOURCES}", f"-GRX={flits}", SOURCES / f"{TOP}.sv"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode == 0 or reason not in done.stderr:
        raise Failure(f"a receive buffer of {flits} flits was not refused")


def synthesis() -> None:
    files = " ".join(str(file) for file in sorted(SOURCES.glob("*.sv")))
    script = f"read_verilog -sv -I{SOURCES} {files}; hierarchy -check -top {TOP}; proc; opt; check -assert"
    if warnings := run(["yosys", "-q", "-p", script], "yosys"):
        raise Failure(f"yosys: {warnings.strip()[-2000:]}")


def planted() -> None:
    """Raises Failure where the sources know other faults than are tried."""
    text = " ".join(file.read_text() for file in SOURCES.glob("*.sv"))
    known = {int(number) for number in re.findall(r"fault [!=]= 5'd(\d+)", text)}
    if known != set(FAULTS):
        raise Failure(f"the sources know the faults {sorted(known)}, tried are {FAULTS[0]} to {FAULTS[-1]}")


def tasks(options: Options) -> Iterator[Task]:
    yield Task("planted", planted)
    yield Task("refuses 62", partial(refuses, 62, "needs_RX_of_D_plus_D_CU_minus_1"))
    yield Task("refuses 32768", partial(refuses, 32768, "of_32767_at_most"))
    yield Task("synthesis", synthesis)
    for width in WIDTHS:
        yield Task(f"lint {width}", partial(lint, width))
