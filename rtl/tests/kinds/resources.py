"""What yosys makes of the RTL for two families of FPGAs: 15 % more than `rtl/resources.toml` fails.

Cells are in yosys' own words: "intel_alm, Cyclone V cells" stand for Intel, as it knows no larger family.
"""

import json
import threading
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from common import BUILD, RTL, SOURCES, TOP, Failure, Options, Task, once, run

TOOLS = ("yosys",)
TABLE = RTL / "resources.toml"
ETHERNET, ETHERNET_TOP = RTL / "ethernet", "fm_eth_port"
MOST = 1.15
WRITING = threading.Lock()
SHAPE = {"W": 256, "D": 32, "RX": 512}
INTEL = "intel_alm, Cyclone V cells, without payload CRC"
INTEL_CELLS = "synth_intel_alm -family cyclonev"
# Of the check sum over payloads yosys' ABC makes no Intel cells within seven minutes of CPU.
BUILDS = {
    "xcup": ("synth_xilinx -family xcup -flatten", {"PAYLOAD_CRC": 1}),
    "xcup without payload CRC": ("synth_xilinx -family xcup -flatten", {"PAYLOAD_CRC": 0}),
    INTEL: (INTEL_CELLS, {"PAYLOAD_CRC": 0}),
}
# Fig. 2.10 of Mondigo 2020: packets and depths of receive buffers.
BUILDS |= {
    f"{INTEL}, D {packet}, RX {depth}": (INTEL_CELLS, {"PAYLOAD_CRC": 0, "D": packet, "RX": depth})
    for depth in (256, 512, 1024, 2048)
    for packet in (8, 16, 32, 64, 128)
    if (packet, depth) != (SHAPE["D"], SHAPE["RX"])
}
PORT = "intel_alm, Cyclone V cells, Ethernet port"  # what a switched network takes beside an end: Fig. 4.6
BUILDS[PORT] = (INTEL_CELLS, {})
# What compression takes beside an end, for cells of ten channels and rows of 720 of them.
CODEC = RTL / "codec"
CODEC_SHAPE = {"W": SHAPE["W"], "C": 10, "N": 1, "FLOATS": 1, "COLUMNS": 720}
CODEC_TOPS = {
    f"{family}, {way} {predictor}": (command, f"fm_fp_{way}", {"PLANE": plane})
    for family, command, predictors in (
        ("xcup", "synth_xilinx -family xcup -flatten", {"2d": 1}),
        ("intel_alm, Cyclone V cells", INTEL_CELLS, {"1d": 0, "2d": 1}),
    )
    for way in ("compress", "decompress")
    for predictor, plane in predictors.items()
}
BUILDS |= {name: (command, change) for name, (command, _, change) in CODEC_TOPS.items()}
# Of `make test-rtl`.
SHORT = ("xcup without payload CRC", INTEL, *(name for name in CODEC_TOPS if name.startswith("xcup")))
# Sums of kinds of cells, by the start of their names; of the pins of a chip there are none.
KINDS = {
    "LUT": ("LUT", "INV"),
    "FF": ("FD", "MISTRAL_FF"),
    "CARRY4": ("CARRY4",),
    "MUXF": ("MUXF",),
    "SRL16": ("SRL16",),
    "RAM64M8": ("RAM64M8",),
    "RAMB36": ("RAMB36",),
    "ALUT": ("MISTRAL_ALUT", "MISTRAL_NOT"),
    "M10K": ("MISTRAL_M10K",),
}


def counts(cells: dict[str, int]) -> dict[str, int]:
    found = {
        kind: sum(number for cell, number in cells.items() if cell.startswith(starts))
        for kind, starts in KINDS.items()
    }
    return {kind: number for kind, number in found.items() if number > 0}


def top_of(name: str) -> tuple[str, dict[str, int], tuple[Path, ...]]:
    """The module of a build, its usual parameters and the folders of its sources."""
    if name in CODEC_TOPS:
        return CODEC_TOPS[name][1], CODEC_SHAPE, (CODEC,)
    if name == PORT:
        return ETHERNET_TOP, {"W": SHAPE["W"], "D": SHAPE["D"]}, (SOURCES, ETHERNET)
    return TOP, SHAPE, (SOURCES,)


@once
def measured(name: str) -> dict[str, int]:
    command, change = BUILDS[name]
    top, shape, folders = top_of(name)
    files = " ".join(str(file) for folder in folders for file in sorted(folder.glob("*.sv")))
    sets = " ".join(f"-set {key} {number}" for key, number in (shape | change).items())
    BUILD.mkdir(parents=True, exist_ok=True)
    place = BUILD / f"resources_{list(BUILDS).index(name)}.json"
    script = f"read_verilog -sv -I{SOURCES} {files}; chparam {sets} {top}; {command} -top {top}; "
    run(["yosys", "-q", "-p", f"{script} tee -q -o {place} stat -json"], name)
    return counts(json.loads(place.read_text())["design"]["num_cells_by_type"])


def table() -> dict[str, dict[str, int]]:
    return tomllib.loads(TABLE.read_text()) if TABLE.exists() else {}


def grown(known: dict[str, int], now: dict[str, int]) -> list[str]:
    """What there is too much of, in words."""
    pairs = [(kind, known.get(kind, 0), number) for kind, number in now.items()]
    return [f"{kind} {before} to {number}" for kind, before, number in pairs if number > MOST * before]


def growth_is_seen() -> None:
    """Raises Failure where a quarter more of one kind, or a new kind, is let pass."""
    for name, known in table().items():
        for kind in known:
            if not grown(known, known | {kind: -(-known[kind] * 5 // 4)}) or grown(known, known):
                raise Failure(f"{name}: a quarter more {kind} is not seen")
        if not grown(known, known | {"new": 1}):
            raise Failure(f"{name}: a new kind of cell is not seen")


def compare(name: str) -> str:
    """Raises Failure where there is more of something than was."""
    known, now = table().get(name, {}), measured(name)
    if not known:
        raise Failure(f"{TABLE.name} has no {name}; run with --write")
    if found := grown(known, now):
        raise Failure(f"{name}: grown from {', '.join(found)}; if that is meant, run with --write")
    return ", ".join(f"{number} {kind}" for kind, number in now.items())


def write(name: str) -> str:
    now = measured(name)
    with WRITING:
        known = table() | {name: now}
        lines = [
            "# Cells of one end of a credit link, and of compression, as yosys counts them;"
            " rtl/tests/run.py --only resources --full --write renews it."
        ]
        for shape in (SHAPE, CODEC_SHAPE):
            lines.append("# " + ", ".join(f"{key} = {number}" for key, number in shape.items()))
        for title in BUILDS:
            found = known.get(title, {})
            lines += ["", f'["{title}"]', *(f"{kind} = {number}" for kind, number in found.items())]
        TABLE.write_text("\n".join(lines) + "\n")
    return f"written to {TABLE.name}"


def tasks(options: Options) -> Iterator[Task]:
    yield Task("growth is seen", growth_is_seen)
    for name in BUILDS:
        yield Task(name, partial(write if options.write else compare, name), is_full=name not in SHORT)
