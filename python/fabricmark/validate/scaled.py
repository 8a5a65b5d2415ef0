"""A system whose values are some times as large: what a posterior changes, and by how much predictions move.

A factor of a system is a value of a board, of the network of a transport or of the bitstreams of a benchmark,
by its full name (board.memory.bank_bandwidth), or `CURVES`, the speed of the hosts' messages as measured; or
all rates or all times of a machine at once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log

import numpy as np

from fabricmark import models
from fabricmark.base import keys
from fabricmark.models.machine import Curve, HasValues, Network, full_name
from fabricmark.systems import System

CURVES = "network.curves"
ALL_RATES, ALL_TIMES = "system.rates", "system.times"
STEP = 0.01  # of ln of a value, for the derivative
MOST = {keys.SHARE: 1.0}  # by dimension: no factor makes a value larger
LEAST = {keys.NUMBER: 1.0}  # factors such as host.neighbour_factor slow down
RATES = (keys.RATE, "hertz", "flops_per_second", "updates_per_second")
LEFT_OUT = (keys.COUNT, "bytes")  # a tenth of a bank is nothing


@dataclass(frozen=True, order=True)
class Factor:
    """`owner`: which board, network or benchmark's bitstreams the value is of."""

    owner: tuple[str, ...]
    name: str

    @property
    def dimension(self) -> str:
        place, _, rest = self.name.partition(".")
        return keys.VALUES[place][rest].dimension

    def __str__(self) -> str:
        words = {ALL_RATES: "all rates", ALL_TIMES: "all times"}
        return f"{' '.join(self.owner)}: {words.get(self.name, self.name)}"


def of_all(system: System) -> list[Factor]:
    """All rates and all times of a machine."""
    return [Factor((system.name,), name) for name in (ALL_RATES, ALL_TIMES)]


def of_system(system: System, benchmark: str, transport: str, *, common: bool = True) -> list[Factor]:
    """The factors that may move predictions of a benchmark over a transport. `common`: with those of all
    rates and times."""
    model = models.find(benchmark)
    declared = models.inputs(model) if model is not None else frozenset()
    found = of_all(system) if common else []
    found += [Factor(_owner(system, "board"), name) for name in _said(system.board, declared)]
    network = system.networks.get(transport)
    if network is not None:
        owner = _owner(system, "network", transport)
        found += [Factor(owner, name) for name in _said(network, declared)]
        found += [Factor(owner, CURVES)] if network.curves else []
    own = [one for one in system.bitstreams if one.benchmark == benchmark]
    names = dict.fromkeys(name for one in own for name in _said(one, declared))
    return found + [Factor(_owner(system, "bitstream", benchmark), name) for name in names]


def _owner(system: System, place: str, more: str = "") -> tuple[str, ...]:
    """Boards and their bitstreams are alike in all systems, networks of a system its own."""
    return (system.name, more) if place == "network" else tuple(filter(None, (system.board_id, more)))


def _said(one: HasValues, declared: frozenset[str]) -> Iterator[str]:
    place = one.values.place
    for name, value in one.values.known.items():
        dimension = keys.VALUES[place][name].dimension
        if full_name(place, name) in declared and dimension not in LEFT_OUT and value:
            yield f"{place}.{name}"


def having(system: System, logs: Mapping[Factor, float]) -> System:
    """The system with each value exp(its log) times as large, as far as the value may be."""
    for factor, by in logs.items():
        if by == 0:
            continue
        place, _, name = factor.name.partition(".")
        if factor.name in (ALL_RATES, ALL_TIMES):
            system = _with_all(system, factor, by)
        elif place == "board" and factor.owner == _owner(system, "board"):
            system = replace(system, board=_times(system.board, name, by))
        elif place == "network":
            system = _with_network(system, factor, by)
        elif place == "bitstream" and factor.owner[0] == system.board_id:
            moved = tuple(
                _times(one, name, by) if one.benchmark == factor.owner[1] else one
                for one in system.bitstreams
            )
            system = replace(system, bitstreams=moved)
    return system


def _with_all(system: System, factor: Factor, by: float) -> System:
    """With all rates, or all times, of a machine moved."""
    if factor.owner != (system.name,):
        return system
    dimensions = RATES if factor.name == ALL_RATES else ("seconds",)

    def moved(one):
        own = keys.VALUES[one.values.place]
        return _moved(one, [name for name in one.values.known if own[name].dimension in dimensions], by)

    networks = {transport: moved(one) for transport, one in system.networks.items()}
    streams = tuple(map(moved, system.bitstreams))
    return replace(system, board=moved(system.board), networks=networks, bitstreams=streams)


def _with_network(system: System, factor: Factor, by: float) -> System:
    name, transport = factor.owner
    network = system.networks.get(transport)
    if name != system.name or network is None:
        return system
    if factor.name == CURVES:
        moved: Network = replace(network, curves=tuple(_faster(one, by) for one in network.curves))
    else:
        moved = _times(network, factor.name.partition(".")[2], by)
    return replace(system, networks={**system.networks, transport: moved})


def _moved(one, names: Sequence[str], by: float):
    """With these values exp(by) times as large, as far as they may be."""
    changed = {}
    for name in names:
        dimension = keys.VALUES[one.values.place][name].dimension
        most, least = MOST.get(dimension, inf), LEAST.get(dimension, 0.0)
        changed[name] = min(max(one.values.known[name] * exp(by), least), most)
    return one.having(changed) if changed else one


def _times(one, name: str, by: float):
    return _moved(one, [name] if one.values.known.get(name) is not None else [], by)


def _faster(curve: Curve, by: float) -> Curve:
    return replace(curve, seconds=tuple(one * exp(-by) for one in curve.seconds))


Values = Callable[[System], Sequence[float | None]]


def logs_of(values: Sequence[float | None]) -> np.ndarray:
    """NaN where there is no value."""
    return np.array([log(one) if one is not None and one > 0 else np.nan for one in values])


def elasticities(
    system: System, factors: Sequence[Factor], values: Values, at: Mapping[Factor, float]
) -> tuple[np.ndarray, np.ndarray]:
    """(ln of values, their derivatives by ln of each factor) of the system at these logs: [values] and
    [values, factors]; NaN where there is no value."""

    def logs(moved: Mapping[Factor, float]) -> np.ndarray:
        return logs_of(values(having(system, moved)))

    base = logs(at)
    columns = [(logs({**at, one: at.get(one, 0.0) + STEP}) - base) / STEP for one in factors]
    found = np.stack(columns, axis=1) if columns else np.zeros((len(base), 0))
    return base, np.nan_to_num(found)
