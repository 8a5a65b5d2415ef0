"""Whether a problem fits into the memory of a device: by the formulas of kernel.toml, as programs have it.

`fabricmark-describe` says what a rank allocates and, of a board, whether its banks have room.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabricmark import models
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board

SIZES = ("batch", "size", "log_size")  # the first of these that a benchmark has is its default size
HALVINGS = 60


@dataclass(frozen=True)
class Needed:
    """Bytes that a rank keeps in its device's memory.

    `refusal`: of the program, where banks have no room. `parameters`: that all this follows from.
    """

    bytes: float
    refusal: Mapping = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()

    def fits(self, board: Board) -> bool:
        """Whether a device of this board, whose memory is known, can hold it."""
        return self.bytes <= (board.memory_bytes or 0) and not self.refusal


def request(benchmark: str, run: Mapping, board: Board, devices: int) -> dict:
    """What fabricmark-describe is asked; `run`: all parameters, as the model takes them."""
    known = kernels.kernel(benchmark)
    settings = {name: run[name] for name in known.parameters if name in run and name != "transport"}
    variant = run.get("variant", "")
    banks = max(int(board["memory.banks"]), 1)
    memory = {"kind": board.memory_kind, "placement": board.memory_placement,
              "bank_bytes": int((board.memory_bytes or 0) / banks)}  # fmt: skip
    given = getattr(models.find(benchmark), "given", None)
    return kernels.wanted(
        benchmark, board.device_class, settings, board.get("processor.cores"), banks=banks, ranks=devices,
        memory=memory, variant=variant if variant in known.variants else "",
        numbers=given(run, devices) if given else None,
    )  # fmt: skip


def needed(benchmark: str, run: Mapping, board: Board, devices: int) -> Needed | None:
    """None where nothing says it, or how much the device has. Raises FabricmarkError (2, or 3)."""
    (found,) = _all_needed(benchmark, [run], board, devices)
    return found


def ask_of(runs: Sequence[tuple[str, Mapping, Board, int]]) -> None:
    """Asks of all runs in one start of the program, so that each is known when it is its turn."""
    kernels.answers([request(*one) for one in runs if one[2].memory_bytes is not None])


def check(benchmark: str, run: Mapping, board: Board, devices: int) -> None:
    """Raises FabricmarkError (2) for what does not fit."""
    found = needed(benchmark, run, board, devices)
    if found is None or found.fits(board):
        return
    about = f"{benchmark} on {devices} devices"
    if found.refusal:
        kernels.refused({"error": found.refusal}, about)
    have, wants = (f"{amount / 2**30:.3g} GiB" for amount in (board.memory_bytes or 0, found.bytes))
    raise FabricmarkError(f"{about} needs {wants} of a device's {have}", "set a smaller size")


def shrunk(benchmark: str, run: dict, given: Mapping, board: Board, devices: int) -> dict:
    """The parameters with a default size, not one that is given, halved until a device can hold it."""
    chosen = [name for name in SIZES if name in run]
    if not chosen or set(chosen) & set(given):
        return run
    name = chosen[0]
    first = needed(benchmark, run, board, devices)
    if first is None or first.fits(board):
        return run
    smaller = []
    for halving in range(1, HALVINGS):
        size = run[name] - halving if name == "log_size" else run[name] >> halving
        if size < 1:
            break
        smaller.append({**run, name: size})
    for one, found in zip(smaller, _all_needed(benchmark, smaller, board, devices), strict=True):
        if found is not None and found.fits(board):
            return one
    return run


def _all_needed(benchmark: str, runs: Sequence[Mapping], board: Board, devices: int) -> list[Needed | None]:
    """Of each run; one start of the program for all."""
    if board.memory_bytes is None:
        return [None] * len(runs)
    answers = kernels.ask([request(benchmark, run, board, devices) for run in runs])
    return [_needed_of(answer.get("memory")) for answer in answers]


def _needed_of(said: Mapping | None) -> Needed | None:
    if said is None:
        return None
    return Needed(said["bytes"], said.get("refusal", {}), frozenset(said["parameters"]))
