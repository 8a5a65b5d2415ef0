"""Figures that texts print, beside their predictions, as a table by program and metric."""

from collections.abc import Sequence

import numpy as np

from fabricmark.base import terminal
from fabricmark.base.terminal import Column, percent
from fabricmark.validate.texts import Compared


def show(compared: Sequence[Compared], title: str) -> None:
    """One row for each metric of a program: bounds kept, how far off values are, and which of them by no
    more than their tolerance.
    """
    groups: dict[tuple[str, str], list[Compared]] = {}
    for one in compared:
        groups.setdefault((one.text.program, one.text.metric), []).append(one)
    rows = [[*key, *_cells(found)] for key, found in sorted(groups.items())]
    if not rows:
        return
    out = terminal.console()
    terminal.title(out, [title])
    columns = [Column("program", key=True), Column("metric", key=True)]
    columns += terminal.numbers(
        "rows", "no model", "bounds kept", "median", "largest", "largest difference", "tolerated"
    )
    terminal.show(out, columns, rows)


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
