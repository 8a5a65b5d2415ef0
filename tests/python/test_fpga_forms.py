"""Base kernels as FPGAs get them, on the device that there is.

On a CPU some of them take another order of loops or other memory. Here they are built without FM_CPU, by
which they know it: what runs is an FPGA's design, and what is left out of it has to be found. That they are
valid with one and two replicas is in test_programs_replicas.py.
"""

import re
import shutil

import pytest
from attributes import arrays, loops, number, preprocessed
from stream_program import KERNELS, on_a_device
from wrong_kernels import with_own_headers

pytestmark = pytest.mark.programs
FULL = pytest.mark.full
SMALL = {
    "hpl": ("--size", 60, "--block-size", 16, "--register-block", 4, "--launch-items", 2),
    "fft": ("--log-size", 6, "--batch", 7),
}
# Beyond the smallest: sizes at which a buffer of FFT has two sides, and blocks of one or two register blocks.
MORE = {
    "hpl": (
        (*SMALL["hpl"], "--data-type", "double", "--ranks", 3),
        ("--size", 100, "--block-size", 8, "--register-block", 8),
        ("--size", 100, "--block-size", 16, "--register-block", 8),
        ("--size", 40, "--block-size", 8, "--register-block", 1),
        ("--size", 600, "--block-size", 64, "--register-block", 8),
    ),
    "fft": tuple(
        ("--log-size", log_size, "--batch", 5, "--data-type", data_type)
        for log_size in (3, 4, 5, 9, 10, 11)
        for data_type in ("float", "double")
    ),
}
WRONG = {
    "hpl": (
        ("block[x][y] -= column[x] * row[y]", "block[x][y] -= x > 0 ? column[x] * row[y] : 0"),
        ("if (j == first && y == within) pivot", "if (j == first && y == 0) pivot"),
        ("x == r ? reciprocal : element", "x == r ? element : element"),
        ("in_column(block[i][first], x, within) * reciprocal", "in_column(block[i][first], x, within)"),
        ("in_column(factor[j][first], y, within)", "in_row(factor[first][j], within, y)"),
        ("left_block[i][k], right_block[k][j]", "left_block[i][0], right_block[0][j]"),
    ),
    "fft": (
        ("(clock / FFT_STEPS + FFT_SIDES / 2) % FFT_SIDES", "clock / FFT_STEPS % FFT_SIDES"),
        ("fft_load_row(in + 8 * cycle, v)", "fft_load_row(in + (cycle == 3 ? 0 : 8 * cycle), v)"),
        ("out + 8 * (cycle + 1)", "out + 8 * cycle"),
        ("#define FFT_EXIT ((FFT_SIDES / 2 + 1) *", "#define FFT_EXIT ((FFT_SIDES / 2) *"),
        ("k > 0; --k) window[k]", "k > 2; --k) window[k]"),
    ),
}
QUICK = {name: changes[0] for name, changes in WRONG.items()}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return {name: on_a_device(tmp_path_factory, name) for name in SMALL}


def run(program, folder, benchmark, words, change=None):
    """How the program ends with this form of the base kernel, of which a text may be changed."""
    text = with_own_headers(KERNELS / benchmark / "base.cl")
    if change:
        assert text.count(change[0]) == 1
        text = text.replace(*change)
    path = folder / "form.cl"
    path.write_text(f"#undef FM_CPU\n{text}")
    return program.run(*words, "--variant", "base", "--repetitions", 2, "--kernel-file", path)


@FULL
@pytest.mark.parametrize("benchmark, words", [(name, one) for name, all in MORE.items() for one in all])
def test_other_shapes_are_valid(programs, tmp_path, benchmark, words):
    done = run(programs[benchmark], tmp_path, benchmark, words)
    assert done.code == 0, (done.errors, done.output)


def reversed_bits(number, bits):
    return int(f"{number:0{bits}b}"[::-1], 2) if bits else 0


def least_distance(log_size, sides):
    """Cycles between a write into a buffer of FFT and the read of the same point, at least.

    A buffer is written by rows of neighbours and read by columns with stride n/8 (fetched), or written by
    columns in the order of reversed bits and read by rows (finished), half its sides later.
    """
    steps = 1 << log_size - 3
    later = sides // 2 * steps
    column = [reversed_bits(cycle, log_size - 3) for cycle in range(steps)]
    fetched = (later + cycle - (k * steps + cycle) // 8 for k in range(8) for cycle in range(steps))
    finished = (later + (k * steps + column[i]) // 8 - i for k in range(8) for i in range(steps))
    return min(*fetched, *finished)


@pytest.mark.parametrize("log_size", [*range(3, 14), pytest.param(17, marks=FULL)])
def test_ffts_buffers_promise_no_longer_distance_than_they_have(log_size):
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    definitions = {"LOG_SIZE": log_size, "DATA_TYPE": "float", "REPLICATIONS": 1}
    text = preprocessed(KERNELS, "fft/base.cl", definitions, "aoc")
    (marks,) = [one.marks for one in loops(text) if one.index == "cycle"]
    promised = {number(re.fullmatch(r"ivdep array\(\w+\) safelen\((.*)\)", mark)[1]) for mark in marks}
    (rows,) = {one.dimensions[0] for one in arrays(text) if one.name in ("fetched", "finished")}
    (distance,) = promised
    assert 1 < distance <= least_distance(log_size, rows >> log_size - 3)


@pytest.mark.parametrize(
    "benchmark, change",
    [
        pytest.param(name, change, marks=[FULL] * (change != QUICK[name]))
        for name, changes in WRONG.items()
        for change in changes
    ],
)
def test_what_is_wrong_in_it_is_found(programs, tmp_path, benchmark, change):
    assert run(programs[benchmark], tmp_path, benchmark, SMALL[benchmark], change).code == 1
