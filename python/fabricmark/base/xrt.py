"""AMD's runtime XRT on this machine, and what it needs around it to emulate cards (docs/xrt.md).

XRT looks for its driver below XILINX_XRT and for the process that plays a card below XILINX_VITIS: both are
made here, of links, so that neither Vitis nor an installation by its script is needed.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths, runtimes
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

EMULATION, OPENCL = "libxrt_swemu.so.2", "libxilinxopencl.so.2"
# By backend the name of the platform that its devices have.
NAMES = {"opencl": "Xilinx", "xrt": "XRT"}
BACKEND = "FABRICMARK_BACKEND"
# Where the process lies below XILINX_VITIS: until 2.14, and from 2.15 on.
MODELS = [f"data/emulation/unified/{one}/generic_pcie/model" for one in ("cpu_em", "sw_emu")]
PROCESS = "genericpciemodel"
MODE = "XCL_EMULATION_MODE"
DROPS_REALLOC = (2, 13)  # Debian's build of it, whose shim for emulation writes to what was released
OF_SYSTEM = Path("/usr/lib")
OF_AMD = Path("/opt/xilinx/xrt/lib")  # its own packages
REMEDY = "run `fabricmark runtimes install xrt`, or name its folder in XILINX_XRT"
INSTALLED = "xrt"  # as a runtime of `fabricmark runtimes`
PACKAGE = "libxrt1"  # of Debian
BY_HAND = "install XRT by AMD's own package"


@dataclass(frozen=True)
class Runtime:
    """An installation: the folder of its libraries, and its version as far as their names tell."""

    folder: Path
    version: tuple[int, ...]

    @property
    def opencl(self) -> Path:
        """What the OpenCL loader loads."""
        return self.folder / OPENCL


def _triplet() -> str:
    """The folder of this machine's libraries below /usr/lib, where there is one."""
    return str(sysconfig.get_config_var("MULTIARCH") or "")


def unpacked() -> Path:
    """Where `install` puts the libraries without root."""
    return paths.runtimes() / INSTALLED / "usr" / "lib" / _triplet()


def find() -> Runtime | None:
    """The first of: XILINX_XRT, the system's, AMD's own packages, what `install` has unpacked.

    None where there is none with OpenCL.
    """
    given = os.environ.get("XILINX_XRT")
    folders = [Path(given) / "lib"] if given else []
    folders += [OF_SYSTEM / _triplet(), OF_AMD, unpacked()]
    for folder in folders:
        library = folder / EMULATION
        if library.exists() and (folder / OPENCL).exists():
            found = re.search(r"\.so\.(\d+)\.(\d+)", library.resolve().name)
            return Runtime(folder.resolve(), tuple(map(int, found.groups())) if found else ())
    return None


def require() -> Runtime:
    """The same; raises FabricmarkError (3) where there is none."""
    found = find()
    if found is None:
        raise FabricmarkError("AMD's runtime XRT is not installed", REMEDY, ENVIRONMENT)
    return found


def install() -> bool:
    """Install XRT from Debian's package unless it is there; says what it does. True when it installed.

    As root by apt-get; else its package, and those that it needs and the system has not, are unpacked beside
    the other runtimes. Raises FabricmarkError (3) where that fails.
    """
    if find() is not None:
        return False
    if shutil.which("apt-get") is None:
        raise FabricmarkError(
            "XRT is installed from Debian's packages, and there is no apt-get", BY_HAND, ENVIRONMENT
        )
    if os.geteuid() == 0:
        print(f"installing {PACKAGE} by apt-get", file=sys.stderr)
        command = ["apt-get", "install", "-y", "--no-install-recommends", PACKAGE]
        runtimes.run_or_fail(command, f"run `apt-get update` and repeat, or {BY_HAND}")
    else:
        _unpack(paths.runtimes() / INSTALLED)
    if find() is None:
        raise FabricmarkError(f"{PACKAGE} brought no {EMULATION}", BY_HAND, ENVIRONMENT)
    return True


def _unpack(folder: Path) -> None:
    names = [PACKAGE, *(name for name in _needed() if not _is_installed(name))]
    print(f"unpacking {' '.join(names)} of Debian into {folder}", file=sys.stderr)
    remedy = f"check the connection to Debian's packages and repeat, or {BY_HAND}"
    with tempfile.TemporaryDirectory() as place:
        download = ["sh", "-c", 'cd "$1" && shift && apt-get download "$@"', "sh", place, *names]
        runtimes.run_or_fail(download, remedy, "apt-get download failed")
        for package in sorted(Path(place).glob("*.deb")):
            runtimes.run_or_fail(["dpkg-deb", "-x", str(package), str(folder)], remedy)


def _needed() -> list[str]:
    """The packages that PACKAGE depends on."""
    done = subprocess.run(["apt-cache", "depends", PACKAGE], capture_output=True, text=True, check=False)
    return [line.split()[-1] for line in done.stdout.splitlines() if line.strip().startswith("Depends:")]


def _is_installed(package: str) -> bool:
    done = subprocess.run(["dpkg", "-s", package], capture_output=True, text=True, check=False)
    return done.returncode == 0 and "Status: install ok installed" in done.stdout


@contextmanager
def emulated_cards(config: str) -> Iterator[Mapping[str, str]]:
    """The environment of programs that run on emulated cards, over a folder that goes with it.

    `config`: the text of emconfig.json, which says how many cards there are and which memories they have.
    Such programs have to be started in a process group of their own: XRT signals all of its group when a card
    dies. Raises FabricmarkError (3) without XRT or a built card.
    """
    runtime, card = require(), paths.card()
    # Below /tmp, as XRT's sockets lie in /tmp/$USER, and go with the folder.
    with tempfile.TemporaryDirectory(prefix="fabricmark-card-", dir="/tmp") as name:
        folder = Path(name)
        for model in MODELS:
            (folder / "vitis" / model).mkdir(parents=True)
            (folder / "vitis" / model / PROCESS).symlink_to(card)
        (folder / "xrt").mkdir()
        (folder / "xrt" / "lib").symlink_to(runtime.folder)
        paths.write_atomically(folder / "emconfig.json", config)
        found = {
            MODE: "sw_emu", "EMCONFIG_PATH": name, "SDACCEL_EM_RUN_DIR": name, "USER": folder.name,
            "XILINX_VITIS": f"{name}/vitis", "XILINX_XRT": f"{name}/xrt",
            "OCL_ICD_VENDORS": str(runtime.opencl), "OCL_ICD_FILENAMES": str(runtime.opencl),
        }  # fmt: skip
        if runtime.folder == unpacked().resolve():  # whose libraries the loader does not know
            before = os.environ.get("LD_LIBRARY_PATH")
            found["LD_LIBRARY_PATH"] = ":".join([str(runtime.folder), *([before] if before else [])])
        if runtime.version == DROPS_REALLOC:
            before = os.environ.get("LD_PRELOAD")
            found["LD_PRELOAD"] = ":".join([str(paths.xrt_repair()), *([before] if before else [])])
        yield found
