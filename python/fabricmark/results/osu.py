"""The text that the OSU Micro-Benchmarks (5 to 7) print, and programs that write as they do.

A title line, `# OSU MPI-CUDA Latency Test v7.4`, lines on placement and types, a line of headings, and a row
for each message size. Headings are known by their words, since options add some: full statistics (-f),
percentiles (-z), validation (-c), and the parts of non-blocking collectives.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabricmark.results.log_table import COMMENT, CUT, Check, Fault, Log, Value, lines, number, size

TITLE = re.compile(
    r"^#\s*OSU\s+(?:(?P<library>MPI|NCCL|RCCL|XCCL|OpenSHMEM|UPC\+*)(?=[-\s]))?"
    r"(?:-(?P<space>[A-Z]+(?:\s+MANAGED)?))?\s*(?P<what>\S.*?)(?:\s+v\.?(?P<version>\d[\w.-]*))?$"
)
PLACEMENT = re.compile(
    r"^#.*\bon\s+[A-Z]+\s+\((?P<from>\w{1,2})\)\s+and\s+.*\bon\s+[A-Z]+\s+\((?P<to>\w{1,2})\)"
    r"|^#\s*\[\s*(?P<left>[A-Z]{1,2})\s*/\s*(?P<right>[A-Z]{1,2})\s*\]"
)
PAIRS = re.compile(r"\[\s*(?P<name>pairs|window size)\s*:\s*(?P<count>\d{1,9})\s*\]")
KIND = re.compile(r"\b(?:emulated|modelled)\b")
DATATYPE = re.compile(r"^#\s*Datatype:\s*(?P<name>[\w:]+?)\.?$")
PROGRAMS = {
    "bandwidth": "bw", "bi-directional bandwidth": "bibw", "multiple bandwidth / message rate": "mbw_mr",
    "multi latency": "multi_lat", "multi-threaded latency": "latency_mt",
    "multi-process latency": "latency_mp", "broadcast": "bcast", "latency": "latency",
}  # fmt: skip
OF_TWO = ("latency", "bw", "bibw")
# Words of a heading, and what their column holds: (metric, unit, better, factor, statistic); None: no metric.
SIZE, ITERATIONS, VALIDATION, TRANSMITTED = "size", "iterations", "validation", "transmitted"
EMULATION = "emulation"  # of fm_latency: this machine's wall clock beside modelled times
TIME, RATE = ("us", "lower", 1.0), ("GB/s", "higher", 1e-3)
HEADINGS: Sequence[tuple[str, str | tuple]] = (
    (r"Size", SIZE),
    (r"Iterations", ITERATIONS),
    (r"Validation", VALIDATION),
    (r"Transmit Size", TRANSMITTED),
    (r"Emulation ?\(us\)", EMULATION),
    (r"(?:Avg )?Lat(?:ency)? ?\(us\)", ("latency", *TIME, "")),
    (r"Min Lat(?:ency)? ?\(us\)", ("latency", *TIME, "minimum")),
    (r"Max Lat(?:ency)? ?\(us\)", ("latency", *TIME, "maximum")),
    (r"P(?P<lat>\d{1,3}) Tail Lat ?\(us\)", ("latency", *TIME, "P")),
    (r"P(?P<bw>\d{1,3}) Tail BW ?\(MB/s\)", ("bandwidth", *RATE, "P")),
    (r"(?:(?:Bi-)?Bandwidth ?\(MB/s\)|MB/s)", ("bandwidth", *RATE, "")),
    (r"Messages/s", ("message_rate", "1/s", "higher", 1.0, "")),
    (r"Overall ?\(us\)", ("overall", *TIME, "")),
    (r"Compute ?\(us\)", ("compute", *TIME, "")),
    (r"(?:Coll\. )?Init ?\(us\)", ("init", *TIME, "")),
    (r"MPI_Test ?\(us\)", ("mpi_test", *TIME, "")),
    (r"MPI_Wait ?\(us\)", ("mpi_wait", *TIME, "")),
    (r"Pure Comm\. ?\(us\)", ("latency", *TIME, "")),
    (r"Min Comm\. ?\(us\)", ("latency", *TIME, "minimum")),
    (r"Max Comm\. ?\(us\)", ("latency", *TIME, "maximum")),
    (r"Overlap ?\(%\)", ("overlap", "%", "higher", 1.0, "")),
)
FIRST_WORDS = re.compile(r"^#?\s*(?:Size\b|Avg Latency|Overall ?\(us\)|MB/s|Bandwidth \(MB)")


@dataclass
class Table:
    """The rows below one line of headings."""

    headings: list[tuple[str, object]]
    data_type: str | None
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def is_title(line: str) -> bool:
    return TITLE.match(line) is not None


def program(what: str) -> str:
    """`Non-blocking All-to-All Personalized Exchange Latency Test` as `ialltoall`."""
    words = re.sub(r"\s+test$", "", what.strip().lower())
    if words in PROGRAMS:
        return PROGRAMS[words]
    words = re.sub(r"\s+latency$", "", words)
    begins = "i" if re.match(r"non-?blocking ", words) else ""
    ends = "_persistent" if "persistent" in words else ""
    words = re.sub(r"^non-?blocking |\bpersistent\b|personalized exchange", "", words).strip()
    words = PROGRAMS.get(words, re.sub(r"\W+", "_", words.replace("all-to-all", "alltoall")).strip("_"))
    return f"{begins}{words}{ends}" or "unknown"


def headings(line: str, number_of_line: int) -> list[tuple[str, object]]:
    """(words, what the column holds) of a line of headings. Raises Fault for words that are not known."""
    rest, found = line.lstrip("# \t"), []
    while rest:
        for pattern, holds in HEADINGS:
            match = re.match(rf"{pattern}(?=\s|$)", rest)
            if match:
                percent = next((one for one in match.groups() if one), "")
                if isinstance(holds, tuple) and holds[-1] == "P":
                    holds = (*holds[:-1], f"P{percent}")
                found.append((match.group(), holds))
                rest = rest[match.end() :].lstrip()
                break
        else:
            cause = f"the heading {rest[:40]!r} is not one of the OSU Micro-Benchmarks"
            raise Fault(number_of_line, cause, "leave this option out, or this file")
    return found


def parse(text: str) -> Log:
    """The run that a text holds. Raises Fault."""
    log: Log | None = None
    tables: list[Table] = []
    data_type = None
    first = 0
    for place, line in enumerate(lines(text), 1):
        title = TITLE.match(line)
        if title and log is not None:
            cause = f"a second run ({line.lstrip('# ')}) after that of line {first} ({log.writer})"
            raise Fault(place, cause, "keep each run in a file of its own")
        if title:
            first, log = place, _begun(title, line)
        elif log is None or not line.strip():
            continue
        elif FIRST_WORDS.match(line):
            tables.append(Table(headings(line, place), data_type))
        elif COMMENT.match(line):
            data_type = _comment(line, log) or data_type
        elif tables and line.lstrip()[0].isdigit():
            _row(line, place, tables[-1])
    if log is None or not any(table.rows for table in tables):
        raise Fault(first, "a title without rows: the run ended before its first", "run it again")
    _refuse_cut(tables[-1])
    return _filled(log, tables)


def _begun(title: re.Match, line: str) -> Log:
    name = program(title["what"])
    log = Log(name, line.lstrip("# ").strip(), ranks=2 if name in OF_TWO else None)
    if title["space"]:
        log.parameters["memory"] = title["space"].lower()
    return log


def _comment(line: str, log: Log) -> str | None:
    """Take what a comment says into the log; the name of a data type is handed back."""
    placement = PLACEMENT.match(line)
    if placement:
        sides = [side for side in placement.groups() if side]
        log.parameters["placement"] = " ".join(sides)
    for one in PAIRS.finditer(line):
        log.parameters[one["name"].replace(" ", "_")] = int(one["count"])
        if one["name"] == "pairs":
            log.ranks = 2 * int(one["count"])
    kind = KIND.search(line)
    log.kind = kind.group() if kind else log.kind
    data_type = DATATYPE.match(line)
    return data_type["name"].lower() if data_type else None


def _row(line: str, place: int, table: Table) -> None:
    words = line.split()
    if len(words) != len(table.headings):
        cause = f"{len(words)} values below {len(table.headings)} headings"
        raise Fault(place, cause, CUT)
    for word, (heading, holds) in zip(words, table.headings, strict=True):
        if holds == VALIDATION and word not in ("Pass", "Fail", "-"):
            raise Fault(place, f"validation {word[:20]!r} is neither Pass nor Fail", CUT)
        if holds == SIZE:
            size(word, place)
        elif holds != VALIDATION:
            number(word, place, heading)
    table.rows.append((place, words))


def _refuse_cut(table: Table) -> None:
    """A last number with fewer decimals than those above it was cut off: they all have as many."""
    place, words = table.rows[-1] if table.rows else (0, [""])
    decimals = len(words[-1].partition(".")[2])
    if isinstance(table.headings[-1][1], tuple) and decimals < 2:
        raise Fault(place, f"the value {words[-1]!r} is cut off: it has {decimals} of 2 decimals", CUT)


def _filled(log: Log, tables: Sequence[Table]) -> Log:
    """The log with the values of all tables. Raises Fault where one stands twice."""
    types = {table.data_type for table in tables if table.data_type}
    if len(types) == 1:
        log.parameters["data_type"] = types.pop()
        types = set()
    verdicts: list[str] = []
    for table in tables:
        more = {"data_type": table.data_type} if types and table.data_type else {}
        for place, words in table.rows:
            for value in _values(table.headings, words, more):
                log.add(value, place)
            verdicts += [
                word
                for word, (_, holds) in zip(words, table.headings, strict=True)
                if holds == VALIDATION and word != "-"
            ]
    if verdicts:
        log.check = Check(verdicts.count("Fail"), len(verdicts), "sizes whose validation failed")
    return log


def _values(known: Sequence[tuple[str, object]], words: Sequence[str], more: Mapping) -> Iterator[Value]:
    """The metrics of one row."""
    axes = dict(more)
    for word, (_, holds) in zip(words, known, strict=True):
        if holds == SIZE:
            axes["message_bytes"] = int(word)
    for word, (_, holds) in zip(words, known, strict=True):
        if isinstance(holds, tuple):
            name, unit, better, factor, statistic = holds
            where = {**axes, "statistic": statistic} if statistic else axes
            yield Value(name, where, unit, better, float(word) * factor)
