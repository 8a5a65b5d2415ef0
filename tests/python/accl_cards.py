"""Two emulated cards whose bitstreams have an engine in ACCL's place, and hosts that drive it by a stub.

The engine (tests/accl_stub/engine.hpp) reads and writes memory at the physical addresses that commands name.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from conftest import REPOSITORY
from fabricmark.build import design, steps, streams

PLUGIN = REPOSITORY / "src" / "board" / "accl_driver" / "plugin" / "plugin.cpp"
STUB = REPOSITORY / "tests" / "accl_stub"
PROGRAMS = REPOSITORY / "build" / "release" / "bin"

BUILT_B_EFF = {"replications": 2, "channel_width": 8, "internal_channels": False}
# b_eff's kernels, but for the two ends of the engine's data and who calls.
KERNELS_OF_B_EFF = """
nk=call_engine:1:control
nk=make_words:2:make_0.make_1
nk=take_words:2:take_0.take_1
nk=join_words:1:joiner
nk=route_words:1:router
stream_connect=make_0.leaving:joiner.first
stream_connect=make_1.leaving:joiner.second
stream_connect=router.first:take_0.arriving
stream_connect=router.second:take_1.arriving
stream_connect=take_0.arrived:control.from_left
stream_connect=take_1.arrived:control.from_right
"""


@dataclass(frozen=True)
class Design:
    """Kernels with an engine. `source`: C++; `config`: what v++'s linker is told; `parameters`: of the
    build; `modes`: that the engine serves."""

    benchmark: str
    source: str
    config: str
    parameters: dict[str, object]
    options: tuple[str, ...] = ()
    modes: tuple[str, ...] = ("buffered",)


def compiled(includes, *words):
    """Compile the plugin."""
    line = ["c++", "-std=c++17", "-Wall", "-Wextra", *includes, str(PLUGIN), *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


def plugin_of_stub(folder: Path) -> Path:
    file = folder / "libfabricmark_accl.so"
    done = compiled([f"-I{STUB}"], "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-o", str(file))
    assert done.returncode == 0, done.stderr
    return file


def bitstream(folder: Path, of: Design) -> Path:
    source, config = folder / "dataflow.cpp", folder / "link.cfg"
    source.write_text(of.source)
    config.write_text(of.config)
    # Cards have no ap_axi_sdata.h: that of the stub, whose wide words go with numbers of the card.
    axi = REPOSITORY / "tests" / "hls_stub" / "ap_axi_sdata.h"
    (folder / "ap_axi_sdata.h").write_text(f'#define FABRICMARK_STUB_AP_INT_H\n#include "{axi}"\n')
    extra = ["-I", str(folder), "-I", str(STUB), *of.options]
    made = streams.steps(source, config, design.touching("u280_hbm", None, {}), None, folder, extra)
    steps.carry_out(made)
    write_sidecar(made.bitstream, of.benchmark, of.parameters, linked(of.modes))
    return made.bitstream


def write_sidecar(bitstream: Path, benchmark: str, parameters: dict[str, object], engine: str) -> None:
    """`engine`: what `linked` gives."""
    values = "".join(f"{name} = {json.dumps(value)}\n" for name, value in parameters.items())
    text = f'benchmark = "{benchmark}"\nvariant = "dataflow"\n[parameters]\n{values}{engine}'
    bitstream.with_name(bitstream.name + ".toml").write_text(text)


def linked(modes=("buffered",), transports=("accl-udp", "accl-tcp")) -> str:
    """What a sidecar says of the engine: the cable in the network's place takes the words of either."""
    return f"[engine]\ntransports = {json.dumps(transports)}\nmodes = {json.dumps(modes)}\n"


def run(program, card, plugin, *words, transport="accl-udp", **variables):
    """Of two ranks on two cards."""
    command = [
        sys.executable, "-m", "fabricmark.build.emulate", "2", str(card.parent / "emconfig.json"),
        str(PROGRAMS / program), "--variant", "dataflow", "--transport", transport, "--ranks", "2",
        "--bitstream", str(card), *map(str, words),
    ]  # fmt: skip
    environment = {**os.environ, "FABRICMARK_CARD_SECONDS": "20", **variables}
    environment |= {"FABRICMARK_ACCL": str(plugin)} if plugin else {}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment, check=False)
