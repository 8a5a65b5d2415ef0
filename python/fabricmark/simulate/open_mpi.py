"""Which algorithms Open MPI takes for collectives, and what plays them here.

Source: Open MPI's ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, the decisions for sums that commute as
they stand since version 4.1 (those of 1.3 to 4.0 were others), by ranks and bytes. What changes the decision
on a machine (a file of dynamic rules, other components such as han or hcoll) is not known here.
"""

from collections.abc import Sequence
from typing import NamedTuple

NAME = "open-mpi"
LINEAR = "linear"  # every message at once

# For fewer ranks than the first number of a line (the last line: all others): for fewer bytes than each
# number the algorithm behind it, and the last for all others. Bytes are those of the decision: of a rank's
# elements, of reduce_scatter those of all ranks.
DECISIONS = {
    "all_reduce": """
4: 8 ring 4096 doubling 8192 ring 16384 doubling 262144 ring rabenseifner
8: 16 ring 8192 doubling rabenseifner
16: 8192 doubling rabenseifner
32: 64 ring 4096 doubling rabenseifner
64: 128 ring rabenseifner
128: 262144 doubling rabenseifner
256: 131072 nonoverlapping 262144 doubling rabenseifner
512: 4096 nonoverlapping rabenseifner
2048: 2048 nonoverlapping 16384 doubling rabenseifner
4096: 2048 nonoverlapping 4096 ring 16384 doubling rabenseifner
2048 nonoverlapping 16384 ring 32768 doubling rabenseifner""",
    "all_to_all": """
3: 32768 pairwise 262144 linear pairwise
8: 524288 linear 1048576 pairwise linear
16: linear
32: 4 linear 512 bruck linear
64: 512 bruck linear
128: 1024 bruck 262144 linear pairwise
256: 1024 bruck 262144 linear pairwise
512: 1024 bruck 32768 linear pairwise
1024: 512 bruck 262144 linear pairwise
2048: 512 bruck linear
4096: 1024 bruck linear
2048 bruck linear""",
    "broadcast": """
4: 32 chain 256 tree 512 chain 1024 tree 32768 linear 131072 tree 262144 chain 524288 linear tree
8: 8192 tree 1048576 linear chain
16: 32768 tree linear
32: 1048576 tree scattered
128: tree
256: 16384 tree 32768 linear tree
1024: tree
2048: 524288 tree scattered
4096: 262144 tree scattered
262144 tree scattered""",
    "reduce": """
4: 16 tree 32 chain 262144 linear chain
8: 4096 tree 65536 chain 262144 tree 524288 linear 1048576 tree linear
tree""",
    "reduce_scatter": """
4: 65536 ring 131072 halving ring
8: 262144 halving ring
32: 262144 halving ring
64: 524288 halving ring
halving""",
    "all_gather": """
32: doubling
64: 1024 doubling ring
256: 512 doubling ring
512: 1024 doubling ring
1024: 2048 doubling ring
4096 doubling ring""",
}


class Piece(NamedTuple):
    """A collective with an algorithm of the suite, or LINEAR, and the bytes of one rank's elements."""

    operation: str
    algorithm: str
    sent: int


def decided(operation: str, ranks: int, sent: float) -> str:
    """What Open MPI takes, by its name in DECISIONS; "" for what has none there."""
    for line in DECISIONS.get(operation, "").split("\n"):
        most, _, rest = line.partition(": ") if ": " in line else ("", "", line)
        words = rest.split()
        if not words or (most and ranks >= int(most)):
            continue
        limits = zip(words[:-1:2], words[1::2], strict=True)
        return next((name for limit, name in limits if sent < int(limit)), words[-1])
    return ""


def plan(operation: str, ranks: int, sent: int) -> Sequence[Piece] | None:
    """The calls that play it; None where the suite's own choice does."""
    is_power = ranks & (ranks - 1) == 0
    share = -(-sent // ranks)
    name = decided(operation, ranks, sent * ranks if operation == "reduce_scatter" else sent)
    whole = {
        ("all_reduce", "doubling"): "recursive_doubling", ("all_reduce", "ring"): "ring",
        ("all_to_all", "pairwise"): "pairwise", ("all_to_all", "bruck"): "bruck",
        ("all_to_all", LINEAR): LINEAR, ("broadcast", LINEAR): LINEAR, ("reduce", LINEAR): LINEAR,
        ("broadcast", "chain"): "chain", ("broadcast", "tree"): "binomial",
        ("reduce", "chain"): "ring", ("reduce", "tree"): "binomial",
        ("reduce_scatter", "ring"): "ring",
        ("reduce_scatter", "halving"): "recursive_halving" if is_power else "ring",
        ("all_gather", "doubling"): "recursive_doubling" if is_power else "ring",
        ("all_gather", "ring"): "ring",
    }.get((operation, name))  # fmt: skip
    if whole is not None:
        return [Piece(operation, whole, sent)]
    if name == "rabenseifner":
        if not is_power:  # as many bytes, in more messages
            return [Piece(operation, "ring", sent)]
        return [Piece("reduce_scatter", "recursive_halving", share),
                Piece("all_gather", "recursive_doubling", share)]  # fmt: skip
    if name == "nonoverlapping":
        return [*(plan("reduce", ranks, sent) or ()), *(plan("broadcast", ranks, sent) or ())]
    if name == "scattered":
        gathered = "recursive_doubling" if is_power else "ring"
        return [Piece("scatter", "flat", share), Piece("all_gather", gathered, share)]
    return None


def messages(operation: str, place: int, ranks: int) -> tuple[list[int], list[int]]:
    """(whom a rank sends to, of whom it receives) where all messages go at once; the root is the first."""
    others = [(place + distance) % ranks for distance in range(1, ranks)]
    if operation == "all_to_all":
        return others, others[::-1]
    whom: list[int] = others if place == 0 else []
    of: list[int] = [] if place == 0 else [0]
    return (whom, of) if operation == "broadcast" else (of, whom)
