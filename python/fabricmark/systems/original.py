"""The system that another one is described by: its values by kind of file, with where each is from."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabricmark import systems
from fabricmark.base import keys
from fabricmark.base.errors import FabricmarkError
from fabricmark.models.machine import Bitstream
from fabricmark.systems import files
from fabricmark.systems.build import System
from fabricmark.systems.files import SourcedValue

Sourced = Mapping[str, SourcedValue]
BOARD, NETWORK, BITSTREAM, DEVICES = "board", "network", "bitstream", "devices"


@dataclass(frozen=True)
class Design:
    """A bitstream: its id FILE/NAME, what the models take, and its values."""

    id: str
    bitstream: Bitstream
    values: Sourced


@dataclass(frozen=True)
class Original:
    """`board`: values of the board, as its hosts make it. `devices`: how many a node and the system have.
    `networks`: values by id; `transports`: which network is for each. `designs`: by a name of their own."""

    name: str
    board_id: str
    device_class: str
    board: Sourced
    devices: Sourced
    transports: Mapping[str, str]
    networks: Mapping[str, Sourced]
    designs: Mapping[str, Design]


def of(name: str, board: str | None = None) -> Original:
    """A system or a board by its name. `board`: which kind of its devices, by default the first.

    Raises FabricmarkError (2), also for a path: what is described names its original.
    """
    known = [*files.listed("system"), *files.listed(BOARD)]
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {close[0]}?" if close else "use a name of `fabricmark systems list`"
        raise FabricmarkError(f"there is no system or board {name}", remedy)
    system = systems.load(name, board=board)
    values = _by_name(system.parts[""])
    networks = {one: _by_name(system.parts[one]) for one in system.network_ids.values()}
    return Original(
        name,
        system.board_id,
        system.board.device_class,
        {key: one for key, one in values.items() if key in keys.BOARD},
        {key: values[key] for key in ("per_node", "most") if key in values},
        system.network_ids,
        networks,
        _designs(system),
    )


def _by_name(sourced: Iterable[SourcedValue]) -> dict[str, SourcedValue]:
    """The first value of each key counts: that of the hosts before that of the board."""
    found: dict[str, SourcedValue] = {}
    for one in sourced:
        if one.name:
            found.setdefault(one.name, one)
    return found


def _designs(system: System) -> dict[str, Design]:
    """By their names; of several files' the later ones have that of the file behind it."""
    found: dict[str, Design] = {}
    for one, made in system.designs.items():
        file, _, name = one.partition("/")
        own = name if name not in found else f"{name}_{file}"
        found[own] = Design(one, made, _by_name(system.parts[one]))
    return found
