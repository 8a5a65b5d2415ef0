"""Copies of 64 MiB between host and device on the CPU runtimes against memcpy."""

from __future__ import annotations

import json

from common import OwnRuns, Row, Settings, program, ratio_row, run_program, run_result, runtime_variables
from pairs import Contender, interleave, ratio

REPETITIONS = 20
BAR = 0.85
OPTIONS = [
    *("--smallest", "26", "--largest", "26", "--buffers", "1", "--methods", "queued"),
    *("--memories", "page-aligned", "--overlap-bytes", "4096", "--repetitions", str(REPETITIONS)),
]


def memcpy_rate() -> float:
    """GB/s of the peer, best of its repetitions."""
    return json.loads(run_program([program("bench_memcpy"), str(REPETITIONS)]))["memcpy"]


def transfer_rate(direction: str, runtime: str) -> float:
    """GB/s of fm_host_transfer in one direction, best of its repetitions; every run is validated."""
    variables = runtime_variables(runtime)
    result = run_result("fm_host_transfer", [*OPTIONS, "--directions", direction], variables)
    return next(m["best"] for m in result["measurements"] if m["name"] == "bandwidth")


def own_runs(runtime: str) -> OwnRuns:
    """Each direction."""
    directions = ("to_device", "from_device")
    return {one: lambda one=one: {"64 MiB": transfer_rate(one, runtime)} for one in directions}


def compare(settings: Settings) -> list[Row]:
    """One row for each runtime and direction."""
    found = []
    for runtime in settings.runtimes:
        peer = Contender("memcpy", memcpy_rate)
        ours = [
            Contender(name, lambda d=name, r=runtime: transfer_rate(d, r))
            for name in ("to_device", "from_device")
        ]
        interleave([peer, *ours], settings.pairs)
        for contender in ours:
            what = f"64 MiB {contender.name} on {runtime} / memcpy"
            found.append(ratio_row(what, ratio(contender, peer), BAR, settings.pairs))
    return found
