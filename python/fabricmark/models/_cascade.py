"""A cascade of pipelines through the boards of a ring, each of which makes a step of time of the cells that
stream through it (Mondigo 2020, sections 3.2 and 3.3).

    b       = n W F                                                  what the pipelines take
    r_stall = 1 - min(r B_link, B_mem, b) / b                        eq. 3.1, divided by b
    P       = n m M F O (1 - r_stall) / (1 + M (m D_pipe + D_link + D_comp) / C)        eq. 3.8

C: ceil(N / n) words of N cells. A single board has no link: neither its bandwidth nor its latency counts.
r: bytes of cells by those on a link; without compression it is 1 and D_comp is 0.
Eq. 3.1 lacks the division as it is printed; only with it the printed stalls follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil, inf
from typing import Any

import numpy as np

from fabricmark.models import Board, Prediction
from fabricmark.models._missing import MissingValue
from fabricmark.models._network import hop_seconds, mean_spine_seconds
from fabricmark.models.machine import DIRECT, Bitstream, Network

INPUTS = (
    "bitstream.clock", "bitstream.pipeline_depth", "bitstream.pipeline_rows",
    "bitstream.cell_bytes", "bitstream.link_cycles",
    "bitstream.fitted.link_bandwidth", "bitstream.fitted.element_operations", "board.memory.bank_bandwidth",
    "network.links.bandwidth", "network.links.width", "network.latency", "network.start_latency",
    "network.switch_latency", "network.switch_ports", "network.cable_latency",
)  # fmt: skip
STEPS = {"operation": "steps"}
PUBLISHED = {**STEPS, "operations": "as published"}
LINK, COMPRESSORS, MEMORY, START, PIPELINES = (
    "bandwidth of links", "compressors", "memory bandwidth", "start of the pipelines", "pipelines"
)  # fmt: skip
NO_COMPRESSION = "none"
ALONG_X, ALONG_Y = "x", "y"
# What a compressor and a decompressor take together, and what a compressor makes in a cycle at most.
CODEC_CYCLES = 20
CODEC_BYTES = 64


Number = Any  # or an array of NumPy


@dataclass(frozen=True)
class Cascade:
    """`pipelines` n side by side, `cascaded` m behind each other on each of `boards` M.

    `hz`: F. `cell_bytes`: W of a cell. `depth`: D_pipe [cycles]. `cells`: N of the stream. `memory`: B_mem
    [B/s], at both ends of the ring. Of a link between boards `link`: B_link [B/s], and `link_cycles`: D_link.
    `ratio`: of the compression, whose both ends take `codec_cycles` D_comp, and which makes up to
    `codec_bytes` in a cycle. All may be arrays that broadcast against each other; only `bottleneck` is of
    one design.
    """

    pipelines: Number
    cascaded: Number
    boards: Number
    hz: Number
    cell_bytes: Number
    depth: Number
    cells: Number
    memory: Number
    link: Number = inf
    link_cycles: Number = 0.0
    ratio: Number = 1.0
    codec_cycles: Number = 0.0
    codec_bytes: Number = inf

    @property
    def needed(self) -> Number:
        """What the pipelines take at their full speed [B/s]: b."""
        return self.pipelines * self.cell_bytes * self.hz

    @property
    def supplies(self) -> dict[str, Number]:
        """What brings cells, each alone [B/s]; a board alone has no link that could hold it up."""
        made = self.ratio * self.codec_bytes * self.hz
        return {
            LINK: np.where(self.boards > 1, self.ratio * self.link, inf),
            COMPRESSORS: np.where(self.boards > 1, made, inf),
            MEMORY: self.memory,
        }

    @property
    def stall(self) -> Number:
        """Share of the cycles in which pipelines wait for cells: r_stall."""
        least = reduce(np.minimum, self.supplies.values())
        return 1 - np.minimum(self.needed, least) / self.needed

    @property
    def waited(self) -> dict[str, Number]:
        """Cycles of a pass by phase, as kernel.toml calls them: a word a cycle, those in which pipelines wait
        for cells, where the least supply counts, and those in which they fill.
        """
        waits = self.words * self.stall / (1 - self.stall)
        by_memory = self.memory <= reduce(np.minimum, self.supplies.values())
        return {
            "words": self.words,
            "links": np.where(by_memory, 0.0, waits),
            "memory": np.where(by_memory, waits, 0.0),
            "start": self.latency / (1 - self.stall),
        }

    @property
    def words(self) -> Number:
        """Of the stream: C."""
        return -(-self.cells // self.pipelines)

    @property
    def latency(self) -> Number:
        """Cycles from the first word that leaves the memory to the first one that is back."""
        return self.boards * (self.cascaded * self.depth + self.way)

    @property
    def way(self) -> Number:
        """Cycles from a board's last pipeline to the next board's first one."""
        return np.where(self.boards > 1, self.link_cycles + self.codec_cycles, 0.0)

    @property
    def peak(self) -> Number:
        """Steps of a cell a second, were no cycle lost."""
        return self.pipelines * self.cascaded * self.boards * self.hz

    @property
    def share(self) -> Number:
        """Of the peak."""
        return (1 - self.stall) / (1 + self.latency / self.words)

    @property
    def rate(self) -> Number:
        """Steps of a cell a second; times the operations of one: eq. 3.8."""
        return self.peak * self.share

    @property
    def cycles(self) -> Number:
        """Of a pass, as pipelines wait: those that fill are as slow as cells come to them, on the first board
        from the memory, behind it over links, whose latency is the same however slow cells are. Eq. 3.8
        stretches that, too: (C + latency) / (1 - r_stall), where no pipeline waits the same.
        """
        by_memory = np.minimum(self.needed, self.memory) / self.needed
        filled = self.cascaded * self.depth
        behind = (self.boards - 1) * filled + self.words
        return filled / by_memory + behind / (1 - self.stall) + self.boards * self.way

    @property
    def parallel_efficiency(self) -> Number:
        """The rate by that of as many boards alone."""
        return self.rate / (self.boards * replace(self, boards=1).rate)

    @property
    def start(self) -> Number:
        """Share of the cycles with cells, and without waiting for them, in which pipelines fill."""
        return self.latency / (self.latency + self.words)

    @property
    def costliest(self) -> str:
        """What most of the lost cycles go to, however few: waiting for cells, or the pipelines' start."""
        if self.stall > self.start:
            return min(self.supplies, key=self.supplies.__getitem__)
        return START

    @property
    def bottleneck(self) -> str:
        """What costs most: waiting for cells, or the pipelines' start in each pass; or nothing much."""
        if self.stall > 0 and self.stall >= self.start:
            return min(self.supplies, key=self.supplies.__getitem__)
        return START if self.share < 0.5 else PIPELINES


@dataclass(frozen=True)
class Depth:
    """How deep a pipeline is [cycles]: the rows that it keeps, of which n cells come in a cycle, and its
    arithmetic. `rows`: that it keeps. `arithmetic`: by n of what was built; `usual`: of other n.
    """

    rows: int
    arithmetic: Mapping[int, float]
    usual: float

    def of(self, pipelines: int, row_cells):
        """D_pipe for rows of so many cells, a number or an array."""
        return self.rows * row_cells / pipelines + self.arithmetic.get(pipelines, self.usual)


def depth_of(built: Mapping[int, float], row_cells: int, rows: int = 1) -> Depth:
    """From the depths of what was built, by its n, for rows of so many cells, of which it keeps `rows`."""
    arithmetic = {n: depth - rows * row_cells / n for n, depth in built.items()}
    return Depth(rows, arithmetic, sum(arithmetic.values()) / len(arithmetic))


def of_design(
    parameters: Mapping, cells: float, boards: int, board: Board,
    network: Network | None, bitstream: Bitstream | None,
) -> Cascade:  # fmt: skip
    """What was built, by its bitstream. The depth of a pipeline follows from the rows that its authors had,
    and is taken as it is for others; where columns stream one after the other (`orientation` y) it is that
    of rows as long.

    Raises MissingValue for what nothing says: a parameter, the clock, of several boards their network.
    """
    hz = board["clock"]
    if bitstream is None:
        raise MissingValue("bitstream.pipeline_depth")
    one = Cascade(
        parameters["pipelines"], parameters["cascaded"], boards, hz, bitstream["cell_bytes"],
        _depth(parameters, bitstream), cells, board["memory.bank_bandwidth"],
    )  # fmt: skip
    return one if boards == 1 else linked(_compressed(one, parameters), network, bitstream)


def rows_kept(bitstream: Bitstream) -> int:
    """By a pipeline of the design."""
    return int(bitstream["pipeline_rows"])


def _depth(parameters: Mapping, bitstream: Bitstream) -> float:
    """Cycles of the design's pipelines."""
    depth, rows = bitstream["pipeline_depth"], rows_kept(bitstream)
    if parameters.get("orientation") != ALONG_Y:
        return depth
    n = parameters["pipelines"]
    return depth_of({n: depth}, parameters["columns"], rows).of(n, parameters["rows"])


def _compressed(one: Cascade, parameters: Mapping) -> Cascade:
    """With what links carry. Raises MissingValue for a compression whose ratio nothing says."""
    if parameters.get("compression", NO_COMPRESSION) == NO_COMPRESSION:
        return one
    ratio = parameters.get("compression_ratio")
    if not ratio:
        raise MissingValue("compression_ratio")
    return replace(one, ratio=ratio, codec_cycles=CODEC_CYCLES, codec_bytes=CODEC_BYTES)


def linked(one: Cascade, network: Network | None, bitstream: Bitstream | None) -> Cascade:
    """With links: those that the design's figures follow from where it has cables of its own, else the
    network's, which takes a word of cells in whole flits. Compressed cells have no gaps in them.
    """
    if network is None:
        raise MissingValue("network.links.bandwidth")
    link = cycles = None
    if network.kind == DIRECT and bitstream is not None:
        link, cycles = bitstream.get("fitted.link_bandwidth"), bitstream.get("link_cycles")
    if link is None:
        word = one.pipelines * one.cell_bytes
        width = network.get("links.width") if one.codec_cycles == 0 else None
        width = width or word
        link = network["links.bandwidth"] * word / (ceil(word / width) * width)
    if cycles is None:
        cycles = round((hop_seconds(network) + mean_spine_seconds(network, one.boards)) * one.hz)
    return replace(one, link=link, link_cycles=cycles)


def phases(one: Cascade, parameters: Mapping, words: Mapping[str, str]) -> dict[str, float]:
    """Seconds of all passes of a run's steps by phase, in the words of kernel.toml."""
    passes = ceil(parameters.get("steps", 1) / (one.cascaded * one.boards))
    spent = {words[name]: passes * float(cycles) / one.hz for name, cycles in one.waited.items()}
    return {name: seconds for name, seconds in spent.items() if seconds}


def predict(
    parameters: Mapping, cells: float, board: Board, boards: int, flops: float,
    network: Network | None, bitstream: Bitstream | None, words: Mapping[str, str],
) -> list[Prediction]:  # fmt: skip
    """Cell steps a second and what they are in GFLOP/s by the project's own count of a cell's operations,
    `flops`, and by that of the design's authors; the share of the peak, of cycles without cells, and the
    parallel efficiency. `words`: the table `phases` of kernel.toml.
    """
    one = of_design(parameters, cells, boards, board, network, bitstream)
    spent = phases(one, parameters, words)
    about = f"eq. 3.8, {boards} x {one.cascaded} steps behind each other, {one.pipelines} cells a cycle"

    def rate(name: str, axes: Mapping, unit: str, scale: float) -> Prediction:
        return Prediction(name, axes, scale * one.rate, unit, scale * one.peak, one.bottleneck, about, spent)

    def percent(name: str, axes: Mapping, share: float) -> Prediction:
        return Prediction(name, axes, 100 * share, "%", None, one.bottleneck, about)

    found = [
        rate("cell_steps", STEPS, "Mcell/s", 1e-6),
        rate("performance", STEPS, "GFLOP/s", flops * 1e-9),
    ]
    counted = None if bitstream is None else bitstream.get("fitted.element_operations")
    if counted is not None:
        found.append(rate("performance", PUBLISHED, "GFLOP/s", counted * 1e-9))
    return [
        *found,
        percent("share_of_peak", STEPS, one.share),
        percent("stall", {"cause": "cells"}, one.stall),
        percent("parallel_efficiency", STEPS, one.parallel_efficiency),
    ]
