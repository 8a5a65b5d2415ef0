"""AMD's runtime XRT on this machine, and what it needs around it to emulate cards (docs/xrt.md).

XRT looks for its driver below XILINX_XRT and for the process that plays a card below XILINX_VITIS: both are
made here, of links, so that neither Vitis nor an installation by its script is needed.
"""

import os
import re
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths
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
REMEDY = "install it (Debian: apt-get install libxrt1), or name its folder in XILINX_XRT"


@dataclass(frozen=True)
class Runtime:
    """An installation: the folder of its libraries, and its version as far as their names tell."""

    folder: Path
    version: tuple[int, ...]

    @property
    def opencl(self) -> Path:
        """What the OpenCL loader loads."""
        return self.folder / OPENCL


def find() -> Runtime | None:
    """The first of: XILINX_XRT, the system's, AMD's own packages. None where there is none with OpenCL."""
    given = os.environ.get("XILINX_XRT")
    folders = [Path(given) / "lib"] if given else []
    folders += [
        Path("/usr/lib") / str(sysconfig.get_config_var("MULTIARCH") or ""),
        Path("/opt/xilinx/xrt/lib"),
    ]
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
        if runtime.version == DROPS_REALLOC:
            before = os.environ.get("LD_PRELOAD")
            found["LD_PRELOAD"] = ":".join([str(paths.xrt_repair()), *([before] if before else [])])
        yield found
