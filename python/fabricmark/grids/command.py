"""`fabricmark bathymetry` and `fabricmark maps`: depths in, pictures out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fabricmark.base import paths, terminal
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.progress import Steps
from fabricmark.base.spread import thinned
from fabricmark.base.terminal import Column
from fabricmark.grids import cut, drawing, earthquake, plane, run_fields
from fabricmark.grids.cut import Cut, Wanted
from fabricmark.grids.earthquake import Fault, Hump
from fabricmark.mesh.drawing import MOST_FRAMES

if TYPE_CHECKING:
    import numpy

FAULT = (
    "An earthquake that lifts the water, after Okada (1985): longitude=,latitude=,depth= [km] of the fault's "
    "middle, length=,width= [km], strike=,dip=,rake= [degrees], slip= [m]; or a CSV file of several with "
    "these names. May be repeated."
)
HUMP = "A hump of water: longitude=,latitude=,radius= [km],height= [m]. May be repeated."


Positive = Literal["up", "down"]  # which way the numbers of a file grow


def bathymetry(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A grid of depths or heights in NetCDF.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="NC", help="The file to be written.")],
    longitude: Annotated[
        str | None, typer.Option(metavar="WEST:EAST", help="Cut this out; may cross the seam, as 150:-150.")
    ] = None,
    latitude: Annotated[str | None, typer.Option(metavar="SOUTH:NORTH", help="Cut this out.")] = None,
    columns: Annotated[
        int | None, typer.Option(min=2, help="Cells from west to east (default: as in the file).")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=2, help="Cells from south to north (default: so that they are square).")
    ] = None,
    variable: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which variable of the file (default: its grid).")
    ] = None,
    positive: Annotated[
        Positive | None, typer.Option(help="Which way its numbers grow (default: as its attributes say).")
    ] = None,
    okada: Annotated[list[str] | None, typer.Option(metavar="FAULT", help=FAULT)] = None,
    hump: Annotated[list[str] | None, typer.Option(metavar="HUMP", help=HUMP)] = None,
    picture: Annotated[Path | None, typer.Option(metavar="PNG", help="Also draw it into this file.")] = None,
) -> None:
    """Cut depths out of a NetCDF grid (GEBCO, ETOPO, ...) onto a plane one, with what lifts the water."""
    sources: list[Fault | Hump] = [one for text in okada or [] for one in earthquake.faults(text)]
    sources += [earthquake.parsed(Hump, text) for text in hump or []]
    wanted = Wanted(
        cut.range_of("--longitude", longitude), cut.range_of("--latitude", latitude), columns, rows,
        variable, positive,
    )  # fmt: skip
    with Steps(1 if picture is None else 2) as steps:
        steps.begin(f"cut {file}")
        made = cut.cut(file, wanted)
        elevation = _lifted(made, sources)
        plane.write(output, made.frame, made.depth, elevation, made.said)
        steps.end()
        if picture is not None:
            steps.begin(f"draw {picture}")
            frame = made.frame
            edges = (frame.west, frame.east, frame.south, frame.north)
            where = drawing.Ground(made.depth.clip(min=0), frame.dx, frame.dy, edges)
            paths.write_atomically(picture, drawing.depth_picture(where, elevation, output.name))
            steps.end()
    _report(output, made, elevation)
    if picture is not None:
        print(f"picture: {picture}")


def maps(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What a run wrote with --fields.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where to (default: beside it).")
    ] = None,
) -> None:
    """Draw what a run on a grid has written: largest elevation, arrival, the end, and a film of snapshots."""
    target = folder if output is None else output
    found = run_fields.load(folder)
    title = folder.resolve().name
    with Steps(4) as steps:
        for name, (_, picture) in drawing.PICTURES.items():
            _draw(steps, target / f"{name}.png", lambda picture=picture: picture(found, title))
        if len(found.snapshots) > 1:
            frames = found.frames(thinned(found.snapshots, MOST_FRAMES))
            _draw(steps, target / "film.gif", lambda: drawing.film(found, frames, title))


def _draw(steps: Steps, path: Path, made) -> None:
    steps.begin(f"draw {path}")
    paths.write_atomically(path, made())
    steps.end()
    print(f"picture: {path}")


def _lifted(made: Cut, sources: "list[Fault | Hump]") -> "numpy.ndarray | None":
    """The elevation at the start; None without anything that lifts the water."""
    import numpy

    if not sources:
        return None
    longitude, latitude = made.frame.degrees()
    places = numpy.meshgrid(longitude, latitude)
    lift = sum(source.lift(*places) for source in sources)
    water = made.depth > 0
    if not numpy.abs(numpy.where(water, lift, 0)).max() > 0:
        raise FabricmarkError("nothing lifts the water of this grid", "move the earthquake into it")
    return numpy.asarray(lift)


def _report(output: Path, made: Cut, elevation: "numpy.ndarray | None") -> None:
    frame, depth = made.frame, made.depth
    water = depth > 0
    wide = 100 * frame.stretching
    rows = [
        ["from", made.said],
        ["longitude", f"{frame.west:.6g} to {frame.east:.6g}"],
        ["latitude", f"{frame.south:.6g} to {frame.north:.6g}"],
        ["cells", f"{frame.dx:.6g} x {frame.dy:.6g} m, at an edge of a plane {wide:.3g} % too wide"],
        [
            "water",
            f"{100 * water.mean():.3g} %, {depth[water].mean():.4g} m deep, at most {depth.max():.6g} m",
        ],
    ]
    if made.missing:
        rows.append(["missing", f"{made.missing} cells, taken for land"])
    if elevation is not None:
        lift = elevation[water]
        rows.append(["water at the start", f"{lift.min():.4g} to {lift.max():.4g} m"])
    head = f"{output}: {frame.columns} x {frame.rows} cells"
    terminal.table([head], [Column("depths", key=True), Column("value", prose=True)], rows)
