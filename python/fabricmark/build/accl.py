"""Dataflow kernels with ACCL's engine on a card: what is linked, how it is joined, and where it lies.

rules/accl.toml has ACCL's kernels with their ports, and how kernels of ours are joined to it; what streams
and memory those have is read from their sources. Not tried with v++.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fabricmark.base.errors import FabricmarkError
from fabricmark.build.rules import FOLDER

COMMAND, STATUS, DATA = "fm::accl_request", "fm::accl_word", "fm::accl_data"
BITS = {COMMAND: 32, STATUS: 32, DATA: 512}
STREAM = re.compile(r"fm::\w+<(.*)>&")
ENGINE = "ccl_offload_0"
HOST = "hostctrl_0_0"
LOOPBACK = "lb_user_krnl_0"


@dataclass(frozen=True)
class Signature:
    """A kernel's arguments by name: the types of its streams, and those that are memory, in order."""

    streams: Mapping[str, str]
    memory: Sequence[str]


@dataclass(frozen=True)
class Linked:
    """`text`: the linker's configuration. `files`: objects of ACCL, by kernel. `options`: of the linker."""

    text: str
    files: Mapping[str, str]
    options: Sequence[str]


@dataclass(frozen=True)
class Port:
    """A port of streams. `bits` 0: nobody says. `writes`: None where only the source would tell."""

    bits: int
    writes: bool | None


@cache
def data() -> Mapping:
    """rules/accl.toml."""
    return tomllib.loads((FOLDER / "accl.toml").read_text("utf-8"))


def is_linked(benchmark: str, transport: object) -> bool:
    """Whether the benchmark's dataflow kernels have a design for the transport's network."""
    return benchmark in data()["designs"] and transport in data()["networks"]


def networks_of(benchmark: str) -> Sequence[str]:
    """The transports that its dataflow kernels have a design for."""
    return [one for one in data()["networks"] if is_linked(benchmark, one)]


def clock_hz() -> float:
    """What ACCL's kernels are linked for."""
    return data()["engine"]["clock_mhz"] * 1e6


def units(benchmark: str) -> Mapping[str, Sequence[str]]:
    """The units of each of our kernels."""
    return data()["designs"][benchmark]["units"]


def modes(benchmark: str) -> list[str]:
    """The values of `mode` that its design serves."""
    return [*data()["designs"][benchmark]["modes"]]


def signatures(source: Path) -> Mapping[str, Signature]:
    """Of all functions of a dataflow.cpp.

    Raises FabricmarkError (2) where the file cannot be read.
    """
    try:
        text = source.read_text("utf-8")
    except OSError as error:
        raise FabricmarkError(f"{source}: {error.strerror}", "name the folder of the kernels") from error
    found = {}
    for name, arguments in re.findall(r"^(?:inline )?void (\w+)\(([^{;]*?)\) \{", text, re.M):
        streams, memory = {}, []
        for one in _split(arguments):
            kind, _, argument = one.rpartition(" ")
            stream = STREAM.fullmatch(kind)
            if stream:
                streams[argument] = stream[1]
            elif kind.endswith("*"):
                memory.append(argument)
        found[name] = Signature(streams, memory)
    return found


def _split(arguments: str) -> Iterator[str]:
    """At commas outside of <>."""
    depth, begin = 0, 0
    text = " ".join(arguments.split())
    for i, letter in enumerate(text + ","):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield text[begin:i].strip()
            begin = i + 1


def linked(benchmark: str, source: Path, transport: str, board: str, platform: str) -> Linked:
    """The engine with its network and the benchmark's kernels.

    Raises FabricmarkError (2) for a board or a network that ACCL has no such design for.
    """
    if board not in data()["boards"]:
        remedy = f"use {' or '.join(data()['boards'])}"
        raise FabricmarkError(f"there is no design with ACCL for {board or 'an unknown board'}", remedy)
    design, network, place = _parts(benchmark, transport, board)
    kernels = _kernels(design, network)
    lines = ["[connectivity]", *(f"nk={name}:{len(of)}:{'.'.join(of)}" for name, of in kernels.items())]
    lines += [f"nk={name}:{len(of)}:{'.'.join(of)}" for name, of in design["units"].items()]
    lines += _regions(kernels, place["network_slr"])
    lines += _memory(kernels, design, signatures(source))
    lines += [f"stream_connect={one}" for one in _streams(design, network)]
    named = {"part": place["part"], "platform": platform, "stack": network["stack"]}
    folder = data()["engine"]["folder"]
    files = {name: f"{folder}/{data()['kernels'][name]['file'].format(**named)}" for name in kernels}
    options = [one.format(folder=folder, **named) for one in network["options"]]
    return Linked("\n".join(lines) + "\n", files, options)


def _parts(benchmark: str, transport: str, board: str) -> tuple[Mapping, Mapping, Mapping]:
    known = data()
    return known["designs"][benchmark], known["networks"][transport], known["boards"][board]


def _kernels(design: Mapping, network: Mapping) -> dict[str, Sequence[str]]:
    """Units of ACCL's kernels: an arbiter for each caller beside the host, a loop where no kernel of ours is
    at the engine's data."""
    made = {name: one["units"] for name, one in data()["kernels"].items() if not one.get("is_network")}
    made |= {name: data()["kernels"][name]["units"] for name in network["kernels"]}
    made["client_arbiter"] = [f"arb_{i}" for i in range(len(design["callers"]))]
    ends = "to_engine" in design or "from_engine" in design
    made["loopback"] = [*([] if ends else [LOOPBACK]), *network["loopbacks"]]
    return {name: of for name, of in made.items() if of}


def _regions(kernels: Mapping[str, Sequence[str]], network_slr: int) -> Iterator[str]:
    """ACCL's kernels; those of ours are where v++ finds room."""
    for name, of in kernels.items():
        is_network = data()["kernels"][name].get("is_network", False)
        for unit in of:
            of_network = is_network or unit.startswith("lb_udp")
            yield f"slr={unit}:SLR{network_slr if of_network else network_slr - 1}"


def _memory(
    kernels: Mapping[str, Sequence[str]], design: Mapping, known: Mapping[str, Signature]
) -> Iterator[str]:
    engine = data()["engine"]
    places = {
        "engine": f"HBM[{engine['first_bank']}:{engine['last_bank']}]",
        "network": f"HBM[{engine['network_bank']}]",
        "own": f"HBM[{engine['first_own']}:{engine['last_own']}]",
    }
    for name, of in kernels.items():
        for port, where in data()["kernels"][name].get("memory", {}).items():
            yield from (f"sp={unit}.{port}:{places[where]}" for unit in of)
    for name, of in design["units"].items():
        for argument in known[name].memory:
            where = "engine" if f"{name}.{argument}" in design["engine_memory"] else "own"
            yield from (f"sp={unit}.{argument}:{places[where]}" for unit in of)


def _streams(design: Mapping, network: Mapping) -> Iterator[str]:
    """`WRITER:READER` of all."""
    depth = data()["engine"]["depth"]
    # Where the next one calls: the ports of its request and of the answer, and their unit.
    above = [("s_axis_call_req", "m_axis_call_ack", ENGINE)]
    for i, caller in enumerate(design["callers"]):
        unit, _, ports = caller.partition(".")
        request, answer = ports.split("/")
        call, answered, to = above[-1]
        yield f"arb_{i}.cmd_cclo:{to}.{call}"
        yield f"{to}.{answered}:arb_{i}.ack_cclo"
        yield f"{unit}.{request}:arb_{i}.cmd_clients_1:{depth}"
        yield f"arb_{i}.ack_clients_1:{unit}.{answer}:{depth}"
        above.append(("cmd_clients_0", "ack_clients_0", f"arb_{i}"))
    call, answered, to = above[-1]
    yield f"{HOST}.cmd:{to}.{call}"
    yield f"{to}.{answered}:{HOST}.sts"
    yield from data()["joined"]["streams"]
    yield from network["streams"]
    yield from design["streams"]
    if "to_engine" in design:
        yield f"{design['to_engine']}:{ENGINE}.s_axis_krnl:{depth}"
    if "from_engine" in design:
        yield f"{ENGINE}.m_axis_krnl:{design['from_engine']}"
    if "to_engine" not in design and "from_engine" not in design:
        yield f"{ENGINE}.m_axis_krnl:{LOOPBACK}.in"
        yield f"{LOOPBACK}.out:{ENGINE}.s_axis_krnl"


def ports(benchmark: str, source: Path) -> Mapping[str, Mapping[str, Port | str]]:
    """The ports of streams of each kernel: ACCL's as Port, ours by the type that passes."""
    found: dict[str, Mapping[str, Port | str]] = {}
    for name, one in data()["kernels"].items():
        of = {port: Port(bits, False) for port, bits in one.get("reads", {}).items()}
        found[name] = of | {port: Port(bits, True) for port, bits in one.get("writes", {}).items()}
    known = signatures(source)
    return found | {name: known[name].streams for name in units(benchmark)}
