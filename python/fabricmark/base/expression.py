"""Defaults of kernel.toml that follow from other numbers, such as max(1, 2^(26 - log_size)).

Numbers, names, + - * / and ^ (from the right), parentheses, max(...) and min(...); no signs. The programs
take and make the same (src/base/expression.hpp).
"""

import ast
import math
import operator
import re
from collections.abc import Collection, Mapping

LONGEST = 200  # characters: more are no default, and nesting needs stack
LARGEST = 2.0**53  # whole numbers up to here are exact
WORD = re.compile(r" *((?:0|[1-9][0-9]*)(?:\.[0-9]+)?|[a-z][a-z0-9_]*|[-+*/^(),]) *")
FUNCTIONS = {"max": max, "min": min}
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}


class UnknownName(ValueError):
    """A name that has no value here."""


def check(text: str, names: Collection[str]) -> list[str]:
    """The words of an expression of these names. Raises ValueError, which says why, where it is none."""
    words = _words(text)
    before_operand, after_function = True, False
    of_function: list[bool] = []  # for each open parenthesis
    for word in words:
        operand = word not in "+-*/^(),"
        fits = before_operand == (operand or word == "(") and (word == "(" or not after_function)
        if word in "),":
            fits = fits and bool(of_function) and (word == ")" or of_function[-1])
        if not fits:
            raise ValueError(f"'{word}' cannot stand where it does")
        if operand and word not in FUNCTIONS and word not in names and not word[0].isdigit():
            raise UnknownName(f"{word} is no whole parameter that stands before it")
        if word == "(":
            of_function.append(after_function)
        elif word == ")":
            of_function.pop()
        after_function = word in FUNCTIONS
        before_operand = after_function or word in "+-*/^(,"
    if before_operand or of_function:
        raise ValueError("it ends too early")
    return words


def evaluate(text: str, values: Mapping[str, float]) -> int:
    """The value, rounded down. Raises ValueError as `check`, or where a step or the value is too large."""
    words = check(text, values)
    # A name may be a word of Python's: with its place behind it, it is none.
    named = {
        f"{word}_{place}": values[word]
        for place, word in enumerate(words)
        if word in values and word not in FUNCTIONS
    }
    python = " ".join(
        "**" if word == "^" else f"{word}_{place}" if f"{word}_{place}" in named else word
        for place, word in enumerate(words)
    )
    try:
        value = math.floor(_value(ast.parse(python, mode="eval").body, named))
    except (ArithmeticError, ValueError) as error:
        raise ValueError("a step of it has no finite value") from error
    if abs(value) > LARGEST:
        raise ValueError("its value is too large")
    return value


def _words(text: str) -> list[str]:
    """Numbers, names and signs. Raises ValueError where something else stands between them."""
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST:
        raise ValueError("it is too long")
    words, place = [], 0
    while place < len(text):
        found = WORD.match(text, place)
        if found is None:
            raise ValueError(f"its character {place + 1} cannot be used")
        words.append(found[1])
        place = found.end()
    return words


def _value(node: ast.AST, named: Mapping[str, float]) -> float:
    """The value of a part; as a float, as the programs work. Raises ArithmeticError or ValueError."""
    match node:
        case ast.Constant(value=value):
            return float(value)
        case ast.Name(id=name):
            return float(named[name])
        case ast.BinOp(left=left, op=op, right=right):
            value = OPERATORS[type(op)](_value(left, named), _value(right, named))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            value = FUNCTIONS[name](_value(one, named) for one in arguments)
        case _:
            raise ValueError("no expression")
    if not math.isfinite(value):
        raise OverflowError("not finite")
    return value
