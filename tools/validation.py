"""Draws docs/validation.svg, predicted against measured, and writes the tables of docs/validation.md and the
residuals of data/validation. Run it again when models, systems or rows change:

.venv/bin/python tools/validation.py
"""

from __future__ import annotations

from functools import lru_cache

import doc_pages
import numpy as np
from doc_pages import DOCS, table
from fabricmark import validate
from fabricmark.base import paths
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import percent
from fabricmark.report.pictures import MARKERS
from fabricmark.report.plots import GREY, PALETTE
from fabricmark.validate import (
    fit_view,
    intervals,
    likeness,
    residuals,
    rival,
    scored,
    splits,
    tables,
    texts,
    unmeasured,
)
from fabricmark.validate.distribution import OVER_HOST
from fabricmark.validate.metrics import FACTORS

PICTURE, PAGE = DOCS / "validation.svg", DOCS / "validation.md"
TITLE = "Predicted against measured, all published rows"
BAND = 0.15  # beside the diagonal: what 90 % of the rows must keep
HOST_BAND = 0.30
MISS = 0.15  # error of a test that the page names
ROLES = (scored.FIT, scored.TEST, scored.INPUT, scored.CONTEXT)
UNITS = {"B/s": 1e9, "FLOP/s": 1e9, "UOP/s": 1e6, "s": 1.0}
NAMES = {"B/s": "GB/s", "FLOP/s": "GFLOP/s", "UOP/s": "10^6 updates/s", "s": "s"}


def panels(found):
    """The outcomes of each picture: those with a bar of their own over the host; the others by unit."""
    names = [bar.name for bar in OVER_HOST]
    groups = {name: [] for name in (*names, "other bandwidths", "operations", "times and updates")}
    for one in found:
        kind = FACTORS[one.row.unit][0]
        own = [bar.name for bar in OVER_HOST if bar.is_of(one)]
        if own:
            groups[own[0]].append(one)
        elif kind == "B/s":
            groups["other bandwidths"].append(one)
        elif kind == "FLOP/s":
            groups["operations"].append(one)
        else:
            groups["times and updates"].append(one)
    return groups


def label(one) -> str:
    row = one.row
    unit = f" [{NAMES[FACTORS[row.unit][0]]}]" if row.unit in ("s", "GUOP/s") else ""
    over = f", {row.transport}" if row.transport != "none" else ""
    return f"{row.benchmark}, {row.system}{over}{unit}"


def draw(axes, title: str, members) -> None:
    labels = sorted({label(one) for one in members})
    ends = []
    for number, name in enumerate(labels):
        points = [one for one in members if label(one) == name and one.predicted]
        kind, factor = FACTORS[points[0].row.unit]
        scale = factor / UNITS[kind]
        measured = [one.row.value * scale for one in points]
        predicted = [one.predicted * scale for one in points]
        colour, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
        axes.plot(measured, predicted, marker, color=colour, markersize=4, alpha=0.7, label=name)
        ends += [*measured, *predicted]
    line = np.array([min(ends) / 1.5, max(ends) * 1.5])
    band = HOST_BAND if "host" in title else BAND
    axes.plot(line, line, "-", color=GREY, linewidth=1)
    for side in (1 - band, 1 + band):
        axes.plot(line, side * line, ":", color=GREY, linewidth=1)
    units = sorted({NAMES[FACTORS[one.row.unit][0]] for one in members})
    unit = units[0] if len(units) == 1 else "unit of the row"
    errors = validate.spread(members)
    median, p90 = (percent(part, digits=1) for part in (errors.median, errors.p90))
    about = f"{errors.rows} rows: median {median}, 90 % below {p90}"
    axes.set(xscale="log", yscale="log", xlim=line, ylim=line, title=f"{title}\n{about}")
    axes.set(xlabel=f"measured [{unit}]", ylabel=f"predicted [{unit}]")
    doc_pages.open_axes(axes)
    axes.legend(frameon=False, fontsize=7, loc="upper left")


def svg(found) -> bytes:
    """The picture."""

    def draw_panels(figure) -> None:
        for axes, (title, members) in zip(figure.subplots(2, 2).flat, panels(found).items(), strict=True):
            draw(axes, title, members)

    return doc_pages.svg(TITLE, (10, 9), draw_panels, salt="validation")


def percents(errors: validate.Spread) -> list[str]:
    return [
        str(errors.rows),
        *(percent(part, digits=1) for part in (errors.median, errors.p90, errors.largest)),
    ]


def errors_table(found) -> str:
    columns = ("benchmark", "system", "transport")
    rivals = rival.outcomes(found)
    naive = validate.grouped(rivals, columns)
    rows = [
        [*key, *percents(errors), *percents(naive[key])[1:3]]
        for key, errors in validate.grouped(found, columns).items()
    ]
    of_bars = {bar.name: errors for bar, errors, _ in validate.against_bars(rivals)}
    rows += [
        [f"**{bar.name}**", "", "", *percents(errors), *percents(of_bars[bar.name])[1:3]]
        for bar, errors, _ in validate.against_bars(found)
    ]
    whole = [*percents(validate.spread(found)), *percents(validate.spread(rivals))[1:3]]
    rows.append(["**all**", "", "", *whole])
    return table([*columns, "rows", "median", "p90", "largest", "rival median", "rival p90"], rows)


def coverage_table(known) -> str:
    """Each benchmark and transport: rows, how many an interval has, and what it covers."""
    pairs = intervals.left_out(known)
    kinds = sorted({(one.benchmark, one.transport) for one, _ in pairs})
    rows = [
        [*kind, *covered([pair for pair in pairs if (pair[0].benchmark, pair[0].transport) == kind])]
        for kind in kinds
    ]
    rows.append(["**all**", "", *covered(pairs)])
    head = [
        "benchmark",
        "transport",
        "rows",
        "with an interval",
        "covered",
        "median half-width",
        "median error",
    ]
    return table(head, rows)


def covered(pairs) -> list[str]:
    found = intervals.coverage([(one.error, interval) for one, interval in pairs])
    shares = [percent(share, digits=1) for share in (found.share, found.half_width, found.error)]
    return [str(found.rows), str(found.rows - found.unvalidated), *shares]


def scored_table(found) -> str:
    """Meyer's tables by benchmark: how many values of which role, and the errors of those that are tests."""
    groups = grouped(((one.printed.table, one.printed.benchmark), one) for one in found)
    rows = []
    for key, members in sorted(groups.items()):
        counts = [str(sum(one.role == role for one in members)) for role in ROLES]
        rows.append([*key, *counts, *tested(members)])
    whole = [str(sum(one.role == role for one in found)) for role in ROLES]
    rows.append(["**all**", "", *whole, *tested(found)])
    return table(["table", "benchmark", *ROLES, "median", "p90", "largest"], rows)


def tested(members) -> list[str]:
    errors = [one.error for one in scored.tests(members)]
    if not errors:
        return ["-", "-", "-"]
    return [percent(part, digits=1) for part in (*np.percentile(errors, (50, 90)), max(errors))]


def texts_table(compared) -> str:
    """Figures of texts by program: bounds that are kept, errors of values, and what no model says."""
    rows = []
    for name in sorted({one.text.program for one in compared}):
        own = [one for one in compared if one.text.program == name]
        bounds = [one for one in own if one.is_bound and one.predicted is not None]
        missed = ", ".join(one.text.id for one in bounds if not one.is_kept) or "-"
        errors = [one.error for one in own if one.error is not None]
        without = sum(one.predicted is None for one in own)
        largest = percent(max(errors), digits=1) if errors else "-"
        rows.append([name, str(len(own)), str(len(bounds)), missed, str(len(errors)), largest, str(without)])
    head = ["program", "tests", "bounds", "missed", "values", "largest error", "no model says what they mean"]
    return table(head, rows)


def misses_table(found) -> str:
    """Every test that is more than MISS off, with the reason."""
    rows = []
    for one in scored.tests(found):
        if one.error > MISS:
            given = one.printed
            what = f"{given.metric} of {given.benchmark}"
            where = f"{given.board}{', ' + given.dtype if given.dtype else ''}"
            rows.append([given.table, what, where, percent(one.error), one.note])
    return table(["table", "value", "board", "error", "why"], rows)


def fitted_table(entries) -> str:
    lines = [
        [
            parameter.board, parameter.owner, " = ".join(parameter.names),
            fit_view.quantity(parameter, value),
            str(support.rows), ", ".join(map(str, support.devices)), str(len(support.sizes)),
        ]
        for parameter, value, _, support in entries
    ]  # fmt: skip
    return table(["board", "of", "key", "value", "rows", "devices", "sizes"], lines)


def splits_table(rows) -> str:
    load = lru_cache(maxsize=None)(validate.loaded("fitted"))
    lines, every = [], []
    for split in splits.splits(rows):
        found = splits.left_out(split, rows, load)
        every += found
        known = [one for one in found if not splits.is_new(split, one.row, rows)]
        lines += split_lines(split.name, known)
        if len(known) < len(found):
            new = [one for one in found if splits.is_new(split, one.row, rows)]
            lines.append(
                [
                    split.name,
                    "HPL on the U280: one row for two values",
                    *percents(validate.spread(new)),
                ]
            )
    lines += split_lines("**all splits**", every)
    return table(["split", "rows of", "rows", "median", "p90", "largest"], lines)


def split_lines(name: str, found) -> list[list[str]]:
    return [[name, bar.name, *percents(errors)] for bar, errors, _ in validate.against_bars(found)]


def page(text: str, tables: dict[str, str]) -> str:
    """The page with the tables between their marks."""
    for name, content in tables.items():
        text = doc_pages.between(text, f"<!-- {name}: written by tools/validation.py -->", content)
    return text


def tables_of(numbered, found, known, printed) -> dict[str, str]:
    rows = tables.with_tables(row for _, row in numbered)
    return {
        "errors": errors_table(found),
        "fitted": fitted_table(fit_view.entries(rows)),
        "splits": splits_table(rows),
        "coverage": coverage_table(known),
        "scored": scored_table(printed),
        "misses": misses_table(printed),
        "texts": texts_table(texts.compare(texts.load())),
    }


def main() -> None:
    numbered = validate.read()
    found = validate.predict_rows(numbered)
    paths.write_atomically(PICTURE, svg(found))
    load = lru_cache(maxsize=None)(validate.loaded("fitted"))
    known, printed = residuals.make(load), scored.score(load)
    intervals.file().parent.mkdir(exist_ok=True)
    paths.write_atomically(intervals.file(), residuals.text(known))
    paths.write_atomically(unmeasured.file(), residuals.text(unmeasured.make(load)))
    paths.write_atomically(intervals.likeness_file(), likeness.text(likeness.make(known)))
    written = tables_of(numbered, found, known, printed)
    paths.write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8"), written))


if __name__ == "__main__":
    main()
