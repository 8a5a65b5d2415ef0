"""Command lines of the programs: which launcher, which environment. Never through a shell."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fabricmark import paths, runtimes
from fabricmark.errors import ENVIRONMENT, FabricmarkError

SECONDS_TO_END = 10


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

    def result_path(self, now: datetime) -> Path:
        """results/<benchmark>-<device>-<ranks>r-<time>.json: sorted by name it is sorted by time."""
        name = self.device["name"] if self.device else "chosen-device"
        short = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-") or "device"
        ranks = self.mpi if self.mpi is not None else self.ranks
        kind = "mpi" if self.mpi is not None else "r"
        place = f"{self.device['platform_index']}.{self.device['device_index']}-" if self.device else ""
        stamp = now.strftime("%Y%m%dT%H%M%S%fZ")
        return self.output / f"{self.benchmark}-{stamp}-{self.runtime}-{place}{short}-{ranks}{kind}.json"


def launcher(ranks: int, forwarded: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Start of the command line that starts `ranks` MPI processes.

    srun inside a Slurm allocation, else mpirun. `forwarded`: variables that other hosts need.
    Raises FabricmarkError (3) when there is neither.
    """
    path = environment.get("PATH", os.defpath)
    srun = shutil.which("srun", path=path)
    if "SLURM_JOB_ID" in environment and srun:
        return [srun, f"--ntasks={ranks}"]  # srun passes the whole environment on
    mpirun = shutil.which("mpirun", path=path) or shutil.which("mpiexec", path=path)
    if mpirun is None:
        remedy = "install Open MPI (openmpi-bin) or use --ranks for ranks in one process"
        raise FabricmarkError("no MPI launcher (mpirun or srun) in PATH", remedy, ENVIRONMENT)
    command = [mpirun]
    if is_open_mpi(mpirun, environment):
        # Ranks may outnumber the cores, and a rank bound to one core would run its kernels on that one only.
        command += ["--oversubscribe", "--bind-to", "none"]
        if os.geteuid() == 0:
            command.append("--allow-run-as-root")
        for variable in forwarded:
            command += ["-x", variable]
    return [*command, "-n", str(ranks)]


def is_open_mpi(mpirun: str, environment: Mapping[str, str]) -> bool:
    """Whether this mpirun is Open MPI's: other launchers refuse its options."""
    try:
        done = subprocess.run(
            [mpirun, "--version"], env=environment, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FabricmarkError(
            f"{mpirun} --version: {error}", "repair the MPI installation", ENVIRONMENT
        ) from error
    return b"Open MPI" in done.stdout + done.stderr or b"OpenRTE" in done.stdout + done.stderr


def command_line(job: Job, result: Path, environment: Mapping[str, str]) -> list[str]:
    """The whole command line of a job; its result file goes to `result`.

    Raises FabricmarkError: 2 when both kinds of ranks are asked for, 3 when something is not there.
    """
    if job.mpi is not None and job.ranks != 1:
        raise FabricmarkError("both --ranks and --mpi", "choose ranks in one process or MPI processes")
    program = [str(paths.program(job.benchmark))]
    if job.device is not None:
        program += ["--platform", str(job.device["platform_index"])]
        program += ["--device", str(job.device["device_index"])]
    if job.mpi is not None:
        program = [*launcher(job.mpi, runtimes.variables(job.runtime), environment), *program]
    elif job.ranks != 1:
        program += ["--ranks", str(job.ranks)]
    return [*program, "--json", str(result), *job.extra]


def start(job: Job) -> tuple[int, Path]:
    """Run a job to its end: (exit code 0 to 3, path of its result file, which may not exist).

    The program's own output goes to the terminal. Raises FabricmarkError (3), also when a signal ended it.
    """
    environment = runtimes.environment(job.runtime, os.environ)
    result = job.result_path(datetime.now(UTC)).absolute()
    try:
        result.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FabricmarkError(
            f"cannot create {result.parent}: {error.strerror}", "choose another --output"
        ) from error
    command = command_line(job, result, environment)
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise FabricmarkError(
            f"cannot start {command[0]}: {error.strerror}", "run `make build`", ENVIRONMENT
        ) from error
    code = _wait(process)
    if code < 0:
        cause = f"fm_{job.benchmark} was ended by signal {-code} ({signal.strsignal(-code)})"
        raise FabricmarkError(cause, "look for a lack of memory or a broken driver", ENVIRONMENT)
    # mpirun has codes of its own, for example 134 when a rank aborted.
    return (code if code <= ENVIRONMENT else ENVIRONMENT), result


def _wait(process: subprocess.Popen) -> int:
    """Wait for the end; on Ctrl-C (or any other exception) the program ends before we do."""
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        try:
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
