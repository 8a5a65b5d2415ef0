"""Meshes in formats of others, through their libraries: Gmsh in; VTU and UGRID NetCDF out."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import BAD_USE, FabricmarkError, in_full, printable, refusing
from fabricmark.mesh import packages, tool
from fabricmark.mesh.arrays import KINDS, LAND, RIVER, SEA, Arrays

GMSH, VTU, UGRID, FORT14 = ".msh", ".vtu", ".nc", ".14"
NAMES = {name: kind for kind, name in KINDS.items()}
GMSH_REMEDY = "name physical groups of the curves land, sea and river, and one of the surface"


def convert(source: str, target: Path, depth: float | None, *words: object) -> dict:
    """From Gmsh, fort.14 or bay:N to fort.14, VTU or UGRID, by the files' endings. What the tool says of it.

    `depth`: of all nodes [m], for a Gmsh file whose nodes have no third coordinate below 0. `words`: how the
    tool reads the mesh. Raises FabricmarkError (2; 3: a library cannot be installed).
    """
    if target.suffix not in (FORT14, VTU, UGRID):
        raise FabricmarkError(f"{target} is in no known format", "end it in .14, .vtu or .nc")
    if Path(source).suffix != GMSH:
        return _written(source, source, target, words)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "converted.14"
        paths.write_atomically(made, fort14_of_gmsh(Path(source), depth))
        return _written(str(made), source, target, words)


def _written(mesh: str, name: str, target: Path, words: Sequence[object]) -> dict:
    try:
        if target.suffix == FORT14:
            return dict(tool.ask("generate", mesh, target, *words))
        arrays, answer = tool.arrays(mesh, *words)
    except FabricmarkError as error:  # in which elements are numbered as in the source's order
        cause, _, remedy = str(error).replace(mesh, name).rpartition("; ")
        raise FabricmarkError(cause, remedy, error.exit_code) from error
    (_write_vtu if target.suffix == VTU else _write_ugrid)(arrays, target)
    return dict(answer)


def fort14_of_gmsh(path: Path, depth: float | None) -> str:
    """The text of a fort.14 with the triangles of a .msh file, a boundary for each of its lines.

    Depth is the third coordinate below 0 (a bed at z = -depth), or `depth` everywhere.
    Raises FabricmarkError.
    """
    import numpy

    found = _read_gmsh(path)
    triangles = found.cells_dict.get("triangle")
    if triangles is None or not len(triangles):
        raise FabricmarkError(f"{path} has no triangles", "mesh a surface in Gmsh")
    other = sorted({block.type for block in found.cells} - {"triangle", "line", "vertex"})
    if other:
        raise FabricmarkError(f"{path} has elements of the kind {other[0]}", "use triangles of order 1 only")
    used = numpy.unique(triangles)
    number = numpy.full(len(found.points), -1)
    number[used] = numpy.arange(1, len(used) + 1)
    points = found.points[used]
    depths = numpy.full(len(used), depth) if depth is not None else -points[:, 2]
    if depth is None and not (depths > 0).all():
        node = int(used[int(numpy.argmin(depths > 0))]) + 1
        raise FabricmarkError(f"{path}: node {node} does not lie below z = 0", "give --depth, or z = -depth")
    a, b, c = (points[number[triangles[:, i]] - 1, :2] for i in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    if (area < 0).all():  # a surface seen from below
        triangles = triangles[:, ::-1]
    lines = [printable(path.stem), f"{len(triangles)} {len(used)}"]
    lines += [
        f"{i + 1} {x!r} {y!r} {d!r}"
        for i, (x, y, d) in enumerate(
            zip(points[:, 0].tolist(), points[:, 1].tolist(), depths.tolist(), strict=True)
        )
    ]
    lines += [f"{i + 1} 3 {n[0]} {n[1]} {n[2]}" for i, n in enumerate(number[triangles].tolist())]
    return "\n".join(lines + _boundaries(path, found, number)) + "\n"


def _read_gmsh(path: Path):
    """Through meshio, whose words for a broken file are its own."""
    meshio = packages.load("meshio")
    with refusing(f"cannot read {path}", "name a .msh of Gmsh"):
        paths.content(path)
    try:
        return meshio.gmsh.read(path)
    except Exception as error:  # whatever a broken file leads it to
        cause = f"{path} is no mesh of Gmsh ({in_full(error)})"
        raise FabricmarkError(cause, "save it as 2.2 or 4.1", BAD_USE) from error


def _boundaries(path: Path, found, number) -> list[str]:
    """The boundary segments of fort.14: each line of a physical group as one of two nodes.

    Lines of no group inside are there for the mesh's sake only. Raises FabricmarkError (2) for an edge of the
    border that has no kind, and for lines of another group.
    """
    segments: dict[int, list[tuple[int, int]]] = {LAND: [], SEA: [], RIVER: []}
    border = _border(found.cells_dict["triangle"])
    unnamed, all_at_border = set(border), True
    for place, (nodes, tag, name) in enumerate(_lines(found)):
        edge = tuple(sorted(nodes))
        if tag and name not in NAMES:
            what = f"the physical group {name!r}" if name else f"the physical group {tag}, which has no name"
            raise FabricmarkError(f"{path}: line {place + 1} is of {what}", GMSH_REMEDY)
        if tag:
            unnamed.discard(edge)
            all_at_border = all_at_border and edge in border
            segments[NAMES[name]].append((int(number[nodes[0]]), int(number[nodes[1]])))
    if unnamed and all_at_border:  # what is named inside, the tool refuses
        a, b = min(unnamed)
        where = " and ".join(f"{node + 1} {_place(found.points[node])}" for node in (a, b))
        cause = f"{path}: the edge at the border between nodes {where} is in no physical group of curves"
        raise FabricmarkError(cause, GMSH_REMEDY)
    open_ones = segments[SEA]
    rest = [(pair, 0) for pair in segments[LAND]] + [(pair, 2) for pair in segments[RIVER]]
    lines = [str(len(open_ones)), str(2 * len(open_ones))]
    lines += [f"2\n{a}\n{b}" for a, b in open_ones]
    lines += [str(len(rest)), str(2 * len(rest))]
    return lines + [f"2 {kind}\n{a}\n{b}" for (a, b), kind in rest]


def _lines(found) -> Iterator[tuple[tuple[int, int], int, str]]:
    """(nodes, number of the physical group or 0, its name in small letters or "") of each line."""
    names = {int(tag): name.lower() for name, (tag, dimension) in found.field_data.items() if dimension == 1}
    physical = found.cell_data.get("gmsh:physical", [None] * len(found.cells))
    for block, groups in zip(found.cells, physical, strict=True):
        if block.type != "line":
            continue
        for place, (a, b) in enumerate(block.data.tolist()):
            tag = 0 if groups is None else int(groups[place])
            yield (a, b), tag, names.get(tag, "")


def _border(triangles) -> set[tuple[int, int]]:
    """The edges that one triangle only has, each with its smaller node first."""
    import numpy

    edges = numpy.sort(numpy.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)]), axis=1)
    unique, counts = numpy.unique(edges, axis=0, return_counts=True)
    return {(a, b) for a, b in unique[counts == 1].tolist()}


def _place(point) -> str:
    return f"({point[0]:g}, {point[1]:g})"


def _write_vtu(arrays: Arrays, target: Path) -> None:
    """Triangles with the nodes' depth, at z = 0: a map seen from above."""
    import numpy

    meshio = packages.load("meshio")
    points = numpy.column_stack([arrays.x, arrays.y, numpy.zeros_like(arrays.x)])
    made = meshio.Mesh(points, [("triangle", arrays.elements)], point_data={"depth": arrays.depth})
    with paths.written_by_name(target) as path:
        meshio.vtu.write(path, made)


def _write_ugrid(arrays: Arrays, target: Path) -> None:
    """After the UGRID conventions 1.0: topology "mesh", depth of nodes, boundary edges and their kinds."""
    netcdf = packages.load("netCDF4")
    with paths.written_by_name(target) as path, netcdf.Dataset(path, "w") as data:
        _fill_ugrid(data, arrays)


def _fill_ugrid(data, arrays: Arrays) -> None:
    data.Conventions = "CF-1.8 UGRID-1.0"
    sizes = {"node": len(arrays.x), "face": len(arrays.elements), "boundary": len(arrays.boundary_kinds)}
    for name, size in {**sizes, "three": 3, "two": 2}.items():
        data.createDimension(name, size)
    mesh = data.createVariable("mesh", "i4")
    mesh.setncatts(
        {
            "cf_role": "mesh_topology",
            "topology_dimension": 2,
            "node_coordinates": "x y",
            "face_node_connectivity": "face_nodes",
            "boundary_node_connectivity": "boundary_nodes",
        }
    )
    for name, values, standard in (
        ("x", arrays.x, "projection_x_coordinate"),
        ("y", arrays.y, "projection_y_coordinate"),
        ("depth", arrays.depth, "sea_floor_depth_below_geoid"),
    ):
        variable = data.createVariable(name, "f8", ("node",), zlib=True)
        variable.setncatts({"standard_name": standard, "units": "m"})
        if name == "depth":
            variable.setncatts({"mesh": "mesh", "location": "node"})
        variable[:] = values
    for name, values, dimensions, role in (
        ("face_nodes", arrays.elements, ("face", "three"), "face_node_connectivity"),
        ("boundary_nodes", arrays.boundary_nodes, ("boundary", "two"), "boundary_node_connectivity"),
    ):
        variable = data.createVariable(name, "i4", dimensions, zlib=True)
        variable.setncatts({"cf_role": role, "start_index": 0})
        variable[:] = values
    kinds = data.createVariable("boundary_kind", "i1", ("boundary",))
    kinds.flag_values = list(KINDS)
    kinds.flag_meanings = " ".join(KINDS.values())
    kinds[:] = arrays.boundary_kinds
