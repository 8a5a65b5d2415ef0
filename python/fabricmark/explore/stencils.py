"""The exploration of a stencil: which system, which space of designs, and the best of them."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.explore import area, elements, reasons
from fabricmark.explore.budget import COST, ENERGY, TIME, Budget, unsaid
from fabricmark.explore.cascades import NONE, Exploration, Problem, Space
from fabricmark.explore.design_file import DesignFile
from fabricmark.explore.front import pareto
from fabricmark.models._cascade import ALONG_X, ALONG_Y
from fabricmark.models.machine import Bitstream
from fabricmark.predict.feasible import NAMES
from fabricmark.results import figures, published
from fabricmark.systems import System, choice

PUBLISHED_RATIO = "published"  # of compression: what was measured on the authors' stream
MOST_CASCADED = 64
ALL_COUNTS = 256  # up to so many boards each number is looked at, beyond them powers of two
SETTABLE = ("pipelines", "cascaded", "orientation", "compression", "packet", "receive_depth")
MONDIGO = "mondigo_2020.csv"
RATIO_COLUMNS = ("benchmark", "flow", "predictor", "pipelines", "ratio", "kind")


@dataclass(frozen=True)
class Asked:
    """What the command says. `fixed`: values of SETTABLE, as texts; `devices`: numbers of boards, None: all
    that the system has; `file`: of a stencil that nobody built; `moved(system, transport)`: with what rows of
    one's own tell."""

    benchmark: str
    wanted: choice.Wanted
    problem: Problem
    devices: Sequence[int] | None
    fixed: Mapping[str, str]
    file: DesignFile | None = None
    moved: Callable[[System, str], System] = lambda system, transport: system


@dataclass(frozen=True)
class Found:
    """A design. `seconds`: of all steps; `next`: why the next larger ones are no better."""

    place: tuple[int, ...]
    values: Mapping[str, Any]
    seconds: float
    rate: float
    efficiency: float
    stall: float
    start: float
    waits_for: str
    joules: float | None
    cost: float | None
    uses: Mapping[str, float]
    next: Sequence[str]

    @property
    def fullest(self) -> str:
        return max(self.uses, key=lambda name: self.uses[name])


@dataclass(frozen=True)
class Answer:
    """The designs of the Pareto set, the best first, and what was looked at. `operations`: of a cell's step,
    as the authors of the design counted them."""

    asked: Asked
    system: System
    transport: str
    built: Sequence[str]
    exploration: Exploration
    found: Sequence[Found]
    by: str
    seconds: float
    operations: float | None

    @property
    def refused(self) -> dict[str, int]:
        """Designs that did not fit, by the reason; one may have several."""
        shape = self.exploration.space.shape
        counts = {
            name: int(np.broadcast_to(one, shape).sum()) for name, one in self.exploration.refused.items()
        }
        return {name: count for name, count in counts.items() if count}


def is_one(benchmark: str) -> bool:
    """Whether a benchmark is a stencil, by its parameters."""
    return {"pipelines", "cascaded"} <= kernels.kernel(benchmark).parameters.keys()


def explore(asked: Asked, budget: Budget, by: str) -> Answer:
    """The Pareto set of boards, time and share of the peak. Raises FabricmarkError (2) in one line."""
    begun = time.perf_counter()
    chosen = _chosen(asked)
    system = asked.moved(chosen.system, chosen.transport)
    known = system.designs
    built = {name: known[name] for name in chosen.bitstreams if known[name].variant == elements.VARIANT}
    if not built and asked.file is None:
        raise FabricmarkError(
            f"{system.name} has no design of {asked.benchmark} in a cascade",
            f"use --system {' or '.join(choice.systems_of(asked.benchmark, None))}",
        )
    found = exploration(asked, system, chosen.transport, list(built.values()))
    answers = _best(found, budget, by)
    if asked.file is None:
        operations = next(iter(built.values())).get("fitted.element_operations")
    else:
        operations = asked.file.operations
    seconds = time.perf_counter() - begun
    return Answer(asked, system, chosen.transport, list(built), found, answers, by, seconds, operations)


def _chosen(asked: Asked) -> choice.Choice:
    if asked.file is None:
        return choice.choose(asked.benchmark, asked.wanted, verb="explore")
    return choice.over_networks(asked.benchmark, asked.wanted, choice.PREFERRED)


def exploration(
    asked: Asked, system: System, transport: str, built: Sequence[Bitstream]
) -> Exploration:  # fmt: skip
    """All designs. Raises FabricmarkError (2)."""
    resources = elements.board_resources(system)
    if asked.file is None:
        row_cells = elements.usual(asked.benchmark, "columns")
        element = elements.element_of(asked.benchmark, system, built, row_cells)
    else:
        element = asked.file.element(area.vendor_of(resources, system.board_id))
    network = system.networks.get(transport)
    first = built[0] if built else None
    board = system.board_with(first, 1)
    links = elements.links_of(network, first, element, board.get("serial.ports"))
    space = _space(asked, system, links)
    launch = float(board.get("host.launch_latency") or 0.0)
    return Exploration(asked.problem, space, element, board, resources, launch)


def _space(asked: Asked, system: System, links: Sequence[elements.Links]) -> Space:
    if asked.file is None:
        allowed = kernels.kernel(asked.benchmark).parameters["pipelines"].values
        ratios = ratios_of(asked.benchmark, system.board_id)
    else:
        allowed, ratios = asked.file.pipelines, {}
    boards = asked.devices or _counts(system.most_devices)
    axes: dict[str, list[Any]] = {
        "pipelines": [int(one) for one in allowed],
        "cascaded": list(range(1, MOST_CASCADED + 1)),
        "orientation": [ALONG_X, ALONG_Y],
        "compression": [NONE, *sorted({name for name, _ in ratios})],
    }
    for name, text in asked.fixed.items():
        if name in ("pipelines", "cascaded"):
            axes[name] = [_whole(name, text)]
        elif name in axes:
            check_known(text, axes[name], f"--set {name}={text}: not known")
            axes[name] = [text]
    for name, own in (("packet", "packet"), ("receive_depth", "depth")):
        if name in asked.fixed:
            wanted = _whole(name, asked.fixed[name])
            known = sorted({getattr(one, own) for one in links})
            check_known(wanted, known, f"--set {name}={wanted}: no link of that size was counted")
            links = [one for one in links if getattr(one, own) == wanted]
    of_designs = axes["pipelines"], axes["cascaded"], axes["orientation"], axes["compression"]
    return Space(boards, *of_designs, links, ratios)


def _counts(most: int) -> list[int]:
    doubled = [2**power for power in range(most.bit_length()) if ALL_COUNTS < 2**power <= most]
    return [*range(1, min(most, ALL_COUNTS) + 1), *doubled]


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**20):
        raise FabricmarkError(f"--set {name}={text}: no whole number above 0", f"write --set {name}=4")
    return int(text)


def ratio_file() -> Path:
    """Ratios that were measured here, as tools/lbm_ratios.py and others wrote them."""
    return area.folder() / "codec_ratios.csv"


def printed(*about: str) -> Iterator[tuple[Mapping[str, str], Mapping[str, str]]]:
    """(row, its conditions by name) of figures of a program, board, metric and relation."""
    for _, row in published.rows(published.folder() / MONDIGO, figures.COLUMNS):
        if (row["program"], row["board"], row["metric"], row["relation"]) == about:
            yield row, dict(part.split("=", 1) for part in row["conditions"].split("; ") if "=" in part)


def ratios_of(benchmark: str, board: str) -> dict[tuple[str, int], float]:
    """Ratios of compression by predictor and pipelines: those that were published of a benchmark on a board,
    and those that this project's codec reaches."""
    found = {}
    for row, conditions in printed(benchmark, board, "compression_ratio", "="):
        if "n" in conditions:
            found[PUBLISHED_RATIO, int(conditions["n"])] = float(row["value"])
    for _, row in published.rows(ratio_file(), RATIO_COLUMNS):
        if row["benchmark"] == benchmark:
            found[row["predictor"], int(row["pipelines"])] = float(row["ratio"])
    return found


def _best(found: Exploration, budget: Budget, by: str) -> list[Found]:
    boards = np.broadcast_to(found.space.along("boards", found.space.boards), found.space.shape)
    allowed = found.fits & budget.allows(boards)
    if not allowed.any():
        raise FabricmarkError(f"no design fits: {_always(found)}", "give a larger budget, or set less")
    inside = np.flatnonzero(allowed)
    memory = np.broadcast_to(found.needs["bram"], found.space.shape)
    kept = inside[
        pareto(
            [boards.flat[inside], found.seconds.flat[inside], -found.efficiency.flat[inside]],
            memory.flat[inside],
        )
    ]
    answers = [_found(found, np.unravel_index(place, found.space.shape), budget) for place in kept]
    return sorted(answers, key=lambda one: (_objective(one, by, budget), one.values["boards"]))


def _always(found: Exploration) -> str:
    """What every design has too much of; where no single thing is it, all that some have."""
    refused = {name: np.broadcast_to(one, found.space.shape) for name, one in found.refused.items()}
    every = [name for name, one in refused.items() if one.all()]
    some = [name for name, one in refused.items() if one.any()]
    return ", ".join(NAMES.get(name, name) for name in every or some) or "the budget is too small"


def _objective(one: Found, by: str, budget: Budget) -> float:
    """What designs are sorted by. Raises FabricmarkError (2) for what nothing says."""
    value = {TIME: one.seconds, ENERGY: one.joules, COST: one.cost}[by]
    if value is None:
        raise unsaid(by)
    return value


def _found(of: Exploration, place: Sequence[int], budget: Budget) -> Found:
    at = tuple(int(one) for one in place)
    one, seconds = of.one(at), float(of.seconds[at])
    boards = of.space.boards[at[0]]
    uses = {name: of.need(name, at) / of.resources[name] for name in of.needs if name in of.resources}
    return Found(
        at, of.values(at), seconds, of.problem.cells * of.problem.steps / seconds,
        float(of.efficiency[at]),
        float(one.stall), float(one.start), reasons.lost_to(of, at), budget.joules(boards, seconds),
        budget.cost(boards, seconds), uses, reasons.steps(of, at),
    )  # fmt: skip
