"""Collective operations: closed forms of their algorithms, of which a call takes the fastest.

The model is that of Hockney (1994), which Thakur, Rabenseifner and Gropp, "Optimization of Collective
Communication Operations in MPICH" (2005), take for each algorithm: a message of m bytes takes a + m b. Added
are devices that pass messages on, and links of a ring or a torus that several messages share.
src/fabric/collectives has the same forms, by which the programs choose; a test compares these times with the
clock of the emulated fabric. What moves take over a transport: `_collective_costs`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fabricmark.models._collective_prices import (
    ANY,
    RING,
    TORUS,
    Prices,
    distances,
    halves,
    is_power_of_two,
)


@dataclass(frozen=True)
class Algorithm:
    """`reach`: which ranks send each other messages. `seconds`: of two ranks or more. `fits(ranks, bytes)`:
    whether it is meant for so many. `buffers`: that a rank has to have for messages which come at the same
    time, whether it receives them or not."""

    reach: str
    seconds: Callable[[Prices], float]
    fits: Callable[[int, float], bool] = lambda ranks, moved: True
    buffers: Callable[[Prices], int] = lambda of: of.buffers(1, of.bytes)

    def works(self, prices: Prices) -> bool:
        """Whether it can do a problem, and is meant for it."""
        shape = prices.shape
        if self.reach == ANY and shape.circuits and shape.wiring != ANY:
            return False
        if (
            self.reach == RING
            and shape.circuits
            and shape.wiring == TORUS
            and min(shape.rows, shape.columns) > 1
        ):
            return False
        if self.reach == TORUS and shape.wiring != TORUS:
            return False
        return self.fits(prices.ranks, prices.bytes)

    def has_room(self, prices: Prices) -> bool:
        """Whether its messages find receive buffers."""
        return prices.costs.buffers is None or self.buffers(prices) <= prices.costs.buffers


def broadcast_binomial(of: Prices) -> float:
    """Thakur et al. (2005), section 4.3: lg p (a + m b), but a rank sends to the roots of all trees below it,
    the farthest first, and its messages share its link."""
    each = of.costs.issue + of.costs.moving(of.bytes)

    def tree(ranks: int) -> float:
        below = distances(ranks)[::-1]
        return max(
            (
                of.alone(distance, of.bytes)
                + (len(below) - 1 if of.takes_turns else place) * each
                + tree(min(distance, ranks - distance))
                for place, distance in enumerate(below)
            ),
            default=0.0,
        )

    return tree(of.ranks) + of.end(of.bytes)


def broadcast_chain(of: Prices) -> float:
    """In pieces along a ring, as fast as they are moved and copied."""
    piece = max(of.costs.issue + of.costs.moving(of.segment), of.costs.copying(of.segment))
    return (of.ranks - 1) * of.alone(1, of.segment) + (of.segments - 1) * piece + of.end(of.segment)


def from_root(of: Prices) -> float:
    """(p - 1) m b at the root's links."""
    found = (of.ranks - 1) * of.costs.issue + of.to_farthest + of.at_root + of.costs.storing(of.bytes)
    return found + of.turns * of.costs.leaving + of.end(of.bytes)


def to_root(of: Prices) -> float:
    """All send at the same time. Long messages all end at the end, and are copied one after the other."""
    copies = of.ranks - 1 if of.takes_turns else 1
    found = of.costs.issue + of.to_farthest + of.at_root + copies * of.costs.storing(of.bytes)
    return found + of.turns * of.costs.again + of.end(of.bytes)


def scatter_relay(of: Prices) -> float:
    """Neighbours pass on what is for those behind them."""
    farthest = of.behind * of.alone(1, of.bytes) + of.end(of.bytes)
    if of.sides > 1:
        return farthest
    others = (of.ranks - 2) * (of.costs.issue + of.costs.moving(of.bytes))
    return max(farthest, others + of.alone(1, of.bytes))


def gather_relay(of: Prices) -> float:
    """Neighbours pass on what comes from those behind them."""
    farthest = of.behind * of.alone(1, of.bytes) + of.end(of.bytes)
    if of.sides > 1:
        return farthest
    return max(farthest, (of.ranks - 2) * of.costs.moving(of.bytes) + of.alone(1, of.bytes))


def all_gather_doubling(of: Prices) -> float:
    """Thakur et al. (2005), section 4.1: lg p a + (p - 1) m b."""
    return of.costs.copying(of.bytes) + sum(of.all(far, far * of.bytes) for far in distances(of.ranks))


def all_gather_ring(of: Prices) -> float:
    """Thakur et al. (2005), section 4.1: (p - 1) (a + m b)."""
    return of.costs.copying(of.bytes) + (of.ranks - 1) * of.all(1, of.bytes)


def reduce_binomial(of: Prices) -> float:
    """Thakur et al. (2005), section 4.5: lg p (a + m b + m c)."""
    found = sum(of.alone_combining(distance, of.bytes) for distance in halves(of.ranks))
    moving, combining = of.costs.moving(of.bytes), of.costs.combining(of.bytes)
    one_by_one = not of.takes_turns
    last = max(moving, combining) if one_by_one else moving + combining
    return (found if is_power_of_two(of.ranks) else found + last) + of.end(of.bytes)


def reduce_flat(of: Prices) -> float:
    """All send to the root, which combines one after the other."""
    combining, storing = of.costs.combining(of.bytes), of.costs.storing(of.bytes)
    others = max(of.at_root, (of.ranks - 2) * (combining + storing))
    if of.takes_turns:  # all come at the same time
        others = of.at_root + (of.ranks - 2) * (combining + storing)
    return of.costs.issue + of.to_farthest + others + storing + combining


def reduce_ring(of: Prices) -> float:
    """In pieces along a ring, combined on the way."""
    piece = max(of.costs.moving(of.segment), of.costs.combining(of.segment))
    more = (of.segments - 1) * (of.costs.issue + piece)
    return (of.ranks - 1) * of.alone_combining(1, of.segment) + more + of.end(of.segment)


def all_reduce_doubling(of: Prices) -> float:
    """Thakur et al. (2005), section 4.5: lg p (a + m b + m c). Of ranks that are no power of two some let a
    neighbour do their part, which begins with a message and ends with one.
    """
    if is_power_of_two(of.ranks):
        return sum(of.all_combining(distance, of.bytes) for distance in halves(of.ranks))
    places = 2 ** (of.ranks.bit_length() - 1)
    others, moving = of.ranks - places, of.costs.moving(of.bytes)
    at_end = 0.0 if of.costs.combines_as_it_comes else of.costs.combining(of.bytes)
    first = of.alone_combining(1, of.bytes) + (moving if of.takes_turns else 0.0)
    done = [first if place < others else 0.0 for place in range(places)]
    for distance in halves(of.ranks):
        coming = of.alone_combining(distance, of.bytes) - at_end
        done = [
            max(max(own, done[place ^ distance] + coming) + at_end, own + moving + of.costs.answer)
            for place, own in enumerate(done)
        ]
    is_odd = len(halves(of.ranks)) % 2  # sums are made in two memories in turns
    back = max(done[:others]) + is_odd * of.costs.copying(of.bytes) + of.alone(1, of.bytes)
    return max(*done, back + of.end(of.bytes))


def all_reduce_ring(of: Prices) -> float:
    """Thakur et al. (2005), section 4.5: 2 (p - 1) a + 2 (p - 1) / p m b, with the ring for both halves."""
    share = of.bytes / of.ranks
    return (of.ranks - 1) * (of.all_combining(1, share) + of.all(1, share))


def all_reduce_two_phase(of: Prices) -> float:
    """As on rings of a row and of a column, the latter with the share of a row."""
    columns, rows = of.shape.columns, of.shape.rows
    of_row = of.bytes / columns
    of_column = of_row / rows
    in_rows = (columns - 1) * (of.all_combining(1, of_row) + of.all(1, of_row))
    return in_rows + (rows - 1) * (of.all_combining(columns, of_column) + of.all(columns, of_column))


def reduce_scatter_halving(of: Prices) -> float:
    """Thakur et al. (2005), section 4.4: lg p a + (p - 1) m b, combined as it comes."""
    return sum(of.all_combining(far, far * of.bytes) for far in distances(of.ranks))


def reduce_scatter_ring(of: Prices) -> float:
    """Sums of parts go round."""
    return (of.ranks - 1) * of.all_combining(1, of.bytes)


def all_to_all_bruck(of: Prices) -> float:
    """Thakur et al. (2005), section 4.2: lg p a + (p / 2) lg p m b, and the copies."""
    found = 2 * of.ranks * of.costs.copying(of.bytes)
    for bit in distances(of.ranks):
        parts = sum(min(bit, of.ranks - first) for first in range(bit, of.ranks, 2 * bit))
        found += of.all(bit, parts * of.bytes) + 2 * of.costs.copying(parts * of.bytes)
    return found


def all_to_all_pairwise(of: Prices) -> float:
    """Thakur et al. (2005), section 4.2: (p - 1) (a + m b)."""
    return of.costs.copying(of.bytes) + sum(of.all(far, of.bytes) for far in range(1, of.ranks))


def all_to_all_relay(of: Prices) -> float:
    """Neighbours pass on, both ways round, what is for those behind them."""
    sharing = 2 if of.sides == 1 and of.ranks > 2 else 1
    issue = of.costs.issue if of.ranks > 2 else 0.0
    found = (2 * of.ranks - 1) * of.costs.copying(of.bytes)
    return found + sum(issue + of.all(1, sharing * parts * of.bytes) for parts in range(1, of.behind + 1))


def barrier_dissemination(of: Prices) -> float:
    return sum(of.all(distance, 0) for distance in distances(of.ranks))


def barrier_neighbours(of: Prices) -> float:
    return of.behind * (of.costs.issue + of.all(1, 0))


def _of_powers(ranks: int, moved: float) -> bool:
    return is_power_of_two(ranks)


def _of_pieces(of: Prices) -> int:
    return of.buffers_of_pieces(of.segments, of.segment)


def _of_all_others(of: Prices) -> int:
    return of.buffers(of.ranks - 1, of.bytes)


def _of_half(of: Prices) -> int:
    return of.buffers(1, of.ranks / 2 * of.bytes)


def _of_row(of: Prices) -> int:
    return of.buffers(1, of.bytes / (of.shape.columns if of.shape.columns > 1 else of.shape.rows))


def _of_both_bundles(of: Prices) -> int:
    before = (of.ranks - 1) // 2
    return of.buffers(1, of.behind * of.bytes) + (of.buffers(1, before * of.bytes) if before else 0)


# As src/fabric/collectives/algorithms has them, a file each.
ALGORITHMS: Mapping[str, Mapping[str, Algorithm]] = {
    "broadcast": {
        "binomial": Algorithm(ANY, broadcast_binomial),
        "chain": Algorithm(RING, broadcast_chain, buffers=_of_pieces),
        "flat": Algorithm(ANY, from_root, lambda ranks, moved: ranks <= 3),
    },
    "scatter": {
        "flat": Algorithm(ANY, from_root),
        "relay": Algorithm(RING, scatter_relay, buffers=lambda of: of.buffers_of_pieces(of.behind, of.bytes)),
    },
    "gather": {
        "flat": Algorithm(ANY, to_root, buffers=_of_all_others),
        "relay": Algorithm(
            RING, gather_relay, buffers=lambda of: of.buffers_of_pieces(of.behind, of.bytes, 2)
        ),
    },
    "all_gather": {
        "recursive_doubling": Algorithm(ANY, all_gather_doubling, _of_powers, _of_half),
        "ring": Algorithm(RING, all_gather_ring),
    },
    "reduce": {
        "binomial": Algorithm(ANY, reduce_binomial),
        "flat": Algorithm(
            ANY, reduce_flat, lambda ranks, moved: ranks <= 4 or moved <= 32768, _of_all_others
        ),
        "ring": Algorithm(RING, reduce_ring, buffers=_of_pieces),
    },
    "all_reduce": {
        "recursive_doubling": Algorithm(ANY, all_reduce_doubling),
        "ring": Algorithm(RING, all_reduce_ring, buffers=lambda of: of.buffers(1, of.bytes / of.ranks)),
        "two_phase": Algorithm(TORUS, all_reduce_two_phase, buffers=_of_row),
    },
    "reduce_scatter": {
        "recursive_halving": Algorithm(ANY, reduce_scatter_halving, _of_powers, _of_half),
        "ring": Algorithm(RING, reduce_scatter_ring),
    },
    "all_to_all": {
        "bruck": Algorithm(ANY, all_to_all_bruck, buffers=lambda of: of.buffers(1, of.ranks // 2 * of.bytes)),
        "pairwise": Algorithm(ANY, all_to_all_pairwise),
        "relay": Algorithm(RING, all_to_all_relay, buffers=_of_both_bundles),
    },
    "barrier": {
        "dissemination": Algorithm(ANY, barrier_dissemination),
        "neighbours": Algorithm(RING, barrier_neighbours),
    },
}


def times(operation: str, prices: Prices) -> dict[str, float]:
    """Seconds of each algorithm that can do it, the fastest first, without the start of the call; of one rank
    a copy. Where none finds receive buffers enough, of all others: such a call sends messages again."""
    fitting = {
        name: one for name, one in ALGORITHMS[operation].items() if prices.ranks == 1 or one.works(prices)
    }
    if prices.ranks == 1:
        alone = prices.costs.copying(prices.bytes)
        return dict.fromkeys(fitting, alone)
    roomy = {name: one for name, one in fitting.items() if one.has_room(prices)}
    found = {name: one.seconds(prices) for name, one in (roomy or fitting).items()}
    return dict(sorted(found.items(), key=lambda entry: (entry[1], entry[0])))


def bus_bytes(operation: str, ranks: int, moved: float) -> float:
    """Bytes whose quotient by the time can be compared with the rate of one link, whatever the operation: the
    "bus bandwidth" of NVIDIA's nccl-tests (doc/PERFORMANCE.md). 0 for a barrier."""
    factors = {
        "broadcast": 1.0, "reduce": 1.0, "all_reduce": 2 * (ranks - 1) / ranks, "scatter": ranks - 1,
        "gather": ranks - 1, "all_gather": ranks - 1, "reduce_scatter": ranks - 1, "all_to_all": ranks - 1,
        "barrier": 0.0,
    }  # fmt: skip
    return moved * factors[operation]
