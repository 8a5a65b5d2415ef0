"""Libraries of SYCL kernels as `fabricmark build --tool icpx` writes them, by clang with a stub of SYCL."""

import subprocess

from conftest import REPOSITORY
from fabricmark.build import icpx
from fabricmark.build.steps import CLANG, How

STUB = ["-isystem", str(REPOSITORY / "tests" / "sycl_stub")]
QUIET = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-attributes", "-Wno-unused-variable",
         "-Wno-unused-function", "-Wno-unused-parameter"]  # fmt: skip


def made_for(found, folder, target="hw", **how):
    platform = "a_bsp:with_pipes" if found.uses_channels and target != "emulator" else None
    return icpx.steps(found, platform, folder, [], How(target, **how))


def compiled(made, *words, change=None, headers=STUB):
    """What clang says of the wrapper, with the options of the preprocessor that icpx would get."""
    (file, text) = next(iter(made.files.items()))
    file.write_text(change(text) if change else text)
    (command,) = made.commands
    own = [
        word for at, word in enumerate(command) if word.startswith("-D") or "-I" in (word, command[at - 1])
    ]
    line = [
        CLANG,
        "-x",
        "c++",
        "-std=c++17",
        *headers,
        *QUIET,
        *own,
        *(words or ["-fsyntax-only"]),
        str(file),
    ]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


def make_library(made, library, change=None):
    """For this machine; the stub runs a task at once. Returns `library`."""
    words = ("-O1", "-shared", "-fPIC", "-lstdc++", "-lm", "-o", str(library))
    done = compiled(made, *words, change=change)
    assert done.returncode == 0, done.stderr
    return library
