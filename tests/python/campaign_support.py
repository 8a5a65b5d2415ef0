"""What the tests of campaigns share: twelve points, and how the command is started and watched."""

import subprocess
import time
from pathlib import Path

TWELVE = """
name = "twelve"
repetitions = 3
[[runs]]
benchmark = "stream"
runtime = "system"
[runs.matrix]
vector_width = [1, 2, 4]
buffer_size = [16, 32, 64, 128]
"""
ALL_TWELVE = {(width, size) for width in (1, 2, 4) for size in (16, 32, 64, 128)}


def write(place, text=TWELVE, name="c.toml"):
    path = place.folder / name
    path.write_text(text)
    return path


def point(words):
    """(vector width, buffer size) of a command line."""
    given = dict(word.removeprefix("--").split("=") for word in words if "=" in word)
    return int(given["vector-width"]), int(given["buffer-size"])


def started(place):
    return [point(entry["words"]) for entry in place.started()]


def files(place, name="twelve"):
    """Result files; one that starts with a dot is not one."""
    return sorted(path for path in (place.results / name).glob("*.json") if path.name[0] != ".")


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def start(place, *words, **variables):
    return subprocess.Popen(
        place.command(*map(str, words)), cwd=place.folder, text=True, start_new_session=True,
        env={**place.environment, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def is_alive(process):
    """Whether a process runs (a zombie that nobody has waited for does not)."""
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (OSError, ProcessLookupError):
        return False
