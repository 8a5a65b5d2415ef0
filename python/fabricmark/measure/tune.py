"""`fabricmark tune`: fm_tune measures once how messages of each size go the fastest here, and keeps it."""

import contextlib
import itertools
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths, terminal
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.base.schema import first_fault
from fabricmark.base.terminal import Column
from fabricmark.measure import launch, running
from fabricmark.systems import calibration

SCHEMA_FILE = "tuning-2"
BY_HAND = "run fm_tune by hand"
KINDS = {"threads": "threads of a process", "mpi": "MPI processes"}


@dataclass(frozen=True)
class Wanted:
    """What is to be measured: ranks of each kind so many, none: not this kind; options for fm_tune."""

    runtime: str
    ranks: int
    mpi: int
    extra: tuple[str, ...]


def folder() -> Path:
    """Where fm_tune keeps what it measured, a file for each transport, device and number of ranks."""
    return paths.cache() / "tuning"


def jobs(wanted: Wanted, output: Path) -> Iterator[launch.Job]:
    """What is to be run. Raises FabricmarkError (3) where there is no device."""
    for runtime, device in running.each_real_device(wanted.runtime):
        if wanted.ranks:
            yield launch.Job("tune", runtime, device, wanted.ranks, None, output, wanted.extra)
        if wanted.mpi:
            yield launch.Job("tune", runtime, device, 1, wanted.mpi, output, wanted.extra)


def run(wanted: Wanted) -> list[dict]:
    """Measure all: the documents that were kept. Raises FabricmarkError (2: bad options, 3: failures)."""
    if 1 in (wanted.ranks, wanted.mpi):
        raise FabricmarkError("one rank has nobody to send to", "give 2 or more, or 0 for none of that kind")
    documents: list[dict] = []
    with tempfile.TemporaryDirectory() as place:
        for number, job in enumerate(jobs(wanted, Path(place))):
            result = Path(place) / f"{number}.json"
            code, _ = launch.start(job, result)
            if code:
                raise FabricmarkError(f"fm_tune ended with exit code {code}", "see its line above", code)
            documents += read(result)
    return documents


def read(path: Path) -> list[dict]:
    """The documents of a list that fm_tune wrote. Raises FabricmarkError (3) for what is no such list."""
    try:
        documents = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FabricmarkError(f"fm_tune wrote nothing: {error}", BY_HAND, ENVIRONMENT) from error
    documents = documents if isinstance(documents, list) else [documents]
    for document in documents:
        fault = first_fault(SCHEMA_FILE, document)
        if fault:
            raise FabricmarkError(f"what fm_tune wrote: {fault[0]}: {fault[1]}", BY_HAND, ENVIRONMENT)
    return documents


def in_words(sizes: Sequence[Mapping]) -> str:
    """Such as `whole, from 65536 bytes on mapped memory`."""
    text = sizes[0]["protocol"]
    for before, size in itertools.pairwise(sizes):
        if size["protocol"] != before["protocol"]:
            text += f", from {size['bytes']} bytes on {size['protocol']}"
    return text


def known() -> list[dict]:
    """What is kept for this processor; damaged files are left out."""
    found = []
    for path in sorted(folder().glob("*.json")):
        with contextlib.suppress(OSError, ValueError):
            document = json.loads(path.read_text(encoding="utf-8"))
            if not first_fault(SCHEMA_FILE, document) and document["host"]["cpu"] == calibration.processor():
                found.append(document)
    return found


def show(documents: Sequence[Mapping]) -> None:
    """A line for each transport, device, number of ranks and pattern of messages."""
    rows = [
        [
            one["transport"],
            f"{one['ranks']['count']} {KINDS[one['ranks']['kind']]}",
            one.get("pattern", "exchange"),
            one["device"]["name"],
            in_words(one["sizes"]),
            one["created"][:19],
        ]
        for one in documents
    ]
    columns = [
        Column("transport", key=True),
        Column("ranks"),
        Column("pattern"),
        Column("device", prose=True),
    ]
    terminal.show(
        terminal.console(), [*columns, Column("fastest protocol", prose=True), Column("measured")], rows
    )
