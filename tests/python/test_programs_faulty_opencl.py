"""A call of OpenCL that is refused ends the run with one line; one that is skipped makes it invalid."""

import pytest
from stream_program import REPOSITORY, on_a_device, only_error

pytestmark = pytest.mark.programs

FAULTY = REPOSITORY / "build" / "release" / "tests" / "unit" / "libfaulty_opencl.so"
# Without a warm-up, in which nothing counts.
WORDS = {
    "stream": ("--size", 1000, "--repetitions", 2, "--warmup", 0),
    "gemm": ("--size", 40, "--repetitions", 2, "--warmup", 0, "--variant", "throughput"),
    "random_access": ("--log-size", 8, "--repetitions", 2, "--warmup", 0),
    "ptrans": ("--size", 40, "--block-size", 16, "--repetitions", 2, "--warmup", 0),
    "fft": ("--log-size", 6, "--repetitions", 2, "--warmup", 0),
    "hpl": ("--size", 64, "--block-size", 16, "--repetitions", 1, "--warmup", 0),
    "shallow_water": ("--mesh", "bay:100", "--steps", 8, "--warmup", 0),
    "lbm": ("--columns", 32, "--rows", 24, "--steps", 8, "--warmup", 0),
}
CALLS = ("write", "read", "kernel", "buffer", "finish")
QUICK = {("gemm", "write"), ("stream", "read")}


def numbers(count, most=8):
    """Some of so many calls, the first and the last among them."""
    return sorted({i * (count - 1) // (most - 1) for i in range(most)}) if count else []


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return {name: on_a_device(tmp_path_factory, name) for name in WORDS}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        pytest.param(name, call, marks=[pytest.mark.full] * ((name, call) not in QUICK))
        for name in WORDS
        for call in CALLS
    ],
)
def test_a_call_that_goes_wrong_is_never_a_valid_result(programs, tmp_path, name, call):
    program, log = programs[name], tmp_path / "calls"
    variables = {"LD_PRELOAD": str(FAULTY), "FABRICMARK_FAULTY_LOG": str(log)}
    program.valid(*WORDS[name], variables=variables)
    counts = dict(line.split() for line in log.read_text().splitlines())
    for kind in ("refused", "skipped") if call in ("write", "read", "kernel") else ("refused",):
        for number in numbers(int(counts[call]), 3 if (name, call) in QUICK else 8):
            faulty = {
                **variables,
                "FABRICMARK_FAULTY_CALL": f"{call} {number}",
                "FABRICMARK_FAULTY_KIND": kind,
            }
            done = program.run(*WORDS[name], variables=faulty)
            what = (name, call, kind, number, done.errors, done.output)
            if kind == "skipped":
                assert done.code in (1, 3), what
                continue
            # A buffer's zones are done without where there is no room for them.
            if call == "buffer" and done.code == 0:
                assert any("no guard zones" in note for note in done.document["notes"]), what
                continue
            assert only_error(done, codes=(3,)) and done.document is None, what
