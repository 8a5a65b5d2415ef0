"""A published value as a run: which system, bitstream, network and parameters predict it.

Columns that a row leaves empty take what the system's bitstream has, or what the runs of Meyer 2024 had
(`USUAL`). What the row names but no bitstream has, for example another block size, is put in place of the
nearest bitstream's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isqrt, log2

from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Network
from fabricmark.results.published import PublishedValue
from fabricmark.systems import System

# Sizes of the runs where a row has none (Meyer 2024, sections 4.2.2 to 4.2.4): of one device, but for
# random_access, whose 8 GiB table all devices share.
USUAL = {
    "stream_bytes": 2**32,
    "random_access_bytes": 2**33,
    "fft_batch": 4096,
    "gemm_width": 23040,
    "hpl_width": 24576,
    "ptrans_width": 32768,
}
WORD_BYTES = 8
ELEMENT_BYTES = {"half": 2, "float": 4, "double": 8}
# More than any system has, and less than what a model would work on for minutes.
MOST_DEVICES = {"hpl": 2**12, "ptrans": 2**12}
MOST_DEVICES_OF_OTHERS = 2**20
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

    None where the benchmark needs none (b_eff over the host) or the system has none.
    """
    if row.benchmark == "b_eff" and transport_of(row) in ("cpu", "host"):
        return None  # host code alone; the column replications is what the program printed
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
    return (
        "host" if row.transport == "none" and row.benchmark in ("hpl", "ptrans", "b_eff") else row.transport
    )


def _fewer(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All names, then ever fewer: what decides most (the block) goes last."""
    ordered = [name for name in COLUMNS.values() if name in names]
    return [tuple(ordered[:count]) for count in range(len(ordered), -1, -1)]


def check(row: PublishedValue) -> None:
    """Raises NotPredicted for what no model is for: an unknown type of numbers, sizes beyond all systems."""
    if row.dtype and row.dtype not in ELEMENT_BYTES:
        raise NotPredicted(f"the dtype {row.dtype} is unknown")
    most = MOST_DEVICES.get(row.benchmark, MOST_DEVICES_OF_OTHERS)
    if max(row.devices, row.nodes) > most:
        raise NotPredicted(f"more than {most} devices")
    if (row.matrix_width_printed or 0) > MOST_WIDTH:
        raise NotPredicted(f"a matrix wider than {MOST_WIDTH}")


def run_of(row: PublishedValue, system: System) -> Run:
    """The run of a row on its system. Raises NotPredicted."""
    check(row)
    bitstream = bitstream_of(system, row)
    needs_one = row.benchmark != "b_eff" and system.board.device_class == "fpga"
    if bitstream is None and needs_one:
        raise NotPredicted(f"{system.name} has no bitstream of {row.benchmark} for {system.board_id}")
    transport = transport_of(row)
    network = system.networks.get(transport)
    if network is None and transport != "none":
        raise NotPredicted(f"{system.name} has no network for the transport {transport}")
    of_bitstream = dict(bitstream.parameters) if bitstream is not None else {}
    of_bitstream.setdefault("data_type", row.dtype or "float")
    of_bitstream.setdefault("variant", "base" if bitstream is None else bitstream.variant)
    parameters = {**of_bitstream, "transport": transport, **_size(row, of_bitstream)}
    board = replace(system.board_with(bitstream, row.devices), hosts=row.nodes)
    return Run(row.benchmark, parameters, board, row.devices, network, bitstream)


def _size(row: PublishedValue, parameters: Mapping) -> dict[str, object]:
    """How large the problem is, as the model of the benchmark calls it."""
    sizes: Mapping[str, Callable[[], dict[str, object]]] = {
        "stream": lambda: {"size": USUAL["stream_bytes"] // ELEMENT_BYTES[parameters["data_type"]]},
        "random_access": lambda: {
            "scope": "global",
            "log_size": log2(USUAL["random_access_bytes"] / WORD_BYTES / row.devices),
        },
        "fft": lambda: {"scope": "batched", "batch": USUAL["fft_batch"]},
        "gemm": lambda: {"size": row.matrix_width_printed or USUAL["gemm_width"]},
        "hpl": lambda: {"size": matrix_width(row)},
        "ptrans": lambda: {"size": matrix_width(row)},
        "b_eff": lambda: {"largest": largest_message(row)},
    }
    return sizes[row.benchmark]()


def largest_message(row: PublishedValue) -> int:
    """Power of two that the sizes of b_eff go up to: 20, or more where a row is of a longer message."""
    return max(20, ((row.message_bytes or 1) - 1).bit_length())


def matrix_width(row: PublishedValue) -> int:
    """n of the whole matrix, in any number of devices (`PublishedValue.matrix_width` wants a square).

    HPL prints that of one device, PTRANS the root of the devices times the whole.
    """
    root = isqrt(row.devices) if isqrt(row.devices) ** 2 == row.devices else row.devices**0.5
    if row.benchmark == "hpl":
        return round((row.matrix_width_printed or USUAL["hpl_width"]) * root)
    if row.matrix_width_printed is None:
        return round(USUAL["ptrans_width"] * root)
    return round(row.matrix_width_printed / root)
