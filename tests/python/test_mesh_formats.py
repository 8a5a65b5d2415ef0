"""Meshes of Gmsh in, VTU and UGRID NetCDF out, through libraries that are installed when first used."""

import subprocess
import sys

import numpy
import pytest
from conftest import REPOSITORY
from fabricmark.base import paths, runtimes
from fabricmark.base.errors import FabricmarkError
from fabricmark.mesh import formats, packages, tool
from meshes import GMSH_2, GMSH_4

pytestmark = pytest.mark.programs


@pytest.fixture
def libraries(place, monkeypatch):
    """They are installed in the clone's own folder, once for all tests; without a network there are none."""
    monkeypatch.setattr(paths, "runtimes", lambda: REPOSITORY / ".runtimes")
    try:
        return {name: packages.load(name) for name in packages.PACKAGES}
    except FabricmarkError as error:
        pytest.skip(f"not installed here: {error}")


def converted(place, text, target="out.14", **options):
    source = place.folder / "in.msh"
    source.write_text(text)
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return place.run("mesh", "convert", source, place.folder / target, *words)


@pytest.mark.parametrize("text", [GMSH_2, GMSH_4])
def test_gmsh(place, libraries, text):
    done = converted(place, text)
    assert done.returncode == 0, done.stderr
    assert "2 elements, 4 nodes" in done.stdout
    arrays, _ = tool.arrays(str(place.folder / "out.14"))
    assert arrays.depth.tolist() == [1, 2, 3, 4]
    kinds = {
        tuple(sorted(pair)): kind
        for pair, kind in zip(arrays.boundary_nodes.tolist(), arrays.boundary_kinds.tolist(), strict=True)
    }
    assert kinds == {(0, 1): 2, (1, 2): 1, (2, 3): 3, (0, 3): 1}


def test_gmsh_seen_from_below_and_of_one_depth(place, libraries):
    text = GMSH_2.replace("1 1 2 3\n", "1 1 3 2\n").replace("1 1 3 4\n", "1 1 4 3\n")
    done = converted(place, text, depth=7)
    assert done.returncode == 0, done.stderr
    assert "7 to 7 m" in done.stdout


@pytest.mark.parametrize(
    ("old", "by", "said"),
    [
        ('1 2 "land"', '1 2 "beach"', "line 2 is of the physical group 'beach'"),
        ("2 1 2 2 2 2 3", "2 1 0 2 3", "is no mesh of Gmsh"),
        ("1 0 0 -1", "1 0 0 0", "node 1 does not lie below z = 0"),
        ("6 2 2 4 1 1 3 4", "6 3 2 4 1 1 2 3 4", "has elements of the kind quad"),
        ("3 1 1 -3", "3 wet 1 -3", "is no mesh of Gmsh"),
        ("5 2 2 4 1 1 2 3", "5 2 2 4 1 1 3 2", "is inverted"),
        ("4 1 2 2 4 4 1", "4 1 2 2 4 3 1", "which has elements on both sides"),
        (
            "4 1 2 2 4 4 1",
            "4 1 2 0 4 4 1",
            "border between nodes 1 (0, 0) and 4 (0, 1) is in no physical",
        ),
        ("4 1 2 2 4 4 1", "4 1 2 7 4 4 1", "line 4 is of the physical group 7, which has no name"),
    ],
)
def test_wrong_files_of_gmsh(place, libraries, one_error_line, old, by, said):
    assert old in GMSH_2
    assert said in one_error_line(converted(place, GMSH_2.replace(old, by)), 2)
    assert not (place.folder / "out.14").exists()


def test_a_curve_inside_that_is_in_no_group_is_left_out(place, libraries):
    text = GMSH_2.replace("6\n1 1 2 1 1 1 2", "7\n7 1 2 0 9 1 3\n1 1 2 1 1 1 2")
    assert text != GMSH_2
    done = converted(place, text)
    assert done.returncode == 0, done.stderr
    assert "1 between elements, 2 land, 1 sea, 1 river" in done.stdout


def test_no_file_of_gmsh(place, libraries, one_error_line):
    assert "cannot read" in one_error_line(place.run("mesh", "convert", "none.msh", "x.14"), 2)


def test_vtu_holds_the_mesh(place, libraries):
    place.run("mesh", "convert", "bay:200", "bay.vtu")
    found = libraries["meshio"].read(place.folder / "bay.vtu")
    arrays, _ = tool.arrays("bay:200")
    assert numpy.array_equal(found.cells_dict["triangle"], arrays.elements)
    assert numpy.array_equal(found.points[:, 0], arrays.x)
    assert numpy.array_equal(found.point_data["depth"], arrays.depth)


def test_ugrid_holds_the_mesh(place, libraries):
    place.run("mesh", "convert", "bay:200", "bay.nc")
    arrays, _ = tool.arrays("bay:200")
    with libraries["netCDF4"].Dataset(place.folder / "bay.nc") as data:
        topology = data["mesh"]
        assert topology.cf_role == "mesh_topology" and topology.topology_dimension == 2
        x, y = topology.node_coordinates.split()
        assert numpy.array_equal(data[x][:], arrays.x) and numpy.array_equal(data[y][:], arrays.y)
        faces = data[topology.face_node_connectivity]
        assert numpy.array_equal(faces[:] - faces.start_index, arrays.elements)
        assert numpy.array_equal(data["depth"][:], arrays.depth)
        assert numpy.array_equal(data["boundary_kind"][:], arrays.boundary_kinds)
        assert data["boundary_kind"].flag_meanings == "land sea river"


def test_without_a_network_one_line_says_so(place, monkeypatch, one_error_line):
    def fails(command, **_):
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no network\n")

    monkeypatch.setitem(sys.modules, "meshio", None)
    monkeypatch.setattr(runtimes.subprocess, "run", fails)
    with pytest.raises(
        FabricmarkError, match=r"cannot install meshio==.*: ERROR: no network; check"
    ) as caught:
        packages.load("meshio")
    assert caught.value.exit_code == 3


def test_only_files_in_a_known_format_are_written(place):
    with pytest.raises(FabricmarkError, match="in no known format"):
        formats.convert("bay:10", place.folder / "x.msh", None)
