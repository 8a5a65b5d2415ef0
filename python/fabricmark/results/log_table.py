"""What the text output of another benchmark says: a table, and what its headings tell of the run."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricmark.base.errors import FabricmarkError

LONGEST_NUMBER = 24  # digits and a point; what is longer is no measured value
TAG = re.compile(r"^\[\d+(?:,\d+)?\](?:<(?:stdout|stderr)>)?:\s?")  # mpirun --tag-output
COMMENT = re.compile(r"^\s*#")


class Fault(Exception):
    """Why a text is not taken: `line` from 1, 0 for the text as a whole."""

    def __init__(self, line: int, cause: str, remedy: str) -> None:
        super().__init__(cause)
        self.line, self.cause, self.remedy = line, cause, remedy

    def of(self, file: object) -> FabricmarkError:
        """The same as an error (2) about a file."""
        place = f"{file} line {self.line}" if self.line else f"{file}"
        return FabricmarkError(f"{place}: {self.cause}", self.remedy)


@dataclass(frozen=True)
class Value:
    """One number of the table, already in `unit`."""

    name: str
    axes: Mapping[str, object]
    unit: str
    better: str
    value: float


@dataclass(frozen=True)
class Check:
    """What the program said of its results: sizes that were wrong, of how many checked."""

    wrong: int
    checked: int
    measure: str


@dataclass
class Log:
    """One run. `program`: without its prefix, as our own program of this kind is called, where sizes mean the
    same. `writer`: its first line. `ranks`: None where the text does not say. `complete`: False where the end
    that the program always writes is missing. `kind`: emulated or modelled where a comment says so, as
    those of our own programs do."""

    program: str
    writer: str
    values: list[Value] = field(default_factory=list)
    _lines: dict[tuple, int] = field(default_factory=dict)  # of the values
    parameters: dict[str, object] = field(default_factory=dict)
    ranks: int | None = None
    hosts: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    check: Check | None = None
    complete: bool = True
    kind: str = "measured"
    notes: list[str] = field(default_factory=list)

    def add(self, value: Value, line: int) -> None:
        """Raises Fault for one that an earlier line has, too."""
        before = self._lines.setdefault((value.name, *value.axes.items()), line)
        if before != line:
            cause = f"a size that line {before} has, too: two runs in one file"
            raise Fault(line, cause, "keep each run in a file of its own")
        self.values.append(value)


def lines(text: str) -> list[str]:
    """Without line ends and what launchers put before each line."""
    return [TAG.sub("", line).rstrip() for line in text.splitlines()]


def number(text: str, line: int, what: str) -> float:
    """A number from 0 on. Raises Fault."""
    try:
        value = float(text) if len(text) <= LONGEST_NUMBER and text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise Fault(line, f"{what} {text[:LONGEST_NUMBER]!r} is no number from 0 on", CUT)
    return value


def size(text: str, line: int) -> int:
    """A message size [B]. Raises Fault."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Fault(line, f"message size {text[:LONGEST_NUMBER]!r} is no whole number", CUT)
    return int(text)


CUT = "give the program's whole output, or take the broken line out"
