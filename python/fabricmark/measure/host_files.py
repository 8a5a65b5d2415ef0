"""What the system tells in files and NVIDIA's tool tells of GPUs; nothing where they do not."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

SECONDS_FOR_GPU = 10


def text(file: Path) -> str:
    """A file's content; empty where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def of_gpus(fields: Sequence[str]) -> list[str]:
    """A line for each GPU: these fields of `nvidia-smi --help-query-gpu`, with commas between."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_FOR_GPU, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]
