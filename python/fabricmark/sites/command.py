"""`fabricmark check`, `fabricmark baseline`: options in, one call, exit code out."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fabricmark.base import choices, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import Column
from fabricmark.compare.arguments import share
from fabricmark.sites import against, check, nights, store, view
from fabricmark.sites.check import AT_ONCE, FALSE_ALARMS, TOLERANCE, Settings
from fabricmark.sites.nights import Night

VARIABLE = "FABRICMARK_HISTORY"
DEFAULT = "history"
MOST_NIGHTS = 1000  # that are read of a store
HISTORY = typer.Option(
    metavar="FOLDER|STORE",
    help=f"Older nights: folders of results, or a store of `history` (default: {VARIABLE}, else {DEFAULT}).",
)
RESULTS = typer.Argument(metavar="RESULTS", help="Result files, or a folder of them.")


def history_of(given: Path | None) -> Path:
    return given or Path(os.environ.get(VARIABLE) or DEFAULT)


def older_nights(place: Path, than: Night, leave_out: Sequence[Path]) -> tuple[list[Night], list[str]]:
    """Of a store or of a folder, oldest first, and what could not be read of it."""
    if not store.is_store(place):
        return nights.older(place, than, leave_out)
    with store.opened(place) as opened:
        return opened.nights(than.started, MOST_NIGHTS), []


def _names() -> list[str]:
    return against.names(history_of(None))


def check_command(
    places: Annotated[list[Path], RESULTS],
    text: Annotated[
        str, typer.Option("--against", metavar="last|baseline[:NAME]|median:N", help="What is normal.")
    ] = "median:30",
    history: Annotated[Path | None, HISTORY] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[METRIC=]SHARE",
            help=f"Losses up to this share never count (default: {TOLERANCE:.0%}); may be repeated.",
        ),
    ] = None,
    at_once: Annotated[
        str, typer.Option(metavar="SHARE", help="From this loss on one night alone is enough.")
    ] = f"{AT_ONCE:.0%}",
    evidence: Annotated[
        int, typer.Option(min=1, max=10, help="Nights over which evidence adds up; 1: tonight alone.")
    ] = against.NIGHTS,
    false_alarms: Annotated[
        float, typer.Option(min=1e-12, max=1.0, help="Accepted a night, among all metrics of all nodes.")
    ] = FALSE_ALARMS,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="What has no result tonight is not broken.")
    ] = False,
    junit: Annotated[Path | None, choices.document("--junit", "Also as JUnit's XML.")] = None,
    perflog: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also add the values to a log as ReFrame's.")
    ] = None,
) -> None:
    """Tonight beside what is normal: passed, slower, broken, and where; exit code 1 if slower or broken."""
    chosen_against = against.parsed(text)
    settings = Settings(tolerances(tolerance or []), share(at_once, "--at-once"), false_alarms, evidence,
                        not allow_missing)  # fmt: skip
    tonight = nights.tonight(places)
    folder = history_of(history)
    older, faults = older_nights(folder, tonight, places)
    kept = against.load(folder, chosen_against.name).nights if chosen_against.kind == "baseline" else []
    chosen = against.choose(chosen_against, older, kept, evidence)
    found = check.judge(tonight, chosen, chosen_against, settings)
    _save(found, junit, perflog)
    view.show(found, faults)
    raise typer.Exit(found.exit_code)


def _save(found: check.Verdict, junit: Path | None, perflog: Path | None) -> None:
    """What other tools read, where it is wanted."""
    from fabricmark.sites import reports  # here: XML would slow every other command down

    if junit is not None:
        reports.save_junit(found, junit)
    if perflog is not None:
        reports.save_perflog(found, perflog)


def tolerances(texts: list[str]) -> dict[str, float]:
    """`5%` for all metrics, `bandwidth=5%` for those of a name. Raises FabricmarkError (2)."""
    found = {"": TOLERANCE}
    for text in texts:
        name, _, number = text.rpartition("=")
        found[name.strip()] = share(number.strip(), "--tolerance")
    return found


baseline_app = typer.Typer(help="Nights that a person has called normal.", no_args_is_help=False)


@baseline_app.command("set")
def set_command(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", autocompletion=choices.completed(_names), help="What it is called."),
    ],
    places: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS]", help="Results of one night (default: nights of the history)."),
    ] = None,
    history: Annotated[Path | None, HISTORY] = None,
    newest: Annotated[int, typer.Option(min=1, help="So many of the newest nights of the history.")] = 30,
    by: Annotated[
        str | None, typer.Option(metavar="PERSON", help="Who signs it (default: this user).")
    ] = None,
    note: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Keep nights as what is normal, under a name and signed."""
    folder = history_of(history)
    if places:
        chosen = [nights.tonight(places)]
    else:
        chosen = older_nights(folder, Night("now"), [])[0][-newest:]
        if not chosen:
            raise FabricmarkError(f"{folder} holds no night", "keep results in it, or name some")
    made = against.save(folder, name, chosen, by, note)
    count = f"{len(chosen)} night{'s' if len(chosen) != 1 else ''}"
    print(f"baseline {made.name}: {count}, set by {made.by} in {against.file_of(folder, name)}")


@baseline_app.command("list")
def list_command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", autocompletion=choices.completed(_names), help="Only this one."),
    ] = None,
    history: Annotated[Path | None, HISTORY] = None,
) -> None:
    """Which baselines there are, who set them, when, and why."""
    folder = history_of(history)
    every = [against.load(folder, one) for one in ([name] if name else against.names(folder))]
    if not every:
        print(f"no baseline in {folder}; `fabricmark baseline set NAME` keeps one")
        return
    columns = [Column("name", key=True), *terminal.numbers("nights"), Column("from"), Column("to")]
    columns += [Column("set by"), Column("when"), Column("note", prose=True)]
    rows = [
        [
            one.name,
            str(len(one.nights)),
            one.nights[0].label,
            one.nights[-1].label,
            one.by,
            one.when,
            one.note,
        ]
        for one in every
    ]
    terminal.show(terminal.console(), columns, rows)
