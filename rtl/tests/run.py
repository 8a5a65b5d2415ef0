"""The RTL of the credit link: lint, synthesis check, and cycle by cycle beside the C++ model on random links.

    rtl/tests/run.py [--runs 1000] [--jobs 2]

Then each fault that the RTL can be given (input `fault`) has to make a difference. Ends with a verdict.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "rtl" / "credit_link"
BUILD = ROOT / "build" / "rtl"
WIDTHS = (128, 256, 512)
FAULTS = range(1, 23)
RUNS_OF_FAULTS = 200
FAULTY_WIDTH = 256
TOP = "fm_credit_link"
# Places of the buffers of the largest link that is drawn (cosimulation.cpp).
PLACES = ("-GTXB=133", "-GRXD=430")
MODEL = ("header", "link_end", "link_parameters")


class Failure(Exception):
    """What a step has found, in one line or more."""


def run(words: list[object], what: str) -> str:
    """Output of a command. Raises Failure: it ended with an error."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{what}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


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


def build(width: int) -> tuple[int, Path]:
    """A width, and the program that steps both."""
    folder = BUILD / str(width)
    folder.mkdir(parents=True, exist_ok=True)
    model = [ROOT / "src" / "network" / "credit_link" / f"{name}.cpp" for name in MODEL]
    flags = f"-std=c++20 -O2 -DFABRICMARK_WIDTH={width} -I{ROOT / 'src'}"
    words = [
        "verilator",
        "--cc",
        "--exe",
        "--build",
        "-O3",
        "--x-assign",
        "fast",
        "--top-module",
        "fm_cl_end",
    ]
    words += [
        f"-GW={width}",
        *PLACES,
        f"-I{SOURCES}",
        "--Mdir",
        folder,
        "-CFLAGS",
        flags,
        "-LDFLAGS",
        "-lfmt",
    ]
    words += [
        SOURCES / "fm_cl_end.sv",
        ROOT / "rtl" / "tests" / "cosimulation.cpp",
        *model,
        "-o",
        "cosimulation",
    ]
    run(words, f"verilator, {width} bits")
    return width, folder / "cosimulation"


def same(program: Path, width: int, first: int, runs: int) -> None:
    run([program, first, runs], f"{width} bits")


def finds(program: Path, fault: int) -> None:
    """Raises Failure where no random link shows the fault."""
    words = [str(program), "0", str(RUNS_OF_FAULTS), str(fault)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 1 or " differs in cycle " not in done.stdout:
        raise Failure(f"fault {fault} of the RTL was not found in {RUNS_OF_FAULTS} random links")


def planted() -> None:
    """Raises Failure where the sources know other faults than are tried."""
    text = " ".join(file.read_text() for file in SOURCES.glob("*.sv"))
    known = {int(number) for number in re.findall(r"fault [!=]= 5'd(\d+)", text)}
    if known != set(FAULTS):
        raise Failure(f"the sources know the faults {sorted(known)}, tried are {FAULTS[0]} to {FAULTS[-1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="random links, of all widths")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.monotonic()
    if missing := [tool for tool in ("verilator", "yosys") if shutil.which(tool) is None]:
        print(f"rtl: error: {', '.join(missing)} is not there; run make test-rtl", file=sys.stderr)
        return 3
    failures: list[str] = []
    done = 0

    def together(tasks: list) -> list:
        nonlocal done
        found = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for future in [pool.submit(*task) for task in tasks]:
                try:
                    found.append(future.result())
                    done += 1
                except Failure as failure:
                    failures.append(str(failure))
        return found

    refused = [(refuses, 62, "needs_RX_of_D_plus_D_CU_minus_1"), (refuses, 32768, "of_32767_at_most")]
    together([(planted,), *refused, (synthesis,), *((lint, width) for width in WIDTHS)])
    programs = dict(together([(build, width) for width in WIDTHS]))
    share = -(-options.runs // (len(WIDTHS) * options.jobs))
    parts = [(width, part * share) for width in programs for part in range(options.jobs)]
    together([(same, programs[width], width, first, share) for width, first in parts])
    if FAULTY_WIDTH in programs:
        together([(finds, programs[FAULTY_WIDTH], fault) for fault in FAULTS])
    for failure in failures:
        print(f"rtl: {failure}", file=sys.stderr)
    verdict = f"rtl: {done} passed, {len(failures)} failed, {options.runs} random links"
    print(f"{verdict} in {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
