"""ReFrame, where it is installed (`pip install ReFrame-HPC`, in an environment of its own)."""

import os
import shutil
import subprocess

import pytest
from conftest import REPOSITORY


def generated(place):
    """Tests that `fabricmark reframe` wrote of a run of STREAM at `place`, and a function that runs them with
    more words; skips the test without ReFrame."""
    reframe = shutil.which("reframe")
    if reframe is None:
        pytest.skip("no ReFrame")
    words = ["run", "stream", "--", "--size", "100000", "--repetitions", "3"]
    assert place.run(*words).returncode == 0
    assert place.run("reframe", "results", "-o", "tests.py", "--tolerance", "90%").returncode == 0
    command = place.folder / "bin/fabricmark"
    place.add_program(command, "from fabricmark.cli import app; app(prog_name='fabricmark')")
    folders = [str(command.parent), str(REPOSITORY / "build/release/bin"), place.environment["PATH"]]
    tests = place.folder / "tests.py"

    def run(*more):
        return subprocess.run(
            [reframe, *more, "-c", tests, "-r", "--prefix", place.folder / "reframe"],
            cwd=place.folder, text=True, capture_output=True, timeout=300,
            env={**place.environment, "PATH": os.pathsep.join(folders)},
        )  # fmt: skip

    return tests, run


def make_wrong(tests):
    """From here on their results are."""
    tests.write_text(tests.read_text().replace("'--size'", "'--inject-fault', 'scale', '--size'"))
