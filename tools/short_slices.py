"""Run a command whose threads, and those of all that it starts, ask the scheduler for short slices.

    python3 tools/short_slices.py COMMAND [ARGUMENT...]

Tests pass many small messages between threads and processes that share cores. Beside other work each of them
waits until a slice of that work is over, milliseconds every time: a test of 0.3 s took more than 120 s beside
two busy loops, and takes 6 s with slices of 0.1 ms (Linux 6.12 and later, where a thread that wakes up with a
shorter slice goes first). Where the system knows none of this the command just runs.
"""

import ctypes
import os
import platform
import struct
import sys

NANOSECONDS = 100_000  # the least that Linux takes
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # numbers of the system call
# struct sched_attr: size, policy (0: the usual one), flags, nice, priority, slice, and two more times.
LAYOUT = "IIQiIQQQ"


def ask(nanoseconds: int = NANOSECONDS) -> bool:
    """Of this thread and what it starts; whether the system has taken it."""
    number = SCHED_SETATTR.get(platform.machine())
    if sys.platform != "linux" or number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    wanted = struct.pack(LAYOUT, struct.calcsize(LAYOUT), 0, 0, nice, 0, nanoseconds, 0, 0)
    return ctypes.CDLL(None).syscall(number, 0, ctypes.create_string_buffer(wanted), 0) == 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ask()
    os.execvp(sys.argv[1], sys.argv[1:])
