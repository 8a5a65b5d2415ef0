#!/usr/bin/env python3
"""Traces of programs of others on two ranks: what recording costs, and predictions over TCP beside real runs.

    bench/traces.py [--runs 5] [--hpcc]

All runs take turns, and medians are compared: recorded over shared memory at two sizes, run over TCP at both
and at a third, which the two traces predict. The network is measured in between (`systems network`). It
prints a table as Markdown; needs mpirun, and with --hpcc the program hpcc.
"""

import argparse
import os
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
FABRICMARK = ROOT / ".venv" / "bin" / "fabricmark"
# A rank that waits leaves its core to others: the machine may have as few cores as ranks.
MPIRUN = ("mpirun", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "-n", "2")
TCP = ("--mca", "btl", "tcp,self")
SECONDS = 600
UNDISTURBED = 0.05  # of the cores' time that others had
Value = TypeVar("Value")
PREDICTED = re.compile(r"predicted: ([0-9.e+-]+) s")
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
LINES = {6: "{n} Ns", 8: "80 NBs", 11: "1 Ps", 12: "2 Qs"}


class Patience:
    """Runs again while others use the cores, until its seconds are over: then the least disturbed counts."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.shares: list[float] = []

    def run(self, action: Callable[[], Value]) -> Value:
        best: tuple[float, Value] | None = None
        while best is None or (best[0] > UNDISTURBED and time.monotonic() < self._until):
            begin, busy, own = time.monotonic(), _busy(), _own()
            value = action()
            cores = (time.monotonic() - begin) * (os.cpu_count() or 1)
            share = max(0.0, _busy() - busy - (_own() - own)) / cores
            if best is None or share < best[0]:
                best = share, value
        self.shares.append(best[0])
        return best[1]


def _busy() -> float:
    """Seconds that all cores have worked."""
    values = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    idle = values[3] + values[4]
    return (sum(values[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def _own() -> float:
    found = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def run(words: Sequence[object], folder: Path) -> str:
    """Standard output. Ends the script where the command fails."""
    environment = {
        **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    done = subprocess.run(
        [*map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


class Stencil:
    """Jacobi's method: work as the square of the size, messages as the size."""

    name, sizes = "stencil", (1024, 2048, 3072)

    def command(self, n: int, folder: Path) -> list[object]:
        return [BIN / "jacobi", n, 200]


class Hpcc:
    """The whole HPC Challenge; the size is that of HPL's matrix, from which all others follow. Its tables
    have a power of two of entries, which grow as the square of sizes that double."""

    name, sizes = "hpcc", (500, 1000, 2000)

    def command(self, n: int, folder: Path) -> list[object]:
        lines = HPCC_INPUT.read_text().splitlines()
        for number, line in LINES.items():
            lines[number - 1] = line.format(n=n)
        (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
        (folder / "hpccoutf.txt").unlink(missing_ok=True)
        return ["hpcc"]


def recorded(program: Stencil | Hpcc, n: int, folder: Path, name: str, extra: Sequence[str] = ()) -> float:
    """Seconds from MPI_Init to MPI_Finalize, as the trace has them."""
    file = folder / f"{name}.trace"
    words = [FABRICMARK, "record", "--output", file, "--", *MPIRUN, *extra, *program.command(n, folder)]
    run(words, folder)
    return max(float(one) for one in re.findall(r'"rank":[0-9]+,"seconds":([0-9.e+-]+)', file.read_text()))


def predicted(folder: Path, words: Sequence[object]) -> float:
    said = run([FABRICMARK, "simulate", *words, "--system", folder / "tcp.toml", "--no-simgrid"], folder)
    return float(PREDICTED.search(said)[1])  # type: ignore[index]


def measure(
    program: Stencil | Hpcc, runs: int, folder: Path, patience: Patience
) -> Mapping[str, list[float]]:
    """Seconds of all runs by what they are, interleaved."""
    small, large, third = program.sizes
    found: dict[str, list[float]] = {}

    def over_tcp(n: int) -> float:
        return patience.run(lambda: recorded(program, n, folder, "t", TCP))

    for turn in range(runs):
        words = [
            FABRICMARK,
            "systems",
            "network",
            f"tcp{turn}",
            "--passes",
            1,
            "--largest",
            65536,
            "--output",
        ]
        words += [folder / "tcp.toml", "--", *MPIRUN, *TCP]
        patience.run(lambda words=words: run(words, folder))
        for n in (small, large):
            shared = patience.run(lambda n=n: recorded(program, n, folder, f"s{n}"))
            found.setdefault(f"recorded {n}", []).append(shared)
            found.setdefault(f"real {n}", []).append(over_tcp(n))
            found.setdefault(f"predicted {n}", []).append(predicted(folder, [folder / f"s{n}.trace"]))
        found.setdefault(f"real {third}", []).append(over_tcp(third))
        words = [folder / f"s{large}.trace", "--with", folder / f"s{small}.trace", "--sizes"]
        found.setdefault(f"predicted {third}", []).append(
            predicted(folder, [*words, f"{large},{small},{third}"])
        )
    return found


def cost(runs: int, folder: Path, patience: Patience) -> tuple[float, float]:
    """Seconds that the stencil says its steps take, without and with the recorder, interleaved."""
    times: dict[bool, list[float]] = {False: [], True: []}
    words = [*MPIRUN, *Stencil().command(Stencil.sizes[0], folder)]
    for _ in range(runs):
        for is_recorded in times:
            before = [FABRICMARK, "record", "--output", folder / "c.trace", "--"] if is_recorded else []
            said = patience.run(lambda before=before: run([*before, *words], folder))
            times[is_recorded].append(float(re.search(r"([0-9.]+) s, residual", said)[1]))  # type: ignore[index]
    return median(times[False]), median(times[True])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hpcc", action="store_true")
    parser.add_argument(
        "--patience", type=float, default=0, help="seconds for runs without others beside them"
    )
    asked = parser.parse_args()
    patience = Patience(asked.patience)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, with_recorder = cost(asked.runs, folder, patience)
        more = with_recorder / plain - 1
        print(f"recorder: {plain:.4f} s without, {with_recorder:.4f} s with: {more:+.1%}", flush=True)
        print("| program | size | recorded [s] | real over TCP [s] | predicted [s] | off |")
        print("|---|---|---|---|---|---|")
        for program in (Stencil(), *([Hpcc()] if asked.hpcc else [])):
            found = {
                key: median(values) for key, values in measure(program, asked.runs, folder, patience).items()
            }
            for n in program.sizes:
                shared = found.get(f"recorded {n}")
                real, said = found[f"real {n}"], found[f"predicted {n}"]
                first = "-" if shared is None else f"{shared:.3f}"
                times = f"{first} | {real:.3f} | {said:.3f} | {said / real - 1:+.1%}"
                print(f"| {program.name} | {n} | {times} |", flush=True)
        share = median(patience.shares)
        print(f"others had {share:.0%} of the cores' time (median), {max(patience.shares):.0%} at most")


if __name__ == "__main__":
    main()
