"""The estimate of a kernel file: each innermost loop with its interval and reason, and each kernel."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark.inspect import llvm, loops, memory, operations, recurrence
from fabricmark.inspect.chips import GLOBAL_CYCLES, VENDORS, Vendor
from fabricmark.inspect.ir import Function, Instruction, Module, Place, parse
from fabricmark.inspect.linear import Linear, Values
from fabricmark.inspect.loops import Loop
from fabricmark.inspect.memory import GLOBAL, LOCAL, UNKNOWN, Access, Memory, Ports
from fabricmark.inspect.operations import KINDS, Operations
from fabricmark.inspect.recurrence import Edge, Recurrence


@dataclass(frozen=True)
class Found:
    """An innermost loop. `interval`: cycles from one iteration to the next, at least; `reason`: "" for 1.

    `by_type`: floating-point operations of an iteration, by the type of their numbers. `is_marked`: the
    source asks for a pipeline here. `reason_file`, `reason_line`: where its cause stands.
    """

    kernel: str
    file: str
    line: int
    last_line: int
    is_marked: bool
    interval: int
    reason: str
    reason_file: str
    reason_line: int
    operations: str
    by_type: tuple[tuple[str, int], ...]
    dsps: int


@dataclass(frozen=True)
class Kernel:
    """An entry point: its loops, its local memory (name and bytes) and the DSPs of its arithmetic, of which
    `by_type` has the operations, by the type of their numbers."""

    name: str
    loops: tuple[Found, ...]
    arrays: tuple[tuple[str, int], ...]
    operations: str
    by_type: tuple[tuple[str, int], ...]
    dsps: int


def inspect_file(
    source: Path, vendor_name: str, definitions: Mapping[str, str], includes: Path | None = None
) -> list[Kernel]:
    """The kernels of a file for one vendor. Raises FabricmarkError as `llvm.compile_kernel` does."""
    vendor = VENDORS[vendor_name]
    compiled = llvm.compile_kernel(source, vendor.macro, definitions, includes)
    module = parse(compiled.text)
    return [_Kernel(module, function, vendor, compiled).result() for function in module.functions]


class _Kernel:
    """One entry point on its way."""

    def __init__(self, module: Module, function: Function, vendor: Vendor, compiled: llvm.Compiled) -> None:
        self.module, self.function, self.vendor, self.compiled = module, function, vendor, compiled
        self.loops = loops.find(function)
        self.users = operations.uses(function)
        self.values = Values(function, self.loops)
        self.memory = Memory(module, function, self.values, compiled.annotations)
        self.windows = {id(loop): found for loop in self.loops if (found := self._window(loop)) is not None}

    def result(self) -> Kernel:
        regions = [self._operations(blocks, loop) for blocks, loop in self._regions()]
        found = [self._loop(loop) for loop in self._innermost()]
        total = sum(regions, Operations())
        local = (one for one in self.memory.arrays.values() if one.space == LOCAL and one.dimensions)
        arrays = tuple((one.shown, one.bytes) for one in local)
        dsps = operations.dsps(self.vendor, regions)
        return Kernel(self.function.name, tuple(found), arrays, total.shown(), total.by_type(), dsps)

    def _innermost(self) -> list[Loop]:
        """Loops that hold no other, but for those that move a window on; in the order of the source."""
        found = [
            loop
            for loop in self.loops
            if id(loop) not in self.windows and all(id(child) in self.windows for child in loop.children)
        ]
        order = list(self.function.blocks)
        return sorted(found, key=lambda loop: min(order.index(name) for name in loop.blocks))

    def _regions(self) -> Iterator[tuple[set[str], Loop | None]]:
        """The blocks of each loop that lie in no loop within, and those outside of loops."""
        inside = {name for loop in self.loops for name in loop.blocks}
        yield set(self.function.blocks) - inside, None
        for loop in self.loops:
            if id(loop) not in self.windows:
                yield loop.own_blocks(), loop

    def _operations(self, blocks: set[str], loop: Loop | None) -> Operations:
        """Of the blocks of a loop, or of those outside of loops, on the way with the most of them."""
        counted = {
            name: operations.count(self.function, self.function.blocks[name].instructions, self.users)
            for name in blocks
        }
        every = self.function.blocks
        start, inside = (next(iter(every)), every) if loop is None else (loop.header, loop.blocks)
        return operations.longest(counted, loops.ahead(self.function, start, inside))

    def _window(self, loop: Loop) -> tuple[str, int] | None:
        """The array that a loop moves on by one element, as a shift register does, and the bytes."""
        if loop.children:
            return None
        made = [
            one
            for one in loop.instructions(self.function)
            if one.opcode in ("load", "store") or memory.is_copy(one)
        ]
        is_copy = len(made) == 1 and memory.is_copy(made[0])
        if not is_copy and [one.opcode for one in made] != ["load", "store"]:
            return None
        accesses = [one for each in made for one in self.memory.accesses(each, 0)]
        if len(accesses) != 2:
            return None
        load, store = accesses
        apart = store.offset + load.offset * -1
        moved = (is_copy or made[0].name in made[1].operands) and load.array.name == store.array.name
        if not moved or load.array.space != LOCAL or apart.terms:
            return None
        return (load.array.name, apart.constant) if abs(apart.constant) == load.bytes else None

    def _loop(self, loop: Loop) -> Found:
        skipped = {name for child in loop.children for name in child.blocks}
        made = [one for one in loop.instructions(self.function) if one.block not in skipped]
        accesses = [one for number, each in enumerate(made) for one in self.memory.accesses(each, number)]
        windows = dict(self.windows[id(child)] for child in loop.children)
        slowest = self._recurrence(loop, made, accesses, windows)
        ports = memory.ports(
            self.vendor, [one for one in accesses if one.array.name not in windows], self.values
        )
        busiest = max(ports, key=lambda one: one.cycles, default=None)
        first, last = self.module.loop_places(loop.number)
        first, last = first or Place("", 0), last or Place("", 0)
        interval, reason, place = 1, "", None
        if busiest is not None and busiest.cycles > 1:
            interval, reason = busiest.cycles, _ports_reason(busiest)
            place = next(made[one.instruction].place for one in accesses if one.array is busiest.array)
        if slowest is not None and slowest.cycles > interval:
            interval, (reason, place) = slowest.cycles, self._recurrence_reason(made, slowest)
        counted = self._operations(loop.own_blocks(), loop)
        at = self.module.place(place)
        return Found(
            self.function.name, first.file, first.line, last.line,
            self.compiled.is_marked(first.file, first.line), interval, reason,
            at.file if at else first.file, at.line if at else first.line, counted.shown(),
            counted.by_type(), operations.dsps(self.vendor, [counted]),
        )  # fmt: skip

    def _recurrence(
        self, loop: Loop, made: Sequence[Instruction], accesses: Sequence[Access], windows: Mapping[str, int]
    ) -> Recurrence | None:
        """What the loop waits for most."""
        inside = {one.name for one in loop.instructions(self.function) if one.name}

        @functools.cache
        def varies(atom: object) -> bool:
            if isinstance(atom, tuple):
                if atom[0] == "iteration":
                    return atom[1] == loop.header
                parts = atom[1].atoms() if atom[0] in ("shr", "mod") else atom[1:]
                return any(map(varies, parts))
            return atom in inside

        @functools.cache
        def moves(offset: Linear) -> bool:
            return any(varies(atom) for atom in offset.atoms() if atom != ("iteration", loop.header))

        carried = []
        ignored = [*self._ignored(loop), *((name, None) for name in self._own_arrays(made))]
        for store in (one for one in accesses if one.is_store):
            for load in (one for one in accesses if not one.is_store):
                if store.array.name in windows and load.array.name == store.array.name:
                    apart = _along(store, load, accesses, windows[load.array.name])
                else:
                    apart = recurrence.distance(store, load, loop, moves)
                if apart is None:
                    continue
                known = [
                    limit for array, limit in ignored if array in ("", store.array.shown, store.array.name)
                ]
                if None in known:
                    continue
                apart = max([apart, *(limit for limit in known if limit is not None)])
                carried.append(Edge(store.instruction, load.instruction, apart, store, load))
        latency = [self._cycles(one, number, accesses) for number, one in enumerate(made)]
        return recurrence.longest(len(made), recurrence.edges(made, loop, carried), latency)

    def _own_arrays(self, made: Sequence[Instruction]) -> list[str]:
        """Arrays that are declared in the loop, so that each iteration has them anew."""
        begun = (one for one in made if one.opcode == "call" and "@llvm.lifetime.start" in one.text)
        return [name for one in begun for name in one.operands if name in self.memory.arrays]

    def _ignored(self, loop: Loop) -> list[tuple[str, int | None]]:
        """Arrays of the pragmas that stand before this loop, and the distance they promise (None: any)."""
        first, _ = self.module.loop_places(loop.number)
        if first is None:
            return []
        lines = sorted(
            start.line
            for one in self.loops
            if (start := self.module.loop_places(one.number)[0]) is not None and start.file == first.file
        )
        return [
            (one.array, one.distance)
            for one in self.compiled.pragmas
            if one.file == first.file
            and next((line for line in lines if line >= one.line), None) == first.line
        ]

    def _cycles(self, made: Instruction, number: int, accesses: Sequence[Access]) -> int:
        """Cycles from the start of an instruction to its value."""
        if made.opcode in KINDS:
            return self.vendor.cycles.get((KINDS[made.opcode], operations.numbers_of(made)[1]), 0)
        if made.opcode in ("load", "store") or memory.is_copy(made):
            own = [one for one in accesses if one.instruction == number]
            return sum(
                self._access_cycles(next(one for one in own if one.is_store == is_store))
                for is_store in {one.is_store for one in own}
            )
        return 0

    def _access_cycles(self, access: Access) -> int:
        """Cycles from its start until it is done."""
        if access.array.space in (GLOBAL, UNKNOWN):
            return GLOBAL_CYCLES
        if memory.is_registers(self.vendor, access.array):
            return 0
        return self.vendor.local_cycles[access.is_store]

    def _recurrence_reason(self, made: Sequence[Instruction], found: Recurrence) -> tuple[str, int | None]:
        """In words, and where it stands."""
        edge = found.through_memory()
        arithmetic = [made[one.source] for one in found.edges if made[one.source].opcode in KINDS]
        if edge is not None and edge.store is not None and edge.load is not None:
            stored, loaded = edge.store.array, edge.load.array
            place = made[edge.load.instruction].place
            if stored.name != loaded.name:
                names = " and ".join(dict.fromkeys((stored.shown, loaded.shown)))
                return f"unknown alias: {names} may be the same memory (restrict is missing)", place
            ago = "an iteration" if edge.distance == 1 else f"{edge.distance} iterations"
            return f"recurrence: {loaded.shown} is read, {ago} after it may have been written", place
        names = [f"{KINDS[one.opcode]} {operations.numbers_of(one)[1]}" for one in arithmetic]
        place = arithmetic[-1].place if arithmetic else None
        return f"recurrence: {', '.join(dict.fromkeys(names))} on a value of the iteration before", place


def _along(store: Access, load: Access, accesses: Sequence[Access], step: int) -> int | None:
    """Iterations that a value takes through a window from where it is put to where it is read.

    `step`: bytes that it moves in each. A value goes no further than to the next place where one is put.
    """
    apart = load.offset + store.offset * -1
    if apart.terms:
        return 1
    stores = (one for one in accesses if one.is_store and one.array.name == store.array.name)
    others = [one.offset.constant for one in stores if not one.offset.terms]
    low, high = sorted((store.offset.constant, load.offset.constant))
    if apart.constant * step <= 0 or any(low < other < high for other in others):
        return None
    return apart.constant // step


def _ports_reason(found: Ports) -> str:
    what = [f"{found.loads} reads"] if found.loads else []
    what += [f"{found.stores} writes"] if found.stores else []
    return f"ports of {found.array.shown}: {' and '.join(what)} in an iteration"
