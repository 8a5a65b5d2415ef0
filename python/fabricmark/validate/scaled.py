"""A system whose values are some times as large: what a posterior changes, and by how much predictions move.

A factor of a system is a value of a board, of the network of a transport or of the bitstreams of a benchmark,
by its full name (board.memory.bank_bandwidth), or `CURVES`, the speed of the hosts' messages as measured; or
all rates or all times of a machine at once.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log
from typing import Any

import numpy as np

from fabricmark import models
from fabricmark.base import keys
from fabricmark.models.machine import Curve, HasValues, full_name
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


class _Moving:
    """A board, network or bitstream of which values become others, one after the other; made anew once for
    all of them, as calibrations take thousands of systems."""

    def __init__(self, one) -> None:
        self.one = one
        self._keys = keys.VALUES[one.values.place]
        self._changed: dict[str, Any] = {}
        self._curves: tuple[Curve, ...] | None = None

    def times(self, name: str, by: float) -> None:
        """The value, if there is one, exp(by) times as large, as far as it may be."""
        value = self._changed.get(name, self.one.values.known.get(name))
        if value is not None:
            dimension = self._keys[name].dimension
            most, least = MOST.get(dimension, inf), LEAST.get(dimension, 0.0)
            self._changed[name] = min(max(value * exp(by), least), most)

    def all_times(self, dimensions: Collection[str], by: float) -> None:
        for name in self.one.values.known:
            if self._keys[name].dimension in dimensions:
                self.times(name, by)

    def faster(self, by: float) -> None:
        """The curves of a network."""
        curves = self.one.curves if self._curves is None else self._curves
        self._curves = tuple(_faster(one, by) for one in curves)

    def made(self):
        moved = self.one.having(self._changed) if self._changed else self.one
        return moved if self._curves is None else replace(moved, curves=self._curves)


def having(system: System, logs: Mapping[Factor, float]) -> System:
    """The system with each value exp(its log) times as large, as far as the value may be."""
    board = _Moving(system.board)
    networks = {transport: _Moving(one) for transport, one in system.networks.items()}
    streams = [_Moving(one) for one in system.bitstreams]
    own_board = _owner(system, "board")
    for factor, by in logs.items():
        if by == 0:
            continue
        place, _, name = factor.name.partition(".")
        if factor.name in (ALL_RATES, ALL_TIMES):
            if factor.owner == (system.name,):
                dimensions = RATES if factor.name == ALL_RATES else ("seconds",)
                for moving in (board, *networks.values(), *streams):
                    moving.all_times(dimensions, by)
        elif place == "board" and factor.owner == own_board:
            board.times(name, by)
        elif place == "network" and factor.owner[0] == system.name and factor.owner[1] in networks:
            network = networks[factor.owner[1]]
            if factor.name == CURVES:
                network.faster(by)
            else:
                network.times(name, by)
        elif place == "bitstream" and factor.owner[0] == system.board_id:
            for moving in streams:
                if moving.one.benchmark == factor.owner[1]:
                    moving.times(name, by)
    return replace(
        system,
        board=board.made(),
        networks={transport: one.made() for transport, one in networks.items()},
        bitstreams=tuple(one.made() for one in streams),
    )


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
