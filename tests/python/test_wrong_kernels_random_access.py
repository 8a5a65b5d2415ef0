"""Kernels of RandomAccess that keep tables or updates, or leave some out: each is found where it does."""

import pytest
import wrong_kernels
from wrong_kernels import Wrong

pytestmark = pytest.mark.programs

SHORT = ("--repetitions", 3, "--warmup", 1)
CALLS = ("int", "calls", 1)
TABLE = ("ulong", "kept", 1024)
# Begin and end of the kernels, and their one update of an item.
BEGIN = {
    "base": "  ulong number[RNGS] FM_REGISTERS;\n",
    "throughput": "  const size_t first = get_global_id(0) * LANES;",
}
UPDATE = {"base": "items[own_item(update, log_part)] ^= update", "throughput": "items[item] ^= update"}
LAST = "if (queue.update[k] != 0) apply(items, queue.update[k], log_part);\n  }"


def wrong(variant, *changes, replications=1, ranks=1, state=(), options=()):
    small = {
        "base": ("--buffer-size", 1, "--log-rngs", 1, "--rng-distance", 1),
        "throughput": ("--lanes", 1, "--log-work-items", 0, "--buffer-size", 2),
    }
    options = (*(options or small[variant]), "--replications", replications)
    if "--log-size" not in options:
        options = ("--log-size", 10, *options)
    return Wrong(variant, tuple(changes), state=state, ranks=ranks, options=options)


def begin(variant, text, **how):
    """`text` before anything else."""
    return wrong(variant, (BEGIN[variant], text + "\n" + BEGIN[variant]), **how)


def update(variant, text, **how):
    return wrong(variant, (UPDATE[variant], text), **how)


def around(first, last):
    """The kernel between two loops over the table; `kept` is a table that outlives it."""
    loop = "for (uint i = 0; i < 1024; ++i) "
    return wrong(
        "throughput",
        (
            BEGIN["throughput"],
            f"{loop}{{ {first}; }}\n  if (KEPT(calls)[0]++ > 0) return;\n{BEGIN['throughput']}",
        ),
        (LAST, f"{LAST}\n  {loop}{{ {last}; }}"),
        state=(CALLS, TABLE),
    )


# Four work-items that may lose updates, on a table of which the source would accept 655 wrong items.
LOSING = (
    "--log-size", 16, "--lanes", 1, "--buffer-size", 1, "--atomic", "false",
    "--log-work-items", 2, "--work-group-size", 1,
)  # fmt: skip


def losing(text):
    """`text` before an update is applied to its `item`."""
    place = "  const ulong item = own_item(update, log_part);\n"
    return wrong("throughput", (place, f"{place}  {text}\n"), options=LOSING)


GARBAGE = "for (uint i = 0; i < 3; ++i) items[(1UL << log_part) - 1 - i] *= 3;"
WRONG = {
    # Kept state.
    "the table of the first call": around(
        "if (KEPT(calls)[0] > 0) items[i] = KEPT(kept)[i]", "KEPT(kept)[i] = items[i]"
    ),
    "the updates of the first call": around(
        "if (KEPT(calls)[0] > 0) items[i] ^= KEPT(kept)[i]; else KEPT(kept)[i] = items[i]",
        "KEPT(kept)[i] ^= items[i]",
    ),
    "the seeds of the first call": wrong(
        "throughput",
        (
            "((ulong*)&number)[k] = seeds[first + k];",
            "((ulong*)&number)[k] = KEPT(kept)[k] = KEPT(kept)[k] ? KEPT(kept)[k] : seeds[first + k];",
        ),
        state=(TABLE,),
    ),
    # One repetition, replication or rank alone.
    "nothing in the first repetition": begin("base", "  if (KEPT(calls)[0]++ == 1) return;", state=(CALLS,)),
    "nothing in the second repetition": begin(
        "throughput", "  if (KEPT(calls)[0]++ == 2) return;", state=(CALLS,)
    ),
    "half of the updates in the last repetition": wrong(
        "throughput",
        ("step < steps; ++step", "step < steps / (KEPT(calls)[0] == 4 ? 2 : 1); ++step"),
        (BEGIN["throughput"], "  ++KEPT(calls)[0];\n" + BEGIN["throughput"]),
        state=(CALLS,),
    ),
    "one of two replications": begin("base", "  if (part == 1) return;", replications=2),
    "the last of four replications": begin("throughput", "  if (part == 3) return;", replications=4),
    "one of two ranks": wrong(
        "throughput",
        (BEGIN["throughput"], "  if (part == 1) return;\n" + BEGIN["throughput"]),
        ranks=2,
        options=("--scope", "global", "--lanes", 1, "--log-work-items", 0, "--buffer-size", 2),
    ),
    # Unread input: what an item or where the sequence begins was known before.
    "a table that is its index": update("throughput", "items[item] = item ^ update"),
    "a table of zeros": update("base", "items[own_item(update, log_part)] = update"),
    "a sequence that begins at 1": wrong(
        "base", ("number[r] = seeds[r];", "number[r] = r ? seeds[r] : 2;")
    ),
    # Less of each update.
    "half of the bits": update("throughput", "items[item] ^= update & 0xFFFFFFFFUL"),
    "all bits but the last": update("base", "items[own_item(update, log_part)] ^= update & ~1UL"),
    "the item's own bits alone": update("throughput", "items[item] ^= own_item(update, log_part)"),
    # Some of the updates.
    "all but one update": wrong(
        "base", ("left[r] = numbers_each;", "left[r] = numbers_each - (r == 1);"),
        ("(long)(numbers_each * RNGS)", "(long)(numbers_each * RNGS) - 1"),
    ),
    "the first update twice": begin("throughput", "  items[own_item(seeds[0], log_part)] ^= seeds[0];"),
    "the end of the queue left out": wrong("throughput", (LAST, "}")),
    # Less than what the rules accept, where updates may be lost.
    "the last 0.8 % of the table": losing("if (item >= (1UL << log_part) * 992 / 1000) return;"),
    "the first 0.5 % of the table": losing("if (item < (1UL << log_part) / 200) return;"),
    "an item in 128": losing("if (item % 128 == 77) return;"),
    "an update in 400": losing("if (update % 400 == 7) return;"),
    "the last updates of each work-item": wrong(
        "throughput", ("step < steps; ++step", "step < steps - steps / 200; ++step"), options=LOSING
    ),
    "the first updates of each work-item": wrong(
        "throughput", ("for (ulong step = 0; step < steps", "for (ulong step = steps / 200; step < steps"),
        options=LOSING,
    ),
    "a work-item of 256": wrong(
        "throughput", (BEGIN["throughput"], f"  if (get_global_id(0) == 3) return;\n{BEGIN['throughput']}"),
        options=(*LOSING[:-4], "--log-work-items", 8, "--work-group-size", 1),
    ),
    "updates of 0.8 % of the table twice": losing("if (item % 128 == 5) items[item] ^= update;"),
    "updates of 0.5 % of the table in the next item": losing(
        "if (item % 200 == 5) { items[item + 1] ^= update; return; }"
    ),
    "half of the bits in 0.8 % of the table": losing(
        "if (item % 128 == 5) { items[item] ^= update & 0xFFFFFFFFUL; return; }"
    ),
    "the last 0.8 % behind a buffer": wrong(
        "base", ("if (update[k] != 0) items[own_item(update[k], log_part)] = item[k] ^ update[k];",
                 "if (update[k] != 0 && own_item(update[k], log_part) < (1UL << log_part) * 992 / 1000)\n"
                 "        items[own_item(update[k], log_part)] = item[k] ^ update[k];"),
        options=("--log-size", 16, "--buffer-size", 8, "--log-rngs", 1, "--rng-distance", 1),
    ),
    "every write behind a buffer that meets another": wrong(
        "base", ("if (update[k] != 0) items[own_item(update[k], log_part)] = item[k] ^ update[k];",
                 "if (update[k] != 0 && (k > 0 || own_item(update[k], log_part) % 8 != 0))\n"
                 "        items[own_item(update[k], log_part)] = item[k] ^ update[k];"),
        options=("--log-size", 16, "--buffer-size", 8, "--log-rngs", 1, "--rng-distance", 1),
    ),
    # Garbage among the items that may be wrong, as updates may be lost.
    "garbage where updates may be lost": begin(
        "base", GARBAGE, options=("--buffer-size", 2, "--log-rngs", 1, "--rng-distance", 1)
    ),
}  # fmt: skip


def is_found(what, failed):
    return "table" in failed or "whole updates" in failed


SHIPPED = (
    wrong("base"),
    wrong("throughput", replications=2),
    wrong("throughput", options=LOSING),
    wrong("base", options=("--log-size", 16, "--buffer-size", 8, "--log-rngs", 1, "--rng-distance", 1)),
)
QUICK = {
    "the seeds of the first call",
    "half of the updates in the last repetition",
    "one of two ranks",
    "the last 0.8 % of the table",
    "the last updates of each work-item",
    "half of the bits in 0.8 % of the table",
    "garbage where updates may be lost",
}
program, test_a_wrong_kernel_is_found, test_the_shipped_kernels_are_valid = wrong_kernels.tests(
    "random_access", WRONG, SHORT, is_found, shipped=SHIPPED, quick=QUICK
)
