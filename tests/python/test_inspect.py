"""`fabricmark inspect`: faults planted into small kernels are found, and what is right is not flagged."""

import json
import subprocess
import sys
import tomllib

import pytest
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.inspect import chips, llvm
from fabricmark.inspect.command import check_variant
from inspect_support import base_kernels, loops_of, needs_clang, needs_describe

VENDORS = list(chips.VENDORS)
BY_HAND = tomllib.loads((REPOSITORY / "tests/python/inspect_by_hand.toml").read_text())["loops"]

UNPARTITIONED = """__kernel void f(__global float* restrict out, const uint n) {
  float table[256] SPLIT;
  for (uint i = 0; i < 256; ++i) table[i] = out[i];
  FM_PIPELINE
  for (uint i = 0; i < 16; ++i) {
    float value = 1;
    FM_UNROLL_FULLY
    for (uint k = 0; k < 16; ++k) value *= table[(i * 16 + k) FACTOR];
    out[i] = value;
  }
}"""
SUM = """__kernel void f(__global const float* restrict in, __global float* restrict out, const uint n) {
  float sum = 0;
  FM_PIPELINE
  for (uint i = 0; i < n; ++i) sum += in[i];
  out[0] = sum;
}"""
SHIFTED_SUM = """
__kernel void f(__global const float* restrict in, __global float* restrict out, const uint n) {
  float sums[9];
  FM_UNROLL_FULLY
  for (uint k = 0; k < 9; ++k) sums[k] = 0;
  FM_PIPELINE
  for (uint i = 0; i < n; ++i) {
    sums[8] = sums[0] + in[i];
    FM_UNROLL_FULLY
    for (uint k = 0; k < 8; ++k) sums[k] = sums[k + 1];
  }
  float sum = 0;
  FM_UNROLL_FULLY
  for (uint k = 0; k < 8; ++k) sum += sums[k];
  out[0] = sum;
}"""
SCATTER = """__kernel void f(__global float* restrict table, __global const uint* restrict at, const uint n) {
  IVDEP
  FM_PIPELINE
  for (uint i = 0; i < n; ++i) table[at[i]] += 1.0f;
}"""
COPY = """__kernel void f(__global const float* POINTER a, __global float* POINTER b, const uint n) {
  FM_PIPELINE
  for (uint i = 0; i < n; ++i) b[i] = 2.0f * a[i];
}"""
OWN = """__kernel void f(__global float* restrict a, const uint n) {
  float block[64];
  for (uint i = 0; i < 64; ++i) block[i] = a[i];
  FM_PIPELINE
  for (uint i = 0; i < 64; ++i) block[i] += 3.0f;
  FM_PIPELINE
  for (uint i = 0; i < n; ++i) a[i] += block[i % 64];
}"""
LANES = """__kernel void f(__global float* restrict a, const uint n) {
  float lanes[64][16] FM_PARTITION(2);
  for (uint i = 0; i < 64; ++i) {
    FM_UNROLL_FULLY
    for (uint k = 0; k < 16; ++k) lanes[i][k] = a[i * 16 + k];
  }
  FM_PIPELINE
  for (uint i = 0; i < 64; ++i) {
    float value = 1;
    FM_UNROLL_FULLY
    for (uint k = 0; k < 16; ++k) value *= lanes[i][k];
    a[i] = value;
  }
}"""
EARLIER = """__kernel void f(__global float* restrict a, const uint n) {
  float block[1024];
  for (uint i = 0; i < 1024; ++i) block[i] = a[i];
  FM_PIPELINE
  for (uint i = DISTANCE; i < 1024; ++i) block[i] = 0.5f * block[i - DISTANCE];
  for (uint i = 0; i < 1024; ++i) a[i] = block[i];
}"""


def marked(loops):
    return [one for one in loops if one.is_marked]


@needs_clang
def test_an_array_without_partitions_that_is_read_16_times_is_found(tmp_path):
    (loop,) = marked(loops_of(tmp_path, "xilinx", UNPARTITIONED, SPLIT="", FACTOR=""))
    assert (loop.interval, loop.reason) == (8, "ports of table: 16 reads in an iteration")
    split = "__attribute__((xcl_array_partition(cyclic,8,1)))"
    (loop,) = marked(loops_of(tmp_path, "xilinx", UNPARTITIONED, SPLIT=split, FACTOR=""))
    assert (loop.interval, loop.reason) == (1, "")


@needs_clang
def test_reads_of_banks_that_nobody_knows_are_found(tmp_path):
    """Where the bank does not follow from the index, partitions do not help; Intel's tool copies."""
    split = "__attribute__((xcl_array_partition(cyclic,8,1)))"
    (loop,) = marked(loops_of(tmp_path, "xilinx", UNPARTITIONED, SPLIT=split, FACTOR="*(n+3)%256"))
    assert loop.interval == 8 and "ports of table" in loop.reason
    (loop,) = marked(loops_of(tmp_path, "intel", UNPARTITIONED, SPLIT="", FACTOR="*(n+3)%256"))
    assert loop.interval == 1


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_float_sum_over_the_pipelined_loop_is_found(tmp_path, vendor):
    (loop,) = loops_of(tmp_path, vendor, SUM)
    assert loop.interval == {"intel": 4, "xilinx": 7}[vendor]
    assert "recurrence: add float" in loop.reason
    assert loop.reason_line == 6  # behind the two lines of the header


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_sum_in_a_shift_register_is_not_flagged(tmp_path, vendor):
    (loop,) = marked(loops_of(tmp_path, vendor, SHIFTED_SUM))
    assert (loop.interval, loop.reason) == (1, "")


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_missing_ivdep_is_found(tmp_path, vendor):
    (loop,) = loops_of(tmp_path, vendor, SCATTER, IVDEP="")
    assert loop.interval > chips.GLOBAL_CYCLES and "recurrence: table is read" in loop.reason
    (loop,) = loops_of(tmp_path, vendor, SCATTER, IVDEP="FM_IGNORE_DEPENDENCE(table)")
    assert (loop.interval == 1) == (vendor == "intel"), "AMD has no such word"
    (loop,) = loops_of(tmp_path, "intel", SCATTER, IVDEP="FM_IGNORE_DEPENDENCE(at)")
    assert loop.interval > 1, "of another array"


@needs_clang
def test_a_safe_distance_divides_the_wait(tmp_path):
    (alone,) = loops_of(tmp_path, "intel", SCATTER, IVDEP="")
    (apart,) = loops_of(tmp_path, "intel", SCATTER, IVDEP="FM_SAFE_DISTANCE(table,32)")
    assert apart.interval == -(-alone.interval // 32)


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_missing_restrict_is_found(tmp_path, vendor):
    (loop,) = loops_of(tmp_path, vendor, COPY, POINTER="")
    assert loop.interval > chips.GLOBAL_CYCLES and "unknown alias" in loop.reason
    assert "a" in loop.reason and "b" in loop.reason and "restrict" in loop.reason
    (loop,) = loops_of(tmp_path, vendor, COPY, POINTER="restrict")
    assert (loop.interval, loop.reason) == (1, "")


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("kernel", [OWN, LANES], ids=["own element", "constant lanes"])
def test_what_is_right_is_not_flagged(tmp_path, vendor, kernel):
    found = marked(loops_of(tmp_path, vendor, kernel))
    assert found and all((one.interval, one.reason) == (1, "") for one in found)


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
def test_what_was_written_some_iterations_ago_is_waited_for(tmp_path, vendor):
    waits = {
        apart: marked(loops_of(tmp_path, vendor, EARLIER, DISTANCE=apart))[0].interval for apart in (1, 3, 64)
    }
    known = chips.VENDORS[vendor]
    alone = sum(known.local_cycles) + known.cycles[("multiply", "float")]
    assert waits == {1: alone, 3: -(-alone // 3), 64: 1}


@needs_clang
@needs_describe
@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: f"{case['benchmark']}:{case['at'][:24]}")
def test_intervals_are_those_that_were_worked_out_by_hand(case, vendor):
    kernels = base_kernels(case["benchmark"], vendor, tuple(case["parameters"].items()))
    source = (REPOSITORY / "kernels" / case["file"]).read_text().splitlines()
    line = next((number for number, text in enumerate(source, 1) if case["at"] in text), None)
    assert line is not None, "the kernel has changed: work out by hand what it is now"
    around = [
        loop
        for kernel in kernels
        for loop in kernel.loops
        if loop.file.endswith(case["file"]) and loop.line <= line <= max(loop.last_line, loop.line)
    ]
    assert around, "no loop there"
    innermost = max(loop.line for loop in around)
    found = {loop.interval for loop in around if loop.line == innermost}
    assert max(found) == case[vendor], [loop.reason for loop in around]


@needs_clang
@needs_describe
@pytest.mark.parametrize("vendor", VENDORS)
def test_marked_loops_start_an_iteration_every_cycle(vendor):
    """But for those that docs/inspect.md names."""
    names = [one.parent.name for one in sorted((REPOSITORY / "kernels").glob("*/base.cl"))]
    found = {
        (name, loop.interval)
        for name in names
        for kernel in base_kernels(name, vendor, ())
        for loop in marked(kernel.loops)
        if loop.interval > 1
    }
    assert found == ({("shallow_water", 12)} if vendor == "xilinx" else set())


@needs_clang
def test_a_kernel_that_does_not_compile_is_refused_in_one_line(tmp_path):
    with pytest.raises(FabricmarkError, match=r"kernel\.cl.*unknown type name 'nothing'") as caught:
        loops_of(tmp_path, "intel", "__kernel void f(nothing n) {}")
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


def test_without_clang_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(llvm.shutil, "which", lambda name: None)
    with pytest.raises(FabricmarkError, match="apt-get install clang-15") as caught:
        llvm.ensure()
    assert caught.value.exit_code == 3


def test_root_installs_clang_at_the_first_use(monkeypatch):
    calls = []
    monkeypatch.setattr(llvm.os, "geteuid", lambda: 0)
    monkeypatch.setattr(llvm, "is_present", lambda: len(calls) == 2)
    monkeypatch.setattr(llvm.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(llvm.subprocess, "run", lambda words, **_: calls.append(words))
    llvm.ensure()
    assert [words[1] for words in calls] == ["update", "install"] and calls[1][-1] == "clang-15"


@needs_clang
@needs_describe
def test_the_command_shows_and_writes_its_estimate(tmp_path):
    code = "from fabricmark.cli import app; app(prog_name='fabricmark')"
    command = [sys.executable, "-c", code, "inspect", "stream"]
    file = tmp_path / "found.json"
    words = ["--system", "noctua1", "--bitstream-id", "520n_single/stream", "--json", str(file)]
    done = subprocess.run([*command, *words], capture_output=True, text=True)
    assert done.returncode == 0 and "16 multiply float" in done.stdout and "modelled" in done.stdout
    document = json.loads(file.read_text())
    (kernel,) = document["vendors"]["intel"]
    assert (kernel["dsps"], kernel["copies"], len(kernel["loops"])) == (32, 4, 3)
    assert {loop["file"] for loop in kernel["loops"]} == {"stream/base.cl"}
    done = subprocess.run([*command, "--vendor", "nobody"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_a_bitstream_of_another_variant_is_refused():
    with pytest.raises(FabricmarkError, match=r"variant channels.*use one of 520n_multi/hpl_host") as caught:
        check_variant("noctua1", "520n_multi/hpl_channels")
    assert caught.value.exit_code == 2
    check_variant("noctua1", "520n_multi/hpl_host")
    check_variant(None, None)


def test_boards_name_their_chips():
    assert chips.vendor_of("x", "AMD Alveo U280 (XCU280)") == "xilinx"
    assert chips.vendor_of("x", "Intel Stratix 10 GX2800") == "intel"
    with pytest.raises(FabricmarkError, match="no chip that inspect knows"):
        chips.vendor_of("x", "an Intel Xeon")


MARKED = """#define EACH FM_PIPELINE
__kernel void f(__global float* restrict a, const uint n) {
  for (uint i = 0; i < n; ++i) a[i] = 1;
  EACH
  FM_NO_FUSION
  for (uint i = 0; i < n; ++i) a[i] += 2;
  uint i = 0;
  FM_PIPELINE
  while (i < n) a[i++] *= 3;
}"""


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
def test_marks_of_loops_are_seen_through_macros(tmp_path, vendor):
    assert [one.is_marked for one in loops_of(tmp_path, vendor, MARKED)] == [False, True, True]


CHOSEN = """__kernel void f(__global float* restrict a, const uint n) {
  float one[64], other[64];
  for (uint i = 0; i < 64; ++i) one[i] = a[i], other[i] = a[i + 64];
  FM_PIPELINE
  for (uint i = 0; i < 64; ++i) a[i] = i == n ? one[i] : other[(i * n) % 64];
}"""
TABLE = """__constant float table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7};
__kernel void f(__global float* restrict a, const uint n) {
  FM_PIPELINE
  for (uint i = 0; i < n; ++i) {
    float value = 1;
    FM_UNROLL_FULLY
    for (uint k = 0; k < 6; ++k) value *= table[(i * n + k * k * n) % 16];
    a[i] = value;
  }
}"""
DIGITS = """__kernel void f(__global float* restrict a, const uint n) {
  float block[64][8][8] FM_BANKS(64, 4) FM_PARTITION(2) FM_PARTITION(3);
  for (uint i = 0; i < 4096; ++i) block[i / 64][i / 8 % 8][i % 8] = a[i];
  for (uint k = 0; k < 8; ++k) {
    FM_PIPELINE
    for (uint i = 0; i < 64; ++i) {
      FM_UNROLL_FULLY
      for (uint x = 0; x < 8; ++x) block[i][x][INDEX] *= 3.0f;
    }
  }
  for (uint i = 0; i < 4096; ++i) a[i] = block[i / 64][i / 8 % 8][i % 8];
}"""


@needs_clang
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_choice_between_local_arrays_is_no_alias_of_global_memory(tmp_path, vendor):
    (loop,) = marked(loops_of(tmp_path, vendor, CHOSEN))
    assert (loop.interval, loop.reason) == (1, "")


@needs_clang
def test_tables_of_constants_are_memories(tmp_path):
    """Of the squares of 0 to 5 four are different modulo 16, and what is at one address is read once."""
    (loop,) = marked(loops_of(tmp_path, "xilinx", TABLE))
    assert (loop.interval, loop.reason) == (2, "ports of table: 4 reads in an iteration")


@needs_clang
def test_banks_follow_from_how_far_an_index_goes(tmp_path):
    """Of eight columns one is chosen: another row's memories are not among them, unless k goes further."""
    (loop,) = marked(loops_of(tmp_path, "intel", DIGITS, INDEX="k"))
    assert loop.interval == 1
    (loop,) = marked(loops_of(tmp_path, "intel", DIGITS, INDEX="k*n"))
    assert loop.interval > 1 and "ports of block" in loop.reason
