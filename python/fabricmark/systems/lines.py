"""On which line a key of a TOML text stands: the reader of Python's library does not tell.

For texts that this reader has taken: what is not TOML is no concern here.
"""

import re
import tomllib

TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|\r?\n|[ \t]+'
    r"|[\[\]{}=,.]|[^\s\[\]{}=,.\"'#]+|.",
    re.DOTALL,
)
Path = tuple[str | int, ...]


class _Tokens:
    """The tokens of a text, each with its line."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, int]] = []
        self.place = 0
        line = 1
        for found in TOKEN.finditer(text):
            token = found.group()
            if not token.startswith("#") and token.strip(" \t"):
                self.tokens.append(("\n" if token.endswith("\n") and not token.strip() else token, line))
            line += token.count("\n")

    def peek(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def line(self) -> int:
        return self.tokens[min(self.place, len(self.tokens) - 1)][1] if self.tokens else 1

    def take(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def skip_lines(self) -> None:
        while self.peek() == "\n":
            self.place += 1


def of_keys(text: str) -> dict[Path, int]:
    """Lines (from 1) of all keys and items of arrays, by their path, for example ("memory", "banks")."""
    tokens, lines, table = _Tokens(text), {}, ()
    arrays: dict[Path, int] = {}
    while tokens.skip_lines() or tokens.peek():
        if tokens.peek() == "[":
            table = _header(tokens, lines, arrays)
        else:
            _pair(tokens, lines, table)
        while tokens.peek() not in ("\n", ""):
            tokens.take()
    return lines


def _header(tokens: _Tokens, lines: dict[Path, int], arrays: dict[Path, int]) -> Path:
    """The table that a header opens; the last item of each array of tables on the way."""
    line = tokens.line()
    depth = 0
    while tokens.peek() == "[":
        tokens.take()
        depth += 1
    path: Path = ()
    keys = _key(tokens)
    for position, key in enumerate(keys):
        path += (key,)
        lines.setdefault(path, line)
        if depth > 1 and position == len(keys) - 1:
            arrays[path] = arrays.get(path, -1) + 1
        if path in arrays:
            path += (arrays[path],)
            lines.setdefault(path, line)
    return path


def _pair(tokens: _Tokens, lines: dict[Path, int], table: Path) -> None:
    line = tokens.line()
    path = table
    for key in _key(tokens):
        path += (key,)
        lines.setdefault(path, line)
    if tokens.peek() == "=":
        tokens.take()
        _value(tokens, lines, path)


def _key(tokens: _Tokens) -> list[str]:
    """The parts of a dotted key. A bare key may look like a number with a point in it, which is no matter."""
    keys = []
    while tokens.peek() not in ("=", "]", "\n", "}", ",", ""):
        token = tokens.take()
        if token != ".":
            keys.append(tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token)
    return keys


def _value(tokens: _Tokens, lines: dict[Path, int], path: Path) -> None:
    opening = tokens.peek()
    if opening not in ("[", "{"):
        while tokens.peek() not in (",", "]", "}", "\n", ""):
            tokens.take()
        return
    tokens.take()
    closing, item = ("]", 0) if opening == "[" else ("}", 0)
    while tokens.skip_lines() or tokens.peek() not in (closing, ""):
        if tokens.peek() == ",":
            tokens.take()
            item += 1
        elif opening == "{":
            _pair(tokens, lines, path)
        else:
            lines.setdefault((*path, item), tokens.line())
            before = tokens.place
            _value(tokens, lines, (*path, item))
            if tokens.place == before:
                tokens.take()
    tokens.take()
