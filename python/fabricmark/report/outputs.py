"""`fabricmark report`: what is printed and which files are written."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from fabricmark.base import paths, terminal
from fabricmark.base.errors import FabricmarkError, printable
from fabricmark.report import (
    answer,
    answer_view,
    chosen,
    examples,
    fields,
    groups,
    inputs,
    next_steps,
    page,
    pictures,
    rows,
    run_tables,
    waits,
)
from fabricmark.report.answer import Answer
from fabricmark.report.groups import Group
from fabricmark.results import Result, timeline
from fabricmark.results.failures import Failure

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
    wanted: chosen.Wanted = chosen.ALL,
) -> inputs.Inputs:  # fmt: skip
    """Print the report of all files and write what is asked for. Raises FabricmarkError (2 or 3)."""
    texts = {csv: rows.as_csv, markdown: rows.as_markdown}
    texts = {file: as_text for file, as_text in texts.items() if file is not None}
    if csv is not None and csv == markdown:
        raise FabricmarkError(f"--csv and --markdown both to {csv}", "choose two places")
    found = chosen.of(inputs.read(inputs.find(places)), wanted)
    grouped = groups.make(found.results)
    is_of_runs = bool(found.results or found.failures)
    said = answer.make(grouped, found.failures, len(found.errors), wanted.order) if is_of_runs else None
    if wanted.order != chosen.DEFAULT_ORDER:
        found.results = [run for group in answer.groups_in_order(grouped, wanted.order) for run in group.runs]
    out = terminal.console()
    more = _more("report", *examples.words(places))
    if wanted.has_tables and found.results:
        run_tables.show(found.results, of_sizes=wanted.sizes)
    elif said is not None:
        answer_view.show(said, out, [more], (html is not None) + (png is not None))
    for line in waiting(found) if wanted.has_tables or said is None else ():
        print(printable(line))
    for file, as_text in texts.items() if found.results else ():
        paths.write_atomically(file, as_text(found.results))
    if svg is not None and said is not None:
        _save_svg(svg, found.results if wanted.has_tables else [], said, more, of_sizes=wanted.sizes)
    if (html is not None or png is not None) and (found.results or found.scalings or found.timelines):
        write(found, grouped, said, html, png, reference)
    if said is not None:
        out.print(answer_view.closing(said, out))
    return found


def _save_svg(svg: Path, tables: Sequence[Result], said: Answer, more: str, *, of_sizes: bool) -> None:
    """What the terminal shows as a picture: `tables` of these results, without any the answer."""

    def show(out: Console) -> None:
        if tables:
            run_tables.show(tables, out, of_sizes=of_sizes)
            return
        answer_view.show(said, out, [more], 0)
        out.print(answer_view.closing(said, out))

    run_tables.save_svg(svg, terminal.PIPED_COLUMNS if tables else answer_view.COLUMNS, show)


def _more(*words: object) -> str:
    """How to get what the answer leaves out: a command as it was given, with one word more."""
    return f"all tables: {next_steps.line([*map(str, words), '--full'])}"


def show_runs(
    loaded: Sequence[Result], failures: Sequence[Failure], again: Sequence[object],
    tables: Callable[[], None] | None, *, quiet: bool = False,
) -> None:  # fmt: skip
    """What runs found that have ended: of several the answer, of one all of its table; or what `tables`
    prints. `quiet`: the closing line alone.

    `again`: words of the command that shows them once more.
    """
    said = answer.make(groups.make(loaded), failures, 0)
    out = terminal.console()
    if tables is not None and not quiet:
        tables()
    elif len(loaded) == 1 and not failures and not quiet:
        run_tables.show(loaded, whole=True, of_sizes=True)
    elif not quiet:
        answer_view.show(said, out, [_more(*again)], 0)
    out.print(answer_view.closing(said, out))


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


def write(
    found: inputs.Inputs, grouped: Sequence[Group], said: Answer | None, html: Path | None, png: Path | None,
    reference: Path | None = None,
) -> None:  # fmt: skip
    """The page and the pictures of everything that was read."""
    plots = page.all_plots(grouped, found.scalings, found.timelines, reference)
    names = dict.fromkeys(group.benchmark for group in grouped)
    of_pictures = fields.illustrations(found.results)
    pictured = {
        name: fields.draw(*([one for one in of if one.benchmark == name] for of in (grouped, of_pictures)))
        for name in names
    }
    if html is not None:
        paths.write_atomically(html, page.html(page.Report(grouped, plots, found, said, pictured)))
        print(f"page: {html}")
    if png is not None:
        drawn = [plot for kinds in plots.values() for entries in kinds.values() for plot in entries]
        written, left = pictures.save_all(drawn, png)
        written += fields.save_all(pictured, png)
        more = f", {left} plots left out" if left else ""
        print(f"pictures: {len(written)} in {png}{more}")
