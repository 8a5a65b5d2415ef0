"""Pages of the site that show reports: a gallery, and the results that come with Fabricmark, with their date.

Both are made from data/examples by the report itself, while the site is made: what is shown is what it says
today. No program has to be built.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from fabricmark import results
from fabricmark.base.cells import as_markdown
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import number, percent
from fabricmark.report import answer, examples, families, groups, outputs
from fabricmark.report.groups import Group

PAGE, ANSWER = "reports/examples.html", "reports/answer.svg"
# Plots of the page that the gallery shows, by the end of their names.
PLOTS = ("-efficiency.png", "-over-message-bytes.png")
DRAWN = tomllib.loads(Path(__file__).with_name("gallery.toml").read_text(encoding="utf-8"))
HEADINGS = (
    "kernel", "metric", "best", "median", "unit", "limit", "share of the limit", "error of the model",
    "verdict",
)  # fmt: skip


@cache
def made() -> dict[str, bytes]:
    """The report of the examples as a page, as the picture of a terminal, and its plots."""
    with examples.at_their_machine() as folder, tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        with contextlib.redirect_stdout(io.StringIO()):
            outputs.main([folder], place / "page.html", place / "plots", place / "answer.svg")
        found = {PAGE: (place / "page.html").read_bytes(), ANSWER: (place / "answer.svg").read_bytes()}
        plots = sorted(file for file in (place / "plots").iterdir() if file.name.endswith(PLOTS))
        return found | {f"reports/{file.name}": file.read_bytes() for file in plots}


def gallery() -> str:
    """What reports look like."""
    lines = [
        "# Gallery", "",
        "Reports as they are, of the [results that come with Fabricmark](measured.md): made by"
        " `fabricmark report --examples --html page.html` when this site was.", "",
        "## On the terminal", "", f"![The answer of a report]({ANSWER})", "",
        "## As a page", "",
        f"[The whole page of this report]({PAGE}), one file that asks no server for anything. Its plots:", "",
    ]  # fmt: skip
    for name in (name for name in made() if name.endswith(PLOTS)):
        lines += [f"![{Path(name).stem.replace('-', ' ')}]({name})", ""]
    lines += ["## Drawn for these pages", ""]
    for name, one in DRAWN.items():
        lines += [f"### {one['shows']}", "", f"[![{one['shows']}]({name})]({one['page']})", ""]
    return "\n".join(lines)


def _rows(found: Sequence[Group]) -> Iterator[list[str]]:
    for group in found:
        run = group.runs[0]
        for metric, _ in group.condensed:
            row = metric.row
            name = families.metric_text(metric.measurement.name, metric.measurement.axes)
            yield [
                run.kernel_name(with_digest=False).removesuffix(" kernel"),
                name if row.kind == "measured" else f"{name} ({row.kind} time)",
                number(row.best), number(row.median), row.unit, number(row.limit), percent(row.efficiency),
                percent(row.error, signed=True), run.verdict(),
            ]  # fmt: skip


def _section(name: str, found: Sequence[Group]) -> list[str]:
    """A benchmark: when which version ran on how many ranks, and a row for each metric."""
    every = [run.document for group in found for run in group.runs]
    days = ", ".join(sorted({document["run"]["started"][:10] for document in every}))
    versions = ", ".join(sorted({document["run"]["git"] for document in every}))
    ranks = ", ".join(sorted({str(document["environment"]["ranks"]["count"]) for document in every}))
    about = f"Measured on {days} by version {versions}, ranks: {ranks}."
    return [f"## {name}", "", about, "", as_markdown([list(HEADINGS), *_rows(found)])]


def measured() -> str:
    """Every metric of the results that come with Fabricmark, of a curve its best point."""
    with examples.at_their_machine() as folder:
        found = groups.make([results.load(file) for file in results.find_files([folder])])
        counts = answer.make(found, [], 0).counts
        by_name = grouped((group.benchmark, group) for group in found)
        sections = [line for name, several in by_name.items() for line in _section(name, several)]
    host = found[0].runs[0].document["environment"]["host"]
    designs = {group.benchmark: group.runs[0].document["run"].get("design") for group in found}
    on_boards = [f"{name} on emulated boards of {one['system']}" for name, one in designs.items() if one]
    lines = [
        "# Results that come with Fabricmark", "",
        f"Measured on a virtual machine with {host['logical_cores']} cores ({host['cpu']},"
        f" {host['operating_system']}); {', '.join(on_boards)}. They show what a report says and are"
        " no reference for the hardware. This page is made from the files in `data/examples/results`"
        " whenever the site is; [published values](data/published.md) and [what the models make of"
        " them](validation.md) have pages of their own.", "",
        f"{counts.verdict()}: {counts.closing()}.", "", *sections,
    ]  # fmt: skip
    return "\n".join(lines)


PAGES = {"gallery.md": gallery, "measured.md": measured}
