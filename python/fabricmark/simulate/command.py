"""`fabricmark simulate`: options in, table, CSV and plot out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fabricmark import models
from fabricmark.base import choices, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import percent
from fabricmark.models.machine import DIRECT, HOST, Network
from fabricmark.predict import application, application_view, cables, collectives, options, picture, skeleton
from fabricmark.predict.cables import OPERATIONS, PLACEMENTS, Call, Setting
from fabricmark.predict.closed_form import EXCHANGE
from fabricmark.simulate import calls, open_mpi, parts, recorded, replay, simgrid, timelines, view
from fabricmark.simulate.calls import Found
from fabricmark.systems import option_types

MOST_RANKS = 4096
HELP = {
    "ranks": f"Ranks, a device each (default: on all devices of the system, at most {cables.USUAL_RANKS}).",
    "call": f"A collective operation, {EXCHANGE} (messages to neighbours), a benchmark with a skeleton, "
    "a FILE.toml, or a recorded FILE.trace.",
    "bytes": "Of one rank's elements, as 64KiB.",
    "algorithm": "By name; without it the one whose closed form is shortest.",
    "topology": "In place of the network's: ring:8, leaf-spine:4x2x8, fat-tree:16, dragonfly:9x4x2...",
    "placement": "Which devices ranks run on.",
    "fail": 'A cable that has failed, by its ends: "leaf 0:spine 3"; may be repeated.',
    "oversubscription": "Devices of a leaf to each cable up to the spines, as 1,2,4: in place of the spines.",
    "background": "Devices without ranks send to each other for this share of the time, drawn by the seed.",
    "timeline": "What ranks did and waited for, for `fabricmark report`.",
    "perfetto": "The same for ui.perfetto.dev.",
    "simgrid": "Also what SimGrid says, where it is there.",
    "per_port": "Ranks that share a device's port.",
    "compute_scale": "Times that a trace's computation takes, as 0.5, or one for each rank: 0.5,0.7.",
    "other": "The same program at another size: a trace at a third one follows from both.",
    "by": "Where the time goes: by MPI call of a trace, by phase of a file, and by groups of ranks.",
    "collectives": "Algorithms of a trace's collectives: those that Open MPI takes.",
    "sizes": "Of the trace, of --with, and the one that is wanted.",
    "set": "A value of the system (network.latency=1us), or a parameter of the file; may be repeated.",
}


def simulate(
    call: Annotated[
        str,
        typer.Argument(
            autocompletion=choices.completed(lambda: [*OPERATIONS, *models.skeletons()]), help=HELP["call"]
        ),
    ],
    system: Annotated[str, option_types.system()],
    ranks: Annotated[int | None, typer.Option(min=2, max=MOST_RANKS, help=HELP["ranks"])] = None,
    size: Annotated[str | None, typer.Option("--bytes", help=HELP["bytes"])] = None,
    algorithm: Annotated[str, typer.Option(help=HELP["algorithm"])] = "",
    transport: Annotated[str | None, typer.Option(help=f"{transports.SOME}.")] = None,
    board: option_types.Board = None,
    topology: Annotated[str | None, typer.Option(help=HELP["topology"])] = None,
    placement: Annotated[str, choices.one_of(list(PLACEMENTS), HELP["placement"])] = PLACEMENTS[0],
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Of what is drawn.")] = 1,
    fail: Annotated[list[str] | None, typer.Option(metavar="A:B", help=HELP["fail"])] = None,
    oversubscription: Annotated[
        str | None, typer.Option(metavar="R,...", help=HELP["oversubscription"])
    ] = None,
    per_port: Annotated[
        int, typer.Option("--ranks-per-port", min=1, max=MOST_RANKS, help=HELP["per_port"])
    ] = 1,
    beyond: Annotated[bool, typer.Option("--beyond", help="More ranks than the system has devices.")] = False,
    given_words: Annotated[list[str] | None, typer.Option("--set", help=HELP["set"])] = None,
    profile: option_types.Profile = "fitted",
    background: Annotated[
        float, typer.Option(min=0, max=0.95, metavar="SHARE", help=HELP["background"])
    ] = 0.0,
    timeline: Annotated[
        Path | None, typer.Option(metavar="FILE.timeline.json", help=HELP["timeline"])
    ] = None,
    perfetto: Annotated[Path | None, typer.Option(metavar="FILE.json", help=HELP["perfetto"])] = None,
    with_simgrid: Annotated[bool, typer.Option("--simgrid/--no-simgrid", help=HELP["simgrid"])] = True,
    compute_scale: Annotated[str | None, typer.Option(metavar="X,...", help=HELP["compute_scale"])] = None,
    other: Annotated[Path | None, typer.Option("--with", metavar="FILE.trace", help=HELP["other"])] = None,
    sizes: Annotated[str | None, typer.Option(metavar="N,M,WANTED", help=HELP["sizes"])] = None,
    by: Annotated[str | None, choices.one_of([parts.BY], HELP["by"])] = None,
    collective: Annotated[str, choices.one_of([open_mpi.NAME], HELP["collectives"], "--collectives")] = "",
    csv_file: Annotated[Path | None, choices.document("--csv", "Write every time.")] = None,
    plot_file: Annotated[
        Path | None, typer.Option("--plot", help="Draw loads, or time: FILE.png or FILE.svg.")
    ] = None,
) -> None:
    """Simulate a call packet by packet over the network of a described system, beside its closed form."""
    if plot_file is not None:
        picture.check_picture(plot_file)
    timelines.check_names(timeline, perfetto)
    if by not in (None, parts.BY):
        raise FabricmarkError(f"--by {by}", f"use {parts.BY}")
    if collective not in ("", open_mpi.NAME):
        raise FabricmarkError(f"--collectives {collective}", f"use {open_mpi.NAME}, or leave it out")
    played = recorded.asked(call, compute_scale, other, sizes, ranks)
    if collective and not played:
        raise FabricmarkError(f"--collectives with {call}", "leave it out, or give a recorded trace")
    file = None if played else _file(call)
    about = _operation(call) if file is None and not played else call
    own: Mapping[str, str] = {}  # of a file; a call has no parameters
    words: Sequence[str] = given_words or []
    if file is not None:
        own, words = application_view.split(options.settings(words))
    ranks = len(played.trace.ranks) if played else ranks
    document = {} if file is None else application.load(file)
    patterns = cables.patterns(about, algorithm) if file is None else application.patterns(document)
    place = cables.place(
        about, system, transport, board, ranks, words, patterns, beyond=beyond, profile=profile
    )
    ranks = place.ranks
    wired = topology or cables.wiring(place.network, patterns)
    whole = Setting(ranks, wired, placement, seed, per_port, tuple(fail or ()))
    rates = skeleton.Rates()
    factors = _factors(oversubscription)
    settings = [replace(whole, topology=calls.oversubscribed(whole.topology, one)) for one in factors]
    settings = settings or [whole]
    more = {
        "links": calls.MOST_LINKS if plot_file is not None and len(settings) == 1 else 1,
        "background": background,
        "activities": 0 if timeline is None and perfetto is None else timelines.MOST,
    }
    if played:
        _check_no_call(call, size, algorithm)
        played = recorded.over(played, place.network)
        found = replay.replay(
            played.scaled, settings, place.network, by_call=bool(by), choice=collective, **more
        )
    elif file is not None:
        _check_no_call(call, size, algorithm)
        rates = skeleton.rates(call, place, own)
        read = application.read(file, document, {**rates.values, **own}, place.board, ranks)
        found = calls.simulate_application(read, settings, place, by_phase=bool(by), **more)
    else:
        if by:
            raise FabricmarkError(f"--by {by} with {call}", "leave it out: it is one call")
        rows = cables.rows_of(ranks) if about == EXCHANGE else 1
        asked = Call(about, _bytes(call, size), algorithm, rows=rows)
        found = calls.simulate(asked, settings, place.network, **more)
    found, said = _with_simgrid(found) if with_simgrid else (found, [])
    lines = [*(recorded.lines(played, found) if played else []), *said, *rates.about]
    waits = recorded.rendezvous(place.network) if played else recorded.EAGER
    assumed = _assumed(whole, place.network, place.transport, background, waits)
    view.show(found, place.words, [*lines, *assumed])
    if by:
        parts.show(found[-1])
    if timeline is not None:
        timelines.write(found[-1], timeline)
    if perfetto is not None:
        timelines.write_perfetto(found[-1], perfetto)
    if csv_file is not None:
        view.write_csv(found, csv_file)
    if plot_file is not None:
        view.save_plot(found, factors, plot_file)


def _with_simgrid(found: Sequence[Found]) -> tuple[list[Found], list[str]]:
    """The same with what SimGrid says, and a line where it says nothing. Raises FabricmarkError (2, 3)."""
    known = [simgrid.seconds(one.request) for one in found]
    lines = dict.fromkeys(said for seconds, said in known if seconds is None)
    return [replace(one, simgrid=seconds) for one, (seconds, _) in zip(found, known, strict=True)], [*lines]


def _file(name: str) -> Path | None:
    """An application's, or that of a benchmark's skeleton; None for a call."""
    return Path(name) if name.endswith(application.ENDING) else models.skeletons().get(name)


def _operation(name: str) -> str:
    """Raises FabricmarkError (2) for what is no call."""
    found = EXCHANGE if name == EXCHANGE else collectives.operation(name)
    if found is None:
        known = ", ".join((*OPERATIONS, *models.skeletons()))
        raise FabricmarkError(f"there is no call {name!r}", f"use one of {known}, or a file of your own")
    return found


def _check_no_call(file: str, size: str | None, algorithm: str) -> None:
    """Raises FabricmarkError (2) for what the file says itself."""
    if size is not None or algorithm:
        option = "--bytes" if size is not None else "--algorithm"
        raise FabricmarkError(f"{option} with {file}", "leave it out: the file says it")


def _bytes(call: str, size: str | None) -> int:
    """Raises FabricmarkError (2)."""
    if collectives.operation(call) == "barrier":
        if size is not None:
            raise FabricmarkError("barrier moves no elements", "leave out --bytes")
        return 0
    return collectives.DEFAULT_BYTES if size is None else collectives.bytes_of(size, f"--bytes {size}")


def _factors(text: str | None) -> list[int]:
    """Raises FabricmarkError (2)."""
    words = [] if text is None else text.split(",")
    if not all(word.isascii() and word.isdecimal() and len(word) < 5 for word in words):
        raise FabricmarkError(f"--oversubscription {text}", "write whole numbers, as 1,2,4")
    return [int(word) for word in words]


def _assumed(setting: Setting, network: Network, transport: str, background: float, waits: str) -> list[str]:
    """What is taken for granted."""
    lines = [
        f"placement {setting.placement}"
        + (f" by seed {setting.seed}" if setting.placement == "random" else "")
    ]
    if background:
        lines.append(f"background: devices without ranks send for {percent(background)} of the time")
    if setting.failed:
        lines.append(f"failed: {', '.join(setting.failed)}")
    lines.append(f"assumed: memories keep up with the network; {waits}")
    if network.kind == DIRECT and setting.topology not in ("", network.topology):
        lines.append(f"circuits: {setting.topology}, in place of what the network's file says")
    if network.kind == HOST:
        shared = "a port of the host each" if setting.per_port == 1 else f"a port to {setting.per_port} ranks"
        lines.append(f"assumed: {shared}, and {transport} has the latency and the rate of its network's file")
    return lines
