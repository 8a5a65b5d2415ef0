"""Fitting what no document prints: few physical values, each of a board, a network or a bitstream.

A group of parameters is fitted to all rows that depend on them, over all device counts and sizes together:
least squares of ln(predicted / measured) with a soft loss, so that single odd rows count less. The groups
come one after the other, since exchanges over the host (b_eff) are parts of ptrans and hpl. systems/*.toml
hold exactly what `fabricmark validate --fit` prints; a test fits again and compares.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from fabricmark.base.errors import FabricmarkError
from fabricmark.results.published import PublishedValue
from fabricmark.systems import System
from fabricmark.validate.outcomes import Load, Predictor, with_curves
from fabricmark.validate.parameters import GROUPS, Group, Parameter

SOFT = 0.05  # errors beyond it count less than their square
# Strength that holds a parameter which no row of a cross-validation's split determines near where it starts.
HOLD = 1e-3
UNPREDICTED = 3.0  # residual of a row that a value makes unpredictable
Values = Mapping[Parameter, float]


def system_with(system: System, values: Values) -> System:
    """The system with other values where `values` has some of its board, networks or bitstreams."""
    for parameter, value in values.items():
        if parameter.board != system.board_id:
            continue
        system = SETTERS[parameter.kind](system, parameter, value)
    return system


def _board(system: System, parameter: Parameter, value: float) -> System:
    return replace(system, board=parameter.having(system.board, value))


def _network(system: System, parameter: Parameter, value: float) -> System:
    moved = {
        transport: parameter.having(system.networks[transport], value)
        for transport in parameter.owners
        if transport in system.networks
    }
    return replace(system, networks={**system.networks, **moved})


def _bitstream(system: System, parameter: Parameter, value: float) -> System:
    """Changes the first bitstream of each name: that is the one which rows take."""
    names = [one.name for one in system.bitstreams]
    moved = list(system.bitstreams)
    for place in (names.index(owner) for owner in parameter.owners if owner in names):
        moved[place] = parameter.having(moved[place], value)
    return replace(system, bitstreams=tuple(moved))


SETTERS: Mapping[str, Callable[[System, Parameter, float], System]] = {
    "board": _board,
    "network": _network,
    "bitstream": _bitstream,
}


def with_values(load: Load, values: Values) -> Load:
    """Systems as `load` finds them, with these values instead."""
    return lambda name, board: system_with(load(name, board), values)


def rows_of(group: Group, rows: Iterable[PublishedValue]) -> list[PublishedValue]:
    """The rows with the role test that a group is fitted to."""
    return [row for row in rows if row.role == "test" and group.takes(row)]


def residuals(rows: Sequence[PublishedValue], load: Load, values: Values) -> np.ndarray:
    """ln(predicted / measured) of each row."""
    predictor = Predictor(with_values(load, values))
    found = [predictor.outcome(0, row).predicted for row in rows]
    return np.array(
        [
            np.log(one / row.value) if one is not None and one > 0 else UNPREDICTED
            for one, row in zip(found, rows, strict=True)
        ]
    )


def fit_group(
    group: Group,
    rows: Sequence[PublishedValue],
    every: Sequence[PublishedValue],
    load: Load,
    known: Values,
) -> dict[Parameter, float]:
    """The group's parameters fitted to these rows, with `known` values of others.

    `every`: rows that inputs are taken from. What was fitted to the same rows of the same systems is known:
    splits of a cross-validation leave many groups as they are.
    """
    start = _with_inputs(with_values(load, known), every)
    same = _FITTED.setdefault((group, tuple(rows)), [])
    systems = _systems(rows, start)
    for others, fitted in same:
        if systems == others:
            return dict(fitted)
    found = _fitted(group, rows, start)
    same.append((systems, found))
    return dict(found)


_FITTED: dict[tuple[Group, tuple[PublishedValue, ...]], list[tuple[list[System], Values]]] = {}


def _with_inputs(load: Load, every: Iterable[PublishedValue]) -> Load:
    """Systems with what rows give to them, each made once."""
    return cache(lambda name, board: with_curves(load(name, board), every))


def _systems(rows: Sequence[PublishedValue], load: Load) -> list[System]:
    """Those of rows. Raises NotPredicted."""
    predictor = Predictor(load)
    return [predictor.system(*one) for one in sorted({(row.system, row.board) for row in rows})]


def _fitted(group: Group, rows: Sequence[PublishedValue], load: Load) -> dict[Parameter, float]:
    from scipy.optimize import least_squares  # imported here: predictions shall not wait for it

    start = np.log([parameter.start for parameter in group.parameters])

    def errors(logs: np.ndarray) -> np.ndarray:
        values = dict(zip(group.parameters, np.exp(logs), strict=True))
        return np.append(residuals(rows, load, values), HOLD * (logs - start))

    ends = [np.log(end) for end in zip(*(one.ends for one in group.parameters), strict=True)]
    found = least_squares(errors, start, bounds=ends, loss="soft_l1", f_scale=SOFT, diff_step=1e-4)
    return dict(zip(group.parameters, (float(value) for value in np.exp(found.x)), strict=True))


def fit(
    rows: Iterable[PublishedValue], load: Load, groups: Sequence[Group] = GROUPS, known: Values | None = None
) -> dict[Parameter, float]:
    """All fitted parameters from published rows; rounded to what systems/*.toml write.

    A group without rows (in a split of the cross-validation) takes what others of its kind came to. `known`:
    values of groups that are not fitted.
    """
    rows = list(rows)
    values: dict[Parameter, float] = dict(known or {})
    empty: list[Group] = []
    for group in groups:
        own = rows_of(group, rows)
        if own:
            _must_be_predictable(own, rows, with_values(load, values))
            found = fit_group(group, own, rows, load, values)
            values |= {parameter: rounded(value) for parameter, value in found.items()}
        else:
            empty.append(group)
    for parameter in (parameter for group in empty for parameter in group.parameters):
        values[parameter] = _like_others(parameter, values)
    return values


def _must_be_predictable(rows: Sequence[PublishedValue], every: Sequence[PublishedValue], load: Load) -> None:
    """Raises FabricmarkError (2) with the reason: without predictions a fit would hand back its start."""
    predictor = Predictor(load, every)
    for row in rows:
        outcome = predictor.outcome(0, row)
        if outcome.predicted is None:
            cause = f"no fit: {row.benchmark} on {row.system} cannot be predicted: {outcome.reason}"
            raise FabricmarkError(cause, "correct the system's files")


def _like_others(parameter: Parameter, values: Values) -> float:
    """Geometric mean of the same value of other boards and bitstreams; where none has it, its start."""
    alike = [value for other, value in values.items() if other.names == parameter.names]
    return float(np.exp(np.mean(np.log(alike)))) if alike else parameter.start


def rounded(value: float) -> float:
    """Four digits: more than the rows determine."""
    return float(f"{value:.4g}")


def current(group: Group, rows: Iterable[PublishedValue], load: Load) -> dict[Parameter, float | None]:
    """What the system of the group's rows has now; None where its files have no such value."""
    first = rows_of(group, rows)[0]
    system = load(first.system, first.board)
    return {parameter: GETTERS[parameter.kind](system, parameter) for parameter in group.parameters}


def _of_board(system: System, parameter: Parameter) -> float | None:
    return system.board.get(parameter.names[0])


def _of_network(system: System, parameter: Parameter) -> float | None:
    return system.networks[parameter.owners[0]].get(parameter.names[0])


def _of_bitstream(system: System, parameter: Parameter) -> float | None:
    first = next(one for one in system.bitstreams if one.name == parameter.owners[0])
    return first.values.known.get(parameter.names[0])


GETTERS: Mapping[str, Callable[[System, Parameter], float | None]] = {
    "board": _of_board,
    "network": _of_network,
    "bitstream": _of_bitstream,
}


@dataclass(frozen=True)
class Support:
    """Which rows a parameter depends on: how many, their device counts and sizes."""

    rows: int
    devices: tuple[int, ...]
    sizes: tuple[int, ...]


def support(
    parameter: Parameter, group: Group, rows: Iterable[PublishedValue], load: Load, values: Values
) -> Support:
    """The rows of its group whose prediction moves by more than 0.1 % when the parameter moves by 10 %."""
    rows = list(rows)
    own, start = rows_of(group, rows), _with_inputs(load, rows)
    moved = {**values, parameter: values[parameter] * 1.1}
    change = residuals(own, start, moved) - residuals(own, start, values)
    moving = [row for row, by in zip(own, change, strict=True) if abs(by) > 1e-3]
    sizes = {row.message_bytes or row.matrix_width_printed or 0 for row in moving}
    return Support(len(moving), tuple(sorted({row.devices for row in moving})), tuple(sorted(sizes)))
