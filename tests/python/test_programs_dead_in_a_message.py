"""A process that dies in the middle of a message through shared memory is named, and ends the run."""

import contextlib
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stream_program import devices, mpirun, on_a_device, one_error

pytestmark = pytest.mark.programs

STAGING = "fabricmark-staging"  # in the name of the memory that both ranks map
# Messages take seconds, so that one is in flight whenever the other rank looks.
LONG = (
    "--staging", "shared", "--chunk-bytes", "64", "--staging-slots", "1", "--map-memory", "false",
    "--largest", "23", "--messages", "1", "--repetitions", "1", "--warmup", "0", "--sub-steps", "false",
)  # fmt: skip

# Of one that was struck before it exchanged messages, or between two of them.
NOT_IN_A_MESSAGE = r"no sign of (rank 1|a message of \d+ bytes from rank 1)"


@pytest.fixture(scope="module")
def b_eff(tmp_path_factory):
    program = on_a_device(tmp_path_factory, "b_eff")
    if devices(program)[0]["class"] != "cpu":
        pytest.skip("for CPUs only: 64 bytes a copy take a GPU minutes")
    return program


def told(program):
    """A command that says which process is which rank, and then is the program."""
    script = program.folder / "told.sh"
    script.write_text('#!/bin/bash\necho $$ > "$1.$OMPI_COMM_WORLD_RANK$PMI_RANK"\nshift\nexec "$@"\n')
    script.chmod(0o755)
    return script


def strike(place, number, seconds):
    """Send rank 1 a signal, so long after it has got the memory through which messages go."""
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            process = int(Path(f"{place}.1").read_text())
            if STAGING in Path(f"/proc/{process}/maps").read_text():
                time.sleep(seconds)
                os.kill(process, number)
                return
        time.sleep(0.02)
    raise AssertionError("rank 1 has not begun")


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_process_that_dies_in_a_message_in_chunks_is_named(b_eff, tmp_path, number):
    launcher = [word for word in mpirun(2) if word != "-q"]  # which names a process that was killed
    for seconds in (1, 4, 16):  # until it is struck in a message, however busy the machine is
        place = tmp_path / f"rank-{seconds}"
        with ThreadPoolExecutor() as pool:
            struck = pool.submit(strike, place, number, seconds)
            done = b_eff.start(*LONG, "--timeout", 1, launcher=[*launcher, told(b_eff), place])
            struck.result()
        if not re.search(NOT_IN_A_MESSAGE, done.errors):
            break
    if number == signal.SIGKILL:
        assert done.code not in (0, 1)
        assert "process rank 1 " in done.errors and "signal 9" in done.errors, done.errors
        return
    line = one_error(done, codes=(3,))
    came = r"of a message of \d+ bytes from rank 1 no more than \d+ bytes came"
    left = r"no sign of a message of \d+ bytes to rank 1 in 1 s: not all of it was taken"
    assert re.search(f"{came}|{left}", line), line
