"""The command `fabricmark explore`."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fabricmark import systems
from fabricmark.base import choices, kernels, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.explore import budget as budgets
from fabricmark.explore import (
    confirm,
    confirm_designs,
    designs,
    designs_view,
    elements,
    picture,
    stencils,
    view,
)
from fabricmark.explore.cascades import Problem
from fabricmark.predict import options
from fabricmark.predict.picture import check_picture
from fabricmark.systems import choice

RESOURCES = "resources"
CONFIRMED = 3  # of the best designs
GRID = re.compile(r"([0-9]{1,7})x([0-9]{1,7})")
HELP = {
    "grid": "Columns and rows of the grid, as 2581x2879 (default: the benchmark's on boards).",
    "devices": "Numbers of boards: 16, 1,4,16 or 1..64 (default: of a stencil all, else 1).",
    "set": f"Fix a parameter; of a stencil {', '.join(stencils.SETTABLE)}; may be repeated.",
    "budget": "devices=8, watts=400, price=FILE of yours; with commas, or repeated.",
    "by": "What the best design has least of.",
    "beyond": "Explore more devices than the system has.",
    "confirm": "Run the best three by the programs' modelled clock; exit code 1 where one is off by 2 %.",
    "plot": "Draw time and share of the peak over boards: FILE.svg and FILE-efficiency.svg, or .png.",
}


def explore(
    name: Annotated[
        str, choices.benchmark("A benchmark, or resources: how designs are estimated.", RESOURCES)
    ],
    system: Annotated[
        str | None,
        typer.Option(
            autocompletion=choices.completed(systems.names),
            help="A name of `fabricmark systems list`, or a file.",
        ),
    ] = None,
    grid: Annotated[str | None, typer.Option(metavar="CxR", help=HELP["grid"])] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of time.")] = None,
    devices: Annotated[str | None, typer.Option(help=HELP["devices"])] = None,
    given: Annotated[list[str] | None, typer.Option("--set", help=HELP["set"])] = None,
    budget: Annotated[list[str] | None, typer.Option(help=HELP["budget"])] = None,
    by: Annotated[str, choices.one_of(stencils.BY, HELP["by"])] = stencils.TIME,
    top: Annotated[int, typer.Option(min=1, help="How many designs are shown.")] = 10,
    board: Annotated[str | None, typer.Option(help=choice.HELP["board"])] = None,
    bitstream_id: Annotated[
        str | None, typer.Option(metavar="FILE/NAME", help=choice.HELP["bitstream"])
    ] = None,
    transport: Annotated[str | None, typer.Option(help=choice.HELP["transport"])] = None,
    profile: Annotated[str, choices.one_of(systems.PROFILES, "Which values of the system.")] = "fitted",
    beyond: Annotated[bool, typer.Option("--beyond", help=HELP["beyond"])] = False,
    confirmed: Annotated[bool, typer.Option("--confirm", help=HELP["confirm"])] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE|-", help="Write all of the Pareto set as JSON.")
    ] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help=HELP["plot"])] = None,
) -> None:
    """Explore designs of a described system: which fit, the best of them, and why the next is no better."""
    if name == RESOURCES:
        view.show_resources()
        return
    kernels.check_benchmark(name)
    if system is None:
        raise FabricmarkError(f"nothing says on which system {name} is explored", "give --system")
    if by not in stencils.BY:
        raise FabricmarkError(f"there is no --by {by}", f"use {', '.join(stencils.BY)}")
    if plot_file is not None:
        check_picture(plot_file)
    wanted = choice.Wanted(system, board, bitstream_id, transport, profile)
    counts = None if devices is None else options.device_counts(devices, name)
    spent = budgets.parse(budget or [], systems.load(system, profile, board).board_id, name)
    check_boards(systems.load(system, profile, board), counts or (1,), beyond=beyond)
    shown = Shown(by, top, json_file, plot_file, confirmed)
    if not stencils.is_one(name):
        for option, value in (("--grid", grid), ("--steps", steps)):
            if value is not None:
                raise FabricmarkError(f"{option} with {name}, which is no stencil", "give sizes by --set")
        _of_designs(designs.Asked(name, wanted, counts or (1,), _parameters(name, given or [])), spent, shown)
        return
    asked = stencils.Asked(name, wanted, _problem(name, grid, steps), counts, _fixed(given or []))
    _of_stencil(asked, spent, shown)


def check_boards(described: systems.System, counts: Sequence[int], *, beyond: bool) -> None:
    """Raises FabricmarkError (2) for more devices than the system has."""
    if max(counts) > described.most_devices and not beyond:
        cause = f"{described.name} has no {max(counts)} devices"
        raise FabricmarkError(cause, f"use at most {described.most_devices}, or --beyond to explore more")


@dataclass(frozen=True)
class Shown:
    """What the command shows, and where it writes."""

    by: str
    top: int
    json_file: Path | None
    plot_file: Path | None
    confirmed: bool


def _of_stencil(asked: stencils.Asked, spent: budgets.Budget, shown: Shown) -> None:
    answer = stencils.explore(asked, spent, shown.by)
    view.show(answer, spent, shown.top)
    chosen = answer.found[:CONFIRMED] if shown.confirmed else []
    found = [confirm.confirm(answer, one) for one in chosen]
    held = view.show_confirmed(found)
    if shown.plot_file is not None:
        picture.save(answer, shown.plot_file)
    _write(shown, view.document(answer, spent, found))
    if not held:
        raise typer.Exit(1)


def _of_designs(asked: designs.Asked, spent: budgets.Budget, shown: Shown) -> None:
    answer = designs.explore(asked, spent, shown.by, shown.top)
    designs_view.show(answer, spent, shown.top)
    chosen = answer.found[:CONFIRMED] if shown.confirmed else []
    found = [confirm_designs.confirm(answer, one) for one in chosen]
    held = view.show_confirmed(found)
    if shown.plot_file is not None:
        picture.save_designs(answer, shown.plot_file)
    _write(shown, designs_view.document(answer, spent, found))
    if not held:
        raise typer.Exit(1)


def _write(shown: Shown, document: dict) -> None:
    if shown.json_file is not None:
        paths.write_atomically(shown.json_file, json.dumps(document, indent=1) + "\n")


def _parameters(name: str, words: Sequence[str]) -> dict[str, object]:
    """Values of parameters, each allowed by itself. Raises FabricmarkError (2)."""
    given = options.settings(words)
    for key in given:
        if "." in key:
            raise FabricmarkError(f"--set {key}: explore varies designs", "use predict for other systems")
    return dict(zip(given, options.numbers(name, list(given.items())), strict=True))


def _problem(name: str, grid: str | None, steps: int | None) -> Problem:
    """The grid that is given, else the benchmark's on boards. Raises FabricmarkError (2)."""
    if grid is None:
        columns, rows = elements.usual(name, "columns"), elements.usual(name, "rows")
    else:
        match = GRID.fullmatch(grid)
        if match is None or not int(match[1]) or not int(match[2]):
            raise FabricmarkError(f"--grid {grid}: no columns and rows", "write --grid 2581x2879")
        columns, rows = int(match[1]), int(match[2])
    settings = {"columns": columns, "rows": rows, "steps": steps or elements.usual(name, "steps")}
    kernels.ask([kernels.settings(name, settings)])  # refuses what programs would refuse
    return Problem(**settings)


def _fixed(words: Sequence[str]) -> dict[str, str]:
    found = options.settings(words)
    for name in found:
        if name not in stencils.SETTABLE:
            raise FabricmarkError(
                f"--set {name}: explore does not vary it", f"use one of {', '.join(stencils.SETTABLE)}"
            )
    return found
