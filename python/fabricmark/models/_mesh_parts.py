"""Partitions of meshes, as the device design of an application meets them: what `fabricmark-mesh` makes."""

import re
from dataclasses import dataclass
from functools import cache

from fabricmark.base import meshes

ALIKE = re.compile(r"parts:(\d+),(\d+),(\d+),(\d+)")


@dataclass(frozen=True)
class Part:
    """One partition: E_core and S = E_send + E_recv [elements], D_ext [outer edges], neighbours (eq. 5.2)."""

    core: int
    border: int
    outer: int
    neighbours: int

    @property
    def elements(self) -> int:
        return self.core + self.border


@cache
def parts_of(mesh: str, devices: int, projection: str = "auto") -> tuple[Part, ...]:
    """The partitions of a mesh for so many devices.

    `mesh`: bay:N, a file, or parts:CORE,BORDER,OUTER,NEIGHBOURS for partitions that are all alike.
    `projection`: of a file. Raises FabricmarkError as `meshes.ask`.
    """
    if found := ALIKE.fullmatch(mesh):
        return (Part(*map(int, found.groups())),) * devices
    answer = meshes.ask("partition", mesh, "--parts", devices, "--projection", projection)
    return tuple(
        Part(one["e_core"], one["e_send_plus_e_recv"], one["d_ext"], one["neighbours"])
        for one in answer["parts"]
    )
