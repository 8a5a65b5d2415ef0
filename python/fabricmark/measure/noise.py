"""What else this machine did while a program measured: its counters, read beside the program.

Counters that the kernel adds up (CPU time of all and stolen, swapped pages, memory stalls, throttling) are
read every INTERVAL_SECONDS without a thread, and the file of the result gets what they say of its
repetitions. Of a run on several hosts this one's are read. `results.disturbances` judges them.

Sources: proc(5), /proc/stat and /proc/PID/stat; Documentation/accounting/psi.rst, admin-guide/pm/cpufreq.rst
and the thermal_throttle folders of Linux; `nvidia-smi --help-query-gpu`, clocks_event_reasons_counters.
"""

import json
import os
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from fabricmark.base import paths, unreaped
from fabricmark.measure import firmware
from fabricmark.measure.host_files import of_gpus, text

ROOT = "FABRICMARK_HOST_FILES"  # a folder in place of /, with proc/ and sys/ in it
INTERVAL_SECONDS = 0.2
LEAST_SECONDS = 0.5  # of repetitions: below it counters of hundredths of a second are too coarse
MOST_CLOCKS = 8  # CPUs whose clock is read
STEAL, IDLE, IOWAIT, FIELDS = 7, 3, 4, 8  # of the numbers of a line of /proc/stat; guests are in the first
GPU_COUNTERS = [
    f"clocks_event_reasons_counters.{name}"
    for name in ("sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown")
]
NOISE, FIRMWARE = "noise", "firmware"  # keys of a result file


@dataclass(frozen=True)
class Look:
    """Counters at a time [s since 1970]: CPU seconds of all, of which `own` are the program's (None: nobody
    knows); `stall`: seconds in which something waited for memory."""

    time: float
    busy: float
    steal: float
    own: float | None
    stall: float | None
    pages: int | None
    clock_hz: float | None


@dataclass
class Watch:
    """Of one program. `is_local`: all of its processes are children of the one that is started."""

    is_local: bool = True
    has_gpu: bool = False
    root: Path = field(default_factory=lambda: Path(os.environ.get(ROOT) or "/"))
    _looks: list[Look] = field(default_factory=list)
    _pid: int | None = None
    _own_before: float = 0.0
    _before: Mapping[str, float] = field(default_factory=dict)
    _after: Mapping[str, float] = field(default_factory=dict)

    def begin(self, pid: int) -> None:
        """Right after the program was started."""
        self._clocks = self._clock_files()
        self._own_before = _of_children()
        self._before = self._totals()
        self._pid = pid
        self.look()

    def look(self) -> None:
        """Now and then while it runs."""
        if self._looks and time.time() - self._looks[-1].time < INTERVAL_SECONDS:
            return
        self._append(self._of_tree() if self.is_local and self._pid is not None else None)

    def end(self) -> None:
        """When it has ended and was waited for."""
        self._append(_of_children() - self._own_before if self.is_local else None)
        self._after = self._totals()

    def _append(self, own: float | None) -> None:
        cpus = self._cpus()
        if cpus is None:
            return
        busy, steal = cpus
        pressure = self._number("proc/pressure/memory", "some", "total=")
        swapped = [self._number("proc/vmstat", name) for name in ("pswpin", "pswpout")]
        pages = None if None in swapped else int(sum(one for one in swapped if one is not None))
        stall = None if pressure is None else pressure / 1e6
        clocks = [hertz for file in self._clocks if (hertz := _kilohertz(file)) is not None]
        clock = max(clocks) if clocks else None
        self._looks.append(Look(time.time(), busy, steal, own, stall, pages, clock))

    def add_to(self, file: Path, host: str) -> None:
        """Write what was read into a result file, and the firmware below it; nothing where nothing could be
        read."""
        content = paths.content(file).decode("utf-8").rstrip()
        try:
            found = self.found(json.loads(content))
        except (ValueError, KeyError, TypeError):  # whoever reads it will say what is wrong with it
            return
        told: dict[str, object] = {NOISE: {"host": host, **found}} if found else {}
        known = firmware.read(self.root, self.has_gpu)
        told |= {FIRMWARE: known} if known else {}
        if told and content.endswith("}"):
            more = json.dumps(told, indent=2)[1:]  # behind the file's own brace
            paths.write_atomically(file, f"{content[:-1].rstrip()},{more}\n")

    def found(self, document: Mapping) -> dict[str, float]:
        """What counters say of the repetitions of a result; of short ones, of as much around them as was read
        between two looks."""
        start, end = repetitions(document)
        earlier = [one for one in self._looks if one.time <= start] or self._looks[:1]
        later = [one for one in self._looks if one.time >= end] or self._looks[-1:]
        if not earlier or later[0].time - earlier[-1].time < LEAST_SECONDS:
            return {}
        first, last = earlier[-1], later[0]
        seconds = last.time - first.time
        all_cpus = seconds * self._count()
        told: dict[str, float | None] = {
            "seconds": seconds,
            "cpus": self._count(),
            "stolen": (last.steal - first.steal) / all_cpus,
        }
        if first.own is not None and last.own is not None:
            others = (last.busy - first.busy) - (last.own - first.own)
            told["other_load"] = max(others / all_cpus, 0.0)
        if first.stall is not None and last.stall is not None:
            told["memory_stalls"] = (last.stall - first.stall) / seconds
        if first.pages is not None and last.pages is not None:
            told["swapped_bytes"] = (last.pages - first.pages) * os.sysconf("SC_PAGE_SIZE")
        within = [one.clock_hz for one in self._looks if first.time <= one.time <= last.time and one.clock_hz]
        if len(within) > 2:  # the first and the last are of before and after
            told |= {"lowest_clock_hz": min(within[1:-1]), "highest_clock_hz": max(within[1:-1])}
        for name in self._before.keys() & self._after.keys():
            told[name] = max(self._after[name] - self._before[name], 0)
        return {name: value for name, value in told.items() if value is not None}

    def _cpus(self) -> tuple[float, float] | None:
        """CPU seconds in which this system worked, and that others of the same machine took from it."""
        line = next(iter(self._lines("proc/stat")), "").split()
        if line[:1] != ["cpu"] or len(line) <= FIELDS or not all(word.isdecimal() for word in line[1:]):
            return None
        ticks = [int(word) for word in line[1 : FIELDS + 1]]
        hertz = os.sysconf("SC_CLK_TCK")
        working = sum(ticks) - ticks[IDLE] - ticks[IOWAIT] - ticks[STEAL]
        return working / hertz, ticks[STEAL] / hertz

    def _count(self) -> int:
        return max(sum(line[:3] == "cpu" and line[3:4].isdecimal() for line in self._lines("proc/stat")), 1)

    def _of_tree(self) -> float | None:
        """CPU seconds of the program and what it has started."""
        left, total = [self._pid], 0.0
        while left:
            pid = left.pop()
            if pid is None:
                continue
            after = next(iter(self._lines(f"proc/{pid}/stat")), "").rpartition(")")[2].split()
            if len(after) > 14 and all(
                word.isdecimal() for word in after[11:15]
            ):  # utime, stime, and of ended children: fields 14 to 17
                total += sum(int(word) for word in after[11:15]) / os.sysconf("SC_CLK_TCK")
            elif pid == self._pid:
                return None
            left += unreaped.children(pid)
        return total

    def _totals(self) -> dict[str, float]:
        """Of the whole run: how often CPUs were throttled, and how long GPUs were."""
        folders = list((self.root / "sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle"))
        files = [file for one in folders for file in one.glob("*_throttle_count")]
        counts = [int(said) for file in files if (said := text(file).strip()).isdecimal()]
        found: dict[str, float] = {"throttled": sum(counts)} if counts else {}
        words = " ".join(of_gpus(GPU_COUNTERS) if self.has_gpu else []).replace(",", " ").split()
        microseconds = [int(word) for word in words if word.isdecimal()]
        return found | ({"gpu_throttled_seconds": sum(microseconds) / 1e6} if microseconds else {})

    def _clock_files(self) -> Sequence[Path]:
        files = sorted((self.root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
        return files[:: max(len(files) // MOST_CLOCKS, 1)][:MOST_CLOCKS]

    def _lines(self, file: str) -> list[str]:
        return text(self.root / file).splitlines()

    def _number(self, file: str, first: str, before: str = "") -> float | None:
        """Of the line with this first word the last one, which `before` stands before."""
        line = next((line.split() for line in self._lines(file) if line.split()[:1] == [first]), [""])
        word = line[-1].removeprefix(before)
        return float(word) if word.isdecimal() else None


def repetitions(document: Mapping) -> tuple[float, float]:
    """When the repetitions of a result began and ended [s since 1970]."""
    run = document["run"]
    begin = datetime.fromisoformat(run["started"]).timestamp()
    for step in run.get("steps", []):
        if step["name"] == "repetitions":
            return begin, begin + step["seconds"]
        begin += step["seconds"]
    begin = datetime.fromisoformat(run["started"]).timestamp()
    return begin, begin + (run.get("duration_seconds") or 0.0)


def _of_children() -> float:
    """CPU seconds of processes of ours that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _kilohertz(file: Path) -> float | None:
    said = text(file).strip()
    return int(said) * 1e3 if said.isdecimal() else None
