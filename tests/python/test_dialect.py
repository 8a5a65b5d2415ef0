"""The dialect header: what aoc and v++ see of each kernel, for every configuration that was published.

No vendor's tool is at hand. What stands at which array and loop is read from the preprocessed text, and clang
checks that it is OpenCL C.
"""

import shutil
import subprocess

import pytest
from attributes import VENDORS, arrays, beside, faults, loops, preprocessed
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base import kernels

programs = pytest.mark.programs
KERNELS = REPOSITORY / "kernels"
STYLE = "single-work-item"
VENDOR = pytest.mark.parametrize("vendor", VENDORS)
CLANGS = ("clang-15", "clang", "clang-14", "clang-16")


def published():
    """Requests for the bitstreams of all files, and for what a board gets without one; each once."""
    names = [file.stem for file in sorted((REPOSITORY / "systems" / "bitstreams").glob("*.toml"))]
    found = {}
    known = kernels.benchmark_names()
    for one in [each for name in names for each in systems.bitstreams(name).values()]:
        if one.benchmark not in known:
            continue
        parameters = {name: value for name, value in one.parameters.items() if name != "ranks"}
        request = kernels.wanted(one.benchmark, "fpga", parameters, banks=4, variant=one.variant)
        found[str(request)] = request
    for name in known:
        for variant in kernels.kernel(name).variants:
            request = kernels.wanted(name, "fpga", {}, banks=2, variant=variant)
            found[str(request)] = request
    return list(found.values())


@pytest.fixture(scope="module")
def configurations():
    """(benchmark, file below kernels/, definitions), each once, of kernels that aoc or v++ would take."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    found = {}
    requests = published()
    for request, answer in zip(requests, kernels.answers(requests), strict=True):
        if "error" in answer:  # of a design that the constraints refuse: other tests are about that
            continue
        variant = kernels.kernel(request["benchmark"]).variants[answer["variant"]]
        if variant["style"] == STYLE:
            file = f"{request['benchmark']}/{variant['file']}"
            found[file, str(answer["definitions"])] = (request["benchmark"], file, answer["definitions"])
    return list(found.values())


@pytest.fixture(scope="module")
def seen(configurations):
    """What each compiler sees: {vendor: [(benchmark, file, definitions, text)]}."""
    return {
        vendor: [
            (*one, preprocessed(KERNELS, *one[1:], vendor))
            for one in configurations
            if vendor == "aoc" or not one[1].endswith("/channels.cl")
        ]
        for vendor in VENDORS
    }


@programs
@VENDOR
def test_marks_stand_at_loops_and_arrays_and_are_of_the_vendor(seen, vendor):
    assert len(seen[vendor]) > 30 and len({one[0] for one in seen[vendor]}) == len(kernels.benchmark_names())
    for _, file, definitions, text in seen[vendor]:
        assert faults(text, vendor) == [], (file, definitions)


@programs
def test_all_compilers_see_the_same_loops(seen):
    others = {(one[1], str(one[2])): one[3] for one in seen["v++"]}
    for _, file, definitions, text in seen["aoc"]:
        if (file, str(definitions)) in others:
            first = {one.kernel.removesuffix("_0") for one in loops(text) if not one.kernel[-1:].isdigit()}
            first |= {one.kernel.removesuffix("_0") for one in loops(text) if one.kernel.endswith("_0")}
            indices = [one.index for one in loops(text) if one.kernel.removesuffix("_0") in first]
            assert indices == [one.index for one in loops(others[file, str(definitions)])]


def of_register_blocks(definitions, size, elements):
    """What aoc and v++ get at an array of register blocks, from which a cycle takes so many elements of a
    row."""
    beside = 1
    while beside * size < elements:
        beside *= 2
    width = {"half": 2, "double": 8}.get(definitions["DATA_TYPE"], 4)
    cyclic = [f"xcl_array_partition(cyclic, {beside}, 2)"] if beside > 1 else []
    complete = ["xcl_array_partition(complete, 3)", "xcl_array_partition(complete, 4)"]
    return {
        "aoc": (f"numbanks({beside * size * size})", f"bankwidth({width})", "aligned(64)"),
        "v++": (*cyclic, *complete, "aligned(64)"),
        "other": ("aligned(64)",),
    }


def of_words(definitions, banks, elements):
    """Of an array with two dimensions: so many banks, and words of so many elements."""
    width = elements * (8 if definitions["DATA_TYPE"] == "double" else 4)
    partition = ("xcl_array_partition(complete, 2)",)
    return {"aoc": (f"numbanks({banks})", f"bankwidth({width})"), "v++": partition, "other": ()}


def of_lanes(definitions, array):
    """Lanes are the last dimension, or where it is a whole row its elements interleaved."""
    width, last = definitions["CHANNEL_WIDTH"], len(array.dimensions)
    in_turns = array.dimensions[-1] != int(width)
    kind = f"cyclic, {width}, {last}" if in_turns else f"complete, {last}"
    bytes_each = 8 if definitions["DATA_TYPE"] == "double" else 4
    return {
        "aoc": (f"numbanks({width})", f"bankwidth({bytes_each})", "aligned(64)"),
        "v++": (f"xcl_array_partition({kind})", "aligned(64)"),
        "other": ("aligned(64)",),
    }


REGISTERS = {"aoc": ("register",), "v++": ("xcl_array_partition(complete, 0)",), "other": ()}


def of_buffer(definitions):
    """STREAM's: from which a cycle takes UNROLL vectors, which may be all."""
    if definitions["BUFFER_SIZE"] == definitions["UNROLL"]:
        return REGISTERS
    cyclic = f"xcl_array_partition(cyclic, {definitions['UNROLL']}, 1)"
    return {"aoc": (), "v++": () if definitions["UNROLL"] == "1" else (cyclic,), "other": ()}


LANES_OF = {"ptrans/base.cl": ("block", "sum"), "ptrans/channels.cl": ("blocks",)}


def expected(file, definitions, array):
    """Attributes of an array by vendor; None where it is nobody's business."""
    if file == "gemm/base.cl":
        return of_register_blocks(definitions, int(definitions["GEMM_SIZE"]), int(definitions["UNROLL"]))
    if file.startswith("hpl/"):
        size = int(definitions["REGISTER_BLOCK"])
        if len(array.dimensions) == 4:
            return of_register_blocks(definitions, size, size)
        return of_words(definitions, 1, size) if array.name in ("column", "row") else None
    if file == "fft/base.cl":
        if array.name == "window":
            return {"aoc": (), "v++": ("xcl_array_partition(complete, 1)",), "other": ()}
        if array.name in ("v", "word"):
            return REGISTERS
        return of_words(definitions, 8, 2) if array.name in ("fetched", "finished") else None
    if file == "stream/base.cl":
        return of_buffer(definitions) if array.name == "buffer" else REGISTERS
    if file == "random_access/base.cl":
        return REGISTERS if array.name in ("number", "left", "place") else None
    if array.name in LANES_OF.get(file, ()):
        return of_lanes(definitions, array)
    return REGISTERS if file.startswith("ptrans/") and array.name in ("elements", "lanes") else None


def unexpected_arrays(seen, vendor):
    """Arrays whose attributes are others than expected, and the files with arrays that were looked at."""
    found, checked = [], {}
    for _, file, definitions, text in seen:
        for array in arrays(text):
            # Members of structures and arrays of functions that the kernels call have the kernel "".
            wanted = expected(file, definitions, array) if array.kernel or "hpl" in file else None
            if wanted is None:
                continue
            checked.setdefault(file, set()).add(array.name)
            if array.attributes != wanted[vendor]:
                found.append(f"{file} {definitions}: {array}")
    return found, checked


@programs
@VENDOR
def test_local_arrays_lie_in_the_memories_that_a_cycle_needs(seen, vendor):
    found, checked = unexpected_arrays(seen[vendor], vendor)
    assert found == []
    assert checked["gemm/base.cl"] == {"sum", "left", "right"}
    assert checked["stream/base.cl"] == {"buffer", "read", "written"}
    assert checked["hpl/base.cl"] == {"block", "factor", "left_block", "right_block", "column", "row"}
    assert checked["fft/base.cl"] == {"fetched", "finished", "window", "v"}
    assert checked["random_access/base.cl"] == {"number", "left", "place"}
    assert checked["ptrans/base.cl"] == {"block", "sum", "elements", "lanes"}
    assert vendor != "aoc" or checked["ptrans/channels.cl"] == {"blocks", "elements", "lanes"}


SERIAL = {"aoc": ("disable_loop_pipelining",), "v++": ("opencl_unroll_hint(1)",)}
PIPELINE = {"aoc": (), "v++": ("xcl_pipeline_loop(1)",)}
UNROLLED = {"aoc": ("unroll",), "v++": ("opencl_unroll_hint",)}


def coalesced(count, *before):
    return {"aoc": (*before, f"loop_coalesce {count}"), "v++": ()}


IVDEP = {"aoc": ("ivdep array(blocks)",), "v++": ()}
PLAIN = {"aoc": (), "v++": ()}
# A rank-1 update of HPL, whose loops go over these; all register blocks of it are others.
NO_DEPENDENCE = {"aoc": ("ivdep array(block)",), "v++": ("xcl_pipeline_loop(1)",)}


def rank_one(first, second):
    outer = {"aoc": ("loop_coalesce 2", "ivdep array(block)"), "v++": ()}
    return [(first, outer), (second, NO_DEPENDENCE)]


# The loops of a kernel in their order: index, and what stands before it; kernel "": those of functions.
LOOPS = {
    ("gemm/base.cl", "multiply"): [
        ("block_row", SERIAL), ("block_column", SERIAL), ("step", SERIAL),
        ("row", coalesced(2)), ("column", PIPELINE), ("k", UNROLLED),
        ("k", coalesced(3)), ("i", PIPELINE | {"v++": ()}), ("j", PIPELINE),
        ("row", coalesced(2)), ("column", PIPELINE), ("k", UNROLLED),
    ],
    ("ptrans/base.cl", "transpose"): [
        ("task", SERIAL),
        ("row", coalesced(2)), ("chunk", PIPELINE), ("k", UNROLLED), ("lane", UNROLLED),
        ("row", coalesced(2, "nofusion")), ("chunk", PIPELINE), ("lane", UNROLLED), ("k", UNROLLED),
        ("row", coalesced(2, "nofusion")), ("column", PIPELINE), ("k", UNROLLED),
    ],
    ("ptrans/channels.cl", "send"): [
        ("number", SERIAL), ("row", IVDEP), ("chunk", IVDEP),
        ("k", UNROLLED), ("lane", UNROLLED), ("lane", UNROLLED), ("k", UNROLLED),
    ],
    ("hpl/base.cl", ""): [
        ("i", UNROLLED), ("j", UNROLLED), ("k", UNROLLED),  # multiply_add of common/register_block.h
        ("r", coalesced(2)), ("j", PIPELINE), ("x", UNROLLED),
        ("r", coalesced(2, "nofusion")), ("j", PIPELINE), ("x", UNROLLED),
        ("x", UNROLLED), ("y", UNROLLED), ("y", UNROLLED),  # in_row, in_column, set_in_column
        ("x", UNROLLED), ("y", UNROLLED),
        ("k", SERIAL), ("j", PIPELINE), ("y", UNROLLED), ("i", NO_DEPENDENCE), ("x", UNROLLED),
        *rank_one("i", "j"),
        ("k", SERIAL), ("i", NO_DEPENDENCE), ("x", UNROLLED), *rank_one("j", "i"),
        ("k", SERIAL), ("j", PIPELINE), ("y", UNROLLED), *rank_one("i", "j"),
        ("i", UNROLLED), ("j", UNROLLED), ("k", UNROLLED),
        ("r", coalesced(2)), ("j", PIPELINE), ("x", UNROLLED), ("k", SERIAL), *rank_one("i", "j"),
    ],
    ("hpl/base.cl", "lu"): [("r", coalesced(2)), ("j", PIPELINE), ("x", UNROLLED)],
    ("hpl/base.cl", "left"): [("step", SERIAL)],
    ("hpl/base.cl", "top"): [("step", SERIAL)],
    ("hpl/base.cl", "inner"): [("number", SERIAL)],
    ("b_eff/channels.cl", "receive"): [
        ("message", PIPELINE | {"v++": ()}), ("i", PIPELINE), ("lane", UNROLLED),
        ("k", UNROLLED), ("lane", UNROLLED), ("k", UNROLLED),
    ],
}  # fmt: skip


def unexpected_loops(seen, vendor):
    found, checked = [], set()
    for _, file, _, text in seen:
        for (where, kernel), wanted in LOOPS.items():
            names = {one.kernel for one in loops(text)} & {kernel, f"{kernel}_0"}
            if where != file or not names:
                continue
            checked.add(where)
            there = [(one.index, one.marks) for one in loops(text) if one.kernel in names]
            if there != [(index, marks[vendor]) for index, marks in wanted]:
                found.append(f"{file}: {there}")
    return found, checked


@programs
@pytest.mark.parametrize("vendor", ["aoc", "v++"])
def test_loops_run_as_the_design_has_them(seen, vendor):
    found, checked = unexpected_loops(seen[vendor], vendor)
    assert found == []
    assert checked == {file for file, _ in LOOPS if vendor == "aoc" or "channels" not in file}


# File, what is changed, into what, and a part of what is said of it; "": another array or loop than expected.
PLANTED = [
    ("common/register_block.h", "FM_PARTITION(3)", "", ""),
    ("common/register_block.h", "FM_BANKS(ROW_MEMORIES,", "FM_BANKS(3,", "no power of two"),
    ("common/register_block.h", "FM_PARTITION(4)", "FM_PARTITION(5)", "with 4 dimensions"),
    ("common/register_block.h", "FM_PARTITION_CYCLIC(ROW_BLOCKS, 2)", "FM_PARTITION_CYCLIC(4, 2)", ""),
    ("common/register_block.h", "FM_PARTITION_CYCLIC(ROW_BLOCKS, 2)", "FM_PARTITION_CYCLIC(1, 2)", "(cyclic"),
    ("common/dialect.h", "FM_PRAGMA(loop_coalesce loops)", "FM_PRAGMA(coalesce loops)", "nothing of aoc"),
    ("common/dialect.h", "ivdep array(name)", "ivdep array(array)", "which is no array"),
    ("common/dialect.h", "xcl_pipeline_loop(1)", "ivdep", "nothing of v++"),
    ("gemm/base.cl", "FM_COALESCE(3)", "FM_COALESCE(2)", ""),
    ("gemm/base.cl", "      FM_SERIAL\n", "", ""),
    ("gemm/base.cl", "#define ROW_ELEMENTS UNROLL", "", ""),
    ("gemm/base.cl", "REGISTER_BLOCKS(sum);", "FM_PIPELINE REGISTER_BLOCKS(sum);", "at nothing"),
    ("ptrans/base.cl", "FM_NO_FUSION\n    FM_COALESCE(2)", "FM_COALESCE(2)", ""),
    ("ptrans/base.cl", "sum[BLOCK_SIZE][BLOCK_SIZE] LANES_IN(2)", "sum[BLOCK_SIZE][BLOCK_SIZE]", ""),
    ("ptrans/blocks.h", "FM_PARTITION(dimension)", "FM_PARTITIONED(dimension)", "left over: FM_PARTITIONED"),
    ("ptrans/channels.cl", "FM_IGNORE_DEPENDENCE(blocks)\n", "FM_IGNORE_DEPENDENCE(block)\n", "of block,"),
    ("hpl/whole_blocks.h", "FM_COALESCE(2)\n    FM_IGNORE", "FM_IGNORE", ""),
    ("hpl/whole_blocks.h", "FM_SERIAL\n  for (uint k = 0; k < BLOCK_S", "for (uint k = 0; k < BLOCK_S", ""),
    ("hpl/whole_blocks.h", "FM_PARTITION(2)", "", ""),
    ("fft/base.cl", "window[FFT_WINDOW] FM_PARTITION(1)", "window[FFT_WINDOW]", ""),
    ("fft/reorder.h", "FM_BANKS(8,", "FM_BANKS(4,", ""),
    ("random_access/base.cl", "left[RNGS] FM_REGISTERS", "left[RNGS]", ""),
]  # fmt: skip


def is_narrow(definitions):
    return int(definitions.get("UNROLL", 1)) < 2 * int(definitions.get("GEMM_SIZE", 0))


@programs
@pytest.mark.parametrize("file, old, new, said", PLANTED)
def test_a_planted_fault_is_found(configurations, tmp_path, file, old, new, said):
    folder = tmp_path / "kernels"
    shutil.copytree(KERNELS, folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    # The last of GEMM's that loads more of a row in a cycle than a register block has.
    wide = {one[1]: one for one in configurations if not is_narrow(one[2])}
    found = []
    shared = ("gemm/base.cl", "ptrans/base.cl", "ptrans/channels.cl")
    own = f"{file.split('/')[0]}/base.cl"
    for one in [wide[name] for name in (shared if own in (*shared, "common/base.cl") else [own])]:
        for vendor in ["aoc"] if one[1].endswith("/channels.cl") else ["aoc", "v++"]:
            seen = [(*one, preprocessed(folder, *one[1:], vendor))]
            found += faults(seen[0][3], vendor)
            if not said:
                found += unexpected_arrays(seen, vendor)[0] + unexpected_loops(seen, vendor)[0]
    assert any(said in line for line in found), found


@pytest.fixture(scope="module")
def clang():
    return next(filter(shutil.which, CLANGS), None) or pytest.skip("no clang")


def complaints(clang, kernels_folder, file, definitions, vendor):
    """What clang says of it as OpenCL C; what it does not know of the vendor's words is no complaint."""
    given = [f"-D{name}={value}" for name, value in definitions.items() if not name.startswith("-")]
    command = [
        clang, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-fdeclare-opencl-builtins",
        "-Xclang", "-finclude-default-header", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused-parameter",
        "-Wno-unused-function", "-Wno-sign-compare", "-Wno-unknown-pragmas", "-Wno-unknown-attributes",
        "-Wno-ignored-attributes", "-I", ".", *beside(file), *VENDORS[vendor], *given, file,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=kernels_folder, capture_output=True, text=True, timeout=60)
    return done.stderr


@programs
@pytest.mark.parametrize("vendor", ["aoc", "v++"])
def test_clang_takes_it_for_opencl(configurations, clang, vendor):
    files = {one[1]: one for one in configurations if not one[1].endswith("/channels.cl")}
    assert len(files) == len(kernels.benchmark_names())
    for one in files.values():
        assert complaints(clang, KERNELS, *one[1:], vendor) == "", one


@programs
def test_clang_finds_an_attribute_in_a_wrong_place(configurations, clang, tmp_path):
    shutil.copytree(KERNELS, tmp_path / "kernels")
    file = tmp_path / "kernels" / "gemm" / "base.cl"
    file.write_text(file.read_text().replace("const size_t width =", "const size_t width FM_PARTITION(1) ="))
    one = next(each for each in configurations if each[1] == "gemm/base.cl")
    assert complaints(clang, tmp_path / "kernels", *one[1:], "aoc") == ""
    file.write_text(file.read_text().replace("FM_PARTITION(1)", "FM_PARTITION"))
    assert "error" in complaints(clang, tmp_path / "kernels", *one[1:], "v++")
