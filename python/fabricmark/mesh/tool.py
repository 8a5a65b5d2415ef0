"""The program `fabricmark-mesh` and what it answers of meshes as arrays."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from fabricmark.base.meshes import ask
from fabricmark.mesh.arrays import Arrays

__all__ = ["arrays", "ask"]


def arrays(mesh: str, *words: object) -> tuple[Arrays, Mapping]:
    """A mesh, bay:N or a file, as arrays, and its answer; `words`: how it is read. Raises FabricmarkError."""
    with tempfile.TemporaryDirectory() as scratch:
        answer = ask("arrays", mesh, scratch, *words)
        return Arrays.load(Path(scratch)), answer
