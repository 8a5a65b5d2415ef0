"""A benchmark's headline metric over grids of parameters, devices and a described system's values, at once.

Each model's `headline` takes arrays where `predict` takes numbers, and both use the same formulas; this
module only puts the axes in place. Of a model that makes larger arrays on the way than the grid has points,
`table_elements(parameters, points)` says how large.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fabricmark import models
from fabricmark.base import keys
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Network

DEVICES = "devices"
MOST_ELEMENTS = 4_000_000  # of a table on the way: larger grids are cut along their first axis


@dataclass(frozen=True)
class Described:
    """What `predict` takes besides the parameters; `devices_per_node` says how many hosts devices fill.

    `own_program`: the metric of this project's program (`own_headline` of the model), where the closed form
    is that of another one (`foreign` of its traits).
    """

    board: Board
    network: Network | None = None
    bitstream: Bitstream | None = None
    devices_per_node: int = 1
    own_program: bool = False


def sweep(
    benchmark: str,
    described: Described,
    parameters: Mapping,
    axes: Mapping[str, np.ndarray],
    devices: int = 1,
) -> np.ndarray:
    """The headline metric for all combinations: one dimension for each of `axes`, in their order.

    In the unit of the prediction (GB/s, GFLOP/s, GUOP/s). An axis is a parameter, "devices", or a value of
    board, network or bitstream as the system files name it (board.memory.banks), in SI units. Raises KeyError
    for an unknown axis or a missing parameter, ValueError for a device that is no FPGA: processors are
    predicted one by one.
    """
    if described.board.device_class != "fpga":
        raise ValueError("device_class")
    count = len(axes)
    shaped = {
        name: np.reshape(values, (1,) * place + (-1,) + (1,) * (count - place - 1))
        for place, (name, values) in enumerate(axes.items())
    }
    return at(benchmark, described, parameters, shaped, devices)


def at(benchmark: str, described: Described, parameters: Mapping, points: Mapping, devices=1) -> np.ndarray:
    """The headline metric at points whose coordinates are arrays that broadcast against each other."""
    shape = np.broadcast_shapes(*(np.shape(values) for values in points.values()))
    whole = _evaluate if _table_elements(benchmark, parameters, points, shape) <= MOST_ELEMENTS else _in_parts
    return np.broadcast_to(whole(benchmark, described, parameters, points, devices), shape)


def _table_elements(benchmark: str, parameters: Mapping, points: Mapping, shape: tuple) -> int:
    """Elements of the largest array that a model makes on the way."""
    count = getattr(models.find(benchmark), "table_elements", None)
    return int(np.prod(shape, dtype=float)) if count is None else count(parameters, points)


def _in_parts(benchmark: str, described: Described, parameters: Mapping, points: Mapping, devices):
    """The same, one half of the longest dimension after the other."""
    arrays = {name: np.asarray(values) for name, values in points.items()}
    shape = np.broadcast_shapes(*(values.shape for values in arrays.values()))
    along = int(np.argmax(shape))
    if shape[along] < 2:
        return _evaluate(benchmark, described, parameters, points, devices)
    middle, halves = shape[along] // 2, []
    for part in (slice(None, middle), slice(middle, None)):
        cut = {}
        for name, values in arrays.items():
            place = along - (len(shape) - values.ndim)
            split = place >= 0 and values.shape[place] > 1
            cut[name] = values[(slice(None),) * place + (part,)] if split else values
        halves.append(at(benchmark, described, parameters, cut, devices))
    return np.concatenate(halves, axis=along)


def _evaluate(benchmark: str, described: Described, parameters: Mapping, points: Mapping, devices):
    ranks = points.get(DEVICES, devices)
    board = replace(described.board, devices=ranks, hosts=-(-ranks // described.devices_per_node))
    network, bitstream = described.network, described.bitstream
    chosen = dict(parameters)
    for name, values in points.items():
        place, _, value = name.partition(".")
        if value and value not in keys.OF_MODELS.get(place, {}):
            raise KeyError(name)
        if place == "board" or (place == "bitstream" and value in keys.SYNTHESISED):
            board = board.having({value: values})
        elif place == "network" and network is not None:
            network = network.having({value: values})
        elif place == "bitstream" and bitstream is not None:
            bitstream = bitstream.having({value: values})
        elif value:
            raise KeyError(name)
        elif name != DEVICES:  # cubes of whole numbers would overflow
            chosen[name] = np.asarray(values, dtype=float)
    model = models.find(benchmark)
    if model is None or not hasattr(model, "headline"):
        raise KeyError(benchmark)
    narrow = partial(models.narrowed, model)
    headline = model.own_headline if described.own_program else model.headline
    return headline(chosen, narrow(board), ranks, network=narrow(network), bitstream=narrow(bitstream))
