"""Published curves of b_eff, read from where the tests' data are; tests that need them skip without.

The file is hpcc_fpga_2021.csv: figures of multi-FPGA systems from the public evaluation repository of HPCC
FPGA (pc2/hpcc_fpga_eval_21, MIT licence). Bandwidths are sums over all devices and both directions [B/s].
"""

import csv
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

FILE = "measured/hpcc_fpga_2021.csv"


@dataclass(frozen=True)
class Published:
    """One run: bandwidth of each size, and the effective bandwidth that was printed."""

    system: str
    devices: int
    nodes: int
    sizes: list[int]
    rates: np.ndarray
    effective: float


def path() -> Path | None:
    """The file in FABRICMARK_TEST_DATA or beside the repository; None where it is in neither."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    places = [Path(os.environ["FABRICMARK_TEST_DATA"])] if "FABRICMARK_TEST_DATA" in os.environ else [beside]
    return next((place / FILE for place in places if (place / FILE).is_file()), None)


@lru_cache
def _rows() -> list[dict]:
    with path().open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["benchmark"] == "b_eff"]


def curves(transport: str) -> list[Published]:
    """All runs over this transport. Skips the test where the file is not there."""
    if path() is None:
        pytest.skip("the published curves are not here (set FABRICMARK_TEST_DATA)")
    runs: dict[str, list[dict]] = {}
    for row in _rows():
        if row["transport"] == transport:
            runs.setdefault(row["source"], []).append(row)
    return [_curve(rows) for rows in runs.values() if any(row["metric"] == "b_eff" for row in rows)]


def _curve(rows: list[dict]) -> Published:
    points = {int(row["message_bytes"]): float(row["value"]) for row in rows if row["metric"] == "bandwidth"}
    first = rows[0]
    return Published(
        system=first["system"],
        devices=int(first["devices"]),
        nodes=int(first["nodes"]),
        sizes=list(points),
        rates=np.array(list(points.values())),
        effective=next(float(row["value"]) for row in rows if row["metric"] == "b_eff"),
    )
