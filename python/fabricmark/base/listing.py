"""What there is: benchmarks (from the folders) and devices (from `fm_calibrate`)."""

import json
import os
import subprocess

from fabricmark.base import ended, kernels, paths, runtimes
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

DEVICE_KEYS = (
    "name",
    "driver",
    "class",
    "platform",
    "platform_index",
    "device_index",
    "compute_units",
    "emulated",
)
LONGEST_LISTING_SECONDS = 120


NONE_FOUND = "no OpenCL device was found"
_why_none: dict[str, tuple[str, str]] = {}  # cause and remedy by runtime, as the program said them


def why_none(runtime: str, usual: str) -> FabricmarkError:
    """That a runtime offers no device, with what the program has said of it."""
    cause, remedy = _why_none.get(runtime, ("no OpenCL device found", usual))
    return FabricmarkError(cause, remedy, ENVIRONMENT)


def _none(runtime: str, said: str) -> list[dict]:
    """No devices. Raises FabricmarkError (3) where the program says more than that there are none."""
    lines = [line for line in said.splitlines() if ": error: " in line]
    cause, _, remedy = lines[-1].partition(": error: ")[2].rpartition("; ") if lines else ("", "", "")
    if cause and not cause.startswith((NONE_FOUND, "SYCL found no device")):
        raise FabricmarkError(cause, remedy, ENVIRONMENT)
    if cause:
        _why_none[runtime] = (cause, remedy)
    return []


def benchmark_names() -> list[str]:
    """Folders of kernels/ with a kernel.toml; a new benchmark needs no other registration."""
    return sorted(file.parent.name for file in paths.kernels().glob("*/kernel.toml"))


def check_benchmark(name: str) -> list[str]:
    """All benchmarks. Raises FabricmarkError (2) for one that does not exist."""
    known = benchmark_names()
    if name not in known:
        raise FabricmarkError(f"there is no benchmark {name!r}", f"use one of {', '.join(known)}")
    return known


def kernel(name: str) -> kernels.Kernel:
    """The kernels and parameters of a benchmark. Raises FabricmarkError (2, or 3: nothing is built)."""
    kernels.answers([{"benchmark": one} for one in check_benchmark(name)])  # one start for all of them
    return kernels.kernel(name)


def devices(runtime: str) -> list[dict]:
    """The devices that one runtime offers, as `fm_calibrate --list-devices` reports them.

    An empty list when there is none. Raises FabricmarkError (3) when the program is not built or fails.
    """
    path = paths.program("calibrate")
    command = [str(path), "--list-devices", "--json", "-"]
    environment = runtimes.environment(runtime, os.environ)
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=LONGEST_LISTING_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        cause = f"{path} --list-devices: {error}"
        raise FabricmarkError(cause, "check the OpenCL runtime with `clinfo`", ENVIRONMENT) from error
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode == 3:
        return _none(runtime, said)
    try:
        found = json.loads(done.stdout)["devices"] if done.returncode == 0 else None
        if all(key in device for device in found for key in DEVICE_KEYS):
            return found
    except (ValueError, KeyError, TypeError):
        pass
    how = ended.words(done.returncode, said) if done.returncode else "gave no list of devices"
    raise FabricmarkError(f"{path} --list-devices {how}", ended.remedy(done.returncode, said), ENVIRONMENT)
