"""`fabricmark run`: which jobs there are to do, and doing them one after the other."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

from fabricmark import models, results
from fabricmark.base import ended, kernels, micro, paths, runtimes
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known, printable
from fabricmark.base.progress import Steps
from fabricmark.measure import calibrate, launch, launchers, refine
from fabricmark.measure.launch import Job
from fabricmark.results import SYSTEM_ENDING, failures
from fabricmark.results.failures import Failure
from fabricmark.systems import calibration, choice, export

NO_DEVICE = (
    "install an OpenCL platform (for example pocl-opencl-icd) or `fabricmark runtimes install intel-cpu`"
)


EMULATED = "only emulated devices found, whose clock says nothing"
ALL = "all"  # benchmarks
DATAFLOW = "dataflow"  # style of variants whose kernels are a part of the program
INFORMATIVE = ("--help", "--version", "--list-devices")  # the program answers and measures nothing


@dataclass
class Outcome:
    """What became of a series of jobs: the worst exit code, the result files in order, and of several jobs
    those that left none."""

    exit_code: int = 0
    files: list[Path] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def chosen_runtimes(wanted: str | None) -> list[str]:
    """Runtimes to run on.

    None or `all`: every installed one. A runtime from PyPI that is named gets installed when it is not there.
    Raises FabricmarkError: 2 for an unknown name, 3 when there is no device or the installation fails.
    """
    if wanted in (None, "all"):
        return runtimes.installed_names()
    check_known(wanted, [*runtimes.names(), "all"], f"there is no runtime {wanted!r}")
    if wanted != runtimes.SYSTEM:
        runtimes.install(wanted)
    return [wanted]


def chooses_device(extra: Sequence[str]) -> bool:
    """Whether the options for the program choose the device themselves."""
    return any(word.split("=")[0] in ("--platform", "--device", "--list-devices") for word in extra)


def devices_of(runtime: str, extra: Sequence[str]) -> Sequence[Mapping | None]:
    """The devices of a runtime; [None] where the options for the program choose it."""
    return [None] if chooses_device(extra) else kernels.devices(runtime)


def each_device(wanted: str | None, extra: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """(runtime, device) of all, the device None where the options for the program choose it.

    Raises FabricmarkError as `chosen_runtimes`, and (3) at the end where there was none.
    """
    found = None
    for name in chosen_runtimes(wanted):
        for found in devices_of(name, extra):
            yield name, found
    if found is None and not chooses_device(extra):
        raise kernels.why_none(runtimes.SYSTEM, NO_DEVICE)


def each_real_device(wanted: str | None) -> Iterator[tuple[str, Mapping]]:
    """The same without emulators, whose times say nothing about hardware; (3) where there are no others."""
    real = None
    for name, device in each_device(wanted):
        if not device["emulated"]:
            yield name, (real := device)
    if real is None:
        raise FabricmarkError(EMULATED, "choose another --runtime", ENVIRONMENT)


def refuse_result_file(extra: Sequence[str]) -> None:
    """Raises FabricmarkError (2) where the options for the program say where the result goes."""
    if any(word.split("=")[0] == "--json" for word in extra):
        raise FabricmarkError("--json is set by `fabricmark run`", "choose a folder with --output")


def names_of(name: str) -> list[str]:
    """The benchmarks that a word of the command line means. Raises FabricmarkError (2): none."""
    known = kernels.benchmark_names()
    if name == ALL:
        return known
    if name not in known:
        raise unknown(name, ALL, *([micro.GROUP] if micro.short_set() else []))
    return [name]


def unknown(name: str, *groups: str) -> FabricmarkError:
    """The error of a name that no benchmark and no micro-benchmark has; `groups`: what else is known."""
    known, small = kernels.benchmark_names(), micro.found()
    near = get_close_matches(name, [*known, *small, *groups], n=1)
    remedy = f"did you mean {near[0]}?" if near else f"use one of {', '.join([*known, *groups])}"
    more = ", or a micro-benchmark of `fabricmark list`" if small and not near else ""
    return FabricmarkError(f"there is no benchmark {name!r}", remedy + more)


def needs_no_device(name: str, extra: Sequence[str]) -> bool:
    """Whether the program runs on no device: it computes nothing, or its kernels run on emulated boards."""
    given = kernels.options(extra)
    if "--timing-only" in given:
        return True
    if not {"--transport", "--variant"} & given.keys():
        return False
    (answer,) = kernels.answers([kernels.of_words(name, "cpu", extra)])
    variant = kernels.kernel(name).variants.get(answer.get("variant"), {})
    return variant.get("style") == DATAFLOW


def of_system(
    wanted: choice.Wanted | None,
    names: Sequence[str],
    extra: Sequence[str],
    output: Path,
    without: str | None = None,
) -> list[str]:
    """The options by which the programs take this system, which is written beside their results for them.

    There, as all hosts of an MPI run have to see it, and the command lines in the results name it. `wanted`:
    None without a system. `without`: a benchmark that runs as none of the system's bitstreams. Raises
    FabricmarkError (2): as `choice.choose`, or when it cannot be written.
    """
    given = kernels.options(extra)
    if wanted is None:
        return []
    for option in ("--system", choice.OPTION, *(["--transport"] if wanted.transport is not None else [])):
        if option in given:
            raise FabricmarkError(f"{option} after ` -- `", "leave it out there: `run` has its own --system")
    if wanted.bitstream is not None and len(names) > 1:
        raise FabricmarkError("a bitstream is of one benchmark", "leave out --bitstream-id, or name that one")
    bitstream = wanted.bitstream
    if len(names) == 1:
        bitstream = choice.bitstream_of(names[0], wanted, given.get("--variant", ""), verb="run")
    document = export.document(wanted.system, board=wanted.board)
    document["bitstreams"] = [one for one in document["bitstreams"] if one["benchmark"] != without]
    of_board = f"-{wanted.board}" if wanted.board is not None else ""
    file = output / f"{Path(wanted.system).name.removesuffix('.toml')}{of_board}{SYSTEM_ENDING}"
    paths.write_atomically(file.absolute(), export.written(document))
    words = ["--system", str(file.absolute())]
    words += [choice.OPTION, bitstream] if bitstream is not None else []
    return words + (["--transport", wanted.transport] if wanted.transport is not None else [])


def jobs(
    names: Sequence[str], runtime: str | None, ranks: int, mpi: int | None, output: Path, extra: Sequence[str]
) -> Iterator[Job]:
    """One job for each benchmark and device; one for a benchmark that needs none, or when `extra` chooses it.

    Without a device, options in `extra` may choose what needs none (b_eff --transport cpu): the program says.
    Raises FabricmarkError: 2 when `extra` names a result file itself, 3 when no runtime has a device.
    """
    refuse_result_file(extra)
    alone = [name for name in names if needs_no_device(name, extra)]
    others = [name for name in names if name not in alone]
    of_device = [
        (runtime_name, device)
        for runtime_name in (chosen_runtimes(runtime) if others else [])
        for device in devices_of(runtime_name, extra)
    ]
    if others and not of_device and not extra:
        raise kernels.why_none(runtimes.SYSTEM, NO_DEVICE)
    for name in alone:
        yield Job(name, runtimes.SYSTEM, None, ranks, mpi, output, tuple(extra))
    for runtime_name, device in of_device or [(runtimes.SYSTEM, None)]:
        for name in others:
            yield Job(name, runtime_name, device, ranks, mpi, output, tuple(extra))


def with_optimized(todo: Iterable[Job]) -> Iterator[Job]:
    """The jobs, and after each on a CPU that takes the design for FPGAs the same with the optimized kernel.

    Where a CPU takes the optimized one by itself, the other one takes long there and is left out.
    """
    for job in todo:
        yield job
        device = job.device
        if device is None or device["class"] != "cpu" or device["emulated"] or "--variant" in job.extra:
            continue
        variants = kernels.kernel(job.benchmark).variants
        if kernels.OPTIMIZED in variants and not models.traits(job.benchmark).is_host_code:
            wanted = kernels.of_words(job.benchmark, "cpu", job.extra, device["compute_units"])
            (usual,) = kernels.ask([wanted])
            if usual["variant"] == kernels.FPGA_DESIGN:
                yield replace(job, extra=(*job.extra, "--variant", kernels.OPTIMIZED))


def illustrations(todo: Iterable[Job]) -> Iterator[Job]:
    """A short run of each application among the jobs, on its first device that is none of an emulator, into
    the folder from which the report takes pictures only."""
    seen = set()
    for job in todo:
        words = models.traits(job.benchmark).illustration
        if not words or job.benchmark in seen or job.device is None or job.device["emulated"]:
            continue
        seen.add(job.benchmark)
        folder = job.output / results.ILLUSTRATIONS
        yield Job(job.benchmark, job.runtime, job.device, 1, None, folder, tuple(words))


def calibrate_if_new(job: Job) -> None:
    """Measure a device's limits before its first run; a run does not fail because that failed."""
    device = job.device
    if device is None or device["emulated"] or device["class"] not in ("cpu", "gpu"):
        return
    try:
        if calibration.find_here(device) is None:
            print(f"measuring the limits of {printable(device['name'])} once", file=sys.stderr)
            calibrate.measure(job.runtime, device)
    except FabricmarkError as error:
        print(f"fabricmark: warning: {error}", file=sys.stderr)


def run_all(todo: Sequence[Job], outcome: Outcome, *, quiet: bool = False, has_tables: bool = False) -> None:
    """Do all jobs and note the worst exit code; one that fails does not keep the others from running.

    `outcome` is filled as it goes, so that Ctrl-C leaves what was finished. What a program prints of its
    result is left out where `has_tables`: the caller shows it again beside models and limits, as always that
    of a single run. `quiet`: no word of progress either.
    """
    shown_later = quiet or has_tables or len(todo) == 1
    with Steps(len(todo), shared=not shown_later, silent=quiet) as steps:
        for job in todo:
            steps.begin(_label(job), announced=True)
            cause, code = "see its own line above", 0
            try:
                code = _run_aside(job, outcome) if shown_later else _run_one(job, outcome)
            except FabricmarkError as error:
                steps.say(f"fabricmark: error: {error}")
                cause, code = str(error), error.exit_code
            outcome.exit_code = max(outcome.exit_code, code)
            if code > 1 and len(todo) > 1:  # of a single one the caller sees it
                outcome.failures.append(_noted(job, cause, code))
            steps.end()


def _noted(job: Job, cause: str, code: int) -> Failure:
    """A run that left no result, written down beside the others' for a later report."""
    place = failures.place_of(job.result_path(datetime.now(UTC)))
    failure = Failure(place, job.benchmark, _label(job), cause, code, _words(job))
    paths.write_atomically(place, json.dumps(failures.document(failure), indent=1) + "\n")
    return failure


def _words(job: Job) -> list[str]:
    """The same run as a command of its own."""
    words = ["run", job.benchmark]
    if job.device is not None:
        device = (job.device["platform_index"], job.device["device_index"])
        words += ["--runtime", job.runtime, "--platform", str(device[0]), "--device", str(device[1])]
    if job.mpi is not None or job.ranks != job.usual_ranks:
        words += ["--mpi", str(job.mpi)] if job.mpi is not None else ["--ranks", str(job.ranks)]
    return [*words, *(["--", *job.extra] if job.extra else [])]


def _run_aside(job: Job, outcome: Outcome) -> int:
    """The same, where what the program prints is only shown if it has left no result."""
    before = len(outcome.files)
    with tempfile.TemporaryFile() as said:
        try:
            return _run_one(job, outcome, said)
        finally:
            if len(outcome.files) == before:
                said.seek(0)
                sys.stdout.write(said.read().decode("utf-8", "replace"))
                sys.stdout.flush()


def _run_one(job: Job, outcome: Outcome, output: IO | None = None) -> int:
    """Run a job and note its file; its exit code, that of one with a result at most 1.

    `output`: where the program prints; None: on the terminal. Raises FabricmarkError (3) where there is no
    result.
    """
    paths.program(job.benchmark)  # a missing one is named before a device is measured for it
    calibrate_if_new(job)
    code, file = launch.start(job, output=output)
    if file.is_file():
        outcome.exit_code = max(outcome.exit_code, code)
        outcome.files.append(file)
        refine.after(job, file)
        return min(code, 1)
    if code == 0 and not any(word in INFORMATIVE for word in job.extra):
        by = launchers.require(os.environ, job.launcher) if job.mpi is not None else None
        started_by, remedy = (by.program_name, by.launcher.if_singletons) if by is not None else ("", "")
        raise ended.without_result(f"fm_{job.benchmark}", file, started_by, remedy)
    return code


def _label(job: Job) -> str:
    """`hpl on sample-cpu, 2 ranks`."""
    ranks = job.mpi if job.mpi is not None else job.ranks
    device = f" on {job.device['name']}" if job.device is not None else ""
    chosen = kernels.options(job.extra).get("--variant")
    device += f", {chosen} kernel" if chosen else ""
    return f"{job.benchmark}{device}, {ranks} rank{'' if ranks == 1 else 's'}"
