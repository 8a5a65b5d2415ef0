"""What --set and --sweep change has to count.

A value that no model reads is refused, one that limits nothing is named, and a figure that is read and that
no file says is refused or stated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board
from fabricmark.models.machine import HOST, Bitstream, Network
from fabricmark.predict import memory, reads
from fabricmark.predict.reads import Reads
from fabricmark.systems import System, absent

CLOSED_FORM = "--closed-form"
MOST_WATCHED = 12  # points of a request that are watched, from its first to its last
FACTORS = (2.0, 0.5)


def spread_over(points: Sequence) -> list:
    """Some of many points: the first, the last, and others between them."""
    if len(points) <= MOST_WATCHED:
        return list(points)
    last = len(points) - 1
    return [points[round(place * last / (MOST_WATCHED - 1))] for place in range(MOST_WATCHED)]


def of_run(
    benchmark: str, run: Mapping, board: Board, devices: int, network: Network | None,
    bitstream: Bitstream | None,
) -> Reads:  # fmt: skip
    """What a prediction reads: the model, and the check whether the problem fits into the memory."""
    found = reads.watch(benchmark, run, board, devices, network, bitstream)
    needed = memory.needed(benchmark, run, board, devices)
    return found if needed is None else found | Reads(parameters=needed.parameters)


def check_system_value(
    name: str, about: str, found: Reads, in_closed_form: Reads, network: Network | None,
    bitstream: Bitstream | None,
) -> None:  # fmt: skip
    """Raises FabricmarkError (2) for a value of the system that the prediction does not read, and says why.

    `about`: the benchmark and where it runs. `in_closed_form`: what it would read without measured curves.
    """
    if name in found.values:
        return
    place, _, rest = name.partition(".")
    if place == "bitstream" and bitstream is None:
        raise FabricmarkError(f"{name}: {about} uses no bitstream", "leave it out")
    if place == "board" and f"bitstream.{rest}" in found.values:
        cause = f"{name}: the bitstream {bitstream.name} has its own, which counts"
        raise FabricmarkError(cause, f"set bitstream.{rest}")
    if name in in_closed_form.values and network is not None:
        if network.curves and network.kind == HOST:
            raise FabricmarkError(f"{name}: a measured curve of {network.name} overrides it",
                                  f"use {CLOSED_FORM} to predict by latency and bandwidth")  # fmt: skip
        raise FabricmarkError(f"{name}: network.links.width times network.links.clock override it",
                              f"set these, or use {CLOSED_FORM}")  # fmt: skip
    known = found.names()
    kinds = [one for one in known if one.startswith(f"{place}.")] or known
    remedy = f"use one of {', '.join(kinds)}" if kinds else "leave it out"
    raise FabricmarkError(f"{about} reads no {name}", remedy)


def check_parameter(name: str, about: str, found: Reads, known: Sequence[str]) -> None:
    """The same for a parameter. `known`: all parameters of the kernel."""
    if name in found.parameters:
        return
    read = sorted(set(known) & found.parameters)
    remedy = f"set one of {', '.join(read)}" if read else "leave it out"
    raise FabricmarkError(f"{about}: its model reads no parameter {name}", remedy)


def assumed(
    system: System, transport: str, profile: str, overrides: Sequence[str],
    watched: Sequence[tuple[Reads, Bitstream | None]], about: str,
) -> list[str]:  # fmt: skip
    """What a prediction takes for granted, a line for all. Raises FabricmarkError (2) for what it needs."""
    network = system.networks.get(transport)
    words: dict[str, list[str]] = {}
    for found, bitstream in watched:
        known = reads.said(system, transport, bitstream, profile) | set(overrides)
        for name in reads.absent(found, known):
            text = absent.meaning(name, network.kind if network is not None else "")
            if text is None:
                cause = f"{about}: no file says {name}"
                remedy = "set it" if profile == "fitted" else "set it, or use --profile fitted"
                raise FabricmarkError(cause, f"{remedy}, as --set {name}={example(name)}")
            if text and name not in words.setdefault(text, []):
                words[text].append(name)
    parts = [f"{text} ({', '.join(names)})" for text, names in words.items() if names]
    return [f"assumed, as no file says otherwise: {'; '.join(parts)}"] if parts else []


def example(name: str) -> str:
    """A value as somebody may write it."""
    from fabricmark.systems import sourced_value

    return sourced_value.EXAMPLES.get(reads.key_of(name).dimension, "1")


def not_limiting(
    names: Sequence[str], values: Callable[[Mapping[str, float]], Sequence[float | None]],
    given: Mapping[str, float],
) -> list[str]:  # fmt: skip
    """Those of the given values of the system without which, and with twice or half as much, all is the same.

    `values`: all predictions with these values of the system in place of the files'.
    """
    usual, found = values(given) if names else [], []
    for name in names:
        others = {other: value for other, value in given.items() if other != name}
        tried = [others, *({**given, name: given[name] * by} for by in FACTORS)]
        if not any(moved_by(values, one, usual) for one in tried):
            found.append(name)
    return found


def moved_by(values: Callable, given: Mapping[str, float], usual: Sequence[float | None]) -> bool:
    """Whether other values of the system move a prediction, or leave none."""
    try:
        return list(values(given)) != list(usual)
    except FabricmarkError:
        return True


def without_curves(system: System) -> System:
    """The system with its networks in closed form."""
    networks = {name: reads.closed_form(one) for name, one in system.networks.items()}
    return replace(system, networks=networks)
