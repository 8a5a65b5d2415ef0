"""A published value as a run: which system, bitstream, network and parameters predict it.

Columns that a row leaves empty take what the system's bitstream has, or what the runs of Meyer 2024 had. What
the row names but no bitstream has, for example another block size, is put in place of the nearest
bitstream's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabricmark import models
from fabricmark.base import transports
from fabricmark.models import Board, Prediction, _published
from fabricmark.models.machine import Bitstream, Network
from fabricmark.results.published import PublishedValue
from fabricmark.systems import System

DATA_TYPES = ("half", "float", "double")
# More than any system has, and less than what a model would work on for minutes.
MOST_DEVICES = 2**20
MOST_ON_A_GRID = 2**12
MOST_WIDTH = 2**26
# Columns of a row, and what kernel.toml calls them.
COLUMNS = {"block": "block_size", "dtype": "data_type", "replications": "replications"}


class NotPredicted(Exception):
    """Why a row has no prediction, in words."""


@dataclass(frozen=True)
class Run:
    """What `models.<benchmark>.predict` takes for a row."""

    benchmark: str
    parameters: Mapping[str, object]
    board: Board
    devices: int
    network: Network | None
    bitstream: Bitstream | None


def published_of(row: PublishedValue) -> _published.Published:
    """What the rows of its benchmark mean. Raises NotPredicted."""
    found = _published.of(row.benchmark)
    if found is None:
        raise NotPredicted(f"nothing says what a row of {row.benchmark} means")
    return found


def kind_of_device(row_board: str, known: tuple[str, ...]) -> str | None:
    """Which of a system's boards a row means: the same id, or one that only says more or less than the row.

    None where the system has but one kind, whatever the row calls it. Raises NotPredicted.
    """
    if row_board in known or len(known) < 2:
        return row_board if row_board in known else None
    alike = [board for board in known if board.startswith(row_board) or row_board.startswith(board)]
    if not alike:
        raise NotPredicted(f"the system has no board {row_board}, but {', '.join(known)}")
    return alike[0]


def bitstream_of(system: System, row: PublishedValue) -> Bitstream | None:
    """The bitstream of a row: with all that the row names, else the one that has most of it.

    None where the benchmark needs none over the host, or the system has none.
    """
    if models.traits(row.benchmark).is_host_code and transport_of(row) in transports.THROUGH_HOSTS:
        return None  # the column replications is what the program printed
    named = {name: value for column, name in COLUMNS.items() if (value := getattr(row, column))}
    chosen = [{name: value for name, value in named.items() if name in some} for some in _fewer(tuple(named))]
    for wanted in chosen:
        found = system.bitstream(row.benchmark, transport_of(row), **wanted)
        if found is not None:
            changed = {name: value for name, value in named.items() if name in found.parameters}
            return replace(found, parameters={**found.parameters, **changed})
    return None


def transport_of(row: PublishedValue) -> str:
    """That of the row; one device alone, of which a row says none, still has the kernels for the host."""
    alone = row.transport == transports.NONE and models.traits(row.benchmark).exchanges
    return transports.HOST if alone else row.transport


def _fewer(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All names, then ever fewer: what decides most (the block) goes last."""
    ordered = [name for name in COLUMNS.values() if name in names]
    return [tuple(ordered[:count]) for count in range(len(ordered), -1, -1)]


def check(row: PublishedValue) -> None:
    """Raises NotPredicted for what no model is for: an unknown type of numbers, sizes beyond all systems."""
    if row.dtype and row.dtype not in DATA_TYPES:
        raise NotPredicted(f"the dtype {row.dtype} is unknown")
    most = MOST_ON_A_GRID if models.traits(row.benchmark).on_grid else MOST_DEVICES
    if max(row.devices, row.nodes) > most:
        raise NotPredicted(f"more than {most} devices")
    if (row.matrix_width_printed or 0) > MOST_WIDTH:
        raise NotPredicted(f"a matrix wider than {MOST_WIDTH}")


def run_of(row: PublishedValue, system: System) -> Run:
    """The run of a row on its system. Raises NotPredicted."""
    check(row)
    bitstream = bitstream_of(system, row)
    needs_one = not models.traits(row.benchmark).is_host_code and system.board.device_class == "fpga"
    if bitstream is None and needs_one:
        raise NotPredicted(f"{system.name} has no bitstream of {row.benchmark} for {system.board_id}")
    transport = transport_of(row)
    network = system.networks.get(transport)
    if network is None and transport != transports.NONE:
        raise NotPredicted(f"{system.name} has no network for the transport {transport}")
    of_bitstream = dict(bitstream.parameters) if bitstream is not None else {}
    of_bitstream.setdefault("data_type", row.dtype or "float")
    of_bitstream.setdefault("variant", "base" if bitstream is None else bitstream.variant)
    parameters = {**of_bitstream, "transport": transport, **published_of(row).size(row, of_bitstream)}
    board = replace(system.board_with(bitstream, row.devices), hosts=row.nodes)
    return Run(row.benchmark, parameters, board, row.devices, network, bitstream)


def predictions(run: Run) -> list[Prediction]:
    """What its model says of a run. Raises NotPredicted where there is none, and as `models.predict`."""
    model = models.find(run.benchmark)
    if model is None:
        raise NotPredicted(f"there is no model of {run.benchmark}")
    return models.predict(
        model, run.parameters, run.board, run.devices, network=run.network, bitstream=run.bitstream
    )
