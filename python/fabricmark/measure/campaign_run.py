"""Running a campaign: every point once, a result file each, and going on where the last time ended."""

import contextlib
import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabricmark import results
from fabricmark.base import kernels, paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.base.progress import Steps
from fabricmark.base.terminal import counted
from fabricmark.measure import campaign, campaign_table, launch, lock, running, stopping
from fabricmark.measure import site as sites
from fabricmark.measure.campaign import Campaign, Point
from fabricmark.measure.site import Session
from fabricmark.report import outputs, run_tables
from fabricmark.results import Result
from fabricmark.results.failures import Failure

OUTPUT = Path("results")  # of `fabricmark run`, where nothing says another folder

FAILED = "failed"  # what is said of a point begins so

LOCKS = ".points"  # within a campaign's folder: of points that jobs run side by side


@dataclass
class Progress:
    """What became of the points so far; `exit_code` is the worst, of results that were there too.

    `again`: words of the command that goes on with what has no result.
    """

    points: int
    again: Sequence[str] = ()
    run: int = 0
    there: int = 0
    failed: int = 0
    invalid_there: int = 0
    exit_code: int = 0
    files: list[Path] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def summary(self) -> str:
        """`12 points: 6 run, 6 already there, 0 failed`; each point counts once."""
        invalid = f" ({self.invalid_there} of them INVALID)" if self.invalid_there else ""
        counts = f"{self.run} run, {self.there} already there{invalid}, {self.failed} failed"
        left = self.points - self.run - self.there - self.failed
        count = counted(self.points, "point")
        return f"{count}: {counts}{f', {left} left' if left else ''}"


def is_campaign(name: str) -> bool:
    """Whether `fabricmark run NAME` means a campaign file; a benchmark's name never does."""
    if name.endswith(".toml"):
        return True
    return name != "all" and os.path.isfile(name) and name not in kernels.benchmark_names()


def main(
    file: Path, output: Path, again: bool, full: bool, only: frozenset[str] | None = None,
    *, quiet: bool = False, site: str | None = None,
) -> int:  # fmt: skip
    """`fabricmark run FILE.toml`: run what is left, show the answer, where it is `full` the tables, and the
    summary; the worst exit code.

    `only`: points with these identities, while other processes may run others. `quiet`: errors, the closing
    line and the summary alone. `site`: a site file, and the allocation whose links and hooks come between.

    Raises FabricmarkError: 2 for a bad file, 3 where nothing can run, 128 + its number after a signal.
    """
    loaded = campaign.load(file)
    if only is not None:
        loaded = chosen(loaded, only)
    words = ["run", str(file), *(["--output", str(output)] if output != OUTPUT else [])]
    words += ["--site", site] if site else []
    session = Session(sites.load(site)) if site else None
    progress = Progress(len(loaded.points), words)
    folder = output / loaded.name
    try:
        with stopping.on_signals():
            run(loaded, folder, again, progress, is_part=only is not None, quiet=quiet, site=session)
    except KeyboardInterrupt as stop:
        code = getattr(stop, "exit_code", 130)
        remedy = "results are kept, the same command goes on with what is left"
        raise FabricmarkError(f"interrupted, {progress.summary()}", remedy, code) from None
    shown, errors = run_tables.load_all(progress.files)
    if shown:
        tables = (lambda: campaign_table.show(loaded, shown)) if full else None
        outputs.show_runs(shown, progress.failures, progress.again, tables, quiet=quiet)
    for error in errors:
        print(f"fabricmark: error: {error}", file=sys.stderr)
    print(progress.summary(), flush=True)
    return max(progress.exit_code, ENVIRONMENT if errors else 0)


def chosen(loaded: Campaign, only: frozenset[str]) -> Campaign:
    """The campaign with these points alone. Raises FabricmarkError (2) for one that it has not."""
    unknown = only - {point.identity for point in loaded.points}
    if unknown:
        cause = f"{loaded.path} has no point {min(unknown)}"
        raise FabricmarkError(cause, "submit it again: the file was edited")
    return replace(loaded, points=tuple(point for point in loaded.points if point.identity in only))


def run(
    todo: Campaign, folder: Path, again: bool, progress: Progress, *, is_part: bool = False,
    quiet: bool = False, site: Session | None = None,
) -> None:  # fmt: skip
    """Run what has no result in `folder` yet, or everything `again`; one line on standard error a point.

    `progress` is filled as it goes. A point that fails does not keep the others from running. `is_part`:
    other processes run other points; then each point has a lock, and not the whole. Raises FabricmarkError
    (3) when a program is not built, a runtime has no device or another process runs this campaign.
    """
    for benchmark in dict.fromkeys(point.benchmark for point in todo.points):
        paths.program(benchmark)
    whole = contextlib.nullcontext(None) if is_part else lock.exclusive(folder, f"the campaign {todo.name}")
    with whole as held:
        there = {} if again else {p: found for p in todo.points if (found := finished(folder, p))}
        missing = [point for point in todo.points if point not in there]
        usable = {name: _usable(name) for name in dict.fromkeys(p.runtime for p in missing)}
        with Steps(progress.points, len(missing), silent=quiet) as steps:
            for point in todo.points:
                steps.begin(point.label())
                if point in there:
                    _note(progress, there[point])
                    said = "already there"
                else:
                    said = _run_point(point, usable[point.runtime], folder, held, progress, site)
                steps.end(f"{point.label()}: {said}", counts=point not in there)


def finished(folder: Path, point: Point, name: str = "") -> Result | None:
    """A point's whole result, valid or not; None when there is none: never run, killed, failed or damaged."""
    try:
        result = results.load(folder / (name or point.file_name))
    except FabricmarkError:
        return None
    is_whole = result.document["run"]["exit_code"] in (0, 1) and result.benchmark == point.benchmark
    return result if is_whole else None


def _note(progress: Progress, result: Result) -> None:
    """Count a result that was there."""
    code = result.document["run"]["exit_code"]
    progress.there += 1
    progress.invalid_there += code
    progress.exit_code = max(progress.exit_code, code)
    progress.files.append(result.path)


def _usable(wanted: str | None) -> str:
    """The runtime itself, installed; for None the first that has a device. Raises FabricmarkError (3)."""
    if wanted is not None:
        return running.chosen_runtimes(wanted)[0]
    return next(running.each_device(None))[0]


@contextlib.contextmanager
def _held(point: Point, folder: Path, whole: int | None) -> Iterator[list[int]]:
    """The locks that a point's program holds, too: of the campaign, and its own where jobs run parts of it.

    Raises FabricmarkError (3) where another process runs this point.
    """
    own = folder / LOCKS / point.identity
    if whole is not None and not own.parent.is_dir():
        yield [whole]
    else:
        with lock.exclusive(own, point.label()) as held:
            yield [held, *([] if whole is None else [whole])]


def _run_point(
    point: Point, runtime: str, folder: Path, whole: int | None, progress: Progress, site: Session | None
) -> str:
    """Run one point and put its result in place; what to say of it."""
    with contextlib.ExitStack() as stack:
        try:
            held = stack.enter_context(_held(point, folder, whole))
        except FabricmarkError as error:
            print(f"fabricmark: error: {error}", file=sys.stderr)
            progress.exit_code = max(progress.exit_code, error.exit_code)
            progress.failed += 1
            progress.failures.append(_failure(point, folder, str(error), error.exit_code, progress))
            return f"{FAILED} (exit code {error.exit_code})"
        said = _run_held(point, runtime, folder, held, progress, site)
        if site is not None and said.startswith(FAILED):
            try:
                site.failed(point)
            except FabricmarkError as error:
                print(f"fabricmark: error: {error}", file=sys.stderr)
                progress.exit_code = max(progress.exit_code, error.exit_code)
        return said


def _run_held(
    point: Point, runtime: str, folder: Path, held: list[int], progress: Progress, site: Session | None
) -> str:
    """The same, with its locks."""
    final = folder / point.file_name
    unfinished = folder / f".{point.file_name}"  # the name of a killed run is never taken for a result
    for old in folder.glob(f".{point.file_name}*"):
        old.unlink(missing_ok=True)
    started = time.monotonic()
    cause = "see its own line above"
    try:
        job = point.job(runtime, folder)
        job = job if site is None else site.before(point, job)
        code, _ = launch.start(job, unfinished, quiet=True, keep_open=tuple(held))
        result = finished(folder, point, unfinished.name)
        if result is not None:
            code = max(code, result.document["run"]["exit_code"])
        elif code <= 1:
            lost = f"fm_{point.benchmark} ended with {code} but wrote no whole result"
            raise FabricmarkError(lost, "build again with `make build`", ENVIRONMENT)
    except FabricmarkError as error:
        print(f"fabricmark: error: {error}", file=sys.stderr)
        cause, code = str(error), error.exit_code
    progress.exit_code = max(progress.exit_code, code)
    seconds = time.monotonic() - started
    if code > 1:
        progress.failed += 1
        unfinished.unlink(missing_ok=True)
        progress.failures.append(_failure(point, folder, cause, code, progress))
        return f"{FAILED} (exit code {code}), {seconds:.1f} s"
    paths.write_atomically(final, paths.content(unfinished))
    unfinished.unlink()
    progress.files.append(final)
    progress.failed += code
    progress.run += 1 - code
    calibrate_if_new(runtime, results.load(final))
    return f"{FAILED} (INVALID result), {seconds:.1f} s" if code else f"{seconds:.1f} s"


def _failure(point: Point, folder: Path, cause: str, code: int, progress: Progress) -> Failure:
    return Failure(folder / point.file_name, point.benchmark, point.label(), cause, code, progress.again)


def calibrate_if_new(runtime: str, result: Result) -> None:
    """Measure the limits of the device a result came from, if it is one of this host's and not known."""
    if result.document["environment"]["host"]["name"] == socket.gethostname():
        job = launch.Job(result.benchmark, runtime, result.device, 1, None, result.path.parent)
        running.calibrate_if_new(job)
