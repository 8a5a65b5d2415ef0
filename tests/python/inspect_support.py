"""What tests of `fabricmark inspect` share: small kernels, and base kernels with the parameters of a file."""

import functools
import tomllib

import pytest
from conftest import DESCRIBE, REPOSITORY
from fabricmark.build import design
from fabricmark.inspect import llvm
from fabricmark.inspect.command import inspect_design
from fabricmark.inspect.inspection import inspect_file

needs_clang = pytest.mark.skipif(
    not llvm.is_present(), reason="no clang-15 (`sudo apt-get install clang-15`, as inspect itself does)"
)
needs_describe = pytest.mark.skipif(not DESCRIBE.exists(), reason="nothing is built (`make build`)")
HEADER = '#include "common/dialect.h"\n\n'


def loops_of(folder, vendor, kernel, **definitions):
    """The innermost loops of a kernel that is given as text."""
    source = folder / "kernel.cl"
    source.write_text(HEADER + kernel.replace("__kernel", "FM_SINGLE_WORK_ITEM __kernel"))
    (found,) = inspect_file(source, vendor, definitions, REPOSITORY / "kernels")
    return found.loops


@functools.cache
def base_kernels(benchmark, vendor, parameters):
    """The kernels of a benchmark's base variant; `parameters`: pairs of names and values."""
    given = {name: str(value).lower() for name, value in parameters}
    return inspect_design(design.resolve(benchmark, "base", None, None, given), vendor)


def published(benchmarks):
    """All bitstreams of base kernels in systems/bitstreams: (file/name, board, entry)."""
    found = []
    for path in sorted((REPOSITORY / "systems" / "bitstreams").glob("*.toml")):
        document = tomllib.loads(path.read_text())
        for name, entry in document["bitstreams"].items():
            variant = entry.get("variant", "base")
            if entry["benchmark"] in benchmarks and variant == "base":
                found.append((f"{path.stem}/{name}", document["board"], entry))
    return found
