"""Kernels of PTRANS that save work or digits: each is found, in whichever part and repetition it is wrong."""

from dataclasses import replace

import pytest
import wrong_kernels
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

# One replica does the tasks of a call one after the other. Each repetition has a call for the kernels alone
# and one for the whole; the warm-up's are 0 and 1. Messages go in one way: else every start measures
# which is the fastest.
WORDS = ("--size", 60, "--block-size", 16, "--channel-width", 4, "--repetitions", 3, "--chunk-bytes", 0)
WHOLE = "elements"
KERNELS = "kernels"

LOOP = "for (uint task = first; task < first + count; ++task) {"
TO = "const size_t to = tasks[2 * task + 1] * BLOCK_ELEMENTS;"
A = "elements[k] = a[from + row * BLOCK_SIZE + chunk * CHANNEL_WIDTH + k];"
A_PLACE = "from + row * BLOCK_SIZE + chunk * CHANNEL_WIDTH + k"
B = "b[to + row * BLOCK_SIZE + column]"
SUM = f"sum[row][column] = lanes[LANE(k, row)] + {B};"
C = "c[to + row * BLOCK_SIZE + column + k] = sum[row][column + k];"
PLACE = "to + row * BLOCK_SIZE + column + k"
ELEMENTS = 64 * 64

KEPT = (("DATA_TYPE", "kept", ELEMENTS), ("uint", "calls", 1))
COUNT = (LOOP, f"const uint call = KEPT(calls)[0]++;\n{LOOP}")
CALLS = (("uint", "calls", 1),)


def in_calls(which):
    """Of the sum, zero in some calls."""
    return (COUNT, (SUM, f"sum[row][column] = {which} ? 0 : lanes[LANE(k, row)] + {B};"))


def cut(bits, value):
    """The number without its last bits."""
    return f"as_float(as_uint({value}) & (0xFFFFFFFFu << {bits}))"


FOUND = {
    "C of the first call": (
        Wrong(
            "base",
            (
                COUNT,
                (
                    C,
                    f"c[{PLACE}] = call ? KEPT(kept)[{PLACE}] : (KEPT(kept)[{PLACE}] = "
                    "sum[row][column + k]);",
                ),
            ),
            state=KEPT,
        ),
        {WHOLE, KERNELS},
    ),
    "C of the kernels alone as the whole": (
        Wrong(
            "base",
            (
                COUNT,
                (
                    C,
                    f"c[{PLACE}] = call % 2 ? KEPT(kept)[{PLACE}] : (KEPT(kept)[{PLACE}] = "
                    "sum[row][column + k]);",
                ),
            ),
            state=KEPT,
        ),
        {WHOLE},
    ),
    "C of the call before": (
        Wrong(
            "base",
            (
                COUNT,
                (
                    C,
                    f"{{ const DATA_TYPE old = KEPT(kept)[{PLACE}]; "
                    f"KEPT(kept)[{PLACE}] = sum[row][column + k]; c[{PLACE}] = old; }}",
                ),
            ),
            state=KEPT,
        ),
        {WHOLE, KERNELS},
    ),
    "A is read once": (
        Wrong(
            "base",
            (
                COUNT,
                (A, f"elements[k] = call ? KEPT(kept)[{A_PLACE}] : (KEPT(kept)[{A_PLACE}] = a[{A_PLACE}]);"),
            ),
            state=KEPT,
        ),
        {WHOLE, KERNELS},
    ),
    "B is read once": (
        Wrong(
            "base",
            (
                COUNT,
                (
                    SUM,
                    f"KEPT(kept)[to + row * BLOCK_SIZE + column] = call ? "
                    f"KEPT(kept)[to + row * BLOCK_SIZE + column] : {B}; sum[row][column] = "
                    "lanes[LANE(k, row)] + KEPT(kept)[to + row * BLOCK_SIZE + column];",
                ),
            ),
            state=KEPT,
        ),
        {WHOLE, KERNELS},
    ),
    "the sum is kept in B for the whole": (
        Wrong(
            "base",
            (
                COUNT,
                (
                    C,
                    f"{{ if (call % 2 == 0) ((__global DATA_TYPE*)b)[{PLACE}] = "
                    f"sum[row][column + k]; c[{PLACE}] = call % 2 ? b[{PLACE}] : "
                    "sum[row][column + k]; }",
                ),
            ),
            state=CALLS,
        ),
        {WHOLE},
    ),
    "zeros in the first repetition": (Wrong("base", in_calls("call == 3"), state=CALLS), {WHOLE}),
    "zeros in the second repetition": (Wrong("base", in_calls("call == 5"), state=CALLS), {WHOLE}),
    "zeros in the kernels alone": (Wrong("base", in_calls("call % 2 == 0"), state=CALLS), {KERNELS}),
    "zeros in the kernels alone of one repetition": (
        Wrong("base", in_calls("call == 4"), state=CALLS),
        {KERNELS},
    ),
    "one replica leaves out B": (
        Wrong(
            "base",
            ((SUM, f"sum[row][column] = lanes[LANE(k, row)] + (first > 0 ? 0 : {B});"),),
            options=("--replications", 2),
        ),
        {WHOLE, KERNELS},
    ),
    "one rank leaves out a block": (
        # Of 4 x 4 blocks in three columns of ranks, the first has twice as many as the others.
        Wrong(
            "base",
            ((TO, f"{TO} if (count == 4 && task == first) continue;"),),
            ranks=3,
            options=("--grid-rows", 1),
        ),
        {WHOLE, KERNELS},
    ),
    "a row of A is left from the block before": (
        Wrong(
            "base",
            (
                (
                    "for (uint row = 0; row < BLOCK_SIZE; ++row) {\n      FM_PIPELINE\n      for (uint "
                    "chunk = 0; chunk < CHUNKS; ++chunk) {\n        FM_HLS(pipeline II = 1)\n        "
                    "DATA_TYPE elements",
                    "for (uint row = 0; row + 1 < BLOCK_SIZE; ++row) {\n      FM_PIPELINE\n      for (uint "
                    "chunk = 0; chunk < CHUNKS; ++chunk) {\n        FM_HLS(pipeline II = 1)\n        "
                    "DATA_TYPE elements",
                ),
            ),
        ),
        {WHOLE, KERNELS},
    ),
    "every other row of B is not read": (
        Wrong("base", ((SUM, SUM.replace("to + row *", "to + (row & ~1u) *")),)),
        {WHOLE, KERNELS},
    ),
    "B with one bit less": (Wrong("base", ((SUM, SUM.replace(B, cut(3, B))),)), {WHOLE, KERNELS}),
    "A in TF32": (Wrong("base", ((A, f"elements[k] = {cut(13, f'a[{A_PLACE}]')};"),)), {WHOLE, KERNELS}),
    "C in half": (
        Wrong(
            "base",
            (
                (
                    C,
                    "{ ushort short_sum; vstore_half(sum[row][column + k], 0, (half*)&short_sum); "
                    f"c[{PLACE}] = vload_half(0, (half*)&short_sum); }}",
                ),
            ),
        ),
        {WHOLE, KERNELS},
    ),
    "doubles as floats": (
        Wrong(
            "base",
            ((SUM, f"sum[row][column] = (float)lanes[LANE(k, row)] + (float){B};"),),
            options=("--data-type", "double"),
        ),
        {WHOLE, KERNELS},
    ),
}


def is_found(what, failed):
    return failed == FOUND[what][1]


ONE = ("--replications", 1)  # but where a kernel says otherwise
WRONG = {
    what: wrong if "--replications" in wrong.options else replace(wrong, options=(*ONE, *wrong.options))
    for what, (wrong, _) in FOUND.items()
}
SHIPPED = (Wrong("base", options=ONE), Wrong("throughput", options=ONE))
program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_are_valid = wrong_kernels.tests(
    "ptrans", WRONG, WORDS, is_found, shipped=SHIPPED
)


@pytest.mark.parametrize("transport", ["host", "cpu"])
@pytest.mark.parametrize("kind", ["blank", "half", "late", "swapped"])
def test_corrupted_messages_of_any_repetition_are_found(program, kind, transport):
    words = ("--size", 100, "--block-size", 16, "--round-blocks", 3, "--repetitions", 3, "--ranks", 2)
    words += ("--chunk-bytes", 0)
    for repetition in (0, 1):
        fault = f"{kind}#{repetition}"
        done = program.run(*words, "--transport", transport, "--inject-fault", fault)
        assert done.code == 1
        found = {v["name"]: v for v in done.document["verdicts"]}
        assert set(found) == {WHOLE, KERNELS, "exchange"}
        for verdict in found.values():
            assert verdict["status"] == "failed" and verdict["repetition"] == repetition


@pytest.mark.parametrize("kind", ["element", "scale", "zeros", "stale", "swapped:c"])
def test_corrupted_values_of_any_repetition_are_found(program, kind):
    words = ("--size", 60, "--block-size", 16, "--repetitions", 3)
    for repetition in (0, 1):
        done = program.run(*words, "--inject-fault", f"{kind}#{repetition}")
        assert done.code == 1
        (failed,) = (v for v in done.document["verdicts"] if v["status"] == "failed")
        assert failed["name"] == WHOLE and failed["repetition"] == repetition
