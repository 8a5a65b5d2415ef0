"""Fields on meshes and grids that runs have written: pictures, films and maps of parts for the page."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.spread import thinned
from fabricmark.base.terminal import counted
from fabricmark.grids import drawing as maps
from fabricmark.grids import flow, run_fields
from fabricmark.mesh import drawing
from fabricmark.mesh.arrays import Arrays, load_array
from fabricmark.mesh.drawing import MOST_FRAMES, Frame
from fabricmark.report import groups, inputs
from fabricmark.report.groups import Group
from fabricmark.report.plots import slug, unique_slugs
from fabricmark.report.svg import text
from fabricmark.results import ILLUSTRATIONS, Result, logs

PARAMETER = "fields"  # of runs that write a folder of them; its value, where there is none, is NONE
NONE = "none"
FORMAT = "fabricmark-fields-1"
MOST_GROUPS = 4  # a benchmark
LABEL = "surface elevation [m]"


@dataclass(frozen=True)
class Picture:
    """A picture that stands in the page as it is.

    `part`: what tells it from others of its title. `said`: it in words. `mime`: image/png or image/gif.
    """

    slug: str
    title: str
    part: str
    said: str
    mime: str
    content: bytes

    @property
    def file_name(self) -> str:
        return f"{self.slug}.{self.mime.rpartition('/')[2]}"


@dataclass(frozen=True)
class Drawn:
    """The pictures of a benchmark, and what could not be drawn, in sentences."""

    pictures: Sequence[Picture] = ()
    left_out: Sequence[str] = field(default=())


def folder_of(run: Result) -> Path | None:
    """Where a run's fields are: what its parameter says, from here or from where its result lies.

    None for a run that wrote none, or whose folder is gone.
    """
    value = run.document["parameters"].get(PARAMETER)
    if not isinstance(value, str) or value in ("", NONE):
        return None
    near = run.path.parent  # of results that were moved, too
    places = [Path(value), near / value, near.parent / value, near / Path(value).name]
    return next((place for place in places if _drawer(place) is not None), None)


def _drawer(folder: Path) -> Callable[[Group, Path], Iterator[Picture]] | None:
    """What draws the fields in a folder, each picture when it is asked for; None where there are none."""
    drawers = ((_is_mesh, _of_mesh), (run_fields.is_there, _of_grid), (flow.is_there, _of_flow))
    return next((draws for is_there, draws in drawers if is_there(folder)), None)


def illustrations(runs: Sequence[Result]) -> list[Group]:
    """Runs that were made for pictures, in a folder beside these: nothing else of them is shown."""
    found = []
    for folder in dict.fromkeys(run.path.parent / ILLUSTRATIONS for run in runs):
        files = inputs.find([folder]) if folder.is_dir() and logs.has_results(folder) else []
        found += inputs.read(files).results
    return groups.make(found)


def _is_mesh(folder: Path) -> bool:
    return (folder / "elements.npy").is_file()


def runs_with_fields(of_runs: Sequence[Group]) -> list[tuple[Group, Path]]:
    """The last run of each group that has some."""
    found = []
    for group in of_runs:
        folders = [folder for run in group.runs if (folder := folder_of(run)) is not None]
        if folders:
            found.append((group, folders[-1]))
    return found


def draw(of_runs: Sequence[Group], of_pictures: Sequence[Group] = ()) -> Drawn:
    """Of one benchmark; of runs that were made for pictures the first one each."""
    found = runs_with_fields(of_runs)
    wanted: list[tuple[Group, Path, int | None, str]]
    wanted = [(group, folder, None, f"of {group.label}") for group, folder in found[:MOST_GROUPS]]
    wanted += [(group, folder, 1, "of a short run") for group, folder in runs_with_fields(of_pictures)]
    pictures: list[Picture] = []
    left = []
    for group, folder, most, whose in wanted:
        draws = _drawer(folder)
        try:
            pictures += list(islice(draws(group, folder), most)) if draws is not None else []
        except FabricmarkError as error:
            left.append(f"The fields {whose} are not drawn: {error}.")
    if len(found) > MOST_GROUPS:
        left.append(f"The fields of {len(found) - MOST_GROUPS} further groups are left out.")
    return Drawn(unique_slugs(pictures), left)


def html(drawn: Drawn) -> str:
    """The part of the page; nothing where nothing was to be drawn."""
    if not drawn.pictures and not drawn.left_out:
        return ""
    figures = "".join(map(_figure, drawn.pictures))
    left = "".join(f'<p class="left">{text(line)}</p>' for line in drawn.left_out)
    count = counted(len(drawn.pictures), "picture")
    meaning = "<p>What the run computed, on its mesh or grid; films show its snapshots one after another.</p>"
    return (
        f"<details open><summary><h3>Fields</h3> <span>{count}</span></summary>{meaning}{left}"
        f'<div class="pictures">{figures}</div></details>'
    )


def _figure(one: Picture) -> str:
    source = f"data:{one.mime};base64,{b64encode(one.content).decode()}"
    caption = f"<figcaption><b>{text(one.title)}</b> <span>{text(one.part)}</span></figcaption>"
    return f'<figure id="{one.slug}">{caption}<img alt="{text(one.said)}" src="{source}"></figure>'


def save_all(drawn: Mapping[str, Drawn], folder: Path) -> list[Path]:
    """Each as a file of its own. Raises FabricmarkError (2) when one cannot be written."""
    written = []
    for each in drawn.values():
        for picture in each.pictures:
            path = folder / picture.file_name
            paths.write_atomically(path, picture.content)
            written.append(path)
    return written


def snapshots(folder: Path, elements: int) -> list[Frame]:
    """At most MOST_FRAMES, evenly spread. Raises FabricmarkError (2) for what is no list of them."""
    listed = folder / "snapshots.json"
    if not listed.is_file():
        return []
    try:
        document = json.loads(paths.content(listed))
        entries = [(str(one["file"]), float(one["time_s"])) for one in document["snapshots"]]
        known = document["schema"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FabricmarkError(f"{listed} is no list of snapshots", "run it again") from error
    if not known or any(Path(name).name != name for name, _ in entries):
        raise FabricmarkError(f"{listed} is no list of snapshots", "run it again")
    frames = []
    for name, seconds in thinned(entries, MOST_FRAMES):
        values = load_array(folder / name)
        if values.shape != (elements,):
            cause = f"{folder / name} has not one value for each of {elements} elements"
            raise FabricmarkError(cause, "run it again")
        frames.append(Frame(seconds, values))
    return frames


def _of_mesh(group: Group, folder: Path) -> Iterator[Picture]:
    arrays = Arrays.load(folder)
    frames = snapshots(folder, len(arrays.elements))
    name = group.benchmark
    if len(frames) > 1:
        yield _film(group, frames, drawing.film(arrays, frames, name, LABEL))
    if frames:
        last = drawing.field_picture(arrays, frames[-1], name, LABEL)
        title = f"surface elevation after {drawing.hours(frames[-1].seconds)}"
        yield _picture(group, "elevation", title, "image/png", last)
    parts = folder / "part_of.npy"
    if parts.is_file():
        part_of = load_array(parts)
        if part_of.shape != (len(arrays.elements),) or part_of.dtype.kind != "i" or part_of.min() < 0:
            raise FabricmarkError(f"{parts} has not the part of each element", "run it again")
        count = int(part_of.max()) + 1
        shown = drawing.parts_picture(arrays, part_of, f"{name}: {count} parts")
        yield _picture(group, "parts", f"map of {count} parts", "image/png", shown)
    elif not frames:
        shown = drawing.depth_picture(arrays, f"{name}: {len(arrays.elements)} elements")
        yield _picture(group, "mesh", f"mesh of {len(arrays.elements)} elements", "image/png", shown)


def _of_grid(group: Group, folder: Path) -> Iterator[Picture]:
    found = run_fields.load(folder)
    name = group.benchmark
    frames = found.frames(thinned(found.snapshots, MOST_FRAMES))
    if len(frames) > 1:
        yield _film(group, frames, maps.film(found, frames, name))
    for what, (title, picture) in maps.PICTURES.items():
        yield _picture(group, what, title, "image/png", picture(found, name))


def _of_flow(group: Group, folder: Path) -> Iterator[Picture]:
    parameters = group.runs[-1].document["parameters"]
    title = f"speed after {parameters['steps']} steps, case {parameters['case']}"
    shown = flow.speed_picture(folder, f"{group.benchmark}: {title}")
    yield _picture(group, "speed", title, "image/png", shown)


def _film(group: Group, frames: Sequence[Frame], content: bytes) -> Picture:
    times = f"{drawing.hours(frames[0].seconds)} to {drawing.hours(frames[-1].seconds)}"
    return _picture(group, "film", f"surface elevation, {times}: film", "image/gif", content)


def _picture(group: Group, what: str, title: str, mime: str, content: bytes) -> Picture:
    said = f"{group.name}: {title}"
    return Picture(slug(group.benchmark, what, group.label), title, group.label, said, mime, content)
