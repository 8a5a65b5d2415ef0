"""Draws docs/validation.svg, predicted against measured, and writes the tables of docs/validation.md. Run it
again when models, systems or rows change:

.venv/bin/python tools/validation.py
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
from fabricmark import validate
from fabricmark.base import paths
from fabricmark.base.written import percent
from fabricmark.report.pictures import MARKERS
from fabricmark.report.plots import GREY, PALETTE
from fabricmark.validate import fit_view, splits, tables
from fabricmark.validate.distribution import OVER_HOST
from fabricmark.validate.metrics import FACTORS

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURE, PAGE = DOCS / "validation.svg", DOCS / "validation.md"
END = "<!-- end -->"
TITLE = "Predicted against measured, all published rows"
BAND = 0.15  # beside the diagonal: what 90 % of the rows must keep
HOST_BAND = 0.30
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
    about = f"{errors.rows} rows: median {percent(errors.median, 1)}, 90 % below {percent(errors.p90, 1)}"
    axes.set(xscale="log", yscale="log", xlim=line, ylim=line, title=f"{title}\n{about}")
    axes.set(xlabel=f"measured [{unit}]", ylabel=f"predicted [{unit}]")
    axes.grid(True, color="#e2e2e2", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7, loc="upper left")


def svg(found) -> bytes:
    """The picture; the same bytes each time."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style = {"font.size": 9, "axes.axisbelow": True, "svg.fonttype": "none", "svg.hashsalt": "validation"}
    with rc_context(style):
        figure = Figure(figsize=(10, 9), layout="constrained")
        for axes, (title, members) in zip(figure.subplots(2, 2).flat, panels(found).items(), strict=True):
            draw(axes, title, members)
        buffer = BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Title": TITLE})
    return buffer.getvalue()


def percents(errors: validate.Spread) -> list[str]:
    return [str(errors.rows), *(percent(part, 1) for part in (errors.median, errors.p90, errors.largest))]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def errors_table(found) -> str:
    rows = [
        [*key, *percents(errors)]
        for key, errors in validate.grouped(found, ("benchmark", "system", "transport")).items()
    ]
    rows += [
        [f"**{bar.name}**", "", "", *percents(errors)] for bar, errors, _ in validate.against_bars(found)
    ]
    rows.append(["**all**", "", "", *percents(validate.spread(found))])
    return table(["benchmark", "system", "transport", "rows", "median", "p90", "largest"], rows)


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
        mark = f"<!-- {name}: written by tools/validation.py -->"
        before, found, after = text.partition(mark)
        if not found:
            raise SystemExit(f"docs/validation.md has no line {mark}")
        text = f"{before}{mark}\n{content}\n{END}{after.partition(END)[2]}"
    return text


def tables_of(numbered, found) -> dict[str, str]:
    rows = tables.with_tables(row for _, row in numbered)
    return {
        "errors": errors_table(found),
        "fitted": fitted_table(fit_view.entries(rows)),
        "splits": splits_table(rows),
    }


def main() -> None:
    numbered = validate.read()
    found = validate.predict_rows(numbered)
    paths.write_atomically(PICTURE, svg(found))
    paths.write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8"), tables_of(numbered, found)))


if __name__ == "__main__":
    main()
