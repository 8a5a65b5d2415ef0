"""Kernels that write outside of their buffers.

A little, and a zone with a pattern shows it; far, and the run ends with one line and no result.
"""

from dataclasses import dataclass

import pytest
from stream_program import on_a_device, only_error
from wrong_kernels import Wrong, run

pytestmark = pytest.mark.programs

STREAM = "  const DATA_TYPE factor = (DATA_TYPE)scalar;\n"
GEMM = "  const size_t width = (size_t)blocks * BLOCK_SIZE;\n"
PACK_B = "  const uint start = (uint)get_global_id(0) * PACK_ROWS;\n"
PTRANS = "for (uint task = first; task < first + count; ++task) {\n"
RANDOM = "  const size_t first = get_global_id(0) * LANES;\n"
RANDOM_BASE = "  ulong number[RNGS] FM_REGISTERS;\n"
SWAP = "  const size_t blocks = (size_t)outer * inner;\n"
STAGE = "  if (trouble[0] < (int)stage_number) return;\n"
TOUCH = "{ memory[0] = value; }"

SHORT_STREAM = ("--size", 4096, "--repetitions", 2)
SHORT_GEMM = ("--size", 60, "--block-size", 32, "--gemm-size", 8, "--unroll", 8, "--repetitions", 2)
SHORT_PTRANS = ("--size", 60, "--block-size", 16, "--channel-width", 4, "--repetitions", 2)
SHORT_RANDOM = ("--log-size", 10, "--repetitions", 2)


@dataclass(frozen=True)
class Outside:
    benchmark: str
    variant: str
    place: str  # before which the statement stands
    statement: str
    words: tuple
    zone: str = ""  # the argument whose zone is broken; empty: too far for one
    file: str = ""


def stream(statement, zone="result"):
    return Outside("stream", "throughput", STREAM, statement, SHORT_STREAM, zone)


def gemm(statement, zone="result", words=("--replications", 1)):
    return Outside("gemm", "base", GEMM, statement, (*SHORT_GEMM, *words), zone)


def ptrans(statement, zone="c"):
    return Outside("ptrans", "base", PTRANS, statement, (*SHORT_PTRANS, "--replications", 1), zone)


FIRST = "if (get_global_id(0) == 0) "
OUTSIDE = {
    "stream: a vector behind": stream(f"{FIRST}result[pieces] = (stream_vector)7;"),
    "stream: vectors before": stream(
        f"{FIRST}for (int q = 1; q <= 64; ++q) result[-q] = (stream_vector)7;"
    ),
    "stream: a byte of an input that is only read": stream(
        f"{FIRST}((__global uchar*)first)[-1] += 1;", "first"
    ),
    "stream: a MiB behind": stream(f"{FIRST}((__global uchar*)result)[1 << 20] = 7;", ""),
    "stream: all that is before": stream(
        f"{FIRST}for (int q = 1; q <= 1 << 20; ++q) result[-q] = (stream_vector)7;", ""
    ),
    "gemm: an element behind": gemm("result[width * width] = 3;"),
    "gemm: an element before": gemm("result[-1] = 3;"),
    "gemm: a row of blocks behind": gemm(
        "for (size_t i = 0; i < width * BLOCK_SIZE; ++i) result[width * width + i] = 3;"
    ),
    "gemm: behind the part of a replication": gemm(
        "result[width * block_rows * BLOCK_SIZE] = 3;", words=("--replications", 2)
    ),
    "gemm: C, which is not its own": gemm("((__global GEMM_VALUE*)c)[width * width] = 0;", "c"),
    "gemm: 50 matrices behind": gemm("result[width * width * 300] = 3;", ""),
    "gemm: packed B, of the second kernel": Outside(
        "gemm", "throughput", PACK_B, "if (start == 0) packed[-1] = (tile_vector)1;",
        ("--size", 60, "--repetitions", 2), "packed", "gemm/throughput_cpu.h",
    ),
    "ptrans: a block behind": ptrans("if (task == first) c[64 * 64 + BLOCK_ELEMENTS] = 1;"),
    "ptrans: an element of B before": ptrans("((__global DATA_TYPE*)b)[-1] = 1;", "b"),
    "ptrans: tasks": ptrans("((__global uint*)tasks)[-1] = 1;", "tasks"),
    "ptrans: 50 tasks of blocks behind": ptrans("c[(size_t)count * BLOCK_ELEMENTS * 50] = 1;", ""),
    "random access: an item behind": Outside(
        "random_access", "throughput", RANDOM, "items[1UL << log_part] ^= 1;", SHORT_RANDOM, "items"
    ),
    "random access: an item before": Outside(
        "random_access", "base", RANDOM_BASE, "items[-1] ^= seeds[0];", SHORT_RANDOM, "items"
    ),
    "shallow water: of an element before": Outside(
        "shallow_water", "throughput", STAGE, f"{FIRST}updated[-1] = 1;",
        ("--mesh", "bay:100", "--steps", 8, "--warmup", 0), "updated",
    ),
}  # fmt: skip
QUICK = {
    "stream: vectors before",
    "gemm: an element behind",
    "ptrans: a block behind",
    "ptrans: 50 tasks of blocks behind",
    "random access: an item before",
}


def broken(factory, folder, one):
    program = on_a_device(factory, one.benchmark)
    place = one.place
    text = f"{place}  {one.statement}\n"
    wrong = Wrong(one.variant, ((place, text),), file=one.file)
    return run(program, wrong, folder, *one.words)


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.full] * (what not in QUICK)) for what in OUTSIDE]
)
def test_what_is_written_outside_of_a_buffer_is_found(tmp_path_factory, tmp_path, what):
    one = OUTSIDE[what]
    done = broken(tmp_path_factory, tmp_path, one)
    if not one.zone:
        assert "memory was touched" in only_error(done, codes=(3,))
        assert done.document is None and "valid" not in done.output
        return
    assert done.code == 1, (done.code, done.errors)
    zones = next(v for v in done.document["verdicts"] if v["name"] == "guard zones")
    assert zones["status"] == "failed" and zones["repetition"] in (0, 1)
    assert f"'{one.zone}'" in zones["worst"]["place"]


# The runtime has one wait, and a result only when all has ended ---------------------------------------------


def test_a_kernel_that_never_ends_is_given_up(tmp_path_factory, tmp_path):
    program = on_a_device(tmp_path_factory, "stream")
    endless = Wrong(
        "throughput", ((STREAM, f"{STREAM}  while (pieces > 0) ((volatile __global uint*)result)[0];\n"),)
    )
    done = run(program, endless, tmp_path, *SHORT_STREAM, "--kernel-timeout", 0.5)
    error = only_error(done, codes=(3,))
    assert "the kernel 'stream' has not ended in 0.5 s" in error and "--kernel-timeout" in error
    assert done.document is None
