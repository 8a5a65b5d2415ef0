"""The micro-benchmarks between memories of emulated cards under AMD's XRT, natively and by OpenCL."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY
from fabricmark.base import xrt
from fabricmark.build import card, design, steps
from stream_program import TIME_OUT, mpirun

pytestmark = [
    pytest.mark.programs,
    pytest.mark.usefixtures("of_the_repository"),
    pytest.mark.skipif(xrt.find() is None, reason="AMD's XRT is not installed"),
    pytest.mark.skipif(shutil.which(steps.CLANG) is None, reason=f"{steps.CLANG} is not installed"),
]
BUILT = REPOSITORY / "build" / "release"
SKIPPING = BUILT / "tests" / "unit" / "libskipping_xrt.so"  # of XRT's copies, which it forgets
FEW = ("-m", "64:128", "-i", "2", "-x", "1")
HBM = ("--bank", "B=0", "B", "B")
PRIVATE = {"FABRICMARK_CARD_MEMORY": "private"}


@pytest.fixture(scope="module")
def touch(tmp_path_factory):
    """The bitstream whose kernel touches memory."""
    folder = tmp_path_factory.mktemp("touch")
    made = card.steps(design.touching("u280_hbm", None, {}), None, folder, [])
    steps.carry_out(made)
    return made.bitstream


def run(bitstream, *words, result=None, **variables):
    """On two cards; what the program says, with its result file's content."""
    command = [sys.executable, "-m", "fabricmark.build.emulate", "2", str(bitstream.parent / "emconfig.json")]
    command += map(str, words)
    environment = {**os.environ, "FABRICMARK_CARD_SECONDS": "30", **variables}
    # XRT leaves its files in the current folder where a rank is ended from outside.
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIME_OUT, env=environment, cwd=bitstream.parent
    )
    document = json.loads(result.read_text()) if result is not None and result.exists() else None
    return done, document


def program(name):
    return BUILT / "bin" / name


IN_PROCESS = ("--ranks", "2")


@pytest.mark.parametrize(("name", "processes", "more", "variables"), [
    ("fm_bw", 2, HBM, PRIVATE),
    ("fm_latency", 2, ("--transport", "mpi", "D", "D"), PRIVATE),  # MPI reads the host's view of buffers
    ("fm_latency", 2, ("--transport", "mpi", "--memory", "host-pointer", "D", "D"), {}),
    ("fm_allreduce", 0, ("D", "D"), {}),
    ("fm_latency", 0, ("--backend", "opencl", "--bank", "B=0", "H", "B"), {}),
])  # fmt: skip
def test_messages_between_cards_are_valid(touch, tmp_path, name, processes, more, variables):
    result = tmp_path / "result.json"
    start = (*mpirun(2), program(name)) if processes else (program(name), *IN_PROCESS)
    done, document = run(touch, *start, "--bitstream", touch, *FEW, *more, "--json", result, result=result,
                         **variables)  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert document["environment"]["device"]["platform"] == xrt.NAMES["opencl" if "opencl" in more else "xrt"]
    assert {one["kind"] for one in document["measurements"]} == {"emulated"}
    note = "XRT speaks to the board of the .xclbin by its own interface; --backend opencl by OpenCL"
    assert (note in document["notes"]) == ("opencl" not in more)
    assert {one["status"] for one in document["verdicts"]} == {"passed"}


@pytest.mark.parametrize(("transport", "code", "line"), [
    ("mpi", 3, "other bytes arrive in the host's view of XRT's buffers than have left from them; see "),
    ("host", 1, " wrong elements; the first: "),
])  # fmt: skip
def test_copies_that_xrt_forgets_are_found(touch, transport, code, line):
    """Of buffers that host and card do not share: what is sent is old."""
    if not SKIPPING.exists():
        pytest.skip("libskipping_xrt.so is not built")
    start = (*mpirun(2), program("fm_latency"), "--transport", transport, "--bitstream", touch)
    done, _ = run(touch, *start, *FEW, "D", "D", **PRIVATE, LD_PRELOAD=str(SKIPPING))
    assert done.returncode == code and line in done.stdout + done.stderr, (done.stdout, done.stderr)


def test_a_memory_that_there_is_not_is_named(touch):
    words = (program("fm_latency"), *IN_PROCESS, "--bitstream", touch, *FEW, "--bank", "B=99", "B", "B")
    done, _ = run(touch, *words)
    assert done.returncode == 2 and "touch.xclbin has no memory 99; give --bank the number" in done.stderr


def test_messages_that_a_memory_has_no_room_for_are_refused(touch):
    """Before XRT finds none, whose OpenCL does not survive that. HBM[0] has 256 MiB."""
    start = (*mpirun(2), program("fm_latency"), "--transport", "mpi", "--bitstream", touch)
    done, _ = run(touch, *start, "-m", f"{2**27}:{2**27}", "D", "D")
    assert done.returncode == 2 and f"no memory for messages of {2**27} B; choose smaller ones" in done.stderr
    assert "OutOfMemory" not in done.stdout + done.stderr


def test_memory_that_the_kernel_is_not_linked_to_is_named(touch):
    words = (program("fm_latency"), *IN_PROCESS, "--bitstream", touch, *FEW, "--bank", "B=2", "B", "B")
    done, _ = run(touch, *words)
    assert done.returncode != 0
    assert "touch_1's argument bytes is connected to HBM[0], and its buffer lies in HBM[2]" in done.stderr


@pytest.mark.parametrize(("words", "line"), [
    (("fm_latency", *FEW, "D", "D"), "without a bitstream has no DDR memory of its own (D); build kernels/"),
    (("fm_collective", "all_reduce", "--transport", "host"),
     "has memory for messages when a bitstream was loaded, and none is; use a program that takes --bit"),
])  # fmt: skip
@pytest.mark.parametrize("backend", xrt.NAMES)
def test_what_loads_no_bitstream_is_refused(touch, words, line, backend):
    name, *more = words
    done, _ = run(touch, program(name), *IN_PROCESS, *more, **{xrt.BACKEND: backend})
    assert done.returncode == 2
    (found,) = [one for one in done.stderr.splitlines() if "error: " in one and "XRT" not in one]
    assert line in found


def test_opencls_memory_objects_are_refused_by_an_mpi_that_takes_none(touch):
    start = (*mpirun(2), program("fm_latency"), "--transport", "mpi", "--backend", "opencl")
    done, _ = run(touch, *start, "--bitstream", touch, *FEW, "D", "D")
    assert done.returncode != 0 and "does not take memory objects of OpenCL; use " in done.stderr
