"""A trace at another problem size: powers of the size through two traces, call by call and rank by rank."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from fabricmark.base.errors import FabricmarkError
from fabricmark.simulate.trace import OPERATION, Kind, Rank, Step, Trace

Of = tuple[int, str, int]  # rank, call, ranks of its communicator


@dataclass(frozen=True)
class Scaled:
    """A trace whose times and bytes are so many times those that were recorded. `factors`: of computation by
    rank; `compute`, `tests` and `sent`: more, by rank and call; `calls`: as many times as many calls, which
    follow each other as the recorded ones do. `test`: seconds of a test that finds nothing, None: as
    recorded."""

    trace: Trace
    factors: Sequence[float] = ()
    compute: Mapping[Of, float] = field(default_factory=dict)
    sent: Mapping[Of, float] = field(default_factory=dict)
    calls: float = 1.0
    tests: Mapping[Of, float] = field(default_factory=dict)
    test: float | None = None

    def work(self, rank: int, kind: Kind, step: Step) -> float:
        """Seconds before a call in which the rank does not wait: computation, and tests in between."""
        grown = self.tests.get(of(self.trace.ranks[rank], kind), 1.0)
        testing = step.testing if self.test is None else step.tests * self.test
        return step.compute * self.compute_factor(rank, kind) + testing * grown

    def compute_factor(self, rank: int, kind: Kind) -> float:
        """Of the time before a call."""
        own = self.factors[rank if len(self.factors) > 1 else 0] if self.factors else 1.0
        return own * self.compute.get(of(self.trace.ranks[rank], kind), 1.0)

    def bytes_factor(self, rank: int, kind: Kind) -> float:
        """The same for all ranks of a collective: that of its communicator's first rank."""
        if kind.call in OPERATION:
            rank = self.trace.ranks[rank].communicators[kind.communicator][0]
        return self.sent.get(of(self.trace.ranks[rank], kind), 1.0)

    def mean(self, kind: Kind) -> float:
        """Bytes of a rank in collectives of a communicator whose ranks have their own."""
        total = times = 0
        for rank in self.trace.ranks:
            for other, step in rank.calls():
                same = (other.call, other.communicator, other.to) == (kind.call, kind.communicator, kind.to)
                if same and other.varies:
                    total, times = total + other.bytes * step.times, times + step.times
        return total / times if times else 0.0


def of(rank: Rank, kind: Kind) -> Of:
    """What calls have a law of their own."""
    return rank.number, kind.call, len(rank.communicators.get(kind.communicator, ()))


@dataclass
class _Sum:
    calls: float = 0.0
    compute: float = 0.0
    bytes: float = 0.0
    tests: float = 0.0


def _sums(trace: Trace) -> dict[Of, _Sum]:
    found: dict[Of, _Sum] = defaultdict(_Sum)
    for rank in trace.ranks:
        for kind, step in rank.calls():
            own = found[of(rank, kind)]
            own.calls += step.times
            own.compute += step.compute * step.times
            own.bytes += kind.bytes * step.times
            own.tests += step.tests * step.times
    return found


def at_size(trace: Trace, other: Trace, sizes: Sequence[float]) -> tuple[Scaled, list[str]]:
    """`trace` as it were at the last of three `sizes`, of which the first is its own and the second that of
    `other`; and lines that say how all grows. Raises FabricmarkError (2)."""
    own, less, wanted = sizes
    if len(trace.ranks) != len(other.ranks):
        cause = f"{other.file}: {len(other.ranks)} ranks, and {len(trace.ranks)} of {trace.file}"
        raise FabricmarkError(cause, "record both with as many ranks")
    if own == less:
        raise FabricmarkError(f"--sizes: both traces have size {own:g}", "record two sizes")
    here, there = _sums(trace), _sums(other)

    def power(value: float, before: float) -> float:
        """0 where one of them has none."""
        return log(value / before) / log(own / less) if value > 0 and before > 0 else 0.0

    def grown(value: float, before: float) -> float:
        return (wanted / own) ** power(value, before)

    calls = [sum(one.calls for one in sums.values()) for sums in (here, there)]
    more = grown(*calls)
    compute, sent, tests = {}, {}, {}
    for key, one in here.items():
        before = there.get(key, one)
        compute[key] = grown(one.compute, before.compute) / more
        tests[key] = grown(one.tests, before.tests) / more
        sent[key] = grown(one.bytes / one.calls, before.bytes / before.calls) if before.calls else 1.0
    whole = {
        name: [sum(getattr(one, name) for one in sums.values()) for sums in (here, there)]
        for name in ("calls", "compute", "bytes")
    }
    words = ", ".join(f"{name} as size^{power(*values):.2f}" for name, values in whole.items())
    line = f"from size {less:g} and {own:g} to {wanted:g}: {words} in all, each call by its own powers"
    return Scaled(trace, (), compute, sent, more, tests), [line]
