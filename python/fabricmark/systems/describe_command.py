"""`fabricmark systems describe`: files of a board that nobody measured, from those of one like it."""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from fabricmark import models, systems
from fabricmark.base import choices, keys, paths, terminal, transports
from fabricmark.base.errors import FabricmarkError, SeveralErrors, printable
from fabricmark.base.terminal import NOTHING, Column
from fabricmark.systems import catalogue, changes, described, files, original
from fabricmark.systems.changes import BOARD, DEVICES
from fabricmark.systems.described import Description
from fabricmark.systems.original import Original

SOURCE = "given to `fabricmark systems describe`, without a document"
COLUMNS = (
    Column("value", key=True), Column("is", right=True), Column("was", right=True),
    Column("meaning", prose=True),
)  # fmt: skip


def describe(
    name: Annotated[str, typer.Argument(help="Name of the new system and its board.")],
    like: Annotated[
        str,
        typer.Option(
            autocompletion=choices.completed(lambda: [*systems.names(), *files.listed(BOARD)]),
            help="The board or system of `fabricmark systems list` from which all else is taken.",
        ),
    ],
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="A value that differs: memory.banks=16; may be repeated."),
    ] = None,
    board: Annotated[str | None, typer.Option(help="Which kind of devices of a system with several.")] = None,
    source: Annotated[str, typer.Option(help="Where the values that are set come from.")] = SOURCE,
    output: Annotated[
        Path | None, typer.Option(help="Folder of systems to write into (default: your own).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    ask: Annotated[
        bool | None,
        typer.Option("--ask/--no-ask", help="Ask for each value (default: on a terminal without --set)."),
    ] = None,
) -> None:
    """Describe a board that nobody measured: what differs is given, all else is taken over from another."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    folder = output or systems.user_folder()
    try:
        base = original.of(like, board)
    except FabricmarkError as error:
        raise SeveralErrors([*of_name(name), error]) from error
    words = list(given or [])
    if ask or (ask is None and is_terminal and not words):
        words += answers(base)
    found, faults = changes.parse(words, base)
    description = Description(name, base, tuple(found), source)
    faults = [*of_name(name), *faults]
    if name in (base.name, base.board_id):
        faults.append(FabricmarkError(f"{name} would be like itself", "choose another name"))
    faults += [FabricmarkError(one, "correct --set") for one in described.faults(description)]
    if not source.strip():
        faults.append(FabricmarkError("--source is empty", "name a document, or leave it out"))
    contents = description.files() if files.ID.fullmatch(name) else {}
    if not force:
        faults += [
            FabricmarkError(
                f"{folder / place} is there already", "use --force to replace it, or another name"
            )
            for place in contents
            if (folder / place).exists()
        ]
    if faults:
        raise SeveralErrors(faults)
    check(name, contents)
    write(folder, contents)
    show(description, folder, list(contents))


def of_name(name: str) -> Iterator[FabricmarkError]:
    """What is wrong with the name of a new system."""
    if not files.ID.fullmatch(name):
        yield FabricmarkError(f"{name!r} is no name of a system", "use letters, digits, '_', '-' and '.'")
        return
    for kind in catalogue.KINDS:
        if (files.shipped_folder() / files.FOLDERS[kind] / f"{name}.toml").is_file():
            cause = f"{name} is a name of the repository's own"
            yield FabricmarkError(cause, "choose another one: published values are of that one")
            return


def check(name: str, contents: Mapping[str, str]) -> None:
    """Read what is to be written, elsewhere. Raises FabricmarkError (2) where it is not right."""
    with tempfile.TemporaryDirectory(prefix="fabricmark-") as place:
        for one, content in contents.items():
            paths.write_atomically(Path(place) / one, content)
        systems.load(Path(place) / f"{name}.toml")


def write(folder: Path, contents: Mapping[str, str]) -> None:
    """All files, the system's own last, or none: where one cannot be written the others are as before.

    Raises FabricmarkError (2; 3: the disk is full).
    """
    before = {folder / place: _content(folder / place) for place in contents}
    written: list[Path] = []
    try:
        for place, content in contents.items():
            paths.write_atomically(folder / place, content)
            written.append(folder / place)
    except FabricmarkError:
        for path in written:
            if (old := before[path]) is None:
                path.unlink()
            else:
                paths.write_atomically(path, old)
        raise


def _content(path: Path) -> bytes | None:
    """None where there is no file."""
    return paths.content(path) if path.is_file() else None


def answers(base: Original) -> list[str]:
    """KEY=VALUE of each question that is answered by something else than what `base` has."""
    print(f"What differs from {base.name}? Enter keeps a value.")
    found = []
    for kind, values in ((BOARD, base.board), (DEVICES, base.devices)):
        for key, one in values.items():
            if one.value is None:  # a loss or a latency that was fitted: nobody knows it by heart
                continue
            while True:
                told = typer.prompt(f"{key} ({keys.VALUES[kind][key].meaning})", default=one.value_text)
                word = f"{key}={told}"
                if told.strip() == one.value_text:
                    break
                _, faults = changes.parse([word], base)
                if not faults:
                    found.append(word)
                    break
                print(f"{faults[0]}")
    return found


def show(description: Description, folder: Path, places: list[str]) -> None:
    """What was given, what is assumed, what to look at, and how to go on."""
    console = terminal.console()
    base = description.original
    terminal.say(console, f"{description.name}: as {base.name}, but for {len(description.keys)} values")
    rows = [_row(base, [one for one in description.changes if one.key == key]) for key in description.keys]
    if rows:
        terminal.show(console, COLUMNS, rows)
    terminal.say(
        console, f"assumed: {description.number_of_assumed()} values are taken over from {base.name}"
    )
    if lost := list(described.losses(description)):
        terminal.say(console, f"likely losses of the board, fitted elsewhere: {', '.join(lost)}")
    for one in described.warnings(description):
        print(printable(f"fabricmark: warning: {one}"), file=sys.stderr)
    for place in places:
        print(printable(f"wrote {folder / place}"))
    is_known = folder.resolve() == systems.user_folder().resolve()
    system = description.name if is_known else folder / f"{description.name}.toml"
    alone = [one.bitstream for one in base.designs.values() if one.bitstream.transport == transports.NONE]
    if benchmarks := [one.benchmark for one in alone if models.find(one.benchmark) is not None]:
        command = f"fabricmark predict {benchmarks[0]} --system {system}"
        terminal.say(console, f"unvalidated, as nobody measured it: {command}")


def _row(base: Original, of_key: list[changes.Change]) -> list[str]:
    """What a key was set to, and what it was, which may differ between bitstreams."""
    first = of_key[0]
    before = sorted({_was(base, one) for one in of_key})
    return [first.key, str(first.raw), before[0] if len(before) == 1 else "several", _meaning(first)]


def _was(base: Original, one: changes.Change) -> str:
    """The original's value as it is written there."""
    known = {
        changes.BOARD: base.board,
        changes.DEVICES: base.devices,
        changes.NETWORK: base.networks.get(one.of, {}),
        changes.BITSTREAM: base.designs[one.of].values if one.of in base.designs else {},
    }.get(one.kind, {})
    if one.kind == changes.PARAMETER:
        return str(base.designs[one.of].bitstream.parameters[one.name])
    if one.name not in known:
        return NOTHING
    return known[one.name].fitted_text or known[one.name].value_text


def _meaning(one: changes.Change) -> str:
    key = keys.VALUES.get(one.kind, {}).get(one.name)
    return key.meaning if key is not None else ""
