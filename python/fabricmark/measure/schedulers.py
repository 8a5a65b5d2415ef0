"""The batch schedulers that a campaign is submitted to: all that is Slurm's, PBS's or Flux's stands here.

A row of `EVERY` says how a job is asked for, which command takes it, how a task knows its number, what the
scheduler tells of tasks that wait or run, and how they are cancelled. Slurm and PBS have arrays of jobs;
Flux gets a job for each task.
"""

import json
import re
import shlex
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known

SECONDS_FOR_AN_ANSWER = 60


@dataclass(frozen=True)
class Request:
    """What is asked for: `tasks` of an array, each of `processes` (of MPI, one core each), on `node` or
    anywhere; `logs`: the folder for what they print; `at_once`: of the tasks, None: as the scheduler likes;
    `serial`: how many jobs were submitted into this folder before; `after`: only when this job has ended;
    `options`: the user's, as they stand; `nodes`: so many, of `per_node` processes, 0: as it likes."""

    name: str
    tasks: int
    processes: int
    logs: Path
    node: str = ""
    at_once: int | None = None
    serial: int = 0
    after: str = ""
    options: Sequence[str] = ()
    nodes: int = 0
    per_node: int = 0


class Scheduler(ABC):
    """One of them. `program` submits; `inside`: a variable that says that we are in a job of it;
    `most_tasks`: of an array, as the scheduler has it by default; `index`: what a task's shell expands to
    its number; `mark`: what a line of options starts with."""

    name: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]
    inside: ClassVar[str] = ""
    has_arrays: ClassVar[bool] = True
    most_tasks: ClassVar[int]
    index: ClassVar[str]
    mark: ClassVar[str]
    asks: ClassVar[str]  # the program that tells what waits and runs

    @abstractmethod
    def own_options(self, request: Request) -> list[str]:
        """A line each, in the scheduler's words."""

    def preamble(self, request: Request) -> list[str]:
        """Lines of the script before the points."""
        return []

    @abstractmethod
    def submit(self, script: str) -> str:
        """Submit a script: its job's name. Raises FabricmarkError (3)."""

    @abstractmethod
    def task(self, job: str, number: int) -> str:
        """What `live` calls a task of a job."""

    @abstractmethod
    def log(self, job: str, number: int, serial: int) -> str:
        """The file of what a task printed; `serial` as in its request."""

    @abstractmethod
    def live(self, jobs: Sequence[str]) -> dict[str, str]:
        """The tasks of these jobs that wait or run, and their states. Raises FabricmarkError (3)."""

    @abstractmethod
    def cancel(self, job: str) -> None:
        """End a job with all its tasks; no error where it has ended. Raises FabricmarkError (3)."""

    def header(self, request: Request) -> list[str]:
        """The first lines of a script. Raises FabricmarkError (2) for an option that is none."""
        options = [*self.own_options(request), *map(self.checked, request.options)]
        return ["#!/bin/bash", *(f"{self.mark} {one}" for one in options), *self.preamble(request)]

    def checked(self, option: str) -> str:
        """A user's option as a line needs it. Raises FabricmarkError (2) for none, or several lines."""
        if not option.startswith("-") or not option.isprintable():
            cause = f"--option {option!r} is no option of {self.program}"
            raise FabricmarkError(cause, "write --option=-... or --option=--...")
        return self.quoted(option)

    def quoted(self, option: str) -> str:
        """One word where it is a long option with a value."""
        return option

    def ask(self, command: Sequence[str], given: str = "", *, unknown: str = "") -> str:
        """What a command of the scheduler prints, "" where it says `unknown` of a job that it has
        forgotten. Raises FabricmarkError (3) where it is not there or says no."""
        program = shutil.which(command[0])
        if program is None:
            remedy = f"submit where {self.title}'s commands are in PATH"
            raise FabricmarkError(f"there is no {command[0]} here", remedy, ENVIRONMENT)
        try:
            done = subprocess.run(
                [program, *command[1:]], input=given, capture_output=True, text=True, errors="replace",
                timeout=SECONDS_FOR_AN_ANSWER,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise FabricmarkError(f"{command[0]} does not answer", "try again later", ENVIRONMENT) from error
        except OSError as error:
            cause = f"{program} cannot be started: {error.strerror}"
            raise FabricmarkError(cause, f"repair the installation of {self.title}", ENVIRONMENT) from error
        if done.returncode:
            if unknown and re.search(unknown, done.stderr):
                return ""
            said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            remedy = f"correct --option, or ask who runs {self.title}"
            raise FabricmarkError(f"{command[0]}: {said[0]}", remedy, ENVIRONMENT)
        return done.stdout

    def named(self, answer: str, pattern: str) -> str:
        """The job's name in what the program printed. Raises FabricmarkError (3) where there is none."""
        found = re.search(pattern, answer)
        if found is None:
            remedy = f"look at `{self.asks}`"
            raise FabricmarkError(f"{self.program} told no number of a job", remedy, ENVIRONMENT)
        return found[0]


class Slurm(Scheduler):
    name = "slurm"
    title = "Slurm"
    program = "sbatch"
    most_tasks = 1000  # MaxArraySize
    index = "$SLURM_ARRAY_TASK_ID"
    mark = "#SBATCH"
    asks = "squeue"

    def own_options(self, request: Request) -> list[str]:
        limit = f"%{request.at_once}" if request.at_once else ""
        return [
            f"--job-name={request.name}",
            f"--array=0-{request.tasks - 1}{limit}",
            f"--ntasks={request.processes}",
            self.quoted(f"--output={request.logs}/%A_%a.out"),
            *([f"--nodelist={request.node}"] if request.node else []),
            *([f"--nodes={request.nodes}", f"--ntasks-per-node={request.per_node}"] if request.nodes else []),
        ]

    def quoted(self, option: str) -> str:
        name, equals, value = option.partition("=")
        return f'{name}="{value}"' if equals and re.search(r"\s", value) else option

    def submit(self, script: str) -> str:
        return self.named(self.ask(["sbatch", "--parsable"], script), r"\d+")

    def task(self, job: str, number: int) -> str:
        return f"{job}_{number}"

    def log(self, job: str, number: int, serial: int) -> str:
        return f"{job}_{number}.out"

    def live(self, jobs: Sequence[str]) -> dict[str, str]:
        lines = self.ask(["squeue", "--noheader", "--array", "--format=%i %T"]).splitlines()
        pairs = [line.split() for line in lines]
        return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[0].partition("_")[0] in jobs}

    def cancel(self, job: str) -> None:
        self.ask(["scancel", job], unknown="Invalid job id")


class Pbs(Scheduler):
    """OpenPBS and PBS Professional, from version 20 on where `at_once` is asked for."""

    name = "pbs"
    title = "PBS"
    program = "qsub"
    most_tasks = 1000  # well below max_array_size, 10 000
    index = "${PBS_ARRAY_INDEX:-0}"  # not set in a job that is no array
    mark = "#PBS"
    asks = "qstat"
    LONGEST_NAME = 15  # of a job, in versions before 20
    # Of a job; a task that has ended is F (finished) or X (a subjob of an array).
    STATES: ClassVar[Mapping[str, str]] = {
        "B": "RUNNING", "E": "EXITING", "H": "HELD", "M": "MOVED", "Q": "PENDING", "R": "RUNNING",
        "S": "SUSPENDED", "T": "MOVING", "U": "SUSPENDED", "W": "WAITING",
    }  # fmt: skip
    # By which Open MPI before and from version 5, and MPICH and Intel MPI, know the hosts of the job.
    HOSTFILES = ("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE")

    def own_options(self, request: Request) -> list[str]:
        limit = f"%{request.at_once}" if request.at_once else ""
        where = f":host={request.node}" if request.node else ""
        chunks, each = (request.nodes, request.per_node) if request.nodes else (request.processes, 1)
        return [
            f"-N {request.name[: self.LONGEST_NAME]}",
            # PBS refuses an array of one.
            *([f"-J 0-{request.tasks - 1}{limit}"] if request.tasks > 1 else []),
            f"-l select={chunks}:ncpus={each}:mpiprocs={each}{where}",
            *(["-l place=scatter"] if request.nodes else []),
            "-j oe",
            f"-o {shlex.quote(str(request.logs))}/",
            "-V",  # the environment, which Slurm and Flux pass on without a word
        ]

    def preamble(self, request: Request) -> list[str]:
        log = f"{shlex.quote(str(request.logs))}/${{PBS_JOBID%%[!0-9]*}}_{self.index}.out"
        lines = [f'exec >{log} 2>&1 && cd "$PBS_O_WORKDIR" || exit {ENVIRONMENT}']
        if request.processes > 1:
            count, places = request.processes, '$(wc -l <"$PBS_NODEFILE")'
            lines += [
                f'if [ "{places}" -lt {count} ]; then',
                f'  echo "fabricmark: error: PBS gave {places} places in $PBS_NODEFILE to {count} processes; '
                f'ask for more by --option" >&2; exit {ENVIRONMENT}',
                "fi",
                "export " + " ".join(f'{name}="$PBS_NODEFILE"' for name in self.HOSTFILES),
            ]
        return lines

    def submit(self, script: str) -> str:
        return self.named(self.ask(["qsub"], script), r"\d+(\[\])?(\.\S+)?")

    def task(self, job: str, number: int) -> str:
        return self.plain(job).replace("[]", f"[{number}]")

    def log(self, job: str, number: int, serial: int) -> str:
        return f"{re.split('[^0-9]', job)[0]}_{number}.out"

    @staticmethod
    def plain(job: str) -> str:
        """Without the server's name, which commands say in full or not."""
        return job.partition(".")[0]

    def live(self, jobs: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for job in jobs:  # one by one: of a job that it has forgotten qstat makes an error of all
            told = self.ask(
                ["qstat", "-x", "-t", "-f", "-F", "json", job], unknown=r"Unknown Job|[Ff]inished"
            )
            found |= self.states(told)
        return found

    def states(self, told: str) -> dict[str, str]:
        """By task, of what qstat prints. Raises FabricmarkError (3) for something else."""
        try:
            jobs = json.loads(told)["Jobs"].items() if told.strip() else ()
            pairs = [(self.plain(job), self.STATES.get(values["job_state"])) for job, values in jobs]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            cause = "qstat -F json printed something else"
            raise FabricmarkError(cause, "look at `qstat -x -t -f -F json`", ENVIRONMENT) from error
        return {job: state for job, state in pairs if state is not None}

    def cancel(self, job: str) -> None:
        self.ask(["qdel", job], unknown=r"Unknown Job|[Ff]inished")


class Flux(Scheduler):
    name = "flux"
    title = "Flux"
    program = "flux"
    inside = "FLUX_URI"
    has_arrays = False
    most_tasks = 100  # a command each
    index = "0"
    mark = "#flux:"
    asks = "flux jobs"

    def own_options(self, request: Request) -> list[str]:
        return [
            f"--job-name={request.name}",
            f"--nslots={request.processes}",
            self.quoted(f"--output={request.logs}/{self.log('', 0, request.serial)}"),
            *([f"--nodes={request.nodes or 1}"] if request.nodes or request.node else []),
            *([f"--requires=hosts:{request.node}"] if request.node else []),
            *([f"--dependency=afterany:{request.after}"] if request.after else []),
        ]

    def quoted(self, option: str) -> str:
        return shlex.quote(option) if option.startswith("--") else option

    def submit(self, script: str) -> str:
        return self.named(self.ask(["flux", "batch"], script), r"\S+")

    def task(self, job: str, number: int) -> str:
        return self.plain(job)

    def log(self, job: str, number: int, serial: int) -> str:
        return f"{serial}_{number}.out"

    @staticmethod
    def plain(job: str) -> str:
        """Its name in ASCII, whatever the locale is in which a command printed it."""
        return "f" + job[1:] if job[:1] in "ƒf" else job

    def live(self, jobs: Sequence[str]) -> dict[str, str]:
        wanted = {self.plain(job) for job in jobs}
        lines = self.ask(["flux", "jobs", "-n", "-c", "0", "-o", "{id.f58} {state}"]).splitlines()
        pairs = [(self.plain(words[0]), words[1]) for line in lines if len(words := line.split()) == 2]
        return {job: state for job, state in pairs if job in wanted}

    def cancel(self, job: str) -> None:
        self.ask(["flux", "cancel", job], unknown="inactive|unknown|not found")


EVERY: Mapping[str, Scheduler] = {one.name: one for one in (Slurm(), Pbs(), Flux())}
MOST_TASKS = max(one.most_tasks for one in EVERY.values())
TITLES = ", ".join(one.title for one in EVERY.values())


def choose(name: str | None, environment: Mapping[str, str], *, is_dry: bool = False) -> Scheduler:
    """The scheduler of this name; for None the one in whose allocation we are, else the first whose
    program is here, and for a script that is only printed the first of all.

    Raises FabricmarkError: 2 for an unknown name, 3 where there is none.
    """
    if name is not None:
        check_known(name, EVERY, f"there is no scheduler {name!r}")
        return EVERY[name]
    here = [one for one in EVERY.values() if shutil.which(one.program, path=environment.get("PATH"))]
    inside = [one for one in here if one.inside and one.inside in environment]
    if inside or here:
        return (inside or here)[0]
    first, *others = EVERY.values()
    if is_dry:
        return first
    cause = f"there is no {first.program} here, nor {', nor '.join(one.program for one in others)}"
    raise FabricmarkError(cause, f"submit where the commands of {TITLES} are in PATH", ENVIRONMENT)
