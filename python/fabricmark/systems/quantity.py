"""Quantities of system files: a number and its unit in one text, for example "19.2 GB/s"."""

import math
import re
from decimal import Decimal

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SMALL = {"": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}
BINARY = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
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
