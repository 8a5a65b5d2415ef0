"""One process at a time in a folder: a lock that ends with its holders, however they end."""

import errno
import fcntl
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

FILE_NAME = ".lock"
HOLDER = "process "  # how the file's one line begins
PATIENCE_SECONDS = 3.0  # programs of a command that was killed end within this time
INTERVAL_SECONDS = 0.05


@contextmanager
def exclusive(folder: Path, what: str) -> Iterator[int]:
    """Hold the folder's lock; gives its descriptor, which child processes may inherit to hold it too.

    Creates the folder. `what` says in the message what is going on. Raises FabricmarkError: 2 when the place
    cannot be written or holds another file of that name, 3 when another process holds the lock.
    """
    path = folder / FILE_NAME
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, flags, 0o644)
    except OSError as error:
        cause = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
        raise FabricmarkError(f"cannot write {path}: {cause}", "choose another --output") from error
    try:
        _check_is_ours(descriptor, path)
        _take(descriptor, path, what)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{HOLDER}{os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)  # the file stays: removing it would let two processes lock two files


def _check_is_ours(descriptor: int, path: Path) -> None:
    """A file of the user's that happens to have this name must not be overwritten. Raises FabricmarkError."""
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    if not is_file or os.pread(descriptor, len(HOLDER), 0) not in (b"", HOLDER.encode()):
        raise FabricmarkError(f"{path} is not a lock of this suite", "move it, or choose another --output")


def _take(descriptor: int, path: Path, what: str) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process"
                cause = f"{what} is already being run by {holder} ({path})"
                raise FabricmarkError(cause, "wait until it has ended or stop it", ENVIRONMENT) from None
            time.sleep(INTERVAL_SECONDS)
        except OSError as error:
            cause = f"{path} cannot be locked: {error.strerror}"
            raise FabricmarkError(cause, "choose an --output on another file system") from error
