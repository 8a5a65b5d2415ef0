"""`fabricmark campaign submit`: the points of a campaign that have no result yet, as an array of jobs of
Slurm.

A task of the array runs some of the points, one after the other, in the folder of the campaign; `fabricmark
run` and a second `submit` go on with what is left. Each point has a lock of its own, so that no two jobs
run one. What was submitted stands in the folder, so that `status` can ask the scheduler; the result files
alone say what is finished.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark import results
from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.base.terminal import counted
from fabricmark.measure import campaign, campaign_run
from fabricmark.measure.campaign import Campaign, Point

RECORD = ".submitted.json"  # within the folder of a campaign
LOGS = "slurm"  # within it, what the jobs print
MOST_TASKS = 1000  # of an array, as many as Slurm takes by default (MaxArraySize)
SECONDS_FOR_AN_ANSWER = 60
INSTALL = "submit where Slurm's commands are in PATH"


@dataclass(frozen=True)
class Wanted:
    """`tasks`: at most so many; `at_once`: of them, None: as the scheduler likes; `nodes`: each runs the
    whole campaign, in a folder of its own; `options`: for sbatch, as they stand."""

    output: Path
    tasks: int = MOST_TASKS
    at_once: int | None = None
    nodes: Sequence[str] = ()
    options: Sequence[str] = ()


@dataclass(frozen=True)
class Array:
    """Jobs that are submitted as one: which points each task runs, and where."""

    folder: Path
    node: str
    tasks: list[list[Point]]

    @property
    def processes(self) -> int:
        """Of the point that has the most."""
        return max(int(str(point.settings.get("mpi", 1))) for task in self.tasks for point in task)


def planned(todo: Campaign, wanted: Wanted) -> list[Array]:
    """What is left to run; empty where all is there."""
    found = []
    for node in wanted.nodes or ("",):
        output = wanted.output / node if node else wanted.output
        folder = output / todo.name
        left = [point for point in todo.points if campaign_run.finished(folder, point) is None]
        if left:
            count = min(1 if node else wanted.tasks, len(left))
            found.append(Array(folder, node, [left[first::count] for first in range(count)]))
    return found


def script(file: Path, array: Array, wanted: Wanted) -> str:
    """What sbatch takes. A task that fails keeps no other from running."""
    last, limit = len(array.tasks) - 1, f"%{wanted.at_once}" if wanted.at_once else ""
    own = [
        f"--job-name=fabricmark-{array.folder.name}",
        f"--array=0-{last}{limit}",
        f"--ntasks={array.processes}",
        f"--output={array.folder.absolute() / LOGS}/%A_%a.out",
        *([f"--nodelist={array.node}"] if array.node else []),
    ]
    lists = " ".join(shlex.quote(" ".join(point.identity for point in task)) for task in array.tasks)
    command = [sys.executable, "-m", "fabricmark", "campaign", "points", str(file.absolute())]
    command += ["--output", str(array.folder.parent.absolute())]
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {_quoted(option)}" for option in (*own, *wanted.options)),
            f"POINTS=({lists})",
            f"exec {shlex.join(command)} ${{POINTS[$SLURM_ARRAY_TASK_ID]}}",
            "",
        ]
    )


def _quoted(option: str) -> str:
    """As a line of #SBATCH needs it. Raises FabricmarkError (2) for an option that is none, or several
    lines."""
    if not option.startswith("-") or not option.isprintable():
        raise FabricmarkError(
            f"--sbatch {option!r} is no option of sbatch", "write --sbatch=--partition=NAME"
        )
    name, equals, value = option.partition("=")
    return f'{name}="{value}"' if equals and re.search(r"\s", value) else option


def submit(file: Path, wanted: Wanted) -> list[str]:
    """Submit what is left; a line for each array. Raises FabricmarkError (2: the file; 3: Slurm)."""
    todo = campaign.load(file)
    told = []
    for array in planned(todo, wanted):
        text = script(file, array, wanted)
        paths.make_folder(array.folder / LOGS)
        job = re.search(r"(\d+)", _answer(["sbatch", "--parsable"], text))
        if job is None:
            raise FabricmarkError("sbatch told no number of a job", "look at `squeue`", ENVIRONMENT)
        known = [*submitted(array.folder), {"job": job[1], "node": array.node, "tasks": _identities(array)}]
        paths.write_atomically(array.folder / RECORD, json.dumps(known, indent=1) + "\n")
        points, tasks = counted(sum(map(len, array.tasks)), "point"), counted(len(array.tasks), "task")
        where = f" on {array.node}" if array.node else ""
        told.append(f"job {job[1]}{where}: {points} in {tasks}, into {array.folder}")
    return told or [f"all {len(todo.points)} points have a result"]


def _identities(array: Array) -> list[list[str]]:
    return [[point.identity for point in task] for task in array.tasks]


def submitted(folder: Path) -> list[dict]:
    """What was submitted into a folder, oldest first. Raises FabricmarkError (2) for a damaged record."""
    file = folder / RECORD
    if not file.exists():
        return []
    found = results.read_json(file, "remove it: results are kept")
    is_sound = isinstance(found, list) and all(
        isinstance(one, dict) and isinstance(one.get("job"), str) and isinstance(one.get("tasks"), list)
        for one in found
    )
    if not is_sound:
        raise FabricmarkError(f"{file}: no record of jobs", "remove it: results are kept")
    return found


def _answer(command: Sequence[str], given: str = "") -> str:
    """What a command of Slurm prints. Raises FabricmarkError (3) where it is not there or says no."""
    program = shutil.which(command[0])
    if program is None:
        raise FabricmarkError(f"there is no {command[0]} here", INSTALL, ENVIRONMENT)
    try:
        done = subprocess.run(
            [program, *command[1:]],
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS_FOR_AN_ANSWER,
        )
    except subprocess.TimeoutExpired as error:
        raise FabricmarkError(f"{command[0]} does not answer", "try again later", ENVIRONMENT) from error
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise FabricmarkError(
            f"{command[0]}: {said[0]}", "correct --sbatch, or ask who runs Slurm", ENVIRONMENT
        )
    return done.stdout


@dataclass(frozen=True)
class State:
    """A point: `finished`, `INVALID`, a state of Slurm's (`RUNNING`, `PENDING`), `lost` after a task that
    has ended without its result, or `not submitted`; `log`: what its last task printed."""

    point: Point
    node: str
    state: str
    log: Path | None = None


def states(file: Path, wanted: Wanted) -> list[State]:
    """Of all points. Raises as `submit`; without Slurm the results alone count."""
    todo = campaign.load(file)
    found = []
    for node in wanted.nodes or ("",):
        folder = (wanted.output / node if node else wanted.output) / todo.name
        record = submitted(folder)
        live = _live([one["job"] for one in record])
        last = {
            identity: (f"{one['job']}_{number}", folder / LOGS / f"{one['job']}_{number}.out")
            for one in record
            for number, task in enumerate(one["tasks"])
            for identity in task
        }
        for point in todo.points:
            result = campaign_run.finished(folder, point)
            task, log = last.get(point.identity, ("", None))
            if result is not None:
                state = "INVALID" if result.document["run"]["exit_code"] else "finished"
            else:
                state = live.get(task, "lost" if task else "not submitted")
            found.append(State(point, node, state, log))
    return found


def _live(jobs: Sequence[str]) -> dict[str, str]:
    """The tasks that the scheduler still knows, by `JOB_TASK`, and their states."""
    if not jobs or shutil.which("squeue") is None:
        return {}
    lines = _answer(["squeue", "--noheader", "--array", "--format=%i %T"]).splitlines()
    pairs = [line.split() for line in lines]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[0].partition("_")[0] in jobs}
