"""Time of a base kernel on an FPGA: by the loops of kernel.toml, whose formulas nothing here repeats.

`fabricmark-describe` tells them, checked, as text (src/runtime/cost_spec.hpp). They are compiled once and
take numbers or arrays of NumPy alike.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, reduce
from types import CodeType
from typing import Any

import numpy as np

from fabricmark.base import kernels, keys, quantities
from fabricmark.base.kernels import LoopTime
from fabricmark.models import Board
from fabricmark.models._missing import MissingValue
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import Bitstream, full_name

BASE = "base"
# How the formulas name values of a board and of its bitstream.
OF_BOARD = {key.symbol: name for name, key in keys.OF_MODELS["board"].items() if key.symbol}
OF_BITSTREAM = {
    key.symbol: name
    for name, key in keys.BITSTREAM.items()
    if key.symbol and not name.startswith(keys.MEASURED) and key.symbol not in OF_BOARD
}
STEPS = ("repeat", "cycles", "memory", "seconds")  # of a loop; the last one names those two before it
_NO_NAME = re.compile(r"[^A-Za-z0-9]")  # of a value, what is _ in `form_is_four_step`
_FUNCTIONS: dict[str, object] = {
    "__builtins__": {},
    "v_max": lambda *values: reduce(np.maximum, values),
    "v_min": lambda *values: reduce(np.minimum, values),
    "v_ceil": np.ceil,
    "v_floor": np.floor,
}


@dataclass(frozen=True)
class Spent:
    """Time of one loop [s]: `repeat` times the longer of `once`, what kernel and memory take alone."""

    phase: str
    repeat: Any
    once: tuple[Any, Any]
    seconds: Any

    @property
    def cycles(self) -> Any:
        """What the kernel alone would take."""
        return self.repeat * self.once[0]

    @property
    def memory(self) -> Any:
        """What its memory alone would take, which goes on side by side."""
        return self.repeat * self.once[1]

    @property
    def is_of_kernel(self) -> Any:
        """Whether the loop waits for the kernel rather than for the memory."""
        return np.asarray(self.once[0]) >= self.once[1]


@dataclass(frozen=True)
class KernelTime:
    """Time of the starts of an entry point, loop after loop [s]."""

    loops: tuple[Spent, ...]

    @property
    def seconds(self) -> Any:
        """All of it."""
        return total(*self.times)

    @property
    def times(self) -> list:
        """Of each loop [s]."""
        return [one.seconds for one in self.loops]

    @property
    def of_kernel(self) -> Any:
        """That of the loops which wait for the kernel rather than for the memory."""
        return total(*(np.where(one.is_of_kernel, one.seconds, 0.0) for one in self.loops))

    def phases(self) -> dict[str, float]:
        """Times by the names of phases."""
        found: dict[str, float] = {}
        for one in self.loops:
            found[one.phase] = found.get(one.phase, 0.0) + float(one.seconds)
        return {name: seconds for name, seconds in found.items() if seconds}


def total(*times: Any) -> Any:
    """The sum of numbers and arrays, from left to right."""
    found = times[0] if len(times) == 1 else times[0] + times[1]
    for one in times[2:]:
        found = _within(found, np.add, found, one)
    return found


def per_second(work: Any, *times: Any) -> Any:
    """Work by the sum of the times."""
    seconds = total(*times)
    return work / seconds if len(times) == 1 else _within(seconds, np.divide, work, seconds)


def _within(own: Any, operation: np.ufunc, *values: Any) -> Any:
    """The result in an array of ours, where it fits: on a grid to get memory takes as long as to compute."""
    shape = np.shape(own)
    fits = shape and np.broadcast_shapes(*map(np.shape, values)) == shape
    return operation(*values, out=own) if fits else operation(*values)


def kernel_time(
    benchmark: str, entry: str, arguments: Mapping[str, object], parameters: Mapping, board: Board,
    bitstream: Bitstream | None = None,
) -> KernelTime:  # fmt: skip
    """Of a start with these arguments. What the variant's kernel.toml does not say, the base kernel's does.

    Raises MissingValue for a board without a value that the loops need, as a clock.
    """
    costs = kernels.costs(benchmark)
    known = costs.get(str(parameters.get("variant", BASE))) or costs[BASE]
    values = _Values(arguments, parameters, board, bitstream)
    named: dict[str, object] = {}
    return KernelTime(tuple(_spent(loop, values, named) for loop in known[entry]))


def quantity(benchmark: str, name: str, parameters: Mapping, numbers: Mapping) -> Any:
    """What kernel.toml calls so in its table `quantities`, by which programs allocate memory and deal work.

    `numbers`: what is no parameter, as which `replica`. Raises MissingValue for a parameter that is missing.
    """
    code, names = _compiled(kernels.kernel(benchmark).quantities[name])
    known = {**parameters, **numbers}
    wanted = {one: one.removeprefix("v_") for one in names}
    if missing := [one for one in wanted.values() if one not in known]:
        raise MissingValue(missing[0])
    return eval(code, _FUNCTIONS, {one: _floating(known[own]) for one, own in wanted.items()})


class _Values:
    """What formulas name: arguments, then parameters, then what follows from these and from the board."""

    def __init__(
        self, arguments: Mapping, parameters: Mapping, board: Board, bitstream: Bitstream | None
    ) -> None:
        self._arguments, self._parameters = arguments, parameters
        self._board, self._bitstream = board, bitstream

    def of(self, name: str, loop: LoopTime):
        if name in loop.system:
            return self._of_system(name, loop.system[name])
        for known in (self._arguments, self._parameters):
            if name in known:
                return _floating(known[name])
        parameter, is_choice, value = name.partition("_is_")
        if is_choice:
            if parameter not in self._parameters:
                raise MissingValue(parameter)
            return float(_NO_NAME.sub("_", str(self._parameters[parameter])) == value)
        if name == "element_bytes":
            return float(ELEMENT_BYTES[self._parameters["data_type"]])
        if name == "banks":  # those that hold the data
            own = self._of_bitstream("matrix_banks")
            return _floating(self._board["memory.banks"] if own is None else own)
        if name == "drain_cycles":
            return _floating(self._board["memory.drain"])
        raise MissingValue(name)

    def _of_system(self, name: str, usual: str):
        value = self._board.get(OF_BOARD[name]) if name in OF_BOARD else self._of_bitstream(name)
        if value is not None:
            return _floating(value)
        if not usual:
            key = OF_BOARD.get(name)
            raise MissingValue(
                full_name("bitstream", OF_BITSTREAM[name]) if key is None else full_name("board", key)
            )
        return float(usual) if usual.isdigit() else self._of_system(usual, "")

    def _of_bitstream(self, symbol: str):
        return None if self._bitstream is None else self._bitstream.get(OF_BITSTREAM[symbol])


def _spent(loop: LoopTime, values: _Values, named: dict[str, object]) -> Spent:
    """`named`: what formulas before it named, by prefixed names."""
    for step in STEPS:
        code, names = _compiled(getattr(loop, step))
        for name in names:
            if name not in named:
                named[name] = values.of(name.removeprefix("v_"), loop)
        named["v_" + step] = eval(code, _FUNCTIONS, named)
    repeat, *once, seconds = (named["v_" + step] for step in STEPS)
    return Spent(loop.phase, repeat, (once[0], once[1]), seconds)


@cache
def _compiled(text: str) -> tuple[CodeType, tuple[str, ...]]:
    """A formula, which may be an array's, and the names that it needs."""
    tree = quantities.formula(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - _FUNCTIONS.keys()
    return compile(tree, "kernel.toml", "eval"), tuple(sorted(names))


def _floating(value):
    """Powers of whole numbers would overflow, or have no negative exponents."""
    if isinstance(value, int | float):
        return float(value)
    return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float)
