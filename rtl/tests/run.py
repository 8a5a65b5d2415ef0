"""The checks of the RTL, kind by kind: a module of `kinds` each.

    rtl/tests/run.py [--full] [--only KIND ...] [--runs 1000] [--jobs 2]

Ends with a verdict; a check that has something to tell tells it in a line of its own.
"""

import argparse
import shutil
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType

from common import Failure, Options, Task
from kinds import (
    benches,
    cocotb_runs,
    codec,
    cosimulation,
    formal,
    lint,
    packaging,
    reference_points,
    resources,
    sources,
)

KINDS: tuple[ModuleType, ...] = (
    sources,
    cosimulation,
    formal,
    reference_points,
    resources,
    benches,
    codec,
    lint,
    cocotb_runs,
    packaging,
)


def name_of(kind: ModuleType) -> str:
    return kind.__name__.rpartition(".")[2]


def timed(task: Task) -> tuple[str | None, float]:
    start = time.monotonic()
    return task.check(), time.monotonic() - start


def outcome(name: str, future: Future, is_told: bool) -> str | None:
    """What a check has found wrong."""
    try:
        told, seconds = future.result()
    except Failure as failure:
        return f"rtl: {name}: {failure}"
    if told or is_told:
        print(f"rtl: {name}: {told or 'passed'}, {seconds:.1f} s", flush=True)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--full", action="store_true", help="also checks that take long")
    parser.add_argument(
        "--only", action="append", choices=[name_of(kind) for kind in KINDS], help="of a kind"
    )
    parser.add_argument("--runs", type=int, default=1000, help="random links beside the model, of all widths")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="renew the tables of what was measured")
    parser.add_argument("--times", action="store_true", help="tell how long each check took")
    chosen = parser.parse_args()
    options = Options(chosen.runs, chosen.jobs, chosen.full, chosen.write)
    start = time.monotonic()
    kinds = [kind for kind in KINDS if not chosen.only or name_of(kind) in chosen.only]
    if missing := sorted({tool for kind in kinds for tool in kind.TOOLS if shutil.which(tool) is None}):
        print(f"rtl: error: {', '.join(missing)} is not there; run make test-rtl", file=sys.stderr)
        return 3
    found = [(f"{name_of(kind)}, {task.name}", task) for kind in kinds for task in kind.tasks(options)]
    tasks = [(name, task) for name, task in found if options.full or not task.is_full]
    failures = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, future in [(name, pool.submit(timed, task)) for name, task in tasks]:
            if failure := outcome(name, future, chosen.times):
                failures.append(failure)
    for failure in failures:
        print(failure, file=sys.stderr)
    verdict = f"rtl: {len(tasks) - len(failures)} passed, {len(failures)} failed, {options.runs} random links"
    print(f"{verdict} in {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
