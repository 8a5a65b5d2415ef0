"""ANUGA (PyPI: anuga), as a peer of shallow-water programs: installed once, in an environment of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import peer_packages
from common import ROOT, program, run_program

PACKAGE = "anuga==4.1.0"
SCRIPT = ROOT / "bench" / "anuga_shallow_water.py"


def python() -> Path | None:
    """The Python that has it, as `peer_packages.python`."""
    return peer_packages.python(PACKAGE.replace("==", "-"), PACKAGE)


def arrays(mesh: str, folder: Path) -> Path:
    """The mesh as ANUGA's script reads it."""
    run_program([program("fabricmark-mesh"), "arrays", mesh, str(folder)])
    return folder


def run(folder: Path, *options: str, prefix: tuple[str, ...] = ()) -> dict:
    """What the script says of a run; `prefix`: a command that starts it, such as taskset."""
    found = python()
    if found is None:
        sys.exit("bench: error: anuga cannot be installed; connect to PyPI")
    text = run_program([*prefix, str(found), str(SCRIPT), str(folder), *options])
    return json.loads(text.splitlines()[-1])
