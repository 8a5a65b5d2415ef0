"""The RTL alone at the reference points of credit links, which the tests of the model share."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from common import ROOT, RTL, SOURCES, Failure, Options, Task, once, run, verilate

TOOLS = ("verilator",)
PLACES = ("-GTXB=256", "-GRXD=2048")  # of the largest link among them
FAULT = 14  # an open packet closes a cycle late
NAMES = "single word"


@once
def program() -> Path:
    flags = ["--top-module", "fm_cl_end", "-GW=128", *PLACES, f"-I{SOURCES}", SOURCES / "fm_cl_end.sv"]
    define = f"-I{ROOT / 'tests'}"
    return verilate("reference_points", RTL / "tests" / "reference_points.cpp", flags, define, [])


def points() -> str:
    return run([program()], "reference points").strip().splitlines()[-1]


def misses() -> None:
    """Raises Failure where a fault of which the reference points tell is not seen."""
    words = [str(program()), str(FAULT), NAMES]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 1 or " in place of " not in done.stdout:
        raise Failure(f"fault {FAULT} of the RTL misses no reference point of a {NAMES}")


def tasks(options: Options) -> Iterator[Task]:
    yield Task("points", points)
    yield Task(f"fault {FAULT}", misses)
