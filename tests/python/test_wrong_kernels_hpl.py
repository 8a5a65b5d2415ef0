"""Kernels of HPL that save work or digits: each is found, in whichever repetition it is wrong."""

import pytest
import wrong_kernels
from wrong_kernels import Wrong, check_found

pytestmark = pytest.mark.programs

# Four blocks along the diagonal. The warm-up's factorisation is the first. Messages go in one way: else every
# start measures which is the fastest.
WORDS = (
    "--size", 60, "--block-size", 16, "--register-block", 4, "--repetitions", 3, "--lookahead", "false",
    "--chunk-bytes", 0,
)  # fmt: skip
FACTORS = {"factors", "diagonal of U", "precision"}

COUNT_LU = (
    "factorize_block(block, diagonal);\n  store",
    "if (row == 0) ++KEPT(calls)[0];\n  factorize_block(block, diagonal);\n  store",
)
CALLS = (("uint", "calls", 1),)
# Each kernel keeps its own state. Where one replica does all at once, a factorisation calls inner three
# times, which updates 9, 4 and 1 blocks.
COUNT_INNER = "const uint call = KEPT(calls)[0]++;\n"
AT_ONCE = ("--replications", 1, "--launch-items", 100)
LOWER = "lower[place] = lower_factor(block, diagonal, r, j, x);"
LEFT_PANEL = "store_block(block, panel + (size_t)(panel_start + step) * BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE);"
LOAD_LEFT = "load_block(left_block, left, BLOCK_SIZE);"
LOAD_TOP = "load_block(top_block, right, BLOCK_SIZE);"
NUMBER = "for (uint number = first; number < first + count; ++number) {"
RESULT = (
    "start[(size_t)r * columns + c + x] -=\n"
    "            product[r / REGISTER_SIZE][c / REGISTER_SIZE][r % REGISTER_SIZE][x];"
)
PRODUCT = "product[r / REGISTER_SIZE][c / REGISTER_SIZE][r % REGISTER_SIZE][x]"

UPDATE = "update_block(a + (row + i * BLOCK_SIZE)"
END_OF_UPDATE = "top_panel + (top_start + j) * BLOCK_SIZE * BLOCK_SIZE);"


def each_of_last_column(statement):
    """The statement for each row r of the updated block with its last element as ELEMENT."""
    element = "a[(row + i * BLOCK_SIZE + r) * columns + column + j * BLOCK_SIZE + BLOCK_SIZE - 1]"
    return f"for (uint r = 0; r < BLOCK_SIZE; ++r) {{ {statement.replace('ELEMENT', element)} }}"


def cut_block(name, expression):
    """Every element x of a block in local memory becomes `expression`."""
    return (
        "for (uint u = 0; u < BLOCKS; ++u) for (uint v = 0; v < BLOCKS; ++v) "
        "for (uint y = 0; y < REGISTER_SIZE; ++y) for (uint z = 0; z < REGISTER_SIZE; ++z) { "
        f"const float x = {name}[u][v][y][z]; {name}[u][v][y][z] = {expression}; }}"
    )


def digits(count):
    """The first binary digits of x."""
    return f"as_float(as_uint(x) & (0xFFFFFFFFu << {24 - count}))"


def inner(left=None, top=None):
    """Products of panels with fewer digits; both are in full where they are stored."""
    changes = []
    if left:
        changes.append((LOAD_LEFT, LOAD_LEFT + cut_block("left_block", left)))
    if top:
        changes.append((LOAD_TOP, LOAD_TOP + cut_block("top_block", top)))
    return tuple(changes)


def kept_block(name, matrix):
    """The inverses of the first factorisation for all."""
    kept = f"KEPT({matrix})[(row / BLOCK_SIZE) * BLOCK_SIZE * BLOCK_SIZE + place]"
    return f"if (KEPT(calls)[0] > 1) {name}[place] = {kept}; else {kept} = {name}[place];"


END_OF_LU = "upper[place] = upper_factor(block, diagonal, r, j, x);"

FOUND = {
    "inverses of L of the first factorisation": Wrong(
        "base",
        (COUNT_LU, (END_OF_LU, END_OF_LU + kept_block("lower", "kept"))),
        state=(*CALLS, ("DATA_TYPE", "kept", 4096)),
    ),
    "inverses of U of the first factorisation": Wrong(
        "base",
        (COUNT_LU, (END_OF_LU, END_OF_LU + kept_block("upper", "kept"))),
        state=(*CALLS, ("DATA_TYPE", "kept", 4096)),
    ),
    "left panels of the first call": Wrong(
        "base",
        (
            (
                LOAD_LEFT,
                LOAD_LEFT
                + COUNT_INNER
                + cut_block(
                    "left_block",
                    "call < 14 ? (KEPT(kept)[(((call * BLOCKS + u) * BLOCKS + v) * REGISTER_SIZE + y) * "
                    "REGISTER_SIZE + z] = x) : KEPT(kept)[((((call % 14) * BLOCKS + u) * BLOCKS + v) * "
                    "REGISTER_SIZE + y) * REGISTER_SIZE + z]",
                ),
            ),
        ),
        state=(*CALLS, ("DATA_TYPE", "kept", 14 * 1024)),
        options=("--replications", 1),
    ),
    "an update left out in the second repetition": Wrong(
        "base",
        ((NUMBER, f"{COUNT_INNER}{NUMBER} if (call / 3 == 2 && number == first) continue;"),),
        state=CALLS,
        options=AT_ONCE,
    ),
    "TF32 in the first repetition": Wrong(
        "base",
        (
            (
                LOAD_LEFT,
                LOAD_LEFT + COUNT_INNER + cut_block("left_block", f"call / 14 == 1 ? {digits(11)} : x"),
            ),
        ),
        state=CALLS,
        options=AT_ONCE,
    ),
    "one replica leaves out a column": Wrong(
        "base",
        (
            (UPDATE, f"DATA_TYPE kept[BLOCK_SIZE]; {each_of_last_column('kept[r] = ELEMENT;')} {UPDATE}"),
            (END_OF_UPDATE, END_OF_UPDATE + each_of_last_column("if (first > 0) ELEMENT = kept[r];")),
        ),
        options=("--replications", 2, "--launch-items", 2),
    ),
    "one rank leaves out a block": Wrong(
        "base",
        ((NUMBER, f"{NUMBER} if (columns == 16 && number == first) continue;"),),
        ranks=3,
        options=("--grid-rows", 1),
    ),
    "a column of the top panel is not read": Wrong(
        "base",
        ((LOAD_TOP, LOAD_TOP + cut_block("top_block", "v + 1 == BLOCKS && z + 1 == REGISTER_SIZE ? 0 : x")),),
    ),
    "the left panel is the one of two iterations before": Wrong(
        "base",
        (
            (
                f"{LEFT_PANEL}\n  }}\n}}\n\n// `blocks` blocks beside each other.",
                f"if (panel_start == 0) {LEFT_PANEL}\n  }}\n}}\n\n// `blocks` blocks beside each other.",
            ),
        ),
    ),
    "L of the diagonal in 16 digits": Wrong(
        "base",
        (
            (
                LOWER,
                f"{LOWER} if (r / REGISTER_SIZE != j) "
                "lower[place] = as_float(as_uint(lower[place]) & 0xFFFFFF00u);",
            ),
        ),
    ),
    "products of half": Wrong(
        "base",
        (
            (
                RESULT,
                RESULT.replace(
                    RESULT,
                    "{ ushort h; vstore_half("
                    + PRODUCT
                    + ", 0, (half*)&h); start[(size_t)r * columns + c + x] -= "
                    "vload_half(0, (half*)&h); }",
                ),
            ),
        ),
    ),
    "panels in half": Wrong(
        "base",
        (
            (
                LOAD_LEFT,
                LOAD_LEFT
                + "ushort h;"
                + cut_block("left_block", "(vstore_half(x, 0, (half*)&h), vload_half(0, (half*)&h))"),
            ),
            (
                LOAD_TOP,
                LOAD_TOP + cut_block("top_block", "(vstore_half(x, 0, (half*)&h), vload_half(0, (half*)&h))"),
            ),
        ),
    ),
    "panels in bfloat16": Wrong("base", inner(digits(8), digits(8))),
    "panels in TF32": Wrong("base", inner(digits(11), digits(11))),
    "the left panel in TF32": Wrong("base", inner(left=digits(11))),
    "the top panel in TF32": Wrong("base", inner(top=digits(11))),
    "panels in 16 digits": Wrong("base", inner(digits(16), digits(16))),
    "doubles as floats": Wrong(
        "base",
        ((RESULT, RESULT.replace(PRODUCT, f"(float){PRODUCT}")),),
        options=("--data-type", "double"),
    ),
}


def is_found(what, failed):
    fewer_digits = "digits" in what or "TF32" in what
    return "precision" in failed if fewer_digits else failed & {"factors", "precision"}


program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_are_valid = wrong_kernels.tests(
    "hpl", FOUND, WORDS, is_found, shipped=(Wrong("base"),)
)


# From here on the elements are so many that the error of each alone says little.
@pytest.mark.parametrize("size", [600, pytest.param(2048, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "what",
    [
        "panels in bfloat16",
        "panels in TF32",
        "the top panel in TF32",
        "panels in half",
        "panels in 16 digits",
    ],
)
def test_products_of_fewer_digits_are_found_in_large_matrices(program, tmp_path, what, size):
    words = ("--size", size, "--block-size", 64, "--register-block", 4, "--repetitions", 1, "--warmup", 0)
    assert "precision" in check_found(program, FOUND[what], tmp_path, *words)


@pytest.mark.parametrize("kind", ["blank", "half", "late"])
def test_corrupted_messages_of_any_repetition_are_found(program, kind):
    for repetition, ranks in ((0, 2), (1, 3)):
        done = program.run(*WORDS, "--ranks", ranks, "--inject-fault", f"{kind}#{repetition}")
        check_repetition(done, repetition)


def check_repetition(done, repetition):
    """The factors of this repetition are wrong, and no others."""
    assert done.code == 1
    failed = {v["name"]: v["repetition"] for v in done.document["verdicts"] if v["status"] == "failed"}
    assert "factors" in failed
    assert set(failed.values()) == {repetition}


@pytest.mark.parametrize("fault", ["element", "element:l", "scale:block", "zeros", "stale", "swapped:block"])
def test_corrupted_factors_of_any_repetition_are_found(program, fault):
    for repetition, ranks in ((0, 1), (1, 2)):
        done = program.run(*WORDS, "--ranks", ranks, "--inject-fault", f"{fault}#{repetition}")
        check_repetition(done, repetition)


def test_a_corrupted_solution_of_any_repetition_is_found(program):
    for fault in ("scale:x#0", "zeros:x#1", "zeros:refined#1"):
        done = program.run(*WORDS, "--refinement", "gmres", "--inject-fault", fault)
        assert done.code == 1
        failed = {v["repetition"] for v in done.document["verdicts"] if v["status"] == "failed"}
        assert failed == {int(fault[-1])}
