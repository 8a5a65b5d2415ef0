"""Hosts of dataflow kernels in bitstreams with ACCL's engine, between emulated cards.

No card was there: an engine in ACCL's place and a stub of its driver (accl_cards.py). Hosts, kernels and the
words between them are the real ones.
"""

import json
import shutil

import pytest
from accl_cards import Design, bitstream, plugin_of_stub, run
from fabricmark.base import xrt
from fabricmark.build import steps

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
)
BUFFERED = Design(
    "ptrans",
    """
#define exchange_blocks exchange_blocks_of_suite
#include "ptrans/dataflow.cpp"
#undef exchange_blocks
#include "engine.hpp"
extern "C" void exchange_blocks(
    fm::stream<fm::accl_request>& commands, fm::stream<fm::accl_word>& statuses, const int* receives,
    int receiving, const int* sends, int sending, char* arrived, char* a, unsigned int elements,
    unsigned long long bytes, unsigned int communicator, unsigned int datapath, unsigned int compression,
    int* failed) {
  exchange_blocks_of_suite(commands, statuses, receives, receiving, sends, sending,
                           (unsigned long long)arrived, (unsigned long long)a, elements, bytes, communicator,
                           datapath, compression, failed);
}
""",
    OF_MEMORIES.format(caller="exchange")
    + PAIR
    + """
nk=exchange_blocks:1:exchange
stream_connect=send.leaves:receive.arrives
""",
    BUILT_PTRANS,
    ("exchange.arrived", "exchange.a"),
    OPTIONS_PTRANS,
)
PTRANS = (
    "--distribution", "diagonal", "--size", "64", "--replications", "1", "--repetitions", "1",
    "--warmup", "0",
)  # fmt: skip
HPL = Design(
    "hpl",
    """
#define hpl_carry hpl_carry_of_suite
#include "hpl/dataflow.cpp"
#undef hpl_carry
#include "engine.hpp"
extern "C" void hpl_carry(
    fm::stream<fm::accl_request>& commands, fm::stream<fm::accl_word>& statuses,
    unsigned int row_communicator, unsigned int row_datapath, unsigned int row_compression, int row_root,
    char* row_address, unsigned int row_count, unsigned int column_communicator, unsigned int column_datapath,
    unsigned int column_compression, int column_root, char* column_address, unsigned int column_count,
    int* failed) {
  hpl_carry_of_suite(commands, statuses, row_communicator, row_datapath, row_compression, row_root,
                     (unsigned long long)row_address, row_count, column_communicator, column_datapath,
                     column_compression, column_root, (unsigned long long)column_address, column_count,
                     failed);
}
""",
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
    ("carry.row_address", "carry.column_address"),
    ("-D__SYNTHESIS__", "-DDATA_TYPE=float", "-DREGISTER_BLOCK=4"),
)
WATER = Design(
    "shallow_water",
    """
#define call_for_halos call_for_halos_of_suite
#include "shallow_water/dataflow.cpp"
#undef call_for_halos
#include "engine.hpp"
extern "C" void call_for_halos(
    const sw_kernels::neighbour* neighbours, unsigned int count, unsigned int steps, char* memory,
    unsigned int communicator, unsigned int datapath, unsigned int compression, fm::stream<int>& ready,
    fm::stream<int>& arrived, fm::stream<fm::accl_request>& sends, fm::stream<fm::accl_word>& sent,
    fm::stream<fm::accl_request>& receives, fm::stream<fm::accl_word>& received, int* failed) {
  call_for_halos_of_suite(neighbours, count, steps, (unsigned long long)memory, communicator, datapath,
                          compression, ready, arrived, sends, sent, receives, received, failed);
}
""",
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
    ("control.memory",),
)
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


def is_valid(done, result):
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    assert {one["status"] for one in document["verdicts"]} == {"passed"}
    assert {one["kind"] for one in document["measurements"]} == {"emulated"}


def finds_faults(start):
    """A flipped word makes the run invalid, and a lost one is named by who waits for it."""
    flipped = start(FABRICMARK_CARD_FAULT="flipped")
    assert flipped.returncode == 1 and "INVALID" in flipped.stdout + flipped.stderr, flipped.stderr
    lost = start(FABRICMARK_CARD_FAULT="lost", FABRICMARK_CARD_SECONDS="2")
    assert lost.returncode != 0 and "has not ended within 2 s" in lost.stderr, lost.stderr


def test_ptrans_is_valid_from_kernel_to_kernel(streaming, plugin, tmp_path):
    result = tmp_path / "result.json"
    words = ("fm_ptrans", streaming, plugin, "--mode", "streaming", *PTRANS)
    is_valid(run(*words, "--json", result), result)
    finds_faults(lambda **told: run(*words, transport="accl-tcp", **told))
    assert run(*words, "--inject-fault", "element").returncode == 1


@pytest.mark.full
def test_ptrans_is_valid_from_memory_to_memory(plugin, tmp_path):
    result = tmp_path / "result.json"
    words = ("fm_ptrans", bitstream(tmp_path, BUFFERED), plugin, *PTRANS, "--round-blocks", "2")
    is_valid(run(*words, "--json", result), result)
    finds_faults(lambda **told: run(*words, **told))


def test_hpl_is_valid_between_cards(plugin, tmp_path):
    result = tmp_path / "result.json"
    words = ("fm_hpl", bitstream(tmp_path, HPL), plugin, *HPL_WORDS)
    is_valid(run(*words, "--json", result), result)
    finds_faults(lambda **told: run(*words, transport="accl-tcp", **told))


@pytest.mark.full
def test_shallow_water_is_valid_between_cards(plugin, tmp_path):
    result = tmp_path / "result.json"
    words = ("fm_shallow_water", bitstream(tmp_path, WATER), plugin, *WATER_WORDS)
    is_valid(run(*words, "--json", result), result)
    finds_faults(lambda **told: run(*words, transport="accl-tcp", **told))


def test_what_a_card_does_not_do_is_one_line(streaming, plugin):
    cases = [
        (("--inject-fault", "lost"), "--inject-fault asks for a fault of messages"),
        (("--issuer", "host"), "use --issuer logic"),
    ]
    for words, text in cases:
        done = run("fm_ptrans", streaming, plugin, "--mode", "streaming", *PTRANS, *words)
        lines = [line for line in done.stderr.splitlines() if text in line]
        assert (done.returncode, len(lines)) == (2, 1), done.stderr
