"""Arrays in memory: the archive of one is that of its .npy file."""

import io
from typing import TYPE_CHECKING

from fabricmark.base.errors import FabricmarkError
from fabricmark.codec import library, parts
from fabricmark.codec.parts import Wanted

if TYPE_CHECKING:
    import numpy


def compress(
    array: "numpy.ndarray", predictor: str = "auto", *, lanes: int = 1, channels: int | None = None
) -> bytes:
    """An archive, as `fabricmark compress` makes it of the array's .npy file.

    `predictor`: auto, 1d, lorenzo, 2d or smooth; `channels`: numbers of a cell; None: of a last axis that is
    short, else 1.
    Raises FabricmarkError (2: of such numbers there is none; 3: the library is not built).
    """
    import numpy
    from numpy.lib import format

    file = io.BytesIO()
    format.write_array(file, numpy.asanyarray(array), allow_pickle=False)
    content = file.getvalue()
    layout = parts.of_npy("the array", content, Wanted(channels=channels))
    return library.archive(content, parts.planned(layout, content, predictor, lanes), layout.text())


def decompress(archive: bytes) -> "numpy.ndarray":
    """The array of an archive, bit for bit. Raises FabricmarkError (2: it is damaged, or of no array)."""
    import numpy

    try:
        return numpy.load(io.BytesIO(library.unpacked("the archive", archive)), allow_pickle=False)
    except ValueError as error:
        raise FabricmarkError("the archive holds no array", "use `fabricmark decompress`") from error
