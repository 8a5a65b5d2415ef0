"""Rows of Meyer 2024, Tables A.1 and A.2: what partitions have, where a file with them is."""

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.models import _shallow_water_device as device
from fabricmark.models._mesh_parts import Part

FILES = (
    REPOSITORY / "data" / "published" / "meyer_2024_shallow_water.csv",
    REPOSITORY.parent / "shared" / "data" / "published_more" / "shallow_water.csv",
)
CELL = re.compile(r"s000-(A[12])-\d+-\d+-\w+")
LOCAL = {"accl-tcp": 4096}  # elements that fit, else 8192


@dataclass(frozen=True)
class Row:
    """One row: weak (A1) or strong (A2) scaling of a mesh of `elements` on so many devices."""

    table: str
    devices: int
    elements: int
    part: Part

    def fits(self, transport):
        return self.part.elements <= LOCAL.get(transport, 8192)

    @property
    def mesh(self):
        one = self.part
        return f"parts:{one.core},{one.border},{one.outer},{one.neighbours}"


@cache
def rows():
    """All complete rows; none where there is no file."""
    file = next((one for one in FILES if one.is_file()), None)
    if file is None:
        return ()
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


def way_of(transport):
    """What an exchange takes on Noctua 2."""
    system = systems.load("noctua2", board="u280_hbm")
    bitstream = system.bitstream("shallow_water", transport)
    return device.way_of(system.board_with(bitstream, 1), system.networks[transport])
