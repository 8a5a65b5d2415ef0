"""Command words of kernels against a table written from ACCL's documents, and in streams of Vitis' types.

The table is the order of ACCLCommand::start_call and what each of its functions passes
(driver/hls/accl_hls.h), with the codes of constants.hpp and the places from which the firmware takes
addresses (ccl_offload_control.c), all of github.com/Xilinx/ACCL, commit 723d8ec. Where ACCL_HLS names a
folder with that header and AP_TYPES one with AMD's ap_int.h, its own words are compared, too.
"""

import os
import shutil

import pytest
from conftest import REPOSITORY
from hls_support import STUB, built, run

ACCL_HLS, AP_TYPES = os.environ.get("ACCL_HLS"), os.environ.get("AP_TYPES")
COMMON = REPOSITORY / "kernels" / "common"
# Numbers whose halves and bytes all differ, so that no two can be taken for each other.
COMMUNICATOR, DATAPATH, COUNT, TAG = 0x1104, 0x1208, 1234567, 0x51
A, B, RESULT = 0x40_0123_4000, 0x41_0567_8000, 0x42_09AB_C000
WORDS = 15

# name: how a kernel has it, and the twelve arguments of ACCL's call.
CALLS = {
    "nop": ("accl_nop(use)", (255, 0, COMMUNICATOR, 0, 0, 0, DATAPATH, 0, 0, 0, 0, 0)),
    "copy": (
        "accl_copy(use, a, result, count)",
        (1, COUNT, COMMUNICATOR, 0, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
    "combine": (
        "accl_combine(use, fm::accl_max, a, b, result, count)",
        (2, COUNT, COMMUNICATOR, 0, 1, 0, DATAPATH, 0, 0, A, B, RESULT),
    ),
    "send": (
        "accl_send(use, a, count, 3, tag)",
        (3, COUNT, COMMUNICATOR, 3, 0, TAG, DATAPATH, 0, 0, A, 0, 0),
    ),
    "send compressed": (
        "accl_send(half, a, count, 3, tag)",
        (3, COUNT, COMMUNICATOR, 3, 0, TAG, DATAPATH, 8, 0, A, 0, 0),
    ),
    "recv": (
        "accl_recv(use, result, count, 2, tag)",
        (4, COUNT, COMMUNICATOR, 2, 0, TAG, DATAPATH, 0, 0, 0, 0, RESULT),
    ),
    "recv any": (
        "accl_recv(use, result, count, 2, fm::accl_any_tag)",
        (4, COUNT, COMMUNICATOR, 2, 0, 0xFFFFFFFF, DATAPATH, 0, 0, 0, 0, RESULT),
    ),
    "stream_put": (
        "accl_stream_put(use, a, count, 3, 9)",
        (3, COUNT, COMMUNICATOR, 3, 0, 9, DATAPATH, 0, 2, A, 0, 0),
    ),
    "stream_put of a stream": (
        "accl_stream_put(use, fm::accl_stream(0), count, 3, 9)",
        (3, COUNT, COMMUNICATOR, 3, 0, 9, DATAPATH, 0, 3, 1, 0, 0),
    ),
    "broadcast": (
        "accl_collective(use, fm::accl_broadcast, 1, count, a, fm::accl_no_operand())",
        (5, COUNT, COMMUNICATOR, 1, 0, 0, DATAPATH, 0, 0, A, 0, 0),
    ),
    "scatter": (
        "accl_collective(use, fm::accl_scatter, 1, count, a, result)",
        (6, COUNT, COMMUNICATOR, 1, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
    "gather": (
        "accl_collective(use, fm::accl_gather, 1, count, a, result)",
        (7, COUNT, COMMUNICATOR, 1, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
    "reduce": (
        "accl_collective(use, fm::accl_reduce, 1, count, a, result)",
        (8, COUNT, COMMUNICATOR, 1, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
    "all_gather": (
        "accl_collective(use, fm::accl_all_gather, 0, count, a, result)",
        (9, COUNT, COMMUNICATOR, 0, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
    "all_reduce": (
        "accl_collective(use, fm::accl_all_reduce, 0, count, a, result)",
        (10, COUNT, COMMUNICATOR, 0, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
    "reduce_scatter": (
        "accl_collective(use, fm::accl_reduce_scatter, 0, count, a, result)",
        (11, COUNT, COMMUNICATOR, 0, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
    "barrier": (
        "accl_collective(use, fm::accl_barrier, 0, 0, fm::accl_no_operand(), fm::accl_no_operand())",
        (12, 0, COMMUNICATOR, 0, 0, 0, DATAPATH, 0, 0, 0, 0, 0),
    ),
    "all_to_all": (
        "accl_collective(use, fm::accl_all_to_all, 0, count, a, result)",
        (13, COUNT, COMMUNICATOR, 0, 0, 0, DATAPATH, 0, 0, A, 0, RESULT),
    ),
}

PROGRAM = """\
#include "common/dataflow.hpp"
#include "common/accl.hpp"
#include <cstdio>
int main() {
  fm::stream<fm::accl_request> requests("requests");
  const fm::accl_use use = {%(communicator)d, %(datapath)d, 0}, half = {%(communicator)d, %(datapath)d, 8};
  const fm::accl_operand a = fm::accl_memory(%(a)dULL), b = fm::accl_memory(%(b)dULL);
  const fm::accl_operand result = fm::accl_memory(%(result)dULL);
  const unsigned int count = %(count)d, tag = %(tag)d;
  (void)half, (void)a, (void)b, (void)result, (void)count, (void)tag;
%(calls)s
  for (; !requests.empty();) {
    const fm::accl_word word = requests.read();
    std::printf("%%u %%u %%u\\n", unsigned(word.data), unsigned(word.keep), unsigned(word.last));
  }
  const double numbers[8] = {1.5, -2, 3, 4, 5, 6, 7, 1e300};
  fm::accl_data data = fm::accl_packed(numbers, 9);
  double back[8];
  fm::accl_unpack(data, back);
  for (int i = 0; i < 8; ++i) std::printf("%%d ", back[i] == numbers[i]);
  std::printf("%%llu %%u %%u\\n", (unsigned long long)data.keep, unsigned(data.last), unsigned(data.dest));
}
"""


def program(names):
    calls = "\n".join(f"  fm::accl_issue(requests, fm::{CALLS[name][0]});" for name in names)
    values = {"communicator": COMMUNICATOR, "datapath": DATAPATH, "a": A, "b": B, "result": RESULT}
    return PROGRAM % (values | {"count": COUNT, "tag": TAG, "calls": calls})


def expected(arguments):
    """(data, keep, last) of each word: nine arguments, then three addresses, low half first."""
    words = list(arguments[:9])
    for address in arguments[9:]:
        words += [address & 0xFFFFFFFF, address >> 32]
    assert len(words) == WORDS
    return [(word, 0xF, int(i == WORDS - 1)) for i, word in enumerate(words)]


def words_of(folder, names, headers=None):
    """What kernels write to Vitis' streams, by call, and the line about data. `headers`: changed ones."""
    places = [f"-I{headers}"] if headers else []
    done = run(built(folder, program(names), *places, *STUB))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    found = [tuple(int(part) for part in line.split()) for line in lines[:-1]]
    return found, lines[-1]


def differences(found, names):
    wanted = [word for name in names for word in expected(CALLS[name][1])]
    return [i for i, (one, other) in enumerate(zip(found, wanted, strict=False)) if one != other] + (
        [-1] if len(found) != len(wanted) else []
    )


def test_every_word_of_every_call_is_that_of_the_documents(tmp_path):
    found, data = words_of(tmp_path, CALLS)
    names = list(CALLS)
    wrong = [(names[i // WORDS], i % WORDS + 1) for i in differences(found, names)]
    assert wrong == []
    # All bytes count, each word is a packet, and 9 is the stream, as ACCLData::push has it.
    assert data == "1 1 1 1 1 1 1 1 18446744073709551615 1 9"


# What is changed in the header, and in which call the first other word is found.
FAULTS = {
    "a word left out": (
        "accl_requests_of_command = accl_words_of_command",
        "accl_requests_of_command = 14",
        "send",
    ),
    "halves swapped": (
        "place % 2 == 1 ? address : address >> 32",
        "place % 2 == 0 ? address : address >> 32",
        "send",
    ),
    "two words swapped": ("return command.tag;", "return command.reduction;", "send"),
    "operands swapped": ("place < 11 ? command.a", "place < 11 ? command.b", "copy"),
    "no last word": ("word.last = place + 1 == accl_words_of_command", "word.last = false", "nop"),
    "another code": ("accl_all_gather = 9", "accl_all_gather = 8", "all_gather"),
    "keep of half a word": ("accl_keep_word = 0xf", "accl_keep_word = 0x3", "nop"),
    "the wrong dest": ("word.dest = dest;", "word.dest = dest & 1;", None),
    "the wrong stream flag": ("accl_stream_result = 2", "accl_stream_result = 4", "stream_put"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_header_is_found(fault, tmp_path):
    old, new, name = FAULTS[fault]
    changed = tmp_path / "kernels" / "common"
    changed.mkdir(parents=True)
    for file in ("accl.hpp", "accl_words.hpp"):
        text = (COMMON / file).read_text()
        (changed / file).write_text(text.replace(old, new))
    assert old in (COMMON / "accl_words.hpp").read_text()
    names = [name or "nop"]
    found, data = words_of(tmp_path, names, tmp_path / "kernels")
    if name is None:
        assert data != "1 1 1 1 1 1 1 1 18446744073709551615 1 9"
    else:
        assert differences(found, names) != []


# The calls of ACCL's own header that have the same arguments as ours.
THEIRS = """\
#define ACCL_SYNTHESIS
#include "accl_hls.h"
#include <cstdio>
int main() {
  hls::stream<command_word> cmd("cmd"), sts("sts");
  for (int i = 0; i < 20; ++i) sts.write(command_word());
  const ap_uint<32> count = %(count)d, tag = %(tag)d;
  const ap_uint<64> a = %(a)dULL, b = %(b)dULL, result = %(result)dULL;
  accl_hls::ACCLCommand accl(cmd, sts, %(communicator)d, %(datapath)d, 0, 0);
  accl_hls::ACCLCommand streaming(cmd, sts, %(communicator)d, %(datapath)d, 0, 1);
  accl.send(count, tag, 3, a);
  accl.stream_put(count, 9, 3, a);
  streaming.stream_put(count, 9, 3, 1);
  accl.bcast(count, 1, a);
  accl.scatter(count, 1, a, result);
  accl.gather(count, 1, a, result);
  accl.reduce(count, 1, 0, a, result);
  accl.all_gather(count, a, result);
  accl.all_reduce(count, 0, a, result);
  accl.reduce_scatter(count, 0, a, result);
  (void)b;
  for (; !cmd.empty();) {
    const command_word word = cmd.read();
    std::printf("%%u %%u %%u\\n", unsigned(word.data), unsigned(word.keep), unsigned(word.last));
  }
  while (!sts.empty()) sts.read();
}
"""
OF_THEIRS = ("send", "stream_put", "stream_put of a stream", "broadcast", "scatter", "gather", "reduce",
             "all_gather", "all_reduce", "reduce_scatter")  # fmt: skip


@pytest.mark.skipif(
    not (ACCL_HLS and AP_TYPES), reason="ACCL_HLS and AP_TYPES name no folders of AMD's headers"
)
def test_every_word_is_that_of_accls_own_header(tmp_path):
    for stub in ("hls_stream.h", "ap_axi_sdata.h"):
        shutil.copy(REPOSITORY / "tests" / "hls_stub" / stub, tmp_path)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "autopilot_ssdm_op.h").write_text("inline void ap_wait() {}\n")
    values = {"communicator": COMMUNICATOR, "datapath": DATAPATH, "a": A, "b": B, "result": RESULT}
    text = THEIRS % (values | {"count": COUNT, "tag": TAG})
    places = [f"-I{tmp_path}", f"-I{ACCL_HLS}", "-isystem", AP_TYPES]
    done = run(built(tmp_path, text, "-std=c++14", "-w", *places))
    found = [tuple(int(part) for part in line.split()) for line in done.stdout.splitlines()]
    assert differences(found, OF_THEIRS) == []
