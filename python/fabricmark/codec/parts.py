"""Where the arrays of a file lie, and how each is compressed; what stands between them is kept as it is."""

import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabricmark.base.errors import FabricmarkError
from fabricmark.codec import library
from fabricmark.codec.library import Part
from fabricmark.grids import netcdf

if TYPE_CHECKING:
    import numpy

NPY = b"\x93NUMPY"
MOST_CHANNELS = 16
LEAST_BYTES = 256  # of an array: a shorter one is kept as it is
ELEMENTS = {
    "f4": library.FLOAT32, "f8": library.FLOAT64, "i4": library.INT32, "u4": library.INT32,
    "i8": library.INT64, "u8": library.INT64,
}  # fmt: skip
TYPES = {"float32": "f4", "float64": "f8", "int32": "i4", "int64": "i8"}


@dataclass(frozen=True)
class Wanted:
    """What the command line says of numbers. `type`: of TYPES; None: what the file says."""

    type: str | None = None
    channels: int | None = None
    columns: int | None = None


@dataclass
class Array:
    """Numbers that lie at `places` of a file, as many bytes at each. `columns`: cells of a row, 0 where there
    are no rows."""

    name: str
    dtype: "numpy.dtype"
    shape: tuple[int, ...]
    places: Sequence[int]
    bytes: int
    channels: int
    columns: int
    parts: list[Part] = field(default_factory=list)

    @property
    def is_coded(self) -> bool:
        return self.dtype.str[1:] in ELEMENTS and self.bytes >= LEAST_BYTES


@dataclass(frozen=True)
class Layout:
    """What an archive says of its file."""

    kind: str
    arrays: Sequence[Array]

    def text(self) -> str:
        listed = [{"name": one.name, "type": one.dtype.str, "shape": list(one.shape)} for one in self.arrays]
        return json.dumps({"kind": self.kind, "arrays": listed})


def layout(path: Path, content: bytes, wanted: Wanted) -> Layout:
    """Raises FabricmarkError (2)."""
    if wanted.type is not None:
        return _of_raw(str(path), content, wanted)
    if content.startswith(NPY):
        return of_npy(str(path), content, wanted)
    if content.startswith(netcdf.CLASSIC):
        return _of_netcdf(path, len(content))
    if content.startswith(netcdf.HDF5):
        cause = f"{path} is NetCDF-4, which compresses its variables itself"
        raise FabricmarkError(cause, "write it in the classic format, as `nccopy -k classic` does")
    cause = f"{path} is neither NetCDF nor .npy"
    raise FabricmarkError(cause, f"say what its numbers are with --type ({', '.join(TYPES)})")


def of_npy(name: str, content: bytes, wanted: Wanted) -> Layout:
    """Raises FabricmarkError (2)."""
    from numpy.lib import format as npy

    file = io.BytesIO(content)
    try:
        version = npy.read_magic(file)
        reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_columns, dtype = reader(file)
    except ValueError as error:
        raise FabricmarkError(f"{name} is a damaged .npy file: {error}", "write it again") from error
    in_memory = shape[::-1] if by_columns else shape
    begin = file.tell()
    return Layout("npy", [_array(dtype, in_memory, begin, len(content) - begin, name, wanted)])


def _of_raw(name: str, content: bytes, wanted: Wanted) -> Layout:
    import numpy

    dtype = numpy.dtype("<" + TYPES[wanted.type or ""])
    count = len(content) // dtype.itemsize
    return Layout("raw", [_array(dtype, (count,), 0, len(content), name, wanted)])


def _array(
    dtype: "numpy.dtype", shape: tuple[int, ...], begin: int, most: int, file: str, wanted: Wanted
) -> Array:
    """One that is all there is from `begin` on."""
    channels, columns = _cells(shape)
    if wanted.channels is not None and wanted.channels != channels:
        channels, columns = wanted.channels, 0
    if wanted.columns is not None:
        columns = wanted.columns
    count = math.prod(shape)
    size = count * dtype.itemsize
    if size > most:
        raise FabricmarkError(f"{file} is cut: it has {most} of {size} bytes", "write it again")
    if count % channels != 0:
        cause = f"{file} has {count} numbers, which are no cells of {channels}"
        raise FabricmarkError(cause, "give other --channels")
    return Array("", dtype, shape, [begin], size, channels, columns)


def _cells(shape: tuple[int, ...]) -> tuple[int, int]:
    """Numbers of a cell and cells of a row: a last axis that is short is one of channels."""
    if len(shape) >= 3 and 1 <= shape[-1] <= MOST_CHANNELS:
        return shape[-1], shape[-2]
    return 1, shape[-1] if len(shape) >= 2 else 0


def _of_netcdf(path: Path, file_bytes: int) -> Layout:
    arrays = []
    with netcdf.opened(path) as variables:
        for name, variable in variables.items():
            values = variable.values
            if values.size == 0 or values.ndim == 0:
                continue
            begin = _offset(values)
            shape = tuple(variable.shape)
            places, size = [begin], int(values.nbytes)
            if not values.flags.c_contiguous:  # records of several variables take turns
                places = [begin + record * values.strides[0] for record in range(shape[0])]
                size //= shape[0]
                if places[-1] + size > file_bytes:
                    raise FabricmarkError(f"{path} is damaged or cut", "fetch it again")
            columns = shape[-1] if len(shape) >= 2 else 0
            arrays.append(Array(name, values.dtype, shape, places, size, 1, columns))
    return Layout("netcdf", arrays)


def _offset(values: "numpy.ndarray") -> int:
    """Of what a view of a mapped file shows, in the file: the outermost array is all of it."""
    import numpy

    whole = values
    while isinstance(whole.base, numpy.ndarray):
        whole = whole.base
    return int(values.__array_interface__["data"][0] - whole.__array_interface__["data"][0])


def planned(layout: Layout, content: bytes, predictor: str, lanes: int) -> list[Part]:
    """All of a file in parts. `predictor`: auto, or of PREDICTORS, of arrays that have rows.

    Raises FabricmarkError (2, 3).
    """
    found: list[Part] = []
    at = 0
    for begin, array in sorted(_pieces(layout.arrays), key=lambda piece: piece[0]):
        if begin < at or begin + array.bytes > len(content):
            raise FabricmarkError(f"the array {array.name or 'of the file'} is cut", "write the file again")
        if begin > at:
            found.append(_stored(begin - at))
        part = Part(_form(array, content, begin, predictor, lanes), array.bytes, 0)
        array.parts.append(part)
        found.append(part)
        at = begin + array.bytes
    if at < len(content):
        found.append(_stored(len(content) - at))
    return found


def _pieces(arrays: Sequence[Array]) -> Iterator[tuple[int, Array]]:
    return ((begin, array) for array in arrays if array.is_coded for begin in array.places)


def _stored(count: int) -> Part:
    return Part(library.Form(element=library.STORED), count, 0)


def _form(array: Array, content: bytes, begin: int, predictor: str, lanes: int) -> library.Form:
    if array.parts:  # of an earlier record
        return library.Form.from_buffer_copy(array.parts[0].form)
    code = array.dtype.newbyteorder("<").str
    made = library.form(
        ELEMENTS[code[1:]], array.channels, lanes, array.columns, array.dtype.str.startswith(">")
    )
    has_rows = array.columns >= max(lanes, 2)
    if has_rows and predictor == "auto":
        library.choose_predictor(made, content, begin, array.bytes)
    elif has_rows:
        made.predictor = library.PREDICTORS[predictor]
    return made
