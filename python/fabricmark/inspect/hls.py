"""Pragmas of HLS C++ in preprocessed source, which clang does not know: what they mean for the inspection.

Source: AMD, UG1399 2021.2, "HLS Pragmas". A pragma of a loop stands in its body, one of an array behind its
declaration.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

PRAGMA = re.compile(r"^[ \t]*#pragma HLS (\w+)(.*)$", re.MULTILINE)
LOOP = re.compile(r"\b(?:for|while)\s*$")


@dataclass(frozen=True)
class Directive:
    """A pragma: its `word`, and its `settings`, of which those without a value are true to themselves, as
    {"complete": "complete"}. `loop`: where the loop around it begins in the text, None outside of loops."""

    word: str
    settings: dict[str, str]
    loop: int | None


def directives(text: str) -> list[Directive]:
    """All pragmas of preprocessed source, in their order."""
    loops = list(_loops(text))
    found = []
    for match in PRAGMA.finditer(text):
        around = [start for start, opened, closed in loops if opened < match.start() < closed]
        found.append(Directive(match.group(1), _settings(match.group(2)), max(around, default=None)))
    return found


def _settings(text: str) -> dict[str, str]:
    words = re.sub(r"\s*=\s*", "=", text).split()
    pairs = (word.partition("=") for word in words)
    return {name: value or name for name, _, value in pairs}


def _loops(text: str) -> Iterator[tuple[int, int, int]]:
    """Of each loop with braces: where its first word stands, and its braces."""
    opened: list[tuple[str, int]] = []
    heads: dict[int, int] = {}  # where a loop's parentheses end: its first word
    for match in re.finditer(r"[(){}]", text):
        letter, place = match.group(), match.start()
        if letter in "({":
            opened.append((letter, place))
            continue
        _, start = opened.pop() if opened else ("", 0)
        if letter == ")":
            word = LOOP.search(text, max(0, start - 40), start)
            if word:
                heads[place] = word.start()
        else:
            before = len(text[:start].rstrip()) - 1
            if before in heads:
                yield heads[before], start, place


def partitions(found: list[Directive]) -> dict[str, tuple[str, ...]]:
    """By the name of an array how it is divided into memories, in the words of OpenCL's attribute for it."""
    said: dict[str, dict[str, None]] = {}
    for one in found:
        if one.word == "array_partition":
            kind = one.settings.get("type") or next(
                (kind for kind in ("complete", "cyclic", "block") if kind in one.settings), "complete"
            )
            factor = [one.settings["factor"]] if kind != "complete" and "factor" in one.settings else []
            words = " ".join(["xcl_array_partition", kind, *factor, one.settings.get("dim", "1")])
            said.setdefault(one.settings.get("variable", ""), {})[words] = None
    return {name: tuple(words) for name, words in said.items()}


def unrolled(text: str, found: list[Directive], number: Callable[[str], int], most: int) -> str:
    """The source with clang's word for it before loops that are to be unrolled, but for those that have more
    than `most` iterations. `number`: the value of an expression."""
    for one in sorted(found, key=lambda one: -(one.loop or 0)):
        if one.word == "unroll" and one.loop is not None and _iterations(text, one.loop, number) <= most:
            factor = f"({one.settings['factor']})" if "factor" in one.settings else ""
            text = f'{text[: one.loop]}_Pragma("unroll{factor}") {text[one.loop :]}'
    return text


def _iterations(text: str, loop: int, number: Callable[[str], int]) -> int:
    """At most so many, of a loop that counts from or to a number; 0 where that is not known."""
    head = re.match(r"for\s*\(([^;]*);([^;]*);", text[loop:])
    if head is None:
        return 0
    ends = [re.split(r"(?<![<>])[<>]=?(?![<>])|=", part)[-1] for part in head.groups()]
    return max(number(end.strip()) for end in ends)
