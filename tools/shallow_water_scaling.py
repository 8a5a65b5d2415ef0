"""Draws docs/shallow_water_scaling.svg: the device design of shallow water over devices, weak and strong (as
Figs. 5.11 and 5.12 of Meyer 2024), by closed form and by the clock of emulated boards, and writes their
differences to docs/shallow_water_device.md. Run it again when kernels, models or systems change:

.venv/bin/python tools/shallow_water_scaling.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import doc_pages
from fabricmark import models, systems
from fabricmark.base import paths
from fabricmark.base.terminal import percent
from fabricmark.models._mesh_parts import Part, parts_of
from fabricmark.models.shallow_water import device
from fabricmark.report.plots import GREY, PALETTE
from fabricmark.results import partitions
from fabricmark.systems import export

PICTURE, PAGE = doc_pages.DOCS / "shallow_water_scaling.svg", doc_pages.DOCS / "shallow_water_device.md"
MARK = "<!-- differences: written by tools/shallow_water_scaling.py -->"
TITLE = "Shallow water on emulated boards: closed form and clock"
NAME, SYSTEM, BOARD = "shallow_water", "noctua2", "u280_hbm"
WAYS = {"host": "PCI Express and MPI", "accl-udp": "ACCL, UDP", "accl-tcp": "ACCL, TCP"}
WEAK, STRONG = "A1", "A2"
OWN_WEAK = (1, 2, 4, 8, 16, 32, 48)  # devices, with 6500 elements of a bay each; TCP half of it
OWN_STRONG = {6784: (1, 2, 4, 6), 27136: (4, 6, 9, 12), 54272: (9, 12, 15, 24), 108544: (15, 24, 33, 42, 48)}
STEPS = 20
DIGITS = 3  # of a share that count


@dataclass(frozen=True)
class Run:
    """One point: a mesh of `elements` on so many devices. `parts`: None for those that a row prints."""

    transport: str
    scaling: str
    devices: int
    elements: int
    mesh: str
    parts: Sequence[Part]
    is_own: bool = False

    @property
    def neighbours(self) -> int:
        return max(part.neighbours for part in self.parts)


class Design:
    """The design over one transport: what its steps take by equations and by the clock."""

    def __init__(self, transport: str, folder: Path):
        system = systems.load(SYSTEM, board=BOARD)
        bitstream = system.bitstream(NAME, transport)
        self.transport = transport
        self.path = device.path_of(system.board_with(bitstream, 1), bitstream, system.networks[transport])
        self.file = folder / f"{SYSTEM}.json"
        self.file.write_text(export.text(SYSTEM, "fitted"))

    def closed(self, run: Run) -> float:
        """Seconds of a step."""
        return device.slowest(run.parts, self.path).cycles / self.path.hz

    def clock(self, run: Run) -> float:
        """The same of a run on emulated boards that computes nothing."""
        words = ["--transport", self.transport, "--variant", "dataflow", "--timing-only"]
        words += ["--system", self.file, "--ranks", run.devices, "--mesh", run.mesh, "--steps", STEPS]
        measurements = doc_pages.result_of(NAME, *words)["measurements"]
        (best,) = (one["best"] for one in measurements if one["name"] == "step_cycles")
        return best / self.path.hz


def printed_runs() -> list[Run]:
    found = []
    for row in partitions.rows():
        for transport in WAYS if row.table == WEAK else ("accl-udp",):
            is_half = row.part.elements <= partitions.LOCAL["accl-tcp"]
            if row.table == STRONG or is_half == (transport == "accl-tcp"):
                about = (transport, row.table, row.devices, row.elements, row.mesh, (row.part,))
                found.append(Run(*about))
    return found


def own_runs() -> list[Run]:
    """Bays, cut by METIS."""
    weak = [
        (transport, WEAK, count, count * (3250 if transport == "accl-tcp" else 6500))
        for transport in WAYS
        for count in OWN_WEAK
    ]
    strong = [
        ("accl-udp", STRONG, count, elements) for elements, counts in OWN_STRONG.items() for count in counts
    ]
    return [
        Run(transport, scaling, count, elements, f"bay:{elements}", parts_of(f"bay:{elements}", count), True)
        for transport, scaling, count, elements in (*weak, *strong)
    ]


@dataclass(frozen=True)
class Point:
    run: Run
    closed: float
    clock: float

    def rate(self, seconds: float) -> float:
        """Millions of elements a second, of the whole mesh."""
        return self.run.elements / seconds / 1e6


def points() -> list[Point]:
    with tempfile.TemporaryDirectory() as folder:
        designs = {transport: Design(transport, Path(folder)) for transport in WAYS}
        return [
            Point(run, designs[run.transport].closed(run), designs[run.transport].clock(run))
            for run in (*printed_runs(), *own_runs())
        ]


def off(found: Sequence[Point]) -> str:
    """The largest difference of the clock from the closed form, and where it is."""
    worst = max(found, key=lambda one: abs(one.clock / one.closed - 1))
    share = percent(abs(worst.clock / worst.closed - 1), digits=DIGITS - 1)
    return f"{share} ({worst.run.elements} elements on {worst.run.devices})"


def differences(found: Sequence[Point]) -> str:
    rows = []
    for transport, name in WAYS.items():
        mine = [one for one in found if one.run.transport == transport]
        rows.append([name, *(off([one for one in mine if one.run.is_own == own]) for own in (False, True))])
    return doc_pages.table(["", "printed partitions", "own partitions of a bay"], rows)


def draw_lines(axes, found: Sequence[Point], colour: str, label: str, numbers: bool) -> None:
    """Line closed form, crosses clock; dashed for own partitions. `numbers`: of neighbours at the crosses."""
    for is_own in (False, True):
        mine = sorted((one for one in found if one.run.is_own == is_own), key=lambda one: one.run.devices)
        counts = [one.run.devices for one in mine]
        closed = [one.rate(one.closed) for one in mine]
        style = {"linestyle": "--" if is_own else "-", "linewidth": 1, "alpha": 0.55 if is_own else 1}
        axes.plot(counts, closed, color=colour, label=None if is_own else label, **style)
        clock = [one.rate(one.clock) for one in mine]
        axes.plot(counts, clock, "+" if is_own else "x", color=colour, markersize=5)
        for one in mine if numbers and not is_own else ():
            at = (one.run.devices, one.rate(one.clock))
            axes.annotate(str(one.run.neighbours), at, (0, 5), textcoords="offset points", fontsize=7,
                          ha="center", color=colour)  # fmt: skip


def svg(found: Sequence[Point]) -> bytes:
    """The picture."""
    from matplotlib.lines import Line2D

    def draw(figure) -> None:
        weak, strong = figure.subplots(1, 2)
        for number, (transport, name) in enumerate(WAYS.items()):
            mine = [one for one in found if (one.run.transport, one.run.scaling) == (transport, WEAK)]
            draw_lines(weak, mine, PALETTE[number], name, numbers=False)
        for number, elements in enumerate(OWN_STRONG):
            mine = [one for one in found if (one.run.elements, one.run.scaling) == (elements, STRONG)]
            draw_lines(strong, mine, PALETTE[number], f"{elements} elements", numbers=True)
        weak.set_title("weak: some 6500 elements a device (TCP: 3250)", fontsize=9)
        strong.set_title("strong, ACCL over UDP; numbers: most neighbours", fontsize=9)
        for axes in (weak, strong):
            axes.set(xlabel="devices", ylabel="elements a second [1e6]")
            axes.set_ylim(bottom=0)
            doc_pages.open_axes(axes)
            axes.legend(frameon=False, fontsize=8, loc="upper left")
        handles = [
            Line2D([], [], linewidth=1, color=GREY, label="closed form, printed partitions"),
            Line2D([], [], linestyle="", marker="x", color=GREY, markersize=5, label="clock"),
            Line2D([], [], linewidth=1, linestyle="--", color=GREY, label="closed form, own partitions"),
            Line2D([], [], linestyle="", marker="+", color=GREY, markersize=5, label="clock"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)

    return doc_pages.svg(TITLE, (11.5, 4.6), draw, salt="scaling")


def page(text: str, found: Sequence[Point]) -> str:
    """The page with the differences between their marks."""
    return doc_pages.between(text, MARK, differences(found))


def main() -> None:
    if models.find(NAME) is None:
        raise SystemExit(f"there is no model of {NAME}")
    found = points()
    print(differences(found))
    paths.write_atomically(PICTURE, svg(found))
    paths.write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8"), found))


if __name__ == "__main__":
    main()
