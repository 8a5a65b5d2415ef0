"""Text output of other benchmarks as results, so that old logs stand beside new runs.

A log has averages and no samples, and seldom says where it was made: what it does not say is `unknown`.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fabricmark import results
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import Measurement, Result, hpcc, hpcc_fpga, nccl, osu
from fabricmark.results.log_table import Check, Fault, Log, Value, lines

ENDINGS = (".log", ".out", ".txt")  # of what is looked at in folders
HEAD_BYTES = 1 << 16
MOST_BYTES = 64 << 20
UNKNOWN = "unknown"
UNKNOWN_MACHINE = "unknown machine"
REMEDY = "give a whole output of OSU, nccl-tests, HPC Challenge or HPCC FPGA, or a result file"
# What tells a text of each kind, and who reads it.
KINDS: Mapping[str, tuple[Callable[[str], bool], Callable[[str, str], Log]]] = {
    "OSU": (osu.is_title, lambda text, _: osu.parse(text)),
    "nccl-tests": (nccl.is_heading, nccl.parse),
    "HPC Challenge": (hpcc.is_title, lambda text, _: hpcc.parse(text)),
    "HPCC FPGA": (hpcc_fpga.is_title, lambda text, _: hpcc_fpga.parse(text)),
}


def is_log(path: Path) -> bool:
    """Whether a file is to be read as text: one that neither is called JSON nor begins like it."""
    if path.suffix == ".json" or not os.path.isfile(path):
        return False
    return not _head(path).lstrip().startswith("{")


def in_folder(folder: Path) -> list[Path]:
    """Files of a folder that hold a table of such a benchmark, sorted."""
    found = [path for ending in ENDINGS for path in folder.glob(f"[!.]*{ending}") if path.is_file()]
    return sorted(path for path in found if _holds_table(_head(path)))


def has_results(folder: Path) -> bool:
    """Whether result files or logs lie in a folder."""
    return results.has_results(folder) or bool(in_folder(folder))


def find_files(places: Iterable[Path]) -> list[Path]:
    """Result files and logs among files and folders, as `results.find_files`. Raises FabricmarkError (2)."""
    found: list[Path] = []
    for place in places:
        texts = in_folder(place) if os.path.isdir(place) else []  # which raises nothing
        found += texts if texts and not results.has_results(place) else [*results.find_files([place]), *texts]
    return list(dict.fromkeys(found))


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _holds_table(text: str) -> bool:
    return any(is_one(line) for line in lines(text) for is_one, _ in KINDS.values())


def load(path: Path) -> Result:
    """Any result: a result file or a log. Raises FabricmarkError (2) naming file, cause and remedy."""
    return read(path) if is_log(path) else results.load(path)


def read(path: Path) -> Result:
    """A log as a result. Raises FabricmarkError (2) naming file, line, cause and remedy."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise FabricmarkError(f"{path}: too large for a benchmark's output", REMEDY)
        text = paths.content(path).decode("utf-8", "replace")
    except OSError as error:
        raise FabricmarkError(f"{path}: cannot be read: {error.strerror}", REMEDY) from error
    if not text.strip():
        raise FabricmarkError(f"{path}: the file is empty", REMEDY)
    try:
        return result(path, parse(text, path.name))
    except Fault as fault:
        raise fault.of(path) from fault


def parse(text: str, file_name: str) -> Log:
    """The run in a text of one of KINDS. Raises Fault."""
    found = lines(text)
    kinds = [name for name, (is_one, _) in KINDS.items() if any(map(is_one, found))]
    if len(kinds) > 1:
        raise Fault(
            0, f"outputs of {' and of '.join(kinds)} in one file", "keep each run in a file of its own"
        )
    if not kinds:
        raise Fault(0, "neither a result file nor an output of a benchmark that is known", REMEDY)
    return KINDS[kinds[0]][1](text, file_name)


def result(path: Path, log: Log) -> Result:
    """A log in the newest version of the format; numbers that it does not say are None."""
    host = ", ".join(log.hosts) or UNKNOWN
    device = ", ".join(log.devices) or UNKNOWN_MACHINE
    where = "" if log.devices else "; the machine is unknown"
    count = log.ranks or 0
    placement = [
        {"rank": rank, "host": host, "device_index": 0, "device": device, "compute_units": 0}
        for rank in range(count)
    ]
    document = {
        "schema": results.SCHEMA,
        "run": {
            "program": log.writer, "benchmark": log.program, "variant": UNKNOWN, "version": UNKNOWN,
            "git": None, "class": "base", "complete": log.complete, "started": "", "duration_seconds": 0.0,
            "command": [UNKNOWN], "exit_code": 0,
        },
        "environment": {
            "host": {
                "name": host, "cpu": UNKNOWN, "logical_cores": None, "memory_bytes": None,
                "operating_system": UNKNOWN, "kernel": UNKNOWN,
            },
            "ranks": {"count": log.ranks, "kind": "mpi", "mpi_library": None, "placement": placement},
            "device": {
                "platform": UNKNOWN, "platform_version": UNKNOWN, "name": device, "vendor": UNKNOWN,
                "driver": UNKNOWN, "class": UNKNOWN, "emulated": False,
            },
            "toolchain": {"compiler": UNKNOWN, "build_type": UNKNOWN},
            "variables": {},
        },
        "parameters": log.parameters,
        "repetitions": {"count": None, "warmup": None, "min_time_seconds": None},
        "measurements": [],
        "verdicts": [] if log.check is None else [_verdict(log.check)],
        "notes": [f"read from {path.name}, the output of {log.writer}: averages only{where}", *log.notes],
    }  # fmt: skip
    return Result(path, document, [_measurement(value, log.kind) for value in log.values], writer=log.writer)


def _measurement(value: Value, kind: str) -> Measurement:
    """An average stands for all its repetitions."""
    number = value.value
    return Measurement(
        value.name, value.axes, value.unit, value.better, kind, number, number, number, number, number,
        None, value.unit, [],
    )  # fmt: skip


def _verdict(check: Check) -> dict:
    return {
        "name": "the program's own check",
        "status": "failed" if check.wrong else "passed",
        "error": float(check.wrong),
        "threshold": 0.0,
        "measure": check.measure,
        "checked": check.checked,
        "worst": None,
    }
