"""`fabricmark systems`: which systems are known, each value with its source, checks of files, and export."""

from pathlib import Path
from typing import Annotated

import typer

from fabricmark import systems
from fabricmark.base import choices, help, paths, terminal
from fabricmark.base.errors import FabricmarkError, check_known, printable
from fabricmark.base.terminal import NOTHING, Column
from fabricmark.systems import PROFILES, catalogue, export, files
from fabricmark.systems.describe_command import describe
from fabricmark.systems.files import SourcedValue

PROSE = ("what it is", "source or reasoning", "published", "fitted", "value")

app = help.App(help="Systems, boards, networks and bitstreams as data.", no_args_is_help=False)


@app.command("list")
def list_command() -> None:
    """List the systems, and the boards, networks and bitstreams that they are made of."""
    rows = []
    for entry in catalogue.everything():
        own = "yours" if entry.path.is_relative_to(files.user_folder()) else ""
        rows.append([entry.kind, entry.name, entry.summary, own])
    _show(["kind", "name", "what it is", ""], rows)
    print(f"your own files: {files.user_folder()}")


@app.command("show")
def show_command(
    name: Annotated[
        str | None,
        typer.Argument(
            autocompletion=choices.completed(lambda: [entry.name for entry in catalogue.everything()]),
            help="A name of `fabricmark systems list`, or a file (default: all).",
        ),
    ] = None,
    profile: Annotated[str | None, choices.one_of(PROFILES, "Only the values of this profile.")] = None,
    fitted: Annotated[bool, typer.Option("--fitted", help="Only fitted values, with the reasoning.")] = False,
) -> None:
    """Show every value with its source: published, fitted, and from what."""
    if profile is not None:
        check_known(profile, PROFILES, f"there is no profile {profile}")
    if fitted and profile == "published":
        raise FabricmarkError("--fitted and the profile published", "leave out one of them")
    entries = [catalogue.named(name)] if name is not None else catalogue.everything()
    sourced = catalogue.unique(value for entry in entries for value in entry.sourced)
    if fitted:
        sourced = tuple(value for value in sourced if value.fitted is not None)
    if name is not None:
        terminal.say(terminal.console(), f"{entries[0].name}: {entries[0].summary} ({entries[0].path})")
    if profile is None:
        headings = ["quantity", "published", "fitted", "source or reasoning"]
        rows = [_both(value) for value in sourced]
    else:
        headings = ["quantity", "value", "source or reasoning"]
        rows = [_one(value, profile) for value in sourced if value.of(profile) is not None]
    _show(headings, rows)
    print(f"{len(rows)} quantities" + (", all fitted" if fitted else ""))


app.command("describe")(describe)


@app.command("export")
def export_command(
    name: Annotated[
        str,
        typer.Argument(
            autocompletion=choices.completed(systems.names),
            help="A system, a board by itself, or the file of a system.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write (default: standard output).")
    ] = None,
    profile: Annotated[str, choices.one_of(PROFILES, "Which values count.")] = "fitted",
) -> None:
    """Write a system as JSON in SI units, which programs read with --system."""
    content = export.text(name, profile)
    if output is None:
        print(content, end="")
        return
    paths.write_atomically(output, content)
    print(printable(f"wrote {output}"))


@app.command("check")
def check_command(
    places: Annotated[list[Path], typer.Argument(metavar="FILES", help="Files of any of the four kinds.")],
) -> None:
    """Check files, and all that they refer to; the first fault is shown with its line."""
    for path in places:
        kind = catalogue.kind_of(path)
        entry = catalogue.entry(kind, path)
        print(printable(f"{path}: correct ({kind}, {len(entry.sourced)} quantities)"))


def _both(value: SourcedValue) -> list[str]:
    reasons = [value.source] if value.source else []
    reasons += [f"inferred: {value.inferred}"] if value.fitted is not None else []
    return [value.place, value.value_text or NOTHING, value.fitted_text or NOTHING, "; ".join(reasons)]


def _one(value: SourcedValue, profile: str) -> list[str]:
    if profile == "published" or value.fitted is None:
        return [value.place, value.value_text, value.source]
    return [value.place, value.fitted_text, f"inferred: {value.inferred}"]


def _show(headings: list[str], rows: list[list[str]]) -> None:
    """A table whose first column names, and whose text is broken between words."""
    columns = [
        Column(heading, key=place == 0, prose=heading in PROSE) for place, heading in enumerate(headings)
    ]
    terminal.show(terminal.console(), columns, rows)
