"""`fabricmark verify`: runs an application's cases of known solution, and shows what they reach."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark import results
from fabricmark.base import kernels, terminal
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known
from fabricmark.base.terminal import Column
from fabricmark.measure import launch, running
from fabricmark.measure.short_runs import options
from fabricmark.models import _verification
from fabricmark.models._verification import Case, Reached

ALL = "all"
ONCE = ("--warmup", "0", "--repetitions", "1")


@dataclass(frozen=True)
class Wanted:
    """What is to be verified: cases of a benchmark, all where none is named; more options for the program."""

    benchmark: str
    cases: tuple[str, ...]
    runtime: str
    ranks: int
    extra: tuple[str, ...]


def chosen(wanted: Wanted) -> dict[str, Case]:
    """Raises FabricmarkError (2) for what there is not."""
    kernels.check_benchmark(wanted.benchmark)
    every = _verification.of(wanted.benchmark)
    cause = f"{wanted.benchmark} has no cases with a known solution"
    check_known(wanted.benchmark, _verification.names(), cause)
    for name in wanted.cases:
        check_known(name, every, f"{wanted.benchmark} has no case {name!r} with a known solution")
    return {name: every[name] for name in wanted.cases or every}


def verify(wanted: Wanted) -> bool:
    """Run all, print a table, and say whether everything was reached.

    Raises FabricmarkError: 2 for what there is not, 3 without a device, and that of a run that fails.
    """
    cases = chosen(wanted)
    running.refuse_result_file(wanted.extra)
    found = {name: _reached(wanted, name, case) for name, case in cases.items()}
    rows = [
        [name, one.what, terminal.number(one.value), one.wanted, "yes" if one.is_reached else "no"]
        for name, some in found.items() for one in some
    ]  # fmt: skip
    columns = [
        Column("case", key=True), Column("figure", key=True), Column("reached", right=True),
        Column("has to be"), Column("is it"),
    ]  # fmt: skip
    terminal.table([wanted.benchmark, "cases with a known solution"], columns, rows)
    return all(one.is_reached for some in found.values() for one in some)


def _reached(wanted: Wanted, name: str, case: Case) -> list[Reached]:
    documents = []
    with tempfile.TemporaryDirectory(prefix="fabricmark-") as place:
        for number, run in enumerate(case.runs):
            words = (*ONCE, *options(run), *wanted.extra)
            (device, *_) = _devices(wanted)
            job = launch.Job(wanted.benchmark, wanted.runtime, device, wanted.ranks, None, Path(place), words)
            code, result = launch.start(job, Path(place) / f"{number}.json", quiet=True)
            if code or not result.is_file():
                cause = f"fm_{wanted.benchmark} of the case {name} ended with exit code {code}"
                raise FabricmarkError(cause, "see its line above, or run it by hand", code or ENVIRONMENT)
            documents.append(results.load(result).document)
    return case.judge(documents)


def _devices(wanted: Wanted) -> Sequence:
    """The devices of the runtime; one that the options choose. Raises FabricmarkError (3) without any."""
    found = running.devices_of(wanted.runtime, wanted.extra)
    if not found:
        raise kernels.why_none(wanted.runtime, running.NO_DEVICE)
    return found
