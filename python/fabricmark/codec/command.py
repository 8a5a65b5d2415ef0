"""`fabricmark compress` and `fabricmark decompress`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fabricmark.base import paths, terminal
from fabricmark.base.errors import FabricmarkError, refusing
from fabricmark.base.progress import Steps
from fabricmark.base.terminal import Column
from fabricmark.codec import library, parts
from fabricmark.codec.parts import Array, Layout, Wanted

SUFFIX = ".fmc"
NAMES = {number: name for name, number in library.PREDICTORS.items()}


class Predictor(StrEnum):
    """Order of the differences along and across rows: 2 and 0, 1 and 1, 2 and 1, 2 and 2."""

    AUTO = "auto"
    LINE = "1d"
    LORENZO = "lorenzo"
    PLANE = "2d"
    SMOOTH = "smooth"


class Lanes(StrEnum):
    """How many cells of a row are coded at once."""

    ONE = "1"
    TWO = "2"
    FOUR = "4"


class Type(StrEnum):
    """Numbers of a file that does not say what they are."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT32 = "int32"
    INT64 = "int64"


def compress(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="NetCDF (classic), .npy, or plain numbers.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help=f"Default: FILE{SUFFIX}.")
    ] = None,
    predictor: Annotated[
        Predictor, typer.Option(help="Along rows, or across them too (auto: what makes a sample shortest).")
    ] = Predictor.AUTO,
    lanes: Annotated[
        Lanes, typer.Option(help="Cells that hardware takes in one cycle; 1 makes the shortest archives.")
    ] = Lanes.ONE,
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
    wanted = Wanted(None if numbers is None else numbers.value, channels, columns)
    with Steps(1) as steps:
        steps.begin(f"compress {file}")
        layout = parts.layout(file, content, wanted)
        plan = parts.planned(layout, content, predictor.value, int(lanes.value))
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
