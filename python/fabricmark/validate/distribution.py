"""How the errors are spread: overall, by columns of the rows, and beside the bars that they must keep."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fabricmark.base import grouping, transports
from fabricmark.models import _published
from fabricmark.validate.outcomes import Outcome

GROUPS = ("benchmark", "system", "transport", "board", "devices", "metric")
HIGH = 90  # percentile


@dataclass(frozen=True)
class Spread:
    """Relative errors of some rows: 0.05 is 5 %."""

    rows: int
    median: float
    p90: float
    largest: float


@dataclass(frozen=True)
class Bar:
    """What the errors of some rows must not exceed; `name` says of which."""

    name: str
    median: float
    p90: float
    is_of: Callable[[Outcome], bool]


def _over_host(benchmark: str, outcome: Outcome) -> bool:
    own = outcome.row.transport
    is_over_host = own != transports.NONE and not transports.between_streams(own)
    return outcome.row.benchmark == benchmark and is_over_host


def _of_others(outcome: Outcome) -> bool:
    return not any(bar.is_of(outcome) for bar in OVER_HOST)


OVER_HOST = tuple(
    Bar(f"{name} over the host", own[0], own[1], partial(_over_host, name))
    for name in _published.names()
    if (own := _published.of(name).host_bar)
)
OTHERS = Bar(f"all but {', '.join(bar.name for bar in OVER_HOST)}", 0.05, 0.15, _of_others)
BARS = (OTHERS, *OVER_HOST)


def spread(found: Iterable[Outcome]) -> Spread | None:
    """Median, 90th percentile and largest of the errors; None for no rows."""
    errors = [outcome.error for outcome in found]
    if not errors:
        return None
    median, high = np.percentile(errors, (50, HIGH))
    return Spread(len(errors), float(median), float(high), max(errors))


def grouped(found: Sequence[Outcome], columns: Sequence[str]) -> dict[tuple, Spread]:
    """The spread of each group of rows that have the same in these columns, in the order of the rows."""
    groups = grouping.grouped((tuple(getattr(one.row, column) for column in columns), one) for one in found)
    return {key: spread(members) for key, members in sorted(groups.items())}


def against_bars(found: Sequence[Outcome]) -> list[tuple[Bar, Spread, bool]]:
    """Each bar that has rows, their spread, and whether they keep it."""
    kept = []
    for bar in BARS:
        errors = spread(outcome for outcome in found if bar.is_of(outcome))
        if errors is not None:
            kept.append((bar, errors, errors.median <= bar.median and errors.p90 <= bar.p90))
    return kept


def unpredicted(found: Sequence[Outcome]) -> list[str]:
    """What cannot be predicted, a line for each reason and kind of rows."""
    missing = [(one.row, one) for one in found if one.predicted is None]
    groups = grouping.grouped(
        ((row.benchmark, row.system, row.transport, one.reason), one.line) for row, one in missing
    )
    return [
        f"{benchmark} on {system}, transport {transport}: {reason} (line{_lines(lines)})"
        for (benchmark, system, transport, reason), lines in groups.items()
    ]


def _lines(lines: Sequence[int]) -> str:
    """ "s 3, 5 to 9" for lines 3, 5, 6, 7, 8, 9."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and parts[-1][-1] == line - 1:
            parts[-1].append(line)
        else:
            parts.append([line])
    words = [str(part[0]) if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts]
    return ("s " if len(lines) > 1 else " ") + ", ".join(words)
