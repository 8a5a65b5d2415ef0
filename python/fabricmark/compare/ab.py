"""`fabricmark ab`: two commands interleaved, compared pair by pair, for machines whose speed drifts."""

import os
import re
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from fabricmark import results
from fabricmark.base import ended, paths, runtimes, unreaped
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, printable
from fabricmark.base.progress import Steps
from fabricmark.compare import command_lines, resampling
from fabricmark.compare.comparison import Comparison, Settings, compare
from fabricmark.results import Measurement, Result

SIDES = ("a", "b")
LINE_EVERY = 10  # pairs, where there is no terminal, or
SECONDS_A_LINE = 5.0  # what comes first
GROWTH = 2  # --until-clear looks again whenever there are so many times more pairs
MOST_PAIRS = resampling.MOST_RUNS


@dataclass(frozen=True)
class Plan:
    """What is run: `commands` (a, b) as words, pair counts after which is looked, and the metrics wanted."""

    commands: tuple[list[str], list[str]]
    looks: list[int]
    metrics: Sequence[str]
    folder: Path
    environment: Mapping[str, str]

    @property
    def benchmark(self) -> str:
        return Path(self.commands[0][0]).name.removeprefix("fm_")


def words_of(command: str) -> list[str]:
    """Words of a quoted command; the program is fm_* of the build, or a path to one of another build.

    Raises FabricmarkError: 2 for what is no program of the suite, 3 when it is not built.
    """
    remedy = "write a program of the suite with its options, for example 'fm_stream --size 1000'"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise FabricmarkError(f"{command!r}: {error}", remedy) from error
    if not words or not re.fullmatch(r"fm_\w+", Path(words[0]).name):
        raise FabricmarkError(f"{command!r} does not start with a program fm_<name>", remedy)
    if any(word.split("=")[0] == "--json" for word in words):
        raise FabricmarkError(f"{command!r}: --json is set by `fabricmark ab`", "drop it")
    if "/" not in words[0]:
        words[0] = str(paths.program(words[0].removeprefix("fm_")))
    elif not os.access(words[0], os.X_OK) or not Path(words[0]).is_file():
        raise FabricmarkError(f"the program {words[0]} is not there", "build it", ENVIRONMENT)
    else:
        words[0] = str(Path(words[0]).absolute())
    return words


def looks(pairs: int, until_clear: bool, most: int | None) -> list[int]:
    """Numbers of pairs after which to look: once, or at doubled numbers up to `most`.

    The confidence is split over the looks; doubling keeps them few. Raises FabricmarkError (2).
    """
    if most is not None and not until_clear:
        raise FabricmarkError("--max-pairs without --until-clear", "add --until-clear or drop it")
    if not until_clear:
        return [pairs]
    most = 8 * pairs if most is None else most
    if most < pairs:
        raise FabricmarkError(f"--max-pairs {most} is below --pairs {pairs}", "choose a larger number")
    planned = [pairs]
    while planned[-1] < most:
        planned.append(min(planned[-1] * GROWTH, most))
    return planned


def new_folder(parent: Path) -> Path:
    """results/ab-<time> with a folder for each side. Raises FabricmarkError (2) when it cannot be made."""
    folder = parent / f"ab-{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%fZ')}"
    for side in SIDES:
        paths.make_folder(folder / side)
    return folder


def run_one(words: Sequence[str], file: Path, environment: Mapping[str, str]) -> Result:
    """Run a program quietly and load its result. Raises FabricmarkError with the program's own code."""
    command = [*words, "--json", str(file.absolute())]
    try:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        cause = f"cannot start {words[0]}: {error.strerror}"
        raise FabricmarkError(cause, "run `make build`", ENVIRONMENT) from error
    with process:
        code, _, said = unreaped.communicate(process)
    if code == 0 and file.is_file():
        return results.load(file)
    if code == 0:
        raise ended.without_result(Path(words[0]).name, file)
    cause = f"{Path(words[0]).name} {ended.words(code, said)}"
    raise FabricmarkError(cause, "run it by hand", code if 0 < code <= ENVIRONMENT else ENVIRONMENT)


def wanted(measurement: Measurement, metrics: Sequence[str]) -> bool:
    """Whether one of `NAME[,axis=value]...` names this metric; all are wanted when none is given."""
    for metric in metrics:
        name, *places = metric.split(",")
        axes = [tuple(place.split("=", 1)) for place in places]
        texts = {key: str(value) for key, value in measurement.axes.items()}
        if name == measurement.name and all(
            len(axis) == 2 and texts.get(axis[0]) == axis[1] for axis in axes
        ):
            return True
    return not metrics


def chosen(result: Result, metrics: Sequence[str]) -> Result:
    """The result with the wanted metrics only. Raises FabricmarkError (2) when there is none."""
    kept = [measurement for measurement in result.measurements if wanted(measurement, metrics)]
    if not kept:
        there = ", ".join(
            ",".join([entry.name, *(f"{key}={value}" for key, value in entry.axes.items())])
            for entry in result.measurements
        )
        raise FabricmarkError(f"no metric is called {' or '.join(metrics)}", f"choose of {there}")
    return replace(result, measurements=kept)


def run_pairs(plan: Plan, settings: Settings) -> tuple[Comparison, bool]:
    """Run pairs, in the order A B, B A, A B, ..., until all is clear or the last look is reached.

    Returns what was found and whether an interrupt ended it, after which whole pairs are compared; without
    any the interrupt goes on to the caller.

    What the command lines change is meant to differ; whatever else keeps the sides from being compared ends
    it after the first pair. Every result file stays in the plan's folder. Raises what `run_one` and
    `compare` raise.
    """
    found: tuple[list[Result], list[Result]] = ([], [])
    meant = command_lines.meant(*plan.commands, plan.benchmark)
    settings = replace(settings, meant=meant, looks=len(plan.looks), in_turns=True)
    try:
        for look in plan.looks:
            with Steps(look, look - len(found[0]), done=len(found[0])) as steps:
                _run_until(look, plan, settings, found, steps)
            comparison = compare(*found, settings)
            if all(row.verdict != "unclear" for row in comparison.rows):
                break
    except KeyboardInterrupt:
        whole = min(map(len, found))
        if whole == 0:
            raise
        # It stands in the place of the look that was in progress, so that the confidence holds.
        return compare(found[0][:whole], found[1][:whole], settings), True
    return comparison, False


def _run_until(
    look: int, plan: Plan, settings: Settings, found: tuple[list[Result], list[Result]], steps: Steps
) -> None:
    """Run pairs until there are `look` of them."""
    name = f"pairs of {plan.benchmark}"
    told = time.monotonic()
    for pair in range(len(found[0]), look):
        steps.begin(name)
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            file = plan.folder / SIDES[side] / f"{pair + 1:05}.json"
            result = run_one(plan.commands[side], file, plan.environment)
            found[side].append(chosen(result, plan.metrics))
        if pair == 0:
            compare(*found, settings)
        is_due = pair == 0 or (pair + 1) % LINE_EVERY == 0 or time.monotonic() - told >= SECONDS_A_LINE
        told = time.monotonic() if is_due else told
        steps.end(name if is_due else "")


def plan(
    commands: Sequence[str], planned: list[int], metrics: Sequence[str], output: Path, runtime: str | None
) -> Plan:
    """Check everything before the first run. Raises FabricmarkError (2, 3)."""
    for metric in metrics:
        if not re.fullmatch(r"[^,=]+(,[^,=]+=[^,]*)*", metric):
            raise FabricmarkError(
                f"--metric {metric!r} is not NAME[,axis=value]", "see `fabricmark ab --help`"
            )
    words = [words_of(command) for command in commands]
    names = [Path(each[0]).name for each in words]
    if names[0] != names[1]:
        raise FabricmarkError(
            f"{names[0]} and {names[1]} have nothing in common", "compare runs of one program"
        )
    environment = runtimes.environment(runtime or runtimes.SYSTEM, os.environ)
    return Plan((words[0], words[1]), planned, metrics, new_folder(output), environment)


def closing_line(planned: Plan, comparison: Comparison) -> str:
    """Where the files are, and how to look at them again."""
    pairs = max((len(row.base.runs) for row in comparison.rows), default=0)
    return printable(f"{pairs} pairs; result files: {planned.folder}/a (base) and {planned.folder}/b (new)")
