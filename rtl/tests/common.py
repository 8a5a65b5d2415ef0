"""What the kinds of checks of the RTL share: tasks, commands, and programs that Verilator builds."""

import functools
import subprocess
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"
SOURCES = RTL / "credit_link"
BUILD = ROOT / "build" / "rtl"
TOP = "fm_credit_link"
FAULTS = range(1, 23)  # that can be planted by the input `fault` of `fm_cl_end`
MODEL_FOLDER = ROOT / "src" / "network" / "credit_link"
MODEL = [MODEL_FOLDER / f"{name}.cpp" for name in ("header", "link_end", "link_parameters")]


class Failure(Exception):
    """What a check has found, in one line or more."""


@dataclass(frozen=True)
class Task:
    """A check; what it returns, if anything, is told."""

    name: str
    check: Callable[[], str | None]
    is_full: bool = False  # takes long: only in `make test-rtl-full`


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    runs: int
    jobs: int
    full: bool
    write: bool = False  # renew the tables that tests compare with


def run(words: Sequence[object], what: str, folder: Path | None = None) -> str:
    """Output of a command. Raises Failure: it ended with an error."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, cwd=folder
    )
    if done.returncode != 0:
        raise Failure(f"{what}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


Result = TypeVar("Result")


def once(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function, called once for the same arguments; other threads wait for the first."""
    cached = functools.cache(function)
    locks: dict[Hashable, threading.Lock] = {}

    @functools.wraps(function)
    def locked(*arguments: Hashable) -> Result:
        with locks.setdefault(arguments, threading.Lock()):
            return cached(*arguments)

    return locked


def verilate(name: str, main: Path, flags: Sequence[object], define: str, model: Sequence[Path]) -> Path:
    """A program that steps the RTL: `main` and sources of the model, built below a folder of this name."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    compiler = f"-std=c++20 -O2 {define} -I{ROOT / 'src'}"
    how = ["--cc", "--exe", "--build", "-O3", "--x-assign", "fast", "--Mdir", folder, "-CFLAGS", compiler]
    run(["verilator", *how, "-LDFLAGS", "-lfmt", "-o", "program", *flags, main, *model], f"verilator, {name}")
    return folder / "program"
