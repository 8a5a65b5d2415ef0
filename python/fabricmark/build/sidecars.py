"""The sidecar of a bitstream, with what its reports say, and beside it what they say of loops and kernels.

FILE.toml is what the programs read (docs/platforms.md), which know no other keys; so intervals, estimates and
the time of the tools stand in FILE.synthesis.toml.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.build.design import toml_value
from fabricmark.build.tool_reports import Report

ENDING, SYNTHESIS = ".toml", ".synthesis.toml"
# In the order of the file; whatever else a sidecar has follows.
KEYS = ("benchmark", "variant", "digest", "board", "bitstream", "clock_hz", "tools", "shell", "resources")
PARAMETERS = "parameters"


@dataclass(frozen=True)
class Sidecar:
    """What is known of a bitstream. `values`: as the file has them. `seconds`: that its synthesis took."""

    bitstream: Path
    values: Mapping[str, object]
    seconds: float = 0

    def number(self, name: str) -> float:
        """A value that is a number; 0 where there is none."""
        found = self.values.get(name)
        return float(found) if isinstance(found, int | float) else 0.0

    def resources(self) -> Mapping[str, int]:
        """What it takes of the chip, by kind."""
        found = self.values.get("resources")
        return found if isinstance(found, Mapping) else {}


def of(bitstream: Path) -> Path:
    """The sidecar of a bitstream, which may be named itself."""
    return bitstream if bitstream.suffix == ENDING else bitstream.with_name(bitstream.name + ENDING)


def load(bitstream: Path) -> Sidecar:
    """Raises FabricmarkError (2) where there is none or it is no TOML."""
    file = of(bitstream)
    values = _read(file, "build the bitstream with `fabricmark build`, which writes it")
    if not isinstance(values.get("benchmark"), str):
        raise FabricmarkError(f"{file}: no sidecar of a bitstream: it names no benchmark", "name a bitstream")
    beside = _synthesis_of(file)
    more = _read(beside, "remove the file") if beside.exists() else {}
    seconds = more.get("seconds", 0)
    return Sidecar(file, values, float(seconds) if isinstance(seconds, int | float) else 0.0)


def _synthesis_of(file: Path) -> Path:
    return file.with_name(file.name.removesuffix(ENDING) + SYNTHESIS)


def _read(file: Path, remedy: str) -> dict:
    try:
        return tomllib.loads(paths.content(file).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise FabricmarkError(f"{file}: cannot be read: {why}", remedy) from error


def write(bitstream: Path, report: Report) -> list[Path]:
    """Both files, with what the reports say; what they do not say stays. Raises FabricmarkError (2)."""
    sidecar = load(bitstream)
    said = {"clock_hz": report.clock_hz, "tools": report.tools, "shell": report.shell}
    said |= {"resources": report.resources}
    values = {**sidecar.values, **{name: value for name, value in said.items() if value}}
    paths.write_atomically(sidecar.bitstream, "\n".join(_lines(values)) + "\n")
    beside = _synthesis_of(sidecar.bitstream)
    paths.write_atomically(beside, "\n".join(_synthesis(report)) + "\n")
    return [sidecar.bitstream, beside]


def _lines(values: Mapping[str, object]) -> Iterator[str]:
    for name in [*KEYS, *(values.keys() - {*KEYS, PARAMETERS})]:
        if name in values:
            yield f"{name} = {toml_value(values[name])}"
    yield f"[{PARAMETERS}]"
    parameters = values.get(PARAMETERS)
    for name, value in (parameters if isinstance(parameters, Mapping) else {}).items():
        yield f"{name} = {toml_value(value)}"


def _synthesis(report: Report) -> Iterator[str]:
    yield f"reports = {toml_value(report.kind)}"
    if report.asked_hz:
        yield f"asked_clock_hz = {toml_value(report.asked_hz)}"
    if report.seconds:
        yield f"seconds = {toml_value(report.seconds)}"
    if report.available:
        yield f"available = {toml_value(report.available)}"
    for kernel in dict.fromkeys([*report.estimated, *report.estimated_hz]):
        yield "[[kernels]]"
        yield f"name = {toml_value(kernel)}"
        if kernel in report.estimated_hz:
            yield f"estimated_hz = {toml_value(report.estimated_hz[kernel])}"
        if kernel in report.estimated:
            yield f"estimated = {toml_value(report.estimated[kernel])}"
    for loop in report.loops:
        yield "[[loops]]"
        yield f"kernel = {toml_value(loop.kernel)}"
        yield f"name = {toml_value(loop.name)}"
        if loop.interval is not None:
            yield f"interval = {loop.interval}"
        if loop.wanted is not None:
            yield f"wanted = {loop.wanted}"
