"""What is handed to a runtime lives until the command has ended: under one that looks at it later."""

import pytest
from conftest import REPOSITORY
from stream_program import PROGRAM, Stream

pytestmark = pytest.mark.programs

LATE = REPOSITORY / "build" / "release" / "tests" / "unit" / "liblate_opencl.so"
HOST_TRANSFER = ("--smallest", 12, "--largest", 14, "--overlap-bytes", 65536)


@pytest.mark.parametrize(("name", "words"), [
    ("host_transfer", HOST_TRANSFER),
    ("stream", ("--size", 10000)),
    ("gemm", ("--size", 70)),
    pytest.param("hpl", ("--size", 128), marks=pytest.mark.full),
    pytest.param("ptrans", ("--size", 128, "--block-size", 64), marks=pytest.mark.full),
    pytest.param("fft", ("--log-size", 6, "--batch", 4), marks=pytest.mark.full),
    pytest.param("random_access", ("--log-size", 10), marks=pytest.mark.full),
    pytest.param("b_eff", (), marks=pytest.mark.full),
])  # fmt: skip
def test_results_are_right_where_the_runtime_reads_late(tmp_path, name, words):
    """As AMD's runtime does with patterns of fills. Each buffer is poisoned by one before it is used."""
    if not LATE.exists():
        pytest.skip("liblate_opencl.so is not built")
    program = Stream(tmp_path, PROGRAM.with_name(f"fm_{name}"))
    program.environment = {**program.environment, "LD_PRELOAD": str(LATE)}
    done = program.run(*words, "--repetitions", 1, "--warmup", 0)
    assert done.code == 0, done.errors
