"""What a model ends with where it is not told what it needs."""

from typing import Any


class MissingValue(Exception):
    """A model needs a value that nothing says.

    `name`: a parameter's, that of a field of board, network or bitstream, or one of a system file's
    (board.host.write_bandwidth).
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"nothing says {name}")
        self.name = name


class Needed(dict[str, Any]):
    """A mapping of which a model needs what it looks up: MissingValue names what is not there."""

    def __missing__(self, key: str) -> Any:
        raise MissingValue(key)
