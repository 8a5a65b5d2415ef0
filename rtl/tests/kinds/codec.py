"""Compression and decompression beside the codec of src/codec, of several shapes: on random frames, and on
cells of a flow round a cylinder, which the program fm_lbm makes; of each a million in `make test-rtl`.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy
from common import BUILD, ROOT, RTL, Failure, Options, Task, once, run, verilate

TOOLS = ("verilator", "yosys")
FOLDER = RTL / "codec"
MODEL = [ROOT / "src" / "codec" / f"{name}.cpp" for name in ("encoder", "form", "kernels")]


@dataclass(frozen=True)
class Shape:
    """Bits of a flit, channels, lanes, predictor 2d or 1d, floats or integers, columns."""

    width: int
    channels: int
    lanes: int
    plane: int
    floats: int
    columns: int

    def parameters(self) -> list[str]:
        names = ("W", "C", "N", "PLANE", "FLOATS", "COLUMNS")
        return [f"-G{name}={value}" for name, value in zip(names, self.values(), strict=True)]

    def defines(self) -> str:
        names = ("WIDTH", "CHANNELS", "LANES", "PLANE", "FLOATS", "COLUMNS")
        return " ".join(
            f"-DFABRICMARK_{name}={value}" for name, value in zip(names, self.values(), strict=True)
        )

    def values(self) -> tuple[int, ...]:
        return self.width, self.channels, self.lanes, self.plane, self.floats, self.columns

    def __str__(self) -> str:
        return "_".join(map(str, self.values()))


SHAPES = (
    Shape(256, 10, 1, 1, 1, 20),
    Shape(512, 3, 4, 1, 0, 300),
    Shape(128, 2, 2, 0, 1, 20),
)
# Flow: so many columns and rows, after so many steps. Its frames are more than a million cells.
GRID = (720, 240)
STEPS = (500, 1000, 1500, 2000, 2500, 3000)
FIELD_SHAPES = (Shape(256, 10, 1, 1, 1, GRID[0]), Shape(512, 10, 2, 0, 1, GRID[0]))
FIRST_CELL_FORGOTTEN = 2  # a fault that shows from the second frame on
RUNS, RUNS_OF_MANY = 100, 500
MANY = 1_000_000  # cells
LONG = 1000  # random links in `make test-rtl`; the short selection has fewer
FAULTS = range(1, 13)
FAULTY_SHAPE = SHAPES[0]


@once
def program(shape: Shape) -> Path:
    top = RTL / "tests" / "tops" / "fm_test_codec.sv"
    flags = ["-DFM_FAULTS", "--top-module", "fm_test_codec", *shape.parameters(), f"-I{FOLDER}", top]
    define = f"{shape.defines()} -I{RTL / 'tests' / 'benches'}"
    return verilate(f"codec_{shape}", RTL / "tests" / "benches" / "codec.cpp", flags, define, MODEL)


def build(shape: Shape) -> None:
    program(shape)


def same(shape: Shape, runs: int) -> str:
    return compared(run([program(shape), 0, runs], f"codec {shape}"), MANY if runs >= RUNS_OF_MANY else 1)


def compared(output: str, least: int) -> str:
    """What a program has told. Raises Failure where it has compared too few cells."""
    cells = re.search(r"^(\d+) cells$", output, re.MULTILINE)
    if cells is None or int(cells[1]) < least:
        raise Failure(f"{least} cells were to be compared, and not: {output.strip()}")
    return ", ".join(output.strip().splitlines())


@once
def fields() -> Path:
    """Cells of the flow, ten floats each. Raises Failure: there is no program that makes it."""
    flow = ROOT / "build" / "release" / "bin" / "fm_lbm"
    if not flow.exists():
        raise Failure(f"{flow.relative_to(ROOT)} is not there; run make test-rtl, which builds it")
    BUILD.mkdir(parents=True, exist_ok=True)
    file, folder = BUILD / "flow.cells", BUILD / "flow"
    grid = ("--case", "cylinder", "--columns", GRID[0], "--rows", GRID[1])
    with file.open("wb") as cells:
        for steps in STEPS:
            once_only = ("--steps", steps, "--repetitions", 1, "--warmup", 0, "--fields", folder)
            run([flow, *grid, *once_only], f"flow of {steps} steps", BUILD)
            cells.write(numpy.load(folder / "cells.npy").astype("<f4").tobytes())
    return file


def same_fields(shape: Shape) -> str:
    words = [program(shape), "cells", fields(), GRID[0] * GRID[1]]
    return compared(run(words, f"codec {shape} on fields"), MANY)


def finds_in_fields(shape: Shape) -> None:
    """Raises Failure where a fault does not show in them."""
    words = [program(shape), "cells", fields(), GRID[0] * GRID[1], FIRST_CELL_FORGOTTEN]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 1 or ": found: " not in done.stdout:
        raise Failure("a fault of the first cells does not show in cells of flow")


def finds(fault: int) -> None:
    """Raises Failure where no seed shows the fault."""
    words = [str(program(FAULTY_SHAPE)), "0", str(RUNS), str(fault)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 1 or ": found: " not in done.stdout:
        raise Failure(f"fault {fault} was not found in {RUNS} seeds")


def planted() -> None:
    """Raises Failure where the sources know other faults than are tried."""
    text = " ".join(file.read_text() for file in FOLDER.glob("*.sv"))
    known = {int(number) for number in re.findall(r"fault [!=]= 4'd(\d+)", text)}
    if known != set(FAULTS):
        raise Failure(f"the sources know the faults {sorted(known)}, tried are {FAULTS[0]} to {FAULTS[-1]}")


def lint(name: str, shape: Shape) -> None:
    words = ["verilator", "--lint-only", "-Wall", f"-I{FOLDER}", *shape.parameters(), FOLDER / f"{name}.sv"]
    run(words, f"verilator --lint-only, {name}, {shape}")


def synthesis(name: str) -> None:
    """Raises Failure where yosys warns, or finds a loop."""
    files = " ".join(str(file) for file in sorted(FOLDER.glob("*.sv")))
    shape = "-chparam C 3 -chparam W 128 -chparam COLUMNS 16"
    script = f"read_verilog -sv {files}; hierarchy -check {shape} -top {name}; proc; opt; check -assert"
    done = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr.strip():
        raise Failure(f"yosys, {name}: {(done.stdout + done.stderr).strip()[-2000:]}")


def tasks(options: Options) -> Iterator[Task]:
    yield Task("planted", planted)
    for shape in SHAPES:
        yield Task(f"build {shape}", partial(build, shape))
    for name in ("fm_fp_compress", "fm_fp_decompress"):
        yield Task(f"synthesis {name}", partial(synthesis, name))
        for shape in SHAPES:
            yield Task(f"lint {name} {shape}", partial(lint, name, shape))
    is_long = options.runs >= LONG
    for shape in SHAPES:
        yield Task(f"same {shape}", partial(same, shape, RUNS_OF_MANY if is_long else RUNS))
    for shape in FIELD_SHAPES if is_long else ():
        yield Task(f"flow, build {shape}", partial(build, shape))
        yield Task(f"flow, same {shape}", partial(same_fields, shape))
        yield Task(f"flow, fault {shape}", partial(finds_in_fields, shape))
    for fault in FAULTS:
        yield Task(f"fault {fault}", partial(finds, fault))
