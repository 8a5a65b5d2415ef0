"""`fabricmark mesh` and `fabricmark-mesh`: what they make, report, draw and refuse."""

import json
import subprocess

import numpy
import pytest
from conftest import MESH_TOOL
from fabricmark.mesh import drawing, raster, tool
from fabricmark.mesh.arrays import Arrays
from meshes import ABACO

pytestmark = pytest.mark.programs
MESH_TESTS = MESH_TOOL.with_name("mesh_tests")


@pytest.fixture
def bay(place):
    return tool.arrays("bay:300")[0]


def png(content):
    assert content.startswith(b"\x89PNG") and content.endswith(b"IEND\xaeB\x60\x82")
    return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])


def test_it_needs_neither_opencl_nor_mpi():
    words = subprocess.run(["ldd", MESH_TOOL], capture_output=True, text=True, check=True).stdout.split()
    assert "libmetis.so.5" in words
    assert not {"libOpenCL", "libmpi"} & {name.partition(".")[0] for name in words}


def test_made_refined_checked_and_drawn(place):
    done = place.run("mesh", "generate", "bay:500", "bay.14", "--ordered", "--picture", "bay.png")
    assert done.returncode == 0, done.stderr
    assert "bay.14: 500 elements" in done.stdout and "picture: bay.png" in done.stdout
    width, height = png((place.folder / "bay.png").read_bytes())
    assert width == 960 and 300 < height < 1200
    done = place.run("mesh", "refine", "bay.14", "fine.14", "--times", 3)
    assert "fine.14: 4500 elements" in done.stdout
    done = place.run("mesh", "refine", "bay.14", "twice.14", "--bisect")
    assert "twice.14: 1000 elements" in done.stdout
    done = place.run("mesh", "check", "fine.14")
    assert done.returncode == 0
    for words in ("smallest angle", "worst aspect", "CFL step at rest", " sea", " land", "km2"):
        assert words in done.stdout


def test_parts(place):
    done = place.run("mesh", "partition", "bay:2000", "--parts", 5, "--output", "p.npy", "--picture", "p.png")
    assert done.returncode == 0, done.stderr
    assert "N_max" in done.stdout and "E_core" in done.stdout
    part_of = numpy.load(place.folder / "p.npy")
    assert part_of.dtype == numpy.int32 and sorted(set(part_of.tolist())) == list(range(5))
    assert max(numpy.bincount(part_of)) <= 1.01 * 400
    png((place.folder / "p.png").read_bytes())
    assert "picture: m.png" in place.run("mesh", "plot", "bay:200", "m.png", "--parts", 2).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "/nowhere.14"], "cannot read /nowhere.14"),
        (["check", "."], "cannot read ."),
        (["check", "/dev/zero"], "cannot read /dev/zero"),
        (["check", "a\nb.14"], "cannot read a b.14; name a mesh"),
        (["plot", "bay:10", "x.png", "--parts", 11], "does not have 11 parts"),
        (["plot", "bay:10", "/proc/x.png"], "cannot write /proc/x.png"),
        (["check", "bay:1"], "a bay of 1 elements cannot be"),
        (["check", "bay:x"], "names no bay"),
        (["generate", "bay:99999999999", "x.14"], "too large"),
        (["generate", "bay:10", "/proc/x.14"], "/proc/x.14"),
        (["refine", "bay:10", "x.14"], "needs one of --times, --bisect and --elements"),
        (["refine", "bay:10", "x.14", "--bisect", "--times", 2], "needs one of"),
        (["refine", "bay:10", "x.14", "--elements", 9], "cannot give 9"),
        (["partition", "bay:10", "--parts", 11], "does not have 11 parts"),
        (["convert", "bay:10", "x.stl"], "x.stl is in no known format"),
        (["convert", "bay:10", "x.nc", "--depth", 0], "--depth 0.0 is not above 0"),
    ],
)
def test_refused(place, one_error_line, words, said):
    assert said in one_error_line(place.run("mesh", *words), 2)


def test_a_broken_mesh_is_refused_with_element_and_line(place, one_error_line):
    place.run("mesh", "generate", "bay:50", "bay.14")
    path = place.folder / "bay.14"
    lines = path.read_text().splitlines()
    elements, nodes = map(int, lines[1].split())
    first = 2 + nodes
    number, corners, a, b, c = lines[first + 6].split()
    lines[first + 6] = f"{number} {corners} {b} {a} {c}"
    path.write_text("\n".join(lines) + "\n")
    line = one_error_line(place.run("mesh", "check", "bay.14"), 2)
    assert f"element 7 (line {first + 7}) is inverted" in line and elements == 50


def test_a_tool_that_dies_is_told_in_one_line(place, one_error_line):
    path = place.programs / "fabricmark-mesh"
    path.unlink()
    assert "is not built; run `make build`" in one_error_line(place.run("mesh", "check", "bay:9"), 3)
    place.add_program(path, "sys.exit(9)")
    assert "ended with 9" in one_error_line(place.run("mesh", "check", "bay:9"), 3)


def test_each_pixel_shows_the_element_that_it_lies_in(bay):
    found = raster.make(bay, 400)
    inside = found.element >= 0
    left, right, bottom, top = found.extent
    shares = numpy.bincount(found.element[inside], minlength=len(bay.elements)) / found.element.size
    corners = bay.corners()
    sides = corners[:, 1:] - corners[:, :1]
    areas = (sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0]) / 2
    expected = areas / ((right - left) * (top - bottom))
    assert abs(inside.mean() - expected.sum()) < 0.01
    assert numpy.abs(shares - expected).max() < 4e-4
    image = found.image(numpy.arange(len(bay.elements)))
    assert (image.mask == ~inside).all()


def test_parts_beside_each_other_have_other_colours(bay):
    part_of = numpy.arange(len(bay.elements)) // 30
    colours = drawing.part_colours(bay, part_of)
    edges = {}
    for element, nodes in enumerate(bay.elements.tolist()):
        for i in range(3):
            edges.setdefault(frozenset((nodes[i], nodes[(i + 1) % 3])), []).append(part_of[element])
    pairs = {tuple(parts) for parts in edges.values() if len(parts) == 2 and parts[0] != parts[1]}
    assert pairs and all(colours[a] != colours[b] for a, b in pairs)


def test_arrays_that_are_no_mesh(tmp_path, bay, place, one_error_line):
    folder = tmp_path / "arrays"
    tool.ask("arrays", "bay:20", folder)
    assert len(Arrays.load(folder).elements) == 20
    numpy.save(folder / "elements.npy", numpy.full((20, 3), 99, dtype=numpy.int32))
    with pytest.raises(Exception, match="are no mesh"):
        Arrays.load(folder)
    (folder / "x.npy").write_bytes(b"not an array")
    with pytest.raises(Exception, match=r"cannot read .*x\.npy"):
        Arrays.load(folder)


@pytest.mark.skipif(not ABACO.exists(), reason="the mesh of the bight of Abaco is not here")
def test_the_bight_of_abaco(place):
    quality = tool.ask("check", ABACO)["quality"]
    assert (quality["elements"], quality["nodes"]) == (1696, 926)
    assert (quality["land_edges"], quality["sea_edges"], quality["pieces"]) == (118, 38, 1)
    assert (quality["least_depth_m"], quality["largest_depth_m"]) == (1, 9)
    for times, elements in ((2, 6784), (4, 27136), (8, 108544)):
        fine = tool.ask("refine", ABACO, place.folder / "fine.14", "--times", times)["quality"]
        assert fine["elements"] == elements
        assert (fine["land_edges"], fine["sea_edges"]) == (118 * times, 38 * times)
    answer = tool.ask("arrays", ABACO, place.folder / "arrays")
    assert answer["stations"][0] == [38666.66, 49333.32]


@pytest.mark.skipif(not ABACO.exists(), reason="the mesh of the bight of Abaco is not here")
def test_the_tides_of_the_bight_of_abaco(place):
    """Its fort.15 has names and frequencies only; amplitudes and phases stand in the fort.17 beside it."""
    tides = tool.ask("tides", ABACO.with_suffix(".15"))["tides"]
    assert [tide["name"] for tide in tides] == ["O1", "K1", "N2", "M2", "S2"]
    assert [tide["amplitude_m"] for tide in tides] == [0.075, 0.095, 0.1, 0.395, 0.06]
    degrees = [numpy.degrees(tide["phase_rad"]) for tide in tides]
    assert degrees == pytest.approx([194.806, 206.265, 340, 0, 42.9718])
    frequencies = [6.7597751162e-5, 7.2921165921e-5, 1.37879713787e-4, 1.40518917083e-4, 1.45444119418e-4]
    assert [tide["frequency_rad_per_s"] for tide in tides] == frequencies


def test_a_mesh_in_degrees_is_refused_or_projected(place, one_error_line):
    place.run("mesh", "generate", "bay:60", "bay.14")
    lines = (place.folder / "bay.14").read_text().splitlines()
    nodes = int(lines[1].split()[1])
    for number in range(2, 2 + nodes):
        which, x, y, depth = lines[number].split()
        lines[number] = f"{which} {-97 + float(x) / 1e5} {28 + float(y) / 1e5} {depth}"
    (place.folder / "degrees.14").write_text("\n".join(lines) + "\n")
    line = one_error_line(place.run("mesh", "check", "degrees.14"), 2)
    assert "coordinates look like degrees" in line and "--projection cpp" in line
    done = place.run("mesh", "refine", "degrees.14", "fine.14", "--times", 2, "--projection", "cpp")
    assert done.returncode == 0 and "240 elements" in done.stdout
    quality = tool.ask("check", place.folder / "fine.14")["quality"]
    assert quality["longest_edge_m"] > 1000
    assert place.run("mesh", "check", "degrees.14", "--projection", "none").returncode == 0


@pytest.mark.full
def test_the_reader_is_fuzzed_for_a_minute():
    words = ["--gtest_also_run_disabled_tests", "--gtest_filter=MeshFiles.*FuzzedForAMinute"]
    done = subprocess.run([MESH_TESTS, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "1 test" in done.stdout, done.stdout


def test_answers_are_json_for_any_title(place):
    place.run("mesh", "generate", "bay:20", "bay.14")
    path = place.folder / "bay.14"
    path.write_bytes(b'\xff"title\\\x01\n' + path.read_bytes().split(b"\n", 1)[1])
    done = subprocess.run([MESH_TOOL, "check", path], capture_output=True, check=True)
    assert json.loads(done.stdout)["quality"]["elements"] == 20
