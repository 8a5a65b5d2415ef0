"""What the runtime costs a repetition of one rank: a benchmark that does nothing."""

from __future__ import annotations

import re
import statistics

from common import ROOT, Row, Settings, run_result

REPETITIONS = 100_000
BAR_SECONDS = 5e-6


def compare(settings: Settings) -> list[Row]:
    """One row; the value is in microseconds."""
    kernels = {"FABRICMARK_KERNELS": str(ROOT / "bench" / "kernels")}
    seconds = []
    for _ in range(settings.pairs):
        result = run_result("bench_empty", ["--repetitions", str(REPETITIONS)], kernels)
        seconds.append(float(re.search(r"[\d.e-]+$", result["notes"][0]).group(0)))
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
