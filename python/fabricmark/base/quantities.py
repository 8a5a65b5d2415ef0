"""Texts that stand for numbers.

Numbers with a unit, "19.2 GB/s": the units of each dimension, what a machine can have, and how such a text is
read and written; every file and option that takes one is read by `parse`. Formulas: numbers, names,
+ - * / ^ ( ) and a few functions; nothing else of Python is there, no attribute, no index, no text.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

# What a machine can have: a wrong prefix is found at once, and no model meets an infinity.
RANGES = {
    "bytes": (1.0, 1e18),
    "bytes_per_second": (1.0, 1e18),
    "seconds": (0.0, 1e7),
    "hertz": (1.0, 1e12),
    "flops_per_second": (1.0, 1e21),
    "updates_per_second": (1e-3, 1e15),
}
PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
SMALL = {"": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}
BINARY = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40, "PiB": 2.0**50}
# Factor to the SI unit, by dimension and unit.
UNITS: dict[str, dict[str, float]] = {
    "bytes": {**{f"{p}B": f for p, f in PREFIXES.items()}, **BINARY},
    "bytes_per_second": {
        **{f"{p}B/s": f for p, f in PREFIXES.items()},
        **{f"{unit}/s": f for unit, f in BINARY.items()},
        **{f"{p}bit/s": f / 8 for p, f in PREFIXES.items()},
    },
    "seconds": {**{f"{p}s": f for p, f in SMALL.items()}, "min": 60.0, "h": 3600.0},
    "hertz": {f"{p}Hz": f for p, f in PREFIXES.items()},
    "flops_per_second": {f"{p}FLOP/s": f for p, f in PREFIXES.items()},
    "updates_per_second": {f"{p}UOP/s": f for p, f in PREFIXES.items()},
    "watts": {f"{p}W": f for p, f in {**PREFIXES, "m": 1e-3}.items()},
    "joules": {f"{p}J": f for p, f in {**SMALL, **PREFIXES}.items()},
}
EXAMPLES = {
    "bytes": "16 KiB",
    "bytes_per_second": "19.2 GB/s",
    "seconds": "520 ns",
    "hertz": "300 MHz",
    "flops_per_second": "1.2 TFLOP/s",
    "updates_per_second": "0.1 GUOP/s",
    "watts": "75 W",
    "joules": "1 kJ",
}
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Of a dimension the unit, and the prefixes that a person reads best, the largest first.
_LARGE = tuple(reversed(PREFIXES.items()))
PREFERRED = {
    "bytes": ("B", _LARGE),
    "bytes_per_second": ("B/s", _LARGE),
    "flops_per_second": ("FLOP/s", _LARGE),
    "updates_per_second": ("UOP/s", _LARGE),
    "hertz": ("Hz", _LARGE),
    "seconds": ("s", tuple(SMALL.items())),
}
LONGEST_FORMULA = 1000
FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "ceil": math.ceil, "floor": math.floor, "log2": math.log2, "max": max, "min": min, "sqrt": math.sqrt,
}  # fmt: skip
OPERATIONS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_NAME = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*")  # no exponent of a number


def pattern(dimension: str) -> str:
    """Regular expression of what `parse` takes."""
    units = "|".join(re.escape(unit) for unit in UNITS[dimension])
    return rf"^\s*\+?{NUMBER.pattern[5:]}\s*({units})\s*$"


def parse(text: object, dimension: str) -> float:
    """The quantity in SI units. Raises ValueError with a sentence: no unit, another dimension, negative."""
    units = UNITS[dimension]
    example = f'write for example "{EXAMPLES[dimension]}"'
    if isinstance(text, int | float) and not isinstance(text, bool):
        raise ValueError(f"{text} has no unit; {example}")
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a text with number and unit; {example}")
    found = NUMBER.match(text.strip())
    if not found:
        raise ValueError(f'"{text}" does not begin with a number; {example}')
    number, unit = found.group(), text.strip()[found.end() :].strip()
    if not unit:
        raise ValueError(f'"{text}" has no unit; {example}')
    if unit not in units:
        raise ValueError(f'"{unit}" is not a unit of {dimension}; one of {", ".join(units)}')
    value = float(number)
    if value and math.isfinite(value):  # exactly, so that "60 us" is 60e-6 to the last bit
        value = float(Decimal(number) * Decimal(repr(units[unit])))
    if not math.isfinite(value):
        raise ValueError(f'"{text}" is not finite')
    if value < 0:
        raise ValueError(f'"{text}" is negative')
    return value


def written(value: float, dimension: str) -> str:
    """Number and unit as `parse` takes them, for example 19.2 GB/s; of another dimension the number alone."""
    if dimension not in PREFERRED:
        return f"{value:.5g}"
    unit, prefixes = PREFERRED[dimension]
    prefix, factor = next(
        ((p, f) for p, f in prefixes if abs(value) >= f), prefixes[-1] if value else ("", 1.0)
    )
    digits = 10 if dimension == "bytes" else 5
    return f"{value / factor:.{digits}g} {prefix}{unit}"


def formula(text: str) -> ast.Expression:
    """Of a formula. Its names are prefixed by v_, so that none is a word of Python. Raises SyntaxError."""
    return ast.parse(_NAME.sub(r"v_\g<0>", text.strip()).replace("^", "**"), mode="eval")


def value(text: str, names: Mapping[str, float]) -> float:
    """Of a formula. Raises ValueError with a sentence: no formula, a name that is none, no finite number."""
    if len(text) > LONGEST_FORMULA:
        raise ValueError(f"a formula of more than {LONGEST_FORMULA} characters")
    try:
        found = float(_of(formula(text).body, names))
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"{text!r} is no formula") from None
    except (ArithmeticError, TypeError) as error:
        raise ValueError(f"{text!r} has no value: {error}") from None
    if not math.isfinite(found):
        raise ValueError(f"{text!r} is not finite")
    return found


def _of(node: ast.expr, names: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name):
        name = node.id.removeprefix("v_")
        if name not in names:
            raise ValueError(f"there is no {name}; known are {', '.join(sorted(names))}")
        return float(names[name])
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_of(node.left, names), _of(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _of(node.operand, names)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = FUNCTIONS.get(node.func.id.removeprefix("v_"))
        if function is not None:
            return float(function(*(_of(one, names) for one in node.args)))
    raise ValueError("only numbers, names, + - * / ^, ( ) and " + ", ".join(FUNCTIONS))
