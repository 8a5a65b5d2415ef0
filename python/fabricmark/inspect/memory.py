"""Accesses of memory: to which array, at which address; and how many of one cycle its ports can take."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricmark.base.grouping import grouped
from fabricmark.inspect import chips, llvm
from fabricmark.inspect.chips import Vendor
from fabricmark.inspect.ir import NAME, Function, Instruction, Layout, Module, array_of, leading_type, split
from fabricmark.inspect.linear import Linear, Values, incoming, zero_bits

LOCAL, GLOBAL, UNKNOWN = "local", "global", "unknown"
MOST_CHOICES = 64  # places of one pointer


@dataclass(frozen=True)
class Array:
    """What is accessed: local memory of a kernel, or what an argument points to.

    `dimensions`: elements, the slowest first; `element_bytes`: of the innermost element, a scalar, vector or
    struct. `partitions`: AMD's, as (kind, factor, dimension from 1 on, 0 for all); `banks`: Intel's, as
    (number, bytes of a word). `restricted`: an argument that no other points into.
    """

    name: str
    space: str
    dimensions: tuple[int, ...] = ()
    element_bytes: int = 1
    member_offsets: tuple[int, ...] = ()
    partitions: tuple[tuple[str, int, int], ...] = ()
    banks: tuple[int, int] | None = None
    in_registers: bool = False
    restricted: bool = True

    @property
    def shown(self) -> str:
        """The name in the source."""
        return shown(self.name)

    @property
    def bytes(self) -> int:
        total = self.element_bytes
        for one in self.dimensions:
            total *= one
        return total

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element of a dimension to the next."""
        found = [self.element_bytes]
        for one in reversed(self.dimensions[1:]):
            found.append(found[-1] * one)
        return tuple(reversed(found))


@dataclass(frozen=True)
class Access:
    """A load or store of `bytes` bytes at `offset` bytes from the beginning of an array."""

    array: Array
    is_store: bool
    offset: Linear
    bytes: int
    instruction: int


def is_copy(made: Instruction) -> bool:
    """Whether it copies a struct of a known size."""
    words = re.search(r"@llvm\.memcpy\.\S*\(.*, i\d+ \d+, i1 ", made.text)
    return made.opcode == "call" and words is not None


def shown(name: str) -> str:
    """The source's name of a value: without what inlining and copies have added."""
    plain = re.sub(r"\.(i|sroa|us|lcssa|addr)\b.*$", "", name.lstrip("%@").strip('"'))
    return plain.rpartition(".")[2] if name.startswith("@") else plain


class Memory:
    """The arrays of a function, and which one each pointer leads to."""

    def __init__(
        self, module: Module, function: Function, values: Values, annotations: Mapping[str, Sequence[str]]
    ) -> None:
        self.function, self.values = function, values
        self.layout = Layout(module.structs)
        self.arrays: dict[str, Array] = {}
        self._kept = annotations
        used = {
            name for block in function.blocks.values() for one in block.instructions for name in one.operands
        }
        for name, kind in module.arrays.items():  # local memory, and tables of constants
            if name in used:
                self._add(name, kind)
        for made in function.defined.values():
            if made.opcode == "alloca":
                self._add(made.name, leading_type(made.text))
        for name, text in function.arguments.items():
            if text.startswith("ptr"):
                self.arrays[name] = Array(name, GLOBAL, restricted="noalias" in text)

    def _add(self, name: str, kind: str) -> None:
        dimensions = []
        while kind.startswith("["):
            count, kind = array_of(kind)
            dimensions.append(count)
        offsets = self.layout.leaves(kind) if kind.startswith(("%", "{")) else ()
        said = self._annotations(name)
        self.arrays[name] = Array(
            name, LOCAL, tuple(dimensions), self.layout.size(kind), offsets,
            tuple(filter(None, map(_partition, said))), _banks(said), "register" in said,
        )  # fmt: skip

    def _annotations(self, name: str) -> Sequence[str]:
        """Those of the array of this name, which may have been in a function that was inlined."""
        plain = re.sub(r"\.i\d*$", "", name.lstrip("%@"))
        own = self._kept.get(f"{self.function.name}.{plain}") or self._kept.get(plain)
        others = (texts for key, texts in self._kept.items() if key.rpartition(".")[2] == plain)
        return own or next(others, ())

    def accesses(self, made: Instruction, number: int) -> list[Access]:
        """What a load or store accesses: one place, or the places of which the kernel chooses one; what the
        copy of a struct reads, and then what it writes."""
        if is_copy(made):
            to, source, size = split(made.text[made.text.index("(") + 1 : made.text.rindex(")")])[:3]
            count = int(size.split(" ")[-1])
            return [
                Access(array, is_store, offset, count, number)
                for is_store, pointer in ((False, source), (True, to))
                for array, offset in self._places(pointer)
            ]
        if made.opcode not in ("load", "store"):
            return []
        parts = split(re.sub(r"^(volatile|atomic) ", "", made.text))
        size = self.layout.size(leading_type(parts[0]))
        is_store = made.opcode == "store"
        return [Access(array, is_store, offset, size, number) for array, offset in self._places(parts[1])]

    def _places(self, text: str) -> list[tuple[Array, Linear]]:
        """Where a pointer operand may lead to."""
        found: list[tuple[Array, Linear]] = []
        todo, seen = [text], set()
        while todo:
            pointer = todo.pop()
            name = pointer.strip().rpartition(" ")[2]
            made = self.function.defined.get(name)
            if name in seen:
                continue
            seen.add(name)
            if made is not None and made.opcode == "select" and len(seen) < MOST_CHOICES:
                todo += split(made.text)[1:]
            elif made is not None and made.opcode == "phi" and len(seen) < MOST_CHOICES:
                todo += [value for value, _ in incoming(made)]
            else:
                found.append(self.pointer(pointer))
        return found

    def pointer(self, text: str) -> tuple[Array, Linear]:
        """The array and the bytes from its beginning that a pointer operand stands for."""
        plain = re.sub(
            r"^ptr( addrspace\(\d+\))?( (noundef|nonnull|align \d+|dereferenceable\(\d+\)))* ",
            "",
            text.strip(),
        )
        space = UNKNOWN if "addrspace(1)" in text else LOCAL
        if plain.startswith("getelementptr"):
            inside = plain[plain.index("(") + 1 : plain.rindex(")")]
            return self._element(inside)
        if plain.startswith(("addrspacecast", "bitcast")):
            found = re.search(NAME, plain)
            return self.pointer(found.group(0)) if found else self._nowhere(plain, space)
        if plain in self.arrays:
            return self.arrays[plain], Linear(0)
        made = self.function.defined.get(plain)
        if made is not None and made.opcode == "getelementptr":
            return self._element(made.text)
        if made is not None and made.opcode in ("addrspacecast", "bitcast"):
            return self.pointer(made.text.split(" to ")[0])
        return self._nowhere(plain, space)

    @staticmethod
    def _nowhere(name: str, space: str) -> tuple[Array, Linear]:
        """A pointer into global or local memory that is made when the kernel runs."""
        return Array(name, space, restricted=False), Linear(0)

    def _element(self, text: str) -> tuple[Array, Linear]:
        parts = split(re.sub(r"^inbounds ", "", text))
        kind = parts[0]
        array, offset = self.pointer(parts[1])
        for place, part in enumerate(parts[2:]):
            index = self.values.of(part.split(" ")[-1])
            if place == 0:
                offset += index * self.layout.size(kind)
            elif kind.startswith(("%", "{")):
                offset += Linear(self.layout.offsets(kind)[0][index.constant])
                kind = self.layout.members(kind)[index.constant]
            else:
                kind = array_of(kind)[1]
                offset += index * self.layout.size(kind)
        return array, offset


def _partition(text: str) -> tuple[str, int, int] | None:
    """AMD's `xcl_array_partition(kind, factor, dimension)`; a complete one may have no factor."""
    words = re.split(r"[ ,]+", text.strip())
    if words[0] != "xcl_array_partition" or len(words) < 2:
        return None
    numbers = [int(word) for word in words[2:] if word.isdigit()]
    dimension = numbers[-1] if numbers and (len(numbers) > 1 or words[1] == "complete") else 1
    return words[1], numbers[0] if len(numbers) > 1 else 0, dimension


def _banks(texts: Sequence[str]) -> tuple[int, int] | None:
    """Intel's `numbanks(n)` and `bankwidth(bytes)`."""
    words = (text.split() for text in texts)
    numbers = {word[0]: llvm.number(" ".join(word[1:])) for word in words if len(word) > 1}
    known = numbers.get("numbanks", 0), numbers.get("bankwidth", 0)
    return known if all(known) else None


@dataclass(frozen=True)
class Ports:
    """Accesses of one array in one iteration, and the cycles that its ports need for them."""

    array: Array
    loads: int
    stores: int
    cycles: int


def ports(vendor: Vendor, accesses: Iterable[Access], values: Values) -> list[Ports]:
    """Of each array that is accessed. What is accessed twice at one address is read once."""
    found: dict[str, dict[tuple, Access]] = {}
    for one in accesses:
        if one.array.space != UNKNOWN:
            found.setdefault(one.array.name, {})[(one.is_store, one.offset, one.bytes)] = one
    result = []
    for unique in found.values():
        together = list(unique.values())
        array = together[0].array
        stores = sum(one.is_store for one in together)
        if array.space == GLOBAL:
            cycles = _global_cycles(vendor, together)
        elif is_registers(vendor, array):
            cycles = 1
        elif vendor.name == chips.XILINX:
            cycles = _xilinx_cycles(vendor, together)
        else:
            cycles = _intel_cycles(vendor, together, values)
        result.append(Ports(array, len(together) - stores, stores, cycles))
    return result


def is_registers(vendor: Vendor, array: Array) -> bool:
    """Whether each element has a register of its own, so that any number are read and written in a cycle."""
    elements = array.bytes // array.element_bytes
    if array.in_registers or array.bytes <= vendor.register_bytes or elements <= vendor.register_elements:
        return True
    if vendor.name != chips.XILINX:
        return False
    complete = {dimension for kind, _, dimension in array.partitions if kind == "complete"}
    return 0 in complete or complete >= set(range(1, len(array.dimensions) + 1))


def _global_cycles(vendor: Vendor, accesses: Sequence[Access]) -> int:
    """Intel's tools give each access its own unit; AMD's one way for reads and one for writes."""
    if vendor.name != chips.XILINX:
        return 1
    words = {False: 0, True: 0}
    for run in runs(accesses):
        words[run[0].is_store] += -(-sum(one.bytes for one in run) // vendor.widest_bytes)
    return max(1, *words.values())


def runs(accesses: Sequence[Access]) -> list[list[Access]]:
    """Accesses of one kind to neighbouring addresses, which become one wide access."""
    groups = grouped(((one.is_store, one.offset.without_constant()), one) for one in accesses)
    found: list[list[Access]] = []
    for group in groups.values():
        group.sort(key=lambda one: one.offset.constant)
        found.append([group[0]])
        for before, one in itertools.pairwise(group):
            if one.offset.constant == before.offset.constant + before.bytes:
                found[-1].append(one)
            else:
                found.append([one])
    return found


def _xilinx_cycles(vendor: Vendor, accesses: Sequence[Access]) -> int:
    """The most accesses that meet in one bank over its ports; members of a struct have banks of their own."""
    banks = [_bank(one) for one in accesses]
    known = {bank for bank in banks if None not in bank} or set(banks)
    most = 0
    for bank in known:
        meeting = [one for one in banks if all(a is None or a == b for a, b in zip(one, bank, strict=True))]
        most = max(most, len(meeting))
    return -(-most // vendor.ports)


def _bank(access: Access) -> tuple[int | None, ...]:
    """Which bank an access goes to, a number a partitioned dimension; None where it may be any."""
    array, rest = access.array, access.offset
    indices = []
    for stride in array.strides if array.dimensions else ():
        whole = Linear(rest.constant // stride, _quotients(rest, stride))
        indices.append(whole)
        rest += whole * -stride
    inside = rest.constant if array.member_offsets and not rest.terms else 0
    found: list[int | None] = [max((one for one in array.member_offsets if one <= inside), default=0)]
    for kind, factor, dimension in array.partitions:
        places = range(len(indices)) if dimension == 0 else [dimension - 1]
        for place in places:
            if place < len(indices):
                found.append(_bank_number(kind, factor, indices[place], array.dimensions[place]))
    return tuple(found)


def _quotients(value: Linear, stride: int) -> tuple:
    """Whole multiples of a stride in each term."""
    parts = ((atom, abs(factor) // stride * (1 if factor > 0 else -1)) for atom, factor in value.terms)
    return tuple((atom, factor) for atom, factor in parts if factor)


def _bank_number(kind: str, factor: int, index: Linear, elements: int) -> int | None:
    if kind == "cyclic" and factor:
        known = all(one % factor == 0 for _, one in index.terms)
        return index.constant % factor if known else None
    if index.terms:
        return None
    return index.constant // -(-elements // factor) if kind == "block" and factor else index.constant


def _intel_cycles(vendor: Vendor, accesses: Sequence[Access], values: Values) -> int:
    """A port of each copy for every store to a bank, and one for a read: further reads get copies.

    Where nothing says how many banks there are, they are told apart by all that is known of the addresses.
    """
    banks = accesses[0].array.banks
    wide = runs(accesses)
    if banks is None:
        ends = [(run[0].offset.constant, run[-1].offset.constant + run[-1].bytes) for run in wide]
        extent = max(end for _, end in ends) - min(start for start, _ in ends)
        span = min(extent, *(1 << zero_bits(run[0].offset.without_constant()) for run in wide))
    else:
        span = banks[0] * banks[1]
    pieces = [_Piece(run, span, values) for run in wide]
    edges = {edge % span for one in pieces for edge in (one.start, one.start + one.bytes - 1)}
    worst = 1
    for edge in edges:
        meeting = [one.is_store for one in pieces if one.may_touch(edge, span)]
        worst = max(worst, -(-(sum(meeting) + (False in meeting)) // vendor.ports))
    return worst


class _Piece:
    """One wide access: from which byte of the banks, `span` bytes in turn, and how many bytes it may be of.

    What is added to its address in whole multiples of `step`, a power of two, is not known.
    """

    def __init__(self, run: Sequence[Access], span: int, values: Values) -> None:
        self.is_store = run[0].is_store
        self.start = run[0].offset.constant
        self.bytes = sum(one.bytes for one in run)
        self.step = span
        for atom, factor in run[0].offset.terms:
            most = values.most(atom)
            if factor % span == 0:
                continue
            if most is not None and 0 < factor * most < span:
                self.bytes += factor * most
            else:
                self.step = min(self.step, factor & -factor)

    def may_touch(self, byte: int, span: int) -> bool:
        """Whether it may be of a byte of the banks."""
        return self.bytes >= span or (byte - self.start) % self.step < self.bytes
