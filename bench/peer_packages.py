"""Peers from PyPI, each installed once, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from common import ROOT


def python(name: str, *packages: str) -> Path | None:
    """The Python that has these versions, made where it is missing; None without a network or wheels."""
    folder = ROOT / ".runtimes" / f"python-{name}"
    found = folder / "bin" / "python"
    finished = folder / "finished"
    wanted = "\n".join(packages)
    if finished.exists() and finished.read_text() == wanted:
        return found
    print(f"installing {', '.join(packages)} from PyPI into {folder}", file=sys.stderr)
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(found), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *packages],
    )
    if any(subprocess.run(command, capture_output=True).returncode for command in commands):
        return None
    finished.write_text(wanted)
    return found
