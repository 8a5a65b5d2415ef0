"""Formulas that a user writes into a file: numbers, names, + - * / ^ ( ) and a few functions.

Nothing else of Python is there: no attribute, no index, no text.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

LONGEST = 1000
FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "ceil": math.ceil, "floor": math.floor, "log2": math.log2, "max": max, "min": min, "sqrt": math.sqrt,
}  # fmt: skip
OPERATIONS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_NAME = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*")  # no exponent of a number


def tree(text: str) -> ast.Expression:
    """Of a formula. Its names are prefixed by v_, so that none is a word of Python. Raises SyntaxError."""
    return ast.parse(_NAME.sub(r"v_\g<0>", text.strip()).replace("^", "**"), mode="eval")


def value(text: str, names: Mapping[str, float]) -> float:
    """Of a formula. Raises ValueError with a sentence: no formula, a name that is none, no finite number."""
    if len(text) > LONGEST:
        raise ValueError(f"a formula of more than {LONGEST} characters")
    try:
        found = float(_of(tree(text).body, names))
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
