"""`fabricmark run` of micro-benchmarks: of one, or of the short set."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fabricmark.base import kernels, micro, paths, runtimes
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.base.micro import Micro
from fabricmark.measure import launch, running
from fabricmark.measure.launch import Job


def wanted(name: str) -> list[Micro]:
    """The micro-benchmarks that a word of the command line means; none where it means something else.

    A benchmark of the same name comes first. Raises FabricmarkError (3) where nothing is built.
    """
    if name in kernels.benchmark_names():
        return []
    if name != micro.GROUP:
        one = micro.named(name)
        if one is None and name.startswith(micro.PREFIX) and not micro.found():
            raise paths.missing("no micro-benchmark is built")
        return [one] if one is not None else []
    found = micro.short_set()
    if not found:
        raise paths.missing("no micro-benchmark is built")
    return found


@dataclass(frozen=True)
class Places:
    """Where programs run that take a device: on which runtimes and devices, found out when one asks.

    `is_group`: for the short set, which emulated devices are left out of unless their runtime is named: their
    clock says nothing, and takes long for it.
    """

    runtime: str | None
    extra: Sequence[str]
    is_group: bool

    @property
    def is_named(self) -> bool:
        return self.runtime not in (None, "all")

    @cached_property
    def environment(self) -> dict[str, str]:
        """Of the runtime that is named. Raises FabricmarkError as `chosen_runtimes`."""
        name = running.chosen_runtimes(self.runtime)[0] if self.is_named else runtimes.SYSTEM
        return runtimes.environment(name, os.environ)

    @cached_property
    def devices(self) -> list[tuple[str, Mapping | None]]:
        """(runtime, device or None where the options choose it). Raises FabricmarkError (3): none."""
        found = list(running.each_device(self.runtime, self.extra))
        if self.is_named or not self.is_group:
            return found
        real = [one for one in found if one[1] is None or not one[1]["emulated"]]
        if not real:
            raise FabricmarkError(running.EMULATED, "name their runtime with --runtime", ENVIRONMENT)
        return real


def jobs(
    programs: Sequence[Micro], places: Places, ranks: int | None, mpi: int | None, output: Path
) -> Iterator[Job]:
    """One job for each program and device; one for a program whose options say that it works on none.

    In the short set its own words come before those of the command line. Raises FabricmarkError: 2 when these
    name a result file or the programs refuse them, 3 when no runtime has a device.
    """
    running.refuse_result_file(places.extra)
    for one in programs:
        words = (*(one.short_words if places.is_group else ()), *places.extra)
        count = min(mpi or ranks or one.usual_ranks, launch.MOST_RANKS)
        said = [] if "--ranks" in kernels.options(words) else ["--ranks", str(count)]
        takes = micro.takes_device(one, [*said, *words], places.environment)
        threads = 1 if mpi is not None else count
        for name, device in places.devices if takes else [(runtimes.SYSTEM, None)]:
            yield Job(one.name, name, device, threads, mpi, output, words, usual_ranks=one.usual_ranks)
