"""Compiles sources of dataflow kernels, against the HLS stub or otherwise, and runs them."""

import os
import subprocess

from conftest import REPOSITORY

CXX = os.environ.get("CXX", "g++")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
KERNELS = [f"-I{REPOSITORY / 'kernels'}"]
PROJECT = ["-Wshadow", "-Wconversion", "-Wno-sign-conversion"]  # the flags of everything else here
NATIVE = ["-std=c++20", *WARNINGS, *PROJECT, *KERNELS, f"-I{REPOSITORY / 'src'}"]
STUB = ["-std=c++14", *WARNINGS, *KERNELS, f"-I{REPOSITORY / 'tests' / 'hls_stub'}"]


def compiled(source, *options):
    command = [CXX, *map(str, options), str(source)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, "LC_ALL": "C"}
    )


def built(folder, text, *options):
    """The program of a source text."""
    source, program = folder / "source.cpp", folder / "program"
    source.write_text(text)
    done = compiled(source, *options, "-o", program)
    assert done.returncode == 0, done.stderr
    return program


def run(program, *words, **options):
    command = [str(word) for word in (program, *words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)
