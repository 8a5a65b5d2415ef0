"""Hosts of dataflow kernels in bitstreams with ACCL's engine, between emulated cards.

No card was there: an engine in ACCL's place and a stub of its driver (accl_cards.py). Hosts, kernels and the
words between them are the real ones.
"""

import json
import shutil
import subprocess
from dataclasses import replace

import pytest
from accl_cards import (
    BUILT_B_EFF,
    KERNELS_OF_B_EFF,
    PROGRAMS,
    Design,
    bitstream,
    linked,
    plugin_of_stub,
    run,
    write_sidecar,
)
from fabricmark.base import xrt
from fabricmark.build import accl, steps
from simulated_runs import exported

pytestmark = [
    pytest.mark.programs,
    pytest.mark.usefixtures("of_the_repository"),
    pytest.mark.skipif(
        xrt.find() is None or shutil.which(steps.CLANG) is None, reason="AMD's XRT or clang is not installed"
    ),
]
BUILT_PTRANS = {
    "data_type": "float", "block_size": 16, "channel_width": 16, "internal_channels": False,
    "vector_bytes": 64, "tile_size": 16, "tile_rows": 4,
}  # fmt: skip
OPTIONS_PTRANS = ("-DDATA_TYPE=float", "-DBLOCK_SIZE=16", "-DCHANNEL_WIDTH=16")
BUILT_HPL = {
    "data_type": "float", "block_size": 16, "register_block": 4, "matrix_units": 0,
    "internal_channels": False, "vector_bytes": 64, "tile_rows": 4, "tile_vectors": 4, "depth_block": 16,
    "row_tiles": 22, "column_tiles": 8, "group_side": 8,
}  # fmt: skip
BUILT_WATER = {
    "order": 0, "data_type": "float", "flux": "rusanov", "exact": False, "vector_bytes": 64,
}  # fmt: skip
BUILT = {"b_eff": BUILT_B_EFF, "ptrans": BUILT_PTRANS, "hpl": BUILT_HPL, "shallow_water": BUILT_WATER}
OTHER = {"buffered": "streaming", "streaming": "buffered"}
SIZES = {"block_size", "data_type", "order", "register_block"}  # what the values depend on
# The first stream is the one in which the card plants a fault.
ENGINE = """[connectivity]
nk={engine}:1:ccl_offload_0
nk=arrive:1:arrive_0
stream_connect=ccl_offload_0.wire:link_0.tx
stream_connect=link_0.rx:arrive_0.wire
"""
OF_MEMORIES = (
    ENGINE.format(engine="ccl_offload_of_memories")
    + """
stream_connect={caller}.commands:ccl_offload_0.calls:512
stream_connect=ccl_offload_0.ended:{caller}.statuses:512
stream_connect=arrive_0.to_kernels:ccl_offload_0.landed:16384
"""
)
PAIR = """
nk=send_blocks_by_engine:1:send
nk=receive_blocks_by_engine:1:receive
stream_connect=send.stays:receive.stays
"""
STREAMING = Design(
    "ptrans",
    '#include "ptrans/dataflow.cpp"\n#include "engine.hpp"\n',
    ENGINE.format(engine="ccl_offload")
    + PAIR
    + """
nk=put_words:1:put
stream_connect=put.commands:ccl_offload_0.calls:512
stream_connect=ccl_offload_0.ended:put.statuses:512
stream_connect=send.leaves:ccl_offload_0.made:512
stream_connect=arrive_0.to_kernels:receive.arrives:16384
""",
    BUILT_PTRANS,
    options=OPTIONS_PTRANS,
    modes=("streaming",),
)
BUFFERED = Design(
    "ptrans",
    '#include "ptrans/dataflow.cpp"\n#include "engine.hpp"\n',
    OF_MEMORIES.format(caller="exchange")
    + PAIR
    + """
nk=exchange_blocks:1:exchange
stream_connect=send.leaves:receive.arrives
""",
    BUILT_PTRANS,
    options=OPTIONS_PTRANS,
)
PTRANS = (
    "--distribution", "diagonal", "--size", "64", "--replications", "1", "--repetitions", "1",
    "--warmup", "0",
)  # fmt: skip
B_EFF = Design(
    "b_eff",
    '#include "b_eff/dataflow.cpp"\n#include "engine.hpp"\n',
    OF_MEMORIES.format(caller="control")
    + KERNELS_OF_B_EFF
    + "stream_connect=joiner.joined:router.arriving\n",
    BUILT_B_EFF,
)
HPL = Design(
    "hpl",
    '#include "hpl/dataflow.cpp"\n#include "engine.hpp"\n',
    OF_MEMORIES.format(caller="carry")
    + """
nk=hpl_lu:1:lu
nk=hpl_top:1:top
nk=hpl_left:1:left
nk=hpl_put:4:put_l.put_u.put_top.put_left
nk=hpl_take:2:take_l.take_u
nk=hpl_carry:1:carry
nk=hpl_inner:1:inner
stream_connect=lu.lower:put_l.arriving
stream_connect=lu.upper:put_u.arriving
stream_connect=take_l.leaving:top.factor
stream_connect=take_u.leaving:left.factor
stream_connect=top.updated:put_top.arriving
stream_connect=left.updated:put_left.arriving
""",
    BUILT_HPL,
    options=("-D__SYNTHESIS__", "-DDATA_TYPE=float", "-DREGISTER_BLOCK=4"),
)
WATER = Design(
    "shallow_water",
    '#include "shallow_water/dataflow.cpp"\n#include "engine.hpp"\n',
    ENGINE.format(engine="ccl_offload_of_halos")
    + """
nk=element_kernel:1:elements
nk=edge_kernel:1:edges
nk=send_by_engine:1:send
nk=call_for_halos:1:control
nk=receive_from_memory:1:receive
stream_connect=elements.projected:edges.projected
stream_connect=edges.beyond:elements.beyond
stream_connect=edges.leaving:send.leaving:16384
stream_connect=send.ready:control.ready
stream_connect=send.to_engine:ccl_offload_0.made:512
stream_connect=control.arrived:receive.arrived
stream_connect=receive.met_words:elements.met_words
stream_connect=control.sends:ccl_offload_0.sends:512
stream_connect=ccl_offload_0.sent:control.sent:512
stream_connect=control.receives:ccl_offload_0.receives:512
stream_connect=ccl_offload_0.received:control.received:512
stream_connect=arrive_0.to_kernels:ccl_offload_0.landed:16384
""",
    BUILT_WATER,
)
B_EFF_WORDS = ("--largest", "8", "--sub-steps", "false", "--repetitions", "1", "--warmup", "0")
WATER_WORDS = ("--mesh", "bay:200", "--steps", "20", "--repetitions", "1", "--warmup", "0")
HPL_WORDS = (
    "--size", "64", "--replications", "1", "--issuer", "logic", "--repetitions", "1", "--warmup", "0",
)  # fmt: skip


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    return plugin_of_stub(tmp_path_factory.mktemp("accl"))


@pytest.fixture(scope="module")
def streaming(tmp_path_factory):
    return bitstream(tmp_path_factory.mktemp("streaming"), STREAMING)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    return exported(tmp_path_factory.mktemp("boards"), "noctua2")


def found(file):
    """What was checked, and the digest of what came out."""
    document = json.loads(file.read_text())
    assert {one["status"] for one in document["verdicts"]} == {"passed"}
    verdicts = [[one[part] for part in ("name", "error", "checked")] for one in document["verdicts"]]
    return document, verdicts, [note for note in document["notes"] if note.startswith("digest")]


def is_valid(folder, system, benchmark, card, plugin, *words):
    """And the same as between emulated boards; returns the words for another run."""
    program = f"fm_{benchmark}"
    on_cards, on_boards = folder / "cards.json", folder / "boards.json"
    done = run(program, card, plugin, *words, "--json", on_cards)
    assert done.returncode == 0, done.stderr
    document, *values = found(on_cards)
    assert {one["kind"] for one in document["measurements"]} == {"emulated"}
    built = [
        part
        for name in SIZES & BUILT[benchmark].keys()
        for part in (f"--{name.replace('_', '-')}", BUILT[benchmark][name])
    ]
    command = [PROGRAMS / program, "--variant", "dataflow", "--transport", "accl-udp", "--ranks", "2"]
    command += ["--system", system, *words, *built, "--json", on_boards]
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=100)
    assert values == list(found(on_boards)[1:])
    return program, card, plugin, *words


def finds_faults(start):
    """A flipped word makes the run invalid, and a lost one is named by who waits for it."""
    flipped = start(FABRICMARK_CARD_FAULT="flipped")
    assert flipped.returncode == 1 and "INVALID" in flipped.stdout + flipped.stderr, flipped.stderr
    lost = start(FABRICMARK_CARD_FAULT="lost", FABRICMARK_CARD_SECONDS="2")
    assert lost.returncode != 0 and "has not ended within 2 s" in lost.stderr, lost.stderr


def test_ptrans_is_valid_from_kernel_to_kernel(streaming, plugin, system, tmp_path):
    words = is_valid(tmp_path, system, "ptrans", streaming, plugin, "--mode", "streaming", *PTRANS)
    finds_faults(lambda **told: run(*words, transport="accl-tcp", **told))
    assert run(*words, "--inject-fault", "element").returncode == 1


@pytest.mark.full
def test_ptrans_is_valid_from_memory_to_memory(plugin, system, tmp_path):
    words = is_valid(
        tmp_path, system, "ptrans", bitstream(tmp_path, BUFFERED), plugin, *PTRANS, "--round-blocks", "2"
    )
    finds_faults(lambda **told: run(*words, **told))


def test_b_eff_is_valid_from_memory_to_memory(plugin, system, tmp_path):
    """The addresses stand in commands, which lie in memory themselves."""
    words = is_valid(tmp_path, system, "b_eff", bitstream(tmp_path, B_EFF), plugin, *B_EFF_WORDS)
    finds_faults(lambda **told: run(*words, transport="accl-tcp", **told))
    assert run(*words, "--inject-fault", "element").returncode == 1


def test_an_address_of_no_buffer_is_one_line(plugin, tmp_path):
    card = bitstream(tmp_path, replace(B_EFF, options=("-DASTRAY=0x100000000000ULL",)))
    done = run("fm_b_eff", card, plugin, *B_EFF_WORDS)
    assert done.returncode != 0
    text = "the kernel of ccl_offload_0 cannot go on: no buffer of the emulated card holds 4 bytes at 0x1"
    assert text in done.stderr, done.stderr


def test_hpl_is_valid_between_cards(plugin, system, tmp_path):
    words = is_valid(tmp_path, system, "hpl", bitstream(tmp_path, HPL), plugin, *HPL_WORDS)
    finds_faults(lambda **told: run(*words, transport="accl-tcp", **told))


@pytest.mark.full
def test_shallow_water_is_valid_between_cards(plugin, system, tmp_path):
    words = is_valid(tmp_path, system, "shallow_water", bitstream(tmp_path, WATER), plugin, *WATER_WORDS)
    finds_faults(lambda **told: run(*words, transport="accl-tcp", **told))


def is_refused(done, text):
    lines = [line for line in done.stderr.splitlines() if text in line]
    assert (done.returncode, len(lines)) == (2, 1), done.stderr


def test_what_a_card_does_not_do_is_one_line(streaming, plugin):
    cases = [
        (("--inject-fault", "lost"), "--inject-fault asks for a fault of messages"),
        (("--issuer", "host"), "use --issuer logic"),
    ]
    for words, text in cases:
        is_refused(run("fm_ptrans", streaming, plugin, "--mode", "streaming", *PTRANS, *words), text)


@pytest.fixture
def unloadable(streaming, tmp_path):
    """No bitstream at all: where a program loads it, its line is another one."""
    shutil.copy(streaming.parent / "emconfig.json", tmp_path)
    file = tmp_path / "dataflow.xclbin"
    file.write_bytes(b"of nothing")
    return file


@pytest.mark.parametrize("mode", OTHER)
@pytest.mark.parametrize("benchmark", accl.data()["designs"])
def test_what_was_linked_for_something_else_is_refused_before_it_is_loaded(
    benchmark, mode, unloadable, plugin
):
    """Of all programs, transports and modes: tests/unit/linked_engine_test.cpp."""
    cases = {
        "": "does not say what engine the bitstream is linked with; write transports and modes",
        linked([mode], ["accl-tcp"]): "linked for transport accl-tcp",
        linked([OTHER[mode]]): f"wants mode {mode}; use --mode {OTHER[mode]}",
        "[engine]\ntransports = []\n": "engine.transports is missing or wrong; give a list of names",
        linked([mode]): "it does not begin with xclbin2",  # linked for this run: it is loaded
    }
    for said, text in cases.items():
        write_sidecar(unloadable, benchmark, BUILT[benchmark], said)
        is_refused(run(f"fm_{benchmark}", unloadable, plugin, "--mode", mode), text)


@pytest.mark.parametrize("benchmark", accl.data()["designs"])
def test_rdma_is_refused(benchmark, unloadable, plugin):
    """Whatever the sidecar says."""
    write_sidecar(unloadable, benchmark, BUILT[benchmark], linked())
    done = run(f"fm_{benchmark}", unloadable, plugin, transport="accl-rdma")
    is_refused(done, "and the run wants transport accl-rdma; use --transport accl-udp or accl-tcp")
