"""How long questions to a history of 100 000 results take, from the start of the command."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, Row, Settings, run_program

RESULTS = 100_000
BAR_SECONDS = 2.0
QUESTIONS = (
    ("list", ()),
    ("show", ()),
    ("show", ("triad", "--node", "n1")),
)


def write_store(path: Path) -> None:
    """Two metrics of four nodes, forty results a night."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from fabricmark.sites import store
    from history_writer import record

    with store.opened(path, make=True) as opened:
        for _ in opened.add(map(record, range(RESULTS))):
            pass


def compare(settings: Settings) -> list[Row]:
    """A row for each question; the values are in seconds."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "history.db"
        write_store(path)
        for name, words in QUESTIONS:
            start = "from fabricmark.cli import app; app(prog_name='fabricmark')"
            command = [sys.executable, "-c", start, "history", name, *words, "--store", str(path)]
            seconds = []
            for _ in range(min(settings.pairs, 5)):
                began = time.perf_counter()
                run_program(command)
                seconds.append(time.perf_counter() - began)
            middle = statistics.median(seconds)
            rows.append(
                Row(
                    what=f"history {' '.join((name, *words))}, seconds with {RESULTS} results",
                    value=middle,
                    spread=f"{min(seconds):.2f} to {max(seconds):.2f} s, {len(seconds)} runs",
                    bar=f"<= {BAR_SECONDS:g} s",
                    reached=middle <= BAR_SECONDS,
                )
            )
    return rows
