"""How many switches lie between the devices of a ring, which run one after the other on those of a network.

Cables and ways as src/network/topology_spec.cpp lays them, which a test compares.
"""

from functools import cache

import numpy as np

from fabricmark.models.machine import Network

A_LEVEL = 2  # switches more for each level that a way climbs: one up, one down


def further_switches(network: Network, devices) -> tuple:
    """(most, mean) of the switches beyond the first between neighbours in a ring of devices, as `devices`.

    Half of a leaf's ports are for devices (Mondigo 2020, section 4.3.3). 0 where the file says neither a
    topology of several levels nor how many ports a switch has.
    """
    kind, sizes = _sizes(network.topology)
    if kind in FURTHER:
        counts = np.asarray(devices)
        found = np.array([_around(kind, sizes, int(one)) for one in counts.ravel()])
        return found[:, 0].reshape(counts.shape), found[:, 1].reshape(counts.shape)
    ports = network.get("switch_ports")
    if ports is None:
        return 0.0, 0.0
    counts, leaf = np.asarray(devices), ports // 2
    most = np.where(counts > leaf, A_LEVEL, 0)
    return most, most * np.ceil(counts / leaf) / counts  # a ring leaves each leaf once


def _sizes(topology: str) -> tuple[str, tuple[int, ...]]:
    """(kind, sizes) of a text as base/keys.py has it."""
    kind, _, sizes = topology.partition("*")[0].partition(":")
    return kind, tuple(int(size) for size in sizes.split("x") if size)


@cache
def _around(kind: str, sizes: tuple[int, ...], devices: int) -> tuple[int, float]:
    """(most, mean) over the ring."""
    first = np.arange(devices)
    second = (first + 1) % devices
    further = FURTHER[kind](sizes, first, second)
    return int(further.max()), float(further.mean())


def _of_fat_tree(sizes: tuple[int, ...], first, second):
    """Half of a switch's ports lead down: to devices of an edge, to edges of a pod."""
    (ports,) = sizes
    edge, pod = ports // 2, (ports // 2) ** 2
    return A_LEVEL * (first // edge != second // edge) + A_LEVEL * (first // pod != second // pod)


def _of_dragonfly(sizes: tuple[int, ...], first, second):
    """One router further within a group. To another one at most a router before the cable and one behind it;
    by two cables where those of a third group end at the same router of it."""
    groups, routers, below = sizes
    one, other = first // below, second // below

    def ends(there):
        """Routers at both ends of the cable to the group that is so much further."""
        return (there - 1) % routers, (groups - there - 1) % routers

    there = (other // routers - one // routers) % groups
    leaving, coming = ends(there)
    across = 1 + (one % routers != leaving) + (other % routers != coming)
    to_third = np.arange(1, groups)[:, np.newaxis]
    (leaving, inward), (outward, coming) = ends(to_third), ends((there - to_third) % groups)
    by_third = (one % routers == leaving) & (inward == outward) & (other % routers == coming)
    by_third = (by_third & (to_third != there)).any(axis=0)
    return np.where(there == 0, one != other, np.where(by_third, np.minimum(across, 2), across))


FURTHER = {"fat-tree": _of_fat_tree, "dragonfly": _of_dragonfly}
