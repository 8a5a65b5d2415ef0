"""`fabricmark predict`: options in, table, CSV and plot out."""

from pathlib import Path
from typing import Annotated

import typer

from fabricmark import systems
from fabricmark.base import choices, listing, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.written import percent
from fabricmark.predict import options, points, view
from fabricmark.systems import device_limits

HELP = {
    "devices": "Numbers of devices: 16, 1,4,16 or 1..64 (powers of two; on a grid: squares).",
    "set": "A parameter (size=2^27) or a value of the system (network.latency=1us); may be repeated.",
    "sweep": "Values of one, as a:b[:step] or a:b:xFACTOR (default x2); may be repeated.",
    "mesh": "The mesh of an application, as --set mesh=bay:27136 says it, too.",
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
    settings: Annotated[list[str] | None, typer.Option("--set", help=HELP["set"])] = None,
    sweep: Annotated[list[str] | None, typer.Option(help=HELP["sweep"])] = None,
    mesh: Annotated[str | None, typer.Option(help=HELP["mesh"])] = None,
    transport: Annotated[str | None, typer.Option(help="cpu, host, channels, accl-udp, ...")] = None,
    board: Annotated[str | None, typer.Option(help="Which of the system's kinds of devices.")] = None,
    scaling: Annotated[str, choices.one_of(points.SCALING, HELP["scaling"])] = points.WEAK,
    profile: Annotated[str, choices.one_of(systems.PROFILES, "Which values of the system.")] = "fitted",
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write every prediction.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Draw it: FILE.png or FILE.svg.")] = None,
) -> None:
    """Predict a benchmark on a described system: metric, limit, bottleneck and time by phase."""
    listing.check_benchmark(name)
    if scaling not in points.SCALING:
        raise FabricmarkError(f"there is no scaling {scaling}", f"use {' or '.join(points.SCALING)}")
    if plot_file is not None:
        view.check_picture(plot_file)
    found = device_limits.with_limits(systems.load_for(name, system, profile, board))
    over = points.transport_of(name, found, transport)
    request = points.PredictionRequest(name, found, over, scaling)
    words = options.settings([*(settings or []), *([f"mesh={mesh}"] if mesh is not None else [])])
    given = dict(zip(words, points.numbers(name, list(words.items())), strict=True))
    of_system = {key: value for key, value in given.items() if "." in key}
    of_benchmark = {key: value for key, value in given.items() if "." not in key}
    request = points.PredictionRequest(name, found, over, scaling, of_benchmark, of_system)
    axes = {one.name: points.axis(one, request) for one in options.sweeps(sweep or [])}
    for key in set(axes) & set(given):
        raise FabricmarkError(f"{key} is set and swept", "leave out one of them")
    counts = options.device_counts(devices, name)
    options.check_points(counts, axes)
    predicted = points.predict(request, counts, axes)
    is_known = system in systems.names() and not request.overrides and not any("." in key for key in axes)
    about, error = error_bar(request, profile, system if is_known else "")
    if options.which(devices, name):
        about.insert(0, f"devices {devices}: {options.which(devices, name)}")
    view.show(request, predicted, about)
    if csv_file is not None:
        paths.write_atomically(csv_file, view.table_csv(request, predicted, error))
    if plot_file is not None:
        view.save_plot(request, predicted, error, plot_file)


def error_bar(request: points.PredictionRequest, profile: str, system: str) -> tuple[list[str], float | None]:
    """(what validation says of such predictions, the error that 90 % of its values stay within).

    `system`: "" for one that no published value can be of: then those of others count.
    """
    from fabricmark import validate  # imported here: a refusal shall not wait for it

    if request.system.board.device_class != "fpga":
        return ["error bar: none, as the published values are of FPGAs"], None
    found = validate.error_bar(request.benchmark, system, request.transport, profile)
    if found is None:
        return [f"error bar: none, as there are no published values of {request.benchmark}"], None
    spread = found.spread
    words = (
        f"error bar: median {percent(spread.median, 1)}, 90 % within {percent(spread.p90, 1)} of {found.of}"
    )
    return [words], spread.p90
