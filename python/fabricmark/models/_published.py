"""What rows of data/published mean to the model of a benchmark: data of runs, and no part of the model.

A module models/<benchmark>/published.py holds them as `PUBLISHED`; a benchmark without one has no such rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from math import isqrt
from pathlib import Path

from fabricmark.models import _credit_link_figures, _micro_figures

MODULE = "published"


@dataclass(frozen=True)
class Fitted:
    """A number that is fitted: the value of keys in systems/*.toml, in SI units.

    `kind`: board, network or bitstream. `owners`: the network's transport, or the names of the bitstreams
    that share it. `names`: the keys; several get one value where the rows tell only their sum. `start`: where
    the fit starts, None: as its dimension says.
    """

    kind: str
    owners: tuple[str, ...]
    names: tuple[str, ...]
    start: float | None = None


@dataclass(frozen=True)
class FitGroup:
    """Values of a board, its networks and bitstreams, fitted together to the board's rows with `columns`.

    A tuple in `columns`: one of these values.
    """

    name: str
    board: str
    values: tuple[Fitted, ...]
    columns: Mapping[str, object]


@dataclass(frozen=True)
class PrintedMetric:
    """What a metric of Meyer's tables means: name and axes of a prediction; printed is `factor` times it."""

    name: str
    axes: Mapping[str, object] = field(default_factory=dict)
    factor: float = 1.0


def by_operation(name: str, operations: Mapping[str, str]) -> dict[str, PrintedMetric]:
    """The printed metrics of a name by operation: {printed: operation}."""
    return {one: PrintedMetric(name, {"operation": operation}) for one, operation in operations.items()}


@dataclass(frozen=True)
class Published:
    """`metrics`: name and operation of the prediction that a metric of the rows means (None: of any).

    `size(row, parameters)`: how large the problem is, as the model calls it; where the row does not say, as
    the runs of Meyer 2024 (sections 4.2.2 to 4.2.4). `parameters`: of the row's bitstream. `groups`: what is
    fitted to the rows, after all groups of a lower `stage`, which have a part in these. `tables`: metrics of
    Meyer's tables that the fit sees, and what rows call them. `headline`: the metric of the rows that is the
    model's headline metric, or the time that makes it. `host_bar`: what errors over the host must keep
    (median, 90th percentile); None: that of all others. `group_by`: columns that tell runs apart beside
    system, transport and devices (validate/groups.py). `printed`: what the metrics of Meyer's tables mean;
    `printed_size(one, parameters)`: how large the problem of a printed value is (validate/scored.py).
    `per_watt`: the printed metrics of which the best counts per watt. `figure(one, known)`: what the model
    says of a figure that a text prints, in its unit, None where it says nothing (validate/texts.py).
    """

    metrics: Mapping[str, tuple[str, str | None]]
    size: Callable[..., dict[str, object]]
    groups: tuple[FitGroup, ...] = ()
    stage: int = 2
    tables: Mapping[str, str] = field(default_factory=dict)
    headline: str = ""
    host_bar: tuple[float, float] | None = None
    group_by: tuple[str, ...] = ()
    printed: Mapping[str, PrintedMetric] = field(default_factory=dict)
    per_watt: tuple[str, ...] = ()
    figure: Callable[..., float | None] | None = None
    printed_size: Callable[..., dict[str, object]] = lambda one, parameters: {}


def group(name: str, board: str, *values: Fitted, **columns: object) -> FitGroup:
    return FitGroup(name, board, values, columns)


def of_board(*names: str, start: float | None = None) -> Fitted:
    return Fitted("board", (), names, start)


def of_network(transport: str, name: str, start: float | None = None) -> Fitted:
    return Fitted("network", (transport,), (name,), start)


def of_bitstreams(bitstreams: Sequence[str], *names: str) -> tuple[Fitted, ...]:
    return tuple(Fitted("bitstream", tuple(bitstreams), (name,)) for name in names)


def largest_message(row) -> int:
    """Power of two that the sizes of messages go up to: 20, or more where a row is of a longer message."""
    return max(20, ((row.message_bytes or 1) - 1).bit_length())


def root(devices: int) -> float:
    """Of the number of devices: the width of their grid, a whole number where they are a square."""
    width = isqrt(devices)
    return width if width * width == devices else devices**0.5


def names() -> tuple[str, ...]:
    """Benchmarks that have published rows."""
    return tuple(sorted(file.parent.name for file in Path(__file__).parent.glob(f"*/{MODULE}.py")))


@cache
def of(benchmark: str) -> Published | None:
    """What rows of a benchmark mean; None where there are none."""
    if benchmark not in names():
        return None
    return import_module(f"fabricmark.models.{benchmark}.{MODULE}").PUBLISHED


def figure_of(program: str) -> Callable[..., float | None] | None:
    """What says of a figure of a program what it is to a model; None where nothing does. Programs that are no
    benchmark have laws of their own.
    """
    if program in _credit_link_figures.PROGRAMS:
        return _credit_link_figures.figure
    if _micro_figures.is_one(program):
        return _micro_figures.figure
    own = of(program)
    return None if own is None else own.figure
