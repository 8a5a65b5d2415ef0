"""Values that others published, in data/published: what the models are tested against."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark import models
from fabricmark.base import cells, paths, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _published

HPCC_FPGA = "hpcc_fpga_2021.csv"
DISSERTATION = "meyer_2024.csv"
WORDS = {
    "benchmark": _published.names(),
    "transport": transports.NAMES,
    "role": ("calibration", "test"),
    "scaling": ("", "strong"),
    "unit": ("B/s", "MB/s", "GB/s", "GFLOP/s", "TFLOP/s", "MUOP/s", "GUOP/s", "s", "us"),
}
MUST_HAVE = ("system", "board", "metric", "source")
COUNTS = ("matrix_width_printed", "block", "replications", "message_bytes")
PRINTED_WORDS = {
    "benchmark": WORDS["benchmark"],
    "transport": WORDS["transport"],
    "dtype": ("", "half", "float", "double", "integer"),
    "unit": (
        "GB/s", "GFLOP/s", "TFLOP/s", "GUOP/s", "MUOP/s", "us", "W", "GB/(W s)", "GFLOP/(W s)", "%", "1",
    ),
}  # fmt: skip
RESTORE = "restore the file from the repository"


@dataclass(frozen=True)
class PublishedValue:
    """One published value, in `unit`; columns as data/published/README.md tells them, None where empty."""

    benchmark: str
    system: str
    board: str
    transport: str
    devices: int
    nodes: int
    role: str
    matrix_width_printed: int | None
    scaling: str
    block: int | None
    replications: int | None
    dtype: str
    metric: str
    message_bytes: int | None
    value: float
    unit: str
    source: str

    @property
    def matrix_width(self) -> int:
        """n of the matrix over all devices. Raises ValueError for a benchmark that has none."""
        if self.matrix_width_printed is None or not models.traits(self.benchmark).on_grid:
            raise ValueError(f"a value of {self.benchmark} has no matrix over all devices")
        return _published.of(self.benchmark).size(self, {})["size"]


@dataclass(frozen=True)
class Printed:
    """One value of a table of Meyer 2024, in `unit`, as data/published/README.md tells the columns.

    `size`: elements of one array (stream), words of the table (random_access) or width of the whole matrix,
    where the text says it. `system`: empty for a board alone.
    """

    table: str
    benchmark: str
    board: str
    system: str
    transport: str
    devices: int
    nodes: int | None
    size: int | None
    dtype: str
    metric: str
    value: float
    unit: str
    section: str


COLUMNS = cells.columns(PublishedValue)
PRINTED_COLUMNS = cells.columns(Printed)


def folder() -> Path:
    """data/published of the repository. Raises FabricmarkError (3) outside of one."""
    return paths.root() / "data" / "published"


def load(path: Path | None = None) -> list[PublishedValue]:
    """All values of a file, by default of HPCC FPGA's. Raises FabricmarkError (2) with line and remedy."""
    path = folder() / HPCC_FPGA if path is None else path
    return [_published_value(place, row) for place, row in rows(path, COLUMNS)]


def numbered(path: Path) -> list[tuple[int, PublishedValue]]:
    """(line, value) of a file like HPCC FPGA's. Raises FabricmarkError (2) with line and remedy."""
    return [
        (int(place.rpartition(" ")[2]), _published_value(place, row)) for place, row in rows(path, COLUMNS)
    ]


def printed(path: Path | None = None) -> list[Printed]:
    """All values of the dissertation's tables. Raises FabricmarkError (2) with line and remedy."""
    path = folder() / DISSERTATION if path is None else path
    return [_printed(place, row) for place, row in rows(path, PRINTED_COLUMNS)]


def rows(path: Path, columns: Sequence[str]) -> list[tuple[str, dict]]:
    """(file and line, values by column) of each row. Raises FabricmarkError (2) where it is no such file."""
    try:
        text = paths.content(path).decode("utf-8")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        if tuple(reader.fieldnames or ()) != tuple(columns):
            remedy = f"name them {','.join(columns)}"
            raise FabricmarkError(f"{path} line 1: the columns are not the known ones", remedy)
        return [(f"{path} line {reader.line_num}", row) for row in reader]
    except OSError as error:
        raise FabricmarkError(f"{path}: cannot be read: {error.strerror}", RESTORE) from error
    except (UnicodeError, csv.Error) as error:
        raise FabricmarkError(f"{path}: not CSV in UTF-8: {error}", RESTORE) from error


def check(place: str, row: Mapping, words: Mapping[str, Sequence[str]], filled: Sequence[str]) -> None:
    """Raises FabricmarkError (2) for missing values, words that are not known, and columns left empty."""
    if None in row or None in row.values():
        count = len([column for column in row if column is not None])
        raise FabricmarkError(f"{place}: not {count} values", "put commas between them, none inside")
    for column, known in words.items():
        if row[column] not in known:
            cause = f"{place}: {column} {row[column]!r} is unknown"
            raise FabricmarkError(cause, f"use one of {', '.join(word or 'nothing' for word in known)}")
    for column in filled:
        if not row[column]:
            raise FabricmarkError(f"{place}: {column} is empty", "say where the value is from")


def _published_value(place: str, row: Mapping) -> PublishedValue:
    """The value of one row. Raises FabricmarkError (2) naming the column."""
    check(place, row, WORDS, MUST_HAVE)
    counts = {column: _count(place, column, row[column], False) for column in ("devices", "nodes")}
    counts |= {column: _count(place, column, row[column], True) for column in COUNTS}
    return PublishedValue(**{**row, **counts, "value": number(place, row["value"])})


def _printed(place: str, row: Mapping) -> Printed:
    """The same for a row of the dissertation's tables."""
    check(place, row, PRINTED_WORDS, ("table", "board", "metric", "section"))
    counts = {column: _count(place, column, row[column], True) for column in ("nodes", "size")}
    devices = _count(place, "devices", row["devices"], False)
    return Printed(**{**row, **counts, "devices": devices, "value": number(place, row["value"])})


def _count(place: str, column: str, text: str, may_be_empty: bool) -> int | None:
    if not text and may_be_empty:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) > 0):
        raise FabricmarkError(f"{place}: {column} {text!r} is no positive whole number", "correct it")
    return int(text)


def number(place: str, text: str) -> float:
    """A value above 0. Raises FabricmarkError (2)."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise FabricmarkError(f"{place}: value {text!r} is no positive number", "correct it")
    return value
