"""Meshes for tests: that of the bight of Abaco where it is present, files of Gmsh, fields of a run."""

import json
import math

import numpy
from conftest import REPOSITORY

SHARED = REPOSITORY.parent / "shared" / "data"
ABACO = SHARED / "meshes" / "fort_bahamas.14"
TABLES = SHARED / "published_more" / "shallow_water.csv"

# A unit square of two triangles: bottom open sea, top a river, land at the sides.
GMSH_2 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
4
1 1 "sea"
1 2 "land"
1 3 "River"
2 4 "water"
$EndPhysicalNames
$Nodes
5
1 0 0 -1
2 1 0 -2
3 1 1 -3
4 0 1 -4
5 9 9 0
$EndNodes
$Elements
6
1 1 2 1 1 1 2
2 1 2 2 2 2 3
3 1 2 3 3 3 4
4 1 2 2 4 4 1
5 2 2 4 1 1 2 3
6 2 2 4 1 1 3 4
$EndElements
"""
GMSH_4 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
4
1 1 "sea"
1 2 "land"
1 3 "River"
2 4 "water"
$EndPhysicalNames
$Entities
0 4 1 0
1 0 0 0 1 0 0 1 1 0
2 1 0 0 1 1 0 1 2 0
3 0 1 0 1 1 0 1 3 0
4 0 0 0 0 1 0 1 2 0
1 0 0 0 1 1 0 1 4 0
$EndEntities
$Nodes
1 4 1 4
2 1 0 4
1
2
3
4
0 0 -1
1 0 -2
1 1 -3
0 1 -4
$EndNodes
$Elements
5 6 1 6
1 1 1 1
1 1 2
1 2 1 1
2 2 3
1 3 1 1
3 3 4
1 4 1 1
4 4 1
2 1 2 2
5 1 2 3
6 1 3 4
$EndElements
"""


def write_fields(folder, arrays, times=(0.0, 3600.0, 7200.0), parts=3, shift=0.0):
    """What a run leaves: snapshots, the part of each element, and curves at two stations."""
    middles = arrays.corners().mean(axis=1)
    snapshots = []
    for number, time in enumerate(times):
        name = f"xi_{number:04}.npy"
        numpy.save(folder / name, (numpy.sin(middles[:, 0] / 2e4 + time / 3600) * 0.3).astype(numpy.float32))
        snapshots.append({"file": name, "step": 10 * number, "time_s": time})
    document = {"schema": "fabricmark-fields-1", "case": "tide", "order": 0, "snapshots": snapshots}
    (folder / "snapshots.json").write_text(json.dumps(document))
    if parts:
        numpy.save(
            folder / "part_of.npy",
            (numpy.argsort(numpy.argsort(middles[:, 0])) * parts // len(middles)).astype(numpy.int32),
        )
    write_stations(folder / "stations.csv", shift)


def write_stations(path, shift=0.0):
    """Two stations, a day in steps of 10 minutes; `shift`: of the elevation [m]."""
    rows = ["time_s,station,x_m,y_m,xi_m,u_m_per_s,v_m_per_s"]
    for step in range(145):
        time = 600.0 * step
        for station in (1, 2):
            value = math.sin(time / 7000 + station)
            rows.append(f"{time},{station},{100 * station},200,{value + shift},{value / 10},{-value / 10}")
    path.write_text("\n".join(rows) + "\n")
