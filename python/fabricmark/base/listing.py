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
    if done.returncode == 3:
        return []
    try:
        found = json.loads(done.stdout)["devices"] if done.returncode == 0 else None
        if all(key in device for device in found for key in DEVICE_KEYS):
            return found
    except (ValueError, KeyError, TypeError):
        pass
    said = ended.words(done.returncode, done.stderr.decode("utf-8", "replace"))
    cause = f"{path} --list-devices {said if done.returncode else 'gave no list of devices'}"
    raise FabricmarkError(cause, "build again with `make build`", ENVIRONMENT)
