"""What SimGrid says of a simulated call: an optional program, built where SimGrid is (fabricmark-simgrid)."""

import json
import os
import subprocess
from collections.abc import Mapping

from fabricmark.base import ended, paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

LONGEST_SECONDS = 120
ABSENT = (
    "SimGrid is not there, the own network answers alone: tools/setup.py --also simgrid and make build add it"
)
TOO_LONG = f"SimGrid has not answered in {LONGEST_SECONDS} s, the own network answers alone"
WITHOUT_BACKGROUND = "SimGrid is not asked with background traffic, the own network answers alone"
KEYS = (
    "simulate",
    "ranks",
    "ranks_per_device",
    "placement",
    "seed",
    "failed",
    "network",
    "calls",
    "programs",
    "collectives",
    "eager_bytes",
    "parts",
)


def seconds(request: Mapping) -> tuple[float | None, str]:
    """Of a request of `fabricmark-describe` (None where there is no answer), and its version or why there is
    none. Raises FabricmarkError (2: what cannot be, 3: the program failed)."""
    if request.get("background"):
        return None, WITHOUT_BACKGROUND
    try:
        program = paths.simgrid()
    except FabricmarkError:
        return None, ABSENT
    asked = json.dumps({key: request[key] for key in KEYS if key in request})
    environment = {**os.environ, **paths.describe_variables()}
    try:
        done = subprocess.run(
            [program], input=asked.encode(), env=environment, capture_output=True, timeout=LONGEST_SECONDS,
            check=False,
        )  # fmt: skip
        found = json.loads(done.stdout) if done.returncode == 0 else {}
    except subprocess.TimeoutExpired:
        return None, TOO_LONG
    except (OSError, ValueError) as error:
        raise FabricmarkError(f"{program}: {error}", "build again with `make build`", ENVIRONMENT) from error
    if "seconds" not in found:
        said = ended.words(done.returncode, done.stderr.decode("utf-8", "replace"))
        raise FabricmarkError(f"{program} {said}", "use --no-simgrid", ENVIRONMENT)
    return found["seconds"], f"SimGrid {found['version']}"
