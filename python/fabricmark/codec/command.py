"""`fabricmark compress` and `fabricmark decompress`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabricmark.base import paths, terminal
from fabricmark.base.errors import FabricmarkError, refusing
from fabricmark.base.progress import Steps
from fabricmark.base.terminal import Column
from fabricmark.codec import library, parts
from fabricmark.codec.parts import Array, Layout, Wanted

SUFFIX = ".fmc"
NAMES = {number: name for name, number in library.PREDICTORS.items()}


# Order of the differences along and across rows: 2 and 0, 1 and 1, 2 and 1, 2 and 2.
Predictor = Literal["auto", "1d", "lorenzo", "2d", "smooth"]
Lanes = Literal["1", "2", "4"]  # how many cells of a row are coded at once
Type = Literal["float32", "float64", "int32", "int64"]  # numbers of a file that does not say what they are


def compress(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="NetCDF (classic), .npy, or plain numbers.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help=f"Default: FILE{SUFFIX}.")
    ] = None,
    predictor: Annotated[
        Predictor, typer.Option(help="Along rows, or across them too (auto: what makes a sample shortest).")
    ] = "auto",
    lanes: Annotated[
        Lanes, typer.Option(help="Cells that hardware takes in one cycle; 1 makes the shortest archives.")
    ] = "1",
    numbers: Annotated[Type | None, typer.Option("--type", help="Of a file of plain numbers.")] = None,
    columns: Annotated[
        int | None, typer.Option(min=1, help="Cells of a row (default: as the file says).")
    ] = None,
    channels: Annotated[
        int | None,
        typer.Option(min=1, max=parts.MOST_CHANNELS, help="Numbers of a cell (default: a short last axis)."),
    ] = None,
) -> None:
    """Compress the arrays of a file without loss; `decompress` gives back each of its bits."""
    content = _content(file)
    target = Path(f"{file}{SUFFIX}") if output is None else output
    wanted = Wanted(numbers, channels, columns)
    with Steps(1) as steps:
        steps.begin(f"compress {file}")
        layout = parts.layout(file, content, wanted)
        plan = parts.planned(layout, content, predictor, int(lanes))
        made = library.archive(content, plan, layout.text())
        paths.write_atomically(target, made)
        steps.end()
    _report(target, layout, len(content), len(made))


def decompress(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `compress` has written.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help=f"Default: without {SUFFIX}.")
    ] = None,
) -> None:
    """Write the file that was compressed."""
    if output is None and file.suffix != SUFFIX:
        raise FabricmarkError(f"the name {file} does not end in {SUFFIX}", "name the file with --output")
    target = file.with_suffix("") if output is None else output
    content = _content(file)
    with Steps(1) as steps:
        steps.begin(f"decompress {file}")
        made = library.unpacked(str(file), content)
        paths.write_atomically(target, made)
        steps.end()
    print(f"{target}: {len(made)} bytes")


def _content(file: Path) -> bytes:
    with refusing(f"cannot read {file}", "name a file that can be read"):
        return paths.content(file)


def _report(target: Path, layout: Layout, before: int, after: int) -> None:
    columns = [Column("array", key=True), *(Column(name) for name in ("type", "shape", "predictor"))]
    rows = [_row(one) for one in layout.arrays]
    head = f"{target}: {before} to {after} bytes, ratio {before / max(after, 1):.3f}"
    terminal.table([head], [*columns, *terminal.numbers("lanes", "ratio")], rows)


def _row(one: Array) -> list[str]:
    shape = " x ".join(str(length) for length in one.shape)
    coded = sum(part.coded_bytes for part in one.parts)
    kept = all(part.form.element == library.STORED for part in one.parts)
    words = ["kept as it is", "", ""]
    if not kept:
        form = next(part.form for part in one.parts if part.form.element != library.STORED)
        ratio = one.bytes * len(one.places) / coded
        words = [NAMES[form.predictor], str(form.lanes), f"{ratio:.3f}"]
    return [one.name or "numbers", one.dtype.name, shape, *words]
