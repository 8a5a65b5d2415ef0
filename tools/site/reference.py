"""Pages of the documentation's site that are made from what the programs themselves read: options from
kernel.toml and transport.toml, keys of systems and file formats from the JSON Schemas.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMAS = REPOSITORY / "python" / "fabricmark" / "schemas"
OF_SYSTEMS = ("system-1", "board-1", "network-1", "bitstreams-1")
STAGES = {"build": "of the build", "run": "of a run"}
OPTION_ROWS = ("| option | values | default | meaning |", "| --- | --- | --- | --- |")
KEY_ROWS = ("| key | written as | meaning |", "| --- | --- | --- |")


def cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def code(value: object) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def described(folder: Path) -> dict:
    """A kernel.toml, with what another one that it is like has besides."""
    own = tomllib.loads((folder / "kernel.toml").read_text(encoding="utf-8"))
    if "like" not in own:
        return own
    other = described(folder.parents[len(folder.relative_to(REPOSITORY / "kernels").parts) - 1] / own["like"])
    names = [*other["parameters"], *own.get("parameters", {})]
    merged = {
        name: {**other["parameters"].get(name, {}), **own["parameters"].get(name, {})} for name in names
    }
    return {**other, **own, "parameters": merged}


def allowed(parameter: Mapping) -> str:
    values, limits = parameter.get("values"), parameter.get("range")
    if isinstance(values, list):
        said = ", ".join(map(code, values))
    elif values is not None:
        said = f"those of [{values}](transports.md)" if values == "transports" else code(values)
    elif limits is not None:
        said = f"{limits[0]} to {limits[1]}"
    else:
        said = parameter["type"]
    return f"{said} {parameter['unit']}" if "unit" in parameter else said


def default(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {code(one)}" for name, one in value.items())
    return code(value) if value != "" else "none"


def option_rows(parameters: Mapping[str, Mapping]) -> Iterator[str]:
    yield from OPTION_ROWS
    for name, one in parameters.items():
        option = f"`--{name.replace('_', '-')}`"
        cells = (option, allowed(one), default(one["default"]), one["meaning"])
        yield f"| {' | '.join(map(cell, cells))} |"


def options() -> str:
    """Of all benchmarks."""
    lines = [
        "# Options of benchmarks", "",
        "Each parameter of a benchmark's `kernel.toml` is an option of its program and of"
        " `fabricmark run NAME --`. Options of the build make another kernel, which is cached.", "",
    ]  # fmt: skip
    for file in sorted((REPOSITORY / "kernels").glob("*/kernel.toml")):
        known = described(file.parent)
        variants = ", ".join(code(name) for name in known["variants"])
        lines += [f"## {file.parent.name}", "", f"{known['summary']}. Kernels (`--variant`): {variants}.", ""]
        for stage, words in STAGES.items():
            own = {name: one for name, one in known["parameters"].items() if one["stage"] == stage}
            if own:
                lines += [f"Options {words}:", "", *option_rows(own), ""]
    return "\n".join(lines)


def transports() -> str:
    """What there is, with the options of each."""
    lines = ["# Transports and their options", "", "`--transport NAME` of benchmarks that send messages."]
    for file in sorted((REPOSITORY / "src").glob("*/*/transport.toml"), key=lambda file: file.parent.name):
        known = tomllib.loads(file.read_text(encoding="utf-8"))
        names = known.get("names", [file.parent.name])
        lines += ["", f"## {', '.join(names)}", "", f"{known['summary']}. Between {known['between']}.", ""]
        lines += option_rows(known["parameters"]) if known.get("parameters") else []
    return "\n".join([*lines, ""])


def kind(known: Mapping) -> str:
    """What may be written for a key."""
    if "enum" in known:
        return ", ".join(map(code, known["enum"]))
    if "$ref" in known:
        return known["$ref"].rpartition("/")[2].replace("_", " ")
    found = known.get("type", "")
    return " or ".join(found) if isinstance(found, list) else found


def key_rows(known: Mapping, before: str = "") -> Iterator[str]:
    """Keys of a schema's object and of the tables in it, by their names with dots."""
    for name, one in known.get("properties", {}).items():
        if "properties" in one:
            yield from key_rows(one, f"{before}{name}.")
        else:
            meaning = one.get("description", "")
            yield f"| `{before}{cell(name)}` | {cell(kind(one))} | {cell(meaning)} |"
    inner = known.get("additionalProperties")
    if isinstance(inner, Mapping) and "properties" in inner:
        yield from key_rows(inner, f"{before}NAME.")


def tables(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        known = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
        rows = list(key_rows(known))
        yield from (f"## {name}", "", f"{known.get('description', known.get('title', name))}.", "")
        yield from (*KEY_ROWS, *rows, "") if rows else ()


def keys() -> str:
    """Of systems, boards, networks and bitstreams."""
    about = "How they are used: [systems](../systems.md). A value may be a table with its `source`."
    return "\n".join(["# Keys of systems", "", about, "", *tables(OF_SYSTEMS)])


def schemas() -> str:
    """Of all other files."""
    names = sorted(file.name.removesuffix(".schema.json") for file in SCHEMAS.glob("*.schema.json"))
    about = "JSON Schemas of what is read and written, in `python/fabricmark/schemas/`."
    others = tuple(name for name in names if name not in OF_SYSTEMS)
    return "\n".join(["# File formats", "", about, "", *tables(others)])


PAGES = {
    "reference/options.md": options,
    "reference/transports.md": transports,
    "reference/keys.md": keys,
    "reference/schemas.md": schemas,
}
