"""Dataflow kernels against the HLS stub: what compiles, and C simulation."""

import os
import re
import shutil

import numpy as np
import pytest
from conftest import REPOSITORY
from hls_support import KERNELS, NATIVE, STUB, built, compiled, run

EXAMPLE = REPOSITORY / "docs" / "examples" / "two_devices" / "dataflow.cpp"
PLACES = ("kernels", "docs/examples", "tests/kernels")
SOURCES = sorted(file for place in PLACES for file in REPOSITORY.glob(f"{place}/*/dataflow.cpp"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_each_dataflow_source_compiles_against_the_stub(source):
    done = compiled(source, *STUB, "-fsyntax-only")
    assert done.returncode == 0, done.stderr


AP_TYPES = os.environ.get("AP_TYPES")  # a folder with AMD's own ap_int.h (github.com/Xilinx)


@pytest.mark.skipif(not AP_TYPES, reason="AP_TYPES names no folder with AMD's ap_int.h")
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_each_dataflow_source_compiles_against_amds_own_numbers(tmp_path, source):
    """AMD publishes these headers, but neither hls_stream.h nor ap_axi_sdata.h."""
    for stub in ("hls_stream.h", "ap_axi_sdata.h"):
        shutil.copy(REPOSITORY / "tests" / "hls_stub" / stub, tmp_path)
    options = ["-std=c++14", "-w", *KERNELS, "-isystem", AP_TYPES, "-isystem", tmp_path]
    done = compiled(source, *options, "-fsyntax-only")
    assert done.returncode == 0, done.stderr


# A line that ends with //! must not compile; all others must.
SUBSET = """\
#include "common/dataflow.hpp"
struct owner { ~owner(); };
void kernel(fm::stream<int>& in, fm::stream<int, 8>& out, fm::stream<int, 8>& deep) {
  fm::stream<int> inner("inner");
  int a = in.read();
  in.read(a);
  in >> a;
  out.write(a);
  out << a;
  if (in.read_nb(a) && out.write_nb(a)) a = in.empty() + out.full() + int(out.capacity());
  a = int(in.size());
  fm::stream<int>& any_depth = deep;
  any_depth.write(a);
  a = in.peek();  //!
  in.set_name("in");  //!
  in >> a >> a;  //!
  out << a << a;  //!
  fm::stream<int> copy = in;  //!
  in = any_depth;  //!
  fm::stream<int, -1> shallow;  //!
  fm::stream<owner> owners;  //!
  fm::stream<int> sized("sized", 8);  //!
  fm::uint<64> wide = 3;
  fm::uint<8> narrow = fm::uint<64>(wide * wide) + 1;
  narrow = narrow[7] + narrow.range(3, 0);
  narrow[0] = true;
  narrow.range(7, 4) = 3;
  fm::uint<65> too_wide;  //!
  fm::uint<0> none;  //!
  fm::uint<8> real = 1.5;  //!
  narrow = wide * wide * 2;  //!
  a = wide * narrow;  //!
  narrow.range(3);  //!
  narrow.rotate(3);  //!
  ap_int<8> with_sign;  //!
  fm::words<float, 4> word = {{1, 2, 3, 4}};
  out.write(int(word.value[a % 4]));
  fm::words<float, 0> nothing;  //!
  word = word + word;  //!
}
"""


def test_what_is_not_documented_does_not_compile(tmp_path):
    source = tmp_path / "source.cpp"
    source.write_text(SUBSET)
    unused = ["-Wno-unused", "-Wno-error"]
    done = compiled(source, *STUB, *unused, "-fsyntax-only", "-fmax-errors=0")
    # A failed assertion of a header says where its template was asked for.
    lines = re.findall(r"source\.cpp:(\d+):\d+:\s+(?:(?:fatal )?error|required from)", done.stderr)
    wanted = [number for number, line in enumerate(SUBSET.splitlines(), 1) if line.endswith("//!")]
    assert sorted({int(line) for line in lines}) == wanted, done.stderr


# As a test bench of C simulation: kernels one after another, a producer before its consumer.
BENCH = """\
#include "dataflow.cpp"
#include <cstdio>
#include <cstdlib>
int main(int, char** words) {
  static word a[4], b[4], sums[4];
  for (int i = 0; i < 64; ++i) {
    a[i / 16].value[i % 16] = float(i);
    b[i / 16].value[i % 16] = float(1000 * i);
  }
  fm::stream<word> loaded("loaded");
  fm::stream<word, 8> link("link");
  load_array(a, loaded, 4);
  scale_and_send(loaded, link, 0.5F, std::atoi(words[1]));
  receive_and_add(link, b, sums, std::atoi(words[2]));
  for (int i = 0; i < 64; ++i) std::printf("%.9g\\n", sums[i / 16].value[i % 16]);
}
"""


def simulate(folder, kernels, *words):
    (folder / "dataflow.cpp").write_text(kernels)
    return run(built(folder, BENCH, *STUB, f"-I{folder}"), *words)


def test_the_example_computes_in_c_simulation_and_a_wrong_kernel_does_not(tmp_path):
    expected = 0.5 * np.arange(64) + 1000 * np.arange(64)
    text = EXAMPLE.read_text()
    right = simulate(tmp_path, text, 4, 4)
    assert (right.returncode, right.stderr) == (0, "")
    assert np.array_equal(np.array(right.stdout.split(), float), expected)
    wrong = simulate(tmp_path, text.replace("*= factor", "+= factor"), 4, 4)
    assert not np.array_equal(np.array(wrong.stdout.split(), float), expected)


def test_the_stub_tells_of_values_left_over_and_ends_a_read_of_none(tmp_path):
    left = simulate(tmp_path, EXAMPLE.read_text(), 3, 1)
    assert left.returncode == 0
    assert left.stderr.splitlines() == [
        "stream 'link' ends with 2 values left in it",
        "stream 'loaded' ends with 1 values left in it",
    ]
    none = run(tmp_path / "program", 4, 5)
    assert none.returncode == 1 and "stream 'link' is read though it is empty" in none.stderr


ALIASES = """\
#include "common/dataflow.hpp"
#include <type_traits>
static_assert(std::is_same_v<fm::stream<int, 8>, fabricmark::dataflow::stream<int, 8>>);
static_assert(std::is_same_v<fm::uint<9>, fm::masked::uint<9>>);
static_assert(sizeof(fm::uint<9>) == 2 && std::is_trivially_copyable_v<fm::uint<9>>);
static_assert(fm::uint<13>(fm::uint<7>(0x41) << 6) == 0x40, "a shift is as wide as its left side");
static_assert(fm::uint<13>(fm::uint<13>(0x41) << 6) == 0x1040);
static_assert(sizeof(fm::words<float, 16>) == 64 && std::is_trivially_copyable_v<fm::words<float, 16>>);
"""


def test_a_native_build_has_its_own_streams_and_takes_the_same_source(tmp_path):
    source = tmp_path / "source.cpp"
    documented = "".join(line for line in SUBSET.splitlines(True) if not re.search(r"//!|size\(\)", line))
    source.write_text(f'{documented}{ALIASES}#include "{EXAMPLE}"\n')
    done = compiled(source, *NATIVE, "-fsyntax-only")
    assert done.returncode == 0, done.stderr
    # Vitis goes before what lies in the include path.
    for tool in ("__VITIS_HLS__", "__SYNTHESIS__"):
        done = compiled(source, *NATIVE, "-fsyntax-only", f"-D{tool}")
        assert "ap_int.h: No such file" in done.stderr
