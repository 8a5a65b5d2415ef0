"""What an iteration has to wait for from earlier ones: values in registers, and memory that is read again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fabricmark.base.grouping import grouped
from fabricmark.inspect.ir import Instruction
from fabricmark.inspect.linear import Linear, incoming, zero_bits
from fabricmark.inspect.loops import Loop
from fabricmark.inspect.memory import GLOBAL, LOCAL, UNKNOWN, Access


@dataclass(frozen=True)
class Edge:
    """`target` needs `source` of `distance` iterations ago; `store`: where that goes through memory."""

    source: int
    target: int
    distance: int
    store: Access | None = None
    load: Access | None = None


@dataclass(frozen=True)
class Recurrence:
    """A cycle of edges and the interval that it forces."""

    cycles: int
    edges: tuple[Edge, ...]

    def through_memory(self) -> Edge | None:
        return next((edge for edge in self.edges if edge.store is not None), None)


def may_alias(one: Access, other: Access) -> bool:
    """Whether two accesses may be of the same memory."""
    if one.array.name == other.array.name:
        return True
    if UNKNOWN in (one.array.space, other.array.space):
        return LOCAL not in (one.array.space, other.array.space)
    both_global = one.array.space == other.array.space == GLOBAL
    return both_global and not one.array.restricted and not other.array.restricted


def distance(store: Access, load: Access, loop: Loop, moves: Callable[[Linear], bool]) -> int | None:
    """After how many iterations, at the earliest, a load may read what was stored; None for never.

    `moves`: whether an address changes from one iteration to the next by more than its counter says.
    """
    if not may_alias(store, load):
        return None
    if store.array.name != load.array.name:
        return 1
    apart = load.offset.constant - store.offset.constant  # of the addresses in one iteration
    if store.offset.terms != load.offset.terms or moves(store.offset):
        difference = load.offset + store.offset * -1
        if difference.terms or moves(store.offset) or moves(load.offset):
            return None if _never_meet(difference, store, load) else 1
    step = store.offset.factor(("iteration", loop.header))
    if step == 0:
        return 1 if -load.bytes < apart < store.bytes else None
    # They meet after d iterations where step * d + apart lies between -load.bytes and store.bytes.
    bound = 1 - load.bytes - apart if step > 0 else apart - store.bytes + 1
    first = max(1, -(-bound // abs(step)))
    meets = -load.bytes < step * first + apart < store.bytes
    return first if meets else None


def _never_meet(difference: Linear, store: Access, load: Access) -> bool:
    """Whether all that is unknown moves both by multiples of a power of two in which they stay apart."""
    bits = min(zero_bits(offset.without_constant()) for offset in (store.offset, load.offset))
    apart = difference.constant % (1 << bits)
    return store.bytes <= apart <= (1 << bits) - load.bytes


def edges(instructions: Sequence[Instruction], loop: Loop, carried: Iterable[Edge]) -> list[Edge]:
    """Who needs whose value: within an iteration, by the values that the loop carries, and by memory."""
    numbers = {one.name: number for number, one in enumerate(instructions) if one.name}
    found = list(carried)
    for number, one in enumerate(instructions):
        if one.opcode == "phi" and one.block == loop.header:
            for value, block in incoming(one):
                if block in loop.latches and value in numbers:
                    found.append(Edge(numbers[value], number, 1))
        else:
            needed = {numbers[name] for name in one.operands if name in numbers}
            found += [Edge(source, number, 0) for source in needed]
    return found


def longest(count: int, found: Sequence[Edge], latency: Sequence[int]) -> Recurrence | None:
    """The cycle that forces the greatest interval; None where there is none that takes time."""
    following: list[list[Edge]] = [[] for _ in range(count)]
    for edge in found:
        following[edge.source].append(edge)
    worst = None
    for component in _components(count, found):
        inside = set(component)
        own = [edge for node in component for edge in following[node] if edge.target in inside]
        if not own or not any(latency[node] for node in component):
            continue
        one = _slowest(component, own, latency)
        if one is not None and (worst is None or one.cycles > worst.cycles):
            worst = one
    return worst


def _slowest(nodes: Sequence[int], own: Sequence[Edge], latency: Sequence[int]) -> Recurrence | None:
    """Of one component: the least interval that no cycle exceeds, and a cycle that asks for it."""
    low, high = 0, sum(latency[node] for node in nodes)
    critical: tuple[Edge, ...] = ()
    while low < high:
        middle = (low + high) // 2
        cycle = _exceeding(nodes, own, latency, middle)
        if cycle:
            # A cycle says more than that it exceeds the middle: what it needs itself.
            total = sum(latency[edge.source] for edge in cycle)
            spread = sum(edge.distance for edge in cycle)
            low, critical = max(middle + 1, -(-total // max(1, spread))), cycle
        else:
            high = middle
    return Recurrence(low, critical) if critical else None


def _exceeding(
    nodes: Sequence[int], own: Sequence[Edge], latency: Sequence[int], interval: int
) -> tuple[Edge, ...]:
    """A cycle that takes longer than `interval` cycles for each iteration that it spans."""
    reached = dict.fromkeys(nodes, 0)
    before: dict[int, Edge] = {}
    changed: int | None = None
    for _ in range(len(nodes) + 1):
        changed = None
        for edge in own:
            value = reached[edge.source] + latency[edge.source] - interval * edge.distance
            if value > reached[edge.target]:
                reached[edge.target], before[edge.target], changed = value, edge, edge.target
        if changed is None:
            return ()
    node = changed
    for _ in nodes:  # back until surely within the cycle
        node = before[node].source  # type: ignore[index]
    cycle, at = [], node
    while True:
        edge = before[at]  # type: ignore[index]
        cycle.append(edge)
        at = edge.source
        if at == node:
            return tuple(reversed(cycle))


def _components(count: int, found: Sequence[Edge]) -> Iterable[list[int]]:
    """Strongly connected components."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = [one.source for one in found], [one.target for one in found]
    graph = coo_array(([True] * len(found), ends), shape=(count, count)).tocsr()
    _, component = connected_components(graph, connection="strong")
    return grouped(zip(component.tolist(), range(count), strict=True)).values()
