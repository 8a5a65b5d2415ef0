"""What a stage of a cascade and the links between boards are made of, from a described system.

Clock, bytes of a cell and depth are those of a published design of the same benchmark where the system has
one. The arithmetic of its element is that of its authors: their count of operations, at as many DSPs and as
much logic an operation as `inspect` and the fitted factors say of this project's kernel. Links and buffers
are counted by yosys (rtl/resources.toml).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fabricmark.base import kernels, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.kept import kept
from fabricmark.build.design import resolve
from fabricmark.explore import area
from fabricmark.inspect.chips import INTEL, VENDORS
from fabricmark.inspect.command import inspect_design
from fabricmark.models import _cascade
from fabricmark.models._cascade import NO_COMPRESSION, Cascade, Depth
from fabricmark.models._credit_link import CreditLink, FramedLink, efficiency
from fabricmark.models._network import hop_seconds, mean_spine_seconds
from fabricmark.models.machine import DIRECT, Bitstream, Network
from fabricmark.predict import credit_link
from fabricmark.systems import System, files

VARIANT = "dataflow"
ENDS = 2  # of links a board of a ring has: from the board before and to the next one
STREAMS = 2  # of cells in the memory of the first board: loaded and stored
SIMPLEST = "1d"  # of compressions
DEFAULT_NAME, PORT = "without payload CRC", "Ethernet port"
OF_YOSYS = {  # names of cells in rtl/resources.toml, by resource: a lookup table is taken for a whole module
    "ALUT": "logic", "LUT": "logic", "FF": "registers", "M10K": "bram", "RAMB36": "bram",
}  # fmt: skip
FAMILIES = {INTEL: "intel_alm"}
OTHER_FAMILY = "xcup"


FRAME = ("frame", "links.width")
FRAMED = ("links.width", "links.clock", "links.line_rate", "frame_overhead", "flow.packet")


class Stream(NamedTuple):
    """Of a pass: words, one in a cycle of the pipelines, and the flits of a link that carry them."""

    words: float
    flits: float


@dataclass(frozen=True)
class Links:
    """Links of a board with packets of so many flits and receive buffers so deep.

    `network`: None for boards alone. `bitstream`: whose figures may say the links' rate and latency. `usual`:
    the link that these are of. `cells`: resources of an end.
    """

    packet: int
    depth: int
    network: Network | None
    bitstream: Bitstream | None
    hz: float
    cell_bytes: float
    usual: CreditLink
    cells: Mapping[str, float]
    ports: float | None
    switched: bool = False

    @kept
    def latency(self, boards: int) -> int:
        """From a board to the next one [cycles], without packets."""
        if self.network is None:
            return 0
        if self.network.kind == DIRECT:
            boards = ENDS  # cables are the same between any of them
        return round((hop_seconds(self.network) + mean_spine_seconds(self.network, boards)) * self.hz)

    def law(self, boards: int) -> CreditLink:
        """The credit link between two neighbours of so many boards."""
        return self._law(self.latency(boards))

    @kept
    def _law(self, latency: int) -> CreditLink:
        return replace(
            self.usual, latency=latency, packet=self.packet, receive_depth=self.depth,
            credit_interval=max(min(self.packet, latency), 1),
        )  # fmt: skip

    def is_short(self, boards: int) -> bool:
        """Whether the receive buffer is less deep than the full rate needs (the law of _credit_link.py)."""
        return self.network is not None and self.depth < self.law(boards).depth_for_full_rate

    @property
    def is_too_long(self) -> bool:
        """Whether a packet with its header does not fit into a frame, over networks that have frames."""
        frame, width = (None if self.network is None else self.network.get(key) for key in FRAME)
        return bool(frame and width and (self.packet + 1) * width > frame)

    @property
    def ports_short(self) -> int:
        """Ports that a board has less than its links need."""
        wanted = 0 if self.network is None else int(self.network.get("links.count") or 1)
        return 0 if self.ports is None else max(wanted - int(self.ports), 0)

    @kept
    def _linked(self, pipelines: int, *, packed: bool = False) -> Cascade:
        """Two boards with the links of the design's or the network's figures. Words that are `packed`, as
        compression makes them, have no gaps between them."""
        one = Cascade(pipelines, 1, ENDS, self.hz, self.cell_bytes, 1.0, 1.0, 1.0)
        one = replace(one, codec_cycles=float(packed))  # any: what it takes is not the link's
        return _cascade.linked(one, self.network, self.bitstream)

    def bandwidth_of(self, boards: int, pipelines: int, *, packed: bool = False) -> float:
        """B_link [B/s]: the known one, of which packets of another length leave another share, and over
        switches no more than the cable takes."""
        if boards == 1 or self.network is None:
            return np.inf
        known = efficiency(self.usual.packet, self.usual.overhead)
        share = efficiency(self.packet, self.usual.overhead) / known
        if framed := self.framed(boards):
            share *= framed.rate / (framed.link.peak * framed.link.efficiency)
        return float(self._linked(pipelines, packed=packed).link) * share

    def stream(self, pipelines: int, cells: float, ratio: float | None) -> Stream:
        """Of so many cells, which compression makes smaller by the ratio; None: as they are, each word in
        whole flits."""
        words, word = -(-cells // pipelines), pipelines * self.cell_bytes
        width = (None if self.network is None else self.network.get("links.width")) or word
        if ratio is None:
            return Stream(words, words * -(-word // width))
        return Stream(words, -(-words * word / ratio // width))

    def cycles_of(self, boards: int, stream: Stream) -> float:
        """D_link [cycles]: a packet is stored whole before it leaves (eq. 2.2), over switches as a frame,
        too, where the last one of a pass waits until it is closed."""
        if boards == 1 or self.network is None:
            return 0.0
        known = self._linked(1).link_cycles if self.network.kind == DIRECT else self.latency(boards)
        cycles = float(known)
        if (framed := self.framed(boards)) is None:
            return cycles + self.packet - self.usual.packet
        return cycles + self._longer(framed.link.latency, stream) * self.hz

    @kept
    def _longer(self, latency: int, stream: Stream) -> float:
        framed = self._framed(latency)
        arriving = stream.flits * framed.link.width / stream.words * self.hz
        return max(framed.first_seconds(arriving), framed.last_seconds(stream.flits, arriving))

    @cached_property
    def _has_frames(self) -> bool:
        return self.switched and None not in map(self.network.get, FRAMED)  # type: ignore[union-attr]

    def framed(self, boards: int) -> FramedLink | None:
        """The same link over the frames of a switched network, of which the file says what they take."""
        if self.network is None or not self._has_frames:
            return None
        return self._framed(self.latency(boards))

    @kept
    def _framed(self, latency: int) -> FramedLink:
        width, clock, rate, overhead, _ = (self.network[name] for name in FRAMED)  # type: ignore[index]
        return FramedLink(replace(self._law(latency), width=int(width), clock=clock), overhead, rate)

    def __str__(self) -> str:
        return f"D {self.packet}, RX {self.depth}"


@dataclass(frozen=True)
class Element:
    """A stage of one pipeline. `arithmetic`: amounts of area.py. `dsps`: as inspect counts them.

    `codec_cycles`: of compression. `is_published`: the clock, cell and depth are those of a published design.
    """

    hz: float
    cell_bytes: float
    depth: Depth
    vendor: str
    arithmetic: Mapping[str, float]
    codec_cycles: float = float(_cascade.CODEC_CYCLES)
    is_published: bool = True

    def needs(self, of) -> dict[str, np.ndarray]:
        """By resource, of all designs of an exploration: stages, the rows that they keep, and the links."""
        space = of.space
        pipelines, cascaded = (space.along(name, getattr(space, name)) for name in ("pipelines", "cascaded"))
        kept = space.over(
            ("pipelines", "orientation"),
            lambda n, way: area.blocks_of_rows(
                VENDORS[self.vendor], n * self.cell_bytes,
                self.depth.rows * -(-of.problem.row_cells(way) // n),
            ),
        )  # fmt: skip
        stages = pipelines * cascaded
        amounts = {name: stages * number for name, number in self.arithmetic.items()}
        amounts |= {area.SHELL: 1.0, area.UNITS: float(STREAMS), area.BLOCKS: cascaded * kept}
        found = area.estimates(amounts, self.vendor)
        several = space.along("boards", space.boards) > 1
        table = LinkTable(self.vendor)
        for name in found:
            ends = space.along("link", [ENDS * one.cells.get(name, 0.0) for one in space.links])
            codecs = space.along(
                "compression", [table.codec(way).get(name, 0.0) for way in space.compressions]
            )
            found[name] = found[name] + several * (ends + pipelines * codecs)
        return found


def element_of(benchmark: str, system: System, built: Sequence[Bitstream], row_cells: int) -> Element:
    """From the published designs of a benchmark on a board. `row_cells`: of the rows that these had."""
    first = built[0]
    vendor = area.vendor_of(board_resources(system), system.board_id)
    depths = {_count(one, "pipelines"): one["pipeline_depth"] for one in built}
    operations = first.get("fitted.element_operations")
    return Element(
        first["clock"], first["cell_bytes"],
        _cascade.depth_of(depths, row_cells, _cascade.rows_kept(first)), vendor,
        arithmetic_of(benchmark, vendor, operations),
    )  # fmt: skip


def arithmetic_of(benchmark: str, vendor: str, operations: float | None) -> dict[str, float]:
    """Amounts of a pipeline's stage. `operations`: its authors' count; None: this project's kernel."""
    design = resolve(benchmark, "base", None, None, {"pipelines": "1"})
    loops = [loop for kernel in inspect_design(design, vendor) for loop in kernel.loops if loop.is_marked]
    if not loops:
        raise FabricmarkError(f"{benchmark} has no pipelined loop", "explore a stencil with a base kernel")
    loop = max(loops, key=lambda one: one.dsps)
    found = dict.fromkeys((area.OPERATIONS, area.BITS, area.LOGIC_BITS), 0.0)
    for kind, number in loop.by_type:
        area.add(found, VENDORS[vendor], kind, number)
    found[area.DSPS] = float(loop.dsps)
    counted = sum(number for _, number in loop.by_type)
    scale = 1.0 if operations is None else operations / counted
    return {name: number * scale for name, number in found.items()}


def board_resources(system: System) -> dict[str, float]:
    """Of the board alone."""
    from fabricmark.predict import feasible

    return feasible.resources(system.parts[""])


@dataclass(frozen=True)
class LinkTable:
    """What yosys counts of an end of a link, for one vendor's cells."""

    vendor: str

    @cached_property
    def known(self) -> dict[tuple[int, int], dict[str, float]]:
        """By packet and receive depth [flits]."""
        usual = credit_link.USUAL
        found = {}
        for name, cells in self._said.items():
            if not name.startswith(self._family) or DEFAULT_NAME not in name:
                continue
            sizes = re.search(r"D (\d+), RX (\d+)$", name)
            place = (int(sizes[1]), int(sizes[2])) if sizes else (usual.packet, usual.receive_depth)
            found[place] = _by_resource(cells)
        return found

    def codec(self, predictor: str) -> dict[str, float]:
        """Of a pipeline, a compressor to the next board and a decompressor from the one before: that of the
        predictor, of others the simplest. Empty without compression, and where nothing was counted.
        """
        if predictor == NO_COMPRESSION:
            return {}
        names = [name for name in self._said if re.search(rf"compress {SIMPLEST}$", name)]
        own = [name for name in self._said if re.search(rf"compress {re.escape(predictor)}$", name)]
        found: dict[str, float] = {}
        for name in own or names:
            if name.startswith(self._family):
                for resource, number in _by_resource(self._said[name]).items():
                    found[resource] = found.get(resource, 0.0) + number
        return found

    @cached_property
    def _said(self) -> dict[str, dict[str, float]]:
        return files.parse(paths.root() / "rtl" / "resources.toml")

    @property
    def _family(self) -> str:
        return FAMILIES.get(self.vendor, OTHER_FAMILY)

    @cached_property
    def port(self) -> dict[str, float]:
        """An Ethernet port, which each end has over switches."""
        names = [name for name in self._said if name.startswith(self._family) and name.endswith(PORT)]
        return _by_resource(self._said[names[0]]) if names else {}


def _by_resource(cells: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, number in cells.items():
        if name in OF_YOSYS:
            found[OF_YOSYS[name]] = found.get(OF_YOSYS[name], 0.0) + number
    return found


def links_of(
    network: Network | None, bitstream: Bitstream | None, element: Element, ports: float | None
) -> list[Links]:
    """All links that yosys has counted, for this network."""
    table, usual = LinkTable(element.vendor), credit_link.USUAL
    switched = network is not None and network.kind != DIRECT
    if network is not None:
        usual = replace(
            usual,
            packet=int(network.get("flow.packet") or usual.packet),
            receive_depth=int(network.get("flow.receive") or usual.receive_depth),
            overhead=int(network.get("flow.overhead") or usual.overhead),
        )
    found = []
    for (packet, depth), cells in sorted(table.known.items()):
        more = table.port if switched else {}
        own = {name: cells.get(name, 0.0) + more.get(name, 0.0) for name in {*cells, *more}}
        found.append(
            Links(
                packet, depth, network, bitstream, element.hz, element.cell_bytes, usual, own, ports, switched
            )
        )
    return found


def _count(one: Bitstream, name: str) -> int:
    return int(str(one.parameters[name]))


def usual(benchmark: str, parameter: str) -> int:
    """The default on boards, which is that of the published designs."""
    default = kernels.kernel(benchmark).parameters[parameter].default
    return int(str(default["fpga"] if isinstance(default, Mapping) else default))
