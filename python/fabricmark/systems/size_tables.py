"""Copies and messages of a system as tables by size, which programs read: the formulas are those of models.

A table is {bytes, seconds, seconds_per_byte}: from each size on its time, and that of each byte more.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from fabricmark.models import Board, MissingValue, _network, _transfers
from fabricmark.models.machine import HOST, Curve, Network
from fabricmark.systems.build import System

BEFORE = 0.999999
OFF = 2e-4  # of a measured curve, whose times between two sizes are a straight line of logarithms
Table = dict[str, list[float]]


def copies(board: Board) -> dict[str, dict[str, Table]]:
    """Of arrays, and of messages without and with other devices of the node that copy, by direction."""
    below = board["host.programmed_below"]
    sizes = (below, min(_network.programmed_at_once(board), below), board["host.page"])
    found = {}
    for direction in (one for one, name in _transfers.RATES.items() if board.get(name) is not None):
        array = partial(_network.array_copy_seconds, direction, board=board, staged=False)
        message = partial(_network.copy_seconds, direction, board=board)
        found[direction] = {
            "array": table(array, ()),
            "message": table(message, sizes),
            "message_beside_others": table(partial(message, neighbours=True), sizes),
        }
    return found


def messages(system: System) -> dict[str, list[dict]]:
    """Of a message from one rank to another between the hosts, by transport; each from so many devices on."""
    found = {}
    for transport, network in system.networks.items():
        if network.kind == HOST and (tables := list(_of_devices(network, system))):
            found[transport] = tables
    return found


def table(seconds: Callable, sizes: Iterable[float]) -> Table:
    """Of what is straight between these sizes [bytes], from 0 on and above the last."""
    first = sorted({0.0, *map(float, sizes)})
    # Just before the next size, where the time may jump.
    inside = [*(low + BEFORE * (high - low) for low, high in pairwise(first)), 2 * first[-1] + 1]
    at_first, at_inside = (np.asarray(seconds(np.array(places)), dtype=float) for places in (first, inside))
    slopes = (at_inside - at_first) / (np.array(inside) - np.array(first))
    return {"bytes": first, "seconds": at_first.tolist(), "seconds_per_byte": slopes.tolist()}


def _of_devices(network: Network, system: System) -> Iterator[dict]:
    before: object = None
    for devices in range(1, system.most_devices + 1):
        nodes = system.nodes(devices)
        curve = network.curve(devices, nodes)
        kind = (id(curve), devices == 1)  # all that the time follows from
        if kind == before:
            continue
        before = kind
        try:
            yield {"devices": devices, **_message_table(network, curve, devices, nodes)}
        except MissingValue:  # neither a curve nor a rate
            continue


def _message_table(network: Network, curve: Curve | None, devices: int, nodes: int) -> Table:
    def seconds(moved):
        return _network.exchange_seconds(moved, network, devices, nodes) / _network.DIRECTIONS

    return table(seconds, () if curve is None else _between(curve))


def _between(curve: Curve) -> list[float]:
    """The sizes of a curve and more of them, so close that it is straight from one to the next."""
    found = [curve.message_bytes[0]]
    for (low, first), (high, last) in pairwise(zip(curve.message_bytes, curve.seconds, strict=True)):
        # Of t = c x^p a chord over a step of d in ln(x) is off by |p (p - 1)| d^2 / 8.
        power = np.log(last / first) / np.log(high / low)
        count = int(np.ceil(np.log(high / low) * np.sqrt(abs(power * (power - 1)) / (8 * OFF))))
        found += np.geomspace(low, high, max(1, count) + 1)[1:].tolist()
    return found
