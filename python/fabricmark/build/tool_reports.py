"""What the vendors' tools say of a design that they have made: clock, resources, intervals of loops, time.

Each kind of report is known by its content. What was measured after placing and routing goes before what was
estimated; a file that is cut short or damaged ends in one line.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError

MOST_BYTES = 256 * 2**20  # a report of a large design has some MB
RESOURCES = ("logic", "registers", "bram", "uram", "dsps")  # as sidecars name them
# What a text that is not whole does to code that reads it.
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
COUNT = re.compile(r"[0-9]{1,12}|[0-9]{1,3}(?:,[0-9]{3}){1,3}")
LARGEST = 10**9  # of a count in a report: no chip has as many of anything


@dataclass(frozen=True)
class Loop:
    """A loop of a kernel. `interval`: cycles between two of its iterations; None where it is not pipelined or
    the tool does not say it. `wanted`: what was asked for."""

    kernel: str
    name: str
    interval: int | None
    wanted: int | None = None


@dataclass(frozen=True)
class Report:
    """What one file says. `kind`: which report it is. `clock_hz`: that the design runs at; `asked_hz`: that
    was asked for; `estimated_hz`: by kernel, before placing and routing. `resources`: of the whole chip
    when it was fitted, `available` what it has; `estimated`: by kernel, in the tool's own kinds. `seconds`:
    that the tools took."""

    kind: str
    tools: str = ""
    shell: str = ""
    clock_hz: float = 0
    asked_hz: float = 0
    resources: Mapping[str, int] = field(default_factory=dict)
    available: Mapping[str, int] = field(default_factory=dict)
    estimated_hz: Mapping[str, float] = field(default_factory=dict)
    estimated: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    loops: Sequence[Loop] = ()
    seconds: float = 0


# A parser: which text it knows, by a part of it, and what it makes of one. The name of the file without its
# ending stands for a kernel's where the text has none. ValueError and KeyError are for what is not whole.
Parser = tuple[Callable[[str], bool], Callable[[str, str], Report]]


def read(path: Path, parsers: Iterable[Parser]) -> Report:
    """One report. Raises FabricmarkError (2) for one that is damaged or of no known kind."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FabricmarkError(f"{path}: too long for a report", "name a file that a tool wrote")
        text = paths.content(path).decode("utf-8", "replace")
    except (OSError, ValueError) as error:  # ValueError: a zero byte in its name
        why = getattr(error, "strerror", None) or error
        raise FabricmarkError(f"{path}: cannot be read: {why}", "name a report of v++ or aoc") from error
    for knows, parse in parsers:
        if not knows(text):
            continue
        try:
            return _checked(parse(text, path.name.removesuffix("_csynth.rpt").removesuffix(".rpt")))
        except DAMAGED as error:
            cause = f"{path}: not a whole report: {_why(error)}"
            raise FabricmarkError(cause, "copy it again from where the tool wrote it") from error
    raise FabricmarkError(f"{path}: no report that is known", "see `fabricmark bitstreams import --help`")


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, LookupError):
        return f"{error.args[0] if error.args else 'something'} is missing"
    return str(error) or type(error).__name__


def _checked(report: Report) -> Report:
    counts = [*report.resources.values(), *report.available.values()]
    counts += [count for one in report.estimated.values() for count in one.values()]
    if any(not 0 <= count < LARGEST for count in counts):
        raise ValueError("a count that no chip has")
    clocks = [report.clock_hz, *report.estimated_hz.values()]
    if any(not 0 <= clock < 1e10 for clock in clocks) or not 0 <= report.seconds < 1e8:
        raise ValueError("a clock or a time that no tool gives")
    if any(one.interval is not None and not 0 < one.interval < LARGEST for one in report.loops):
        raise ValueError("an interval that no loop has")
    return report


def merged(reports: Sequence[Report]) -> Report:
    """All of them as one: of clocks, resources and names the first that says one; times are added up."""

    def first(name: str) -> object:
        return next((found for one in reports if (found := getattr(one, name))), getattr(Report(""), name))

    estimated: dict[str, dict[str, int]] = {}
    estimated_hz: dict[str, float] = {}
    loops: dict[tuple[str, str, int], Loop] = {}
    for one in reports:
        for kernel, counts in one.estimated.items():
            estimated.setdefault(kernel, {}).update(counts)
        estimated_hz = {**one.estimated_hz, **estimated_hz}
        seen: Counter[tuple[str, str]] = Counter()  # loops of one name in a kernel are several
        for loop in one.loops:
            seen[loop.kernel, loop.name] += 1
            loops.setdefault((loop.kernel, loop.name, seen[loop.kernel, loop.name]), loop)
    fields = {
        name: first(name) for name in ("tools", "shell", "clock_hz", "asked_hz", "resources", "available")
    }
    return Report(
        ", ".join(dict.fromkeys(one.kind for one in reports)),
        estimated=estimated,
        estimated_hz=estimated_hz,
        loops=tuple(loops.values()),
        seconds=sum(one.seconds for one in reports),
        **fields,  # type: ignore[arg-type]
    )


def count(text: str) -> int:
    """A number of a report, as `82,696` or `2424`. Raises ValueError for another word."""
    if not COUNT.fullmatch(text.strip()):
        raise ValueError(f"{text.strip()[:40]!r} is no count")
    return int(text.strip().replace(",", ""))


def document(text: str) -> dict:
    """A report in JSON. Raises ValueError where it is none, or no object."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no object of JSON")
    return found
