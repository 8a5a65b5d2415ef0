"""One value of a system file, and the fault that a file is refused for."""

import math
from dataclasses import dataclass

from fabricmark.systems import quantity
from fabricmark.systems.keys import COUNT, PLAIN, SHARE, Key

PROFILES = ("fitted", "published")
PARTS = ("value", "fitted", "source", "inferred")
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


def read(raw: object, key: Key, place: str, path: tuple, source: str, name: str = "") -> SourcedValue:
    """The value of a key: an inline table, or what is written in its place where the table has a source.

    `source`: that of the enclosing table, "" for none. Raises Fault.
    """
    if not isinstance(raw, dict):
        raw = {"value": raw}
    for part in raw:
        if part not in PARTS:
            raise Fault((*path, part), f"{part} is no part of a value", f"use {', '.join(PARTS)}")
    for part in ("source", "inferred"):
        if part in raw and not (isinstance(raw[part], str) and raw[part].strip()):
            raise Fault((*path, part), f"{part} is no text", "say in words where the value is from")
    if "value" not in raw and "fitted" not in raw:
        raise Fault(path, "neither value nor fitted", 'write { value = "...", source = "..." }')
    source = str(raw.get("source", source))
    if "value" in raw and not source:
        raise Fault(path, "no source", 'add source = "document, table or section"')
    if "fitted" in raw and "inferred" not in raw:
        raise Fault(path, "no reasoning for the fitted value", 'add inferred = "from what, and how"')
    numbers = {part: _number(raw[part], key, (*path, part)) for part in ("value", "fitted") if part in raw}
    return SourcedValue(
        place,
        key.dimension,
        numbers.get("value"),
        numbers.get("fitted"),
        source if "value" in raw else "",
        str(raw.get("inferred", "")),
        *(str(raw.get(part, "")) for part in ("value", "fitted")),
        name,
    )


def _number(raw: object, key: Key, path: tuple) -> float:
    """The number in SI units. Raises Fault: not a number, no unit, out of range."""
    if key.dimension in PLAIN:
        return _plain(raw, key.dimension, path)
    try:
        number = quantity.parse(raw, key.dimension)
    except ValueError as error:
        cause, _, remedy = str(error).partition("; ")
        units = ", ".join(quantity.UNITS[key.dimension])
        raise Fault(path, cause, remedy or f"write a number and one of {units}") from error
    least, most = RANGES[key.dimension]
    if not least <= number <= most:
        cause = f'"{raw}" is out of range'
        raise Fault(path, cause, f"{key.dimension} are from {least:g} to {most:g} in SI units")
    return number


def _plain(raw: object, dimension: str, path: tuple) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise Fault(path, f"{raw!r} is no plain number", "write the number alone, without quotes and unit")
    if dimension == COUNT:
        if not isinstance(raw, int) or not 0 <= raw <= MOST_COUNT:
            raise Fault(path, f"{raw} is no count", "write a whole number that is not negative")
        return raw
    most = 1.0 if dimension == SHARE else math.inf
    if not math.isfinite(raw) or raw < 0 or raw > most:
        raise Fault(path, f"{raw} is out of range", f"write a number from 0 to {most:g}")
    return float(raw)
