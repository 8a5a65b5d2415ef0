"""Lint, synthesis checks and refusals of what stands around the credit link; Verible's rules for all."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from common import RTL, Failure, Options, Task, run

VERIBLE = Path(sys.executable).parent / "verible-verilog-lint"
TOOLS = ("verilator", "yosys", str(VERIBLE))
FOLDERS = ("credit_link", "ethernet", "common", "wrappers")
PLACES = [f"-I{RTL / folder}" for folder in FOLDERS]
# Beside the defaults of each module.
PARAMETERS = {
    "fm_eth_port": ("-GW=128 -GENDS=3", "-GW=512 -GD=16", "-GW=1024 -GD=64 -GJUMBO=1"),
    "fm_width_conv": ("-GSB=32 -GMB=40", "-GSB=32 -GMB=32", "-GSB=7 -GMB=64", "-GSB=1 -GMB=1"),
    "fm_async_fifo": ("-GW=8 -GPLACES_LOG2=2 -GUSER=3",),
    "fm_wrap_cmac": ("-GENDS=2",),
    "fm_wrap_ll_ethernet": ("-GW=512 -GD=16 -GENDS=2",),
    "fm_wrap_aurora": ("-GW=128 -GCRC_CHECKED=1",),
    "fm_wrap_serial_lite": ("-GLANES=2 -GGAP=2",),
}
REFUSED = {
    "fm_eth_encoder": (("-GW=256 -GD=46", "needs_packets_that_fit_into_a_frame"),
                       ("-GW=256 -GD=281 -GJUMBO=1", "needs_packets_that_fit_into_a_frame"),
                       ("-GW=192", "needs_W_of_a_multiple_of_128")),
    "fm_async_fifo": (("-GPLACES_LOG2=1", "needs_PLACES_LOG2_of_2"),),
}  # fmt: skip
TAKEN = {"fm_eth_encoder": ("-GW=256 -GD=45", "-GW=256 -GD=280 -GJUMBO=1")}


def sources() -> list[Path]:
    return [file for folder in FOLDERS[1:] for file in sorted((RTL / folder).glob("*.sv"))]


def without_links(files: list[Path]) -> list[Path]:
    return [file for file in files if "fm_credit_link #(" not in file.read_text()]


def verilator(file: Path, parameters: str) -> None:
    words = ["verilator", "--lint-only", "-Wall", *PLACES, *parameters.split(), file]
    run(words, f"verilator --lint-only {parameters}, {file.name}")


def yosys(file: Path) -> None:
    # Reading the link takes its time, and that of narrow flits less.
    files = without_links(sources())
    width = ""
    if file not in files:
        files += [file, *sorted((RTL / "credit_link").glob("*.sv"))]
        width = "-chparam W 128"
    read = f"read_verilog -sv -I{RTL / 'credit_link'} {' '.join(map(str, files))}"
    script = f"{read}; hierarchy -check {width} -top {file.stem}"
    if warnings := run(["yosys", "-q", "-p", f"{script}; proc; opt; check -assert"], "yosys"):
        raise Failure(f"yosys, {file.name}: {warnings.strip()[-2000:]}")


def refuses(file: Path, parameters: str, reason: str) -> None:
    """Raises Failure where the module is taken with these parameters."""
    words = ["verilator", "--lint-only", *PLACES, *parameters.split(), str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0 or reason not in done.stderr:
        raise Failure(f"{file.stem} {parameters} was not refused")


def verible() -> None:
    files = [*sources(), *sorted((RTL / "credit_link").glob("*.sv")), *sorted(RTL.glob("tests/tops/*.sv"))]
    files += [*sorted(RTL.glob("codec/*.sv")), *sorted(RTL.glob("examples/*/*.sv"))]
    run([VERIBLE, f"--rules_config={RTL / '.rules.verible_lint'}", *files], "verible-verilog-lint")


def tasks(options: Options) -> Iterator[Task]:
    yield Task("verible", verible)
    for file in sources():
        yield Task(f"yosys {file.stem}", partial(yosys, file))
        for parameters in ("", *PARAMETERS.get(file.stem, ()), *TAKEN.get(file.stem, ())):
            yield Task(f"verilator {file.stem} {parameters}".strip(), partial(verilator, file, parameters))
        for parameters, reason in REFUSED.get(file.stem, ()):
            yield Task(f"refuses {file.stem} {parameters}", partial(refuses, file, parameters, reason))
