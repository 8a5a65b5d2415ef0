"""Figures that texts print, beside their predictions, as a table by program and metric."""

from collections.abc import Sequence

import numpy as np

from fabricmark.base import terminal
from fabricmark.base.errors import printable
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import Column, percent
from fabricmark.validate.texts import Compared, Text


def show(compared: Sequence[Compared], title: str) -> None:
    """One row for each metric of a program: bounds kept, how far off values are, and which of them by no
    more than their tolerance.
    """
    groups = grouped(((one.text.program, one.text.metric), one) for one in compared)
    rows = [[*key, *_cells(found)] for key, found in sorted(groups.items())]
    if not rows:
        return
    columns = [Column("program", key=True), Column("metric", key=True)]
    columns += terminal.numbers(
        "rows", "no model", "bounds kept", "median", "largest", "largest difference", "tolerated"
    )
    terminal.table([title], columns, rows)


def _cells(found: Sequence[Compared]) -> list[str]:
    predicted = [one for one in found if one.predicted is not None]
    bounds = [one for one in predicted if one.is_bound]
    values = [one for one in predicted if not one.is_bound]
    errors = [one.error for one in values if one.error is not None]
    kept = f"{sum(one.is_kept for one in bounds)} of {len(bounds)}" if bounds else terminal.NOTHING
    median = percent(float(np.median(errors)), digits=1) if errors else terminal.NOTHING
    differences = [abs(one.predicted - one.text.value) for one in values if one.predicted is not None]
    judged = [one.is_within for one in values if one.is_within is not None]
    return [
        str(len(found)), str(len(found) - len(predicted)), kept, median,
        percent(max(errors, default=None), digits=1),
        f"{max(differences):.4g} {values[0].text.unit}" if differences else terminal.NOTHING,
        f"{sum(judged)} of {len(judged)}" if judged else terminal.NOTHING,
    ]  # fmt: skip


def show_each(compared: Sequence[Compared], every: Sequence[Text]) -> None:
    """A line for each figure that is predicted, and for each reason why the others are not."""
    predicted = {one.text.id for one in compared if one.predicted is not None}
    for one in compared:
        if one.predicted is not None:
            row = one.text
            said = f"predicted {one.predicted:.4g}, printed {row.relation} {row.value:g} {row.unit}"
            off = "" if one.error is None else f", off by {percent(one.error, digits=1)}"
            print(printable(f"{row.id}, {row.program} {row.metric}: {said}{off}"))
    others = [figure for figure in every if figure.id not in predicted]
    for reason, ids in grouped((one.reason or "nothing says why", one.id) for one in others).items():
        print(printable(f"no prediction, {reason}: {', '.join(ids)}"))
