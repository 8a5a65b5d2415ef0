"""Runtimes: the system's OpenCL, and from PyPI, without root, two more of OpenCL and one of SYCL.

Each runtime from PyPI has a virtual environment of its own; a process loads one only.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known

SYSTEM = "system"
LOADER_VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES")
# What the plugin shares with libraries of kernels; the includes name it from the folder of the kernels.
ENTRY_POINTS = Path("kernels/common/entry_points.hpp")
PLUGIN_VARIABLE = "FABRICMARK_SYCL"
AFTER_PIP = "check the connection to PyPI and the free space, then repeat"


@dataclass(frozen=True)
class Runtime:
    """A runtime from PyPI: its pinned packages and the library that the OpenCL loader shall use."""

    name: str
    packages: tuple[str, ...]
    library: str
    meaning: str
    is_sycl: bool = False

    def folder(self) -> Path:
        return paths.runtimes() / self.name

    def library_path(self) -> Path:
        return self.folder() / "lib" / self.library

    def plugin_path(self) -> Path:
        """The plugin that the programs load for SYCL."""
        return self.folder() / "lib" / "libfabricmark_sycl.so"

    def installed(self) -> bool:
        """Whether a finished installation of exactly these packages is there, and for SYCL today's plugin."""
        has_plugin = not self.is_sycl or self.plugin_path().is_file()
        return self.has_packages() and has_plugin and self._marked() == self._mark() + self._plugin_mark()

    def has_packages(self) -> bool:
        """Whether pip has ended for exactly these packages."""
        return self.library_path().is_file() and self._marked().startswith(self._mark())

    def _marker(self) -> Path:
        return self.folder() / "fabricmark-installed.txt"

    def _marked(self) -> str:
        return self._marker().read_text() if self._marker().is_file() else ""

    def _mark(self) -> str:
        return "\n".join(self.packages) + "\n"

    def _plugin_mark(self) -> str:
        """What the plugin was compiled from, so that other sources are compiled anew."""
        if not self.is_sycl:
            return ""
        sources = [*sorted(paths.sycl_plugin().glob("*.?pp")), paths.root() / ENTRY_POINTS]
        return hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest() + "\n"

    def mark_packages(self) -> None:
        """Written after pip has ended, so that an interrupted installation is started again."""
        paths.write_atomically(self._marker(), self._mark())

    def mark_installed(self) -> None:
        """Written last of all."""
        paths.write_atomically(self._marker(), self._mark() + self._plugin_mark())


def _intel(name: str, version: str, library: str, meaning: str, *, is_sycl: bool = False) -> Runtime:
    # Without intel-cmplr-lib-rt of the same version the runtime fails without a message.
    packages = (f"intel-opencl-rt=={version}", f"intel-cmplr-lib-rt=={version}")
    sycl = (f"intel-sycl-rt=={version}",) if is_sycl else ()
    return Runtime(name, packages + sycl, library, meaning, is_sycl)


INSTALLABLE = {
    runtime.name: runtime
    for runtime in (
        _intel("intel-cpu", "2026.2.0", "libintelocl.so", "Intel's OpenCL for CPUs"),
        # Later wheels lack the emulator or its configuration file.
        _intel("fpga-emulator", "2023.2.4", "libintelocl_emu.so", "Intel's FPGA emulator"),
        # In 2026.2.0 intel-cmplr-lib-ur, a part of SYCL's runtime, lacks what drives OpenCL's devices.
        _intel("sycl", "2026.1.2", "libintelocl.so", "Intel's SYCL over its OpenCL for CPUs", is_sycl=True),
    )
}


def names() -> list[str]:
    return [SYSTEM, *INSTALLABLE]


def find(name: str) -> Runtime:
    """A runtime from PyPI by its name. Raises FabricmarkError (2) for an unknown one."""
    check_known(name, INSTALLABLE, f"there is no runtime {name!r}")
    return INSTALLABLE[name]


def installed_names() -> list[str]:
    """The system's runtimes (whatever they are) and those from PyPI that are installed."""
    return [SYSTEM, *(name for name, runtime in INSTALLABLE.items() if runtime.installed())]


def environment(name: str, base: Mapping[str, str]) -> dict[str, str]:
    """`base` with what the OpenCL loader, and for SYCL the programs, need to find this runtime and no other.

    Raises FabricmarkError: 2 for an unknown name, 3 when the runtime is not installed.
    """
    result = dict(base)
    if name == SYSTEM:
        return result
    runtime = find(name)
    if not runtime.installed():
        remedy = f"run `fabricmark runtimes install {name}`"
        raise FabricmarkError(f"the runtime {name} is not installed", remedy, ENVIRONMENT)
    result.pop(PLUGIN_VARIABLE, None)
    if runtime.is_sycl:
        result[PLUGIN_VARIABLE] = str(runtime.plugin_path())
    result.pop("OPENCL_VENDOR_PATH", None)  # it would load a second runtime into the process
    # ocl-icd reads the first variable, the Khronos loader the second; each ignores the other one here.
    # LD_LIBRARY_PATH stays as it is: the wheels bring a libOpenCL of their own, which would take the place
    # of the loader that the programs were linked with.
    for variable in LOADER_VARIABLES:
        result[variable] = str(runtime.library_path())
    return result


def variables(name: str) -> list[str]:
    """Variables that `environment` sets, for launchers that pass only named ones to other hosts."""
    if name == SYSTEM:
        return []
    return [*LOADER_VARIABLES, *([PLUGIN_VARIABLE] if find(name).is_sycl else [])]


def install(name: str) -> bool:
    """Install a runtime from PyPI unless it is there; says what it does. True when it installed.

    No network is used when it is present. Raises FabricmarkError: 2 unknown name, 3 installation failed.
    """
    runtime = find(name)
    if runtime.installed():
        return False
    if not runtime.has_packages():
        _install_packages(runtime)
    if runtime.is_sycl:
        _compile_plugin(runtime)
    runtime.mark_installed()
    return True


def _install_packages(runtime: Runtime) -> None:
    folder = runtime.folder()
    print(f"installing {' '.join(runtime.packages)} from PyPI into {folder}", file=sys.stderr)
    run_or_fail([sys.executable, "-m", "venv", "--clear", str(folder)], "install the package python3-venv")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run_or_fail([*pip, *runtime.packages], AFTER_PIP)
    if not runtime.library_path().is_file():
        remedy = "remove that folder and repeat; the wheels may not support this system"
        raise FabricmarkError(f"{runtime.library_path()} is missing after pip", remedy, ENVIRONMENT)
    runtime.mark_packages()


def _compile_plugin(runtime: Runtime) -> None:
    """Compile what the programs load for SYCL, with CXX or the system's C++ compiler.

    Raises FabricmarkError (3) when that fails.
    """
    folder, plugin = runtime.folder(), runtime.plugin_path()
    sources = sorted(paths.sycl_plugin().glob("*.cpp"))
    print(f"compiling {plugin}", file=sys.stderr)
    made = plugin.with_suffix(".new")
    flags = [
        "-std=c++20",
        "-O2",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-isystem",
        str(folder / "include"),
        f"-I{paths.root() / ENTRY_POINTS.parent.parent}",
    ]
    libraries = [str(folder / "lib" / "libsycl.so"), f"-Wl,-rpath,{folder / 'lib'}"]
    compiler = os.environ.get("CXX") or "c++"
    command = [compiler, *flags, *map(str, sources), "-o", str(made), *libraries]
    run_or_fail(command, "install g++ 12 or later, or name it in CXX, then repeat")
    made.replace(plugin)


def run_or_fail(command: list[str], remedy: str, failure: str = "") -> None:
    """Run a command quietly; raises FabricmarkError (3) with `failure` and its last line when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise FabricmarkError(f"cannot start {command[0]}: {error.strerror}", remedy, ENVIRONMENT) from error
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        what = failure or f"`{' '.join(command[1:4])}` failed"
        raise FabricmarkError(f"{what}: {lines[-1]}", remedy, ENVIRONMENT)
