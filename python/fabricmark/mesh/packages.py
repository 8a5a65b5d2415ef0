"""Python packages that only some formats need: installed from PyPI when they are first wanted."""

import importlib
import sys
from types import ModuleType

from fabricmark.base import paths, runtimes
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

# By module: pinned, with what they need beside the command's own packages.
PACKAGES = {
    "meshio": ("meshio==5.3.5",),
    "netCDF4": ("netCDF4==1.7.5.1.post1", "cftime==1.6.6.1", "certifi==2026.10.18"),
}


def load(module: str) -> ModuleType:
    """The module, after installing its package where it is missing. Raises FabricmarkError (3)."""
    folder = paths.runtimes() / f"python-{module}-{PACKAGES[module][0].partition('==')[2]}"
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # last: the command's own packages stay what they are
    try:
        return importlib.import_module(module)
    except ImportError:
        _install(module, folder)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except ImportError as error:
        remedy = f"remove {folder} and repeat"
        raise FabricmarkError(f"{module} cannot be used: {error}", remedy, ENVIRONMENT) from error


def _install(module: str, folder) -> None:
    packages = PACKAGES[module]
    print(f"installing {' '.join(packages)} from PyPI into {folder}", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    command = [*pip, "--target", str(folder), *packages]
    runtimes.run_or_fail(command, runtimes.AFTER_PIP, f"cannot install {packages[0]}")
