"""`fabricmark systems new`: measure this machine and write what describes it."""

import os
import re
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from fabricmark import systems
from fabricmark.base import choices, paths, transports
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, printable
from fabricmark.measure import calibrate, launchers, running, short_runs
from fabricmark.systems import calibration, files, local_machine, text

EMULATED = "its times say nothing about hardware"


def new_command(
    name: Annotated[str | None, typer.Argument(help="Name of the system (default: the host's).")] = None,
    runtime: Annotated[str, choices.runtime("Devices of this runtime.", every=True)] = "all",
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write (default: NAME.toml in your folder of systems)."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Measure even what is known.")] = False,
    passes: Annotated[
        int, typer.Option(min=1, max=100, help="How often to repeat the short runs, apart in time.")
    ] = short_runs.PASSES,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Few repetitions, and the kernels that run by default alone."),
    ] = False,
) -> None:
    """Measure this machine: its limits, what each kernel reaches of them, messages between ranks."""
    host = printable(socket.gethostname())
    chosen = name or re.sub(r"[^A-Za-z0-9_.-]+", "-", host).strip("-._") or "this-machine"
    files.check_name(chosen)
    target = output or systems.user_folder() / f"{chosen}.toml"
    kept = others(target)
    started = time.monotonic()
    measured = 0
    for runtime_name, device in devices(runtime):
        here = known(device)
        if here.path is not None and not again and ((name is None and output is None) or here.path == target):
            print(printable(f"{device['name']} ({runtime_name}) is known: {here.path}"))
            complete(runtime_name, device, here, passes, quick=quick)
            continue
        print(printable(f"measuring {device['name']} ({runtime_name}), host {host}"))
        entry = measure(runtime_name, device, target, host, passes, quick=quick)
        kept = [one for one in kept if not same_device(one, entry)] + [entry]
        write(target, chosen, kept)
        measured += 1
    if measured:
        print(printable(f"wrote {target} in {time.monotonic() - started:.0f} s"))


def devices(runtime: str) -> list[tuple[str, Mapping]]:
    """(runtime, device) of all CPUs and GPUs. Raises FabricmarkError where there is nothing to measure."""
    found, emulators = [], []
    for runtime_name, device in running.each_device(runtime):
        if device["emulated"]:
            emulators.append(device["name"])
        elif device["class"] in ("cpu", "gpu"):
            found.append((runtime_name, device))
    if not found and emulators:
        raise FabricmarkError(f"{emulators[0]} is an emulator: {EMULATED}", "choose another --runtime")
    if not found:
        raise FabricmarkError("no OpenCL device to measure", running.NO_DEVICE, ENVIRONMENT)
    return found


def known(device: Mapping) -> local_machine.Found:
    """The file that describes a device of this host, where one does. A damaged one is named."""
    found = local_machine.find(calibration.processor(), device["name"], device["driver"])
    for fault in found.faults:
        print(f"fabricmark: warning: {fault}", file=sys.stderr)
    return found


def complete(
    runtime: str, device: Mapping, here: local_machine.Found, passes: int, *, quick: bool = False
) -> None:
    """Measure the kernels that run by default and are not in the file of a known device, as where an update
    brought them, and add them to it; rates and messages stay those of its other kernels."""
    if here.system is None or here.path is None:
        return
    lacking = short_runs.unmeasured(device, here.system.bitstreams)
    if not lacking:
        return
    print(printable(f"measuring what it lacks: {', '.join(lacking)}"))
    found = short_runs.measure(
        runtime, device, here.system.board, launchers.find(os.environ) is not None, say, passes=passes,
        quick=quick, only=lacking, network=here.system.networks.get(transports.USUAL),
    )  # fmt: skip
    if found.bitstreams:
        part = part_file(here.path, "bitstreams", here.system.board_id)
        before = paths.content(part).decode("utf-8")
        paths.write_atomically(part, before + "\n".join(text.kernels(found.bitstreams)) + "\n")


def say(line: str) -> None:
    """A line about what is done."""
    print(printable(f"  {line}"), flush=True)


def others(target: Path) -> list[dict]:
    """What a file that is there already says of devices.

    Raises FabricmarkError (2) for a file that `systems new` did not write.
    """
    if not os.path.exists(target):
        return []
    try:
        kept = local_machine.entries(target)
    except FabricmarkError as error:
        print(f"fabricmark: warning: {error}", file=sys.stderr)
        return []
    needed = ("board", "source", "per_node", "most")
    if not kept or not all(local_machine.is_measured(one.get("board")) for one in kept):
        raise FabricmarkError(f"{target} was not written by `systems new`", "choose another name")
    return [one for one in kept if all(part in one for part in needed)]


def same_device(one: Mapping, other: Mapping) -> bool:
    """Whether two [[devices]] are about the same processor, device and driver."""
    return one["board"].rpartition("-")[0] == other["board"].rpartition("-")[0]


def measure(
    runtime: str, device: Mapping, target: Path, host: str, passes: int, *, quick: bool = False
) -> dict:
    """Measure one device and write its board, network and kernels: its table of [[devices]].

    The names of these files are new ones, so that the system's own file, written last, replaces all at once.
    """
    limits = calibration.find_here(device)
    is_whole = limits is not None and "device_copy" in limits  # an older one has no latency of copies
    if not (is_whole and quick and calibrate.is_recent(limits)):
        say("limits (fm_calibrate)")
        limits = calibrate.measure(runtime, device)
    board = calibration.board(limits)
    cpu = limits["host"]["cpu"]
    has_launcher = launchers.find(os.environ) is not None
    found = short_runs.measure(runtime, device, board, has_launcher, say, passes=passes, quick=quick)
    if not found.bitstreams:
        cause = f"no short run on {device['name']} was valid"
        raise FabricmarkError(cause, "`fabricmark run all` says what is wrong", ENVIRONMENT)
    if not quick:
        say("limits once more: the best of all measurements counts")
        try:
            calibrate.measure(runtime, device, passes=1)
        except FabricmarkError as error:
            say(f"left out: {error}")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    board_id = local_machine.key(cpu, device["name"], device["driver"]) + stamp
    about = f"{device['name']}, driver {device['driver']}, on {host} ({cpu})"
    source = f"measured {limits['created'][:16]}Z on {limits['host']['name']} by fm_calibrate"
    parts = {
        "board": text.board(board, about, source),
        "bitstreams": text.bitstreams(board_id, f"kernels compiled for {about}", found.bitstreams),
    }
    entry: dict = {"board": board_id, "source": source, "per_node": 1, "most": 1, "bitstreams": [board_id]}
    if found.curves:
        parts["network"] = text.network(f"MPI between ranks on {host}", found.curves)
        entry["networks"] = {transport: board_id for transport in transports.THROUGH_HOSTS}
    for kind, content in parts.items():
        paths.write_atomically(part_file(target, kind, board_id), content)
    return entry


def part_file(target: Path, kind: str, board_id: str) -> Path:
    """Where a part of the system that `target` describes lies."""
    return target.parent / files.FOLDERS[kind] / f"{board_id}.toml"


def write(target: Path, name: str, entries: Sequence[Mapping]) -> None:
    """Write the system's own file and remove the parts that it no longer names.

    Raises FabricmarkError (2) when the place cannot be written, or what was written is not right.
    """
    before = {one["board"] for one in others(target)}
    summary = f"{name}, measured by `fabricmark systems new`"
    paths.write_atomically(target, text.system(name, summary, entries))
    for entry in entries:
        systems.load(target, board=entry["board"])
    for gone in before - {one["board"] for one in entries}:
        for kind in ("board", "network", "bitstreams"):
            part_file(target, kind, gone).unlink(missing_ok=True)
