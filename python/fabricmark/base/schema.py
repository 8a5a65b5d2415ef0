"""Checking documents against the published JSON Schemas: one clear sentence for what does not fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fabricmark.base import transports
from fabricmark.base.errors import FabricmarkError, printable

try:
    import jsonschema_rs
except ModuleNotFoundError:  # in a bundle, which has few results to read: the slow way does
    jsonschema_rs = None  # type: ignore[assignment]
if TYPE_CHECKING:  # a tenth of a second for every command, and needed only where something does not fit
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError


@cache
def schema(name: str, outside: Sequence[str] = ()) -> dict:
    """schemas/<name>.schema.json, for example `result-2`; where it names transports, also those `outside`."""
    text = files("fabricmark.schemas").joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    known = (list(transports.BETWEEN), list(transports.NAMES))

    def extended(node: dict) -> dict:
        return {**node, "enum": [*node["enum"], *outside]} if node.get("enum") in known else node

    return json.loads(text, object_hook=extended if outside else None)


@cache
def validator(name: str, outside: Sequence[str] = ()) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(name, outside))


@cache
def _compiled(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema(name))


def _is_valid(name: str, document: object) -> bool:
    """The quick answer, compiled: two hundred times as fast on a thousand result files. False: not known."""
    if jsonschema_rs is None:
        return False
    try:
        return _compiled(name).is_valid(document)
    except (ValueError, OverflowError, RecursionError):
        return False  # such as a lone surrogate, which Rust's texts cannot hold: the slow way decides


def errors(name: str, document: object) -> list[ValidationError]:
    """All that does not fit, for those who say it in words of their own.

    Raises FabricmarkError (2) where something does not, and a transport outside of the sources is wrong.
    """
    if _is_valid(name, document):
        return []
    return list(validator(name, tuple(transports.outside())).iter_errors(document))


def first_fault(name: str, document: object) -> tuple[str, str] | None:
    """The fault that explains most: (key, sentence), for example ("run.exit_code", "...") or None."""
    found = errors(name, document)
    if not found:
        return None
    from jsonschema.exceptions import best_match

    fault = best_match(found)
    key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault.absolute_path)
    return key.lstrip(".") or "the document", _shortened(fault.message)


def check(name: str, document: object, file: object, remedy: str) -> None:
    """Raises FabricmarkError (2) naming the file and what does not fit."""
    if fault := first_fault(name, document):
        raise FabricmarkError(f"{file}: {fault[0]}: {fault[1]}", remedy)


def _shortened(sentence: str, *, longest: int = 160) -> str:
    """A message of jsonschema quotes the whole value; its end says what is wrong with it."""
    sentence = printable(sentence)
    if len(sentence) <= longest:
        return sentence
    half = longest // 2 - 3
    return f"{sentence[:half]} ... {sentence[-half:]}"
