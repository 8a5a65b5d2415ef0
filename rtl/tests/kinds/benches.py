"""Random input for what stands around the credit link: Ethernet, clocks, widths, wrappers; planted faults."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from common import BUILD, RTL, Failure, Options, Task, once, run

TOOLS = ("verilator",)
FOLDERS = ("credit_link", "ethernet", "common", "wrappers")
BENCHES = RTL / "tests" / "benches"
TOPS = RTL / "tests" / "tops"


def sizes(*pairs: tuple[int, int]) -> str:
    """The parameter SIZES of fm_test_width."""
    return f"-GSIZES={32 * len(pairs)}'h" + "".join(f"{flit:04x}{word:04x}" for word, flit in reversed(pairs))


# Of words and flits, in bytes; four a program.
MORE_PAIRS = (
    ((40, 64), (24, 64), (36, 64), (64, 32)),
    ((40, 16), (12, 16), (20, 32), (1, 16)),
    ((64, 40), (16, 64), (5, 32), (64, 64)),
)


@dataclass(frozen=True)
class Bench:
    """A top, and the program that steps it over so many seeds; over fewer it finds each of these faults."""

    name: str
    top: Path
    main: str
    runs: int
    flags: tuple[str, ...] = ()
    faults: tuple[int, ...] = ()
    is_full: bool = False


ALL = (
    Bench("frames_256", TOPS / "fm_test_frames.sv", "frames", 300, ("-GW=256",), tuple(range(1, 12))),
    Bench("frames_128", TOPS / "fm_test_frames.sv", "frames", 300, ("-GW=128",), (8,)),
    Bench("frames_512", TOPS / "fm_test_frames.sv", "frames", 300, ("-GW=512",), (3, 7), is_full=True),
    Bench("frames_384", TOPS / "fm_test_frames.sv", "frames", 300, ("-GW=384",), is_full=True),
    Bench("network", TOPS / "fm_test_network.sv", "network", 100, ("-GW=128",), (4, 11, 12, 13)),
    Bench("fifo", RTL / "common" / "fm_async_fifo.sv", "fifo", 500, ("-GW=64", "-GPLACES_LOG2=3"),
          tuple(range(14, 18))),
    Bench("width", TOPS / "fm_test_width.sv", "width", 60, (), tuple(range(18, 22))),
    Bench("cmac", TOPS / "fm_test_wrapper.sv", "wrapper", 60, ("-GKIND=0",), (22,)),
    Bench("ll_ethernet", TOPS / "fm_test_wrapper.sv", "wrapper", 60, ("-GKIND=1",), (23, 24, 27)),
    Bench("aurora", TOPS / "fm_test_wrapper.sv", "wrapper", 60, ("-GKIND=2",), (25, 26)),
    Bench("serial_lite", TOPS / "fm_test_wrapper.sv", "wrapper", 60, ("-GKIND=3",), (28, 29)),
    *(Bench(f"width_{number}", TOPS / "fm_test_width.sv", "width", 200, (sizes(*pairs),), is_full=True)
      for number, pairs in enumerate(MORE_PAIRS)),
)  # fmt: skip
RUNS_OF_FAULTS = 60


@once
def program(bench: Bench) -> Path:
    folder = BUILD / bench.name
    folder.mkdir(parents=True, exist_ok=True)
    given = [flag.removeprefix("-G").split("=") for flag in bench.flags]
    names = {"W": "FABRICMARK_WIDTH", "KIND": "FABRICMARK_KIND"}
    defines = " ".join(f"-D{names[name]}={value}" for name, value in given if name in names)
    compiler = f"-std=c++20 -I{BENCHES} {defines}"
    how = ["--cc", "--exe", "--build", "-O3", "--x-assign", "fast", "--Mdir", folder, "-CFLAGS", compiler]
    # What runs once is not worth the compiler's time.
    how += ["-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0"]
    what = ["-DFM_FAULTS", *bench.flags, *(f"-I{RTL / folder}" for folder in FOLDERS), bench.top]
    main = BENCHES / f"{bench.main}.cpp"
    run(["verilator", *how, "-o", "program", *what, main], f"verilator, {bench.name}")
    return folder / "program"


def build(bench: Bench) -> None:
    program(bench)


def passes(bench: Bench, runs: int) -> None:
    run([program(bench), 0, runs], bench.name)


def finds(bench: Bench, fault: int) -> None:
    """Raises Failure where no seed shows the fault."""
    words = [str(program(bench)), "0", str(RUNS_OF_FAULTS), str(fault)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 1 or ": found: " not in done.stdout:
        raise Failure(f"fault {fault} was not found by {bench.name} in {RUNS_OF_FAULTS} seeds")


def planted() -> None:
    """Raises Failure where the sources know other faults than are tried."""
    text = " ".join(file.read_text() for folder in FOLDERS[1:] for file in (RTL / folder).glob("*.sv"))
    known = {int(number) for number in re.findall(r"fault [!=]= 6'd(\d+)", text)}
    tried = {fault for bench in ALL for fault in bench.faults}
    if known != tried:
        raise Failure(f"the sources know the faults {sorted(known)}, tried are {sorted(tried)}")


def tasks(options: Options) -> Iterator[Task]:
    yield Task("planted", planted)
    for bench in ALL:
        yield Task(f"build {bench.name}", partial(build, bench), bench.is_full)
    for bench in ALL:
        runs = bench.runs * (10 if options.full else 1)
        yield Task(bench.name, partial(passes, bench, runs), bench.is_full)
        for fault in bench.faults:
            yield Task(f"{bench.name}, fault {fault}", partial(finds, bench, fault), bench.is_full)
