"""The phases of HPL's iterations, put together from the times of a block (models/hpl)."""

from dataclasses import dataclass

import numpy as np

from fabricmark.models import _grid


@dataclass(frozen=True)
class Steps:
    """Times of one block [s]: decomposition, a left or top block, a multiplication, its exchange.

    `link`: on a link that it passes while the kernels work. `latency`: of each communication phase, whatever
    its blocks. `multipliers`: multiplications side by side. `streams`: left and top begin with the first rows
    that the decomposition sends them.
    """

    lu: float
    panel: float
    multiply: float
    exchange: float = 0.0
    link: float = 0.0
    latency: float = 0.0
    multipliers: int = 1
    streams: bool = False


@dataclass(frozen=True)
class Phases:
    """Times [s] of each iteration on the rank that has most to do, as arrays.

    `latency`, `panels`, `exchange`: the parts of the communication phase, one after the other. `first`: the
    part of the update that the next iteration needs; `rest`: all other inner blocks.
    """

    latency: np.ndarray
    panels: np.ndarray
    exchange: np.ndarray
    first: np.ndarray
    rest: np.ndarray

    @property
    def communication(self) -> np.ndarray:
        """The whole phase."""
        return self.latency + self.panels + self.exchange

    def seconds(self, overlap: bool = True) -> float:
        """Time of all iterations [s]; without `overlap` one phase after the other."""
        if not overlap:
            return float(np.sum(self.communication + self.first + self.rest))
        following = np.append(self.communication[1:], 0.0)
        return float(self.communication[0] + np.sum(self.first + np.maximum(self.rest, following)))

    def by_name(self, overlap: bool = True) -> dict[str, float]:
        """Time [s] by phase: all of the update, and what of the communication phase it does not hide."""
        update = float(np.sum(self.first + self.rest))
        shown = self.seconds(overlap) - update
        parts = {"launch": self.latency, "panels": self.panels, "exchange": self.exchange}
        whole = float(np.sum(self.communication))
        hidden = {name: float(np.sum(part)) / whole * shown for name, part in parts.items()}
        return {"update": update, **(hidden if whole > 0 else {})}


def iteration_seconds(remaining, grid: tuple, steps: Steps) -> Phases:
    """Times of iterations after which so many rows and columns of blocks remain (Figs. 4.4 and 4.5).

    Left and top kernels run at the same time, and beside LU where it streams; a device exchanges its left and
    its top blocks.
    """
    rows, columns = _grid.most_blocks(remaining, grid[0]), _grid.most_blocks(remaining, grid[1])
    longest, inner = np.maximum(rows, columns), rows * columns
    first = np.where(inner > 0, rows + columns - 1, 0)
    waiting = np.maximum(steps.link - steps.panel, 0.0)
    panels = longest * steps.panel
    both = np.where(steps.streams, np.maximum(steps.lu, panels), steps.lu + panels)
    return Phases(
        latency=steps.latency + np.zeros_like(rows),
        panels=both,
        exchange=(rows + columns) * steps.exchange + longest * waiting,
        first=np.ceil(first / steps.multipliers) * steps.multiply,
        rest=np.ceil((inner - first) / steps.multipliers) * steps.multiply,
    )


def phases(blocks: int, grid: tuple[int, int], steps: Steps) -> Phases:
    """Times of all iterations, in their order, for a matrix of blocks x blocks on P x Q devices."""
    return iteration_seconds(np.arange(blocks - 1, -1, -1), grid, steps)


def seconds_by_blocks(most_blocks: int, grid: tuple, steps: Steps) -> np.ndarray:
    """Time [s] for matrices of 1, 2, ... `most_blocks` blocks, along a new last axis.

    What an iteration takes depends only on the blocks that remain after it, so that the sum for all sizes is
    one cumulative sum: t(N) = c(N - 1) + sum over r < N of (first(r) + max(rest(r), c(r - 1))).
    """
    last = np.newaxis
    steps = Steps(**{name: np.asarray(value)[..., last] for name, value in vars(steps).items()})
    grid = tuple(np.asarray(side)[..., last] for side in grid)
    found = iteration_seconds(np.arange(most_blocks), grid, steps)
    communication = found.communication
    before = np.concatenate([np.zeros_like(communication[..., :1]), communication[..., :-1]], axis=-1)
    return communication + np.cumsum(found.first + np.maximum(found.rest, before), axis=-1)
