"""The RTL cycle by cycle beside the C++ model on random links; each planted fault makes a difference."""

import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from common import FAULTS, MODEL, RTL, SOURCES, Failure, Options, Task, once, run, verilate

TOOLS = ("verilator",)
WIDTHS = (128, 256, 512)
RUNS_OF_FAULTS = 1000  # a packet of an old epoch that comes after a SYNC (22) is rare
FAULTY_WIDTH = 256
# Places of the buffers of the largest link that is drawn (cosimulation.cpp).
PLACES = ("-GTXB=133", "-GRXD=430")


@once
def program(width: int) -> Path:
    flags = ["--top-module", "fm_cl_end", f"-GW={width}", *PLACES, f"-I{SOURCES}", SOURCES / "fm_cl_end.sv"]
    define = f"-DFABRICMARK_WIDTH={width}"
    return verilate(f"cosimulation_{width}", RTL / "tests" / "cosimulation.cpp", flags, define, MODEL)


def build(width: int) -> None:
    program(width)


def same(width: int, first: int, runs: int) -> None:
    run([program(width), first, runs], f"{width} bits")


def finds(fault: int) -> None:
    """Raises Failure where no random link shows the fault."""
    words = [str(program(FAULTY_WIDTH)), "0", str(RUNS_OF_FAULTS), str(fault)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 1 or " differs in cycle " not in done.stdout:
        raise Failure(f"fault {fault} of the RTL was not found in {RUNS_OF_FAULTS} random links")


def tasks(options: Options) -> Iterator[Task]:
    for width in WIDTHS:
        yield Task(f"build {width}", partial(build, width))
    share = -(-options.runs // (len(WIDTHS) * options.jobs))
    for width in WIDTHS:
        for part in range(options.jobs):
            first = part * share
            yield Task(f"same {width} from {first}", partial(same, width, first, share))
    for fault in FAULTS:
        yield Task(f"fault {fault}", partial(finds, fault))
