"""A process that adds made-up results to a store: `history_writer.py STORE FIRST COUNT [KILL_AT]`.

With KILL_AT it kills itself where the values of that result are about to be written, in the middle of a
transaction.
"""

import os
import signal
import sys
from pathlib import Path

from fabricmark.sites import store
from fabricmark.sites.nights import Series
from fabricmark.sites.store import Record

NODES, PER_NIGHT = 4, 40
OPERATIONS = ("copy", "triad")


class Deadly(tuple):
    """Values whose reading ends the process at once."""

    def __iter__(self):
        os.kill(os.getpid(), signal.SIGKILL)


def record(number, values=None, driver="1.0"):
    """Result `number`: its node, night and values follow from it."""
    node, night = f"n{number % NODES}", number // PER_NIGHT
    made = [
        (
            Series(f"stream {name}", node, "stream", f"stream bandwidth {name}", "GB/s", "higher"),
            10.0 + number,
        )
        for name in OPERATIONS
    ]
    started = (
        f"{2020 + night // 336}-{night // 28 % 12 + 1:02}-{night % 28 + 1:02}T01:00:{number % PER_NIGHT:02}Z"
    )
    return Record(
        f"digest {number}", f"night {night}", started, "stream", node, "fabricmark", "0.1.0",
        f"{number}.json",
        environment={"driver": driver}, values=made if values is None else values,
    )  # fmt: skip


def main():
    path, first, count, *kill = sys.argv[1:]
    numbers = range(int(first), int(first) + int(count))
    deadly = int(kill[0]) if kill else -1
    made = (record(number, Deadly() if number == deadly else None) for number in numbers)
    with store.opened(Path(path), make=True) as opened:
        for new, known in opened.add(made):
            print(new, known, flush=True)


if __name__ == "__main__":
    main()
