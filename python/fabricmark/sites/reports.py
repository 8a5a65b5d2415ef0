"""What other tools read of a check: JUnit's XML for CI servers, and ReFrame's performance log."""

import socket
from pathlib import Path
from xml.etree import ElementTree

from fabricmark import __version__
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.sites.check import BROKEN, SLOWER, SUSPECT, UNCLEAR, Row, Verdict

SUITE = "fabricmark"
# As ReFrame's filelog handler has them, one performance variable a line (`perflog_multiline`).
PERFLOG = (
    "result", "job_completion_time", "version", "name", "system", "partition", "environ", "jobid",
    "perf_var", "perf_value", "perf_ref", "perf_lower_thres", "perf_upper_thres", "perf_unit",
)  # fmt: skip


def save_junit(found: Verdict, path: Path) -> None:
    """A test case for each metric of each node, by benchmark.

    Raises FabricmarkError (2; 3: the disk is full).
    """
    root = ElementTree.Element("testsuites", name=SUITE)
    suites: dict[str, list[Row]] = {}
    for row in found.rows:
        suites.setdefault(row.series.benchmark, []).append(row)
    for benchmark, rows in suites.items():
        counts = {
            "tests": len(rows),
            "failures": sum(row.state == SLOWER for row in rows),
            "errors": sum(row.state == BROKEN for row in rows),
            "skipped": sum(row.state == UNCLEAR for row in rows),
        }
        told = {"name": benchmark, "timestamp": found.started}
        told |= {name: str(count) for name, count in counts.items()}
        suite = ElementTree.SubElement(root, "testsuite", told)
        for row in rows:
            _case(suite, row)
    ElementTree.indent(root)
    paths.write_atomically(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _case(suite: ElementTree.Element, row: Row) -> None:
    series = row.series
    name = printable(f"{series.label} on {series.node}")
    case = ElementTree.SubElement(suite, "testcase", classname=f"{SUITE}.{series.benchmark}", name=name)
    said = printable(row.reason or "slower than its baseline")
    if row.state == SLOWER:
        if row.loss is not None:
            said = f"{100 * row.loss:.1f} % slower" + (f": {said}" if row.reason else "")
        ElementTree.SubElement(case, "failure", message=said, type=row.state).text = _numbers(row)
    elif row.state == BROKEN:
        ElementTree.SubElement(case, "error", message=said, type=row.state)
    elif row.state == UNCLEAR:
        ElementTree.SubElement(case, "skipped", message=said)
    elif row.state == SUSPECT:
        ElementTree.SubElement(case, "system-out").text = f"{said}; {_numbers(row)}"


def _numbers(row: Row) -> str:
    if row.value is None or row.reference is None:
        return printable(row.reason)
    return printable(f"{row.value:.6g} {row.series.unit}, baseline {row.reference:.6g} {row.series.unit}")


def save_perflog(found: Verdict, path: Path, system: str | None = None) -> None:
    """Add a line for each value to a log, which keeps what it has: nights follow each other.

    `system`: name of the site (default: this host's). Raises FabricmarkError (2) for a file that is no such
    log; 3: the disk is full.
    """
    heading = "|".join(PERFLOG)
    before = ""
    if path.is_file():
        before = paths.content(path).decode("utf-8", "replace")
        if before and before.partition("\n")[0] != heading:
            raise FabricmarkError(f"{path}: not a log of `fabricmark check`", "name another --perflog")
    lines = [before.rstrip("\n") or heading]
    lines += [
        _line(row, found, system or socket.gethostname()) for row in found.rows if row.value is not None
    ]
    paths.write_atomically(path, "\n".join(lines) + "\n")


def _line(row: Row, found: Verdict, system: str) -> str:
    """The thresholds are the loss that is found, and the tolerance where that is larger."""
    series = row.series
    bound = None if row.found is None else max(row.found, found.settings.tolerance.get("", 0.0))
    lower = f"{-bound:.4g}" if bound is not None and series.better == "higher" else "null"
    upper = (
        f"{bound / (1 - bound):.4g}"
        if bound is not None and bound < 1 and series.better == "lower"
        else "null"
    )
    reference = "0" if row.reference is None else f"{row.reference:.6g}"
    result = "fail" if row.state in (SLOWER, BROKEN) else "pass"
    cells = (
        result, found.started, f"{SUITE} {__version__}", series.benchmark, system, series.node,
        "builtin", "-1",
        series.label.removeprefix(f"{series.benchmark} "), f"{row.value:.6g}", reference, lower, upper,
        series.unit,
    )  # fmt: skip
    return "|".join(printable(cell).replace("|", "/") for cell in cells)
