"""Addresses as sums: a constant, and whole multiples of what is not known before the kernel runs.

Numbers do not wrap around here: an index that does is outside of its array anyway.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from fabricmark.base.kept import kept
from fabricmark.inspect.ir import Function, Instruction, split
from fabricmark.inspect.loops import Loop

Atom = Hashable


@dataclass(frozen=True)
class Linear:
    """`constant` + the sum of `factor` x `atom`; an atom is an iteration number, a value, or a sum's rest."""

    constant: int
    terms: tuple[tuple[Atom, int], ...] = ()

    def __add__(self, other: "Linear") -> "Linear":
        factors = dict(self.terms)
        for atom, factor in other.terms:
            factors[atom] = factors.get(atom, 0) + factor
        return _made(self.constant + other.constant, factors)

    def __mul__(self, factor: int) -> "Linear":
        return _made(self.constant * factor, {atom: one * factor for atom, one in self.terms})

    def without_constant(self) -> "Linear":
        return Linear(0, self.terms)

    def factor(self, atom: Atom) -> int:
        return dict(self.terms).get(atom, 0)

    def atoms(self) -> Iterator[Atom]:
        return (atom for atom, _ in self.terms)


def _made(constant: int, factors: dict[Atom, int]) -> Linear:
    kept = [(atom, factor) for atom, factor in factors.items() if factor]
    return Linear(constant, tuple(sorted(kept, key=repr)))


def of_atom(atom: Atom) -> Linear:
    """1 x atom."""
    return Linear(0, ((atom, 1),))


def shifted(value: Linear, bits: int) -> Linear:
    """value / 2^bits, rounded down: whole multiples are divided, the rest is a new atom unless it is none."""
    divided, rest = _parted(value, 1 << bits)
    return divided + (of_atom(("shr", rest, bits)) if rest.terms else Linear(rest.constant >> bits))


def masked(value: Linear, bits: int) -> Linear:
    """value modulo 2^bits."""
    rest = _parted(value, 1 << bits)[1]
    return of_atom(("mod", rest, bits)) if rest.terms else rest


def _parted(value: Linear, step: int) -> tuple[Linear, Linear]:
    """Quotient of the terms that `step` divides, and what is left."""
    whole = {atom: factor // step for atom, factor in value.terms if factor % step == 0}
    rest = {atom: factor for atom, factor in value.terms if factor % step}
    if rest:  # those that differ by whole steps alone are the same
        rest = {atom: factor % step for atom, factor in rest.items()}
        whole |= {
            atom: (factor - factor % step) // step
            for atom, factor in value.terms
            if factor % step and factor - factor % step
        }
    return _made(value.constant // step, whole), _made(value.constant % step, rest)


def zero_bits(value: Linear) -> int:
    """How many low bits are 0, whatever the atoms are."""
    bits = 64
    for number in (value.constant, *(factor for _, factor in value.terms)):
        if number:
            bits = min(bits, (number & -number).bit_length() - 1)
    return bits


class Values:
    """The values of a function as sums; the iteration of each loop is an atom ("iteration", header)."""

    def __init__(self, function: Function, loops: list[Loop]) -> None:
        self.function = function
        self.headers = {loop.header: loop for loop in loops}
        self._known: dict[str, Linear] = {}

    def of(self, operand: str) -> Linear:
        """A number or the name of a value."""
        if operand.lstrip("-").isdigit():
            return Linear(int(operand))
        if operand in ("true", "false", "undef", "poison", "zeroinitializer"):
            return Linear(int(operand == "true"))
        if operand not in self._known:
            self._known[operand] = of_atom(operand)  # for what depends on itself
            self._known[operand] = self._evaluated(operand)
        return self._known[operand]

    def most(self, atom: Atom) -> int | None:
        """The greatest value of an atom whose least is 0; None where it is not known."""
        if isinstance(atom, tuple) and atom[0] == "mod":
            return (1 << atom[2]) - 1
        if isinstance(atom, tuple) and atom[0] == "iteration":
            return self._last_iteration(atom[1])
        if isinstance(atom, tuple) and atom[0] == "shr":
            known = [self.most(one) for one in atom[1].atoms()]
            if None in known or any(factor < 0 for _, factor in atom[1].terms):
                return None
            total = sum(one * factor for one, (_, factor) in zip(known, atom[1].terms, strict=True) if one)
            return atom[1].constant + total >> atom[2]
        return None

    @kept
    def _last_iteration(self, header: str) -> int | None:
        """The number of the last iteration, from 0 on, of a loop that counts up to a constant."""
        loop = self.headers[header]
        if len(loop.latches) != 1:
            return None
        words = re.findall(r"[%\w.\-]+", self.function.blocks[loop.latches[0]].instructions[-1].text)
        made = self.function.defined.get(words[1]) if len(words) > 1 else None
        if made is None or made.opcode != "icmp":
            return None
        parts = split(made.text)
        bound = self.of(parts[1].split(" ")[-1])
        counter = self.of(parts[0].split(" ")[-1]) + bound * -1
        step = counter.factor(("iteration", loop.header))
        if step <= 0 or len(counter.terms) != 1:
            return None
        # The condition to go on holds for counters below 0, or until it is 0.
        kind = parts[0].split(" ")[0]
        return max(0, -(-counter.constant // -step)) if kind in ("ult", "slt", "eq", "ne") else None

    def _evaluated(self, name: str) -> Linear:
        made = self.function.defined.get(name)
        if made is None:
            return of_atom(name)
        if made.opcode == "phi":
            return self._phi(made)
        if made.opcode in ("zext", "sext", "trunc", "freeze"):
            source = made.text.split(" to ")[0].split(" ")
            return self.of(source[-1]) if not source[-2].startswith("<") else of_atom(name)
        operation = OPERATIONS.get(made.opcode)
        if operation is None or "<" in made.text:
            return of_atom(name)
        parts = split(made.text)
        left, right = self.of(parts[0].split(" ")[-1]), self.of(parts[1].split(" ")[-1])
        found = operation(left, right)
        return of_atom(name) if found is None else found

    def _phi(self, made: Instruction) -> Linear:
        """Start and step of a counter; other values that a loop carries are atoms."""
        loop = self.headers.get(made.block)
        if loop is None or "<" in made.text:
            return of_atom(made.name)
        start = step = None
        for value, block in incoming(made):
            if block not in loop.latches:
                start = value
                continue
            added = self.function.defined.get(value)
            if added is None or added.opcode not in ("add", "sub"):
                return of_atom(made.name)
            words = [part.split(" ")[-1] for part in split(added.text)]
            if words[0] != made.name or not words[1].lstrip("-").isdigit():
                return of_atom(made.name)
            step = int(words[1]) * (1 if added.opcode == "add" else -1)
        if start is None or step is None:
            return of_atom(made.name)
        return self.of(start) + of_atom(("iteration", loop.header)) * step


def incoming(phi: Instruction) -> list[tuple[str, str]]:
    """Values of a phi and the blocks that they come from."""
    pairs = split(phi.text[phi.text.index("[") :])
    return [tuple(part.strip() for part in split(pair.strip("[] "))) for pair in pairs]  # type: ignore[misc]


def _product(left: Linear, right: Linear) -> Linear | None:
    if not left.terms:
        return right * left.constant
    if not right.terms:
        return left * right.constant
    if len(left.terms) * len(right.terms) > 16:
        return None
    total = Linear(left.constant * right.constant)
    total += right.without_constant() * left.constant + left.without_constant() * right.constant
    for one, factor in left.terms:
        for other, more in right.terms:
            total += of_atom(("product", *sorted((one, other), key=repr))) * (factor * more)
    return total


def _or(left: Linear, right: Linear) -> Linear | None:
    """A sum where no bit is in both."""
    for high, low in ((left, right), (right, left)):
        if not low.terms and 0 <= low.constant < 1 << zero_bits(high):
            return high + low
        if len(low.terms) == 1 and not low.constant:
            atom, factor = low.terms[0]
            small = isinstance(atom, tuple) and atom[0] == "mod" and factor > 0
            if small and factor << atom[2] <= 1 << zero_bits(high):
                return high + low
    return None


def _and(left: Linear, right: Linear) -> Linear | None:
    if right.terms or right.constant < 0:
        return masked_high(left, right)
    mask = right.constant
    return masked(left, mask.bit_length()) if mask & (mask + 1) == 0 else _kept_bits(left, mask)


def masked_high(left: Linear, right: Linear) -> Linear | None:
    """value and -2^n: what is left without the low bits."""
    if right.terms or -right.constant & (-right.constant - 1):
        return None
    bits = (-right.constant).bit_length() - 1
    return shifted(left, bits) * (1 << bits)


def _kept_bits(left: Linear, mask: int) -> Linear | None:
    """A mask of neighbouring bits, as 0x38."""
    low = (mask & -mask).bit_length() - 1
    high = mask >> low
    return masked(shifted(left, low), high.bit_length()) * (1 << low) if high & (high + 1) == 0 else None


Operation = Callable[[Linear, Linear], Linear | None]


def _by_bits(operation: Callable[[Linear, int], Linear]) -> Operation:
    return lambda left, right: operation(left, right.constant) if not right.terms else None


def _by_power(operation: Callable[[Linear, int], Linear]) -> Operation:
    """Of a power of two, by its exponent."""
    return lambda left, right: (
        operation(left, right.constant.bit_length() - 1)
        if not right.terms and right.constant.bit_count() == 1 and right.constant > 0
        else None
    )


OPERATIONS: dict[str, Operation] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left + right * -1,
    "mul": _product,
    "shl": _by_bits(lambda left, bits: left * (1 << bits)),
    "lshr": _by_bits(shifted),
    "ashr": _by_bits(shifted),
    "and": _and,
    "or": _or,
    "udiv": _by_power(shifted),
    "sdiv": _by_power(shifted),
    "urem": _by_power(masked),
    "srem": _by_power(masked),
}
