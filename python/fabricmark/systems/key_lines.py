"""On which line a key of a TOML text stands: the reader of Python's library does not tell."""

import tomllib
from collections.abc import Iterator

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

Path = tuple[str | int, ...]
LANGUAGE = Language(tree_sitter_toml.language())


def of_keys(text: str) -> dict[Path, int]:
    """Lines (from 1) of all keys and items of arrays, by their path, for example ("memory", "banks").

    For texts that `tomllib` has taken: what is not TOML is no concern here.
    """
    found: dict[Path, int] = {}
    last: dict[Path, int] = {}  # the number of the last item of each array of tables
    for node in Parser(LANGUAGE).parse(text.encode("utf-8")).root_node.named_children:
        if node.type == "pair":
            _pair(node, (), found)
        elif node.type in ("table", "table_array_element"):
            table = _header(node, found, last)
            for pair in _of_type(node, "pair"):
                _pair(pair, table, found)
    return found


def _header(node: Node, found: dict[Path, int], last: dict[Path, int]) -> Path:
    """The table that a header opens, in the last item of each array of tables on the way."""
    path: Path = ()
    keys = _keys(node.named_children[0])
    for position, key in enumerate(keys):
        path += (key,)
        found.setdefault(path, _line(node))
        if node.type == "table_array_element" and position == len(keys) - 1:
            last[path] = last.get(path, -1) + 1
        if path in last:
            path += (last[path],)
            found.setdefault(path, _line(node))
    return path


def _pair(node: Node, table: Path, found: dict[Path, int]) -> None:
    keys, value = [child for child in node.named_children if child.type != "comment"]
    path = table
    for key in _keys(keys):
        path += (key,)
        found.setdefault(path, _line(node))
    _value(value, path, found)


def _value(node: Node, path: Path, found: dict[Path, int]) -> None:
    for pair in _of_type(node, "pair"):  # of an inline table
        _pair(pair, path, found)
    if node.type == "array":
        items = [child for child in node.named_children if child.type != "comment"]
        for position, item in enumerate(items):
            found.setdefault((*path, position), _line(item))
            _value(item, (*path, position), found)


def _keys(node: Node) -> list[str]:
    """The parts of a key, which may be dotted and quoted."""
    if node.type == "dotted_key":
        return [key for child in node.named_children for key in _keys(child)]
    text = node.text.decode("utf-8")
    return [tomllib.loads(f"key = {text}")["key"] if node.type == "quoted_key" else text]


def _of_type(node: Node, kind: str) -> Iterator[Node]:
    return (child for child in node.named_children if child.type == kind)


def _line(node: Node) -> int:
    return node.start_point.row + 1
