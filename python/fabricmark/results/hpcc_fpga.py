"""The text that the programs of HPCC FPGA print: settings, then a table with the best of the repetitions.

Older versions have the units in the headings (`Best Rate MB/s`), newer ones behind each number
(`4.75583e+04 MB/s`).
"""

import re
from collections.abc import Callable, Sequence

from fabricmark.results.log_table import CUT, Check, Fault, Log, Value, lines, number

TITLE = re.compile(r"^\s*Implementation of the (?P<what>.+?) benchmark proposed in the HPCC benchmark")
VERSION = re.compile(r"^\s*Version:\s*(?P<version>\S+)")
SETTING = re.compile(r"^\s*(?P<name>[A-Z#][\w#. ]*?)\s{2,}(?P<value>\S.*?)\s*$")
UNIT = re.compile(r"^[A-Za-z%]+(?:/s)?$")
SUCCESS, FAILURE = "Validation: SUCCESS!", "VALIDATION OF OUTPUT DATA FAILED"
RATE, FLOPS = ("bandwidth", "GB/s"), ("performance", "GFLOP/s")
PER_UNIT = {"MB/s": 1e-3, "GB/s": 1.0, "GFLOP/s": 1.0, "GUOP/s": 1.0, "s": 1.0}
NOT_SETTINGS = ("kernel_file", "device", "mpi_ranks")
Reader = Callable[[Log, str, list[str], int], None]


def is_title(line: str) -> bool:
    return TITLE.match(line) is not None


def parse(text: str) -> Log:
    """The run that a text holds. Raises Fault."""
    log: Log | None = None
    reader: Reader | None = None
    first, what = 0, ""
    is_summary = False
    for place, line in enumerate(lines(text), 1):
        if title := TITLE.match(line):
            if log is not None:
                cause = f"a second run after that of line {first}"
                raise Fault(place, cause, "keep each run in a file of its own")
            first, what, log = place, title["what"], Log("hpcc_fpga", f"HPCC FPGA {title['what']}")
        elif log is None or not line.strip():
            is_summary = is_summary and log is None
        elif version := VERSION.match(line):
            log.writer += f" {version['version']}"
        elif line.strip() == "Summary:":
            is_summary = True
        elif is_summary and (setting := SETTING.match(line)):
            _set(log, setting["name"], setting["value"])
        elif found := _table(line):
            reader = found
        elif SUCCESS in line or FAILURE in line:
            log.check = Check(int(FAILURE in line), 1, "runs whose output was wrong")
        elif reader is not None:
            reader(log, what, line.split(), place)
    if log is None or not log.values:
        raise Fault(first, "no table of results that is known: the run ended before it", "run it again")
    return log


def _set(log: Log, name: str, value: str) -> None:
    """A line of the settings, as a parameter; device and ranks stand elsewhere."""
    key = re.sub(r"\W+", "_", name.lower()).strip("_")
    if key == "device":
        log.devices.append(value)
    elif key == "mpi_ranks":
        log.ranks = int(value) if value.isascii() and value.isdigit() and len(value) < 8 else 1
    elif key not in NOT_SETTINGS:
        plain = re.sub(r"\s*\(.*Byte\s*\)$", "", value)
        log.parameters[key] = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 16 else plain


def _table(line: str) -> Reader | None:
    """Who reads the rows below a line of headings; None for any other line."""
    words = " ".join(line.split())
    if re.match(r"Function Best Rate", words):
        return _by_name(RATE, 1, "MB/s")
    if words == "Method best mean GFLOPS":
        return _by_name(FLOPS, 3, "GFLOP/s")
    if words == "best mean GFLOPS":
        return _alone(FLOPS)
    if words == "best mean GUOPS":
        return _alone(("updates", "GUOP/s"))
    if words.startswith("total time transfer time calc time calc FLOPS"):
        return _transposed
    return _best_of_two if words == "avg best" else None


def _by_name(metric: tuple[str, str], column: int, unit: str) -> Reader:
    """Rows `NAME number...`, of which one column counts."""

    def read(log: Log, what: str, words: list[str], place: int) -> None:
        if len(words) < 4 or not re.fullmatch(r"[A-Za-z]\w*", words[0]):
            return
        values = numbers(words[1:], place)
        if len(values) < column:
            raise Fault(place, f"{len(values)} numbers below {column} headings", CUT)
        _add(log, what, metric, values[column - 1], unit, place, operation=words[0])

    return read


def _alone(metric: tuple[str, str]) -> Reader:
    """One row of best time, mean time and rate."""

    def read(log: Log, what: str, words: list[str], place: int) -> None:
        if not re.match(r"\d", words[0]) or log.values:
            return
        values = numbers(words, place)
        if len(values) != 3:
            raise Fault(place, f"{len(values)} numbers below 3 headings", CUT)
        _add(log, what, metric, values[2], metric[1], place)

    return read


def _best_of_two(log: Log, what: str, words: list[str], place: int) -> None:
    """`GFLOPS: average best`."""
    if words[0] == "GFLOPS:":
        values = numbers(words[1:], place)
        if len(values) != 2:
            raise Fault(place, f"{len(values)} numbers below 2 headings", CUT)
        _add(log, what, FLOPS, values[1], FLOPS[1], place)


def _transposed(log: Log, what: str, words: list[str], place: int) -> None:
    """`best: total, transfer and calculation time, FLOPS, rates of memory and link`; with units only."""
    if words[0] != "best:":
        return
    values = numbers(words[1:], place)
    if len(values) != 6 or not values[3][1]:
        raise Fault(place, "six numbers with units are needed", "use HPCC FPGA from version 0.6 on")
    _add(log, what, FLOPS, values[3], "", place, operation="calculation")
    for value, operation in zip(values[4:], ("memory", "link"), strict=True):
        _add(log, what, RATE, value, "", place, operation=operation)


def numbers(words: Sequence[str], place: int) -> list[tuple[float, str]]:
    """(number, unit behind it or "") of a row. Raises Fault."""
    found: list[tuple[float, str]] = []
    for word in words:
        if UNIT.match(word) and found and not found[-1][1]:
            found[-1] = (found[-1][0], word)
        else:
            found.append((number(word, place, "value"), ""))
    return found


def _add(
    log: Log, what: str, metric: tuple[str, str], value: tuple[float, str], unit: str, place: int, **axes: str
) -> None:
    factor = PER_UNIT.get(value[1] or unit)
    if factor is None:
        raise Fault(place, f"the unit {value[1]!r} is not known", CUT)
    if value[0] > 0:
        log.add(Value(metric[0], {"test": what, **axes}, metric[1], "higher", value[0] * factor), place)
