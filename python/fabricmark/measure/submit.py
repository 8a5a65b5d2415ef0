"""`fabricmark campaign submit`: the points of a campaign that have no result yet, as jobs of a scheduler.

A task runs some of the points, one after the other, in the folder of the campaign; `fabricmark run` and a
second `submit` go on with what is left. Each point has a lock of its own, so that no two jobs run one. What
was submitted stands in the folder, so that `status` can ask the scheduler; the result files alone say what
is finished. What differs between Slurm, PBS and Flux stands in `schedulers`.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark import results
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import counted
from fabricmark.measure import campaign, campaign_run, schedulers
from fabricmark.measure import site as sites
from fabricmark.measure.campaign import Campaign, Point
from fabricmark.measure.schedulers import MOST_TASKS, Request, Scheduler
from fabricmark.measure.site import Allocation

RECORD = ".submitted.json"  # within the folder of a campaign
SLURM = "slurm"  # whose jobs records without a scheduler's name are


@dataclass(frozen=True)
class Wanted:
    """`tasks`: at most so many; `at_once`: of them, None: as the scheduler likes; `nodes`: each runs the
    whole campaign, in a folder of its own; `options`: for the scheduler, as they stand; `scheduler`: its
    name, None: the one that is here; `resume`: leave points to the jobs that wait or run; `site`: what
    nodes, modules, links and hooks come from."""

    output: Path
    tasks: int = MOST_TASKS
    at_once: int | None = None
    nodes: Sequence[str] = ()
    options: Sequence[str] = ()
    scheduler: str | None = None
    resume: bool = False
    site: Allocation | None = None

    def folder(self, todo: Campaign, node: str) -> Path:
        return (self.output / node if node else self.output) / todo.name


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

    @property
    def points(self) -> int:
        return sum(map(len, self.tasks))

    @property
    def boards(self) -> int:
        """Of the point that has the most."""
        return max(sites.boards(point) for task in self.tasks for point in task)


def planned(todo: Campaign, wanted: Wanted, scheduler: Scheduler) -> list[Array]:
    """What is left to run, for each node; empty where all is there or, with `resume`, in progress.

    Raises FabricmarkError: 2 for hosts that are not the node that runs them, 3 as `Scheduler.live`.
    """
    found = []
    for node in wanted.nodes or ("",):
        folder = wanted.folder(todo, node)
        left = [point for point in todo.points if campaign_run.finished(folder, point) is None]
        if wanted.resume:
            busy = _in_progress(folder)
            left = [point for point in left if point.identity not in busy]
        for point in left if node else ():
            others = [host for host in _hosts(point) if host != node]
            if others:
                cause = f"{point.label()}: hosts has {others[0]}, but --nodes runs it on {node} alone"
                raise FabricmarkError(cause, "leave --nodes or the hosts out")
        for point in left if wanted.site is not None else ():
            _check_site(point, wanted.site, node)
        if left:
            count = min(1 if node else wanted.tasks, scheduler.most_tasks, len(left))
            found.append(Array(folder, node, [left[first::count] for first in range(count)]))
    return found


def _check_site(point: Point, site: Allocation | None, node: str) -> None:
    """Raises FabricmarkError (2) for a point that does not fit the site: before it has waited in a queue."""
    if site is None:
        return
    nodes = site.nodes_for(sites.boards(point))
    if node and nodes > 1:
        cause = f"{point.label()} needs {nodes} nodes, but --nodes runs it on {node} alone"
        raise FabricmarkError(cause, "leave --nodes out, or use fewer ranks")
    topology = site.topology(point.benchmark)
    if topology:
        site.link_words(topology, sites.boards(point))
    site.bitstream(point)


def _link_options(array: Array, site: Allocation) -> list[str]:
    """Where the scheduler sets links: those of all points. Raises FabricmarkError (2) where they differ."""
    if site.links is None or site.links.command:
        return []
    every = {
        tuple(site.link_words(topology, sites.boards(point)))
        for task in array.tasks
        for point in task
        if (topology := site.topology(point.benchmark))
    }
    if len(every) > 1:
        cause = "points of one job need different links, which the scheduler sets once"
        raise FabricmarkError(cause, "make a campaign of each number of ranks and topology")
    return [word for words in every for word in words]


def _hosts(point: Point) -> Sequence[str]:
    hosts = point.settings.get("hosts", ())
    return hosts if isinstance(hosts, list | tuple) else ()


def _in_progress(folder: Path) -> set[str]:
    """Points of tasks that wait or run."""
    live = _live(folder)
    return {
        identity
        for one, scheduler in _records(folder)
        for number, task in enumerate(one["tasks"])
        if scheduler.task(one["job"], number) in live
        for identity in task
    }


def scripts(file: Path, wanted: Wanted) -> list[str]:
    """What `submit` would hand over, a script for each job. Raises as `submit`, not where none is here."""
    scheduler = schedulers.choose(wanted.scheduler, os.environ, is_dry=True)
    return [
        script(file, piece, wanted, scheduler, serial=serial)
        for array in planned(campaign.load(file), wanted, scheduler)
        for serial, piece in enumerate(_pieces(array, scheduler))
    ]


def _pieces(array: Array, scheduler: Scheduler) -> list[Array]:
    """What is one job each."""
    return [array] if scheduler.has_arrays else [replace(array, tasks=[task]) for task in array.tasks]


def script(
    file: Path, array: Array, wanted: Wanted, scheduler: Scheduler, *, serial: int = 0, after: str = ""
) -> str:
    """Of one job. A task that fails keeps no other from running."""
    site, options = wanted.site, list(wanted.options)
    nodes = per_node = 0
    if site is not None:
        nodes = site.nodes_for(array.boards)
        per_node = min(site.boards_per_node, array.processes)
        options = [*site.options, *_link_options(array, site), *options]
    request = Request(
        f"fabricmark-{array.folder.name}", len(array.tasks), array.processes, _logs(array.folder, scheduler),
        array.node, wanted.at_once, serial, after, options, nodes, per_node,
    )  # fmt: skip
    lists = " ".join(shlex.quote(" ".join(point.identity for point in task)) for task in array.tasks)
    command = [sys.executable, "-m", "fabricmark", "campaign", "points", str(file.absolute())]
    command += ["--output", str(array.folder.parent.absolute())]
    command += ["--site", site.word] if site is not None else []
    return "\n".join(
        [
            *scheduler.header(request),
            *(site.script_lines() if site is not None else []),
            f"POINTS=({lists})",
            f"exec {shlex.join(command)} ${{POINTS[{scheduler.index}]}}",
            "",
        ]
    )


def _logs(folder: Path, scheduler: Scheduler) -> Path:
    """What the jobs print."""
    return folder.absolute() / scheduler.name


def submit(file: Path, wanted: Wanted) -> list[str]:
    """Submit what is left; a line for each array. Raises FabricmarkError (2: the file; 3: the scheduler)."""
    todo = campaign.load(file)
    scheduler = schedulers.choose(wanted.scheduler, os.environ)
    told = []
    for array in planned(todo, wanted, scheduler):
        jobs = _submit(file, array, wanted, scheduler)
        points, tasks = counted(array.points, "point"), counted(len(array.tasks), "task")
        where = f" on {array.node}" if array.node else ""
        named = f"job {jobs[0]}" if len(jobs) == 1 else f"{len(jobs)} jobs, {jobs[0]} to {jobs[-1]}"
        told.append(f"{named}{where}: {points} in {tasks}, into {array.folder}")
    rest = " or are in progress" if wanted.resume else ""
    return told or [f"all {len(todo.points)} points have a result{rest}"]


def _submit(file: Path, array: Array, wanted: Wanted, scheduler: Scheduler) -> list[str]:
    """The jobs of an array, each of which is on record before the next is submitted."""
    jobs: list[str] = []
    known = submitted(array.folder)
    for piece in _pieces(array, scheduler):
        # Without arrays each job waits for the one so many places before it.
        waits = wanted.at_once is not None and not scheduler.has_arrays and len(jobs) >= wanted.at_once
        after = jobs[-wanted.at_once] if waits and wanted.at_once else ""
        text = script(file, piece, wanted, scheduler, serial=len(known), after=after)
        paths.make_folder(_logs(array.folder, scheduler))
        jobs.append(scheduler.submit(text))
        tasks = [[point.identity for point in task] for task in piece.tasks]
        known.append({"scheduler": scheduler.name, "job": jobs[-1], "node": array.node, "tasks": tasks})
        paths.write_atomically(array.folder / RECORD, json.dumps(known, indent=1) + "\n")
    return jobs


def submitted(folder: Path) -> list[dict]:
    """What was submitted into a folder, oldest first. Raises FabricmarkError (2) for a damaged record."""
    file = folder / RECORD
    if not file.exists():
        return []
    found = results.read_json(file, "remove it: results are kept")
    is_sound = isinstance(found, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("job"), str)
        and isinstance(one.get("tasks"), list)
        and one.get("scheduler", SLURM) in schedulers.EVERY
        for one in found
    )
    if not is_sound:
        raise FabricmarkError(f"{file}: no record of jobs", "remove it: results are kept")
    return found


def cancel(file: Path, wanted: Wanted) -> list[str]:
    """End what waits or runs; a line for each job. Raises as `submit`; the results that are there stay."""
    todo = campaign.load(file)
    told = []
    for node in wanted.nodes or ("",):
        folder = wanted.folder(todo, node)
        live = _live(folder)
        for one, scheduler in _records(folder):
            tasks = [
                number for number in range(len(one["tasks"])) if scheduler.task(one["job"], number) in live
            ]
            if tasks:
                scheduler.cancel(one["job"])
                told.append(f"job {one['job']}: cancelled, {counted(len(tasks), 'task')} had not ended")
    return told or ["no job of this campaign waits or runs"]


@dataclass(frozen=True)
class State:
    """A point: `finished`, `INVALID`, a state of the scheduler's (`RUNNING`, `PENDING`), `lost` after a task
    that has ended without its result, or `not submitted`; `log`: what its last task printed."""

    point: Point
    node: str
    state: str
    log: Path | None = None


def states(file: Path, wanted: Wanted) -> list[State]:
    """Of all points. Raises as `submit`; without the scheduler the results alone count."""
    todo = campaign.load(file)
    found = []
    for node in wanted.nodes or ("",):
        folder = wanted.folder(todo, node)
        tasks = _tasks(folder)
        for point in todo.points:
            result = campaign_run.finished(folder, point)
            live, log = tasks.get(point.identity, ("", None))
            if result is not None:
                state = "INVALID" if result.document["run"]["exit_code"] else "finished"
            else:
                state = live or ("lost" if log else "not submitted")
            found.append(State(point, node, state, log))
    return found


def _tasks(folder: Path) -> dict[str, tuple[str, Path | None]]:
    """The last task that was to run a point: its state, "" where it has ended, and what it printed."""
    live = _live(folder)
    return {
        identity: (
            live.get(scheduler.task(one["job"], number), ""),
            folder / scheduler.name / scheduler.log(one["job"], number, serial),
        )
        for serial, (one, scheduler) in enumerate(_records(folder))
        for number, task in enumerate(one["tasks"])
        for identity in task
    }


def _records(folder: Path) -> list[tuple[dict, Scheduler]]:
    return [(one, schedulers.EVERY[one.get("scheduler", SLURM)]) for one in submitted(folder)]


def _live(folder: Path) -> dict[str, str]:
    """The tasks of a folder's jobs that wait or run, and their states; a scheduler that is not here knows
    none. Raises FabricmarkError (3) for one that does not answer."""
    jobs: dict[Scheduler, list[str]] = {}
    for one, scheduler in _records(folder):
        jobs.setdefault(scheduler, []).append(one["job"])
    found: dict[str, str] = {}
    for scheduler, names in jobs.items():
        if shutil.which(scheduler.asks.split()[0]) is not None:
            found |= scheduler.live(names)
    return found
