"""Ctrl-C, SIGTERM and SIGHUP end a long command in the same tidy way."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end; `exit_code` is 128 + its number, as shells have it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def _raise(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


@contextmanager
def on_signals() -> Iterator[None]:
    """Within it, the signals raise Stopped (in the main thread; elsewhere Python has no handlers)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:  # nohup: the user wants it to go on
                signal.signal(number, _raise)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
