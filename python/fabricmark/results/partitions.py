"""Partitions of meshes that Meyer 2024 prints, Tables A.1 and A.2, and the limits of the designs."""

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths, transports
from fabricmark.models._mesh_parts import Part

NAME = "meyer_2024_shallow_water.csv"
CELL = re.compile(r"s000-(A[12])-\d+-\d+-\w+")
LOCAL = {transports.TCP: 4096}  # elements that fit, else 8192


@dataclass(frozen=True)
class Row:
    """One row: weak (A1) or strong (A2) scaling of a mesh of `elements` on so many devices."""

    table: str
    devices: int
    elements: int
    part: Part

    def fits(self, transport: str) -> bool:
        return self.part.elements <= LOCAL.get(transport, 8192)

    @property
    def mesh(self) -> str:
        """As programs and predictions take partitions that are all alike."""
        one = self.part
        return f"parts:{one.core},{one.border},{one.outer},{one.neighbours}"


def rows(file: Path | None = None) -> tuple[Row, ...]:
    """All rows with all cells, of data/published or of a file with the same columns."""
    file = file or paths.root() / "data" / "published" / NAME
    found = defaultdict(dict)
    with file.open(newline="") as lines:
        for line in csv.DictReader(lines):
            if not (match := CELL.fullmatch(line["id"])):
                continue
            about = line.get("parameters") or line.get("conditions")
            total = int(re.search(r"e_total=(\d+)", about)[1])
            block = "second" if "block=second" in about else ""
            found[match[1], int(line["devices"]), total, block][line["metric"]] = int(float(line["value"]))
    names = ("e_core", "e_send_plus_e_recv", "d_ext", "n_max")
    return tuple(
        Row(table, devices, total, Part(*(cells[name] for name in names)))
        for (table, devices, total, _), cells in found.items()
        if all(name in cells for name in names)
    )
