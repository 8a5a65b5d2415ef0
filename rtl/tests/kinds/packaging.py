"""What users build by: core files of FuseSoC and their targets, one the example; the script for Vitis."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from common import BUILD, RTL, Failure, Options, Task, run

FUSESOC = Path(sys.executable).parent / "fusesoc"
TOOLS = ("verilator", str(FUSESOC))
CORE, CODEC = "fabricmark:network:credit_link", "fabricmark:codec:lossless"
NOT_PACKED = ("formal", "tests")  # folders of which no core has files
SOURCES = (".sv", ".svh", ".cpp")


def fusesoc(*words: object) -> str:
    BUILD.mkdir(parents=True, exist_ok=True)
    return run([FUSESOC, "--cores-root", RTL, *words], f"fusesoc {words[0]}", BUILD)


def files() -> None:
    """Raises Failure where the core files leave out a source, or the script for Vitis names none."""
    texts = [file.read_text() for file in RTL.glob("*.core")]
    named = {name for text in texts for name in re.findall(r"- (\S+\.(?:svh?|cpp))", text)}
    sources = (file.relative_to(RTL) for file in RTL.rglob("*.*") if file.suffix in SOURCES)
    there = {str(file) for file in sources if file.parts[0] not in NOT_PACKED}
    if named != there:
        raise Failure(f"the core files differ from the folders by {sorted(named ^ there)}")
    script = (RTL / "package_xo.tcl").read_text()
    kernel = re.search(r"^set kernel (\w+)$", script, re.MULTILINE)
    top = RTL / "wrappers" / f"{kernel[1] if kernel else ''}.sv"
    if not top.is_file():
        raise Failure("package_xo.tcl packages a module that is not there")
    # Streams are found by the names of their ports; each needs a clock.
    streams = set(re.findall(r"(\w+_axis)_tvalid", top.read_text()))
    associated = re.search(r"foreach stream \{([^}]*)\}", script)
    if not associated or set(associated[1].split()) != streams:
        raise Failure("package_xo.tcl associates other streams than the kernel has")


def shows() -> None:
    for core in (CORE, CODEC):
        if core not in fusesoc("core", "show", core):
            raise Failure(f"fusesoc does not show the core {core}")


def target(name: str) -> str:
    return fusesoc("run", "--target", name, "--work-root", BUILD / f"fusesoc_{name}", CORE)


def lints() -> None:
    target("lint")


def loops() -> str:
    """The example, built and run; what it prints."""
    found = re.search(r"^loopback: (right, .*)$", target("loopback"), re.MULTILINE)
    if not found:
        raise Failure("the example did not say that all is right")
    return found[1]


def tasks(options: Options) -> Iterator[Task]:
    yield Task("files", files)
    yield Task("fusesoc core show", shows)
    yield Task("fusesoc lint", lints)
    yield Task("loopback", loops)
