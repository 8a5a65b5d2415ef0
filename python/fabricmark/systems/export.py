"""A system as one JSON document in SI units: what programs read with --system, and other tools.

Its numbers are those that the models take; the schema is schemas/exported-system-1.schema.json, which
tools/system_schemas.py makes from the same keys.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fabricmark import results, systems
from fabricmark.base import keys
from fabricmark.base.keys import Key
from fabricmark.base.schema import check
from fabricmark.models import Board, _network
from fabricmark.models.machine import Bitstream, Network
from fabricmark.systems import local_machine, size_tables
from fabricmark.systems.build import System
from fabricmark.systems.files import SourcedValue

SCHEMA = "exported-system-1"
FORMAT = "fabricmark-exported-system/1"
# What a value is: as a source says, of this machine, ours, or what stands for nothing said.
PUBLISHED, MEASURED, FITTED, DEFAULT = "published", "measured", "fitted", "default"
KINDS = {
    PUBLISHED: "as its source says",
    MEASURED: "by `fabricmark systems new`",
    FITTED: "fitted to measured rows, or inferred",
    DEFAULT: "no file says it",
}
CAPACITY = "memory.bank_capacity"  # of which all banks together are exported
DEVICE_VALUES = {name: key for name, key in keys.BOARD.items() if key.symbol or name == CAPACITY}
NETWORK_VALUES = keys.NETWORK
BITSTREAM_VALUES = {name: key for name, key in keys.BITSTREAM.items() if key.symbol}


def document(name_or_path: str | Path, profile: str = "fitted", board: str | None = None) -> dict:
    """The exported system, of one kind of devices where a board is named.

    Raises FabricmarkError (2) as `systems.load` does.
    """
    if board is None:
        kinds = systems.kinds(name_or_path, profile)
    else:
        kinds = [systems.load(name_or_path, profile, board)]
    return of_kinds(kinds, profile)


def of_kinds(kinds: Sequence[System], profile: str) -> dict:
    """The same of a system as each of its kinds of devices has it, also with other values than its files."""
    first = kinds[0]
    networks = {
        name: _described_network(name, one.networks[transport], one.parts[name], profile)
        for one in kinds
        for transport, name in one.network_ids.items()
    }
    return {
        "schema": FORMAT,
        "name": first.name,
        "summary": first.summary,
        "profile": profile,
        "devices": [_device(one, profile) for one in kinds],
        "networks": list(networks.values()),
        "topology": [_topology(one) for one in kinds],
        "bitstreams": [entry for one in kinds for entry in _bitstreams(one, profile)],
    }


def load(path: Path) -> dict:
    """An exported system from its file. Raises FabricmarkError (2) naming file and key."""
    remedy = "give what `fabricmark systems export NAME --output FILE` writes"
    found = results.read_json(path, remedy)
    check(SCHEMA, found, path, remedy)
    return found


def text(name_or_path: str | Path, profile: str = "fitted") -> str:
    """The file's content. Raises FabricmarkError (2) as `systems.load` does."""
    return written(document(name_or_path, profile))


def written(exported_system: dict) -> str:
    """An exported system as a file has it."""
    return json.dumps(exported_system, indent=1, allow_nan=False) + "\n"


def exported(name: str, key: Key) -> str:
    """How a key of the files is called here: with its unit, as the formulas of kernel.toml name it."""
    return "memory_bytes" if name == CAPACITY else key.symbol


def _device(system: System, profile: str) -> dict:
    kinds = _kinds(system.parts[""], DEVICE_VALUES, profile, local_machine.is_measured(system.board_id))
    return {
        "id": system.board_id,
        "name": system.board.name,
        "class": system.board.device_class,
        "values": _values(system.board, DEVICE_VALUES, kinds),
        "random_updates": [
            {"table_bytes": size, "updates_per_second": rate}
            for size, rate in system.board.updates_per_second
        ],
        "copies": size_tables.copies(system.board),
        **_memory(system, profile),
    }


def _memory(system: System, profile: str) -> dict:
    """Where buffers may lie, of boards whose files say it."""
    board = system.board
    found: dict = {"kind": board.memory_kind, "placement": board.memory_placement}
    found = {name: text for name, text in found.items() if text}
    first = _numbers(system.parts[""], "memory.", profile).get("index_offset")
    found |= {} if first is None else {"index_offset": first}
    return {"memory": found} if found else {}


def _numbers(sourced: tuple[SourcedValue, ...], prefix: str, profile: str) -> dict[str, float]:
    """Values that no model takes, by the rest of their names."""
    known = {one.name.removeprefix(prefix): one.of(profile) for one in sourced if one.name.startswith(prefix)}
    return {name: number for name, number in known.items() if number is not None}


def _described_network(name: str, network: Network, sourced: tuple[SourcedValue, ...], profile: str) -> dict:
    kinds = _kinds(sourced, NETWORK_VALUES, profile, local_machine.is_measured(name))
    return {
        "id": name,
        "name": network.name,
        "kind": network.kind,
        **({"topology": network.topology} if network.topology else {}),
        "values": _values(network, NETWORK_VALUES, kinds) | _link_rate(network, kinds),
        "curves": [
            {
                "devices": curve.devices,
                "nodes": curve.nodes,
                "message_bytes": list(curve.message_bytes),
                "seconds": list(curve.seconds),
            }
            for curve in network.curves
        ],
    }


def _link_rate(network: Network, kinds: Mapping[str, str]) -> dict[str, dict]:
    """Of links to which kernels write directly: width x clock, whatever a file says of the cable."""
    if _network.words(network) == (None, None):
        return {}
    rate, clock = (NETWORK_VALUES[name].symbol for name in ("links.bandwidth", "links.clock"))
    kind = kinds.get(rate, kinds.get(clock, DEFAULT))
    return {rate: {"value": float(_network.link_bytes_per_second(network)), "kind": kind}}


def _topology(system: System) -> dict:
    return {
        "device": system.board_id,
        "devices_per_node": system.devices_per_node,
        "most_devices": system.most_devices,
        "networks": dict(system.network_ids),
        "messages": size_tables.messages(system),
    }


def _bitstreams(system: System, profile: str) -> Iterator[dict]:
    measured = local_machine.is_measured(system.board_id)
    for name, one in system.designs.items():
        kinds = _kinds(system.parts[name], BITSTREAM_VALUES, profile, measured)
        parameters = dict(one.parameters)
        resources = _numbers(system.parts[name], "resources.", profile)
        resources = {key: count for key, count in resources.items() if key in keys.RESOURCES}
        ranks = parameters.pop("ranks", None)  # of the run that measured it: no parameter of the kernel
        yield {
            "id": name,
            "device": system.board_id,
            "benchmark": one.benchmark,
            "variant": one.variant,
            "transport": one.transport,
            **({"ranks": ranks} if ranks is not None else {}),
            "parameters": parameters,
            "values": _values(one, BITSTREAM_VALUES, kinds),
            "curves": {
                kind: {"bytes": list(times.bytes), "seconds": list(times.seconds)}
                for kind, times in one.curves.items()
            },
            **{name: text for name, text in (("tools", one.tools), ("shell", one.shell)) if text},
            **({"resources": resources} if resources else {}),
        }


def _kinds(
    sourced: tuple[SourcedValue, ...], known: Mapping[str, Key], profile: str, is_measured: bool
) -> dict[str, str]:
    """What each value is, by its name here. Of several values of one key the first counts."""
    found: dict[str, str] = {}
    for one in sourced:
        if one.name in known and one.of(profile) is not None:
            is_fitted = profile != PUBLISHED and one.fitted is not None
            kind = FITTED if is_fitted else MEASURED if is_measured else PUBLISHED
            found.setdefault(exported(one.name, known[one.name]), kind)
    return found


def _values(
    made: Board | Network | Bitstream, known: Mapping[str, Key], kinds: Mapping[str, str]
) -> dict[str, dict]:
    """The numbers that the models read from one of their objects, each with its kind."""
    numbers: dict[str, object] = {}
    for name, key in known.items():
        number = made.values.known.get(name) if isinstance(made, Bitstream) else made.get(name)
        if name == CAPACITY and isinstance(made, Board):
            number = made.memory_bytes
        if number is not None:
            numbers[exported(name, key)] = number
    return {name: {"value": number, "kind": kinds.get(name, DEFAULT)} for name, number in numbers.items()}
