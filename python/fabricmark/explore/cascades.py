"""Cascades of pipelines through a ring of boards (models/_cascade.py): all designs of a stencil at once.

A design is a place in a grid with an axis for each of AXES. Whether it fits, and what time a grid of cells
takes on it, are arrays over all of them; the equations are those of the models, and nothing is written here
a second time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from fabricmark.explore.elements import Element, Links
from fabricmark.models import Board
from fabricmark.models._cascade import ALONG_X, CODEC_BYTES, NO_COMPRESSION, Cascade

AXES = ("boards", "pipelines", "cascaded", "orientation", "compression", "link")
NONE = NO_COMPRESSION


@dataclass(frozen=True)
class Problem:
    """So many `steps` of a grid of columns x rows cells."""

    columns: int
    rows: int
    steps: int

    @property
    def cells(self) -> int:
        return self.columns * self.rows

    def row_cells(self, orientation: str) -> int:
        """Cells of a row, along which the grid streams."""
        return self.columns if orientation == ALONG_X else self.rows


@dataclass(frozen=True)
class Space:
    """What is looked at: the values of each axis. `ratios`: of compressions, by name and pipelines."""

    boards: Sequence[int]
    pipelines: Sequence[int]
    cascaded: Sequence[int]
    orientations: Sequence[str]
    compressions: Sequence[str]
    links: Sequence[Links]
    ratios: Mapping[tuple[str, int], float] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.values))

    @property
    def values(self) -> tuple[Sequence, ...]:
        """Of the axes, in their order."""
        return (
            self.boards, self.pipelines, self.cascaded, self.orientations, self.compressions, self.links
        )  # fmt: skip

    def along(self, axis: str, values: Sequence) -> np.ndarray:
        """Numbers of an axis, so that they broadcast over the grid."""
        place = AXES.index(axis)
        return np.asarray(values).reshape((1,) * place + (-1,) + (1,) * (len(AXES) - place - 1))

    def over(self, axes: Sequence[str], value) -> np.ndarray:
        """Numbers that depend on several axes: `value` of one of each."""
        counts = {axis: self.values[AXES.index(axis)] for axis in axes}
        shape = [len(counts[axis]) if axis in axes else 1 for axis in AXES]
        found = np.empty([len(one) for one in counts.values()])
        for place in np.ndindex(found.shape):
            found[place] = value(*(one[at] for one, at in zip(counts.values(), place, strict=True)))
        return found.reshape(shape)


@dataclass(frozen=True)
class Exploration:
    """All designs of a space on a board. `element`: what a stage is made of; `board`: as it is described."""

    problem: Problem
    space: Space
    element: Element
    board: Board
    resources: Mapping[str, float]
    launch: float

    @cached_property
    def cascade(self) -> Cascade:
        """Of all designs at once."""
        space, element = self.space, self.element
        return Cascade(
            space.along("pipelines", space.pipelines),
            space.along("cascaded", space.cascaded),
            space.along("boards", space.boards),
            element.hz,
            element.cell_bytes,
            space.over(
                ("pipelines", "orientation"),
                lambda n, way: element.depth.of(n, self.problem.row_cells(way)),
            ),
            self.problem.cells,
            self.board["memory.bank_bandwidth"],
            space.over(
                ("boards", "pipelines", "compression", "link"),
                lambda m, n, name, link: link.bandwidth_of(m, n, packed=name != NONE),
            ),
            space.over(("boards", "pipelines", "compression", "link"), self._link_cycles),
            space.over(("pipelines", "compression"), lambda n, name: space.ratios.get((name, n), 1.0)),
            space.over(("compression",), lambda name: element.codec_cycles * (name != NONE)),
            space.over(("compression",), lambda name: CODEC_BYTES if name != NONE else inf),
        )

    def _link_cycles(self, boards: int, pipelines: int, compression: str, link: Links) -> float:
        ratio = None if compression == NONE else self.space.ratios.get((compression, pipelines), 1.0)
        return link.cycles_of(boards, link.stream(pipelines, self.problem.cells, ratio))

    @cached_property
    def seconds(self) -> np.ndarray:
        """Of all steps: passes, each of as many steps as there are stages, and the host's start of each."""
        one = self.cascade
        passes = -(-self.problem.steps // (one.cascaded * one.boards))
        return np.broadcast_to(passes * (one.cycles / one.hz + self.launch), self.space.shape)

    @cached_property
    def efficiency(self) -> np.ndarray:
        """Share of the cycles of a pass in which pipelines have a word."""
        return np.broadcast_to(self.cascade.words / self.cascade.cycles, self.space.shape)

    @cached_property
    def needs(self) -> Mapping[str, np.ndarray]:
        """What each resource of a board has to have."""
        return self.element.needs(self)

    @cached_property
    def refused(self) -> Mapping[str, np.ndarray]:
        """By reason, in words: where a design does not fit for it."""
        space = self.space
        found = {
            name: needed > self.resources[name]
            for name, needed in self.needs.items()
            if name in self.resources
        }
        several = space.along("boards", space.boards) > 1
        found["ports"] = several & (space.along("link", [one.ports_short for one in space.links]) > 0)
        found["frame"] = several & (space.along("link", [one.is_too_long for one in space.links]) > 0)
        short = space.over(("boards", "link"), lambda m, one: one.is_short(m))
        found["receive depth"] = several & (short > 0)
        missing = space.over(
            ("pipelines", "compression"), lambda n, name: name != NONE and (name, n) not in space.ratios
        )
        found["no known ratio"] = missing > 0
        found["no link to compress for"] = ~several & (
            space.along("compression", [name != NONE for name in space.compressions])
        )
        return found

    @cached_property
    def fits(self) -> np.ndarray:
        found = np.ones(self.space.shape, dtype=bool)
        for one in self.refused.values():
            found &= ~one
        return found

    def why_not(self, place: tuple[int, ...]) -> list[str]:
        """The reasons for which a design does not fit."""
        return [
            name
            for name, one in self.refused.items()
            if np.broadcast_to(one, self.space.shape)[place]
        ]  # fmt: skip

    def one(self, place: tuple[int, ...]) -> Cascade:
        """A single design."""
        shape, numbers = self.space.shape, {}
        for name, value in vars(self.cascade).items():
            numbers[name] = np.broadcast_to(value, shape)[place].item()
        return Cascade(**numbers)

    def values(self, place: tuple[int, ...]) -> dict[str, Any]:
        """Of the axes."""
        return {
            axis: values[at] for axis, values, at in zip(AXES, self.space.values, place, strict=True)
        }  # fmt: skip

    def need(self, name: str, place: tuple[int, ...]) -> float:
        return float(np.broadcast_to(self.needs[name], self.space.shape)[place])
