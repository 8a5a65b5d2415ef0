"""Writes data/emulated/stream_clock.csv: what the modelled clock of emulated boards says of the cascades of
Mondigo 2020, a pass each, for tools/stream_figures.py. Run it again when kernels, links or systems change:

.venv/bin/python tools/stream_clock.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from pathlib import Path

import doc_pages
from fabricmark.base import cells, paths
from fabricmark.results import published
from fabricmark.systems import export
from fabricmark.validate import texts

DATA = Path(__file__).resolve().parents[1] / "data" / "emulated" / "stream_clock.csv"
FILE = "de5a_net_stream"
RING, SWITCHES = "arria10_ring", "leaf_spine"
LARGE, SMALL = (2581, 2879), (631, 184)  # columns and rows: 7430699 cells, and 116104
WIDE = (2582, 2878)  # rows of whole words of two cells
FLOW, LONG_FLOW = (720, 240), (720, 3840)
MIB, KIB_4 = (256, 128), (16, 8)  # of 32 bytes a cell
TIME_OUT = 500  # seconds
PLAIN = 1.0
RATIO_ROWS = {"lbm": 82, "lbm_2": 83, "lbm_4": 84}  # x003-<number>: what the thesis measured of its flow
WIDTH = {"tsunami": 1, "tsunami_wide": 2, "lbm": 1, "lbm_2": 2, "lbm_4": 4}


@dataclass(frozen=True)
class Run:
    """A pass: `cascaded` elements on each of `boards` boards make as many steps of columns x rows cells,
    which are so many times as long as what goes over links.
    """

    bitstream: str
    system: str
    profile: str
    columns: int
    rows: int
    cascaded: int
    boards: int
    ratio: float = PLAIN

    @property
    def cells(self) -> int:
        return self.columns * self.rows

    @property
    def steps(self) -> int:
        return self.cascaded * self.boards


KEYS = cells.columns(Run)
COLUMNS = (*KEYS, "cell_steps_per_second")


def doubled(most: int, least: int = 1) -> Iterator[int]:
    count = least
    while count <= most:
        yield count
        count *= 2


@cache
def value(number: int) -> float:
    """What the row x003-<number> has."""
    [found] = [one.value for one in texts.load() if one.id == f"x003-{number:02d}"]
    return found


def printed_ratio(bitstream: str) -> float:
    """That of the compression of the flow with as many cells in a word."""
    return value(RATIO_ROWS[bitstream])


def runs() -> list[Run]:
    """All that figures show."""
    found = [
        Run("tsunami", RING, "published", *SMALL, cascaded, boards)
        for cascaded in range(1, 7)
        for boards in doubled(4)
    ]
    for bitstream, grid, cascaded in (
        ("tsunami", LARGE, 5),
        ("tsunami", LARGE, 4),
        ("tsunami_wide", WIDE, 2),
    ):
        found += [Run(bitstream, RING, "published", *grid, cascaded, boards) for boards in (*range(1, 9), 16)]
    # Links of the clock have the network's bandwidth, which is the printed one in both profiles.
    for bitstream in ("lbm", "lbm_2", "lbm_4"):
        found += [Run(bitstream, RING, "published", *FLOW, 1, boards) for boards in doubled(256)]
        found += [Run(bitstream, RING, "published", *LONG_FLOW, 1, boards) for boards in doubled(64)]
    for bitstream in RATIO_ROWS:
        ratio = printed_ratio(bitstream)
        for grid, most in ((FLOW, 256), (LONG_FLOW, 64)):
            found += [
                Run(bitstream, RING, "published", *grid, 1, boards, ratio) for boards in doubled(most, 2)
            ]
    for grid in (MIB, KIB_4):
        found += [
            Run("tsunami", SWITCHES, "fitted", *grid, cascaded, boards)
            for cascaded in (1, 5)
            for boards in doubled(64)
        ]
    return found


def rate(run: Run, folder: Path) -> float:
    """Cell steps a second, without the host's start of the pass."""
    file = folder / "system.json"
    document = json.loads(export.text(run.system, run.profile))
    kinds = document["topology"]
    kinds[0]["most_devices"] = max(run.boards, kinds[0]["most_devices"])
    file.write_text(json.dumps(document))
    words = ["--timing-only", "--system", file, "--bitstream-id", f"{FILE}/{run.bitstream}"]
    words += ["--ranks", run.boards, "--cascaded", run.cascaded, "--steps", run.steps]
    words += ["--columns", run.columns, "--rows", run.rows, "--repetitions", 1, "--warmup", 0]
    if run.ratio != PLAIN:
        words += ["--compression", "1d", "--compression-ratio", run.ratio]
    result = doc_pages.result_of(run.bitstream.partition("_")[0], *words, seconds=TIME_OUT)
    [best] = [one["best"] for one in result["measurements"] if one["name"] == "cell_steps"]
    start = document["devices"][0]["values"].get("launch_seconds", {"value": 0})["value"]
    work = run.cells * run.steps
    return work / (work / (best * 1e6) - start)


def text(found: Sequence[tuple[Run, float]]) -> str:
    return cells.as_csv([COLUMNS, *((*astuple(run), f"{value:.6g}") for run, value in found)])


def stored() -> dict[Run, float]:
    """What the file says. Raises FabricmarkError."""
    kinds = (
        dict.fromkeys(KEYS, int) | dict.fromkeys(("bitstream", "system", "profile"), str) | {"ratio": float}
    )
    found = {}
    for _, row in published.rows(DATA, COLUMNS):
        made = {name: kinds[name](row[name]) for name in KEYS}
        found[Run(**made)] = float(row[COLUMNS[-1]])
    return found


def main() -> None:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for run in runs():
            found.append((run, rate(run, Path(folder))))
            print(json.dumps({**asdict(run), "rate": found[-1][1]}), file=sys.stderr)
    paths.write_atomically(DATA, text(found))


if __name__ == "__main__":
    main()
