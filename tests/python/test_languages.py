"""Base kernels in OpenCL C and in HLS C++: the same lines, and the same bits of every buffer.

Both are compiled for the emulated card, the HLS C++ by g++, too, as in C simulation, and their kernels called
with the same numbers. No contraction: else a compiler could choose where it rounds.
"""

import ctypes
import mmap
import shutil
import subprocess

import numpy as np
import pytest
from conftest import REPOSITORY
from fabricmark.build import card, design, steps
from hls_support import CXX, STUB

pytestmark = [
    pytest.mark.programs,
    pytest.mark.usefixtures("of_the_repository"),
    pytest.mark.skipif(shutil.which(steps.CLANG) is None, reason=f"{steps.CLANG} is not installed"),
]

SCALARS = {"uint": ctypes.c_uint, "ulong": ctypes.c_ulong, "float": ctypes.c_float, "double": ctypes.c_double}
NUMBERS = np.random.default_rng(29)
KERNELS = REPOSITORY / "kernels"
GCC = "g++"  # which takes HLS C++ alone


def buffer(values):
    """A copy that begins where a page does, as buffers of a card do."""
    values = np.ascontiguousarray(values)
    place = np.frombuffer(mmap.mmap(-1, max(1, values.nbytes)), values.dtype)[: values.size]
    place[:] = values.ravel()
    return place


def floats(count, like="float32"):
    """Numbers of many magnitudes, whose sums and products round."""
    return buffer((NUMBERS.standard_normal(count) * 10.0 ** NUMBERS.integers(-3, 3, count)).astype(like))


def zeros(count, like="float32"):
    return buffer(np.zeros(count, like))


class Library:
    """The kernels of a benchmark as the card has them, from one language; `kernels`: of which folder."""

    def __init__(self, folder, name, language, kernels=KERNELS, **given):
        asked = {one: str(value) for one, value in given.items()}
        found = design.resolve(name, "base", "u280_hbm", None, asked)
        self.kernels = {one.name: one.arguments for one in found.kernels}
        found = found.in_language(design.OPENCL if language == design.OPENCL else design.HLS)
        library = folder / f"{name}.so"
        if language == GCC:
            words = [*STUB, "-Wno-unused-parameter", "-O2", "-march=native", "-ffp-contract=off", "-shared"]
            source = kernels / name / "base.cpp"
            self.run([CXX, "-I", kernels, *words, "-fPIC", *found.macros(), source, "-o", library])
        else:
            made = card.steps(found, None, folder, [])
            for file, text in made.files.items():
                file.write_text(text)
            for command in made.commands[:3]:
                self.run(command)
        self.library = ctypes.CDLL(str(library))

    @staticmethod
    def run(command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    def __call__(self, kernel, *values):
        """Runs a kernel; arrays are its buffers."""
        given = [
            ctypes.c_void_p(value.ctypes.data) if kind == "buffer" else SCALARS[kind](value)
            for (_, kind), value in zip(self.kernels[kernel], values, strict=True)
        ]
        getattr(self.library, kernel)(*given)


def stream(library):
    first, second, result = floats(4 * 64 * 8), floats(4 * 64 * 8), zeros(4 * 64 * 8)
    found = []
    for use_second in (0, 1):
        library("stream", first, second, result, 1.7, 4, use_second)
        found.append(result.copy())
    return found


def gemm(library):
    size = 3 * 16
    a, b, c, result = (floats(size * size) for _ in range(4))
    library("multiply", a, b, c, result, 1.3, -0.7, 3, 3)
    return [result]


def ptrans(library):
    a, b, c = (floats(4 * 32 * 32) for _ in range(3))
    tasks = buffer(np.array([2, 0, 0, 1, 3, 2, 1, 3], "uint32"))
    library("transpose", a, b, c, tasks, 1, 3)
    return [c]


def random_access(library):
    items = buffer(NUMBERS.integers(0, 2**63, 2**9, "uint64"))
    seeds = buffer(NUMBERS.integers(1, 2**63, 4, "uint64"))
    library("random_access", items, seeds, 500, 9, 10, 1)
    return [items]


def fft(library):
    points, batch, margin = 2 * 2**6, 3, 5  # of four sides, kernels/fft/reorder.h
    source, target = floats((batch + margin) * points), zeros((batch + margin) * points)
    twiddles, found = floats(3 * 4 * 2**3), []
    for inverse in (0, 1):
        library("fft", source, target, twiddles, batch, inverse)
        found.append(target[margin * points :].copy())
    return found


def hpl(library):
    block, columns = 16, 3 * 16
    a, left, top = floats(columns * columns), zeros(3 * block * block), zeros(3 * block * block)
    a[:: columns + 1] += 3000  # no pivots
    lower, upper = zeros(block * block), zeros(block * block)
    library("lu", a, lower, upper, 0, 0, columns)
    library("left", a, upper, left, 0, block, 0, columns, 2)
    library("top", a, lower, top, 0, 0, block, columns, 2)
    library("inner", a, left, top, 0, 0, block, block, columns, 0, 0, 2, 0, 4)
    return [a, lower, upper, left, top]


# Of each benchmark what runs its kernels and returns all that they have written, and parameters of the build.
CASES = {
    "stream": (stream, {"buffer_size": 64, "vector_width": 8, "unroll": 4, "replications": 1}),
    "gemm": (gemm, {"block_size": 16, "gemm_size": 4, "unroll": 8, "replications": 1}),
    "ptrans": (ptrans, {"block_size": 32, "channel_width": 8, "replications": 1, "transport": "host"}),
    "random_access": (random_access, {"log_rngs": 2, "buffer_size": 16, "replications": 1}),
    "fft": (fft, {"log_size": 6, "replications": 1}),
    "hpl": (hpl, {"block_size": 16, "register_block": 4, "replications": 1, "transport": "host"}),
}


# Other parameters, for all tests.
OTHERS = {
    "stream": [{"vector_width": 1, "unroll": 8}, {"vector_width": 2, "buffer_size": 4}],
    "gemm": [{"gemm_size": 8, "unroll": 1}],
    "ptrans": [{"channel_width": 1}, {"channel_width": 16}],
    "random_access": [
        {"buffer_size": 1},
        {"buffer_size": 1, "ignore_dependence": "true"},
        {"rng_distance": 3},
    ],
    "hpl": [{"register_block": 8}, {"register_block": 1}],
}


def digests(run, library):
    """All buffers as bytes."""
    global NUMBERS
    NUMBERS = np.random.default_rng(29)
    return [one.tobytes() for one in run(library)]


@pytest.fixture(scope="module")
def of_opencl(tmp_path_factory):
    """By benchmark the buffers that its kernels in OpenCL C leave."""
    kept = {}

    def digests_of(name):
        if name not in kept:
            run, given = CASES[name]
            library = Library(tmp_path_factory.mktemp(name), name, design.OPENCL, **given)
            kept[name] = digests(run, library)
        return kept[name]

    return digests_of


@pytest.mark.parametrize("language", [design.HLS, GCC])
@pytest.mark.parametrize("name", CASES)
def test_both_languages_give_the_same_bits(tmp_path, of_opencl, name, language):
    run, given = CASES[name]
    found = digests(run, Library(tmp_path, name, language, **given))
    assert found == of_opencl(name)
    assert all(np.frombuffer(one, "uint8").any() for one in found)


@pytest.mark.full
@pytest.mark.parametrize("language", [design.HLS, GCC])
@pytest.mark.parametrize(("name", "other"), [(name, one) for name, many in OTHERS.items() for one in many])
def test_other_parameters_give_the_same_bits_too(tmp_path, name, other, language):
    run, given = CASES[name]
    found = []
    for one in (design.OPENCL, language):
        (tmp_path / one).mkdir()
        found.append(digests(run, Library(tmp_path / one, name, one, **given | other)))
    assert found[0] == found[1]


@pytest.mark.full
@pytest.mark.parametrize("kind", ["double", "half"])
def test_other_types_of_numbers_give_the_same_bits_too(tmp_path, kind):
    """Of half clang's is the one that is here."""

    def of_stream(library):
        first, second = (floats(2 * 64 * 8, {"double": "float64", "half": "float16"}[kind]) for _ in range(2))
        result = zeros(first.size, first.dtype)
        library("stream", first, second, result, 1.7, 2, 1)
        return [result]

    found = []
    for language in (design.OPENCL, design.HLS):
        (tmp_path / language).mkdir()
        library = Library(tmp_path / language, "stream", language, **CASES["stream"][1], data_type=kind)
        found.append(digests(of_stream, library))
    assert found[0] == found[1]


@pytest.mark.full
@pytest.mark.parametrize("log_size", [5, 7, 10])
def test_transforms_of_other_lengths_give_the_same_bits_too(tmp_path, log_size):
    """Of an odd logarithm, and of as many points as take two sides for four (kernels/fft/reorder.h)."""

    def of_fft(library):
        points, margin = 2 * 2**log_size, 5 if log_size < 10 else 3
        source, target = floats((2 + margin) * points), zeros((2 + margin) * points)
        library("fft", source, target, floats(3 * 4 * 2 ** (log_size - 3)), 2, 0)
        return [target[margin * points :].copy()]

    found = []
    for language in (design.OPENCL, design.HLS):
        (tmp_path / language).mkdir()
        library = Library(tmp_path / language, "fft", language, log_size=log_size, replications=1)
        found.append(digests(of_fft, library))
    assert found[0] == found[1]


# What is changed in the HLS C++ alone: file, text and what stands there instead.
PLANTED = {
    "stream": ("common/hls.hpp", "return to = to + added", "return to = to - vector<T, N>(-0.5F) * added"),
    "gemm": (
        "common/register_block.h",
        "value += left[i][k] * right[k][j]",
        "value = __builtin_fmaf(left[i][k], right[k][j], value)",  # one rounding instead of two
    ),
    "ptrans": ("ptrans/base.cl", "lanes[LANE(k, row)]", "lanes[LANE(k, row + 1)]"),
    "random_access": ("random_access/sequence.h", "RA_POLYNOMIAL 7UL", "RA_POLYNOMIAL 5UL"),
    "fft": ("fft/pipeline.h", "(v.lo.y, v.hi.y)", "(v.hi.y, v.lo.y)"),
    "hpl": (
        "hpl/whole_blocks.h",
        "block[x][y] -= column[x] * row[y]",
        "block[x][y] = __builtin_fmaf(-column[x], row[y], block[x][y])",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_planted_difference_is_found(tmp_path, of_opencl, name):
    file, old, new = PLANTED[name]
    shutil.copytree(KERNELS, tmp_path / "kernels")
    text = (tmp_path / "kernels" / file).read_text()
    assert text.count(old) == 1
    (tmp_path / "kernels" / file).write_text(text.replace(old, new))
    run, given = CASES[name]
    found = digests(run, Library(tmp_path, name, GCC, tmp_path / "kernels", **given))
    assert found != of_opencl(name)
