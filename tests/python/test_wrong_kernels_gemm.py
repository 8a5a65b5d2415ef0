"""Kernels of GEMM that save work or precision: each is found in the repetition in which it does."""

import pytest
import wrong_kernels
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

# One work-item multiplies all, so that what is kept is kept once; no padding.
SHORT = ("--size", 96, "--repetitions", 3, "--warmup", 1, "--block-size", 32, "--gemm-size", 8, "--unroll", 8)
HEADER = "gemm/throughput_cpu.h"

START = "  const uint row_tiles = rows / TILE_ROWS;\n"
TILE = "tile_vector value = sum[i][v];"
OF_C = "*(__global const tile_vector*)(c + place)"
PACK_A = "  const uint chunks = depth / WIDTH;\n"
PACK_B = "  const uint start = (uint)get_global_id(0) * PACK_ROWS;\n"
LOAD_A = "GEMM_LOAD(a, left_start + row * width + x)"
LOAD_B = "GEMM_LOAD(b, right_start + row * width + x)"
SUM = "const GEMM_VALUE product = sum[row / GEMM_SIZE][x / GEMM_SIZE][row % GEMM_SIZE][x % GEMM_SIZE];"
OF_SUM = "const GEMM_VALUE product"
RESULT = "result[place] = GEMM_RESULT(product, c[place]);"
STORE = RESULT
WIDTH = "  const size_t width = (size_t)blocks * BLOCK_SIZE;\n"
CUT_TILE = "#define CUT(value) FM_PASTE(as_float, WIDTH)(FM_PASTE(as_uint, WIDTH)(value) & 0xFFFFFF00u)\n"
CALLS = ("int", "calls", 1)


def throughput(*changes, **how):
    return Wrong("throughput", tuple(changes), file=HEADER, **how)


def base(*changes, **how):
    replications = ("--replications", how.pop("replications", 1))
    return Wrong("base", tuple(changes), options=(*replications, *how.pop("options", ())), **how)


def cut(expression, digits):
    """A float with so many digits of its 24."""
    return f"as_float(as_uint({expression}) & 0x{(0xFFFFFFFF << (24 - digits)) & 0xFFFFFFFF:X}u)"


def of_c(value):
    """The result with another value for the element of C."""
    return RESULT.replace("c[place]", value)


def kept(name, count, then):
    """The matrix `name` of the first call, in all later ones."""
    return (
        f"  if (KEPT(calls)[0]++ == 0) for (uint i = 0; i < {count}; ++i) KEPT(values)[i] = {name}[i];\n"
        f"  else for (uint i = 0; i < {count}; ++i) {then}[i] = KEPT(values)[i];\n"
    )


VALUES = ("float", "values", 96 * 96)

WRONG = {
    "only the first product is computed, then copied": throughput(
        (
            START,
            "  if (KEPT(calls)[0]++ > 0) {\n"
            "    for (uint i = 0; i < rows * columns; ++i) result[i] = KEPT(values)[i];\n    return;\n  }\n"
            + START,
        ),
        (
            "columns, steps / WIDTH, k == 0, k + steps == depth);\n",
            "columns, steps / WIDTH, k == 0, k + steps == depth);\n"
            "        for (uint i = 0; i < rows * columns; ++i) KEPT(values)[i] = result[i];\n",
        ),
        state=(CALLS, VALUES),
    ),
    "A is packed once": throughput(
        (PACK_A, f"  if (KEPT(calls)[0]++ >= 8) return;\n{PACK_A}"), state=(CALLS,)
    ),
    "B is packed once": throughput(
        (PACK_B, f"  if (KEPT(calls)[0]++ >= 2) return;\n{PACK_B}"), state=(CALLS,)
    ),
    "A is that of the first repetition": throughput(
        (START, kept("a", "rows * depth", "((__global float*)a)") + START), state=(CALLS, VALUES)
    ),
    "C is that of the first repetition": throughput(
        (START, kept("c", "rows * columns", "((__global float*)c)") + START), state=(CALLS, VALUES)
    ),
    "nothing is done in the first counted repetition": throughput(
        (START, f"  if (KEPT(calls)[0]++ == 1) return;\n{START}"), state=(CALLS,)
    ),
    "nothing is done in the second": throughput(
        (START, f"  if (KEPT(calls)[0]++ == 2) return;\n{START}"), state=(CALLS,)
    ),
    "only the last repetition is right": throughput(
        (TILE, f"{TILE}\n      if (is_last && KEPT(calls)[0] < 3) value *= 2;"),
        (START, f"  ++KEPT(calls)[0];\n{START}"),
        state=(CALLS,),
    ),
    "C is not read": throughput((OF_C, "(tile_vector)0")),
    "the last tile of rows is left out": throughput(
        ("min(row_start + ROW_TILES, row_tiles)", "min(row_start + ROW_TILES, row_tiles - 1)")
    ),
    "the first rows of B are read for all": throughput(
        ("const uint start = (uint)get_global_id(0) * PACK_ROWS;", "const uint start = 0;")
    ),
    "one replica of two does nothing": base(
        ("  const size_t width = (size_t)blocks * BLOCK_SIZE;\n",
         "  const size_t width = (size_t)blocks * BLOCK_SIZE;\n  if (KEPT(calls)[0]++ % 2) return;\n"),
        state=(CALLS,),
        replications=2,
    ),
    "the last step of the depth is left out": base(("step < blocks;", "step + 1 < blocks;")),
    "A in TF32": base((LOAD_A, cut(LOAD_A, 11))),
    "B in two parts of bfloat16": base((LOAD_B, cut(LOAD_B, 16))),
    "A in 20 digits": base((LOAD_A, cut(LOAD_A, 20))),
    "A in 23 digits": base((LOAD_A, cut(LOAD_A, 23))),
    "B in 23 digits": base((LOAD_B, cut(LOAD_B, 23))),
    "sums in 22 digits": base((SUM, f"{OF_SUM} = {cut(SUM.split(' = ')[1][:-1], 22)};")),
    "C in 11 digits": base((RESULT, of_c(cut("c[place]", 11)))),
    "C in bfloat16": base((RESULT, of_c(cut("c[place]", 8)))),
    "C in 23 digits": base((RESULT, of_c(cut("c[place]", 23)))),
    "C in 16 digits where it is added to tiles": throughput(
        (OF_C, f"CUT({OF_C})"),
        ("ONE_ITEM __kernel void pack_a", CUT_TILE + "ONE_ITEM __kernel void pack_a"),
    ),
    "C of the row above": base((RESULT, of_c("c[place >= width ? place - width : place]"))),
    "C in every second row alone": base((RESULT, of_c("(row % 2 ? 0 : c[place])"))),
    "C in all but one row of twenty": base((RESULT, of_c("(row % 20 ? c[place] : 0)"))),
    "products rounded to 20 digits": base(
        (SUM, f"{OF_SUM} = {cut(SUM.split(' = ')[1][:-1], 20)};")
    ),
    "the last column of blocks is that before": base(
        (
            "b, right_start + row * width + x",
            "b, right_start - (block_column > 1) * BLOCK_SIZE + row * width + x",
        )
    ),
    "one element of a block of rows": base(
        (STORE, f"{STORE}\n            if (row == 0 && x == 0) result[place] += 1;")
    ),
    "an element in five of the last repetition": base(
        (STORE, f"{STORE}\n            if (KEPT(calls)[0] == 4 && x % 5 == 0) result[place] *= 1.0000002f;"),
        (WIDTH, f"  ++KEPT(calls)[0];\n{WIDTH}"),
        state=(CALLS,),
    ),
    "alpha for beta": base((RESULT, "result[place] = alpha * product + alpha * c[place];")),
    "float for double": base((LOAD_A, f"(double)(float){LOAD_A}"), options=("--data-type", "double")),
}  # fmt: skip


def is_found(what, failed):
    return "repetitions" in failed


QUICK = {
    "only the first product is computed, then copied",
    "nothing is done in the second",
    "the last tile of rows is left out",
    "A in 23 digits",
    "C in 11 digits",
    "C in 23 digits",
    "an element in five of the last repetition",
}
program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_are_valid = wrong_kernels.tests(
    "gemm", WRONG, SHORT, is_found, shipped=(throughput(), base()), quick=QUICK
)
