"""Cross-validation: rows are left out, the others are fitted, and what was left out is predicted.

Left out are the rows of one device count (1, 2, 4 and 16 in the given file), every second matrix size, and a
whole system: a parameter that only such rows determine shows itself here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from fabricmark.results.published import PublishedValue
from fabricmark.validate import fit
from fabricmark.validate.outcomes import Load, Outcome, Predictor
from fabricmark.validate.parameters import GROUPS


@dataclass(frozen=True)
class Split:
    """`leaves_out`: whether a row has no part in the fit. `of_system`: whether it leaves out a whole one."""

    name: str
    leaves_out: Callable[[PublishedValue], bool]
    of_system: bool = False


def of_systems(rows: Sequence[PublishedValue]) -> list[Split]:
    """One for each system of the test rows: what is predicted of a machine that nobody measured."""
    names = sorted({row.system for row in rows if row.role == "test"})
    return [Split(f"without {name}", partial(_is_of_system, name), True) for name in names]


def _is_of_system(name: str, row: PublishedValue) -> bool:
    return row.system == name


def splits(rows: Sequence[PublishedValue]) -> list[Split]:
    """One for each device count of the test rows, and every second matrix size of each benchmark."""
    tests = [row for row in rows if row.role == "test"]
    found = [
        Split(f"without {count} device{'s' if count > 1 else ''}", _of_devices(count))
        for count in sorted({row.devices for row in tests})
    ]
    widths: dict[str, set[int]] = {}
    for row in tests:
        if row.matrix_width_printed is not None:
            widths.setdefault(row.benchmark, set()).add(row.matrix_width_printed)
    left = {name: set(sorted(all_widths)[::2]) for name, all_widths in widths.items() if len(all_widths) > 1}
    found.append(
        Split(
            "without every second matrix size",
            lambda row: row.matrix_width_printed in left.get(row.benchmark, ()),
        )
    )
    return found


def _of_devices(count: int) -> Callable[[PublishedValue], bool]:
    return lambda row: row.devices == count


def left_out(split: Split, rows: Sequence[PublishedValue], load: Load) -> list[Outcome]:
    """The rows that a split leaves out, predicted with what the others are fitted to.

    The hosts' MPI curves of all runs stay: they are inputs.
    """
    kept = [row for row in rows if row.role != "test" or not split.leaves_out(row)]
    values = fit.fit(kept, load)
    predictor = Predictor(fit.with_values(load, values), rows)
    return [predictor.outcome(0, row) for row in rows if row.role == "test" and split.leaves_out(row)]


def is_new(split: Split, row: PublishedValue, rows: Sequence[PublishedValue]) -> bool:
    """Whether a split leaves fewer rows than the values that a row's prediction is fitted with: a bitstream
    that is new to the fit, with guesses or values of others in place of its own."""
    own = [group for group in GROUPS if group.takes(row)]
    kept = [one for one in rows if one.role == "test" and not split.leaves_out(one)]
    return any(len(fit.rows_of(group, kept)) < len(group.parameters) for group in own)
