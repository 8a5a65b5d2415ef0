"""Everything that the files of systems declare: benchmarks on boards over transports, as designs."""

import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

from conftest import REPOSITORY
from fabricmark import models
from fabricmark.base import kernels
from fabricmark.systems import choice, files

REFUSALS = Path(__file__).with_name("declared_refusals.toml")


def kernel_toml(path):
    """What a kernel.toml says, with what it takes over from the one that it is `like`: all that it has not
    itself, and the entries of both of lists."""
    own = tomllib.loads(path.read_text(encoding="utf-8"))
    if "like" in own:
        other = path.parents[1] / own["like"] / "kernel.toml"
        _fill(own, tomllib.loads(other.read_text(encoding="utf-8")))
    return own


def file_of_variants(folder, benchmark):
    """The kernel.toml of a copy of kernels/ in which the variants of a benchmark stand: its own, or the one
    that it is `like`."""
    own = folder / benchmark / "kernel.toml"
    said = tomllib.loads(own.read_text(encoding="utf-8"))
    return own if "variants" in said else folder / said["like"] / "kernel.toml"


def _fill(own, other):
    for key, value in other.items():
        if isinstance(own.setdefault(key, value), dict) and own[key] is not value:
            _fill(own[key], value)
        elif isinstance(own[key], list) and own[key] is not value:
            own[key] += value


@dataclass(frozen=True)
class Row:
    """A design, or host code over a network: `bitstream` is "" where none is for this transport."""

    benchmark: str
    system: str
    board: str
    transport: str
    bitstream: str = ""

    def __str__(self):
        return " ".join((self.benchmark, self.system, self.board, self.transport, self.bitstream)).strip()

    @property
    def exchanges(self):
        return models.traits(self.benchmark).exchanges

    def words(self, transport=True):
        """The options that say it."""
        found = ["--system", self.system]
        if self.system != self.board:
            found += ["--board", self.board]
        found += ["--bitstream-id", self.bitstream] if self.bitstream else []
        if transport and self.transport not in ("", choice.NONE) and self.exchanges:
            found += ["--transport", self.transport]
        return found


@cache
def rows():
    """Of all systems, and of all boards by themselves."""
    with patch.dict(os.environ, FABRICMARK_ROOT=str(REPOSITORY), FABRICMARK_SYSTEMS=os.devnull):
        every = [name for kind in ("system", "board") for name in sorted(files.listed(kind))]
        return tuple(
            row for name in every for kind in choice.kinds(choice.Wanted(name)) for row in of_kind(kind)
        )


def of_kind(kind):
    found = [
        Row(one.benchmark, kind.name, kind.board_id, one.transport, name)
        for name, one in kind.designs.items()
    ]
    for benchmark in kernels.benchmark_names():
        if not models.traits(benchmark).exchanges:
            own = any(row.benchmark == benchmark for row in found)
            found += [] if own else [Row(benchmark, kind.name, kind.board_id, choice.NONE)]
            continue
        over = {row.transport for row in found if row.benchmark == benchmark}
        found += [
            Row(benchmark, kind.name, kind.board_id, transport)
            for transport in (kind.networks or [choice.NONE])
            if transport not in over
        ]
    return found


@cache
def refusals():
    """[[refusal]] of the table: commands, the pattern of the line, and why it is right."""
    return tuple(tomllib.loads(REFUSALS.read_text(encoding="utf-8"))["refusal"])


@cache
def designs():
    """What builds and inspections tell apart: each bitstream on a board, and kernels that have none there."""
    every = {row.bitstream and (row.board, row.bitstream): row for row in reversed(rows()) if row.bitstream}
    bare = {
        (row.benchmark, row.board): row
        for row in reversed(rows())
        if not any((one.benchmark, one.board) == (row.benchmark, row.board) for one in every.values())
    }
    return (*every.values(), *bare.values())
