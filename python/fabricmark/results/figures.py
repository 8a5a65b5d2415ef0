"""Figures that texts print of runs of foreign benchmarks: data/published/contini_2024.csv."""

import re
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base.errors import FabricmarkError
from fabricmark.results import published

FILE = "contini_2024.csv"
AUTHORS = "Contini et al. 2024"
PREFIX = "osu_"  # of the programs, which ours are called after
COLUMNS = (
    "id", "section", "system", "board", "program", "transport", "devices", "nodes", "conditions", "metric",
    "relation", "value", "unit", "kind", "role", "note",
)  # fmt: skip
WORDS = {
    "relation": ("=", "~", "<", "<=", ">", ">="),
    "unit": ("1", "%", "B", "GB", "GB/s", "Gbit/s", "GHz"),
    "kind": ("measured", "estimated", "nominal"),
    "role": ("input", "test", "context"),
}
BYTES = re.compile(r"\bmessage_bytes=(\d+)")
WHERE = {"intranode": "in a node", "internode": "between nodes"}


@dataclass(frozen=True)
class Figure:
    """One row; `conditions` are texts such as placement=internode. Columns as data/published/README.md."""

    id: str
    section: str
    board: str
    program: str
    nodes: str
    conditions: str
    metric: str
    relation: str
    value: float
    unit: str
    kind: str
    note: str

    @property
    def message_bytes(self) -> int | None:
        """None where the text names no size, or says large."""
        found = BYTES.search(self.conditions)
        return int(found[1]) if found else None

    @property
    def where(self) -> str:
        """`u280 between nodes`, or `host memory in a node`."""
        places = [words for name, words in WHERE.items() if f"placement={name}" in self.conditions]
        return " ".join([self.board or "host memory", *places])


def load(path: Path | None = None) -> list[Figure]:
    """All rows. Raises FabricmarkError (2) with line and remedy, (3) outside of a repository."""
    path = published.folder() / FILE if path is None else path
    return [_figure(place, row) for place, row in published.rows(path, COLUMNS)]


def _figure(place: str, row: dict) -> Figure:
    published.check(place, row, WORDS, ("id", "section", "metric"))
    kept = {name: row[name] for name in Figure.__dataclass_fields__}
    return Figure(**{**kept, "value": published.number(place, row["value"])})


@dataclass(frozen=True)
class Point:
    """A figure beside a curve over the size: where the text names none, at the longest of its curves."""

    name: str
    message_bytes: int
    value: float
    said: str


def points(benchmark: str, metric: str, unit: str) -> list[Point]:
    """Measured figures of a program and metric, in `unit`; none outside of a repository.

    Raises FabricmarkError (2) for a damaged file.
    """
    try:
        path = published.folder() / FILE
    except FabricmarkError:
        return []  # an installed program has none
    every = load(path) if path.is_file() else []
    longest = max((int(one.value) for one in every if one.metric == "message_bytes_to"), default=None)
    found = []
    for one in every:
        if (one.program, one.metric, one.unit, one.kind) != (PREFIX + benchmark, metric, unit, "measured"):
            continue
        place = one.message_bytes or longest
        if place is None:
            continue
        about = "about " if one.relation == "~" else ""
        sized = "" if one.message_bytes else "; no size is named: drawn at the longest"
        said = f"{one.where}: {about}{one.value:g} {unit}, {AUTHORS}, section {one.section}{sized}"
        found.append(Point(f"{one.where}, {AUTHORS}", place, one.value, said))
    return found
