"""`fabricmark predict`: options in, table, CSV and plot out."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fabricmark import systems
from fabricmark.base import choices, listing, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict import certainty, options, points, settings, values, view
from fabricmark.systems import device_limits

HELP = {
    "devices": "Numbers of devices: 16, 1,4,16 or 1..64 (powers of two; on a grid: squares).",
    "set": "A parameter (size=2^27) or a value of the system (network.latency=1us); may be repeated.",
    "sweep": "Values of one, as a:b[:step] or a:b:xFACTOR (default x2); may be repeated.",
    "closed_form": "Networks by latency and bandwidth alone, without measured curves.",
    "scaling": "weak: sizes are those of one device; strong: of all together.",
}


def predict(
    name: Annotated[str, choices.benchmark("The benchmark.")],
    system: Annotated[
        str,
        typer.Option(
            autocompletion=choices.completed(systems.names),
            help="A name of `fabricmark systems list`, or a file.",
        ),
    ],
    devices: Annotated[str, typer.Option(help=HELP["devices"])] = "1",
    given_words: Annotated[list[str] | None, typer.Option("--set", help=HELP["set"])] = None,
    sweep: Annotated[list[str] | None, typer.Option(help=HELP["sweep"])] = None,
    transport: Annotated[str | None, typer.Option(help="cpu, host, channels, accl-udp, ...")] = None,
    board: Annotated[str | None, typer.Option(help="Which of the system's kinds of devices.")] = None,
    scaling: Annotated[str, choices.one_of(points.SCALING, HELP["scaling"])] = points.WEAK,
    profile: Annotated[str, choices.one_of(systems.PROFILES, "Which values of the system.")] = "fitted",
    closed_form: Annotated[bool, typer.Option("--closed-form", help=HELP["closed_form"])] = False,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write every prediction.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Draw it: FILE.png or FILE.svg.")] = None,
) -> None:
    """Predict a benchmark on a described system: metric, limit, bottleneck and time by phase."""
    listing.check_benchmark(name)
    if scaling not in points.SCALING:
        raise FabricmarkError(f"there is no scaling {scaling}", f"use {' or '.join(points.SCALING)}")
    if plot_file is not None:
        view.check_picture(plot_file)
    found = device_limits.with_limits(systems.load(system, profile, board))
    if closed_form:
        found = settings.without_curves(found)
    over = points.transport_of(name, found, transport)
    request = points.PredictionRequest(name, found, over, scaling, profile=profile, closed_form=closed_form)
    words = options.settings(given_words or [])
    given = dict(zip(words, values.numbers(name, list(words.items())), strict=True))
    of_system = {key: value for key, value in given.items() if "." in key}
    of_benchmark = {key: value for key, value in given.items() if "." not in key}
    request = replace(request, given=of_benchmark, overrides=of_system)
    axes = {one.name: values.axis(one, name) for one in options.sweeps(sweep or [])}
    for key in set(axes) & set(given):
        raise FabricmarkError(f"{key} is set and swept", "leave out one of them")
    counts = options.device_counts(devices, name)
    options.check_points(counts, axes)
    predicted, assumed = points.predict(request, counts, axes)
    known = certainty.of(request, predicted, system)
    about = [known.line]
    if options.which(devices, name):
        about.insert(0, f"devices {devices}: {options.which(devices, name)}")
    view.show(request, predicted, [*about, *assumed], known)
    if csv_file is not None:
        paths.write_atomically(csv_file, view.table_csv(request, predicted, known))
    if plot_file is not None:
        view.save_plot(request, predicted, known, plot_file)
