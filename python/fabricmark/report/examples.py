"""Results that come with Fabricmark, shown as on the machine that they are of: its limits beside them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fabricmark.base import paths

RESULTS, MACHINE = "results", "machine"
VARIABLES = {"FABRICMARK_CACHE": "", "FABRICMARK_SYSTEMS": "systems"}  # where they look within MACHINE


@contextmanager
def at_their_machine() -> Iterator[Path]:
    """The folder of the results, while what `systems new` found is read from beside them."""
    before = {name: os.environ.get(name) for name in VARIABLES}
    folder = paths.examples()
    os.environ.update({name: str(folder / MACHINE / place) for name, place in VARIABLES.items()})
    try:
        yield folder / RESULTS
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def words(places: Sequence[Path]) -> list[object]:
    """How a command line names places of results: these by their option."""
    return ["--examples"] if list(places) == [paths.examples() / RESULTS] else list(places)
