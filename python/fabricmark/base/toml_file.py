"""Reading TOML that a person wrote: size limits, a schema, and one clear line for what does not fit."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import check

LARGEST_INTEGER = 2**63  # of TOML; Python's reader takes larger ones


def load(path: Path, schema: str, remedy: str = "restore the file") -> dict:
    """Read a TOML file and check it against schemas/<schema>.schema.json.

    `remedy` is for a file that cannot be read at all. Raises FabricmarkError (2) naming file, key or line.
    """
    try:
        document = tomllib.loads(paths.content(path).decode("utf-8"))
        if not _integers_fit(document):  # first: a message of the schema could not even print them
            raise FabricmarkError(f"{path}: an integer has more than 64 bits", "use a smaller number")
        check(schema, document, path, f"see the schema {schema} in schemas/")
        return document
    except OSError as error:
        raise FabricmarkError(f"{path}: cannot be read: {error.strerror}", remedy) from error
    except RecursionError as error:  # brackets in brackets, or one key of a thousand dotted parts
        raise FabricmarkError(f"{path}: nested too deeply", remedy) from error
    except ValueError as error:  # not UTF-8, not TOML, or an integer of thousands of digits
        raise FabricmarkError(f"{path}: not valid TOML: {error}", "correct that place") from error


def leaves(node: object, key: str = "") -> Iterator[tuple[str, object]]:
    """(key, value) of all that is neither a table nor a list, as `runs[0].size`."""
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from leaves(child, f"{key}.{name}" if key else name)
    elif isinstance(node, list):
        for position, child in enumerate(node):
            yield from leaves(child, f"{key}[{position}]")
    else:
        yield key, node


def _integers_fit(node: object) -> bool:
    if isinstance(node, dict | list):
        return all(_integers_fit(child) for child in (node.values() if isinstance(node, dict) else node))
    return not isinstance(node, int) or -LARGEST_INTEGER <= node < LARGEST_INTEGER
