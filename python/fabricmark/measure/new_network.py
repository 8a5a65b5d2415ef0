"""`fabricmark systems network`: measure messages between two ranks as a launcher starts them, and write what
describes them: latency and rate, for `fabricmark simulate`."""

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from fabricmark import systems
from fabricmark.base import ended, paths, transports
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, printable
from fabricmark.measure import record
from fabricmark.results import osu
from fabricmark.results.log_table import Fault
from fabricmark.systems import files, text

LATENCY, RATE = "latency", "bw"  # the programs, as fm_latency
ITERATIONS = {LATENCY: "1000", RATE: "100"}  # of each size
METRIC = {LATENCY: "latency", RATE: "bandwidth"}
BOTH_ON_HOSTS = ("H", "H")
SIZE = "message_bytes"
SMALL = 64  # bytes: up to here a message takes what it takes to issue it
SECONDS = 300
PASSES = 5
USUAL_BOARD = "cpu"
HELP = {
    "name": "Name of the system and of its network.",
    "board": "Board of the system, which traces do not ask: one that `systems new` has measured, say.",
    "most": "Most ranks (default: the cores of this machine).",
    "passes": "How often to measure; the median counts.",
    "largest": "Bytes of the largest message.",
    "output": "File to write (default: NAME.toml in your folder of systems).",
}


def network_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help=HELP["name"])],
    board: Annotated[str, typer.Option(help=HELP["board"])] = USUAL_BOARD,
    most: Annotated[int | None, typer.Option(min=2, max=4096, help=HELP["most"])] = None,
    passes: Annotated[int, typer.Option(min=1, max=100, help=HELP["passes"])] = PASSES,
    largest: Annotated[int, typer.Option(min=1024, max=2**26, help=HELP["largest"])] = 2**20,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help=HELP["output"])] = None,
) -> None:
    """Measure messages between ranks: `fabricmark systems network tcp -- mpirun -n 2 --mca btl tcp,self`."""
    launcher = list(context.args)
    if not launcher:
        raise FabricmarkError(
            "no launcher", "write after ` -- ` what starts two ranks, up to the program: mpirun -n 2"
        )
    files.check_name(name)
    target = output or systems.user_folder() / f"{name}.toml"
    found = fitted([measure(launcher, largest) for _ in range(passes)])
    tests = [one for one in (measure_test(launcher) for _ in range(passes)) if one]
    if tests:
        found["test_latency"] = median(tests)
    today = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    source = f"measured {today} by fm_{LATENCY} and fm_{RATE}, {passes} times: {shlex.join(launcher)}"
    part = target.parent / files.FOLDERS["network"] / f"{name}.toml"
    paths.write_atomically(part, text.fitted_network(f"messages by {shlex.join(launcher)}", found, source))
    entry = {
        "board": board, "source": source, "per_node": most or max(2, os.cpu_count() or 2),
        "most": most or max(2, os.cpu_count() or 2),
        "networks": dict.fromkeys(transports.THROUGH_HOSTS, name),
    }  # fmt: skip
    paths.write_atomically(target, text.system(name, f"ranks of {shlex.join(launcher)}", [entry]))
    systems.load(target)
    whole, start = found["latency"] + found["start_latency"], found["start_latency"]
    issue = f"{whole * 1e6:.3g} us a message, of which {start * 1e6:.3g} us to issue it"
    test = f"{median(tests) * 1e6:.3g} us a test" if tests else "no time of a test: nothing was recorded"
    print(printable(f"wrote {target}: {issue}, {found['links.bandwidth'] / 1e9:.3g} GB/s, {test}"))


def measure(launcher: Sequence[str], largest: int) -> dict[str, dict[int, float]]:
    """Seconds of a message alone, and of each of many, by its bytes. Raises FabricmarkError (3)."""
    found: dict[str, dict[int, float]] = {}
    for name in METRIC:
        command = [*launcher, str(paths.program(name)), *BOTH_ON_HOSTS, "-m", f"1:{largest}"]
        command += ["-i", ITERATIONS[name], "-x", "50"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
            said = done.stdout.decode("utf-8", "replace")
            log = osu.parse(said) if done.returncode == 0 else None
        except subprocess.TimeoutExpired as error:
            cause = f"{shlex.join(command)} has not ended in {SECONDS} s"
            raise FabricmarkError(cause, "use --largest with fewer bytes", ENVIRONMENT) from error
        except OSError as error:
            cause = f"{launcher[0]} cannot be started: {error.strerror}"
            raise FabricmarkError(cause, "name a launcher after ` -- `") from error
        except Fault as error:
            raise error.of(shlex.join(command)) from error
        if log is None:
            why = ended.words(done.returncode, done.stderr.decode("utf-8", "replace"))
            raise FabricmarkError(
                f"{shlex.join(command)} {why}", "correct the launcher's options", ENVIRONMENT
            )
        values = {int(str(one.axes[SIZE])): one.value for one in log.values if one.name == METRIC[name]}
        if not values or not all(values.values()):
            raise FabricmarkError(f"{shlex.join(command)} printed no times", "run it by itself", ENVIRONMENT)
        found[name] = (
            {size: value * 1e-6 for size, value in values.items()}
            if name == LATENCY
            else {size: size / (value * 1e9) for size, value in values.items()}
        )
    return found


def measure_test(launcher: Sequence[str]) -> float | None:
    """Seconds of a test for a message that has not come, of the slowest rank, as the recorder measures it
    behind MPI_Init; None where it does not come to that, as with another MPI library than the build's."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "test.trace"
        variables = {record.PRELOAD: str(paths.record_library()), record.FILE: str(file)}
        program = [str(paths.program(LATENCY)), *BOTH_ON_HOSTS, "-m", "1:1", "-i", "10", "-x", "1"]
        command = record.with_variables([*launcher, *program], variables)
        try:
            subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
            lines = [json.loads(line) for line in file.read_text().splitlines()]
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
    return max((float(one["test"]) for one in lines if "test" in one), default=None)


def fitted(passes: Sequence[Mapping[str, Mapping[int, float]]]) -> dict[str, float]:
    """Values of a network's file by medians of all passes: latency + bytes / rate, each size with the same
    weight relative to its time. What small messages take that follow each other it takes to issue one.

    Raises FabricmarkError (3) for times that make no line.
    """
    import numpy

    alone, many = (
        {size: median(one[name][size] for one in passes) for size in passes[0][name]} for name in METRIC
    )
    # Least squares of (latency + size * slope) / time - 1.
    shares = [(1 / time, size / time) for size, time in alone.items()]
    latency, slope = map(float, numpy.linalg.lstsq(shares, numpy.ones(len(shares)))[0])
    if slope <= 0 or latency <= 0:
        raise FabricmarkError(
            "times do not grow with the bytes",
            "measure while nothing else runs, or more --passes",
            ENVIRONMENT,
        )
    issued = median(time for size, time in many.items() if size <= SMALL)
    start = min(issued, latency / 2, *alone.values())
    return {"latency": latency - start, "start_latency": start, "links.bandwidth": 1 / slope}
