"""`fabricmark validate --data` of the other files of data/published: figures of texts, and printed tables."""

from pathlib import Path

import numpy as np

from fabricmark.base import terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import Column, percent
from fabricmark.results import figures, published
from fabricmark.validate import distribution, outcomes, scored, texts, texts_view

TEXTS, TABLES = "figures of texts", "printed tables"
KINDS = {TEXTS: figures.COLUMNS, TABLES: published.PRINTED_COLUMNS}


def kind_of(path: Path) -> str | None:
    """Which of them a file is, by its columns; None for any other, and for what cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            head = tuple(file.readline(4096).strip().split(","))
    except (OSError, ValueError):
        return None
    return next((kind for kind, columns in KINDS.items() if head == tuple(columns)), None)


def validate(path: Path, kind: str, profile: str, fitted: bool, csv_file: Path | None) -> None:
    """Predict what is a test, and print how far off it is. Raises FabricmarkError (2)."""
    if fitted or csv_file is not None:
        option = "--fit" if fitted else "--csv"
        raise FabricmarkError(f"{option} is for rows of runs, and {path} has {kind}", f"leave out {option}")
    if kind == TEXTS:
        _texts(texts.load_file(path), profile)
    else:
        _tables(scored.score(outcomes.loaded(profile), published.printed(path)))


def _texts(every: list[texts.Text], profile: str) -> None:
    compared = texts.compare(every, texts.Known(profile))
    texts_view.show(compared, "Figures of texts that are tests")
    if any(one.is_micro for one in every):
        texts_view.show_each(compared, every)
    bounds = [one for one in compared if one.is_bound and one.predicted is not None]
    values = [one for one in compared if not one.is_bound and one.predicted is not None]
    missed = [one.text.id for one in bounds if not one.is_kept]
    others = [sum(one.role == role for one in every) for role in ("input", "context")]
    print("not scored: {} inputs of models, {} context; the column note says of what".format(*others))
    print(
        f"{len(every)} figures, {len(compared)} of them tests: {len(bounds)} bounds, missed: "
        f"{', '.join(missed) or 'none'}; {len(values)} values, "
        f"{texts.verdict(compared)}; no model says what {len(compared) - len(bounds) - len(values)} mean"
    )


def _tables(found: list[scored.Scored]) -> None:
    groups: dict[tuple[str, str], list[float]] = {}
    for one in scored.tests(found):
        groups.setdefault((one.printed.table, one.printed.benchmark), []).append(one.error)
    columns = [Column("table", key=True), Column("benchmark", key=True)]
    columns += terminal.numbers("rows", "median", "p90", "largest")
    rows = []
    for key, errors in sorted(groups.items()):
        shares = (*np.percentile(errors, (50, distribution.HIGH)), max(errors))
        rows.append([*key, str(len(errors)), *(percent(share, digits=1) for share in shares)])
    terminal.table(["Relative error of the values that are tests"], columns, rows)
    errors = [error for some in groups.values() for error in some]
    if not errors:
        raise FabricmarkError("no value of the file is a test", "see meyer_2024_roles.csv for what is")
    median, high = np.percentile(errors, (50, distribution.HIGH))
    both = f"median {percent(median, digits=1)} p90 {percent(high, digits=1)}"
    print(f"{len(errors)} values that are tests: {both}")
