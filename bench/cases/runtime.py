"""What the runtime costs a repetition of one rank: a benchmark that does nothing."""

from __future__ import annotations

import re
import statistics

from common import ROOT, OwnRuns, Row, Settings, run_result

REPETITIONS = 100_000
BAR_SECONDS = 5e-6


def seconds_per_repetition() -> float:
    """Of a repetition in which nothing is done [s]."""
    kernels = {"FABRICMARK_KERNELS": str(ROOT / "bench" / "kernels")}
    result = run_result("bench_empty", ["--repetitions", str(REPETITIONS)], kernels)
    return float(re.search(r"[\d.e-]+$", result["notes"][0]).group(0))


def own_runs(_runtime: str) -> OwnRuns:
    """Repetitions per second."""
    return {"empty benchmark": lambda: {"repetitions": 1 / seconds_per_repetition()}}


def compare(settings: Settings) -> list[Row]:
    """One row; the value is in microseconds."""
    seconds = [seconds_per_repetition() for _ in range(settings.pairs)]
    middle = statistics.median(seconds)
    return [
        Row(
            what="runtime, microseconds per repetition of one rank",
            value=middle * 1e6,
            spread=f"{min(seconds) * 1e6:.3f} to {max(seconds) * 1e6:.3f}, {settings.pairs} runs",
            bar="< 5",
            reached=middle < BAR_SECONDS,
        )
    ]
