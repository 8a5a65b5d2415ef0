"""The command `fabricmark explore`."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from fabricmark import systems
from fabricmark.base import choices, kernels, paths
from fabricmark.base.errors import FabricmarkError, check_known, printable
from fabricmark.explore import budget as budgets
from fabricmark.explore import (
    confirm,
    confirm_designs,
    design_file,
    designs,
    designs_view,
    elements,
    picture,
    stencils,
    view,
)
from fabricmark.explore.cascades import Problem
from fabricmark.predict import options
from fabricmark.predict.command import CALIBRATE
from fabricmark.predict.picture import check_picture
from fabricmark.systems import choice, option_types

RESOURCES = "resources"
CONFIRMED = 3  # of the best designs
GRID = re.compile(r"([0-9]{1,7})x([0-9]{1,7})")
HELP = {
    "name": "A benchmark, a FILE.toml that describes a stencil, or resources: how designs are estimated.",
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
    name: Annotated[str, choices.benchmark(HELP["name"], RESOURCES)],
    system: Annotated[str | None, option_types.system(more="; of stencils several with commas")] = None,
    grid: Annotated[str | None, typer.Option(metavar="CxR", help=HELP["grid"])] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of time.")] = None,
    devices: Annotated[str | None, typer.Option(help=HELP["devices"])] = None,
    given: Annotated[list[str] | None, typer.Option("--set", help=HELP["set"])] = None,
    budget: Annotated[list[str] | None, typer.Option(metavar="WHAT=N", help=HELP["budget"])] = None,
    by: Annotated[str, choices.one_of(budgets.BY, HELP["by"])] = budgets.TIME,
    top: Annotated[int, typer.Option(min=1, help="How many designs are shown.")] = 10,
    board: option_types.Board = None,
    bitstream_id: option_types.BitstreamId = None,
    transport: option_types.Transport = None,
    profile: option_types.Profile = "fitted",
    beyond: Annotated[bool, typer.Option("--beyond", help=HELP["beyond"])] = False,
    confirmed: Annotated[bool, typer.Option("--confirm", help=HELP["confirm"])] = False,
    calibrate: Annotated[list[Path] | None, typer.Option(metavar="ROWS", help=CALIBRATE)] = None,
    json_file: Annotated[
        Path | None, choices.document("--json", "Write all of the Pareto set as JSON.")
    ] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help=HELP["plot"])] = None,
) -> None:
    """Explore designs of a described system: which fit, the best of them, and why the next is no better."""
    if name == RESOURCES:
        view.show_resources()
        return
    file = design_file.load(Path(name)) if design_file.is_one(name) else None
    if file is None:
        kernels.check_benchmark(name)
    if system is None:
        raise FabricmarkError(f"nothing says on which system {name} is explored", "give --system")
    if by not in budgets.BY:
        raise FabricmarkError(f"there is no --by {by}", f"use {', '.join(budgets.BY)}")
    if plot_file is not None:
        check_picture(plot_file)
    systems_of = [str(one) for one in options.names(system, "--system")]
    counts = None if devices is None else options.device_counts(devices, name)
    shown = Shown(by, top, json_file, plot_file, confirmed, beyond)
    is_stencil = file is not None or stencils.is_one(name)
    if len(systems_of) > 1 and (not is_stencil or json_file or plot_file):
        raise FabricmarkError("several systems stand side by side in tables of stencils", "name one --system")
    if not is_stencil:
        for option, value in (("--grid", grid), ("--steps", steps)):
            if value is not None:
                raise FabricmarkError(f"{option} with {name}, which is no stencil", "give sizes by --set")
        wanted = choice.Wanted(systems_of[0], board, bitstream_id, transport, profile)
        moved, lines = _calibrated(calibrate or (), wanted, name)
        fixed = _parameters(name, given or [])
        _of_designs(designs.Asked(name, wanted, counts or (1,), fixed, moved), budget or [], shown)
        _say(lines)
        return
    problem = _problem(name, file, grid, steps)
    answers = []
    for one in systems_of:
        wanted = choice.Wanted(one, board, bitstream_id, transport, profile)
        label = name if file is None else file.name
        if file is not None and calibrate:
            raise FabricmarkError("--calibrate with a file: no program runs it", "leave it out")
        moved, lines = _calibrated(calibrate or (), wanted, label)
        asked = stencils.Asked(label, wanted, problem, counts, _fixed(given or []), file, moved)
        answers.append(_of_stencil(asked, budget or [], shown))
        _say(lines)
    if len(answers) > 1:
        view.show_systems([answer for answer, _ in answers])
    if not all(held for _, held in answers):
        raise typer.Exit(1)


def _calibrated(
    places: Sequence[Path], wanted: choice.Wanted, benchmark: str
) -> tuple[Callable[[systems.System, str], systems.System], Sequence[str]]:
    """(what rows of one's own make of a system, lines on these). Raises FabricmarkError (2)."""
    if not places:
        return lambda system, transport: system, ()
    from fabricmark.predict import calibrated  # imported here: a plain exploration shall not wait

    described = systems.load(wanted.system, wanted.profile, wanted.board)
    known = calibrated.read(places, described, str(wanted.system), wanted.profile)

    def moved(system: systems.System, transport: str) -> systems.System:
        return calibrated.moved(known.learned, system, benchmark, transport)

    return moved, [*known.lines, "designs have the values of the system as rows moved them"]


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        print(printable(line))


def spent_on(
    benchmark: str, wanted: choice.Wanted, words: Sequence[str], counts: Sequence[int], *, beyond: bool
) -> budgets.Budget:
    """The budget. Raises FabricmarkError (2), also for more devices than there are."""
    described = systems.load(wanted.system, wanted.profile, wanted.board)
    check_boards(described, counts, beyond=beyond)
    return budgets.parse(words, described.board_id, benchmark)


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
    beyond: bool


def _of_stencil(asked: stencils.Asked, budget: Sequence[str], shown: Shown) -> tuple[stencils.Answer, bool]:
    """(what was found, whether the clock confirms what was to be confirmed)"""
    spent = spent_on(asked.benchmark, asked.wanted, budget, asked.devices or (1,), beyond=shown.beyond)
    if asked.file is not None and shown.confirmed:
        raise FabricmarkError("--confirm with a file: no program runs it", "leave it out")
    answer = stencils.explore(asked, spent, shown.by)
    return answer, _told(answer, spent, shown, view, confirm.confirm, picture.save)


def _of_designs(asked: designs.Asked, budget: Sequence[str], shown: Shown) -> None:
    spent = spent_on(asked.benchmark, asked.wanted, budget, asked.devices, beyond=shown.beyond)
    answer = designs.explore(asked, spent, shown.by, shown.top)
    if not _told(answer, spent, shown, designs_view, confirm_designs.confirm, picture.save_designs):
        raise typer.Exit(1)


def _told(
    answer: Any, spent: budgets.Budget, shown: Shown, pages: ModuleType,
    confirmed_by: Callable[[Any, Any], Any], draw: Callable[[Any, Path], object],
) -> bool:  # fmt: skip
    """Show and write an answer; whether the clock confirms what was to be confirmed. `pages`: its view."""
    pages.show(answer, spent, shown.top)
    chosen = answer.found[:CONFIRMED] if shown.confirmed else []
    found = [confirmed_by(answer, one) for one in chosen]
    held = view.show_confirmed(found)
    if shown.plot_file is not None:
        draw(answer, shown.plot_file)
    if shown.json_file is not None:
        document = pages.document(answer, spent, found)
        paths.write_atomically(shown.json_file, json.dumps(document, indent=1) + "\n")
    return held


def _parameters(name: str, words: Sequence[str]) -> dict[str, object]:
    """Values of parameters, each allowed by itself. Raises FabricmarkError (2)."""
    given = options.settings(words)
    for key in given:
        if "." in key:
            raise FabricmarkError(f"--set {key}: explore varies designs", "use predict for other systems")
    return dict(zip(given, options.numbers(name, list(given.items())), strict=True))


def _cells(grid: str) -> tuple[int, int]:
    """Columns and rows. Raises FabricmarkError (2)."""
    match = GRID.fullmatch(grid)
    if match is None or not int(match[1]) or not int(match[2]):
        raise FabricmarkError(f"--grid {grid}: no columns and rows", "write --grid 2581x2879")
    return int(match[1]), int(match[2])


def _problem(name: str, file: design_file.DesignFile | None, grid: str | None, steps: int | None) -> Problem:
    """The grid that is given, else that of the file, else the benchmark's on boards. Raises FabricmarkError
    (2)."""
    usual = file.grid if file else {key: elements.usual(name, key) for key in ("columns", "rows", "steps")}
    columns, rows = _cells(grid) if grid is not None else (usual["columns"], usual["rows"])
    problem = Problem(columns, rows, steps or usual["steps"])
    if file is None:
        kernels.ask([kernels.settings(name, asdict(problem))])  # refuses what programs would refuse
    return problem


def _fixed(words: Sequence[str]) -> dict[str, str]:
    found = options.settings(words)
    for name in found:
        check_known(name, stencils.SETTABLE, f"--set {name}: explore does not vary it")
    return found
