"""Values of a board, a network or a bitstream, by the names of the system files (base/keys.py)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

from fabricmark.base import keys
from fabricmark.models._missing import MissingValue

Known = Mapping[str, Any]
USUAL = {place: {name: key.usual for name, key in known.items()} for place, known in keys.OF_MODELS.items()}
BOARD, CLOCK = "board", "clock"


class UndeclaredInput(Exception):
    """A model looks up a value that its INPUTS do not name: a mistake in the model."""


@dataclass(frozen=True)
class Values:
    """Numbers, or arrays of NumPy, in SI units.

    `place`: board, network or bitstream. `known`: what is said. `synthesised`: of a board, the values that
    its bitstream says in its place; None without a bitstream. `seen`: gets the full name of each value that
    is looked up. `declared`: names of those that may be; None: all.
    """

    place: str
    known: Known = field(default_factory=dict)
    synthesised: frozenset[str] | None = None
    seen: set[str] | None = field(default=None, compare=False, repr=False)
    declared: frozenset[str] | None = field(default=None, compare=False, repr=False)

    def settable(self, name: str) -> list[str]:
        """The full names that change what is looked up with this one."""
        if self.place != BOARD:
            return [full_name(self.place, name)]
        found = [] if name == CLOCK or name in (self.synthesised or ()) else [full_name(BOARD, name)]
        if self.synthesised is not None and name in keys.SYNTHESISED:
            found.append(full_name("bitstream", name))
        return found


def full_name(place: str, name: str) -> str:
    """With its place: board.memory.banks. A board's clock is that of its bitstream."""
    return f"{'bitstream' if (place, name) == (BOARD, CLOCK) else place}.{name}"


@dataclass(frozen=True, kw_only=True)
class HasValues:
    """What has values: board["memory.banks"], of which MissingValue says that nothing says it, and
    board.get("memory.clock"), which may be None."""

    values: Values

    def __getitem__(self, name: str) -> Any:
        value = self.get(name)
        if value is None:
            raise MissingValue(full_name(self.values.place, name))
        return value

    def get(self, name: str) -> Any:
        """A value, or what counts where nothing says it; None without any. Raises UndeclaredInput."""
        values = self.values
        if values.declared is not None and name not in values.declared:
            raise UndeclaredInput(f"the INPUTS of the model have no {full_name(values.place, name)}")
        if values.seen is not None:
            values.seen.update(values.settable(name))
        value = values.known.get(name)
        return USUAL[values.place][name] if value is None else value

    def having(self, changes: Known) -> Self:
        """The same with other values; None takes one away. Raises KeyError for a name that is none."""
        for name in changes.keys() - USUAL[self.values.place].keys():
            raise KeyError(f"{self.values.place}.{name}")
        known = {**self.values.known, **changes}
        said = {name: value for name, value in known.items() if value is not None}
        return self._with("known", said)

    def watched(self, seen: set[str]) -> Self:
        """The same, which notes in `seen` what is looked up."""
        return self._with("seen", seen)

    def only(self, declared: frozenset[str]) -> Self:
        """The same, of which no other values may be looked up than those of these full names."""
        return self._with("declared", _of_place(declared, self.values.place))

    def _with(self, name: str, value: object) -> Self:
        """Another field of the values; models are called so often that `replace` takes too long."""
        values, made = object.__new__(Values), object.__new__(type(self))
        vars(values).update(vars(self.values))
        vars(values)[name] = value
        vars(made).update(vars(self))
        vars(made)["values"] = values
        return made


@cache
def _of_place(full_names: frozenset[str], place: str) -> frozenset[str]:
    """How an object of this place names its values among these."""
    return frozenset(name for name in USUAL[place] if full_name(place, name) in full_names)
