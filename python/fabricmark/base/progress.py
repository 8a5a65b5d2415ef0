"""Progress on standard error: a bar on a terminal, plain lines elsewhere; what runs, n of m and time left."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from fabricmark.base.errors import printable


class Steps:
    """Counts steps; a context.

    `to_do`: of `total` those that take time (default: all). `done`: what was done before. `shared`: whether
    what runs writes to the terminal, too, where a bar would get in its way. `silent`: only errors are said.
    """

    def __init__(
        self, total: int, to_do: int | None = None, *, done: int = 0, shared: bool = False,
        silent: bool = False,
    ) -> None:  # fmt: skip
        self.silent = silent
        self.total, self.to_do = total, total if to_do is None else to_do
        self.number, self.measured, self.seconds = done, 0, 0.0
        self.began = time.monotonic()
        self.bar: Progress | None = None
        if not silent and sys.stderr.isatty() and not (shared and sys.stdout.isatty()):
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            # Without a thread that refreshes: programs are started between fork and exec of this process.
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self.task = self.bar.add_task("", total=total, completed=done)

    def __enter__(self) -> "Steps":
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def begin(self, label: str, *, announced: bool = False) -> None:
        """A step begins; `announced`: with a line where there is no bar, unless it is the only step."""
        self.number += 1
        self.began = time.monotonic()
        if self.bar is not None:
            self.bar.update(self.task, description=escape(printable(f"{label}{self.left()}")), refresh=True)
        elif announced and self.total > 1 and not self.silent:
            print(
                printable(f"[{self.number}/{self.total}] {label}{self.left()}"), file=sys.stderr, flush=True
            )

    def end(self, line: str = "", *, counts: bool = True) -> None:
        """The step has ended; `line`: what to say of it. `counts`: its time says something of the others'."""
        if counts:
            self.measured += 1
            self.seconds += time.monotonic() - self.began
        if self.bar is not None:
            self.bar.advance(self.task)
        if line and not self.silent:
            self.say(f"[{self.number}/{self.total}] {line}{self.left()}")

    def say(self, line: str) -> None:
        """A line above the bar."""
        with self.aside():
            print(printable(line), file=sys.stderr, flush=True)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bar away while something else is printed."""
        if self.bar is not None:
            self.bar.stop()
        yield
        if self.bar is not None:
            self.bar.start()

    def left(self) -> str:
        """`, about 2 min left` from the mean of the steps so far; empty before the first and at the end."""
        steps = self.to_do - self.measured
        if not self.measured or steps <= 0:
            return ""
        seconds = self.seconds / self.measured * steps
        return f", about {seconds:.0f} s left" if seconds < 100 else f", about {seconds / 60:.0f} min left"
