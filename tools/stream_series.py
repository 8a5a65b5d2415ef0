"""What tools/stream_figures.py draws of Mondigo 2020: each figure's lines, from models, the modelled clock
(data/emulated), what yosys counts (rtl/resources.toml) and what is printed (data/published).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import prod
from pathlib import Path

import numpy as np
import stream_clock as clock
from fabricmark import systems
from fabricmark.models._cascade import Cascade, of_design
from fabricmark.models._credit_link import PUBLISHED, CreditLink, ring_seconds
from fabricmark.models._credit_link_figures import long_rate
from fabricmark.models._network import hop_seconds, spine_seconds
from fabricmark.models.machine import DIRECT, Network
from stream_clock import value

RESOURCES = Path(__file__).resolve().parents[1] / "rtl" / "resources.toml"
INTEL = "intel_alm, Cyclone V cells, without payload CRC"
PORT = "intel_alm, Cyclone V cells, Ethernet port"
MODEL, CLOCK, PRINTED, LIMIT, OTHER = (
    "modelled, equation", "modelled, clock", "published", "peak", "modelled, printed inputs"
)  # fmt: skip
COUNTED = "counted by yosys"
GIGA, TERA = 1e9, 1e12
PACKETS = (32, 64, 128)
CHIP_BITS = 2713 * 20 * 1024  # M20K blocks of the Arria 10 10AX115 (Intel, A10-OVERVIEW)
BLOCK_BITS = 10 * 1024  # of an M10K
ENDS = 2  # of a board in the ring
SIZES = 2.0 ** np.arange(5, 27)
LARGE, MIB, KIB_4 = 7430699 * 32, 1 << 20, 4 << 10  # bytes of the streams of Figs. 4.9 and 4.10
STREAMS = {"226.8 MiB": LARGE, "1 MiB": MIB, "4 KiB": KIB_4}
CELL = 32  # bytes of a cell of the tsunami
SERIAL, SWITCHED, DIRECT_CABLE = "serial_lite_iii", "ethernet_40g_leaf_spine", "ethernet_40g_direct"
NETWORKS = {SERIAL: "Serial Lite III", SWITCHED: "Ethernet, switches"}


@dataclass(frozen=True)
class Line:
    """`kind`: one of the words above; `colour`: index of the palette, None: grey."""

    kind: str
    x: Sequence[float]
    y: Sequence[float]
    label: str = ""
    colour: int | None = 0


@dataclass(frozen=True)
class Panel:
    """One pair of axes. `names`: of whole numbers along x, where these are no numbers."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    names: Sequence[str] = field(default=())


@cache
def network(name: str) -> Network:
    return systems.network(name, systems.PROFILES[0])


@cache
def cascade(bitstream: str, profile: str) -> tuple[Cascade, float]:
    """(two boards of the ring, to be changed, operations of a cell's step)"""
    about = (bitstream.partition("_")[0], "channels")
    system, fitted = (systems.load(clock.RING, one) for one in (profile, "fitted"))
    chosen = system.bitstream(*about, pipelines=clock.WIDTH[bitstream])
    board = system.board_with(chosen, 2)
    made = of_design(chosen.parameters, 1.0, 2, board, system.networks["channels"], chosen)
    operations = fitted.bitstream(*about, pipelines=clock.WIDTH[bitstream])["fitted.element_operations"]
    return made, operations


def over(x: Sequence[float], y: Callable, label: str = "", colour: int = 0, kind: str = MODEL) -> Line:
    """A function as a line."""
    return Line(kind, x, [y(one) for one in x], label, colour)


def rates(one: Cascade, scale: float, boards: Sequence[int], label: str, colour: int, kind=MODEL) -> Line:
    """Cell steps over boards, times `scale`."""
    return over(boards, lambda count: replace(one, boards=count).rate * scale, label, colour, kind)


def peaks(one: Cascade, scale: float, boards: Sequence[int], colour: int) -> Line:
    return over(boards, lambda count: replace(one, boards=count).peak * scale, "", colour, LIMIT)


def of_clock(bitstream: str, scale: float, colour: int, along: str = "boards", **wanted: object) -> Line:
    found = [
        (getattr(run, along), rate * scale)
        for run, rate in clock.stored().items()
        if run.bitstream == bitstream and all(getattr(run, name) == this for name, this in wanted.items())
    ]
    return Line(CLOCK, *zip(*found, strict=True), "", colour)


def messages() -> list[Panel]:
    """Fig. 2.9."""
    lines = []
    for colour, packet in enumerate(PACKETS):
        width = 2 * 32  # of two bundled lanes
        rate = value(12) * GIGA / width
        link = CreditLink(
            round(value(15) * 1e-9 * rate), packet, 1 << 14, packet, timeout=0, keep_alive=0, overhead=1,
            width=width, clock=rate, profile=PUBLISHED,
        )  # fmt: skip
        rates = [size / link.seconds(size) / GIGA for size in SIZES]
        lines.append(Line(MODEL, SIZES, rates, f"packets of {packet} flits", colour))
    lines.append(Line(PRINTED, [SIZES[-1]], [value(13)], "long stream, measured", None))
    lines.append(Line(LIMIT, SIZES[[0, -1]], [value(12)] * 2, "", None))
    return [Panel("Fig. 2.9: bandwidth of a message", "bytes", "GB/s", lines, log_x=True)]


def counted(packet: int, depth: int) -> dict[str, int]:
    table = tomllib.loads(RESOURCES.read_text())
    return table.get(f"{INTEL}, D {packet}, RX {depth}") or table[INTEL]


def memory() -> list[Panel]:
    """Fig. 2.10."""
    depths = [256, 512, 1024, 2048]
    bits = ENDS * BLOCK_BITS / CHIP_BITS * 100
    lines = [
        Line(
            COUNTED, depths, [bits * counted(packet, depth)["M10K"] for depth in depths],
            f"packets of {label} flits", colour,
        )
        for colour, (packet, label) in enumerate({8: "8", 32: "16 to 128"}.items())
    ]  # fmt: skip
    lines.append(Line(PRINTED, [512], [value(22)], "packets of 32, Arria 10", None))
    title = "Fig. 2.10: block memory of both links of a board"
    axis = "% of the bits of an Arria 10"
    return [Panel(title, "receive depth [flits]", axis, lines, log_x=True)]


def small_grid() -> list[Panel]:
    """Fig. 3.8."""
    made, operations = cascade("tsunami", "published")
    made, scale = replace(made, cells=prod(clock.SMALL)), operations / GIGA
    lines = []
    for colour, boards in enumerate((1, 2, 4)):
        each = {count: replace(made, boards=boards, cascaded=count) for count in range(1, 7)}
        where = {"system": clock.RING, "columns": clock.SMALL[0], "boards": boards}
        lines += [
            Line(LIMIT, [*each], [one.peak * scale for one in each.values()], "", colour),
            Line(MODEL, [*each], [one.rate * scale for one in each.values()], f"M = {boards}", colour),
            of_clock("tsunami", scale, colour, "cascaded", **where),
        ]
    title = "Fig. 3.8: tsunami, 116104 cells, n = 1"
    return [Panel(title, "m, elements of a board", "GFLOP/s", lines)]


LARGE_ROWS = {"tsunami": clock.LARGE[1], "tsunami_wide": clock.WIDE[1]}
DESIGNS = (("tsunami", 5, clock.LARGE), ("tsunami", 4, clock.LARGE), ("tsunami_wide", 2, clock.WIDE))


def designs() -> Iterable[tuple[int, str, str, int, Cascade, float]]:
    """(colour, label, bitstream, m, cascade, operations) of Figs. 3.9 and 3.10."""
    for colour, (bitstream, cascaded, grid) in enumerate(DESIGNS):
        made, operations = cascade(bitstream, "published")
        made = replace(made, cells=prod(grid), cascaded=cascaded)
        yield colour, f"({made.pipelines}, {cascaded})", bitstream, cascaded, made, operations


def large_grid() -> list[Panel]:
    """Fig. 3.9."""
    lines, boards = [], range(1, 9)
    for colour, label, bitstream, cascaded, made, operations in designs():
        scale = operations / TERA
        timed = of_clock(bitstream, scale, colour, cascaded=cascaded, rows=LARGE_ROWS[bitstream])
        lines += [
            peaks(made, scale, boards, colour),
            rates(made, scale, boards, f"(n, m) = {label}", colour),
            replace(timed, x=timed.x[: len(boards)], y=timed.y[: len(boards)]),
        ]
    lines.append(Line(PRINTED, [8], [value(51)], "(1, 5), measured", None))
    return [Panel("Fig. 3.9: tsunami, 2581 x 2879 cells", "boards", "TFLOP/s", lines)]


def speedups() -> list[Panel]:
    """Fig. 3.10."""
    fast, share, boards = [], [], range(1, 17)
    for colour, label, bitstream, cascaded, made, _ in designs():
        timed = of_clock(bitstream, 1.0, colour, cascaded=cascaded, rows=LARGE_ROWS[bitstream])
        for line in (rates(made, 1.0, boards, f"(n, m) = {label}", colour), timed):  # both from one board on
            fast.append(replace(line, y=[rate / line.y[0] for rate in line.y]))
            efficient = [100 * y / x for x, y in zip(line.x, fast[-1].y, strict=True)]
            share.append(replace(line, y=efficient))
    share.append(Line(PRINTED, [8, 16], [value(57), value(54)], "(1, 5)", None))
    return [
        Panel("Fig. 3.10: speedup", "boards", "of one board", fast),
        Panel("Fig. 3.10: parallel efficiency", "boards", "%", share),
    ]


SHORT_STREAM, LONG_STREAM = "172800 cells", "16 times as many"


def flows(figure: str, is_long: bool, is_compressed: bool) -> list[Panel]:
    """Figs. 3.11 to 3.14."""
    boards = list(clock.doubled(256))
    grid = clock.LONG_FLOW if is_long else clock.FLOW
    lines = []
    for colour, bitstream in enumerate(clock.RATIO_ROWS):
        ratio = clock.printed_ratio(bitstream) if is_compressed else clock.PLAIN
        for profile, kind in (("fitted", MODEL), ("published", OTHER)):
            made, operations = cascade(bitstream, profile)
            made, scale = replace(made, cells=prod(grid)), operations / GIGA
            if is_compressed:
                made = replace(made, ratio=ratio, codec_cycles=value(24))
            label = f"n = {made.pipelines}" if kind == MODEL else ""
            lines.append(rates(made, scale, boards, label, colour, kind))
        lines.append(peaks(made, scale, boards, colour))
        lines.append(of_clock(bitstream, scale, colour, rows=grid[1], ratio=ratio))
    if not is_compressed and not is_long:
        lines.append(Line(PRINTED, [16, 16], [value(71), value(78)], "n = 1 and n = 2", None))
    how = "with" if is_compressed else "without"
    title = f"Fig. {figure}: lattice Boltzmann, {LONG_STREAM if is_long else SHORT_STREAM}, {how} compression"
    return [Panel(title, "boards", "GFLOP/s", lines, log_x=True, log_y=True)]


RATIOS = {"ALUT": 106, "FF": 107, "M10K": 109}  # rows that have the printed ratio


def modules() -> list[Panel]:
    """Fig. 4.6."""
    table = tomllib.loads(RESOURCES.read_text())
    direct, switched = counted(32, 512), counted(32, 2048)
    ours = [(switched[kind] + table[PORT].get(kind, 0)) / direct[kind] for kind in RATIOS]
    names = ["logic", "registers", "memory blocks"]
    places = list(range(len(names)))
    lines = [
        Line(COUNTED, places, ours, "credit link and Ethernet port of this project, without MAC", 0),
        Line(PRINTED, places, [value(row) for row in RATIOS.values()], "with MAC", None),
    ]
    return [Panel("Fig. 4.6: Ethernet over Serial Lite III", "", "ratio", lines, names=names)]


def cases() -> dict[str, tuple[float, float]]:
    """(latency [s], rate [B/s]) of the ways between two boards: eqs. 4.2 to 4.6."""
    direct, cable, leaf = map(network, (SERIAL, DIRECT_CABLE, SWITCHED))
    more = float(spine_seconds(leaf, leaf["switch_ports"]))
    return {
        "Serial Lite III, cable": (hop_seconds(direct), direct["links.bandwidth"]),
        "Ethernet, cable": (hop_seconds(cable), cable["links.bandwidth"]),
        "Ethernet, one switch": (hop_seconds(leaf), leaf["links.bandwidth"]),
        "Ethernet, three switches": (hop_seconds(leaf) + more, leaf["links.bandwidth"]),
    }


def latencies() -> list[Panel]:
    """Fig. 4.7."""
    ways = enumerate(cases().items())
    lines = [Line(MODEL, SIZES, 1e6 * (hop + SIZES / rate), label, n) for n, (label, (hop, rate)) in ways]
    return [Panel("Fig. 4.7: time of a message", "bytes", "us", lines, log_x=True, log_y=True)]


def bandwidths() -> list[Panel]:
    """Fig. 4.8."""
    ways = enumerate(cases().items())
    lines = [
        Line(MODEL, SIZES, SIZES / (hop + SIZES / rate) / GIGA, label, n) for n, (label, (hop, rate)) in ways
    ]
    lines.append(Line(PRINTED, [SIZES[-1]] * 2, [value(120), value(123)], "long messages, measured", None))
    return [Panel("Fig. 4.8: bandwidth of a message", "bytes", "GB/s", lines, log_x=True)]


def around(name: str, size: float, boards: int) -> float:
    """Of a ring [s]: direct cables, or switches."""
    one = network(name)
    hop, ports = hop_seconds(one), one.get("switch_ports") or 0
    spine = None if one.kind == DIRECT else hop + float(spine_seconds(one, ports))
    return ring_seconds(size, one["links.bandwidth"], hop, boards, spine, ports)


def by_network(x: Sequence[float], y: Callable[[str, float], float]) -> list[Line]:
    """A function of networks as lines."""
    return [over(x, partial(y, name), label, n) for n, (name, label) in enumerate(NETWORKS.items())]


def rings() -> list[Panel]:
    """Fig. 4.9 b to e."""
    two = by_network(SIZES, lambda name, size: size / around(name, size, 2) / GIGA)
    two.append(Line(PRINTED, [SIZES[-1]] * 2, [value(132), value(131)], "measured", None))
    found = [Panel("Fig. 4.9 b: two boards", "bytes", "GB/s", two, log_x=True)]
    boards = list(clock.doubled(2048, 2))
    for letter, (words, size) in zip("cde", STREAMS.items(), strict=True):
        lines = by_network(boards, lambda name, count, size=size: 1e3 * around(name, size, count))
        title = f"Fig. 4.9 {letter}: {words}, once around"
        found.append(Panel(title, "boards", "ms", lines, log_x=True, log_y=size == KIB_4))
    return found


def through(name: str, size: float, cascaded: int, boards: int) -> Cascade:
    """Eq. 3.8 with links of a network, whose latency is that of the whole ring."""
    made, _ = cascade("tsunami", "published")
    cycles = around(name, 0, boards) * made.hz / boards
    return replace(
        made, cells=size / CELL, cascaded=cascaded, boards=boards, link=long_rate(network(name)),
        link_cycles=cycles,
    )  # fmt: skip


def cascades() -> list[Panel]:
    """Fig. 4.10 a to c; m is not printed."""
    _, operations = cascade("tsunami", "published")
    boards, scale, found = list(clock.doubled(64)), operations / GIGA, []
    rows = {MIB: clock.MIB[1], KIB_4: clock.KIB_4[1]}
    for letter, (words, size) in zip("abc", STREAMS.items(), strict=True):
        lines = []
        for place, (name, label) in enumerate(NETWORKS.items()):
            for more, cascaded in enumerate((1, 5)):
                colour = 2 * place + more
                every = [through(name, size, cascaded, count).rate * scale for count in boards]
                lines.append(Line(MODEL, boards, every, f"{label}, m = {cascaded}", colour))
                if size in rows and name == SWITCHED:
                    wanted = {"system": clock.SWITCHES, "cascaded": cascaded, "rows": rows[size]}
                    lines.append(of_clock("tsunami", scale, colour, **wanted))
        title = f"Fig. 4.10 {letter}: tsunami, stream of {words}"
        found.append(Panel(title, "boards", "GFLOP/s", lines, log_x=True, log_y=True))
    return found


FIGURES: dict[str, Callable[[], list[Panel]]] = {
    "2.9": messages,
    "2.10": memory,
    "3.8": small_grid,
    "3.9": large_grid,
    "3.10": speedups,
    "3.11": lambda: flows("3.11", False, False),
    "3.12": lambda: flows("3.12", False, True),
    "3.13": lambda: flows("3.13", True, False),
    "3.14": lambda: flows("3.14", True, True),
    "4.6": modules,
    "4.7": latencies,
    "4.8": bandwidths,
    "4.9": rings,
    "4.10": cascades,
}
