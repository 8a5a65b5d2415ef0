"""`fabricmark report`: what is printed and which files are written."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.report import fields, groups, inputs, page, pictures, rows, run_tables, waits
from fabricmark.results import timeline

MOST_LINES = 12  # of modelled timelines


@contextmanager
def without_collector() -> Iterator[None]:
    """All that is read is kept to the end: looking for garbage takes a quarter of the time, in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@without_collector()
def main(
    places: Sequence[Path], html: Path | None, png: Path | None, svg: Path | None,
    csv: Path | None = None, markdown: Path | None = None, reference: Path | None = None,
) -> inputs.Inputs:  # fmt: skip
    """Print the report of all files and write what is asked for. Raises FabricmarkError (2 or 3)."""
    texts = {csv: rows.as_csv, markdown: rows.as_markdown}
    texts = {file: as_text for file, as_text in texts.items() if file is not None}
    if csv is not None and csv == markdown:
        raise FabricmarkError(f"--csv and --markdown both to {csv}", "choose two places")
    found = inputs.read(inputs.find(places))
    if found.results:
        run_tables.show(found.results)
        for file, as_text in texts.items():
            paths.write_atomically(file, as_text(found.results))
        if svg is not None:
            run_tables.save_svg(found.results, svg)
    for line in waiting(found):
        print(printable(line))
    if (html is not None or png is not None) and (found.results or found.scalings or found.timelines):
        write(found, html, png, reference)
    return found


def waiting(found: inputs.Inputs) -> list[str]:
    """Who waited most, a line for each modelled timeline."""
    of_results = [
        timeline.made(run.path, run.document[timeline.PROPERTY])
        for run in found.results
        if timeline.PROPERTY in run.document
    ]
    shown = [*of_results, *found.timelines]
    lines = [f"{each.path.name}, modelled timeline: {' '.join(waits.most_waited(each))}" for each in shown]
    if len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more modelled timelines"]


def write(found: inputs.Inputs, html: Path | None, png: Path | None, reference: Path | None = None) -> None:
    """The page and the pictures of everything that was read."""
    grouped = groups.make(found.results)
    plots = page.all_plots(grouped, found.scalings, found.timelines, reference)
    names = dict.fromkeys(group.benchmark for group in grouped)
    pictured = {name: fields.draw([group for group in grouped if group.benchmark == name]) for name in names}
    if html is not None:
        paths.write_atomically(html, page.html(page.Report(grouped, plots, found, pictured)))
        print(f"page: {html}")
    if png is not None:
        drawn = [plot for kinds in plots.values() for entries in kinds.values() for plot in entries]
        written, left = pictures.save_all(drawn, png)
        written += fields.save_all(pictured, png)
        more = f", {left} plots left out" if left else ""
        print(f"pictures: {len(written)} in {png}{more}")
