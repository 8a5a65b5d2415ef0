"""Kernels of STREAM that save work or precision: each is found in the repetition in which it does."""

import pytest
import wrong_kernels
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

SHORT = ("--size", 4096, "--repetitions", 3, "--warmup", 1, "--vector-width", 1)
# Small kernels, which compile in a moment; one work-item, so that what is kept is kept once.
THROUGHPUT = ("--vectors-per-item", 4096, "--work-group-size", 1)

FACTOR = "const DATA_TYPE factor = (DATA_TYPE)scalar;"
WITH = "FM_STORE_ONCE(result[i], factor * first[i] + second[i])"
WITHOUT = "FM_STORE_ONCE(result[i], factor * first[i])"
LOOP = "for (uint block = 0; block < pieces; ++block) {"
# What tells the operations apart, and how often the kernel was called: four times in a repetition.
ADD = "(use_second && scalar == 1)"
TRIAD = "(use_second && scalar == 3)"
COPY = "(!use_second && scalar == 1)"
SCALE = "(!use_second && scalar == 3)"
CALLS = ("int", "calls", 1)
KEPT = ("DATA_TYPE", "results", 5 * 4096)


def throughput(*changes, **how):
    return Wrong("throughput", tuple(changes), options=(*THROUGHPUT, *how.pop("options", ())), **how)


def skipped(when, **how):
    """The operation is left out where `when` holds."""
    return throughput((FACTOR, f"{FACTOR}\n  if ({when}) return;"), **how)


def in_repetition(repetition, operation):
    """The condition that an operation is in progress in a repetition, of which the warm-up is the first."""
    return f"KEPT(calls)[0]++ / 4 == {repetition} && {operation}"


def also(operation, statement):
    """The store of this form of the loop, and a statement after it in some operations."""
    return operation, f"{{ {operation}; {statement}; }}"


def kept(operation):
    """What an operation computed first is written again later: the work of one repetition alone."""
    own = "KEPT(results)[(use_second * 2 + (scalar == 3)) * 4096 + i]"
    again = f"for (uint i = 0; i < pieces; ++i) result[i] = {own}"
    keep = f"if ({operation}) {own} = result[i], KEPT(calls)[0] = 1"
    return throughput(
        (FACTOR, f"{FACTOR}\n  if ({operation} && KEPT(calls)[0] > 0) {{ {again}; return; }}"),
        also(WITH, keep),
        also(WITHOUT, keep),
        state=(CALLS, KEPT),
    )


def base(*changes, replications=1, **how):
    options = ("--buffer-size", 64, "--replications", replications)
    return Wrong("base", tuple(changes), state=(CALLS,), options=options, **how)


def instead(old, new, **how):
    return throughput((old, f"FM_STORE_ONCE(result[i], {new})"), **how)


BYTES = "((__global uchar*)&result[i])[{0}] = ((__global const uchar*)&first[i])[{0}]"
WRONG = {
    # Kept state.
    "add of the repetition before": kept(ADD),
    "triad of the repetition before": kept(TRIAD),
    "copy of the repetition before": kept(COPY),
    "scale of the repetition before": kept(SCALE),
    # One repetition alone: the first counted one, one between, the last.
    "no copy in the first repetition": skipped(in_repetition(1, COPY), state=(CALLS,)),
    "no scale in the second repetition": skipped(in_repetition(2, SCALE), state=(CALLS,)),
    "no triad in the last repetition": skipped(in_repetition(3, TRIAD), state=(CALLS,)),
    "right in the first and the last repetition alone": skipped(
        "KEPT(calls)[0]++ / 4 == 2", state=(CALLS,)
    ),
    # An operation that another one does, or nobody.
    "no add": skipped(ADD),
    "copy by triad": throughput(
        (FACTOR, f"{FACTOR}\n  if ({COPY}) return;"),
        also(WITH, f"if ({TRIAD}) ((__global stream_vector*)first)[i] = result[i]"),
    ),
    "triad by add": throughput(
        (FACTOR, f"{FACTOR}\n  if ({TRIAD}) return;"),
        also(WITH, "((__global stream_vector*)first)[i] = 3 * result[i] + second[i]"),
    ),
    # Unread inputs.
    "triad without b": instead(WITH, f"{TRIAD} ? 4 * first[i] : first[i] + second[i]"),
    "triad without c": instead(WITH, f"{TRIAD} ? 4 * second[i] : first[i] + second[i]"),
    "add without b": instead(WITH, f"{ADD} ? 2 * first[i] : factor * first[i] + second[i]"),
    "every other element read": instead(WITH, "factor * first[i & ~1UL] + second[i & ~1UL]"),
    "the same block again": instead(WITHOUT, "factor * first[i % 1024]"),
    # Less precision.
    "a copy of one byte of each element": throughput((WITHOUT, BYTES.format(3))),
    "a copy without the last byte": throughput((WITHOUT, ", ".join(BYTES.format(i) for i in (1, 2, 3)))),
    "half of the bits of a float": instead(
        WITH, "as_float(as_uint(factor * first[i] + second[i]) & 0xFFFF0000U)"
    ),
    "two bits of a float left out": instead(
        WITH, "as_float(as_uint(factor * first[i] + second[i]) & ~3U)"
    ),
    "double computed in float": instead(
        WITH,
        "(double)((float)factor * (float)first[i] + (float)second[i])",
        options=("--data-type", "double"),
    ),
    "double scaled in float": instead(
        WITHOUT, "(double)((float)factor * (float)first[i])", options=("--data-type", "double")
    ),
    # A part of the work.
    "half of the vectors": throughput(("(size_t)pieces)", "(size_t)pieces / 2)")),
    "all but the last vector": throughput(("(size_t)pieces)", "(size_t)pieces - 1)")),
    "one of two replications": base((LOOP, f"if (KEPT(calls)[0]++ % 2) return;\n  {LOOP}"), replications=2),
    "nothing after the first repetitions": base((LOOP, f"if (KEPT(calls)[0]++ >= 8) return;\n  {LOOP}")),
    "one of two ranks": base((LOOP, f"if (KEPT(calls)[0]++ % 2) return;\n  {LOOP}"), ranks=2),
    "a block left out": base((LOOP, LOOP.replace("< pieces", "+ 1 < pieces"))),
    "the first input twice": base(("read[u] = second[start + k + u]", "read[u] = first[start + k + u]")),
    "a block stored at another place": base(("result[start + k + u]", "result[start + (k ^ 1) + u]")),
}  # fmt: skip


def is_found(what, failed):
    return failed <= {"array a", "array b", "array c"}


program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_are_valid = wrong_kernels.tests(
    "stream", WRONG, SHORT, is_found, shipped=(throughput(), base())
)
