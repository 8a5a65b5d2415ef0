"""`fabricmark scale`: one benchmark on several numbers of ranks, and how well that scales."""

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fabricmark import results
from fabricmark.base import kernels, micro, paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known, printable
from fabricmark.base.progress import Steps
from fabricmark.base.terminal import counted
from fabricmark.measure import launch, launchers, scale, scaling_table, stopping
from fabricmark.measure.launch import Job
from fabricmark.measure.scale import MODES, SCOPES, Request
from fabricmark.measure.scale_models import Models
from fabricmark.results import scaling
from fabricmark.results.scaling import Design, Run


@dataclass
class Outcome:
    """Runs by mode and the worst exit code."""

    runs: dict[str, list[Run]] = field(default_factory=dict)
    exit_code: int = 0


def main(
    benchmark: str, devices: str, mode: str, mpi: bool | None, parameter: str | None, scope: str | None,
    runtime: str | None, banks: int | None, kernel_mhz: float | None, output: Path, words: Sequence[str],
    launcher: str | None, calibrate: Sequence[Path] = (),
) -> int:  # fmt: skip
    """Run, print the tables and write scaling.json; the worst exit code. Raises FabricmarkError (2 or 3)."""
    for given, known, option in ((mode, MODES, "--mode"), (scope, SCOPES, "--parameter-is")):
        if given is not None:
            check_known(given, known, f"{option} {given!r} is unknown")
    if kernel_mhz is not None and not 0 < kernel_mhz < 1e6:
        raise FabricmarkError(f"invalid frequency: --kernel-mhz {kernel_mhz}", "give MHz, like 300")
    if launcher is not None and mpi is False:
        raise FabricmarkError("--launcher starts MPI processes", "leave it or --in-process out")
    ranks = scale.parse_ranks(devices)
    small = micro.named(benchmark) if benchmark not in kernels.benchmark_names() else None
    if small is not None:
        benchmark = small.name
        if MODES[mode] != ("weak",) or parameter is not None or scope is not None:
            cause = f"{small.program} has messages of all its sizes, and no parameter that is scaled"
            raise FabricmarkError(cause, "leave out --mode, --parameter and --parameter-is")
    else:
        kernels.check_benchmark(benchmark)
    scaled = None if small else scale.chosen_parameter(benchmark, parameter, MODES[mode])
    text, extra = scale.split_words(words, scaled)
    value = scale.whole_value(benchmark, scaled, text)
    if scope is None:
        scope = SCOPES[0] if scaled is None else scaled.scope
    design = Design(banks if banks is not None else scale.system_banks(extra), kernel_mhz)
    usable = scale.usable_runtime(runtime)
    follows = any(scale.follows_ranks(each, scope) for each in MODES[mode])
    known = {}
    if scaled is not None and ((value is None and follows) or scaled.rounded_to):
        known = scale.certain_values(benchmark, usable, words)
        value = known.get(scaled.name) if value is None and follows else value
    multiple = known.get(scaled.rounded_to) or 1 if scaled is not None else 1
    if launcher is not None:
        launchers.require(os.environ, launcher)
    use_mpi = launcher is not None or launchers.find(os.environ) is not None if mpi is None else mpi
    folder = output / f"scale-{benchmark}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%fZ')}"
    request = Request(
        benchmark, ranks, MODES[mode], use_mpi, scaled, scope, value, usable, extra, folder, multiple,
        launcher, small.usual_ranks if small else 1,
    )  # fmt: skip
    models = Models(calibrate)
    outcome = run(request)
    show(request, outcome, design, models)
    return outcome.exit_code


def show(request: Request, outcome: Outcome, design: Design, models: Models) -> None:
    """Print the tables and write scaling.json, unless no run has a result."""
    found = []
    for mode in request.modes:
        own = scaling.series(mode, outcome.runs[mode], design)
        models.beside(own, outcome.runs[mode])
        found += own
    if not found:
        return
    device = next(run.result.device["name"] for runs in outcome.runs.values() for run in runs)
    about = {
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "parameter": None if request.parameter is None else request.parameter.name,
        "ranks_kind": "mpi" if request.mpi else "in-process",
        "runtime": request.runtime,
        "device": device,
        "banks": design.banks,
        "kernel_mhz": design.kernel_mhz,
    }
    summary = scaling.document(request.benchmark, about, found)
    file = request.folder / results.SCALING_FILE
    paths.write_atomically(file, json.dumps(summary, indent=2) + "\n")
    scaling_table.show(summary["benchmark"], about, found)
    for line in models.lines:
        print(printable(line))
    print(f"summary: {file}")


def run(request: Request) -> Outcome:
    """Run every mode on every number of ranks; runs that two modes share happen once.

    Settings are checked before the first run. A run that fails does not keep the others from running.
    Raises FabricmarkError: 2 for settings that do not fit, 3 when the program is not built, 130 when stopped.
    """
    plan = scale.plan(request)
    paths.program(request.benchmark)
    paths.make_folder(request.folder)
    outcome = Outcome({mode: [] for mode in request.modes})
    known: dict[tuple[int, int | None], results.Result | None] = {}
    try:
        with stopping.on_signals(), Steps(len(plan), len({entry[1:] for entry in plan})) as steps:
            for mode, ranks, value in plan:
                head = f"{request.benchmark}, {mode} scaling, {counted(ranks, 'rank')}"
                steps.begin(head)
                if (ranks, value) not in known:
                    known[ranks, value], said = _run_one(request, mode, ranks, value, outcome)
                    steps.end(f"{head}: {said}")
                else:
                    steps.end(f"{head}: as before", counts=False)
                result = known[ranks, value]
                if result is not None:
                    outcome.runs[mode].append(Run(ranks, value, result))
    except KeyboardInterrupt as stop:
        remedy = f"finished results are in {request.folder}"
        raise FabricmarkError("interrupted", remedy, getattr(stop, "exit_code", 130)) from None
    return outcome


def _run_one(
    request: Request, mode: str, ranks: int, value: int | None, outcome: Outcome
) -> tuple[results.Result | None, str]:
    """Run one number of ranks: (its result or None, what to say of it); its code is noted in `outcome`."""
    words = () if value is None or request.parameter is None else (f"{request.parameter.option}={value}",)
    in_process, mpi = (1, ranks) if request.mpi else (ranks, None)
    extra = (*request.extra, *words)
    job = Job(
        request.benchmark, request.runtime, None, in_process, mpi, request.folder, extra,
        launcher=request.launcher, usual_ranks=request.usual_ranks,
    )  # fmt: skip
    started = time.monotonic()
    result = None
    try:
        code, file = launch.start(job, request.folder / f"{mode}-{ranks}.json", quiet=True)
        if code <= 1:
            result = results.load(file)
    except FabricmarkError as error:
        print(f"fabricmark: error: {error}", file=sys.stderr)
        code, result = max(error.exit_code, ENVIRONMENT), None
    outcome.exit_code = max(outcome.exit_code, code)
    said = "" if code == 0 else f"failed (exit code {code}), "
    return result, f"{said}{time.monotonic() - started:.1f} s"
