"""OpenCL runtimes: the system's own, and two from PyPI that need no root.

Each runtime from PyPI has a virtual environment of its own; a process loads one only.
"""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

SYSTEM = "system"
LOADER_VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES")


@dataclass(frozen=True)
class Runtime:
    """A runtime from PyPI: its pinned packages and the library that the OpenCL loader shall use."""

    name: str
    packages: tuple[str, ...]
    library: str
    meaning: str

    def folder(self) -> Path:
        return paths.runtimes() / self.name

    def library_path(self) -> Path:
        return self.folder() / "lib" / self.library

    def installed(self) -> bool:
        """Whether a finished installation of exactly these packages is there."""
        marker = self.folder() / "fabricmark-installed.txt"
        return self.library_path().is_file() and marker.is_file() and marker.read_text() == self._mark()

    def _mark(self) -> str:
        return "\n".join(self.packages) + "\n"

    def mark_installed(self) -> None:
        """Written last, so that an interrupted installation is started again."""
        paths.write_atomically(self.folder() / "fabricmark-installed.txt", self._mark())


def _intel(name: str, version: str, library: str, meaning: str) -> Runtime:
    # Without intel-cmplr-lib-rt of the same version the runtime fails without a message.
    return Runtime(name, (f"intel-opencl-rt=={version}", f"intel-cmplr-lib-rt=={version}"), library, meaning)


INSTALLABLE = {
    runtime.name: runtime
    for runtime in (
        _intel("intel-cpu", "2026.2.0", "libintelocl.so", "Intel's OpenCL for CPUs"),
        # Later wheels lack the emulator or its configuration file.
        _intel("fpga-emulator", "2023.2.4", "libintelocl_emu.so", "Intel's FPGA emulator"),
    )
}


def names() -> list[str]:
    return [SYSTEM, *INSTALLABLE]


def find(name: str) -> Runtime:
    """A runtime from PyPI by its name. Raises FabricmarkError (2) for an unknown one."""
    if name not in INSTALLABLE:
        raise FabricmarkError(f"there is no runtime {name!r}", f"use one of {', '.join(INSTALLABLE)}")
    return INSTALLABLE[name]


def installed_names() -> list[str]:
    """The system's runtimes (whatever they are) and those from PyPI that are installed."""
    return [SYSTEM, *(name for name, runtime in INSTALLABLE.items() if runtime.installed())]


def environment(name: str, base: Mapping[str, str]) -> dict[str, str]:
    """`base` with what the OpenCL loader needs to find this runtime and no other.

    Raises FabricmarkError: 2 for an unknown name, 3 when the runtime is not installed.
    """
    result = dict(base)
    if name == SYSTEM:
        return result
    runtime = find(name)
    if not runtime.installed():
        remedy = f"run `fabricmark runtimes install {name}`"
        raise FabricmarkError(f"the runtime {name} is not installed", remedy, ENVIRONMENT)
    result.pop("OPENCL_VENDOR_PATH", None)  # it would load a second runtime into the process
    # ocl-icd reads the first variable, the Khronos loader the second; each ignores the other one here.
    # LD_LIBRARY_PATH stays as it is: the wheels bring a libOpenCL of their own, which would take the place
    # of the loader that the programs were linked with.
    for variable in LOADER_VARIABLES:
        result[variable] = str(runtime.library_path())
    return result


def variables(name: str) -> list[str]:
    """Variables that `environment` sets, for launchers that pass only named ones to other hosts."""
    return [] if name == SYSTEM else list(LOADER_VARIABLES)


def install(name: str) -> bool:
    """Install a runtime from PyPI unless it is there; says what it does. True when it installed.

    No network is used when it is present. Raises FabricmarkError: 2 unknown name, 3 installation failed.
    """
    runtime = find(name)
    if runtime.installed():
        return False
    folder = runtime.folder()
    print(f"installing {' '.join(runtime.packages)} from PyPI into {folder}", file=sys.stderr)
    _run_or_fail([sys.executable, "-m", "venv", "--clear", str(folder)], "install the package python3-venv")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    _run_or_fail([*pip, *runtime.packages], "check the connection to PyPI and the free space, then repeat")
    if not runtime.library_path().is_file():
        remedy = "remove that folder and repeat; the wheels may not support this system"
        raise FabricmarkError(f"{runtime.library_path()} is missing after pip", remedy, ENVIRONMENT)
    runtime.mark_installed()
    return True


def _run_or_fail(command: list[str], remedy: str) -> None:
    """Run a command quietly; raises FabricmarkError (3) with its last line when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise FabricmarkError(f"cannot start {command[0]}: {error.strerror}", remedy, ENVIRONMENT) from error
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        cause = f"`{' '.join(command[1:4])}` failed: {lines[-1]}"
        raise FabricmarkError(cause, remedy, ENVIRONMENT)
