"""The designs of a benchmark's base kernel on a described board: replications, blocks, buffers, widths.

Each starts from a published synthesis: its clock, its types and its resources. Of others the resources are
those of the published one, and what the factors of area.py say of the difference, whose amounts grow as the
model's `synthesis` says. What no published synthesis for such chips fills is refused, as `predict` does.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fabricmark import models
from fabricmark.base import kernels, paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.kernels import Parameter
from fabricmark.base.terminal import percent
from fabricmark.explore import area
from fabricmark.explore.area_fit import base_design
from fabricmark.explore.budget import ENERGY, TIME, Budget, unsaid
from fabricmark.explore.front import pareto
from fabricmark.inspect.chips import VENDORS
from fabricmark.models import _sweep
from fabricmark.models._types import ELEMENT_BYTES
from fabricmark.models.machine import Bitstream
from fabricmark.predict import feasible, points
from fabricmark.predict.feasible import NAMES
from fabricmark.systems import System, choice, files

REPLICATIONS, DEVICES = "replications", "devices"
LANES = ("vector_width", "unroll", "channel_width")  # elements of an argument in a cycle, multiplied
MOST_REPLICATIONS = 64
GROWN_BY_ARITHMETIC = (area.OPERATIONS, area.BITS, area.LOGIC_BITS, area.DSPS)
NEAR = 1e-9
GIGA = 1e9
NEAREST = 16  # times the published value, and a part of it: further off nothing says that a design is built


@dataclass(frozen=True)
class Asked:
    """What the command says. `fixed`: parameters, as kernel.toml takes them; `moved(system, transport)`: with
    what rows of one's own tell."""

    benchmark: str
    wanted: choice.Wanted
    devices: Sequence[int]
    fixed: Mapping[str, Any]
    moved: Callable[[System, str], System] = lambda system, transport: system


@dataclass(frozen=True)
class Case:
    """The designs over one transport, that grow from the synthesis `base`. `axes`: of the grid, by parameter,
    devices first. `runs`: all parameters of the published design, by the number of devices."""

    benchmark: str
    system: System
    transport: str
    base: str
    bitstream: Bitstream
    axes: Mapping[str, Sequence[int]]
    runs: Mapping[int, Mapping[str, Any]]

    @property
    def run(self) -> Mapping[str, Any]:
        """Of the fewest devices."""
        return self.runs[self.axes[DEVICES][0]]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes.values()))

    def sizes(self, devices: int) -> dict[str, Any]:
        """Of the problem of so many devices."""
        run = self.runs[devices]
        return {name: run[name] for name in points.SIZES if name in run}

    @cached_property
    def _sizes(self) -> dict[str, np.ndarray]:
        """Of the problem, along the devices."""
        shape = (-1,) + (1,) * (len(self.axes) - 1)
        return {
            name: np.reshape([float(self.runs[devices][name]) for devices in self.axes[DEVICES]], shape)
            for name in self.sizes(self.axes[DEVICES][0])
            if len({run[name] for run in self.runs.values()}) > 1
        }

    @cached_property
    def shaped(self) -> dict[str, np.ndarray]:
        """The axes, so that they broadcast."""
        count = len(self.axes)
        return {
            name: np.reshape(np.asarray(values, dtype=int), (1,) * at + (-1,) + (1,) * (count - at - 1))
            for at, (name, values) in enumerate(self.axes.items())
        }

    def _described(self, bitstream: Bitstream) -> _sweep.Described:
        board = self.system.board_with(bitstream, 1)
        network = self.system.networks.get(self.transport)
        per_node = self.system.devices_per_node
        return _sweep.Described(board, network, bitstream, per_node, own_program=self.of_own_program)

    @property
    def of_own_program(self) -> bool:
        """Whether the rates are those of this project's program, where `predict` has another one's."""
        is_foreign = self.transport in models.traits(self.benchmark).foreign
        return is_foreign and hasattr(models.find(self.benchmark), "own_headline")

    @cached_property
    def rate(self) -> np.ndarray:
        """The headline metric, in its unit."""
        with np.errstate(divide="ignore", invalid="ignore"):
            at = {**self._sizes, **self.shaped}
            found = _sweep.at(self.benchmark, self._described(self.bitstream), self.run, at)
        found = np.minimum(found, self.most_by_memory)
        return np.nan_to_num(np.broadcast_to(found, self.shape), nan=0.0, posinf=0.0)

    @cached_property
    def most_by_memory(self):
        """What the memory allows where the model's equation has nothing that replications share."""
        intensity = getattr(models.find(self.benchmark), "intensity", None)
        if intensity is None:
            return np.inf
        bandwidth = self.system.board_with(self.bitstream, 1).memory_bytes_per_second
        known = {**self.run, **self._sizes, **{name: one * 1.0 for name, one in self.shaped.items()}}
        return intensity(known) * bandwidth * self.shaped[DEVICES] / GIGA

    def rate_of(self, bitstream: Bitstream, values: Mapping[str, Any], devices: int) -> float:
        """Of one design, at the clock of a bitstream."""
        at = {DEVICES: np.asarray([devices])}
        return float(
            _sweep.at(self.benchmark, self._described(bitstream), {**self.runs[devices], **values}, at)[0]
        )

    @cached_property
    def resources(self) -> Mapping[str, float]:
        """What kernels may use, as full as tools have made chips of this vendor."""
        return _usable(*self._resources)

    @cached_property
    def _resources(self) -> tuple[dict[str, float], dict[str, float]]:
        parts = self.system.parts
        return feasible.resources(parts[""]), feasible.resources(parts[self.base])

    @cached_property
    def needs(self) -> dict[str, np.ndarray]:
        """What each resource of a board has to have."""
        board, own = self._resources
        vendor = area.vendor_of(board, self.system.board_id)
        base = area.amounts(base_design(self.benchmark, _of_kernel(self.benchmark, self.bitstream)), vendor)
        before, now = area.estimates(base, vendor), area.estimates(self._grown(base, vendor), vendor)
        found = {}
        for name in self.resources:
            if name in now:
                known = own.get(name, before[name])
                found[name] = np.broadcast_to(np.maximum(known + now[name] - before[name], 0.0), self.shape)
        return found

    def _grown(self, base: Mapping[str, float], vendor: str) -> dict[str, Any]:
        """Amounts of all designs."""
        known = {**self.run, **self.bitstream.parameters}
        synthesis = models.find(self.benchmark).synthesis  # type: ignore[union-attr]
        shaped = {name: values * 1.0 for name, values in self.shaped.items()}  # whole numbers overflow
        before, now = synthesis(models.Needed(known)), synthesis(models.Needed({**known, **shaped}))
        usual = known.get(REPLICATIONS, 1)
        times = self.shaped[REPLICATIONS] / usual if REPLICATIONS in self.shaped else 1.0
        more = (now.buffer_bytes - before.buffer_bytes * times) / VENDORS[vendor].block_bytes
        arithmetic = now.arithmetic / before.arithmetic
        found = dict(base)
        found |= {name: base[name] * arithmetic for name in GROWN_BY_ARITHMETIC}
        found[area.UNITS] = base[area.UNITS] * times
        found[area.BLOCKS] = np.maximum(base[area.BLOCKS] * times + more, 0.0)
        return found

    @cached_property
    def access_bytes(self) -> np.ndarray:
        """Of an argument that a replication loads or stores in a cycle."""
        known = {**self.run, **self.shaped}
        lanes = [np.asarray(known[name]) for name in LANES if name in self.bitstream.parameters]
        found = np.prod(np.broadcast_arrays(*lanes), axis=0) if lanes else np.asarray(0)
        return np.broadcast_to(found * ELEMENT_BYTES.get(str(known.get("data_type")), 1), self.shape)

    @cached_property
    def fits(self) -> np.ndarray:
        found = (self.rate > 0) & (self.access_bytes <= widest())
        for name, needed in self.needs.items():
            found = found & (needed <= self.resources[name] * (1 + NEAR))
        return found

    @cached_property
    def fullest(self) -> np.ndarray:
        """The largest share of any resource, of what tools have filled."""
        shares = [needed / self.resources[name] for name, needed in self.needs.items()]
        return np.max(np.stack(shares), axis=0)

    def values(self, place: Sequence[int]) -> dict[str, int]:
        return {name: self.axes[name][at] for name, at in zip(self.axes, place, strict=True)}

    def why_not(self, place: tuple[int, ...]) -> list[str]:
        found = []
        for name, needed in self.needs.items():
            if needed[place] > self.resources[name] * (1 + NEAR):
                found.append(f"{needed[place]:.0f} of {self.resources[name]:.0f} {NAMES[name]}")
        if self.access_bytes[place] > widest():
            found.append(
                f"{self.access_bytes[place]:.0f} B a cycle, no published design has over {widest():.0f}"
            )
        return found

    def waits_for(self, values: Mapping[str, int]) -> str:
        """The bottleneck of a design, by the model."""
        design = {name: value for name, value in values.items() if name != DEVICES}
        described = self._described(self.bitstream)
        board = self.system.board_with(self.bitstream, values[DEVICES])
        model, run = models.find(self.benchmark), {**self.runs[values[DEVICES]], **design}
        about = {"network": described.network, "bitstream": self.bitstream}
        if self.of_own_program:
            return str(model.own_bottleneck(run, board, values[DEVICES], **about))  # type: ignore[union-attr]
        found = models.predict(model, run, board, values[DEVICES], **about)  # type: ignore[arg-type]
        traits = models.traits(self.benchmark)
        return next((one.bottleneck for one in found if traits.is_headline(one)), "")


def _usable(board: Mapping[str, float], own: Mapping[str, float]) -> dict[str, float]:
    """Of each resource of a board, for a synthesis with these."""
    available = feasible.with_share(board, own)
    reached = feasible.fullest(feasible.is_amd(board))
    return {name: available[name] * reached.get(name, 1.0) for name in board if name in NAMES}


def widest() -> float:
    """The most bytes of an argument that any published synthesis loads in a cycle."""
    return _widest(paths.root() / "systems" / "bitstreams")


@cache
def _widest(folder: Path) -> float:
    most = 0.0
    for path in sorted(folder.glob("*.toml")):
        for one in files.parse(path)["bitstreams"].values():
            own = one.get("parameters", {})
            lanes = [own[name] for name in LANES if name in own]
            if lanes:
                most = max(most, float(np.prod(lanes)) * ELEMENT_BYTES.get(own.get("data_type", ""), 1))
    return most


@dataclass(frozen=True)
class Found:
    """A design. `published`: FILE/NAME of the synthesis that it is, "" for none. `next`: why the next larger
    ones are no better; `uses`: share of each resource, of what tools have filled."""

    case: Case
    values: Mapping[str, int]
    rate: float
    uses: Mapping[str, float]
    published: str = ""
    next: Sequence[str] = ()

    @property
    def devices(self) -> int:
        return self.values[DEVICES]

    @property
    def parameters(self) -> dict[str, int]:
        """Of the design, on however many devices."""
        return {name: value for name, value in self.values.items() if name != DEVICES}

    @property
    def fullest(self) -> str:
        return max(self.uses, key=lambda name: self.uses[name])


@dataclass(frozen=True)
class Answer:
    """`found`: the Pareto set of devices, rate and the fullest resource, the best first. `published`: designs
    that were built. `unit`: of the rates."""

    asked: Asked
    system: System
    cases: Sequence[Case]
    found: Sequence[Found]
    published: Sequence[Found]
    by: str
    unit: str
    metric: str
    seconds: float

    @property
    def designs(self) -> int:
        return sum(case.fits.size for case in self.cases)

    def rank(self, one: Found) -> int:
        """How many designs that fit, on as many devices, are faster; and one."""
        faster = 0
        for case in (each for each in self.cases if one.devices in each.axes[DEVICES]):
            at = list(case.axes[DEVICES]).index(one.devices)
            faster += int((case.rate[at] * case.fits[at] > one.rate * (1 + NEAR)).sum())
        return faster + 1


def explore(asked: Asked, budget: Budget, by: str, top: int) -> Answer:
    """Raises FabricmarkError (2) in one line."""
    begun = time.perf_counter()
    cases = list(_cases(asked, budget))
    if not any(case.fits.any() for case in cases):
        raise FabricmarkError(f"no design of {asked.benchmark} fits", "fix fewer parameters")
    found = [one for case in cases for one in _front(case)]
    found.sort(key=lambda one: (-_worth(one, by, budget), one.devices, one.uses[one.fullest]))
    built = [one for case in cases for one in _published(case)]
    found = list(_allowed(asked.benchmark, found, top))
    headline = _headline(cases[0])
    return Answer(
        asked, cases[0].system, cases, found, built, by, headline.unit, headline.name,
        time.perf_counter() - begun,
    )  # fmt: skip


def _worth(one: Found, by: str, budget: Budget) -> float:
    """What designs are sorted by: the rate, or that for each watt or for what an hour costs."""
    if by == TIME:
        return one.rate
    spent = budget.joules(one.devices, 1.0) if by == ENERGY else budget.cost(one.devices, 1.0)
    if not spent:
        raise unsaid(by)
    return one.rate / spent


def _cases(asked: Asked, budget: Budget) -> Iterator[Case]:
    """One for each transport that has a synthesis with a base kernel's model."""
    chosen = choice.choose(asked.benchmark, asked.wanted, verb="explore")
    ways = {chosen.transport: chosen.bitstreams}
    if asked.wanted.transport is None and not chosen.is_named:
        ways |= choice.transports_of(asked.benchmark, chosen.system)
    model = models.find(asked.benchmark)
    if not hasattr(model, "synthesis") or not hasattr(model, "headline"):
        raise FabricmarkError(
            f"no model says how designs of {asked.benchmark} grow", "explore another benchmark"
        )
    devices = [one for one in asked.devices if budget.allows(one)]
    if not devices:
        raise FabricmarkError("no number of devices is within the budget", "give a larger one")
    able = {
        transport: [one for one in devices if not _refusal(asked.benchmark, transport, chosen.system, one)]
        for transport, ids in ways.items()
        if ids
    }
    for one in devices:
        if able and not any(one in counts for counts in able.values()):
            raise _refusal(asked.benchmark, next(iter(able)), chosen.system, one)  # type: ignore[misc]
    for transport, counts in able.items():
        if counts:
            system = asked.moved(chosen.system, transport)
            yield _case(asked, system, transport, _base(asked, system, ways[transport]), counts)


def _refusal(benchmark: str, transport: str, system: System, devices: int) -> FabricmarkError | None:
    """Why links cannot join so many devices."""
    try:
        points.check_grid(benchmark, transport, system.networks.get(transport), devices)
    except FabricmarkError as error:
        return error
    return None


def _base(asked: Asked, system: System, ids: Sequence[str]) -> str:
    """The first synthesis with the fixed types and sizes, which others do not grow from."""
    known = system.designs
    for name in ids:
        own = known[name].parameters
        if all(
            own[key] == value
            for key, value in asked.fixed.items()
            if key in own and not _varies(key, own[key])
        ):
            return name
    fixed = ", ".join(f"{name}={value}" for name, value in asked.fixed.items())
    cause = f"no synthesis of {asked.benchmark} on {system.name} has {fixed}"
    raise FabricmarkError(cause, f"fix what one of {', '.join(ids)} has")


def _varies(name: str, value: object) -> bool:
    """Whether a parameter of a synthesis is an axis: no type, no choice, no size of the problem."""
    return isinstance(value, int) and not isinstance(value, bool) and name not in points.SIZES


def _case(
    asked: Asked, system: System, transport: str, base: str, devices: Sequence[int]
) -> Case:  # fmt: skip
    bitstream = system.designs[base]
    if not feasible.resources(system.parts[base]):
        raise FabricmarkError(f"nothing says which resources {base} took", "choose another --bitstream-id")
    alone = choice.with_only(system, asked.benchmark, base)
    fixed = {name: value for name, value in asked.fixed.items() if name not in bitstream.parameters}
    request = points.PredictionRequest(asked.benchmark, alone, transport, points.WEAK, given=fixed)
    planned = points.planned(request, [(one, {}) for one in devices])
    fixes = {name: value for name, value in asked.fixed.items() if name in bitstream.parameters}
    runs = {one: {**run, **fixes} for one, (_, run) in zip(devices, planned, strict=True)}
    known = kernels.kernel(asked.benchmark).parameters
    axes: dict[str, Sequence[int]] = {DEVICES: list(devices)}
    for name, value in bitstream.parameters.items():
        if not isinstance(value, int) or not _varies(name, value):
            continue
        axes[name] = [asked.fixed[name]] if name in asked.fixed else _values(known[name], value)
    case = Case(asked.benchmark, system, transport, base, bitstream, axes, runs)
    return _without_idle_axes(case)


def _values(parameter: Parameter, usual: int) -> list[int]:
    """That are looked at: those that are allowed, of a range powers of two, of replications each."""
    if parameter.values:
        return sorted(int(one) for one in parameter.values)
    least, most = (int(one) for one in parameter.range) if parameter.range else (1, 2**16)
    if parameter.name == REPLICATIONS:
        return list(range(max(least, 1), min(most, MOST_REPLICATIONS) + 1))
    least, most = max(least, usual // NEAREST), min(most, usual * NEAREST)
    doubled = {2**power for power in range(most.bit_length()) if least <= 2**power <= most}
    return sorted({*doubled, usual})


def _without_idle_axes(case: Case) -> Case:
    """Without parameters that move neither the rate nor a resource."""
    kept: dict[str, Sequence[int]] = {}
    arrays = [case.rate, *case.needs.values()]
    for at, (name, values) in enumerate(case.axes.items()):
        idle = all(np.ptp(one, axis=at).max() <= NEAR * (1 + np.abs(one).max()) for one in arrays)
        if name == DEVICES or len(values) == 1 or not idle:  # what was fixed counts all the same
            kept[name] = values
    return replace(case, axes=kept)


def _front(case: Case) -> Iterator[Found]:
    inside = np.flatnonzero(case.fits)
    if not len(inside):
        return
    devices = np.broadcast_to(case.shaped[DEVICES], case.shape)
    taken = sum(needed / case.resources[name] for name, needed in case.needs.items())
    costs = [devices.flat[inside], -case.rate.flat[inside], case.fullest.flat[inside]]
    for place in inside[pareto(costs, np.broadcast_to(taken, case.shape).flat[inside])]:
        yield _found(case, tuple(int(one) for one in np.unravel_index(place, case.shape)))


def _found(case: Case, place: tuple[int, ...]) -> Found:
    uses = {name: float(needed[place] / case.resources[name]) for name, needed in case.needs.items()}
    values = case.values(place)
    same = {name: value for name, value in values.items() if name != DEVICES}
    mark = case.base if same.items() <= dict(case.bitstream.parameters).items() else ""
    return Found(case, values, float(case.rate[place]), uses, mark, tuple(_next(case, place)))


def _next(case: Case, place: tuple[int, ...]) -> Iterator[str]:
    """Of a design, why the next value of each parameter is no better."""
    for at, (name, values) in enumerate(case.axes.items()):
        if place[at] + 1 == len(values):
            continue
        larger = (*place[:at], place[at] + 1, *place[at + 1 :])
        label = f"{name} {values[place[at] + 1]}"
        if refused := case.why_not(larger):
            yield f"{label}: {', '.join(refused)}"
        else:
            gain = float(case.rate[larger] / case.rate[place]) - 1
            yield f"{label}: {percent(gain, signed=True)}, {case.waits_for(case.values(larger))}"


def _allowed(benchmark: str, found: Sequence[Found], top: int) -> Iterator[Found]:
    """Without what programs refuse, of the first that are shown."""
    requests = [
        kernels.wanted(
            benchmark, "fpga", {**_of_kernel(benchmark, one.case.bitstream), **one.parameters},
            banks=one.case.system.board["memory.banks"],
        )
        for one in found[: 4 * top]
    ]  # fmt: skip
    answers = kernels.answers(requests)
    for one, said in zip(found[: 4 * top], answers, strict=True):
        if "error" not in said:
            yield one
    yield from found[4 * top :]


def _of_kernel(benchmark: str, bitstream: Bitstream) -> dict[str, object]:
    """The parameters of a synthesis that kernel.toml knows."""
    known = kernels.kernel(benchmark).parameters
    return {name: value for name, value in bitstream.parameters.items() if name in known}


def _published(case: Case) -> Iterator[Found]:
    """The designs that were built of the same benchmark over this transport, of the same numbers and sizes,
    each at its own clock, on all numbers of devices."""
    board, _ = case._resources
    for name in choice.of_transport(case.system, case.benchmark, case.transport):
        one = case.system.designs[name]
        own = feasible.resources(case.system.parts[name])
        fixed = {key: case.run.get(key) for key in case.bitstream.parameters if key not in case.axes}
        if not own or any(one.parameters.get(key) != value for key, value in fixed.items()):
            continue
        design = {key: value for key, value in one.parameters.items() if key in case.axes}
        usable = _usable(board, own)
        uses = {key: value / usable[key] for key, value in own.items() if key in usable}
        for devices in case.axes[DEVICES]:
            rate = case.rate_of(one, design, devices)
            values = {DEVICES: devices, **{key: int(str(value)) for key, value in design.items()}}
            yield Found(case, values, rate, uses, name)


def _headline(case: Case) -> models.Prediction:
    board = case.system.board_with(case.bitstream, case.axes[DEVICES][0])
    found = models.predict(
        models.find(case.benchmark), case.run, board, case.axes[DEVICES][0],  # type: ignore[arg-type]
        network=case.system.networks.get(case.transport), bitstream=case.bitstream,
    )  # fmt: skip
    traits = models.traits(case.benchmark)
    return next((one for one in found if traits.is_headline(one)), found[0])
