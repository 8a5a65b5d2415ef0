"""What the comparisons share: settings, rows of the final table, and how programs are run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from fabricmark.base import runtimes
from pairs import Contender, Ratio, ratio

ROOT = Path(__file__).resolve().parent.parent
OWN_BUILD = Path(os.environ.get("FABRICMARK_BUILD", ROOT / "build" / "release"))
KERNELS = "FABRICMARK_KERNELS"
_build = OWN_BUILD


@dataclass(frozen=True)
class Settings:
    """`pairs`: rounds of every comparison; `runtimes`: OpenCL runtimes to compare on."""

    pairs: int
    runtimes: list[str]


@dataclass(frozen=True)
class Row:
    """One line of the table: what was compared, the value, its spread, and the bar that it should reach.

    `counts`: False for a line that is only shown beside another.
    """

    what: str
    value: float
    spread: str
    bar: str
    reached: bool
    counts: bool = True


def ratio_row(what: str, found: Ratio, bar: float, pairs: int) -> Row:
    """The row of a ratio to a peer that should reach at least `bar`."""
    spread = f"{found.smallest:.3f} to {found.largest:.3f}, {pairs} pairs"
    return Row(what, found.median, spread, f">= {bar:.2f}", found.median >= bar)


def fastest_counts(what: str, ours: list[Contender], peer: Contender, bar: float, pairs: int) -> list[Row]:
    """A row for each contender, one a runtime, whose name takes the place of {} in `what`.

    The bar is for the fastest of them; the others are shown beside it.
    """
    rows = [ratio_row(what.format(one.name), ratio(one, peer), bar, pairs) for one in ours]
    best_row = max(rows, key=lambda row: row.value)
    fastest = ours[rows.index(best_row)].name
    beside = f"{best_row.bar} on {fastest}"
    return [
        replace(row, bar=f"{row.bar}, faster runtime")
        if row is best_row
        else replace(row, bar=beside, counts=False)
        for row in rows
    ]


# Runs of one configuration, by its name: each gives rates by name, larger being better.
OwnRuns = dict[str, Callable[[], dict[str, float]]]


def kernels_of(build: Path) -> Path | None:
    """The kernels of the sources that a build folder was made from; None where it does not tell.

    Ends this program with one line where those sources are gone.
    """
    cache = build / "CMakeCache.txt"
    if not cache.is_file():
        return None
    found = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.+)$", cache.read_text(), re.MULTILINE)
    if found is None:
        return None
    kernels = Path(found[1]) / "kernels"
    if not kernels.is_dir():
        sys.exit(
            f"bench: error: {build} was made from {found[1]}, which has no kernels; make that build again"
        )
    return kernels


@contextmanager
def programs_of(build: Path) -> Iterator[None]:
    """Within it, `program` gives those of this build, and they read the kernels of its own sources."""
    global _build
    kernels = kernels_of(build)
    before, _build = _build, build
    try:
        with patch.dict(os.environ):
            os.environ.pop(KERNELS, None)
            if kernels:
                os.environ[KERNELS] = str(kernels)
            yield
    finally:
        _build = before


def program(name: str) -> str:
    """Path of a program of the build that is measured."""
    return str(_build / "bin" / name)


def on_cores(count: int) -> tuple[str, ...]:
    """The command that keeps a program on the first so many cores."""
    cores = sorted(os.sched_getaffinity(0))[:count]
    return ("taskset", "-c", ",".join(map(str, cores)))


def mpirun(*command: str, ranks: int = 2) -> list[str]:
    """So many ranks, each on a core of its own where there are two."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", "-q", *root, "--oversubscribe", "-n", str(ranks), *command]


def run_program(command: list[str], variables: dict[str, str] | None = None) -> str:
    """Standard output of a command that must succeed; otherwise ends this program with one line."""
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"bench: error: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def run_result(name: str, options: list[str], variables: dict[str, str] | None = None) -> dict:
    """The result document of a program of the suite."""
    return json.loads(run_program([program(name), *options, "--json", "-"], variables))


def run_result_on_two_ranks(name: str, options: list[str], variables: dict[str, str]) -> dict:
    """The same on two processes of MPI."""
    return run_result_on_ranks(2, name, options, variables)


def run_result_on_ranks(ranks: int, name: str, options: list[str], variables: dict[str, str]) -> dict:
    """The same on so many processes of MPI."""
    command = [program(name), *options, "--json", "-"]
    return json.loads(run_program(mpirun(*command, ranks=ranks), variables))


def runtime_variables(runtime: str) -> dict[str, str]:
    """Environment variables that select the OpenCL runtime of this name, on top of this process's own."""
    return runtimes.environment(runtime, {})


def best(result: dict, operation: str, name: str | None = None) -> float:
    """Best value of an operation in a result document; of this name, where an operation has several."""
    return next(
        m["best"]
        for m in result["measurements"]
        if m["axes"].get("operation") == operation and name in (None, m["name"])
    )
