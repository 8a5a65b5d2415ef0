"""Which values are fitted, and to which rows; their values are in systems/*.toml.

What is fitted to the rows of a benchmark says models/<benchmark>/published.py.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricmark.base import keys
from fabricmark.models import _published
from fabricmark.results.published import PublishedValue

# Where a fit starts and what it may come to, in SI units: guesses, wide apart, that no row had a part in.
RANGES = {
    "seconds": (1e-5, 1e-9, 1.0),
    "bytes_per_second": (1e10, 1e5, 1e13),
    keys.SHARE: (0.7, 0.02, 1.0),
    keys.NUMBER: (1.1, 1.0, 10.0),
    "bytes": (64.0, 1.0, 65536.0),
}


@dataclass(frozen=True)
class Parameter:
    """A value that is fitted, in SI units.

    `kind`: board, network or bitstream; `board`: id of the board that it is of or that uses it; `owners`: the
    network's transport or the names of the bitstreams that share it. `names`: its keys in systems/*.toml;
    several get one value where the rows tell only their sum. `start`: where the fit starts, None: as its
    dimension says.
    """

    kind: str
    board: str
    owners: tuple[str, ...]
    names: tuple[str, ...]
    start_at: float | None = None

    @cached_property
    def key(self) -> keys.Key:
        return keys.VALUES[self.kind][self.names[0]]

    def having(self, described, value: float):
        """A board, network or bitstream with another value."""
        return described.having(dict.fromkeys(self.names, value))

    @property
    def start(self) -> float:
        return RANGES[self.key.dimension][0] if self.start_at is None else self.start_at

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most that it may be."""
        return RANGES[self.key.dimension][1:]

    def __str__(self) -> str:
        return f"{self.owner or self.board}: {' = '.join(self.names)}"

    @property
    def owner(self) -> str:
        """The owners in words; empty for a board."""
        return ", ".join(self.owners)


@dataclass(frozen=True)
class Group:
    """Parameters that are fitted together, to the rows that `takes` says."""

    name: str
    parameters: tuple[Parameter, ...]
    takes: Callable[[PublishedValue], bool]


def rows(wanted: Mapping[str, object]) -> Callable[[PublishedValue], bool]:
    """Rows that have these values in their columns; of a tuple, one of them."""

    def fits(have: object, value: object) -> bool:
        return have in value if isinstance(value, tuple) else have == value

    return lambda row: all(fits(getattr(row, column), value) for column, value in wanted.items())


def groups() -> Iterator[Group]:
    """Those of all benchmarks in the order of the fit: what later ones are made of comes first."""
    for name in sorted(_published.names(), key=lambda name: _published.of(name).stage):
        for one in _published.of(name).groups:
            values = tuple(Parameter(to.kind, one.board, to.owners, to.names, to.start) for to in one.values)
            wanted = {"benchmark": name, "board": one.board, **one.columns}
            yield Group(one.name, values, rows(wanted))


GROUPS = tuple(groups())
