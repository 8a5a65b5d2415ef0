"""`fabricmark list`: benchmarks, parameters, devices and launchers as tables."""

import os

from fabricmark.base import kernels, micro, terminal
from fabricmark.base.micro import Micro
from fabricmark.base.terminal import Column
from fabricmark.measure import launchers, running


def show_benchmarks() -> None:
    """Benchmarks and micro-benchmarks. Raises FabricmarkError (2) for a damaged kernel.toml."""
    out = terminal.console()
    found = [(name, kernels.kernel(name)) for name in kernels.benchmark_names()]
    columns = (
        Column("benchmark", key=True),
        Column("what it measures", prose=True),
        Column("kernels", prose=True),
    )
    terminal.show(out, columns, [[name, one.summary, terminal.items(one.variants)] for name, one in found])
    small = list(micro.found().values())
    if small:
        out.print()
        columns = (Column("micro-benchmark", key=True), columns[1], Column("micro"))
        rows = [[one.program, one.summary, "yes" if one.short_words else ""] for one in small]
        terminal.show(out, columns, rows)
        terminal.say(out, f"micro: a part of the short set, which `fabricmark run {micro.GROUP}` runs")
    terminal.say(out, "`fabricmark list NAME` shows parameters, `fabricmark list --devices` devices")


def show_benchmark(name: str) -> None:
    """The kernels and parameters of one, or the options of a micro-benchmark. Raises FabricmarkError (2)."""
    if name not in kernels.benchmark_names():
        small = micro.named(name)
        if small is None:
            raise running.unknown(name)
        show_micro(small)
        return
    kernel = kernels.kernel(name)
    out = terminal.console()
    terminal.say(out, f"{name}: {kernel.summary}")
    columns = [Column(heading, key=heading == "kernel") for heading in ("kernel", "file", "style")]
    variants = [[key, table["file"], table["style"]] for key, table in kernel.variants.items()]
    terminal.show(out, columns, variants)
    out.print()
    rows = [
        [
            entry.option,
            terminal.items(entry.allowed()),
            terminal.items(entry.defaults()),
            entry.unit,
            entry.stage,
            entry.meaning,
        ]
        for entry in kernel.parameters.values()
    ]
    columns = [Column("option", key=True), Column("values", prose=True), Column("default", prose=True)]
    columns += [Column("unit"), Column("stage"), Column("meaning", prose=True)]
    terminal.show(out, columns, rows)


def show_micro(one: Micro) -> None:
    """The options of a micro-benchmark."""
    out = terminal.console()
    terminal.say(out, f"{one.program}: {one.summary}")
    columns = [Column("option", key=True), Column("meaning", prose=True)]
    terminal.show(out, columns, [list(option) for option in one.options])


def show_devices() -> None:
    """The devices of every runtime. Raises FabricmarkError (3) where there is none."""
    rows: list[list[str]] = []
    for runtime, device in running.each_device(None):
        index = f"{device['platform_index']}:{device['device_index']}"
        rows.append([runtime, index, *(device[key] for key in ("class", "name", "platform", "driver"))])
    keys = [Column(heading, key=True) for heading in ("runtime", "platform:device")]
    more = [Column(heading) for heading in ("class", "name", "platform", "driver")]
    terminal.show(terminal.console(), [*keys, *more], rows)


def show_launchers() -> None:
    """What may start MPI processes, in the order in which it is tried, and which of it does.

    Raises FabricmarkError as `launchers.candidates`.
    """
    found = list(launchers.candidates(os.environ))
    used = next((one.launcher.name for one in found if not one.fault), None)
    rows = [
        [one.launcher.name, one.launcher.summary, one.fault or f"here: {one.program}", str(one.launcher.file)]
        for one in found
    ]
    columns = [Column("launcher", key=True), Column("what it belongs to", prose=True)]
    columns += [Column("on this machine", prose=True), Column("file")]
    out = terminal.console()
    terminal.show(out, columns, rows)
    chosen = f"`--mpi` uses {used}, the first that is here" if used else "none is here"
    terminal.say(out, f"{chosen}; `--launcher NAME` takes another one")
