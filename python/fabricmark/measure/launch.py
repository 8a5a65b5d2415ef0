"""Command lines of the programs and their environment. Never through a shell."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from fabricmark import models
from fabricmark.base import ended, kernels, paths, runtimes, transports
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.measure import asked_for, launchers, processes
from fabricmark.measure.launchers import Candidate
from fabricmark.measure.noise import Watch

MOST_RANKS = 1024  # in one process, as the programs have it
MOST_PROCESSES = 1_048_576
FIELDS = "--fields"


@dataclass(frozen=True)
class Job:
    """One run of one program on one device."""

    benchmark: str
    runtime: str
    device: Mapping | None
    ranks: int
    mpi: int | None
    output: Path
    extra: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()  # where the MPI processes go; empty: where the launcher puts them
    ranks_per_host: int | None = None
    usual_ranks: int = 1  # that the program has without --ranks
    launcher: str | None = None  # that starts MPI processes; None: the first that can be used
    variables: tuple[tuple[str, str], ...] = ()  # of the environment, beside what the runtime needs

    def result_path(self, now: datetime) -> Path:
        """<benchmark>-<time>-<runtime>-<device>-<ranks>r.json in its folder: by name it is sorted by time."""
        is_chosen = bool({"--platform", "--device"} & kernels.options(self.extra).keys())
        name = self.device["name"] if self.device else "chosen-device" if is_chosen else "no-device"
        short = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-") or "device"
        ranks = asked_for.ranks(self)
        kind = "mpi" if self.mpi is not None else "r"
        place = f"{self.device['platform_index']}.{self.device['device_index']}-" if self.device else ""
        stamp = now.strftime("%Y%m%dT%H%M%S%fZ")
        return self.output / f"{self.benchmark}-{stamp}-{self.runtime}-{place}{short}-{ranks}{kind}.json"


def check_ranks(ranks: int | None, mpi: int | None, launcher: str | None) -> None:
    """Raises FabricmarkError: 2 for options that contradict each other, and as `launchers.require`."""
    if mpi is not None and ranks is not None:
        raise FabricmarkError("both --ranks and --mpi", "choose ranks in one process or MPI processes")
    if launcher is not None and mpi is None:
        raise FabricmarkError("--launcher starts MPI processes", "say how many: --mpi N")
    if launcher is not None:
        launchers.require(os.environ, launcher)


def command_line(job: Job, result: Path, launcher: Candidate | None) -> list[str]:
    """The whole command line of a job; its result file goes to `result`. `launcher`: of MPI processes.

    Raises FabricmarkError: 2 when both kinds of ranks are asked for or the launcher cannot place processes
    as the job says, 3 when the program is not there.
    """
    if job.mpi is not None and job.ranks != 1:
        raise FabricmarkError("both --ranks and --mpi", "choose ranks in one process or MPI processes")
    program = [str(paths.program(job.benchmark))]
    if job.device is not None:
        program += ["--platform", str(job.device["platform_index"])]
        program += ["--device", str(job.device["device_index"])]
    if launcher is not None:
        own = [transports.FOLDERS] if transports.FOLDERS in os.environ else []
        own += [name for name, _ in job.variables]
        program = [*launcher.command(job, [*runtimes.variables(job.runtime), *own]), *program]
    elif job.ranks != job.usual_ranks:
        program += ["--ranks", str(job.ranks)]
    return [*program, "--json", str(result), *job.extra, *fields_option(job, result)]


def fields_option(job: Job, result: Path) -> list[str]:
    """Where the program writes its fields: beside its result, unless its options say or it has none."""
    given = kernels.options(job.extra)
    traits = models.traits(job.benchmark)
    has_some = bool({traits.fields_with} & given.keys()) or job.extra == traits.illustration != ()
    if not has_some or FIELDS in given:
        return []
    return [FIELDS, str(result.with_suffix("")) + "-fields"]


def start(
    job: Job, result: Path | None = None, *, quiet: bool = False, keep_open: Sequence[int] = (),
    output: IO | None = None,
) -> tuple[int, Path]:  # fmt: skip
    """Run a job to its end: (exit code 0 to 3, path of its result file, which may not exist).

    `result`: where the file goes (default: named by time). The program's own output goes to the terminal,
    or to the file `output`; with `quiet` only its errors. `keep_open`: descriptors it holds while it lives,
    such as that of a lock.
    Raises FabricmarkError (3), also when a signal ended it or its result is not of what was asked for.
    """
    environment = runtimes.environment(job.runtime, os.environ) | dict(job.variables)
    launcher = launchers.require(environment, job.launcher) if job.mpi is not None else None
    for variable in asked_for.VARIABLES:  # of an outer command
        environment.pop(variable, None)
    environment |= asked_for.variables(job, launcher.program_name if launcher is not None else None)
    if job.mpi is not None and sys.stdout.isatty():  # MPI's launcher hides the terminal from the program
        environment.setdefault("COLUMNS", str(shutil.get_terminal_size().columns))
    result = (result or job.result_path(datetime.now(UTC))).absolute()
    paths.make_folder(result.parent)
    command = command_line(job, result, launcher)
    watch = Watch(
        is_local=launcher is None or not (job.hosts or launcher.launcher.inside), has_gpu=_may_be_gpu(job)
    )
    passed_on = not sys.stderr.isatty()  # a terminal belongs to the program's own bar of progress
    try:
        process = processes.start(
            command, environment, keep_open=keep_open, passed_on=passed_on,
            output=subprocess.DEVNULL if quiet else output,
        )  # fmt: skip
    except OSError as error:
        raise FabricmarkError(
            f"cannot start {command[0]}: {error.strerror}", "run `make build`", ENVIRONMENT
        ) from error
    watch.begin(process.pid)
    code, said = processes.wait(process, watch.look)
    watch.end()
    if code < 0:
        usual = "look for a lack of memory or a broken driver"
        cause = f"fm_{job.benchmark} {ended.words(code, said)}"
        raise FabricmarkError(cause, ended.remedy_of_card(said) or usual, ENVIRONMENT)
    if code <= 1 and result.is_file():
        asked_for.check(job, result)
        watch.add_to(result, socket.gethostname())
    # mpirun has codes of its own, for example 134 when a rank aborted.
    return (code if code <= ENVIRONMENT else ENVIRONMENT), result


def _may_be_gpu(job: Job) -> bool:
    return job.device is None or job.device["class"] == "gpu"
