"""Cross-validation by groups: each group is left out once, the others are fitted, and it is predicted.

A group is what one run measured: the rows of a benchmark on a system, over one transport, on as many
devices; of HPL also of one matrix size. So no row is predicted by a model that saw its neighbours of the
same run.
"""

from collections.abc import Sequence

from fabricmark.base import grouping
from fabricmark.models import _published
from fabricmark.results.published import PublishedValue
from fabricmark.validate import fit
from fabricmark.validate.outcomes import Load, Outcome, Predictor
from fabricmark.validate.parameters import GROUPS

COLUMNS = ("benchmark", "system", "transport", "devices")
Key = tuple


def key_of(row: PublishedValue) -> Key:
    """The group of a row."""
    own = _published.of(row.benchmark)
    more = own.group_by if own is not None else ()
    return tuple(getattr(row, column) for column in (*COLUMNS, *more))


def grouped(rows: Sequence[PublishedValue]) -> dict[Key, list[PublishedValue]]:
    """The rows with the role test by their group."""
    return grouping.grouped((key_of(row), row) for row in rows if row.role == "test")


def left_out(key: Key, rows: Sequence[PublishedValue], load: Load) -> list[Outcome]:
    """The rows of a group, predicted with what all others are fitted to.

    Only what the group's own rows are fitted to is fitted again; the rest never saw them. Parameters that no
    other row determines take the values of their like, as for a bitstream that nobody measured.
    """
    own = [row for row in rows if row.role == "test" and key_of(row) == key]
    kept = [row for row in rows if row.role != "test" or key_of(row) != key]
    touched = [group for group in GROUPS if any(group.takes(row) for row in own)]
    known = {}
    for group in GROUPS:
        if group not in touched:
            known |= {
                one: value for one, value in fit.current(group, rows, load).items() if value is not None
            }
    values = fit.fit(kept, load, touched, known)
    predictor = Predictor(fit.with_values(load, values), rows)
    return [predictor.outcome(0, row) for row in own]
