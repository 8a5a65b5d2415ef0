"""Draws docs/shallow_water_verification.svg and writes the table of docs/shallow_water_verification.md: every
case with a known solution, at every order. With --mesh, an ADCIRC grid, also four days of tides on it and on
refinements of it. Run it again when kernels change; it takes minutes:

.venv/bin/python tools/shallow_water_verification.py [--mesh FILE]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2, sqrt
from pathlib import Path

import doc_pages
from doc_pages import DOCS
from fabricmark.base import paths
from fabricmark.report import stations
from fabricmark.report.plots import GREY, PALETTE

NAME = "shallow_water_verification"
MARK = "<!-- written by tools/shallow_water_verification.py -->"
TIDES_MARK = "<!-- tides: written by tools/shallow_water_verification.py -->"
HOURS = 96
DOUBLE = ("--data-type", "double")
STOKER = {50: 0.0264, 100: 0.0164, 200: 0.0099, 400: 0.0060}


@dataclass(frozen=True)
class Case:
    """Runs of a case on finer and finer meshes. `metric`: 0 the elevation in L2, 1 the depth in L1."""

    name: str
    title: str
    mesh: str
    order: int
    cells: tuple[int, ...]
    expected: str
    metric: int = 0
    words: tuple[str, ...] = ()


CASES = (
    Case("stoker", "Stoker's dam break", "{}x1", 0, tuple(STOKER), "0.0264, 0.0164, 0.0099, 0.0060", 1,
         ("--cfl", "0.7")),
    Case("standing_wave", "standing wave", "{0}x{0}", 0, (16, 32, 64, 128), "order 1"),
    Case("standing_wave", "standing wave", "{0}x{0}", 1, (8, 16, 32, 64), "order 2.0"),
    Case("standing_wave", "standing wave", "{0}x{0}", 2, (4, 8, 16, 32), "order 3.0"),
    Case("lynch_gray", "Lynch and Gray's channel", "{}x2", 0, (16, 32, 64, 128), "order 1"),
    Case("lynch_gray", "Lynch and Gray's channel", "{}x2", 1, (16, 32, 64), "order 2"),
    Case("lynch_gray", "Lynch and Gray's channel", "{}x2", 2, (8, 16, 32), "order 3"),
    Case("bump", "flow over a bump, q = 1.53", "{}x1", 0, (50, 100, 200, 400), "order 1", 1),
    Case("bump", "flow over a bump, q = 1.53", "{}x1", 1, (50, 100, 200), "order 2", 1),
    Case("bump_shock", "flow over a bump with a jump, q = 0.18", "{}x1", 0, (50, 100, 200, 400), "order 1",
         1),
)  # fmt: skip


def run(*words: str) -> dict:
    """The result of fm_shallow_water, which has to be valid."""
    return doc_pages.result_of("shallow_water", *words, "--warmup", "0")


def errors(case: Case) -> list[float]:
    """Of a case, from the coarsest mesh to the finest."""
    found = []
    for cells in case.cells:
        mesh = "rectangle:" + case.mesh.format(cells)
        words = ("--case", case.name, "--mesh", mesh, "--order", str(case.order), *DOUBLE, *case.words)
        notes = "\n".join(run(*words)["notes"])
        match = re.search(r"elevation L2 (\S+), depth L1 (\S+),", notes)
        found.append(float(match[case.metric + 1]))
    return found


def rates(values: Sequence[float]) -> list[float]:
    """Orders of convergence from one mesh to the next, each twice as fine."""
    return [log2(coarse / fine) for coarse, fine in pairwise(values)]


def table(found: dict[Case, list[float]]) -> str:
    rows = []
    for case, values in found.items():
        cells = ", ".join(case.mesh.format(n) for n in case.cells)
        shown = ", ".join(f"{value:.3g}" for value in values)
        rate = ", ".join(f"{value:.2f}" for value in rates(values))
        kind = "depth, L1" if case.metric else "elevation, L2"
        rows.append([case.title, f"p{case.order}", cells, f"{shown} ({kind})", rate, case.expected])
    return doc_pages.table(["case", "order", "cells", "relative error", "rate", "expected"], rows)


def curves(folder: Path) -> dict[int, list[tuple[float, float]]]:
    """(hours, elevation [m]) at each station."""
    found = {}
    for station, one in stations.read(folder / "stations.csv").items():
        hours = (time / 3600 for time in one.values["time_s"])
        found[int(station)] = list(zip(hours, one.values["xi_m"], strict=True))
    return found


def difference(one: dict, other: dict) -> float:
    """Root of the mean square of the difference of curves over the last 12 hours [m]; the times of one."""
    from numpy import interp

    squares = []
    for station, points in one.items():
        hours, levels = zip(*other[station], strict=True)
        squares += [(xi - interp(hour, hours, levels)) ** 2 for hour, xi in points if hour >= HOURS - 12]
    return sqrt(sum(squares) / len(squares))


def tides(mesh: Path, folder: Path) -> dict[tuple[int, int], dict]:
    """Curves by order and refinement of four days on a mesh."""
    found = {}
    tool = str(paths.program("shallow_water").with_name("fabricmark-mesh"))
    for times in (1, 2, 4):
        finer = folder / f"{times}.14"
        subprocess.run([tool, "refine", str(mesh), str(finer), "--times", str(times)], check=True, stdout=-3)
        for order in (0, 1) if times <= 2 else (0,):
            out = folder / f"p{order}-{times}"
            words = ("--order", str(order), "--hours", str(HOURS), "--fields", str(out), "--snapshots", "0")
            run("--mesh", str(finer), *words, "--data-type", "double")
            found[order, times] = curves(out)
    return found


def tides_table(found: dict[tuple[int, int], dict]) -> str:
    rows = []
    for order in (0, 1):
        times = sorted(k for o, k in found if o == order)
        steps = [difference(found[order, a], found[order, b]) for a, b in pairwise(times)]
        for i, (k, step) in enumerate(zip(times, steps, strict=False)):
            rate = f"{log2(steps[i - 1] / step):.2f}" if i else ""
            rows.append([f"p{order}", f"{k} to {2 * k}", f"{1e3 * step:.2f}", rate])
    return doc_pages.table(["order", "refined", "RMS to the next, hours 84 to 96 [mm]", "rate"], rows)


def draw_errors(found: dict[Case, list[float]]):
    def draw(figure) -> None:
        names = list(dict.fromkeys(case.name for case in found))
        for axes, name in zip(figure.subplots(1, len(names)), names, strict=True):
            for case, values in found.items():
                if case.name != name:
                    continue
                colour = PALETTE[case.order]
                axes.loglog(case.cells, values, "o-", color=colour, label=f"p{case.order}", base=2)
                ideal = [values[-1] * (case.cells[-1] / n) ** (case.order + 1) for n in case.cells]
                axes.loglog(case.cells, ideal, ":", color=GREY, base=2)
                title = case.title
            if name == "stoker":
                axes.loglog(tuple(STOKER), tuple(STOKER.values()), "x", color=GREY, label="expected", base=2)
            axes.set_title(title.replace(", ", ",\n").replace(" with", "\nwith"), fontsize=9)
            axes.set_xlabel("cells along x")
            axes.set_yscale("log")
            axes.grid(True, color="#e2e2e2", linewidth=0.6)
            axes.legend(frameon=False, fontsize=8)
        figure.axes[0].set_ylabel("relative error (dotted: order p + 1)")

    return draw


def draw_tides(found: dict[tuple[int, int], dict]):
    def draw(figure) -> None:
        for number, axes in enumerate(figure.subplots(2, 2, sharex=True).flat, 1):
            for (order, times), by_station in found.items():
                hours, levels = zip(*by_station[number], strict=True)
                style = "-" if order == 0 else "--"
                label = f"p{order}, refined {times}"
                axes.plot(
                    hours, levels, style, color=PALETTE[times.bit_length() - 1], label=label, linewidth=0.9
                )
            axes.set_title(f"station {number}", fontsize=9)
            axes.set_xlabel("hours" if number > 2 else "")
            axes.set_xlim(HOURS - 36, HOURS)
            axes.grid(True, color="#e2e2e2", linewidth=0.6)
        figure.supylabel("surface elevation [m]")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)

    return draw


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mesh", type=Path, help="an ADCIRC grid with tides (fort.14)")
    mesh = parser.parse_args().mesh
    page = DOCS / f"{NAME}.md"
    found = {case: errors(case) for case in CASES}
    text = doc_pages.between(page.read_text(encoding="utf-8"), MARK, table(found))
    paths.write_atomically(DOCS / f"{NAME}.svg", doc_pages.svg(NAME, (12.5, 3.4), draw_errors(found)))
    if mesh is not None:
        with tempfile.TemporaryDirectory() as folder:
            by = tides(mesh, Path(folder))
        text = doc_pages.between(text, TIDES_MARK, tides_table(by))
        paths.write_atomically(
            DOCS / "shallow_water_tides.svg", doc_pages.svg(NAME, (9, 5.5), draw_tides(by))
        )
    paths.write_atomically(page, text)
    print(table(found))


if __name__ == "__main__":
    main()
