"""`fabricmark mesh`: meshes made, refined, converted, cut and drawn, with a report of their quality."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from fabricmark.base import help, paths, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.progress import Steps
from fabricmark.base.terminal import Column
from fabricmark.mesh import drawing, formats, tool
from fabricmark.mesh.arrays import load_array

MESH = typer.Argument(metavar="MESH", help="A file in ADCIRC's format fort.14, or bay:N with N elements.")
OUTPUT = typer.Argument(metavar="OUTPUT", help="The fort.14 to be written.")
PICTURE = typer.Option(metavar="PNG", help="Also draw it into this file.")
ORDERED = typer.Option("--ordered", help="Number elements along a curve, which caches like.")
MOST_PARTS_SHOWN = 64


Projection = Literal["auto", "none", "cpp"]  # what the coordinates of a file are
PROJECTION = typer.Option(
    help="Of a file: cpp projects longitude and latitude, none takes metres that look like degrees."
)

app = help.App(help="Meshes of triangles for the applications.", no_args_is_help=False)


@app.command("check")
def check_command(
    mesh: Annotated[str, MESH],
    projection: Annotated[Projection, PROJECTION] = "auto",
    picture: Annotated[Path | None, PICTURE] = None,
) -> None:
    """Read a mesh and report its quality; a broken one is refused with its element and line."""
    with _steps(picture) as steps:
        answer = _asked(steps, "check", mesh, *_read_as(projection))
        _draw(steps, mesh, picture, projection=projection)
    _report(mesh, answer, picture)


@app.command("generate")
def generate_command(
    mesh: Annotated[str, typer.Argument(metavar="bay:N", help="A made-up bay of N elements.")],
    output: Annotated[Path, OUTPUT],
    ordered: Annotated[bool, ORDERED] = False,
    picture: Annotated[Path | None, PICTURE] = None,
) -> None:
    """Write a made-up bay: land around, one open side to the sea, depth from 2 to 11 m."""
    with _steps(picture) as steps:
        answer = _asked(steps, "generate", mesh, output, *_ordered(ordered))
        _draw(steps, str(output), picture, projection="none")
    _report(output, answer, picture)


@app.command("refine")
def refine_command(
    mesh: Annotated[str, MESH],
    output: Annotated[Path, OUTPUT],
    times: Annotated[
        int | None, typer.Option(min=1, help="Cut each edge into so many, each element into their square.")
    ] = None,
    bisect: Annotated[bool, typer.Option("--bisect", help="Halve elements: twice as many.")] = False,
    elements: Annotated[
        int | None, typer.Option(min=1, help="Halve elements until there are so many.")
    ] = None,
    ordered: Annotated[bool, ORDERED] = False,
    projection: Annotated[Projection, PROJECTION] = "auto",
    picture: Annotated[Path | None, PICTURE] = None,
) -> None:
    """Write a finer mesh with the same boundaries, its depth interpolated."""
    words: list[object] = [*_ordered(ordered), *_read_as(projection)]
    words += ["--times", times] if times is not None else []
    words += ["--bisect"] if bisect else []
    words += ["--elements", elements] if elements is not None else []
    with _steps(picture) as steps:
        answer = _asked(steps, "refine", mesh, output, *words)
        _draw(steps, str(output), picture, projection="none")
    _report(output, answer, picture)


@app.command("convert")
def convert_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A .msh of Gmsh, a fort.14, or bay:N.")],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Ends in .14, .vtu or .nc (UGRID).")],
    depth: Annotated[
        float | None, typer.Option(help="Of all nodes [m], where a .msh has no z below 0.")
    ] = None,
    projection: Annotated[Projection, PROJECTION] = "auto",
) -> None:
    """Convert between formats; libraries that this needs are installed when first used."""
    if depth is not None and not depth > 0:
        raise FabricmarkError(f"--depth {depth} is not above 0", "give a depth in metres")
    _report(output, formats.convert(source, output, depth, *_read_as(projection)))


@app.command("partition")
def partition_command(
    mesh: Annotated[str, MESH],
    parts: Annotated[int, typer.Option(min=1, help="How many: one a device.")],
    output: Annotated[
        Path | None, typer.Option(metavar="NPY", help="Also save the part of each element.")
    ] = None,
    projection: Annotated[Projection, PROJECTION] = "auto",
    picture: Annotated[Path | None, PICTURE] = None,
) -> None:
    """Cut a mesh into parts and report what each computes and exchanges."""
    with tempfile.TemporaryDirectory() as scratch, _steps(picture) as steps:
        part_of = output if output is not None else Path(scratch) / "part_of.npy"
        words = ["--parts", parts, "--output", part_of, *_read_as(projection)]
        answer = _asked(steps, "partition", mesh, *words)
        _draw(steps, mesh, picture, part_of, projection)
    _report_parts(answer["parts"])
    _say_picture(picture)


@app.command("plot")
def plot_command(
    mesh: Annotated[str, MESH],
    picture: Annotated[Path, typer.Argument(metavar="PNG", help="The picture to be written.")],
    parts: Annotated[
        int | None, typer.Option(min=1, help="Show the map of so many parts instead of the depth.")
    ] = None,
    projection: Annotated[Projection, PROJECTION] = "auto",
) -> None:
    """Draw a mesh: its depth, or the map of its parts."""
    with tempfile.TemporaryDirectory() as scratch, _steps(picture) as steps:
        part_of = None
        if parts is not None:
            part_of = Path(scratch) / "part_of.npy"
            words = ["--parts", parts, "--output", part_of, *_read_as(projection)]
            _asked(steps, "partition", mesh, *words)
        _draw(steps, mesh, picture, part_of, projection)
    _say_picture(picture)


def _steps(picture: Path | None) -> Steps:
    return Steps(1 if picture is None else 2)


def _asked(steps: Steps, *words: object) -> Mapping:
    """What the tool answers, as one step."""
    steps.begin(f"{words[0]} {words[1]}")
    answer = tool.ask(*words)
    steps.end()
    return answer


def _ordered(ordered: bool) -> list[object]:
    return ["--ordered"] if ordered else []


def _read_as(projection: Projection) -> list[object]:
    return ["--projection", projection]


def _report(name: object, answer: Mapping, picture: Path | None = None) -> None:
    """A line for each group of numbers."""
    q = answer["quality"]
    pieces = "" if q["pieces"] == 1 else f"; {q['pieces']} pieces that no edge joins"
    rivers = f", {q['river_edges']} river" if q["river_edges"] else ""
    rows = [
        [
            "edges",
            f"{q['interior_edges']} between elements, {q['land_edges']} land, {q['sea_edges']} sea"
            f"{rivers}{pieces}",
        ],
        ["edge length", f"{q['shortest_edge_m']:.4g} to {q['longest_edge_m']:.4g} m"],
        [
            "area",
            f"{q['area_m2'] / 1e6:.6g} km2; elements {q['smallest_area_m2']:.4g} to "
            f"{q['largest_area_m2']:.4g} m2",
        ],
        ["depth", f"{q['least_depth_m']:.4g} to {q['largest_depth_m']:.4g} m"],
        [
            "smallest angle",
            f"{q['smallest_angle_degrees']:.2f} degrees (element {q['worst_element']}), "
            f"{q['mean_smallest_angle_degrees']:.2f} on average",
        ],
        ["worst aspect", f"{q['worst_aspect']:.2f} (1: equilateral)"],
        ["CFL step at rest", f"{q['step_at_rest_s']:.4g} s for order 0 and a factor of 1"],
    ]
    head = f"{name}: {q['elements']} elements, {q['nodes']} nodes"
    terminal.table([head], [Column("quality", key=True), Column("value", prose=True)], rows)
    _say_picture(picture)


def _report_parts(parts: Sequence[Mapping]) -> None:
    out = terminal.console()
    names = ("elements", "e_core", "e_send_plus_e_recv", "d_ext", "neighbours")
    headings = ("elements", "core", "border", "outer edges", "neighbours")
    columns = [Column("part", key=True), *terminal.numbers(*headings)]
    rows = [[str(place), *(str(part[name]) for name in names)] for place, part in enumerate(parts)]
    terminal.show(out, columns, rows[:MOST_PARTS_SHOWN])
    if len(rows) > MOST_PARTS_SHOWN:
        print(f"and {len(rows) - MOST_PARTS_SHOWN} more parts")
    worst = max(parts, key=lambda part: part["e_send_plus_e_recv"])
    most = max(part["neighbours"] for part in parts)
    largest = max(part["elements"] for part in parts)
    mean = sum(part["elements"] for part in parts) / len(parts)
    print(
        f"largest border: E_core {worst['e_core']}, S {worst['e_send_plus_e_recv']}, D_ext {worst['d_ext']}; "
        f"N_max {most}; largest part {largest} elements, {100 * (largest / mean - 1):.2f} % above the mean"
    )


def _draw(
    steps: Steps, mesh: str, picture: Path | None, part_of: Path | None = None,
    projection: Projection = "auto",
) -> None:  # fmt: skip
    """The depth, or the map of the parts in a file, as one step; nothing without a picture."""
    if picture is None:
        return
    steps.begin(f"draw {mesh}")
    arrays, answer = tool.arrays(mesh, *_read_as(projection))
    title = answer["title"] or Path(mesh).name
    if part_of is None:
        drawn = drawing.depth_picture(arrays, f"{title}: {len(arrays.elements)} elements")
    else:
        owners = load_array(part_of)
        drawn = drawing.parts_picture(arrays, owners, f"{title}: {owners.max() + 1} parts")
    paths.write_atomically(picture, drawn)
    steps.end()


def _say_picture(picture: Path | None) -> None:
    if picture is not None:
        print(f"picture: {picture}")
