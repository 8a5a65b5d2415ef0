"""Figures that texts print of shallow water on FPGAs (Meyer 2024, section 5.2.3 and Tables A.1 and A.2).

Counts of partitions are those of this project's own mesh and partitioner, a bay of as many elements; the
others are what eq. 5.2 and 5.3 make of the printed partitions.
"""

from fabricmark.models._mesh_parts import parts_of
from fabricmark.models._published import Published
from fabricmark.models.shallow_water import device

COUNTS = {
    "e_core": lambda part: part.core,
    "e_send_plus_e_recv": lambda part: part.border,
    "d_ext": lambda part: part.outer,
}
NEIGHBOURS = "n_max"
FLOPS = 222  # of an element and step with Rusanov's flux (shallow_water.FLOPS)
MANY = 6000  # elements of a device in weak scaling from which on the text speaks of all rows


def figure(one, known) -> float | None:
    """What the model says of a figure, in its unit. Raises FabricmarkError."""
    if one.metric == NEIGHBOURS or one.metric in COUNTS:
        return _count(one)
    if one.metric == "elements_in_latency":
        path = _path(one, known)
        return path.ping  # an element a cycle
    if one.metric == "stall_ratio":
        found = [100 * step.stall / step.cycles for step in _steps(one, known)]
        return min(found) if one.relation.startswith(">") else max(found)
    if one.metric == "performance":
        return _performance(one, known)
    return None


def _performance(one, known) -> float:
    """[TFLOP/s] of a bay of as many elements, by the operations that this project's kernels do: the count
    that explains the printed figure is fitted to it."""
    cells = int(one.conditions["e_total"])
    path = _path(one, known)
    slowest = device.slowest(parts_of(f"bay:{cells}", int(one.devices)), path)
    return FLOPS * cells * path.hz / slowest.cycles / 1e12


def _count(one) -> float:
    """Of the part with the longest border; neighbours: the most of any part."""
    parts = parts_of(f"bay:{one.conditions['e_total']}", int(one.devices))
    if one.metric == NEIGHBOURS:
        return float(max(part.neighbours for part in parts))
    return float(COUNTS[one.metric](max(parts, key=lambda part: (part.border, part.elements))))


def _path(one, known) -> device.HaloPath:
    system = known.system(one)
    bitstream = system.bitstream(one.program, one.transport)
    return device.path_of(system.board_with(bitstream, 2), bitstream, system.networks[one.transport])


def _steps(one, known) -> list[device.Step]:
    """Of the printed partitions of two or more devices in weak scaling."""
    path = _path(one, known)
    return [
        device.step(row.part, path)
        for row in known.partitions()
        if row.table == "A1" and row.devices > 1 and row.part.elements >= MANY and row.fits(one.transport)
    ]


PUBLISHED = Published({}, lambda row, parameters: {}, figure=figure)
