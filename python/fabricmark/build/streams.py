"""Bitstreams of dataflow kernels for the emulated card: HLS C++ and a link configuration of v++'s.

What joins kernels stands in the configuration, as for a board: `nk` says how many units of a kernel there
are, `sp` where an argument's memory is, `stream_connect` which streams are joined. Ports of the card are
link_0, link_1 and so on, each with a stream `tx` that is written to and `rx` that is read: on a board these
are streams of the kernel that drives its network port.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, refusing
from fabricmark.build import card, xclbin
from fabricmark.build.check_vitis import NAME, PLACE, UNITS
from fabricmark.build.design import Design
from fabricmark.build.steps import CLANG, Steps

CONNECTION = re.compile(rf"({NAME}\.{NAME}):({NAME}\.{NAME})(?::(\d+))?")
SENDS, RECEIVES = re.compile(r"link_\d{1,3}\.tx"), re.compile(r"link_\d{1,3}\.rx")
USUAL_DEPTH = 2  # of a stream that the configuration gives none, as of hls::stream
SAID = ("slr",)  # by the configuration, and nothing to a card that has no chip
# By the name that C++ has for them: what the container calls scalars, and their bytes.
SCALARS = {
    "bool": ("bool", 1), "char": ("char", 1), "signed char": ("char", 1), "unsigned char": ("uchar", 1),
    "short": ("short", 2), "unsigned short": ("ushort", 2), "int": ("int", 4), "unsigned int": ("uint", 4),
    "long": ("long", 8), "unsigned long": ("ulong", 8), "float": ("float", 4), "double": ("double", 8),
    "long long": ("long", 8), "unsigned long long": ("ulong", 8),
}  # fmt: skip
BUFFER, SCALAR, STREAM = "buffer", "scalar", "axis"  # the last one is AXI4-Stream
PROTOCOL = re.compile(r"#pragma\s+HLS\s+interface\b[^\n]*\b(ap_ctrl_\w+)", re.IGNORECASE)


@dataclass
class Linked:
    """A link configuration. `units`: by kernel; `places`: a memory by UNIT.ARGUMENT; `streams`: from, to and
    depth."""

    units: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    streams: list[tuple[str, str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Declared:
    """A kernel as its source declares it: its protocol, and arguments with their kind and type."""

    protocol: str
    arguments: tuple[tuple[str, str, str], ...]


def linked(file: Path) -> Linked:
    """Read a configuration. Raises FabricmarkError (2), naming the line, for what the card does not take."""
    with refusing(f"cannot read {file}", "name the link configuration of the kernels with --config"):
        lines = file.read_text(encoding="utf-8").splitlines()
    found = Linked()
    for number, text in enumerate(lines, 1):
        line = text.partition("#")[0].strip()
        if not line or line == "[connectivity]":
            continue
        key, _, value = (part.strip() for part in line.partition("="))
        if not _take(found, key, value):
            cause = f"{file}:{number}: {line} is nothing that the emulated card takes"
            raise FabricmarkError(cause, "write nk, sp and stream_connect of [connectivity] as v++ has them")
    if not found.units:
        raise FabricmarkError(f"{file} names no kernel", "write a line such as nk=scale:1")
    return found


def _take(to: Linked, key: str, value: str) -> bool:
    """Whether the line has a form that is known."""
    if key == "nk" and (one := UNITS.fullmatch(value)):
        usual = [f"{one[1]}_{i + 1}" for i in range(int(one[2]))]
        to.units[one[1]] = re.split("[.,]", one[3]) if one[3] else usual
    elif key == "sp" and (one := PLACE.fullmatch(value)):
        to.places[f"{one[1]}.{one[2]}"] = f"{one[3]}[{one[4] or 0}]"
    elif key in ("stream_connect", "sc") and (one := CONNECTION.fullmatch(value)):
        to.streams.append((one[1], one[2], int(one[3] or USUAL_DEPTH)))
    else:
        return key in SAID
    return True


def declared(source: Path, kernel: str, options: Sequence[str]) -> Declared:
    """What the source says of a kernel, as clang reads it.

    Raises FabricmarkError: 2 for a kernel that there is not or with an argument of another type, 3 without
    clang.
    """
    command = [CLANG, *card.HLS_LANGUAGE, *options, "-fsyntax-only", "-Xclang", "-ast-dump=json",
               "-Xclang", f"-ast-dump-filter={kernel}", str(source)]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise FabricmarkError(f"{CLANG} is not there", card.CLANG_REMEDY, ENVIRONMENT) from error
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr[:200])
        raise FabricmarkError(f"{source} does not compile: {first.strip()}", "correct it there")
    for node in _documents(done.stdout):
        if node.get("kind") == "FunctionDecl" and node.get("name") == kernel:
            return _declared(source, kernel, node)
    raise FabricmarkError(f"{source} has no kernel {kernel}", "name another one in nk of --config")


def _documents(text: str) -> Iterator[Any]:
    """Clang prints one document of JSON after the other."""
    decoder, at = json.JSONDecoder(), 0
    while (start := text.find("{", at)) >= 0:
        node, at = decoder.raw_decode(text, start)
        yield node


def _declared(source: Path, kernel: str, node: Mapping[str, Any]) -> Declared:
    begin, end = (node["range"][one].get("offset", 0) for one in ("begin", "end"))
    file = Path(node["loc"].get("file", source))  # which the source may include
    body = file.read_bytes()[begin:end].decode(errors="replace")
    protocol = PROTOCOL.search(body)
    arguments = []
    for one in node.get("inner", ()):
        if one["kind"] != "ParmVarDecl":
            continue
        said = one["type"].get("desugaredQualType") or one["type"]["qualType"]
        plain = said.removeprefix("const ")
        name = one.get("name", "")
        # Whatever name it has: what is no stream does not compile (card_start.hpp).
        if plain.endswith(" &") and plain.removesuffix(" &") not in SCALARS and said == plain:
            arguments.append((name, STREAM, STREAM))
        elif plain.endswith(("*", "*restrict", "*__restrict")):
            arguments.append((name, BUFFER, "void*"))
        elif plain in SCALARS and name:
            arguments.append((name, SCALAR, SCALARS[plain][0]))
        else:
            cause = f"{kernel} has the argument {name or 'without a name'} of the type {said}"
            raise FabricmarkError(cause, "give kernels pointers, streams by reference and C's numbers")
    return Declared(protocol[1].lower() if protocol else card.PROTOCOL, tuple(arguments))


def describe(design: Design, found: Linked, kernels: Mapping[str, Declared], platform: str | None) -> dict:
    """The description that container and card are made from (xclbin.py), of a design that has a board's
    memories and nothing else."""
    memories = card.memories_of(design.memory)
    numbers = {bank["name"]: number for number, bank in enumerate(memories)}
    kind = design.memory.kind.upper()
    units: list[dict[str, Any]] = []
    for kernel, names in found.units.items():
        one = kernels[kernel]
        for name in names:
            is_free = one.protocol == xclbin.WITHOUT_CONTROL
            base = xclbin.NO_ADDRESS if is_free else card.FIRST_UNIT + card.UNIT_BYTES * len(units)
            arguments = list(_arguments(name, one, found.places, numbers, f"{kind}[0]"))
            units.append({"kernel": kernel, "name": name, "control": one.protocol, "base": base,
                          "arguments": arguments})  # fmt: skip
    _check_ends(found, units)
    streams = [{"from": start, "to": end, "depth": depth} for start, end, depth in found.streams]
    return {**card.head(design, platform), "memories": memories, "units": units, "streams": streams}


def _arguments(
    unit: str, kernel: Declared, places: Mapping[str, str], numbers: Mapping[str, int], usual: str
) -> Iterator[dict[str, Any]]:
    sizes = {name: size for name, size in SCALARS.values()}
    offset = card.FIRST_ARGUMENT
    for name, kind, type_ in kernel.arguments:
        size = sizes[type_] if kind == SCALAR else card.TYPES["buffer"][1]
        banks = []
        if kind == BUFFER:
            place = places.get(f"{unit}.{name}", usual)
            if place not in numbers:
                raise FabricmarkError(f"the emulated card has no {place}", f"use {usual} and so on in sp")
            banks = [numbers[place]]
        yield {"name": name, "kind": kind, "type": type_, "offset": 0 if kind == STREAM else offset,
               "bytes": size, "banks": banks}  # fmt: skip
        if kind != STREAM:
            offset += max(size, card.REGISTER) + card.REGISTER


def _check_ends(found: Linked, units: Sequence[Mapping[str, Any]]) -> None:
    """Raises FabricmarkError (2) for what joins nothing or too much, and for memory of what is no buffer."""
    kinds = {f"{unit['name']}.{one['name']}": one["kind"] for unit in units for one in unit["arguments"]}
    known = ", ".join(name for name, kind in kinds.items() if kind == STREAM)
    seen: set[str] = set()
    for start, end, _ in found.streams:
        for one, port, what in ((start, RECEIVES, "link_N.rx"), (end, SENDS, "link_N.tx")):
            if kinds.get(one) != STREAM and not port.fullmatch(one):
                raise FabricmarkError(
                    f"stream_connect={start}:{end}: {one} is none of the streams of a compute unit",
                    f"name one of {known} or {what}",
                )
            if one in seen:
                raise FabricmarkError(f"{one} is joined twice", "join each end once")
            seen.add(one)
    for name, kind in kinds.items():
        if kind == STREAM and name not in seen:
            raise FabricmarkError(
                f"{name} is joined to nothing: its kernel would wait for ever", "give it a stream_connect"
            )
    for name in found.places:
        if kinds.get(name) != BUFFER:
            cause = f"sp={name}: it is no argument in memory"
            raise FabricmarkError(cause, "name UNIT.ARGUMENT of a pointer")


def entry_source(source: Path, description: Mapping[str, Any]) -> str:
    """C++: the kernels, and what the card finds in the library."""
    kernels = dict.fromkeys(unit["kernel"] for unit in description["units"])
    lines = [f'#include "{source.absolute()}"', '#include "card_start.hpp"', 'extern "C" {']
    for kernel in kernels:
        lines += [f"void fabricmark_card_start_{kernel}(void *const *arguments) {{"]
        lines += [f"  fabricmark_card::start({kernel}, arguments);", "}"]
    text = json.dumps(json.dumps(description))
    return "\n".join([*lines, f"extern const char fabricmark_card_description[] = {text};", "}", ""])


def steps(
    source: Path, config: Path, design: Design, platform: str | None, folder: Path, extra: Sequence[str]
) -> Steps:
    """What makes the bitstream `folder`/NAME.xclbin of a source NAME.cpp.

    `design`: of a board, for its memories. `extra`: options of the compiler. Raises FabricmarkError (2) for a
    source or a configuration that the card does not take.
    """
    card.check_memories(design)
    if not source.is_file():
        raise FabricmarkError(f"cannot read {source}: no such file", "name a source in HLS C++")
    options = [*card.QUIET, "-I", str(paths.card_headers()), "-I", str(paths.kernels()), *extra]
    found = linked(config)
    kernels = {name: declared(source, name, options) for name in found.units}
    description = describe(design, found, kernels, platform)
    stem = folder / source.stem
    entry, library, text = (
        stem.with_name(f"{source.stem}.{ending}") for ending in ("card.cpp", "so", "card.json")
    )
    bitstream = folder / f"{source.stem}.xclbin"
    commands = [
        [*card.COMPILER, *card.HLS_LANGUAGE, *options, "-shared", "-Wl,--no-undefined", str(entry),
         "-lstdc++", "-lm", "-o", str(library)],
        [sys.executable, "-m", "fabricmark.build.xclbin", str(text), str(library), str(bitstream)],
    ]  # fmt: skip
    files = {
        text: json.dumps(description, indent=1) + "\n",
        entry: entry_source(source, description),
        folder / "emconfig.json": xclbin.emulation_config(description, 1),
    }
    notes = [f"compute units: {', '.join(unit['name'] for unit in description['units'])}"]
    notes += [f"joined: {shlex.quote(start)} to {end}" for start, end, _ in found.streams]
    return Steps(CLANG, notes, files, commands, bitstream, "", card.CLANG_REMEDY)
