"""One prediction goes through few files: who changes it has few to know."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

PACKAGE = REPOSITORY / "python" / "fabricmark"
MOST_FILES = 25
# A process of its own, in which nothing is kept from other commands. Bodies of modules are no calls.
PROGRAM = """
import sys
from pathlib import Path
from fabricmark.cli import app

entered = set()

def note(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        entered.add(frame.f_code.co_filename)

sys.setprofile(note)
try:
    app()
finally:
    sys.setprofile(None)
    Path("entered.txt").write_text("\\n".join(entered))
"""


def files_of(folder: Path, *words: str) -> list[str]:
    """The files of the package in which `fabricmark words...` calls a function, by their paths in it."""
    own = {
        "PYTHONPATH": str(PACKAGE.parent),
        "FABRICMARK_ROOT": str(REPOSITORY),
        "FABRICMARK_SYSTEMS": os.devnull,
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], env={**os.environ, **own}, cwd=folder, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    paths = [Path(line) for line in (folder / "entered.txt").read_text().splitlines()]
    return sorted(path.relative_to(PACKAGE).as_posix() for path in paths if path.is_relative_to(PACKAGE))


@pytest.mark.programs
def test_a_prediction_goes_through_few_files(tmp_path):
    found = files_of(tmp_path, "predict", "stream", "--system", "noctua1")
    assert {"cli.py", "predict/points.py", "models/stream/__init__.py"} <= set(found)  # it was watched
    assert len(found) <= MOST_FILES, f"{len(found)} files: {', '.join(found)}"
