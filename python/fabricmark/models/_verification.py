"""Cases with known solutions that an application is verified with: which runs, and what they have to reach.

A module models/<benchmark>/verification.py holds them as `CASES` by name; a benchmark without one has none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from math import inf, log2
from pathlib import Path

MODULE = "verification"


@dataclass(frozen=True)
class Reached:
    """A figure of the runs, what it has to be in words, and whether it is."""

    what: str
    value: float
    wanted: str
    is_reached: bool


@dataclass(frozen=True)
class Case:
    """`runs`: the options of each, by the names of parameters. `judge`: what result files say of them, in
    their order; raises ValueError for files that do not say it."""

    about: str
    runs: tuple[Mapping[str, object], ...]
    judge: Callable[[Sequence[Mapping]], list[Reached]]


def names() -> tuple[str, ...]:
    """Benchmarks that have such cases."""
    return tuple(sorted(file.parent.name for file in Path(__file__).parent.glob(f"*/{MODULE}.py")))


@cache
def of(benchmark: str) -> Mapping[str, Case]:
    """Those of a benchmark."""
    if benchmark not in names():
        return {}
    return import_module(f"fabricmark.models.{benchmark}.{MODULE}").CASES


def said(document: Mapping, what: re.Pattern[str], otherwise: Sequence[float] = ()) -> Sequence[float]:
    """The numbers of the first note that has `what`; `otherwise` without one, or ValueError without that."""
    for note in document["notes"]:
        if found := what.search(note):
            return tuple(map(float, found.groups()))
    if not otherwise:
        raise ValueError(f"no note has {what.pattern!r}")
    return otherwise


def error_of(document: Mapping, verdict: str) -> float:
    """Of the verdict with this name. Raises ValueError without one."""
    for one in document["verdicts"]:
        if one["name"] == verdict:
            return one["error"]
    raise ValueError(f"no verdict is of the {verdict}")


def orders(errors: Sequence[float]) -> list[float]:
    """Between each grid and the next one, which is twice as fine."""
    return [log2(coarse / fine) if fine else inf for coarse, fine in pairwise(errors)]


def orders_on(
    cells: Sequence[int], what: re.Pattern[str], judged: Callable[[str, float], Reached]
) -> Callable[[Sequence[Mapping]], list[Reached]]:
    """What judges the order of an error in runs on such grids, each twice as fine as the one before."""

    def judge(documents: Sequence[Mapping]) -> list[Reached]:
        rates = orders([said(one, what)[0] for one in documents])
        return [
            judged(f"order of the error from {coarse} to {fine} cells", rate)
            for (coarse, fine), rate in zip(pairwise(cells), rates, strict=True)
        ]

    return judge


def at_most(what: str, value: float, most: float) -> Reached:
    return Reached(what, value, f"at most {most:g}", value <= most)


def at_least(what: str, value: float, least: float) -> Reached:
    return Reached(what, value, f"at least {least:g}", value >= least)


def near(what: str, value: float, wanted: float, by: float) -> Reached:
    return Reached(what, value, f"{wanted:g}, within {by:g}", abs(value - wanted) <= by)
