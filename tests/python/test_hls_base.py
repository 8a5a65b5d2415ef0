"""Base kernels in HLS C++: pragmas say what OpenCL C's attributes say, ports are those of kernel.toml.

What Vitis would see is read from the preprocessed text; `inspect` reads the same.
"""

import re
import shutil
import subprocess

import pytest
from attributes import arrays, loops, preprocessed
from conftest import REPOSITORY
from fabricmark.base import kernels
from fabricmark.build import design, rules, vitis
from fabricmark.inspect import chips, hls
from fabricmark.inspect.command import inspect_design
from fabricmark.inspect.inspection import inspect_file
from hls_support import CXX, STUB
from inspect_support import base_kernels, needs_clang, needs_describe
from test_dialect import published

programs = pytest.mark.programs
KERNELS = REPOSITORY / "kernels"
NAMES = ("stream", "random_access", "fft", "gemm", "ptrans", "hpl")
OF_TOOLS = ("single-work-item", "dataflow")


def of_hls(folder, name, definitions):
    given = [f"-D{one}={value}" for one, value in definitions.items() if not one.startswith("-")]
    command = [CXX, "-E", "-P", *STUB, "-D__SYNTHESIS__", *given, f"{name}/base.cpp"]
    command = [f"-I{folder}" if word == f"-I{KERNELS}" else word for word in command]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def marks_of_opencl(text):
    """Of each loop whether it is pipelined and unrolled, and of arrays how they are divided."""
    found = []
    for loop in loops(text):
        words = [mark for mark in loop.marks if mark != "opencl_unroll_hint(1)"]
        pairs = (("xcl_pipeline_loop", "pipeline"), ("opencl_unroll_hint", "unroll"))
        found.append((loop.index, {word for word in words for old, word in pairs if old in " ".join(words)}))
    divided = [
        (array.name, *re.findall(r"\w+", attribute)[1:])
        for array in arrays(text)
        for attribute in array.attributes
        if attribute.startswith("xcl_array_partition")
    ]
    return found, divided


def marks_of_hls(text):
    said = hls.directives(text)
    found = []
    for loop in re.finditer(r"\b(?:for|while)\s*\(([^;)]*)", text):
        own = {one.word for one in said if one.loop == loop.start()} & {"pipeline", "unroll"}
        found.append(((loop.group(1).split("=")[0].split() or [""])[-1], own))
    divided = []
    for one in said:
        if one.word == "array_partition":
            kind = next(kind for kind in ("complete", "cyclic") if kind in one.settings)
            factor = [one.settings["factor"]] if "factor" in one.settings else []
            divided.append((one.settings["variable"], kind, *factor, one.settings["dim"]))
    return found, divided


@pytest.fixture(scope="module")
def configurations():
    """(benchmark, definitions) of all that was published and of the defaults, each once."""
    if shutil.which(CXX) is None:
        pytest.skip(f"no {CXX}")
    found = {}
    requests = [one for one in published() if one["benchmark"] in NAMES]
    for request, answer in zip(requests, kernels.answers(requests), strict=True):
        if answer.get("variant") == "base":
            found[request["benchmark"], str(answer["definitions"])] = answer["definitions"]
    return [(name, definitions) for (name, _), definitions in found.items()]


@programs
def test_pragmas_say_what_attributes_say(configurations):
    assert {name for name, _ in configurations} == set(NAMES)
    for name, definitions in configurations:
        opencl = marks_of_opencl(preprocessed(KERNELS, f"{name}/base.cl", definitions, "v++"))
        assert marks_of_hls(of_hls(KERNELS, name, definitions)) == opencl, (name, definitions)
        assert opencl[0] and any("pipeline" in marks for _, marks in opencl[0])


# File, benchmark, text and what stands there instead.
PLANTED = [
    ("common/register_block.h", "gemm", "dim = 3", "dim = 2"),
    ("gemm/base.cl", "gemm", "FM_HLS(pipeline II = 1)\n", "\n"),
    ("ptrans/base.cl", "ptrans", "factor = CHANNEL_WIDTH", "factor = 2 * CHANNEL_WIDTH"),
    ("fft/reorder.h", "fft", "FM_UNROLL(8)\n", "\n"),
]


@programs
@pytest.mark.parametrize("file, name, old, new", PLANTED)
def test_a_pragma_that_differs_is_found(configurations, tmp_path, file, name, old, new):
    shutil.copytree(KERNELS, tmp_path / "kernels")
    text = (tmp_path / "kernels" / file).read_text()
    assert old in text
    (tmp_path / "kernels" / file).write_text(text.replace(old, new, 1))
    definitions = next(given for one, given in configurations if one == name)
    opencl = marks_of_opencl(preprocessed(tmp_path / "kernels", f"{name}/base.cl", definitions, "v++"))
    assert marks_of_hls(of_hls(tmp_path / "kernels", name, definitions)) != opencl


@programs
@pytest.mark.parametrize("name", NAMES)
def test_each_argument_is_a_port_and_each_memory_has_a_master(configurations, name):
    """In the order of kernel.toml, by which the host sets them."""
    found = design.resolve(name, "base", None, None, {})
    text = of_hls(KERNELS, name, next(given for one, given in configurations if one == name))
    for kernel in found.kernels:
        head, _, body = text.partition(f'extern "C" void {kernel.name}(')[2].partition("{")
        ports = [" ".join(re.findall(r"#pragma HLS interface (.*)", body.partition('extern "C"')[0]))]
        given = [re.findall(r"\w+", one)[-1] for one in head.split(",")]
        assert given == [argument for argument, _ in kernel.arguments]
        for argument, kind in kernel.arguments:
            master = f"m_axi port = {argument} bundle = {argument} offset = slave"
            assert (
                (master in ports[0]) == (kind == "buffer") == ("*" in head.split(",")[given.index(argument)])
            )
            assert f"s_axilite port = {argument}" in ports[0]
        assert ports[0].count("m_axi") == sum(kind == "buffer" for _, kind in kernel.arguments)
        assert "s_axilite port = return" in ports[0]


def is_reserved(name):
    return name.lower() in rules.load(vitis.TOOL).reserved_names()


def ports_of_toml():
    for name in kernels.benchmark_names():
        spec = kernels.kernel(name)
        for variant, said in spec.variants.items():
            if said["style"] in OF_TOOLS and said["hls"] + said["file"]:
                answer = kernels.ask([kernels.wanted(name, "fpga", {}, banks=2, variant=variant)])[0]
                for entry in answer["entry_points"]:
                    yield from ((f"{name}: {entry['name']}", one["name"]) for one in entry["arguments"])


def ports_of_dataflow():
    """Arguments of functions that are kernels: those of plain names, no templates."""
    for file in (*REPOSITORY.glob("kernels/**/dataflow.*pp"), *REPOSITORY.glob("*/*/*/dataflow.cpp")):
        for match in re.finditer(r"(?<!>\n)^void (\w+)\(([^{;]*?)\)\s*\{", file.read_text(), re.MULTILINE):
            for argument in match.group(2).split(","):
                yield f"{file.relative_to(REPOSITORY)}: {match.group(1)}", re.findall(r"\w+", argument)[-1]


@needs_describe
def test_no_port_has_a_name_that_tools_take_for_themselves():
    """They would call it another: v++'s linker then finds no port of the name that `sp` says."""
    ports = {*ports_of_toml(), *ports_of_dataflow()}
    assert len(ports) > 100 and {"first", "items", "source", "leaving"} <= {name for _, name in ports}
    assert sorted(one for one in ports if is_reserved(one[1])) == []
    assert all(map(is_reserved, ("in", "out", "table", "Units", "buffer"))) and not is_reserved("items")


@needs_clang
@needs_describe
@pytest.mark.parametrize("name", NAMES)
def test_inspect_finds_the_same_in_both_languages(name):
    """Marked loops begin an iteration every cycle, with the same operations and DSPs."""
    found = inspect_design(design.resolve(name, "base", None, None, {}).in_language(design.HLS), chips.XILINX)
    marked = [loop for kernel in found for loop in kernel.loops if loop.is_marked]
    opencl = base_kernels(name, chips.XILINX, ())
    assert marked and [loop.reason for loop in marked if loop.interval > 1] == []
    assert [(one.name, one.dsps, one.by_type) for one in found] == [
        (one.name, one.dsps, one.by_type) for one in opencl
    ]
    assert [(loop.file, loop.line, loop.dsps) for loop in marked] == [
        (loop.file, loop.line, loop.dsps) for kernel in opencl for loop in kernel.loops if loop.is_marked
    ]


SCALED = """#include "common/hls.hpp"
#include "common/dialect.h"
typedef FM_VECTOR(float, 4) four;
extern "C" void f(const four* restrict a, four* restrict b, const uint* at, const uint n) {
  four table[64];
  PARTITION
  for (uint i = 0; i < 64; ++i) {
    MARK
    table[i] = a[i];
  }
  for (uint i = 0; i < n; ++i) {
    FM_HLS(pipeline II = 1)
    four sum = table[i % 8 * 8];
    for (uint k = 1; k < 8; ++k) {
      FM_HLS(unroll)
      sum += table[i % 8 * 8 + k];
    }
    b[i] = sum;
  }
  for (uint i = 0; i < n; ++i) {
    DEPENDENCE
    b[at[i]] += a[i];
  }
}"""
RIGHT = {
    "PARTITION": "FM_HLS(array_partition variable = table cyclic factor = 8)",
    "MARK": "FM_HLS(pipeline II = 1)", "DEPENDENCE": "FM_HLS(dependence variable = b inter false)",
}  # fmt: skip


def intervals(folder, **changes):
    source = folder / "kernel.cpp"
    source.write_text(SCALED)
    given = {name: f"{value}" for name, value in {**RIGHT, **changes}.items()}
    (kernel,) = inspect_file(source, chips.XILINX, given, KERNELS)
    return [(loop.is_marked, loop.interval, loop.reason) for loop in kernel.loops]


@needs_clang
def test_what_pragmas_say_decides_the_intervals(tmp_path):
    assert intervals(tmp_path) == [(True, 1, ""), (True, 1, ""), (False, 1, "")]
    whole = intervals(tmp_path, PARTITION="")
    assert whole[1] == (True, 4, "ports of table: 32 reads in an iteration")
    unmarked = intervals(tmp_path, MARK="")
    assert [marked for marked, _, _ in unmarked] == [False, True, False]
    waits = intervals(tmp_path, DEPENDENCE="")[2]
    assert waits[1] > chips.GLOBAL_CYCLES and "b is read" in waits[2]


def test_pragmas_belong_to_the_loop_around_them():
    text = "for (int i = 0; i < 3; ++i) {\n#pragma HLS pipeline II = 2\n"
    text += " while (f(i)) {\n#pragma HLS unroll\n } }\n"
    text += "#pragma HLS array_partition variable=x type=cyclic factor = 4 dim=2\n"
    first, second, third = hls.directives(text)
    assert (first.word, first.loop, first.settings) == ("pipeline", 0, {"II": "2"})
    assert (second.word, second.loop, third.loop) == ("unroll", text.index("while"), None)
    assert hls.partitions([third]) == {"x": ("xcl_array_partition cyclic 4 2",)}
    assert hls.directives("for (;;) {\n#pragma HLS pipeline\n")[0].loop is None  # no end
    assert hls.directives("} ) #pragma") == []
