"""The program `fabricmark-mesh` and what it answers of meshes as arrays."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from fabricmark.base.meshes import ask
from fabricmark.mesh.arrays import Arrays

__all__ = ["arrays", "ask"]


def arrays(mesh: str) -> tuple[Arrays, Mapping]:
    """A mesh, bay:N or a file, as arrays, and its answer. Raises FabricmarkError."""
    with tempfile.TemporaryDirectory() as scratch:
        answer = ask("arrays", mesh, scratch)
        return Arrays.load(Path(scratch)), answer
