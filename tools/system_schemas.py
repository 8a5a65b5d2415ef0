"""Write the JSON Schemas of systems, as files and as exported, and the tables of docs/systems.md, from keys.

    .venv/bin/python tools/system_schemas.py

A test compares what is there with what this would write.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import doc_pages
from fabricmark import models
from fabricmark.base import keys, paths, quantities, transports
from fabricmark.base.grouping import grouped
from fabricmark.models import _collective_costs, _transfers
from fabricmark.predict import settings
from fabricmark.systems import PROFILES, build, export, files

WHAT = {
    "system": "a system: its devices, their networks by transport, and their bitstreams",
    "board": "a board: one device with its memory and its way to the host",
    "network": "a network: how devices exchange over one transport",
    "bitstreams": "bitstreams of one board: parameters, clock, resources and what only runs tell",
}
TITLES = {"devices": "[[devices]] of a system", "bitstream": "[bitstreams.NAME]"}
WORDS = {
    "class": keys.CLASSES,
    "kind": keys.KINDS,
    "transport": transports.NAMES,
    "memory.kind": keys.MEMORY_KINDS,
    "memory.placement": keys.PLACEMENTS,
}
MARK = "<!-- keys: written by tools/system_schemas.py -->"
TEXT = {"type": "string", "pattern": "\\S"}
PLAIN_VALUE = {"type": ["integer", "number", "string", "boolean"]}  # of a parameter
FROM_ONE = {"type": "integer", "minimum": 1}
ABOVE_0 = {"type": "number", "exclusiveMinimum": 0}
POINTS = {"type": "array", "minItems": 1, "maxItems": build.MOST_POINTS, "items": ABOVE_0}
NETWORKS = {
    "type": "object", "propertyNames": {"enum": list(transports.BETWEEN)}, "additionalProperties": TEXT,
}  # fmt: skip
DIRECTIONS = (_transfers.TO_DEVICE, _transfers.FROM_DEVICE)
CURVES = (
    "as measured: DIRECTION_METHOD_MEMORY_BUFFERS = times of a transfer by size; kernel, lu = times of a "
    "CPU's or GPU's kernel by the bytes that it works on"
)
ERROR_BARS = (
    "METRIC or METRIC_over_link = what 90 % of measured values stay within, as shares of a prediction, by "
    "the bytes of a message or copy: from short runs that had no part in a fit"
)
PLAIN = {
    keys.COUNT: {"type": "integer", "minimum": 0, "maximum": files.MOST_COUNT},
    keys.NUMBER: {"type": "number", "minimum": 0},
    keys.SHARE: {"type": "number", "minimum": 0, "maximum": 1},
}


def number(dimension: str) -> dict:
    """What may stand as value or fitted."""
    if dimension in keys.PLAIN:
        return PLAIN[dimension]
    return {"type": "string", "pattern": quantities.pattern(dimension)}


def definitions() -> dict:
    """A schema of a value for each dimension."""
    found = {}
    for dimension in (*keys.PLAIN, *quantities.UNITS):
        parts = {"value": number(dimension), "fitted": number(dimension), "source": TEXT, "inferred": TEXT}
        whole = {
            "type": "object",
            "properties": parts,
            "additionalProperties": False,
            "anyOf": [{"required": ["value"]}, {"required": ["fitted"]}],
            "dependentRequired": {"fitted": ["inferred"]},
        }
        described = "published value, fitted value, and from where; alone where the table has a source"
        found[dimension] = {"description": described, "anyOf": [number(dimension), whole]}
    return found


def table(kind: str, more: Mapping[str, dict]) -> dict:
    """The schema of one table: texts, values, values in groups, and what its kind has beside them."""
    properties: dict[str, dict] = {}
    required = []
    for name, (needed, meaning) in keys.TEXTS[kind].items():
        allowed = {"enum": list(WORDS[name])} if name in WORDS else TEXT
        if name in keys.PATTERNS:
            allowed = {"type": "string", "pattern": keys.PATTERNS[name]}
        place, single = _place(properties, name)
        place[single] = {"description": meaning, **allowed}
        required += [name] if needed else []
    properties |= more
    for name, key in keys.VALUES.get(kind, {}).items():
        place, single = _place(properties, name)
        place[single] = {"description": key.meaning, "$ref": f"#/$defs/{key.dimension}"}
    whole = {"type": "object", "properties": properties, "additionalProperties": False}
    if kind in ("system", "bitstreams"):
        required.append({"system": "devices", "bitstreams": "bitstreams"}[kind])
    inherits = "like" in keys.TEXTS[kind]
    return whole if inherits else {**whole, "required": [*required, *_needed(kind)]}


def _place(properties: dict[str, dict], name: str) -> tuple[dict, str]:
    """Where a key stands, GROUP.NAME in a table of the group, and its name there."""
    group, _, single = name.rpartition(".")
    if not group:
        return properties, single
    empty = {"type": "object", "properties": {"source": TEXT}, "additionalProperties": False}
    return properties.setdefault(group, empty)["properties"], single


def _needed(kind: str) -> list[str]:
    return [name for name, key in keys.VALUES.get(kind, {}).items() if key.required and "." not in name]


def extras(kind: str) -> dict[str, dict]:
    """Keys that are neither texts nor values."""
    if kind == "system":
        devices = table("devices", {"networks": NETWORKS, "bitstreams": {"type": "array", "items": TEXT}})
        some = {"type": "array", "minItems": 1, "items": devices}
        return {"devices": described("kinds of devices", some)}
    if kind == "bitstreams":
        more = {
            "parameters": described("as in kernel.toml", named(PLAIN_VALUE)),
            "curves": described(CURVES, named(closed({"bytes": POINTS, "seconds": POINTS}))),
            "error_bars": described(ERROR_BARS, named(closed({"bytes": POINTS, "shares": POINTS}))),
        }
        one = table("bitstream", more)
        return {"bitstreams": {"type": "object", "minProperties": 1, "additionalProperties": one}}
    if kind == "network":
        published = closed({name: TEXT for name in ("from", "system", "transport", "source")}, "transport")
        count = {**FROM_ONE, "maximum": 2**31 - 1}
        own = {"devices": count, "nodes": count, "message_bytes": POINTS, "seconds": POINTS, "source": TEXT}
        either = {"anyOf": [published, {"type": "array", "items": closed(own), "minItems": 1}]}
        meaning = "hosts' MPI: calibration rows of data/published, or measured by yourself"
        return {"curves": described(meaning, either)}
    size, rate = ({"$ref": f"#/$defs/{dimension}"} for dimension in ("bytes", "updates_per_second"))
    updates = {"type": "array", "items": closed({"table": size, "rate": rate, "source": TEXT}, "source")}
    return {"random_updates": described("rate by size of the table (CPU, GPU)", updates)}


def named(of: dict) -> dict:
    """The schema of a table with any keys, whose values are of a schema."""
    return {"type": "object", "additionalProperties": of}


def closed(properties: dict[str, dict], *optional: str) -> dict:
    """The schema of a table of these keys, all required but some."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def schema(kind: str) -> dict:
    """The whole JSON Schema of a kind of file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:fabricmark:{kind}-1",
        "title": f"{kind} file, version 1",
        "description": WHAT[kind],
        **table(kind, extras(kind)),
        "$defs": definitions(),
    }


def described(meaning: str, of: dict) -> dict:
    """A schema with what it means, as editors and the test of schemas want it."""
    return {"description": meaning, **of}


def exported_values(known: Mapping[str, keys.Key], **more: str) -> dict:
    """The schema of the values of a device, network or bitstream: numbers in the unit that the name says."""
    properties, optional = {}, []
    for name, key in known.items():
        symbol = export.exported(name, key)
        of = {"$ref": f"#/$defs/{key.dimension}"}
        properties[symbol] = described(more.get(symbol, key.meaning), of)
        optional += [] if key.required else [symbol]
    return described("what the models take of it", closed(properties, *optional))


def exported_definitions() -> dict:
    """A schema of an exported value for each dimension: ranges as in files, but times and sizes may be 0."""
    found = {}
    for dimension in (*keys.PLAIN, *quantities.RANGES):
        number = PLAIN.get(dimension)
        if number is None:
            least, most = quantities.RANGES[dimension]
            least = 0 if dimension in ("bytes", "seconds") else least  # where no file says them
            number = {"type": "number", "minimum": least, "maximum": most}
        kind = {"enum": list(export.KINDS)}
        meaning = "; ".join(f"{name}: {meaning}" for name, meaning in export.KINDS.items())
        parts = {"value": described("in the unit of the name", number), "kind": described(meaning, kind)}
        found[dimension] = closed(parts)
    return found


def exported_points(sizes: str, meaning: str) -> dict:
    """Times by size, as properties."""
    return {sizes: described(meaning, POINTS), "seconds": described("time of each size", POINTS)}


def exported_table(**more: dict) -> dict:
    """Times from each size on."""
    sizes = {"type": "array", "minItems": 1, "items": {"type": "number", "minimum": 0}}
    slopes = {"type": "array", "minItems": 1, "items": {"type": "number"}}
    return closed(
        {
            **more,
            "bytes": described("sizes, ascending from 0: from each one on", sizes),
            "seconds": described("time of that size", sizes),
            "seconds_per_byte": described(
                "of each byte above it; below 0 where longer ones take less", slopes
            ),
        }
    )


def exported_copies() -> dict:
    kinds = {
        "array": described("of a whole array that was copied before", exported_table()),
        "message": described("of a message", exported_table()),
        "message_beside_others": described("while other devices of the node copy, too", exported_table()),
    }
    return closed({one: described("one way", closed(kinds)) for one in DIRECTIONS}, *DIRECTIONS)


def exported_devices() -> dict:
    updates = {
        "table_bytes": described("size of the table", ABOVE_0),
        "updates_per_second": described("of the whole device", ABOVE_0),
    }
    return {
        "id": described("id of the board", TEXT),
        "name": described("as people call it", TEXT),
        "class": described("kind of device", {"enum": list(keys.CLASSES)}),
        "values": exported_values(export.DEVICE_VALUES, memory_bytes="of all banks"),
        "random_updates": described("rate by size", {"type": "array", "items": closed(updates)}),
        "copies": described("between host and device, where a file says the rate", exported_copies()),
        "memory": described("of an FPGA's board: where its buffers may lie", exported_memory()),
    }


def exported_memory() -> dict:
    """Banks and what they hold stand among the values."""
    texts = keys.TEXTS["board"]
    first = {"type": "integer", "minimum": 0}
    parts = {
        "kind": described(texts["memory.kind"][1], {"enum": list(keys.MEMORY_KINDS)}),
        "placement": described(texts["memory.placement"][1], {"enum": list(keys.PLACEMENTS)}),
        "index_offset": described(keys.BOARD["memory.index_offset"].meaning, first),
    }
    return closed(parts, *parts)


def exported_networks() -> dict:
    curve = {
        "devices": described("of the run", FROM_ONE),
        "nodes": described("of the run", FROM_ONE),
        **exported_points("message_bytes", "sizes of the messages"),
    }
    topology = {"type": "string", "pattern": keys.TOPOLOGY}
    return {
        "id": described("id of the network", TEXT),
        "name": described("as people call it", TEXT),
        "kind": described("circuits, an engine on the board, or MPI", {"enum": list(keys.KINDS)}),
        "topology": described("how cables connect the devices, where a file says it", topology),
        "values": exported_values(export.NETWORK_VALUES),
        "curves": described("the hosts' MPI as measured", {"type": "array", "items": closed(curve)}),
    }


def exported_bitstreams() -> dict:
    times = closed(exported_points("bytes", "sizes of the transfers"))
    resources = {name: described(key.meaning, PLAIN[keys.COUNT]) for name, key in keys.RESOURCES.items()}
    return {
        "id": described("FILE/NAME", TEXT),
        "device": described("id of the board that it is for", TEXT),
        "benchmark": described("for example stream", TEXT),
        "variant": described("of kernel.toml", TEXT),
        "transport": described("none where it exchanges nothing", {"enum": list(transports.NAMES)}),
        "ranks": described("of the runs that measured it, where that matters", {"type": "integer"}),
        "parameters": described("as in kernel.toml", named(PLAIN_VALUE)),
        "values": exported_values(export.BITSTREAM_VALUES),
        "curves": described(CURVES, named(times)),
        "tools": described(keys.TEXTS["bitstream"]["tools"][1], TEXT),
        "shell": described(keys.TEXTS["bitstream"]["shell"][1], TEXT),
        "resources": described("that the design takes of the chip", closed(resources, *resources)),
    }


def exported_schema() -> dict:
    """The JSON Schema of what `fabricmark systems export` writes."""
    tables = {"type": "array", "items": exported_table(devices=described("of the run", FROM_ONE))}
    topology = {
        "device": described("id of the board", TEXT),
        "devices_per_node": described("in one node", FROM_ONE),
        "most_devices": described("of the whole system", FROM_ONE),
        "networks": described("ids by transport", NETWORKS),
        "messages": described(
            "between two hosts by transport, each table from so many devices on",
            {**NETWORKS, "additionalProperties": tables},
        ),
    }
    parts = {
        "schema": described("format and version", {"const": export.FORMAT}),
        "name": described("NAME of the system", TEXT),
        "summary": described("what it is, in one sentence", TEXT),
        "profile": described("which values count", {"enum": list(PROFILES)}),
    }
    bitstreams = closed(exported_bitstreams(), "ranks", "tools", "shell", "resources")
    kinds = "kinds of devices; the first counts where nobody chooses"
    for name, meaning, one, least in (
        ("devices", kinds, closed(exported_devices(), "memory"), {"minItems": 1}),
        ("networks", "how devices exchange", closed(exported_networks(), "topology"), {}),
        (
            "topology",
            "of each kind of device: how many, and their networks",
            closed(topology),
            {"minItems": 1},
        ),
        ("bitstreams", "of all devices", bitstreams, {}),
    ):
        parts[name] = described(meaning, {"type": "array", **least, "items": one})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:fabricmark:{export.SCHEMA}",
        "title": "exported system, version 1",
        "description": "a system in SI units, as programs and other tools read it: fabricmark systems export",
        **closed(parts),
        "$defs": exported_definitions(),
    }


def key_tables() -> str:
    """All keys as tables in Markdown."""
    parts = []
    for kind in ("system", "devices", "board", "network", "bitstreams", "bitstream"):
        of_models = kind in settings.PLACES
        columns = ["key", "written as", "meaning"]
        columns += ["where no file says it", "read by"] if of_models else []
        rows = [f"### {TITLES.get(kind, kind)}", "", row(columns), "|---" * len(columns) + "|"]
        empty = ["", ""] if of_models else []
        for name, (needed, meaning) in keys.TEXTS[kind].items():
            rows.append(row([f"`{name}`", f"text{', required' if needed else ''}", meaning, *empty]))
        for name, key in keys.VALUES.get(kind, {}).items():
            example = quantities.EXAMPLES.get(key.dimension)
            form = f'"{example}"' if example else key.dimension
            cells = [f"`{name}`", f"{form}{', required' if key.required else ''}", key.meaning]
            rows.append(row([*cells, *(of_a_model(f"{kind}.{name}") if of_models else [])]))
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def row(cells: Sequence[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def of_a_model(name: str) -> list[str]:
    """What a value counts as where no file says it, and the models that read it."""
    if name.startswith(f"bitstream.{keys.MEASURED}"):
        return ["it is not used", "processors"]
    of_board = name.replace("bitstream.memory.", "board.memory.") if name not in reading_by_name() else name
    readers = reading_by_name().get(of_board, [])
    if not readers:
        return ["", ""]
    said = {**settings.SILENT, **settings.STATED}.get(name, "needed")
    kinds = settings.OF_KIND.get(name)
    return [f"{said} (networks of packets)" if kinds else said, ", ".join(readers)]


@cache
def reading_by_name() -> Mapping[str, list[str]]:
    """Models, and collective operations, by the values that they declare."""
    declared = {name: models.inputs(models.find(name)) for name in models.names()}
    declared["collectives"] = _collective_costs.INPUTS
    return grouped((name, model) for model, names in sorted(declared.items()) for name in names)


def written() -> dict[Path, str]:
    """Every file that this writes, with its content."""
    folder, docs = paths.root() / "python" / "fabricmark" / "schemas", paths.root() / "docs" / "systems.md"
    schemas = {**{f"{kind}-1": schema(kind) for kind in WHAT}, export.SCHEMA: exported_schema()}
    found = {
        folder / f"{name}.schema.json": json.dumps(content, indent=2) + "\n"
        for name, content in schemas.items()
    }
    return {**found, docs: doc_pages.between(docs.read_text(), MARK, key_tables())}


if __name__ == "__main__":
    for path, content in written().items():
        paths.write_atomically(path, content)
        print(path)
