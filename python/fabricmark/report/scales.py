"""Axes: where a value lies, and ticks as people write them, `1 kB/s` rather than `1e-06 GB/s`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

PREFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
BY_EXPONENT = {exponent: prefix for prefix, exponent in PREFIXES.items()}
BASES = ("B", "B/s", "FLOP/s", "UOP/s", "s", "W", "J")  # units that take prefixes
STEPS = (1, 2, 5)


def base_unit(unit: str) -> tuple[int, str] | None:
    """(power of ten, unit without its prefix) of `GB/s`; None for units that take no prefix."""
    if unit in BASES:
        return 0, unit
    if unit[1:] in BASES and unit[0] in PREFIXES:
        return PREFIXES[unit[0]], unit[1:]
    return None


def text(value: float, unit: str = "", like: float | None = None) -> str:
    """A value with its unit, in the prefix that suits it, or that suits the value `like`."""
    found = base_unit(unit) if unit else None
    if found is None:
        plain = f"{value:.4g}" if abs(value) < 1e5 else f"{value:.3e}"
        return f"{plain} {unit}".strip()
    power, base = found
    reference = abs(value if like is None else like)
    exponent = 0
    if reference > 0:
        # A hair more, so that 1e-9 * 1e9 counts as one.
        exponent = 3 * math.floor((math.log10(reference) + power) / 3 + 1e-9)
        exponent = min(max(exponent, PREFIXES["n"]), PREFIXES["P"])
    return f"{value * 10.0 ** (power - exponent):.4g} {BY_EXPONENT[exponent]}{base}"


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, drawn from `start` to `end` [pixels]."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Where a value lies [pixels]."""
        low, high, at = self.low, self.high, value
        if self.is_log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, 1e-300))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self, *, most: int = 5) -> list[float]:
        """Round values on the axis."""
        if not self.is_log:
            return linear_ticks(self.low, self.high, most)
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        powers = range(first, last + 1)
        if len(powers) >= 3:
            return [10.0**power for power in powers[:: math.ceil(len(powers) / most)]]
        finer = [step * 10.0**power for power in range(first - 1, last + 1) for step in STEPS]
        inside = [value for value in finer if self.low <= value <= self.high]
        return inside if len(inside) >= 2 else linear_ticks(self.low, self.high, most)


def linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, at most so many."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (wide * power for wide in (1, 2, 5, 10, 20)):
        numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        if len(numbers) <= most:
            return [step * number for number in numbers]
    return [low, high]


def over(
    values: Sequence[float], start: float, end: float, is_log: bool, *, from_zero: bool = False
) -> Scale:
    """An axis with room for these values."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if is_log:
        margin = (high / low) ** 0.04 if high > low else 2.0
        return Scale(low / margin, high * margin, start, end, True)
    low = min(0.0, low) if from_zero else low
    room = 0.05 * (high - low) or abs(high) or 1.0
    return Scale(low if from_zero else low - room, high + room, start, end)
