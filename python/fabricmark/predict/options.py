"""The options of `fabricmark predict`: device counts, values that are set, values to sweep over."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricmark import models
from fabricmark.base.errors import FabricmarkError

MOST_POINTS = 4096
RANGE = re.compile(r"(?P<first>[^:]+):(?P<last>[^:]+)(?::(?P<by>[^:]+))?")
DIGITS = 12


@dataclass(frozen=True)
class Sweep:
    """One axis: its name as given, and its values as texts for `values.numbers`."""

    name: str
    first: str
    last: str
    step: str = ""
    factor: float = 0.0


def device_counts(text: str, benchmark: str) -> tuple[int, ...]:
    """Numbers of devices from `64`, `1,4,16` or `1..64`, ascending.

    A range stands for its powers of two, for benchmarks on a grid for its squares. Raises
    FabricmarkError (2).
    """
    counts: set[int] = set()
    squares = models.traits(benchmark).on_grid
    for word in text.split(","):
        first, dots, last = word.strip().partition("..")
        ends = [_count(end, text) for end in ((first, last) if dots else (first,))]
        if not dots:
            counts.add(ends[0])
        elif ends[0] > ends[1]:
            raise FabricmarkError(f"--devices {text}: the range falls", "swap its two ends")
        else:
            counts |= set(_between(ends[0], ends[1], squares))
    if not counts:
        kind = "square" if squares else "power of two"
        raise FabricmarkError(f"--devices {text}: no {kind} in that range", "name the numbers: 2,3,5")
    return tuple(sorted(counts))


def _between(first: int, last: int, squares: bool) -> list[int]:
    if squares:
        return [side * side for side in range(math.isqrt(first - 1) + 1, math.isqrt(last) + 1)]
    return [2**power for power in range(last.bit_length()) if first <= 2**power <= last]


def which(text: str, benchmark: str) -> str:
    """What a range was taken for, in words; "" where every number was named."""
    if ".." not in text:
        return ""
    return "squares, for the grid" if models.traits(benchmark).on_grid else "powers of two"


def _count(word: str, text: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 8 and int(word) > 0):
        raise FabricmarkError(
            f"--devices {text}: {word!r} is no number of devices", "write 8, 1,4,16 or 1..64"
        )
    return int(word)


def names(text: str | None, option: str) -> list[str | None]:
    """Names with commas between them; one None for no text. Raises FabricmarkError (2)."""
    if text is None:
        return [None]
    found = [word.strip() for word in text.split(",")]
    if not all(found) or len(set(found)) < len(found):
        raise FabricmarkError(f"{option} {text}: a name is empty or stands twice", "name each once")
    return found


def settings(words: Sequence[str]) -> dict[str, str]:
    """Name to value of every --set k=v. Raises FabricmarkError (2)."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise FabricmarkError(f"--set {word}: no name and value", "write --set size=8192")
        if name.strip() in found:
            raise FabricmarkError(f"--set {name.strip()} is given twice", "leave out one")
        found[name.strip()] = value.strip()
    return found


def sweeps(words: Sequence[str]) -> list[Sweep]:
    """Every --sweep k=a:b[:step|xfactor]. Raises FabricmarkError (2)."""
    found = [_sweep(word) for word in words]
    for place, one in enumerate(found):
        if one.name in {other.name for other in found[:place]}:
            raise FabricmarkError(f"--sweep {one.name} is given twice", "leave out one")
    return found


def _sweep(word: str) -> Sweep:
    example = "write --sweep size=1024:32768:x2 or --sweep size=1024:8192:1024"
    name, _, text = word.partition("=")
    match = RANGE.fullmatch(text.strip())
    if not name.strip() or match is None:
        raise FabricmarkError(f"--sweep {word}: no name and range", example)
    by = (match["by"] or "").strip()
    first, last = match["first"].strip(), match["last"].strip()
    if by and not by.startswith("x"):
        return Sweep(name.strip(), first, last, step=by)
    try:
        factor = float(by[1:] or "2")
    except ValueError:
        factor = math.nan
    if not 1 < factor < math.inf:
        raise FabricmarkError(f"--sweep {word}: {by!r} is no factor above 1", example)
    return Sweep(name.strip(), first, last, factor=factor)


def values(first: float, last: float, step: float | None, factor: float, whole: bool, name: str) -> list:
    """The values of an axis, both ends within. Raises FabricmarkError (2)."""
    wrong = first > last or (step is not None and not 0 < step < math.inf) or (step is None and first <= 0)
    if wrong:
        raise FabricmarkError(
            f"--sweep {name}: the range does not rise", "write the smaller end first, and a step above 0"
        )
    count = (last - first) / step if step is not None else math.log(last / first) / math.log(factor)
    if count + 1 > MOST_POINTS:
        raise FabricmarkError(f"--sweep {name}: more than {MOST_POINTS} values", "use a larger step")
    places = range(int(count * (1 + 1e-12) + 1e-9) + 1)
    found = [first + place * step if step is not None else first * factor**place for place in places]
    if whole:
        return sorted({round(value) for value in found})
    return [float(f"{value:.{DIGITS}g}") for value in found]


def check_points(counts: Sequence[int], axes: Mapping[str, Sequence]) -> None:
    """Raises FabricmarkError (2) for more points than anybody reads."""
    points = len(counts) * math.prod(len(axis) for axis in axes.values())
    if points > MOST_POINTS:
        raise FabricmarkError(f"{points} points to predict", f"choose at most {MOST_POINTS}")
