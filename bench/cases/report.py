"""How long `fabricmark report --html` takes with a thousand result files, from the start of the command."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, Row, Settings, run_program

FILES = 1000
BAR_SECONDS = 10.0


def write_results(folder: Path) -> None:
    """A campaign: STREAM with timelines, message sizes, host transfers; no two with the same settings."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    import samples

    makers = (samples.result, samples.b_eff, samples.host_transfer, samples.result)
    for number in range(FILES):
        document = makers[number % len(makers)]()
        document["parameters"]["size"] = 1000 + number
        if number % len(makers) == 0:
            document["timeline"] = samples.timeline(repetitions=10)
        (folder / f"{number:04}.json").write_text(json.dumps(document))


def compare(settings: Settings) -> list[Row]:
    """One row; the value is in seconds."""
    seconds = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_results(folder)
        page = folder / "page" / "report.html"
        start = "from fabricmark.cli import app; app(prog_name='fabricmark')"
        command = [sys.executable, "-c", start, "report", str(folder), "--html", str(page)]
        for _ in range(min(settings.pairs, 5)):
            began = time.perf_counter()
            run_program(command)
            seconds.append(time.perf_counter() - began)
        megabytes = page.stat().st_size / 1e6
    middle = statistics.median(seconds)
    return [
        Row(
            what=f"report, seconds for a page of {FILES} result files ({megabytes:.0f} MB)",
            value=middle,
            spread=f"{min(seconds):.2f} to {max(seconds):.2f}, {len(seconds)} runs",
            bar=f"< {BAR_SECONDS:.0f}",
            reached=middle < BAR_SECONDS,
        )
    ]
