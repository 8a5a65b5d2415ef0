"""Launchers that hang when all that they started has ended.

mpirun of Open MPI 4.1 does now and then, in PMIx_server_finalize, where several processes fail at the same
time: they stay zombies, and nobody hears how the run ended.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_SECONDS = 5.0
INTERVAL_SECONDS = 0.5
PROCESSES = Path("/proc")
BY_SIGNAL = 128  # more than the signal's number, as a shell has it
STATE, EXIT_CODE = 2, 51  # fields of /proc/PID/stat, from 0


class Launcher:
    """A process that may have such children; asked again and again whether it hangs."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since: float | None = None

    def code(self) -> int | None:
        """The largest exit code of its children, where all have ended long ago; None as long as one lives.

        A child that a signal ended counts where no other has failed: the launcher ends those that are left.
        Also None where the system tells nothing of processes.
        """
        waits = [_wait_status(child) for child in children(self._pid)]
        if not waits or None in waits:
            self._since = None
            return None
        self._since = self._since or time.monotonic()
        if time.monotonic() - self._since < PATIENCE_SECONDS:
            return None
        codes = [os.waitstatus_to_exitcode(wait) for wait in waits if wait is not None]
        return max(codes) if max(codes) > 0 else BY_SIGNAL - min(codes) if min(codes) < 0 else 0


def wait(process: subprocess.Popen, launcher: Launcher, look: Callable[[], None] = lambda: None) -> int:
    """The exit code of a process; where it hangs it is killed, and the code is that of its children. `look`
    is called now and then meanwhile."""
    while True:
        try:
            return process.wait(INTERVAL_SECONDS)
        except subprocess.TimeoutExpired:
            look()
            code = ended(process, launcher)
            if code is not None:
                return code


def ended(process: subprocess.Popen, launcher: Launcher) -> int | None:
    """Kills a launcher that hangs: the exit code of its children; None where it does not hang."""
    code = launcher.code()
    if code is not None:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return code


def communicate(process: subprocess.Popen, timeout: float | None = None) -> tuple[int, str, str]:
    """(exit code, output, errors) of a process that was started with pipes for text.

    Raises subprocess.TimeoutExpired after `timeout` seconds, when it has been killed.
    """
    launcher = Launcher(process.pid)
    give_up = None if timeout is None else time.monotonic() + timeout
    while True:
        try:
            output, errors = process.communicate(timeout=INTERVAL_SECONDS)
            return process.returncode, output, errors
        except subprocess.TimeoutExpired:
            code = ended(process, launcher)
            if code is not None:
                output, errors = process.communicate()
                return code, output, errors
            if give_up is not None and time.monotonic() > give_up:
                process.kill()
                process.communicate()
                raise


def children(pid: int) -> list[int]:
    """Processes that a process has started; none where the system tells nothing of them."""
    try:
        files = list((PROCESSES / str(pid) / "task").glob("*/children"))
        return [int(word) for file in files for word in file.read_text().split()]
    except (OSError, ValueError):
        return []


def _wait_status(pid: int) -> int | None:
    """Of a zombie, as wait tells it; None of others."""
    try:
        text = (PROCESSES / str(pid) / "stat").read_text()
    except OSError:
        return None
    after = text.rpartition(")")[2].split()  # from the state on; names may have spaces
    return int(after[EXIT_CODE - STATE]) if after[0] == "Z" else None
