"""Closed forms of calls: as if each rank had a way of its own to each other one.

Every step takes the longest latency of its pattern and the bytes once (Thakur, Rabenseifner and Gropp,
"Optimization of Collective Communication Operations in MPICH", 2005); combining in memory takes no time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log2

EXCHANGE = "exchange"  # with neighbours on the circle of the ranks, or on a grid


@dataclass(frozen=True)
class Wire:
    """What a message takes: `any_latency`, `next_latency`: the longest latency between any ranks and to the
    next one [s]; `rate` of a cable [B/s]; frames of `frame` bytes (0: none) with `header` more."""

    any_latency: float
    next_latency: float
    rate: float
    frame: int
    header: int

    def seconds(self, sent: float) -> float:
        """Of the bytes of a message on a cable [s]; one without bytes is a header."""
        frames = max(1, ceil(sent / self.frame)) if self.frame else 1
        return (sent + frames * self.header) / self.rate

    def step(self, sent: float) -> float:
        """Of a message between any two ranks [s]."""
        return self.any_latency + self.seconds(sent)

    def ring_step(self, sent: float) -> float:
        """Of a message to the next rank [s]."""
        return self.next_latency + self.seconds(sent)


Form = Callable[[Wire, int, float], float]


def wire_of(answer: Mapping) -> Wire:
    """Of what `fabricmark-describe` says of a call."""
    costs = answer["costs"]
    started = costs["issue_seconds"]
    return Wire(
        started + answer["latency_seconds"], started + answer["neighbour_latency_seconds"],
        costs["bytes_per_second"], costs["frame_bytes"], costs["header_bytes"],
    )  # fmt: skip


def _doublings(ranks: int) -> int:
    return ceil(log2(ranks))


def _bruck(wire: Wire, ranks: int, sent: float) -> float:
    steps = (1 << bit for bit in range(_doublings(ranks)))
    return sum(wire.step(sent * sum(1 for part in range(ranks) if part & step)) for step in steps)


def _grown(wire: Wire, ranks: int, sent: float) -> float:
    """Of steps with 1, 2, 4... times the bytes."""
    return sum(wire.step(sent * (1 << step)) for step in range(_doublings(ranks)))


def _all_reduce_doubling(wire: Wire, ranks: int, sent: float) -> float:
    """Ranks beyond a power of two hand theirs over before, and get the result after."""
    whole = int(log2(ranks))
    return (whole + (0 if ranks == 1 << whole else 2)) * wire.step(sent)


# By operation and algorithm: of ranks, and the bytes of one rank's elements.
FORMS: Mapping[tuple[str, str], Form] = {
    ("all_gather", "ring"): lambda wire, ranks, sent: (ranks - 1) * wire.ring_step(sent),
    ("all_gather", "recursive_doubling"): _grown,
    ("all_reduce", "ring"): lambda wire, ranks, sent: 2 * (ranks - 1) * wire.ring_step(sent / ranks),
    ("all_reduce", "recursive_doubling"): _all_reduce_doubling,
    ("all_to_all", "bruck"): _bruck,
    ("all_to_all", "pairwise"): lambda wire, ranks, sent: (ranks - 1) * wire.step(sent),
    ("barrier", "dissemination"): lambda wire, ranks, _: _doublings(ranks) * wire.step(0),
    ("broadcast", "binomial"): lambda wire, ranks, sent: _doublings(ranks) * wire.step(sent),
    ("reduce", "binomial"): lambda wire, ranks, sent: _doublings(ranks) * wire.step(sent),
    ("reduce_scatter", "recursive_halving"): _grown,
    ("reduce_scatter", "ring"): lambda wire, ranks, sent: (ranks - 1) * wire.ring_step(sent),
    (EXCHANGE, "ring"): lambda wire, _, sent: wire.next_latency + 2 * wire.seconds(sent),
    (EXCHANGE, "grid"): lambda wire, _, sent: wire.any_latency + 4 * wire.seconds(sent),
    (EXCHANGE, "transpose"): lambda wire, _, sent: wire.step(sent),
    (EXCHANGE, "all"): lambda wire, ranks, sent: wire.any_latency + (ranks - 1) * wire.seconds(sent),
}


def seconds(operation: str, algorithm: str, wire: Wire, ranks: int, sent: float) -> float | None:
    """Of a call; None where there is no closed form."""
    form = FORMS.get((operation, algorithm))
    return None if form is None else form(wire, ranks, sent)


def fastest(operation: str, algorithms: list[str], wire: Wire, ranks: int, sent: float) -> str:
    """The algorithm whose closed form is shortest, or the first of all where none has one."""
    known = [one for one in algorithms if (operation, one) in FORMS]
    if not known:
        return algorithms[0]
    return min(known, key=lambda one: FORMS[operation, one](wire, ranks, sent))
