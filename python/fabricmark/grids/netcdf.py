"""Variables of NetCDF files, of any version, without their numbers being read before somebody wants them."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricmark.base.errors import FabricmarkError, in_full, refusing
from fabricmark.mesh import packages

if TYPE_CHECKING:
    import numpy

CLASSIC, HDF5 = b"CDF", b"\x89HDF"
REMEDY = "name a grid of depths in NetCDF, as GEBCO and ETOPO are"


@dataclass(frozen=True)
class Variable:
    """`values` is an array, or what gives one of a slice; attributes that are texts are str."""

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    attributes: Mapping[str, Any]
    values: Any

    def text(self, name: str) -> str:
        """In small letters; empty where there is no such text."""
        value = self.attributes.get(name)
        return value.strip().lower() if isinstance(value, str) else ""

    def number(self, name: str) -> float | None:
        import numpy

        value = numpy.ravel(self.attributes.get(name, ()))
        return float(value[0]) if len(value) == 1 and value.dtype.kind in "iuf" else None


@contextmanager
def opened(path: Path) -> Iterator[dict[str, Variable]]:
    """The variables of a file by name. Raises FabricmarkError (2; 3: a library cannot be installed)."""
    with refusing(f"cannot read {path}", REMEDY), path.open("rb") as file:
        begin = file.read(len(HDF5))
    if begin.startswith(CLASSIC):
        opener = _classic
    elif begin == HDF5:
        opener = _hdf5
    else:
        raise FabricmarkError(f"{path} is no NetCDF file", REMEDY)
    with opener(path) as found:
        yield found


def numbers(path: Path, variable: Variable, *where: slice) -> "numpy.ndarray":
    """A part of a variable, as double. Raises FabricmarkError (2)."""
    import numpy

    try:
        return numpy.array(variable.values[where], dtype=numpy.float64)
    except Exception as error:  # whatever a damaged file leads the libraries to
        raise _damaged(path, error) from error


@contextmanager
def _classic(path: Path) -> Iterator[dict[str, Variable]]:
    from scipy.io import netcdf_file

    with warnings.catch_warnings():  # of arrays that are still there when the file is closed: they stay valid
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            file = netcdf_file(path, mmap=True)
            found = {
                name: _variable(name, one, one._attributes, one.data) for name, one in file.variables.items()
            }
        except Exception as error:  # whatever a damaged file leads it to
            raise _damaged(path, error) from error
        try:
            yield found
        finally:
            file.close()


@contextmanager
def _hdf5(path: Path) -> Iterator[dict[str, Variable]]:
    library = packages.load("netCDF4")
    try:
        file = library.Dataset(path)
        file.set_auto_maskandscale(False)
        found = {
            name: _variable(name, one, {key: one.getncattr(key) for key in one.ncattrs()}, one)
            for name, one in file.variables.items()
        }
    except Exception as error:
        raise _damaged(path, error) from error
    with file:
        yield found


def _variable(name: str, one: Any, attributes: Mapping[str, Any], values: Any) -> Variable:
    """As a library has it."""
    texts = {
        str(key): value.decode("latin-1") if isinstance(value, bytes) else value
        for key, value in attributes.items()
    }
    return Variable(name, tuple(one.dimensions), tuple(one.shape), texts, values)


def _damaged(path: Path, error: Exception) -> FabricmarkError:
    return FabricmarkError(f"{path} is damaged or cut ({in_full(error)})", "fetch it again")
