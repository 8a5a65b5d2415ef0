"""`fabricmark check`, `fabricmark baseline`: options in, one call, exit code out."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fabricmark.base import choices, help, paths, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import Column
from fabricmark.compare.arguments import load, share
from fabricmark.sites import against, check, nights, store, view
from fabricmark.sites.check import AT_ONCE, FALSE_ALARMS, TOLERANCE, Settings
from fabricmark.sites.nights import Night

VARIABLE = "FABRICMARK_HISTORY"
DEFAULT = "history"
REFRAME_TOLERANCE = 0.05  # of references that one run has made
MOST_NIGHTS = 1000  # that are read of a store
HISTORY = typer.Option(
    metavar="FOLDER|STORE",
    help=f"Older nights: folders of results, or a store of `history` (default: {VARIABLE}, else {DEFAULT}).",
)
RESULTS = typer.Argument(metavar="RESULTS", help="Result files, or a folder of them.")
TOLERANCES = typer.Option(
    metavar="[METRIC=]SHARE",
    help=f"Losses up to this share never count (default: {TOLERANCE:.0%}); may be repeated.",
)


def history_of(given: Path | None) -> Path:
    return given or Path(os.environ.get(VARIABLE) or DEFAULT)


def older_nights(
    place: Path, than: Night, leave_out: Sequence[Path], most: int
) -> tuple[list[Night], list[str]]:
    """Of a store the newest, of a folder all, oldest first, and what could not be read of it."""
    if not store.is_store(place):
        return nights.older(place, than, leave_out)
    with store.opened(place) as opened:
        return opened.nights(than.started, most), []


def _names() -> list[str]:
    return against.names(history_of(None))


def check_command(
    places: Annotated[list[Path], RESULTS],
    text: Annotated[
        str, typer.Option("--against", metavar="last|baseline[:NAME]|median:N", help="What is normal.")
    ] = "median:30",
    history: Annotated[Path | None, HISTORY] = None,
    tolerance: Annotated[list[str] | None, TOLERANCES] = None,
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
    settings = Settings(tolerances(tolerance or []), share(at_once, "--at-once"), false_alarms, evidence,
                        not allow_missing)  # fmt: skip
    found, faults = _judged(places, text, history_of(history), settings)
    _save(found, junit, perflog)
    view.show(found, faults)
    raise typer.Exit(found.exit_code)


def _judged(
    places: Sequence[Path], text: str, folder: Path, settings: Settings
) -> tuple[check.Verdict, list[str]]:
    """What a check finds, and what could not be read of the history."""
    chosen_against = against.parsed(text)
    tonight = nights.tonight(places)
    most = {"median": chosen_against.count + settings.nights, "last": against.MOST_FOR_SPREAD}
    older, faults = older_nights(folder, tonight, places, most.get(chosen_against.kind, MOST_NIGHTS))
    kept = against.load(folder, chosen_against.name).nights if chosen_against.kind == "baseline" else []
    chosen = against.choose(chosen_against, older, kept, settings.nights)
    return check.judge(tonight, chosen, chosen_against, settings), faults


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


def reframe_command(
    places: Annotated[list[Path], RESULTS],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file of tests.")],
    text: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="last|baseline[:NAME]|median:N", help="References (default: these results)."
        ),
    ] = None,
    history: Annotated[Path | None, HISTORY] = None,
    tolerance: Annotated[
        str, typer.Option(metavar="SHARE", help="How far a value may be off, at least.")
    ] = f"{REFRAME_TOLERANCE:.0%}",
) -> None:
    """Write tests for ReFrame that run again what these results were made by."""
    from fabricmark.sites import reframe_tests  # here: other commands need none of it

    least = share(tolerance, "--tolerance")
    loaded = load(places)
    rows: dict[str, list[check.Row]] = {}
    if text is not None:
        settings = Settings({"": least}, missing_counts=False)
        for row in _judged(places, text, history_of(history), settings)[0].rows:
            rows.setdefault(row.series.metric, []).append(row)
    made = reframe_tests.text(loaded, rows, least)
    paths.write_atomically(output, made)
    print(f"{output}: run it by `reframe -c {output} -r`")


baseline_app = help.App(help="Nights that a person has called normal.", no_args_is_help=False)


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
        chosen = older_nights(folder, Night("now"), [], newest)[0][-newest:]
        if not chosen:
            raise FabricmarkError(f"{folder} holds no night", "keep results in it, or name some")
    made = against.save(folder, name, chosen, by, note)
    count = terminal.counted(len(chosen), "night")
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
