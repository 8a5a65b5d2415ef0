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
    _, is_its_own, line = done.stderr.rpartition(_MARK)  # several lines where a file's name is
    if is_its_own:
        cause, _, remedy = line.strip().rpartition("; ")
        raise FabricmarkError(cause, remedy, done.returncode)
    cause = f"fabricmark-mesh {ended.words(done.returncode, done.stderr)}"
    raise FabricmarkError(cause, "take a smaller mesh, or build again", ENVIRONMENT)
