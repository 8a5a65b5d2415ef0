"""The summary that HPC Challenge writes at the end of hpccoutf.txt: a line `NAME=number` for each result."""

import re
from collections.abc import Mapping, Sequence

from fabricmark.results.log_table import CUT, Check, Fault, Log, Value, lines, number

TITLE = re.compile(r"^(?:This is the DARPA/DOE )?HPC Challenge Benchmark version\b")
BEGIN = re.compile(r"^Begin of Summary section\.")
END = re.compile(r"^End of Summary section\.")
LINE = re.compile(r"^(?P<name>\w+)=(?P<value>\S+)$")
# Names of results, and what they are: (metric, unit, better, factor). `test` and `operation` become axes.
TIME, RATE, FLOPS = ("latency", "us", "lower", 1.0), ("bandwidth", "GB/s", "higher", 1.0), "performance"
RESULTS: Sequence[tuple[str, tuple[str, str, str, float]]] = (
    (r"(?P<test>HPL)_Tflops", (FLOPS, "GFLOP/s", "higher", 1e3)),
    (r"(?P<test>(?:Star|Single|MPI)(?:DGEMM|FFT))_Gflops", (FLOPS, "GFLOP/s", "higher", 1.0)),
    (r"(?P<test>PTRANS)_GBs", RATE),
    (r"(?P<test>\w+RandomAccess(?:_LCG)?)_GUPs", ("updates", "GUOP/s", "higher", 1.0)),
    (r"(?P<test>(?:Star|Single)STREAM)_(?P<operation>\w+)", RATE),
    (r"(?P<test>\w+)Bandwidth_GBytes", RATE),
    (r"(?P<test>\w+)Latency_usec", TIME),
)
# What a run was asked for; names as they stand.
PARAMETERS = (
    "HPL_N", "HPL_NB", "HPL_nprow", "HPL_npcol", "PTRANS_n", "PTRANS_nb", "DGEMM_N", "FFT_N", "MPIFFT_N",
    "STREAM_VectorSize", "STREAM_Threads", "RandomAccess_N", "MPIRandomAccess_N",
)  # fmt: skip


def is_title(line: str) -> bool:
    return bool(TITLE.match(line) or BEGIN.match(line))


def parse(text: str) -> Log:
    """The run that a text holds. Raises Fault."""
    found: dict[str, tuple[str, int]] = {}
    first = last = 0
    for place, line in enumerate(lines(text), 1):
        if BEGIN.match(line):
            if first:
                cause = f"a second summary after that of line {first}: the program adds to its file"
                raise Fault(place, cause, "keep each run in a file of its own")
            first = place
        elif first and not last and END.match(line):
            last = place
        elif first and not last and (entry := LINE.match(line)):
            found[entry["name"]] = (entry["value"], place)
    if not last:
        cause = "the summary has no end" if first else "no summary: the run ended before it"
        raise Fault(first, cause, CUT)
    version = ".".join(
        found[name][0] for name in ("VersionMajor", "VersionMinor", "VersionMicro") if name in found
    )
    version += found.get("VersionRelease", ("", 0))[0]
    log = Log("hpcc", f"HPC Challenge {version}".strip())
    _fill(log, found)
    if not log.values:
        raise Fault(first, "the summary has no result above 0", "run a test of the program")
    return log


def _fill(log: Log, found: Mapping[str, tuple[str, int]]) -> None:
    """Results, parameters, ranks and the program's own check. Raises Fault."""
    for name, (value, place) in found.items():
        for pattern, (metric, unit, better, factor) in RESULTS:
            match = re.fullmatch(pattern, name)
            if match and not value.startswith("-"):  # -1: this test did not run
                rate = number(value, place, name) * factor
                if rate > 0:
                    log.add(Value(metric, match.groupdict(), unit, better, rate), place)
                break
    log.parameters |= {name: _plain(found[name][0]) for name in PARAMETERS if name in found}
    if "CommWorldProcs" in found:
        log.ranks = int(number(*found["CommWorldProcs"], "CommWorldProcs")) or None
    if "Success" in found:
        log.check = Check(int(found["Success"][0] != "1"), 1, "runs in which a test failed")


def _plain(text: str) -> object:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else text
