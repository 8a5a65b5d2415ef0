"""Which figures are fitted, and to which rows; their values are in systems/*.toml."""

from collections.abc import Callable
from dataclasses import dataclass

from fabricmark.published import Figure


@dataclass(frozen=True)
class Parameter:
    """A figure that is fitted, in SI units.

    `kind`: board, network or bitstream; `owner`: the network's transport or the bitstream's name; `board`: id
    of the board that is meant or that uses them. `fields`: what the models call it; several get one value
    where the rows tell only their sum. `start`: a guess that no fit had a part in, `least`, `most`: its ends.
    """

    key: str
    kind: str
    board: str
    owner: str
    fields: tuple[str, ...]
    start: float
    least: float
    most: float
    unit: str
    meaning: str


@dataclass(frozen=True)
class Group:
    """Parameters that are fitted together, to the rows that `takes` says."""

    name: str
    parameters: tuple[Parameter, ...]
    takes: Callable[[Figure], bool]
