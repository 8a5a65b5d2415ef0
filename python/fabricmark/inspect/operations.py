"""Floating-point operations of a piece of code, and the DSP blocks that a vendor's tool makes of them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fabricmark.inspect import chips
from fabricmark.inspect.chips import ADD, DIVIDE, MULTIPLY, Vendor
from fabricmark.inspect.ir import Function, Instruction, leading_type, split, vector_of

KINDS = {"fadd": ADD, "fsub": ADD, "fmul": MULTIPLY, "fdiv": DIVIDE}
FLAGS = r"^(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )+"
UNCHANGED = ("fptrunc", "fpext", "insertelement", "shufflevector", "bitcast", "freeze")
# Multiplications of halves by an argument of the kernel: AMD's tool puts them into logic. Inferred from Table
# 3.9 of Meyer 2024: STREAM's 2048 DSPs are those of its additions, GEMM's 6147 those of both.
INVARIANT = "multiply by an invariant"
FREE_WHERE_INVARIANT = ("half",)


@dataclass
class Operations:
    """How many of each (operation, type) are done side by side; `fused`: additions that take a product in.

    `calls`: functions of mathematics, which are not counted in DSPs.
    """

    counts: Counter = field(default_factory=Counter)
    fused: Counter = field(default_factory=Counter)
    calls: Counter = field(default_factory=Counter)

    def __add__(self, other: "Operations") -> "Operations":
        total = Operations(Counter(self.counts), Counter(self.fused), Counter(self.calls))
        total.counts.update(other.counts)  # unlike Counter's +, with what is below 0
        total.fused.update(other.fused)
        total.calls.update(other.calls)
        return total

    def by_type(self) -> tuple[tuple[str, int], ...]:
        """(type of the numbers, operations on such), without functions of mathematics."""
        found: Counter = Counter()
        for (_, kind), number in self.counts.items():
            found[kind] += number
        return tuple(found.items())

    def shown(self) -> str:
        """`512 multiply + 512 add float`."""
        kinds = list(dict.fromkeys(kind for _, kind in self.counts))
        parts = []
        for kind in kinds:
            by_name: Counter = Counter()
            for (name, own), count in self.counts.items():
                if own == kind:
                    by_name[MULTIPLY if name == INVARIANT else name] += count
            order = [name for name in (MULTIPLY, ADD, DIVIDE) if by_name[name]]
            parts.append(" + ".join(f"{by_name[name]} {name}" for name in order) + f" {kind}")
        parts += [f"{count} {name}" for name, count in self.calls.items()]
        return ", ".join(parts)


def numbers_of(one: Instruction) -> tuple[int, str]:
    """How many numbers an instruction takes at once, and their type."""
    return vector_of(leading_type(re.sub(FLAGS, "", one.text)))


def count(function: Function, instructions: Sequence[Instruction], users: Counter) -> Operations:
    """Of these instructions. `users`: how often each value is used."""
    found = Operations()
    products: dict[str, str] = {}
    for one in instructions:
        if one.opcode == "call":
            callee = re.search(r"@_Z\d+([a-z0-9_]+?)(?:Dv\d+_)?[fdh]+\(", one.text)
            if callee and not one.text.startswith("void"):
                found.calls[callee.group(1)] += vector_of(_result_of_call(one.text))[0]
        if one.opcode not in KINDS:
            continue
        lanes, kind = numbers_of(one)
        name = KINDS[one.opcode]
        if name == MULTIPLY:
            products[one.name] = kind
            free = kind in FREE_WHERE_INVARIANT and any(_is_fixed(function, one) for one in _words(one))
            name = INVARIANT if free else name
        found.counts[(name, kind)] += lanes
    for one in instructions:
        if KINDS.get(one.opcode) == ADD:
            lanes, kind = numbers_of(one)
            taken = [name for name in one.operands if name in products and users[name] == 1]
            found.fused[(ADD, kind)] += lanes if taken else 0
    found.fused.update(_dot_products(function, instructions, products, users))
    return found


def _dot_products(
    function: Function, instructions: Sequence[Instruction], products: Mapping[str, str], users: Counter
) -> Counter:
    """Less one for each sum of several products to which one more value is added, which is not 0.

    Intel's tool makes dot products of them and adds the value after that (Meyer 2024, section 4.2.1: 64 dot
    products of size 8 followed by 64 additions, 576 DSPs and not 512).
    """
    less: Counter = Counter()
    sums = {one.name: one for one in instructions if KINDS.get(one.opcode) == ADD and one.opcode == "fadd"}
    inner = {name for one in sums.values() for name in one.operands if name in sums and users[name] == 1}
    for name, last in sums.items():
        if name in inner:
            continue
        terms, todo, other = 0, [last], 0
        while todo:
            for operand in _words(todo.pop()):
                if operand in sums and users[operand] == 1:
                    todo.append(sums[operand])
                elif operand in products and users[operand] == 1:
                    terms += 1
                else:
                    other += not re.fullmatch(r"-?0\.0+e\+00|zeroinitializer|0xH[08]000", operand)
        lanes, kind = numbers_of(last)
        if terms > 1 and other:
            less[(ADD, kind)] -= lanes
    return less


def _words(one: Instruction) -> list[str]:
    """The two operands, which may be constants."""
    parts = split(re.sub(FLAGS, "", one.text))
    kind = leading_type(parts[0])
    return [parts[0][len(kind) :].strip(), *parts[1:]]


def _is_fixed(function: Function, operand: str) -> bool:
    """Whether a value is made of the kernel's arguments alone."""
    made = function.defined.get(operand)
    if made is None:
        return not operand.startswith("%") or not function.arguments.get(operand, "ptr").startswith("ptr")
    return made.opcode in UNCHANGED and all(_is_fixed(function, one) for one in made.operands)


def _result_of_call(text: str) -> str:
    words = re.sub(r"^(?:fast |noundef |spir_func )+", "", text)
    return leading_type(words)


def uses(function: Function) -> Counter:
    """How often each value is used."""
    return Counter(
        name for block in function.blocks.values() for one in block.instructions for name in one.operands
    )


def longest(blocks: Mapping[str, Operations], following: Mapping[str, Sequence[str]]) -> Operations:
    """Of each kind the most on any way through the blocks: what lies in two branches is built once.

    `following`: the blocks after each, without ways back, in an order in which all come after it.
    """
    most: dict[str, Operations] = {}
    for name in reversed(list(following)):
        after = [most[one] for one in following[name] if one in most]
        found = blocks.get(name, Operations())
        for one in after[1:]:
            after[0] = Operations(after[0].counts | one.counts, after[0].fused | one.fused,
                                  after[0].calls | one.calls)  # fmt: skip
        most[name] = found + after[0] if after else found
    return most[next(iter(following))] if following else Operations()


def dsps(vendor: Vendor, parts: Iterable[Operations]) -> int:
    """DSP blocks of a kernel: AMD's tool shares operators between loops, Intel's gives each loop its own."""
    if vendor.name == chips.XILINX:
        most: Counter = Counter()
        for part in parts:
            for key, number in part.counts.items():
                most[key] = max(most[key], number)
        return sum(number * vendor.dsps.get(key, 0) for key, number in most.items())
    total = 0
    for part in parts:
        for (name, kind), number in part.counts.items():
            total += number * vendor.dsps.get((MULTIPLY if name == INVARIANT else name, kind), 0)
        total -= sum(number * vendor.dsps.get(key, 0) for key, number in part.fused.items())
    return total
