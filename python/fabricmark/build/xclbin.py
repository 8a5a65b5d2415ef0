"""The container .xclbin of AMD's runtime, for the emulated card: a writer, and a reader that checks.

A description says all of it but the kernels themselves, and the card reads the same one
(src/card/kernels.hpp): {"version", "platform", "clock_mhz", "memories": [{"name", "bytes", "used"}], "units":
[{"kernel", "name", "control", "base", "arguments": [{"name", "kind", "type", "offset", "bytes", "banks"}]}]};
banks are numbers of memories. What joins streams in the card ("streams") stands in its library alone: the
runtime knows nothing of it.

Source: the structures axlf, mem_topology, ip_layout and connectivity of XRT's xclbin.h (Apache-2.0).
As a program: python3 -m fabricmark.build.xclbin DESCRIPTION.json LIBRARY OUT.xclbin
"""

import hashlib
import json
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError, refusing

MAGIC, ELF = b"xclbin2\0", b"\x7fELF"
KINDS = {"BITSTREAM": 0, "EMBEDDED_METADATA": 2, "MEM_TOPOLOGY": 6, "CONNECTIVITY": 7, "IP_LAYOUT": 8}
NAMES = tuple(KINDS)
MEMORY_TYPES = {"DDR": 1, "HBM": 6}  # MEM_DDR4, MEM_HBM
SOFTWARE_EMULATION = 4  # XCLBIN_SW_EMU
KERNEL_UNIT = 1  # IP_KERNEL
USES_INTERRUPT = 1
# Of a unit's properties, from bit 8 on: AP_CTRL_HS, AP_CTRL_CHAIN, AP_CTRL_NONE.
PROTOCOLS = {"ap_ctrl_hs": 0, "ap_ctrl_chain": 1, "ap_ctrl_none": 2}
WITHOUT_CONTROL = "ap_ctrl_none"
NO_ADDRESS = 2**64 - 1  # of a unit without registers
QUALIFIERS = {"scalar": 0, "buffer": 1, "axis": 4}
WORD = 4  # a scalar has whole words in the register map: the runtime cuts it short otherwise
MOST_NAME, MOST_BANK_NAME = 63, 15
FRONT = struct.Struct("<8si28s256sQ")  # magic, signature's length, reserved, key block, unique id
HEADER = struct.Struct("<QQQHBBHH16s64s16s16sI4x")
SECTION = struct.Struct("<I16s4xQQ")
BANK, UNIT, LINK = struct.Struct("<BB6xQQ16s"), struct.Struct("<IIQ64s"), struct.Struct("<iii")
COUNT = struct.Struct("<i")
VERSION = (2, 13)  # of the format, as the runtime of that number wrote it
REMEDY = "build it again with `fabricmark build --target sw_emu --tool fabricmark`"
Description = Mapping[str, Any]


def write(description: Description, library: bytes) -> bytes:
    """The container. `library`: the shared library of the kernels, which the runtime hands to the card."""
    metadata = metadata_of(description).encode()
    sections = {
        "MEM_TOPOLOGY": COUNT.pack(len(description["memories"])) + bytes(4) + b"".join(_banks(description)),
        "IP_LAYOUT": COUNT.pack(len(description["units"])) + bytes(4) + b"".join(_units(description)),
        "CONNECTIVITY": _connectivity(description),
        "EMBEDDED_METADATA": metadata,
        "BITSTREAM": library,
    }
    at = _aligned(FRONT.size + HEADER.size + SECTION.size * len(sections))
    table, body = b"", b""
    for name, content in sections.items():
        table += SECTION.pack(KINDS[name], name.encode()[:15], at + len(body), len(content))
        body += content + bytes(_aligned(len(content)) - len(content))
    identity = hashlib.sha256(body).digest()[:16]
    header = HEADER.pack(
        at + len(body), 0, 0, 0, *VERSION, SOFTWARE_EMULATION, 0, bytes(16),
        description["platform"].encode(), identity, bytes(16), len(sections),
    )  # fmt: skip
    front = FRONT.pack(MAGIC, -1, b"\xff" * 28, bytes(256), 0) + header + table
    return front + bytes(at - len(front)) + body


def _aligned(size: int) -> int:
    return -(-size // 8) * 8


def _banks(description: Description) -> Iterator[bytes]:
    at = 0
    for bank in description["memories"]:
        name, kind = bank["name"].encode(), bank["name"].split("[")[0]
        if len(name) > MOST_BANK_NAME or kind not in MEMORY_TYPES:
            raise FabricmarkError(f"{bank['name']} is no memory of a card", "use a board with DDR or HBM")
        yield BANK.pack(MEMORY_TYPES[kind], bank["used"], bank["bytes"] // 1024, at, name)
        at += bank["bytes"]


def _units(description: Description) -> Iterator[bytes]:
    for unit in description["units"]:
        name = f"{unit['kernel']}:{unit['name']}".encode()
        if len(name) > MOST_NAME:
            raise FabricmarkError(f"the name {name.decode()} is too long for an .xclbin", "use a shorter one")
        interrupt = 0 if unit["control"] == WITHOUT_CONTROL else USES_INTERRUPT
        properties = interrupt | PROTOCOLS[unit["control"]] << 8
        yield UNIT.pack(KERNEL_UNIT, properties, unit["base"], name)


def _connectivity(description: Description) -> bytes:
    links = [
        LINK.pack(position, number, bank)
        for number, unit in enumerate(description["units"])
        for position, argument in enumerate(unit["arguments"])
        for bank in argument["banks"]
    ]
    return COUNT.pack(len(links)) + b"".join(links)


def metadata_of(description: Description) -> str:
    """The XML of the section EMBEDDED_METADATA: kernels, their arguments' registers, their units' addresses.

    Without a zero byte at its end: the runtime writes it out with its length.
    """
    kernels: dict[str, list[Description]] = {}
    for unit in description["units"]:
        kernels.setdefault(unit["kernel"], []).append(unit)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<project name="fabricmark">']
    lines += ['<platform vendor="xilinx" boardid="card" name="card" featureRomTime="0">']
    lines += ['<device name="fpga0" fpgaDevice="card">']
    clock, units = description["clock_mhz"], len(description["units"])
    lines += ['<core name="OCL_REGION_0" target="csim" type="clc_region" '
              f'clockFreq="{clock}MHz" numComputeUnits="{units}">']  # fmt: skip
    for name, of_kernel in kernels.items():
        lines += _kernel_lines(name, of_kernel)
    return "\n".join([*lines, "</core></device></platform></project>"])


def _kernel_lines(name: str, units: Sequence[Description]) -> Iterator[str]:
    yield (
        f'<kernel name="{name}" language="clc" vlnv="fabricmark:card:{name}:1.0" attributes="" '
        'preferredWorkGroupSizeMultiple="0" workGroupSize="1" interrupt="true" '
        f'hwControlProtocol="{units[0]["control"]}">'
    )
    yield f'<module name="{name}"/>'
    yield _port("S_AXI_CONTROL", "slave", "0x1000", 32)
    arguments = list(enumerate(units[0]["arguments"]))
    for position, argument in arguments:
        if argument["kind"] == "buffer":
            yield _port(f"M_AXI_{position}", "master", "0xFFFFFFFFFFFFFFFF", 512)
    for position, argument in arguments:
        port = {"buffer": f"M_AXI_{position}", "axis": argument["name"]}.get(
            argument["kind"], "S_AXI_CONTROL"
        )
        qualifier = QUALIFIERS[argument["kind"]]
        yield (
            f'<arg name="{argument["name"]}" addressQualifier="{qualifier}" id="{position}" '
            f'port="{port}" size="0x{max(argument["bytes"], WORD):X}" offset="0x{argument["offset"]:X}" '
            f'hostOffset="0x0" hostSize="0x{argument["bytes"]:X}" type="{argument["type"]}" '
            'memSize=""/>'
        )
    for unit in units:
        yield (
            f'<instance name="{unit["name"]}"><addrRemap base="0x{unit["base"]:X}" '
            'range="0x10000" port="S_AXI_CONTROL"/></instance>'
        )
    yield "</kernel>"


def _port(name: str, mode: str, size: str, width: int) -> str:
    return (
        f'<port name="{name}" mode="{mode}" range="{size}" dataWidth="{width}" '
        'portType="addressable" base="0x0"/>'
    )


def emulation_config(description: Description, cards: int) -> str:
    """The text of emconfig.json, as emconfigutil of Vitis writes it: so many boards with these memories."""
    banks = [{"Name": one["name"], "Size": _size(one["bytes"])} for one in description["memories"]]
    device = {
        "Name": description["platform"], "HalMajorVersion": "2", "HalMinorVersion": "0", "DdrBanks": banks,
        "OclFreqency": str(description["clock_mhz"]),  # sic
        "FeatureRom": {
            "Major_Version": "10", "Minor_Version": "1", "Ddr_Channel_Count": str(len(banks)),
            "Ddr_Channel_Size": str(max(description["memories"][-1]["bytes"] >> 30, 1)),
        },
    }  # fmt: skip
    boards = [{"NumBoards": str(cards), "Devices": [device]}]
    platform = {"UnifiedPlatform": "true", "ExpandedPR": "true", "Boards": boards}
    version = {"FileVersion": "2.0", "ToolVersion": "2022.1"}
    return json.dumps({"Version": version, "Platform": platform}, indent=1) + "\n"


def _size(size: int) -> str:
    """As the runtime reads it, which has 32 bits for bytes in MiB: whole GiB where it can be."""
    return f"{size >> 20}M" if size % 2**30 else f"{size >> 30}G"


def sections_of(content: bytes, name: str) -> dict[str, bytes]:
    """The sections of a container by name. `name`: of the file, for errors.

    Raises FabricmarkError (2), in one line, for what is no such container or is damaged: a length that is not
    the file's, a section outside of it, a missing or a repeated one, links to what there is not.
    """

    def check(is_right: bool, fault: str) -> None:
        if not is_right:
            raise FabricmarkError(f"{name} is damaged: {fault}", REMEDY)

    if content[: len(MAGIC)] != MAGIC:
        raise FabricmarkError(f"{name} is no .xclbin: it does not begin with xclbin2", REMEDY)
    check(len(content) >= FRONT.size + HEADER.size, "it ends within its header")
    header = HEADER.unpack_from(content, FRONT.size)
    length, count = header[0], header[-1]
    check(length == len(content), f"its header says {length} bytes, and it has {len(content)}")
    end = FRONT.size + HEADER.size + SECTION.size * count
    check(end <= len(content), f"its {count} sections end outside of it")
    of_kind = {kind: section for section, kind in KINDS.items()}
    found: dict[str, bytes] = {}
    for position in range(FRONT.size + HEADER.size, end, SECTION.size):
        kind, _, start, size = SECTION.unpack_from(content, position)
        section = of_kind.get(kind, f"section {kind}")
        check(end <= start and start + size <= len(content), f"its {section} lies outside of it")
        check(section not in found, f"it has {section} twice")
        found[section] = content[start : start + size]
    for section in NAMES:
        check(section in found, f"it has no {section}")
    banks = _table(found["MEM_TOPOLOGY"], BANK, 8)
    units = _table(found["IP_LAYOUT"], UNIT, 8)
    links = _table(found["CONNECTIVITY"], LINK, COUNT.size)
    for section, table in (("MEM_TOPOLOGY", banks), ("IP_LAYOUT", units), ("CONNECTIVITY", links)):
        check(table is not None, f"its {section} does not have the length that it says")
    for argument, unit, bank in links or []:
        known = argument >= 0 and 0 <= unit < len(units or []) and 0 <= bank < len(banks or [])
        check(known, f"its CONNECTIVITY links an argument of unit {unit} to memory {bank}")
    check(found["BITSTREAM"][:4] == ELF, "its BITSTREAM is no library of kernels for the emulated card")
    return found


def _table(section: bytes, row: struct.Struct, start: int) -> list[tuple] | None:
    """Its rows, or None where they are not as many as it says."""
    if len(section) < start or len(section) != start + row.size * COUNT.unpack_from(section)[0]:
        return None
    return list(row.iter_unpack(section[start:]))


def check_file(file: Path) -> None:
    """Raises FabricmarkError (2) for a file that cannot be read or is damaged."""
    with refusing(f"cannot read {file}", "name an .xclbin"):
        content = file.read_bytes()
    sections_of(content, str(file))


def main(description: Path, library: Path, output: Path) -> None:
    """Write the container of these two files, and read it back."""
    content = write(json.loads(description.read_text(encoding="utf-8")), library.read_bytes())
    sections_of(content, str(output))
    paths.write_atomically(output, content)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
