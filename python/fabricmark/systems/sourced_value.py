"""One value of a system file, a number and its unit in one text as "19.2 GB/s", and the fault that a file is
refused for."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fabricmark.base.keys import COUNT, PLAIN, Key

PROFILES = ("fitted", "published")
MOST_COUNT = 2**53
# What a machine can have: a wrong prefix is found at once, and no model meets an infinity.
RANGES = {
    "bytes": (1.0, 1e18),
    "bytes_per_second": (1.0, 1e18),
    "seconds": (0.0, 1e7),
    "hertz": (1.0, 1e12),
    "flops_per_second": (1.0, 1e21),
    "updates_per_second": (1e-3, 1e15),
}
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


class Fault(Exception):
    """Why a file is refused: the path of the key, the cause, the remedy. The reader adds file and line."""

    def __init__(self, path: tuple[str | int, ...], cause: str, remedy: str) -> None:
        super().__init__(cause)
        self.path, self.cause, self.remedy = path, cause, remedy


@dataclass(frozen=True)
class SourcedValue:
    """One number of a system file. `value` and `fitted` in SI units of `dimension` ("count", "number" and
    "share" are plain numbers).

    `place`: file and key, for example "boards/520n.toml: memory.bank_bandwidth". The texts: as written.
    `name`: the key in its table, as `keys.VALUES` has it.
    """

    place: str
    dimension: str
    value: float | None
    fitted: float | None
    source: str
    inferred: str
    value_text: str = ""
    fitted_text: str = ""
    name: str = ""

    def of(self, profile: str) -> float | None:
        """The number that counts in a profile; None where it has none."""
        return self.value if profile == "published" or self.fitted is None else self.fitted


def read(raw: Any, key: Key, place: str, path: tuple, source: str, name: str = "") -> SourcedValue:
    """The value of a key, of the shape that the schema asks for: a table, or what is written in its place.

    `source`: that of the enclosing table, "" for none. Raises Fault.
    """
    if not isinstance(raw, dict):
        raw = {"value": raw}
    source = raw.get("source", source)
    if "value" in raw and not source:
        raise Fault(path, "no source", 'add source = "document, table or section"')
    numbers = {part: _number(raw[part], key, (*path, part)) for part in ("value", "fitted") if part in raw}
    return SourcedValue(
        place,
        key.dimension,
        numbers.get("value"),
        numbers.get("fitted"),
        source if "value" in raw else "",
        raw.get("inferred", ""),
        str(raw.get("value", "")),
        str(raw.get("fitted", "")),
        name,
    )


def _number(raw: Any, key: Key, path: tuple) -> float:
    """The number in SI units. Raises Fault: out of range."""
    if key.dimension in PLAIN:
        if not math.isfinite(raw):
            raise Fault(path, f"{raw} is out of range", "write a finite number")
        return int(raw) if key.dimension == COUNT else float(raw)
    try:
        number = parse(raw, key.dimension)
    except ValueError as error:
        raise Fault(path, str(error), f"write for example {EXAMPLES[key.dimension]}") from error
    least, most = RANGES[key.dimension]
    if not least <= number <= most:
        cause = f'"{raw}" is out of range'
        raise Fault(path, cause, f"{key.dimension} are from {least:g} to {most:g} in SI units")
    return number


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
