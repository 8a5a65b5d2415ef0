"""What disturbed a run while it measured, by the counters of its host, and what to do about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fabricmark.base.terminal import number, percent

if TYPE_CHECKING:
    from fabricmark.results import Result

# From these on a counter is told. A CPU of a hundred is lost at once; memory stalls and clocks move by
# themselves.
LEAST_STOLEN, LEAST_LOAD, LEAST_STALLS, LEAST_FALL = 0.01, 0.05, 0.01, 0.10
LEAST_GPU = 0.01  # of the time


@dataclass(frozen=True)
class Disturbance:
    """`what`: in words; `remedy`: what to do; `share`: of the time or of the CPUs, by which it weighs;
    `host`: where, of a run on several hosts."""

    what: str
    remedy: str
    share: float
    host: str = ""

    @property
    def told(self) -> str:
        return f"on {self.host} {self.what}" if self.host else self.what

    @property
    def sentence(self) -> str:
        return f"disturbed: {self.told}; {self.remedy}"


def found(document: Mapping) -> list[Disturbance]:
    """The largest first; none where nothing was read (short runs, files of others)."""
    hosts = of_hosts(document)
    told = [
        replace(one, host=host if len(hosts) > 1 else "")
        for host, noise in hosts.items()
        for one in (
            *_of_cpus(noise.get("stolen", 0.0), noise.get("other_load", 0.0)),
            *_of_clocks(noise),
            *_of_memory(noise.get("memory_stalls", 0.0), noise.get("swapped_bytes", 0)),
        )
    ]
    return sorted(told, key=lambda one: -one.share)


def of_hosts(document: Mapping) -> dict[str, Mapping]:
    """What was read of each host: by the program of those of its ranks, and by `fabricmark` of its own, which
    looked more often and goes before."""
    hosts = {str(one.get("host", "")): one for one in document.get("noise_of_hosts", [])}
    if own := document.get("noise", {}):
        host = str(own.get("host", ""))
        hosts[host] = {**hosts.get(host, {}), **own}
    return hosts


def _of_cpus(stolen: float, load: float) -> list[Disturbance]:
    told = []
    if stolen >= LEAST_STOLEN:
        what = f"other virtual machines took {percent(stolen)} of the CPUs (steal time)"
        told.append(Disturbance(what, "measure on a host of your own, or repeat it at another time", stolen))
    if load >= LEAST_LOAD:
        what = f"other programs took {percent(load)} of the CPUs"
        told.append(Disturbance(what, "end them (`top` names them), or ask for the node alone", load))
    return told


def _of_clocks(noise: Mapping) -> list[Disturbance]:
    told = []
    lowest, highest = noise.get("lowest_clock_hz", 0.0), noise.get("highest_clock_hz", 0.0)
    if highest > 0 and 1 - lowest / highest >= LEAST_FALL:
        what = f"the CPUs' clock went between {number(lowest / 1e9)} and {number(highest / 1e9)} GHz"
        remedy = "set a fixed one (`cpupower frequency-set -g performance`, no boost)"
        told.append(Disturbance(what, remedy, 1 - lowest / highest))
    if noise.get("throttled", 0) > 0:
        times = noise["throttled"]
        what = f"CPUs were throttled by heat or power {number(times)} times"
        told.append(Disturbance(what, "look at cooling and power limits", 1.0))
    seconds = noise.get("gpu_throttled_seconds", 0.0)
    if seconds > 0 and seconds >= LEAST_GPU * noise.get("seconds", 0.0):
        what = f"the GPU was throttled by heat or its supply for {number(seconds)} s"
        told.append(
            Disturbance(what, "look at cooling and power limits (`nvidia-smi -q -d PERFORMANCE`)", 1.0)
        )
    return told


def _of_memory(stalls: float, swapped: int) -> list[Disturbance]:
    told = []
    if swapped > 0:
        what = f"{number(swapped / 1e6)} MB were swapped"
        told.append(Disturbance(what, "choose a smaller problem, or free memory", 1.0))
    if stalls >= LEAST_STALLS:
        what = f"programs waited for memory for {percent(stalls)} of the time"
        told.append(Disturbance(what, "free memory (`free -h`)", stalls))
    return told


def beside(verdict: str, runs: Sequence["Result"]) -> str:
    """The verdict of some runs, and how many of them were disturbed: `valid, disturbed`."""
    count = sum(bool(run.disturbances) for run in runs)
    if not count:
        return verdict
    return f"{verdict}, disturbed" if count == len(runs) else f"{verdict}, {count} of {len(runs)} disturbed"
