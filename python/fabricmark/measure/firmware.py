"""Firmware below a result: of the host, its CPUs, network adapters, GPUs and boards, as the system tells it.

Sources: Linux (/sys/class/dmi/id, microcode in /proc/cpuinfo, fw_ver of sysfs-class-infiniband), XRT's tool
(device_linux.cpp: xmc_sc_version is "xmc/bmc_ver"), `nvidia-smi --help-query-gpu`. Not tried on a board.
"""

import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SECONDS_FOR_GPU = 10


@cache
def read(root: Path, has_gpu: bool) -> dict[str, str]:
    """By what it is of, as `BIOS` or `board 0000:01:00.1`; what nothing tells is left out.

    `root`: / or what stands for it. Firmware does not change while we run.
    """
    return {name: text for name, text in _told(root, has_gpu) if text and text.isprintable()}


def _told(root: Path, has_gpu: bool) -> Iterator[tuple[str, str]]:
    dmi = root / "sys/class/dmi/id"
    yield "BIOS", " ".join(filter(None, (_first(dmi / "bios_version"), _first(dmi / "bios_date"))))
    yield "microcode", next(_microcode(root / "proc/cpuinfo"), "")
    for file in sorted(root.glob("sys/class/infiniband/*/fw_ver")):
        yield f"adapter {file.parent.name}", _first(file)
    for file in sorted(root.glob("sys/bus/pci/drivers/xocl/*/xmc.*/bmc_ver")):
        yield f"board {file.parts[-3]}", _first(file)
    if has_gpu:
        yield "GPU", _of_gpus()


def _microcode(file: Path) -> Iterator[str]:
    for line in _text(file).splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "microcode":
            yield value.strip()


def _of_gpus() -> str:
    """The VBIOS of each kind of GPU."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    command = [program, "--query-gpu=vbios_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_FOR_GPU, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ", ".join(dict.fromkeys(line.strip() for line in done.stdout.splitlines() if line.strip()))


def _first(file: Path) -> str:
    """Its first line."""
    return next(iter(_text(file).splitlines()), "").strip()


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
