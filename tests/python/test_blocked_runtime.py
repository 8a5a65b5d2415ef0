"""A call of the runtime that never returns ends the program in one line, within the limit for kernels."""

import pytest
from conftest import REPOSITORY
from stream_program import PROGRAM, Stream, one_error

pytestmark = pytest.mark.programs

BLOCKING = REPOSITORY / "build" / "release" / "tests" / "unit" / "libblocking_runtime.so"
FULL = pytest.mark.full
LIMIT = ("--kernel-timeout", "1")


@pytest.mark.parametrize(("call", "what"), [
    ("clEnqueueNDRangeKernel", "the kernel 'stream'"),
    ("clCreateBuffer", "a command of the device"),
    pytest.param("clEnqueueWriteBuffer", "a command of the device", marks=FULL),
    pytest.param("clEnqueueFillBuffer", "a command of the device", marks=FULL),
    pytest.param("clSetKernelArg", "a command of the device", marks=FULL),
])  # fmt: skip
def test_a_call_that_never_returns_is_named(tmp_path, call, what):
    if not BLOCKING.exists():
        pytest.skip("libblocking_runtime.so is not built")
    program = Stream(tmp_path, PROGRAM)
    variables = {"LD_PRELOAD": str(BLOCKING), "FABRICMARK_BLOCKED": call}
    done = program.start("--size", 1000, "--repetitions", 1, *LIMIT, variables=variables)
    assert done.code == 3
    assert f"{what} has not ended in 1 s; " in one_error(done)
