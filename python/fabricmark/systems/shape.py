"""Whether a system file has the shape that its JSON Schema says; faults in words that a person acts on."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabricmark.base import keys, schema
from fabricmark.systems import quantity
from fabricmark.systems.sourced_value import Fault

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

# What a type is called, and how it is written.
TYPES = {
    "object": ("table", "write [{key}] and its keys below"),
    "array": ("list", "write {key} = [...]"),
    "string": ("text", "write words in quotes"),
    "integer": ("plain number", "write the number alone, without quotes and unit"),
    "number": ("plain number", "write the number alone, without quotes and unit"),
}
UNITS = {quantity.pattern(dimension): dimension for dimension in quantity.UNITS}
# Of several faults in one place the one that explains the others; those of keys in it are one step deeper.
FIRST = ("additionalProperties", "type", "enum", "pattern")
OF_KEYS = ("additionalProperties", "required", "anyOf")


def check(kind: str, document: dict) -> None:
    """Raises Fault where a document is no file of a kind ("system", "board", "network", "bitstreams")."""
    error = _first(schema.errors(f"{kind}-1", document))
    if error is not None:
        raise _fault(error)


def _first(errors: Iterator[ValidationError] | list[ValidationError]) -> ValidationError | None:
    def order(error: ValidationError) -> tuple[int, int]:
        rank = FIRST.index(error.validator) if error.validator in FIRST else len(FIRST)
        return len(error.absolute_path) + (error.validator in OF_KEYS), rank

    return min(errors, key=order, default=None)


def _fault(error: ValidationError) -> Fault:
    path, given, allowed = tuple(error.absolute_path), error.instance, error.validator_value
    key = path[-1] if path else ""
    match error.validator:
        case "anyOf":
            return _of_branches(error, path)
        case "additionalProperties":
            return _unknown(error, path)
        case "required":
            name = next(one for one in allowed if one not in given)
            meaning = error.schema["properties"][name].get("description", "it is needed")
            return Fault((*path, name), "missing", f"add it: {meaning}")
        case "dependentRequired":
            return Fault(path, "no reasoning for the fitted value", 'add inferred = "from what, and how"')
        case "enum":
            at = (*path, given) if "propertyNames" in error.absolute_schema_path else path
            return Fault(at, f"{given} is not known", f"use one of {', '.join(allowed)}")
        case "pattern" | "type" if error.schema.get("pattern") in UNITS:
            return _quantity(given, UNITS[error.schema["pattern"]], path)
        case "pattern" if allowed in keys.REMEDIES:
            return Fault(path, f"{given!r} is no {key}", keys.REMEDIES[allowed])
        case "pattern":
            return Fault(path, f"{given!r} is no text", "write words in quotes")
        case "type":
            return _type(given, error.schema, path)
        case "minItems" | "minProperties":
            return Fault(path, "nothing in it", f"write at least one entry of {key}")
        case "maxItems":
            return Fault(path, "too many entries", f"write at most {allowed}")
    return Fault(path, f"{given} is out of range", f"write a number {_range(error.schema)}")


def _unknown(error: ValidationError, path: tuple) -> Fault:
    """A key that no table has, with what was probably meant."""
    known = list(error.schema["properties"])
    name = next(one for one in error.instance if one not in known)
    close = difflib.get_close_matches(name, known, n=1)
    remedy = f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
    return Fault((*path, name), f"unknown key {name}", remedy)


def _of_branches(error: ValidationError, path: tuple) -> Fault:
    """What is wrong in the branch of anyOf that was meant: that of the instance's type."""
    if all(list(branch) == ["required"] for branch in error.validator_value):
        names = [name for branch in error.validator_value for name in branch["required"]]
        return Fault(path, f"neither {' nor '.join(names)}", 'write { value = "...", source = "..." }')
    branches: dict[int, list[ValidationError]] = {}
    for one in error.context:
        branches.setdefault(one.schema_path[0], []).append(one)
    for errors in branches.values():
        if not any(one.validator == "type" and not one.path for one in errors):
            return _fault(_first(errors))
    first = error.validator_value[0]
    if first.get("pattern") in UNITS:
        return _quantity(error.instance, UNITS[first["pattern"]], path)
    return _type(error.instance, first, path)


def _type(given: object, of: dict, path: tuple) -> Fault:
    wanted = of["type"]
    if isinstance(wanted, list):
        return Fault(path, f"{given!r} is no plain value", "write a number, a text or true or false")
    if wanted == "integer" and isinstance(given, float):
        return Fault(path, f"{given} is no count", "write a whole number that is not negative")
    name, remedy = TYPES[wanted]
    if of.get("items", {}).get("type") == "object":
        remedy = "write [[{key}]] and its keys below"
    cause = f"no {name}" if wanted in ("object", "array") else f"{given!r} is no {name}"
    return Fault(path, cause, remedy.format(key=path[-1] if path else "KEY"))


def _quantity(given: object, dimension: str, path: tuple) -> Fault:
    try:
        quantity.parse(given, dimension)
    except ValueError as error:
        cause, _, remedy = str(error).partition("; ")
    else:
        cause, remedy = f'"{given}" is no quantity', ""
    return Fault(path, cause, remedy or f"write a number and one of {', '.join(quantity.UNITS[dimension])}")


def _range(of: dict) -> str:
    least, most = of.get("minimum", of.get("exclusiveMinimum")), of.get("maximum")
    above = "above" if "exclusiveMinimum" in of else "from"
    return f"{above} {least:g}" + (f" to {most:g}" if most is not None else "")
