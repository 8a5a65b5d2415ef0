"""`fabricmark predict FILE.toml`: an application's time by phase, and for several numbers of devices."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from fabricmark.base import cells, paths, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import Column, percent
from fabricmark.predict import application, cables
from fabricmark.predict.application import Spent
from fabricmark.predict.cables import Place, Setting

FIELDS = ("application", "devices", "phase", "times", "seconds_each", "limit", "kind")
MODELLED = "modelled"


def show(
    file: Path, options: Mapping[str, str | None], counts: Sequence[int], words: Mapping[str, str],
    csv_file: Path | None, *, beyond: bool, profile: str,
) -> None:  # fmt: skip
    """Print times by phase, one number of devices after the other, and write them as CSV. `options`: system,
    transport, board. Raises FabricmarkError (2)."""
    system = options["system"]
    if system is None:
        raise FabricmarkError(f"nothing says on which system {file} runs", "give --system")
    if counts[0] < 2:
        raise FabricmarkError(f"{file} on one device has no network", "use --devices 2 or more")
    parameters, keyed = split(words)
    document = application.load(file)
    rows: list[Sequence[object]] = [FIELDS]
    out = terminal.console()
    for devices in counts:
        place = cables.place(
            str(file), system, options["transport"], options["board"], devices, keyed, beyond=beyond,
            profile=profile,
        )  # fmt: skip
        found = application.read(file, document, parameters, place.board, devices)
        setting = Setting(devices, cables.wiring(place.network, application.patterns(document)))
        phases = application.spent(found, place, setting)
        show_phases(out, found.name, place, devices, phases)
        rows += [
            (found.name, devices, one.name, one.times, one.seconds, one.limit, MODELLED) for one in phases
        ]
    terminal.say(
        out, "assumed: ranks do the same work, and calls wait for it; no cable is shared (see simulate)"
    )
    if csv_file is not None:
        paths.write_atomically(csv_file, cells.as_csv(rows))


def split(words: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """(the file's parameters, words for values of the system) of --set."""
    own = {name: text for name, text in words.items() if "." not in name}
    return own, [f"{name}={text}" for name, text in words.items() if "." in name]


def show_phases(out, name: str, place: Place, devices: int, phases: Sequence[Spent]) -> None:
    """The table of one number of devices."""
    whole = application.total(phases)
    terminal.title(out, [f"{name} {place.words}", f"{devices} devices", MODELLED])
    columns = [Column("phase", key=True), *terminal.numbers("times", "each [us]", "in all [s]", "share"),
               Column("limit")]  # fmt: skip
    rows = []
    for one in phases:
        each = None if one.seconds is None else one.seconds * 1e6
        every = None if one.seconds is None else one.seconds * one.times
        share = None if not whole or every is None else every / whole
        rows.append([one.name, str(one.times), terminal.number(each), terminal.number(every), percent(share),
                     one.limit])  # fmt: skip
    rows.append(["all", "", "", terminal.number(whole), percent(1.0 if whole else None), ""])
    terminal.show(out, columns, rows)
