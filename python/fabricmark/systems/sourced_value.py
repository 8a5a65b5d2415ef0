"""One value of a system file, a number and its unit in one text as "19.2 GB/s", and the fault that a file is
refused for."""

import math
from dataclasses import dataclass
from typing import Any

from fabricmark.base.keys import COUNT, PLAIN, Key
from fabricmark.base.quantities import EXAMPLES, RANGES, parse

PROFILES = ("fitted", "published")
MOST_COUNT = 2**53


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
