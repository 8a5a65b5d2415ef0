"""`fabricmark record`: an MPI program of anybody's with libfabricmark-record preloaded, for its trace."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.measure import launchers

PRELOAD, FILE = "LD_PRELOAD", "FABRICMARK_TRACE"
HELP = {
    "output": "The trace to write.",
    "show": "Print the command line that records, and start nothing.",
}


def record_command(
    context: typer.Context,
    output: Annotated[Path, typer.Option(metavar="FILE.trace", help=HELP["output"])] = Path(
        "fabricmark.trace"
    ),
    show: Annotated[bool, typer.Option("--show", help=HELP["show"])] = False,
) -> None:
    """Record the MPI calls of a program: `fabricmark record --output my.trace -- mpirun -n 2 ./program`."""
    words = list(context.args)
    if not words:
        raise FabricmarkError("no program to record", "write it after ` -- `: mpirun -n 2 ./program")
    variables = {PRELOAD: str(paths.record_library()), FILE: str(output.absolute())}
    command = with_variables(words, variables)
    if show:
        print(shlex.join(command))
        return
    before = _stamp(output)
    paths.make_folder(output.absolute().parent)
    try:
        done = subprocess.run(command, check=False)
    except OSError as error:
        cause = f"{words[0]} cannot be started: {error.strerror}"
        raise FabricmarkError(cause, "name a program after ` -- `") from error
    if done.returncode == 0 and _stamp(output) == before:
        cause = f"{words[0]} has written no {output}"
        remedy = "start ranks of MPI that call MPI_Init and MPI_Finalize, with the MPI library of the build"
        raise FabricmarkError(cause, remedy, ENVIRONMENT)
    if done.returncode == 0:
        print(f"wrote {output}")
    raise typer.Exit(done.returncode)


def with_variables(words: Sequence[str], variables: dict[str, str]) -> list[str]:
    """The command line with variables for the ranks: by the launcher's own option, so that it does not have
    them itself and ranks on other hosts do; else by `env`."""
    given = [f"{name}={value}" for name, value in variables.items()]
    name = Path(words[0]).name
    for one in launchers.known().values():
        template = one.arguments.get("variable", ())
        if name in one.programs and template:
            candidate = launchers.look(one, os.environ, is_named=True)
            if candidate.fault:
                continue
            options = [word.format(variable=pair) for pair in given for word in template]
            return [words[0], *options, *words[1:]]
    return ["env", *given, *words]


def _stamp(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
