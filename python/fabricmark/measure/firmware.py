"""Firmware below a result: of the host, its CPUs, network adapters, GPUs and boards, as the system tells it.

Sources: Linux (/sys/class/dmi/id, microcode in /proc/cpuinfo, fw_ver of sysfs-class-infiniband), XRT's tool
(device_linux.cpp: xmc_sc_version is "xmc/bmc_ver"), `nvidia-smi --help-query-gpu`. Not tried on a board.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fabricmark.measure.host_files import of_gpus, text


@cache
def read(root: Path, has_gpu: bool) -> dict[str, str]:
    """By what it is of, as `BIOS` or `board 0000:01:00.1`; what nothing tells is left out.

    `root`: / or what stands for it. Firmware does not change while we run.
    """
    return {name: said for name, said in _told(root, has_gpu) if said and said.isprintable()}


def _told(root: Path, has_gpu: bool) -> Iterator[tuple[str, str]]:
    dmi = root / "sys/class/dmi/id"
    yield "BIOS", " ".join(filter(None, (_first(dmi / "bios_version"), _first(dmi / "bios_date"))))
    yield "microcode", next(_microcode(root / "proc/cpuinfo"), "")
    for file in sorted(root.glob("sys/class/infiniband/*/fw_ver")):
        yield f"adapter {file.parent.name}", _first(file)
    for file in sorted(root.glob("sys/bus/pci/drivers/xocl/*/xmc.*/bmc_ver")):
        yield f"board {file.parts[-3]}", _first(file)
    if has_gpu:
        yield "GPU", ", ".join(dict.fromkeys(of_gpus(["vbios_version"])))  # of each kind


def _microcode(file: Path) -> Iterator[str]:
    for line in text(file).splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "microcode":
            yield value.strip()


def _first(file: Path) -> str:
    """Its first line."""
    return next(iter(text(file).splitlines()), "").strip()
