"""A program's process: started in a group of its own, heard, and ended together with what it has started."""

import codecs
import contextlib
import ctypes
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from fabricmark.base import unreaped
from fabricmark.base.errors import ENVIRONMENT

SECONDS_TO_END = 10
INTERVAL_SECONDS = 0.2
LONGEST_PIECE = 65536
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def start(
    command: Sequence[str], environment: Mapping[str, str], *, output: int | IO | None,
    keep_open: Sequence[int], passed_on: bool,
) -> subprocess.Popen:  # fmt: skip
    """Start a program in a process group of its own, which also ends when this process is killed.

    `output`: where its standard output goes; None: to ours. `keep_open`: descriptors that it holds while it
    lives. `passed_on`: its standard error is a pipe, which `wait` reads. Raises OSError.
    """
    set_option = getattr(ctypes.CDLL(None), "prctl", None)
    parent = os.getpid()

    def end_with_parent() -> None:  # between fork and exec: nothing here may allocate much or lock
        if set_option is not None:
            set_option(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:
                os._exit(ENVIRONMENT)

    # A group in the background must not read from the terminal: it would be stopped.
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
        stderr=subprocess.PIPE if passed_on else None, pass_fds=tuple(keep_open),
        process_group=0, preexec_fn=end_with_parent,
    )  # fmt: skip


def wait(process: subprocess.Popen, look: Callable[[], None] = lambda: None) -> tuple[int, str]:
    """(exit code, end of its standard error) of a program, which is passed on as it comes; `look` is called
    now and then meanwhile.

    On Ctrl-C (or any other exception) the program's whole group ends before we do.
    """
    launcher = unreaped.Launcher(process.pid)
    try:
        said = _pass_on(process, launcher=launcher, look=look)
        return unreaped.wait(process, launcher, look), said
    except BaseException:
        _signal_group(process, signal.SIGTERM)
        give_up = time.monotonic() + SECONDS_TO_END
        try:
            with contextlib.suppress(OSError):  # a reader of ours that has gone
                _pass_on(process, give_up)
            process.wait(max(give_up - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            pass
        finally:
            _signal_group(process, signal.SIGKILL)  # also what a launcher may have left behind
            process.wait()
        raise
    finally:
        if process.stderr is not None:
            process.stderr.close()


def _pass_on(
    process: subprocess.Popen, give_up: float = math.inf, launcher: unreaped.Launcher | None = None,
    look: Callable[[], None] = lambda: None,
) -> str:  # fmt: skip
    """Write a program's standard error to ours until it ends: its last part.

    Without a thread, as programs are started by fork. `give_up`: time at which to return at the latest.
    """
    said, decoder = "", codecs.getincrementaldecoder("utf-8")("replace")
    while process.stderr is not None and time.monotonic() < give_up:
        look()
        if not select.select([process.stderr], [], [], INTERVAL_SECONDS)[0]:
            if process.poll() is not None or (launcher and launcher.code() is not None):
                break  # what it has left behind holds the pipe open
            continue
        content = os.read(process.stderr.fileno(), LONGEST_PIECE)
        if not content:
            break
        text = decoder.decode(content)
        sys.stderr.write(text)
        sys.stderr.flush()
        said = (said + text)[-LONGEST_PIECE:]
    return said


def _signal_group(process: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
