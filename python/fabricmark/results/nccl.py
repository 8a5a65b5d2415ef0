"""The text that nccl-tests (and rccl-tests) print: a row for each size, out of place and in place."""

import re
from collections.abc import Iterator

from fabricmark.results.log_table import COMMENT, CUT, Check, Fault, Log, Value, lines, number, size

HEADING = re.compile(r"^#?\s*size\s+count\s+type\b.*\btime\s+algbw\s+busbw\b")
RANK = re.compile(
    r"^#\s*Rank\s+(?P<rank>\d{1,7})\b.*?\bon\s+(?P<host>\S+)\s+device\s+\d+\s+\[[^\]]*\]\s+(?P<device>\S.*)$"
)
NAME = re.compile(r"\b(?P<name>(?:all_reduce|all_gather|alltoall|broadcast|gather|hypercube|reduce|"
                  r"reduce_scatter|scatter|sendrecv)_perf)")  # fmt: skip
BOUNDS = re.compile(r"^#\s*Out of bounds values\s*:\s*(?P<count>\d{1,12})\s+(?P<word>OK|FAILED)")
AVERAGE = re.compile(r"^#\s*Avg bus bandwidth\s*:")
# Where a size means what it does in the OSU Micro-Benchmarks, the same name; elsewhere it counts other bytes.
PROGRAMS = {"all_reduce_perf": "allreduce", "broadcast_perf": "bcast", "reduce_perf": "reduce"}
PLACES = ("out of place", "in place")
METRICS = {
    "time": ("latency", "us", "lower"),
    "algbw": ("bandwidth", "GB/s", "higher"),
    "busbw": ("bus_bandwidth", "GB/s", "higher"),
}
KEYS = ("data_type", "reduction", "root")
NOTHING = "N/A"


def is_heading(line: str) -> bool:
    return HEADING.match(line) is not None


def parse(text: str, file_name: str) -> Log:
    """The run that a text holds. Its program is named in newer versions' texts, else by the file's name.

    Raises Fault.
    """
    found = lines(text)
    columns: list[str] = []
    rows: list[tuple[int, list[str], list[str]]] = []
    first = 0
    ends: list[str] = []
    for place, line in enumerate(found, 1):
        if is_heading(line):
            if columns:
                raise Fault(place, f"a second table after that of line {first}", "keep each run in its file")
            first, words = place, line.lstrip("# \t").split()
            columns = words[words.index("time") :]
        elif columns and not COMMENT.match(line) and line.strip() and line.lstrip()[0].isdigit():
            rows.append(_row(line, place, columns))
        elif columns and (BOUNDS.match(line) or AVERAGE.match(line)):
            ends.append(line)
    if not rows:
        raise Fault(first, "headings without rows: the run ended before its first", "run it again")
    name = _name(found, file_name)
    log = Log(PROGRAMS.get(name, name), f"nccl-tests {name}")
    _machine(found, log)
    _fill(log, rows, columns)
    log.check = _check(rows, columns, ends)
    log.complete = any(AVERAGE.match(line) for line in ends)
    if not log.complete:
        log.notes.append("the line on the average bus bandwidth is missing: the run was cut off")
    return log


def _name(found: list[str], file_name: str) -> str:
    names = {one["name"] for line in found for one in NAME.finditer(line)}
    names = names or {one["name"] for one in NAME.finditer(file_name)}
    if len(names) == 1:
        return names.pop()
    which = f"several programs are named: {', '.join(sorted(names))}" if names else "no program is named"
    raise Fault(0, f"{which} in this output of nccl-tests", "name the file after it: all_reduce_perf.log")


def _machine(found: list[str], log: Log) -> None:
    """Ranks, hosts and devices, where they are listed."""
    ranks = [match for match in map(RANK.match, found) if match]
    log.ranks = len({match["rank"] for match in ranks}) or None
    log.hosts = list(dict.fromkeys(match["host"] for match in ranks))
    log.devices = list(dict.fromkeys(match["device"].strip() for match in ranks))


def _row(line: str, place: int, columns: list[str]) -> tuple[int, list[str], list[str]]:
    """(line, [size, count, type, ...], the values below `columns`). Raises Fault."""
    words = line.split()
    keys, values = words[: -len(columns)], words[-len(columns) :]
    if not 3 <= len(keys) <= 5 or len(values) != len(columns):
        raise Fault(place, f"{len(words)} values below {len(columns) + 5} headings", CUT)
    size(keys[0], place)
    for name, word in zip(columns, values, strict=True):
        if word != NOTHING:
            number(word, place, name)
    return place, keys, values


def _fill(log: Log, rows: list[tuple[int, list[str], list[str]]], columns: list[str]) -> None:
    """The values of all rows; what is alike in all of them is a parameter. Raises Fault."""
    held = [dict(zip(KEYS, keys[2:], strict=False)) for _, keys, _ in rows]
    for name in KEYS:
        alike = {one.get(name) for one in held}
        if len(alike) == 1 and None not in alike:
            log.parameters[name] = alike.pop()
            for one in held:
                del one[name]
    for (place, keys, values), more in zip(rows, held, strict=True):
        if int(keys[0]) == 0:
            continue  # moves nothing, and is printed several times
        for value in _values({"message_bytes": int(keys[0]), **more}, values, columns):
            log.add(value, place)
    if not log.values:
        raise Fault(rows[0][0], "no row has a value above 0", "run it with larger sizes")


def _values(axes: dict[str, object], values: list[str], columns: list[str]) -> Iterator[Value]:
    for place, (name, word) in enumerate(zip(columns, values, strict=True)):
        if name in METRICS and word != NOTHING and float(word) > 0:  # 0.00 GB/s is a rounded rate
            buffers = PLACES[min(columns[: place + 1].count(name), 2) - 1]
            metric, unit, better = METRICS[name]
            yield Value(metric, {**axes, "buffers": buffers}, unit, better, float(word))


def _check(rows: list[tuple[int, list[str], list[str]]], columns: list[str], ends: list[str]) -> Check | None:
    """What the program found wrong: by row where it counts values, else as its last lines say."""
    if "#wrong" in columns:
        words = [
            word
            for _, _, values in rows
            for name, word in zip(columns, values, strict=True)
            if name == "#wrong" and word != NOTHING
        ]
        wrong = sum(float(word) > 0 for word in words)
        return Check(wrong, len(words), "operations with wrong values") if words else None
    told = [match for match in map(BOUNDS.match, ends) if match]
    if "error" not in columns or not told:
        return None
    wrong = sum(int(match["count"]) or match["word"] == "FAILED" for match in told)
    return Check(wrong, len(rows), "values out of bounds")
