"""PTRANS' dataflow kernels in C simulation, as a test bench of Vitis would run them."""

import numpy as np
import pytest
from conftest import REPOSITORY
from hls_support import STUB, built, run

KERNELS = (REPOSITORY / "kernels" / "ptrans" / "dataflow.cpp").read_text()
BLOCK, WIDTH = 6, 2
SMALL = [f"-DBLOCK_SIZE={BLOCK}", f"-DCHANNEL_WIDTH={WIDTH}"]

# Two blocks: the first stays, the second goes over the channel and becomes the third of C.
BENCH = """\
#include "dataflow.cpp"
#include <cstdio>
int main() {
  static fm::words<TYPE, 2> a[54], b[54], c[54];
  for (int i = 0; i < 108; ++i) {
    a[i / 2].value[i % 2] = TYPE(i);
    b[i / 2].value[i % 2] = TYPE(1000 * i);
  }
  const unsigned sources[2] = {1, 2}, targets[2] = {0, 2};
  fm::stream<fm::words<TYPE, 2>> stays("stays"), channel("channel");
  send_blocks(a, sources, 1, 1, stays, channel);
  receive_blocks(stays, channel, b, c, targets, 1, 1);
  for (int i = 0; i < 108; ++i) std::printf("%.17g\\n", double(c[i / 2].value[i % 2]));
}
"""


def simulated(folder, text, data_type):
    (folder / "dataflow.cpp").write_text(text)
    types = [f"-DTYPE={data_type}", f"-DDATA_TYPE={data_type}"]
    done = run(built(folder, BENCH, *STUB, *SMALL, *types, f"-I{folder}"))
    assert (done.returncode, done.stderr) == (0, "")
    return np.array(done.stdout.split(), float).reshape(3, BLOCK, BLOCK)


def expected():
    a = np.arange(108.0).reshape(3, BLOCK, BLOCK)
    c = np.zeros_like(a)
    c[0] = 1000 * a[0] + a[1].T
    c[2] = 1000 * a[2] + a[2].T
    return c


@pytest.mark.parametrize("data_type", ["float", "double"])
def test_blocks_are_transposed_and_added_at_their_places(tmp_path, data_type):
    assert np.array_equal(simulated(tmp_path, KERNELS, data_type), expected())


WRONG = {
    "not transposed": ("(column + k, row, block_size)]", "(row, column + k, block_size)]"),
    "B left out": ("own.value[k] + sum", "0 * own.value[k] + sum"),
    "the other half of local memory": ("(turn + 1) % 2", "turn % 2"),
    "blocks of C in another order": ("targets[block]", "targets[0]"),
}


@pytest.mark.parametrize("old, new", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_found(tmp_path, old, new):
    assert KERNELS.count(old) == 1
    assert not np.array_equal(simulated(tmp_path, KERNELS.replace(old, new), "float"), expected())
