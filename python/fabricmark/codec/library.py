"""libfabricmark_codec, called by its C interface (src/codec/include/fabricmark/codec.h)."""

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

STORED, FLOAT32, FLOAT64, INT32, INT64 = range(5)
PREDICTORS = {"1d": 1, "lorenzo": 2, "2d": 3, "smooth": 4}
LINE = PREDICTORS["1d"]
FILE = 1
FLIT_BITS = 32


class Form(ctypes.Structure):
    """fm_codec_form."""

    _fields_ = (
        ("element", c_uint32),
        ("predictor", c_uint32),
        ("mode", c_uint32),
        ("cell_words", c_uint32),
        ("lanes", c_uint32),
        ("flit_bits", c_uint32),
        ("swapped", c_uint32),
        ("reserved", c_uint32),
        ("columns", c_uint64),
    )


class Part(ctypes.Structure):
    """fm_codec_part."""

    _fields_ = (("form", Form), ("bytes", c_uint64), ("coded_bytes", c_uint64))


def form(element: int, channels: int, lanes: int, columns: int, swapped: bool) -> Form:
    """Of the predictor in one dimension."""
    return Form(element, LINE, FILE, channels, lanes, FLIT_BITS, int(swapped), 0, columns)


def _library() -> Any:
    """Raises FabricmarkError (3)."""
    return _loaded(paths.codec_library())


@lru_cache
def _loaded(path: Path) -> Any:
    try:
        found = ctypes.CDLL(str(path))
    except OSError as error:
        raise FabricmarkError(
            f"the library {path} cannot be loaded: {error}", "build it again", ENVIRONMENT
        ) from error
    size = POINTER(c_uint64)
    found.fm_codec_last_error.restype = c_char_p
    for name, types in {
        "fm_codec_choose_predictor": (POINTER(Form), c_void_p, c_uint64),
        "fm_codec_archive_most_bytes": (c_void_p, c_uint64, c_uint64, size),
        "fm_codec_archive_write": (
            c_void_p, c_uint64, c_void_p, c_uint64, c_char_p, c_uint64, c_void_p, c_uint64, size,
        ),
        "fm_codec_archive_head": (c_void_p, c_uint64, size, size, POINTER(c_void_p), size),
        "fm_codec_archive_read": (c_void_p, c_uint64, c_void_p, c_uint64),
    }.items():  # fmt: skip
        function = getattr(found, name)
        function.restype = c_int
        function.argtypes = types
    return found


def _called(name: str, *arguments: object) -> str:
    """Why the call failed; empty: it did not."""
    library = _library()
    return "" if getattr(library, name)(*arguments) == 0 else library.fm_codec_last_error().decode()


def _require(name: str, *arguments: object) -> None:
    if why := _called(name, *arguments):
        raise FabricmarkError(why, "see `fabricmark compress --help`")


def choose_predictor(form: Form, content: bytes, begin: int, count: int) -> None:
    """Sets that which makes a sample of these bytes shorter. Raises FabricmarkError (2, 3)."""
    _require("fm_codec_choose_predictor", byref(form), _at(content, begin), count)


def archive(content: bytes, parts: Sequence[Part], text: str) -> bytes:
    """Of a file that is these parts, of which it sets `coded_bytes`. Raises FabricmarkError (2, 3)."""
    listed = (Part * len(parts))(*parts)
    written = text.encode()
    room, used = c_uint64(), c_uint64()
    _require("fm_codec_archive_most_bytes", listed, len(parts), len(written), byref(room))
    made = ctypes.create_string_buffer(room.value)
    _require(
        "fm_codec_archive_write", _at(content, 0), len(content), listed, len(parts), written, len(written),
        made, room.value, byref(used),
    )  # fmt: skip
    for part, coded in zip(parts, listed, strict=True):
        part.form, part.coded_bytes = coded.form, coded.coded_bytes
    return ctypes.string_at(made, used.value)


def unpacked(name: str, archive: bytes) -> bytes:
    """The file of an archive. Raises FabricmarkError (2: it is damaged; 3)."""
    file_bytes, parts, text, text_bytes = c_uint64(), c_uint64(), c_void_p(), c_uint64()
    head = (byref(file_bytes), byref(parts), byref(text), byref(text_bytes))
    why = _called("fm_codec_archive_head", _at(archive, 0), len(archive), *head)
    if not why:
        made = bytearray(file_bytes.value)
        room = (ctypes.c_char * len(made)).from_buffer(made)
        why = _called("fm_codec_archive_read", _at(archive, 0), len(archive), room, len(made))
        if not why:
            return bytes(made)
    raise FabricmarkError(f"{name} cannot be decompressed: {why}", "compress the file again")


def _at(content: bytes, begin: int) -> c_void_p:
    """A place in bytes that stay where they are."""
    start = ctypes.cast(c_char_p(content), c_void_p).value or 0
    return c_void_p(start + begin)
