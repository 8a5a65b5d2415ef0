"""System files as text: the four files of a machine that was measured (docs/systems.md describes them)."""

import json
from collections.abc import Mapping, Sequence

from fabricmark.base import keys
from fabricmark.base.errors import printable
from fabricmark.base.quantities import PREFERRED, written
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Curve


def words(text: object) -> str:
    """A TOML string; whatever a driver calls its device, the file stays readable."""
    return json.dumps(printable(text), ensure_ascii=True)


def quantity(value: float, dimension: str) -> str:
    """Number and unit as a TOML string, for example "19.2 GB/s"; plain numbers without a unit."""
    text = written(value, dimension)
    return f'"{text}"' if dimension in PREFERRED else text


def value(content: object) -> str:
    """A plain value of an inline table."""
    if isinstance(content, bool):
        return str(content).lower()
    return words(content) if isinstance(content, str) else repr(content)


def board(made: Board, summary: str, source: str) -> str:
    """boards/ID.toml of a calibrated CPU or GPU."""
    tables: dict[str, dict[str, str]] = {}
    for name, number in made.values.known.items():
        table, _, key = name.partition(".")
        tables.setdefault(table, {})[key] = quantity(number, keys.BOARD[name].dimension)
    lines = [
        f"name = {words(made.name)}", f'class = "{made.device_class}"', f"summary = {words(summary)}",
        f"source = {words(source)}",
    ]  # fmt: skip
    for table, entries in tables.items():
        lines += ["", f"[{table}]", *(f"{name} = {number}" for name, number in entries.items())]
    for table_bytes, updates in made.updates_per_second:
        lines += ["", "[[random_updates]]", f"table = {quantity(table_bytes, 'bytes')}"]
        lines.append(f"rate = {quantity(updates, 'updates_per_second')}")
    return "\n".join(lines) + "\n"


def points(sizes: Sequence[float], values: Sequence[float]) -> tuple[str, str]:
    """Sizes and times, or shares, of a measured curve as lists."""
    whole = ", ".join(f"{size:.0f}" for size in sizes)
    return f"[{whole}]", f"[{', '.join(f'{one:.4g}' for one in values)}]"


def network(name: str, curves: Sequence[tuple[Curve, str]]) -> str:
    """networks/ID.toml: MPI of the host as measured curves, each with its source."""
    lines = [f"name = {words(name)}", 'kind = "host"']
    for curve, source in curves:
        sizes, times = points(curve.message_bytes, curve.seconds)
        lines += ["", "[[curves]]", f"devices = {curve.devices}", f"nodes = {curve.nodes}"]
        lines += [f"message_bytes = {sizes}", f"seconds = {times}", f"source = {words(source)}"]
    return "\n".join(lines) + "\n"


def fitted_network(name: str, values: Mapping[str, float], source: str) -> str:
    """networks/ID.toml: ranks of hosts with these values, by their names in keys.NETWORK, of one source."""
    lines = [f"name = {words(name)}", 'kind = "host"', f"source = {words(source)}"]
    tables: dict[str, list[str]] = {"": []}
    for key, number in values.items():
        table, _, last = key.rpartition(".")
        tables.setdefault(table, []).append(f"{last} = {quantity(number, keys.NETWORK[key].dimension)}")
    for table, entries in tables.items():
        lines += [*([f"[{table}]"] if table else []), *entries]
    return "\n".join(lines) + "\n"


def bitstreams(board_id: str, summary: str, entries: Sequence[tuple[Bitstream, str]]) -> str:
    """bitstreams/ID.toml: kernels that the runtime compiles, each with its source."""
    lines = [f'board = "{board_id}"', f"summary = {words(summary)}", *kernels(entries)]
    return "\n".join(lines) + "\n"


def kernels(entries: Sequence[tuple[Bitstream, str]]) -> list[str]:
    """Their tables, as lines."""
    lines: list[str] = []
    for entry, source in entries:
        table = ", ".join(f"{name} = {value(given)}" for name, given in entry.parameters.items())
        lines += ["", f"[bitstreams.{entry.name}]", f'benchmark = "{entry.benchmark}"']
        lines += [f'variant = "{entry.variant}"', f"source = {words(source)}", f"parameters = {{ {table} }}"]
        lines += [f"[bitstreams.{entry.name}.measured]"]
        for name, number in entry.measured.items():
            lines.append(f"{name} = {quantity(number, keys.BITSTREAM[keys.MEASURED + name].dimension)}")
        if entry.curves:
            lines.append(f"[bitstreams.{entry.name}.curves]")
        for name, times in entry.curves.items():
            sizes, seconds = points(times.bytes, times.seconds)
            lines.append(f"{name} = {{ bytes = {sizes}, seconds = {seconds} }}")
        if entry.error_bars:
            lines.append(f"[bitstreams.{entry.name}.error_bars]")
        for name, bars in entry.error_bars.items():
            sizes, shares = points(bars.bytes, bars.shares)
            lines.append(f"{name} = {{ bytes = {sizes}, shares = {shares} }}")
    return lines


def system(name: str, summary: str, devices: Sequence[Mapping]) -> str:
    """NAME.toml. `devices`: tables of one kind of device each, as `tomllib` reads them back."""
    lines = [f"name = {words(name)}", f"summary = {words(summary)}"]
    for entry in devices:
        lines += ["", "[[devices]]"]
        for key in ("board", "source", "per_node", "most"):
            lines.append(f"{key} = {value(entry[key])}")
        lines.append(f"bitstreams = [{', '.join(words(one) for one in entry.get('bitstreams', []))}]")
        if entry.get("networks"):
            lines += ["", "[devices.networks]"]
            lines += [f"{transport} = {words(one)}" for transport, one in entry["networks"].items()]
    return "\n".join(lines) + "\n"
