"""What the program `fabricmark-mesh` answers, which knows all about meshes."""

import json
import subprocess
from collections.abc import Mapping

from fabricmark.base import ended, paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

_MARK = "fabricmark-mesh: error: "


def ask(*words: object) -> Mapping:
    """What it answers to a command. Raises FabricmarkError: its own, or 3 where it is not built or fails."""
    command = [str(paths.mesh_tool()), *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in a name
        raise FabricmarkError(f"cannot start {command[0]}: {error}", "build it again", ENVIRONMENT) from error
    if done.returncode == 0:
        return json.loads(done.stdout)
    said = done.stderr.strip().splitlines()
    if said and said[-1].startswith(_MARK):
        cause, _, remedy = said[-1].removeprefix(_MARK).rpartition("; ")
        raise FabricmarkError(cause, remedy, done.returncode)
    cause = f"fabricmark-mesh {ended.words(done.returncode, done.stderr)}"
    raise FabricmarkError(cause, "take a smaller mesh, or build again", ENVIRONMENT)
