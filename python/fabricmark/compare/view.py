"""How a comparison is shown: a table for people, a document of schema compare-1 for programs."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

from fabricmark import __version__
from fabricmark.base import paths, terminal
from fabricmark.base.errors import printable
from fabricmark.base.terminal import Column, number, percent
from fabricmark.compare import advice, comparison
from fabricmark.compare.comparison import Comparison, Row
from fabricmark.report import run_tables

SCHEMA = "fabricmark-compare/1"
STYLES = {"same": "dim", "better": "green", "worse": "bold red", "unclear": "yellow"}


COLUMNS = (
    Column("metric", key=True),
    *(Column(name, once=True) for name in ("kind", "runs")),
    *terminal.numbers("base", "new"),
    Column("unit", once=True),
    *terminal.numbers("new/base", "interval"),
    Column("verdict"),
)


def show(found: Comparison, console: Console | None = None) -> None:
    """Print the table and one closing line; warnings and refusals go to standard error, one line each."""
    out = console or terminal.console()
    for line in found.warnings + [f"not compared: {refusal}" for refusal in found.refused]:
        print(f"fabricmark: warning: {printable(line)}", file=sys.stderr)
    if found.allowed:
        out.print(Text(printable(f"differs and may: {', '.join(found.allowed)}")), soft_wrap=True)
    terminal.show(out, COLUMNS, [_cells(row) for row in found.rows])
    terminal.say(out, summary(found))
    for line in advice.for_unclear(found.rows, found.settings):
        out.print(Text(printable(line)), soft_wrap=True)


def _cells(row: Row) -> list[terminal.Cell]:
    """One line a metric."""
    kind = row.base.measurement.kind
    return [
        row.base.label,
        Text(kind, style=run_tables.KIND_STYLES[kind]),
        runs_text(row),
        number(row.base_value),
        number(row.new_value),
        row.base.measurement.unit,
        f"{row.ratio:.3f}",
        f"{number(row.interval[0])} to {number(row.interval[1])}" if row.has_interval else "none",
        Text(row.verdict, style=STYLES[row.verdict]),
    ]


def runs_text(row: Row) -> str:
    """`10 pairs` or `5 + 7`."""
    base, new = len(row.base.runs), len(row.new.runs)
    return f"{base} pairs" if row.paired else f"{base} + {new}"


def counts(found: Comparison) -> dict[str, int]:
    """How many metrics got each verdict."""
    return {verdict: sum(row.verdict == verdict for row in found.rows) for verdict in STYLES}


def summary(found: Comparison) -> str:
    """The last line: counts, and what the intervals mean."""
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts(found).items() if number)
    settings = found.settings
    return (
        f"{told or 'nothing compared'}; {settings.statistic} of each run; "
        f"threshold {percent(settings.threshold, digits=1)}; "
        f"intervals hold together with {percent(comparison.CONFIDENCE)} "
        f"(Bonferroni, {len(found.rows)} metrics)"
    )


def document(found: Comparison) -> dict:
    """The document of schema compare-1."""
    settings = found.settings
    return {
        "schema": SCHEMA,
        "version": __version__,
        "exit_code": found.exit_code,
        "settings": {
            "threshold": settings.threshold,
            "statistic": settings.statistic,
            "confidence": comparison.CONFIDENCE,
            "correction": "Bonferroni",
            "looks": settings.looks,
            "ignore": sorted({*settings.ignore, *settings.meant}),
            "seed": settings.seed,
        },
        "counts": counts(found),
        "metrics": [_entry(row) for row in found.rows],
        "refused": [str(refusal) for refusal in found.refused],
        "warnings": found.warnings,
    }


def _entry(row: Row) -> Mapping[str, object]:
    measurement = row.base.measurement
    return {
        "benchmark": row.base.benchmark,
        "name": measurement.name,
        "axes": dict(measurement.axes),
        "conditions": dict(row.base.conditions),
        "unit": measurement.unit,
        "better": measurement.better,
        "kind": measurement.kind,
        "runs": {"base": len(row.base.runs), "new": len(row.new.runs)},
        "paired": row.paired,
        "base": row.base_value,
        "new": row.new_value,
        "ratio": row.ratio,
        "interval": list(row.interval) if row.has_interval else None,
        "verdict": row.verdict,
        "reason": row.reason,
    }


def save(found: Comparison, path: Path) -> None:
    """Write the document; it is whole or absent. Raises FabricmarkError (2) when it cannot be written."""
    paths.write_atomically(path, json.dumps(document(found), indent=1) + "\n")


def finish(found: Comparison, json_file: Path | None) -> int:
    """Save where wanted, show, and hand back the exit code."""
    if json_file is not None:
        save(found, json_file)
    show(found)
    return found.exit_code
