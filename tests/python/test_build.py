"""`fabricmark build`: the command lines for aoc and v++, and what becomes of them.

No vendor's tool is at hand: stand-ins note how they are called. What they would see of the kernels is the
business of test_dialect.py.
"""

import re
import shutil
import subprocess

import pytest
from attributes import KERNEL, preprocessed
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import aoc, design, vitis

programs = pytest.mark.programs
KERNELS = REPOSITORY / "kernels"
TOOLS = {"aoc": aoc.steps, "v++": vitis.steps}
FAKE_TOOL = """
import os, pathlib
words = sys.argv[1:]
with open(os.environ["FAKE_LOG"], "a") as log:
    print(*words, file=log)
out = words[words.index("-o") + 1]
if os.environ.get("FAKE_CODE"):
    sys.exit(int(os.environ["FAKE_CODE"]))
if os.environ.get("FAKE_LOST") != pathlib.Path(out).suffix:
    pathlib.Path(out).write_text("made by " + sys.argv[0])
"""


pytestmark = pytest.mark.usefixtures("of_the_repository")


def resolved(benchmark, board, bitstream=None, variant="", **given):
    return design.resolve(benchmark, variant, board, bitstream, given)


def steps(tool, tmp_path, *words, **given):
    return TOOLS[tool](resolved(*words, **given), None, tmp_path, [])


def link(tmp_path, *words, **given):
    """The lines of the linker's configuration."""
    made = steps("v++", tmp_path, *words, **given)
    (config,) = [text for file, text in made.files.items() if file.name.endswith("link.cfg")]
    assert config.startswith("[connectivity]\n")
    return config.splitlines()[1:]


@programs
def test_replicas_are_compute_units_each_with_banks_of_its_own(tmp_path):
    assert link(tmp_path, "stream", "u280_hbm", "u280_hbm_single/stream", replications="4") == [
        "nk=stream:4",
        *(
            f"sp=stream_{i + 1}.{argument}:HBM[{i}]"
            for i in range(4)
            for argument in ("first", "second", "result")
        ),
        *(f"slr=stream_{i + 1}:SLR{i % 3}" for i in range(4)),
    ]


@programs
def test_banks_are_taken_modulo_what_there_is(tmp_path):
    lines = link(tmp_path, "stream", "u280_ddr", "u280_ddr_single/stream", replications="4")
    assert [line for line in lines if ".first:" in line] == [
        f"sp=stream_{i + 1}.first:DDR[{i % 2}]" for i in range(4)
    ]


@programs
def test_what_all_replicas_share_reaches_every_bank(tmp_path):
    lines = link(tmp_path, "ptrans", "u280_hbm", replications="2", transport="host")
    assert lines == [
        "nk=transpose:2",
        *(f"sp=transpose_{i}.{argument}:HBM[0:31]" for i in (1, 2) for argument in ("a", "b", "c", "tasks")),
        "slr=transpose_1:SLR0",
        "slr=transpose_2:SLR1",
    ]


@programs
def test_kernels_without_replicas_have_one_compute_unit(tmp_path):
    made = steps("v++", tmp_path, "hpl", "u280_ddr", replications="3", transport="host")
    lines = link(tmp_path, "hpl", "u280_ddr", replications="3", transport="host")
    assert lines[:4] == ["nk=lu:1", "nk=left:1", "nk=top:1", "nk=inner:3"]
    compiled = [command[command.index("-k") + 1] for command in made.commands if "-c" in command]
    assert compiled == ["lu", "left", "top", "inner"]
    objects = [word for word in made.commands[-1] if word.endswith(".xo")]
    assert objects == [command[-1] for command in made.commands[:-1]]


@programs
def test_the_command_lines_for_xilinx(tmp_path):
    found = resolved("gemm", "u280_hbm", "u280_hbm_single/gemm")
    made = vitis.steps(found, "xilinx_u280", tmp_path, ["-v"])
    given = [f"-D{name}={value}" for name, value in found.definitions.items() if name != "REPLICATIONS"]
    assert {"-DBLOCK_SIZE=256", "-DGEMM_SIZE=8", "-DUNROLL=16", "-DDATA_TYPE=float"} <= set(given)
    common = ["-t", "hw", "--platform", "xilinx_u280", "--kernel_frequency", "236", "-v"]
    source = str(KERNELS / "gemm" / "base.cl")
    assert made.commands == [
        ["v++", "-c", *common, "-k", "multiply", "--config", f"{tmp_path}/gemm.compile.cfg",
         "-I", str(KERNELS), *given, source, "-o", f"{tmp_path}/multiply.xo"],
        ["v++", "-l", *common, "--config", f"{tmp_path}/gemm.link.cfg", f"{tmp_path}/multiply.xo",
         "-o", f"{tmp_path}/gemm.xclbin"],
    ]  # fmt: skip
    assert made.files[tmp_path / "gemm.compile.cfg"] == "[hls]\nmax_memory_ports=all\n"


@pytest.mark.parametrize("system, letters, linked", [
    ("u280_hbm", None, ["HBM[0]"]), ("u250", None, ["DDR[0]"]), ("u280_hbm", "PD", ["PLRAM[0]", "DDR[0]"]),
    (None, "DBP", ["DDR[0]", "HBM[0]", "PLRAM[0]"]),
])  # fmt: skip
def test_the_kernel_of_micro_benchmarks_is_linked_to_each_memory(tmp_path, system, letters, linked):
    found = design.touching(system, None, {} if letters is None else {"memories": letters})
    made = vitis.steps(found, None, tmp_path, [])
    assert made.files[tmp_path / "touch.link.cfg"].splitlines() == [
        "[connectivity]", f"nk=touch:{len(linked)}",
        *(f"sp=touch_{number}.bytes:{memory}" for number, memory in enumerate(linked, 1)),
    ]  # fmt: skip
    assert [str(KERNELS / "common" / "touch.cl") in command for command in made.commands] == [True, False]


@programs
def test_the_command_line_for_intel(tmp_path):
    found = resolved("gemm", "520n", "520n_single/gemm")
    made = aoc.steps(found, "p520_max_sg280l", tmp_path, ["-seed=7"])
    given = [f"-D{name}={value}" for name, value in found.definitions.items()]
    assert {"-DREPLICATIONS=5", "-DBLOCK_SIZE=512"} <= set(given) and made.files == {}
    assert made.commands == [
        ["aoc", "-I", str(KERNELS), *given, "-board=p520_max_sg280l", "-no-interleaving=default",
         "-fpc", "-fp-relaxed", "-seed=7", "-o", f"{tmp_path}/gemm.aocx", str(KERNELS / "gemm" / "base.cl")]
    ]  # fmt: skip
    assert made.notes == ["aoc 19.4", "kernels: multiply_0, multiply_1, multiply_2, multiply_3, multiply_4"]


@programs
def test_interleaving_stays_where_no_argument_has_a_bank(tmp_path):
    (command,) = steps("aoc", tmp_path, "ptrans", "520n", "520n_multi/ptrans_host").commands
    assert "-no-interleaving=default" not in command


@programs
def test_memories_with_names_of_their_own_stand_at_the_arguments(tmp_path):
    """Of the 520N MX, whose banks of HBM are memories of their own: buffer_location for each argument."""
    found = resolved("gemm", "520n_mx", "520n_mx_single/gemm", replications="3")
    given = dict(re.fullmatch(r"-D(\w+)=?(.*)", word).groups() for word in aoc.definitions(found))
    assert given["FM_LOCATION_multiply_a_2"] == '"HBM2"' and given["FM_LOCATION_multiply_b_2"] == '"HBM0"'
    text = preprocessed(KERNELS, "gemm/base.cl", given, "aoc")
    places = re.findall(r'buffer_location\("(\w+)"\)\)\) (?:const )?\w+\* restrict (\w+)', text)
    assert places == [
        (given[f"FM_LOCATION_multiply_{argument}_{i}"].strip('"'), argument)
        for i in range(3)
        for argument in ("a", "b", "c", "result")
    ]
    assert "-no-interleaving=default" not in aoc.steps(found, None, tmp_path, []).commands[0]
    assert "buffer_location" not in preprocessed(KERNELS, "gemm/base.cl", found.definitions, "aoc")


WITH_PLACES = ("b_eff", "fft", "gemm", "hpl", "ptrans", "random_access", "stream")


def misplaced(folder, benchmark):
    """Arguments in global memory that the compiler would not find in the memory of their own names."""
    found = resolved(
        benchmark, "520n_mx", variant="base", **({"replications": "2"} if benchmark != "b_eff" else {})
    )
    given = dict(found.definitions) | {"FM_LOCATIONS": "1"}
    wanted = set()
    for kernel in found.kernels:
        for argument in kernel.buffers:
            for i, name in enumerate(aoc.entry_points(kernel)):
                given[f"FM_LOCATION_{kernel.name}_{argument}_{i}"] = f'"{name}.{argument}"'
                wanted.add((name, f"{name}.{argument}", argument))
    text = preprocessed(folder, f"{benchmark}/{found.source.name}", given, "aoc")
    there = set()
    for name, rest in re.findall(r"__kernel void (\w+)\((.*?)\) \{", text, re.DOTALL):
        places = re.findall(r'buffer_location\("([\w.]+)"\)\)\)[^,]*?\brestrict (\w+)', rest)
        there |= {(name, place, argument) for place, argument in places}
    return wanted ^ there


@programs
@pytest.mark.parametrize("benchmark", WITH_PLACES)
def test_every_argument_can_be_given_a_memory_by_name(benchmark):
    assert misplaced(KERNELS, benchmark) == set()


@programs
def test_an_argument_in_the_memory_of_another_is_found(tmp_path):
    shutil.copytree(KERNELS, tmp_path / "kernels")
    file = tmp_path / "kernels" / "gemm" / "base.cl"
    file.write_text(file.read_text().replace("FM_GLOBAL(multiply, c)", "FM_GLOBAL(multiply, b)"))
    assert {argument for _, _, argument in misplaced(tmp_path / "kernels", "gemm")} == {"c"}


@programs
def test_every_published_design_of_these_kernels_has_its_command_lines(tmp_path):
    """With as many replicas as the table prints, and names that the host looks for."""
    built = set()
    for file in sorted((REPOSITORY / "systems" / "bitstreams").glob("*.toml")):
        for name, one in systems.bitstreams(file.stem).items():
            if one.benchmark not in kernels.benchmark_names():
                continue
            if kernels.kernel(one.benchmark).variants[one.variant]["style"] != design.STYLE:
                continue
            try:
                found = resolved(one.benchmark, one.board, f"{file.stem}/{name}")
            except FabricmarkError as error:
                assert " does not hold with " in str(error)  # other tests are about the constraints
                continue
            assert (found.board, found.bitstream) == (one.board, f"{file.stem}/{name}")
            if found.memory.placement == "host":
                made = vitis.steps(found, None, tmp_path, [])
                config = "".join(made.files.values())
                for kernel in found.kernels:
                    assert f"nk={kernel.name}:{kernel.copies}\n" in config
                    wanted = len(kernel.buffers) * kernel.copies
                    assert len(re.findall(rf"sp={kernel.name}_\d+\.\w+:", config)) == wanted
            else:
                made = aoc.steps(found, None, tmp_path, [])
                text = preprocessed(KERNELS, found.source.relative_to(KERNELS), found.definitions, "aoc")
                names = [name for kernel in found.kernels for name in aoc.entry_points(kernel)]
                assert sorted(KERNEL.findall(text)) == sorted(names)
            copies = max(kernel.copies for kernel in found.kernels)
            assert copies == one.parameters.get("replications", copies)
            built.add((one.board, one.benchmark))
    assert {("520n", "hpl"), ("u280_hbm", "gemm"), ("520n_mx", "stream"), ("520n", "b_eff")} <= built


@pytest.fixture
def tools(place, monkeypatch):
    """A place whose PATH has stand-ins for both tools."""
    folder = place.folder / "vendor"
    for tool in TOOLS:
        place.add_program(folder / tool, FAKE_TOOL)
    place.environment["FABRICMARK_ROOT"] = str(REPOSITORY)
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    place.environment["PATH"] = f"{folder}:{place.environment['PATH']}"
    return place


def build(place, *words, **variables):
    words = ("--set", "replications=2", "--output", "made", "--platform", "some_board", *words)
    return place.run("build", "gemm", *words, **variables)


@programs
@pytest.mark.parametrize("tool, ending", [("aoc", "aocx"), ("v++", "xclbin")])
def test_the_script_does_the_same_as_the_build(tools, tool, ending):
    """And the sidecar tells the programs what it was built with."""
    shown = build(tools, "--tool", tool, "--dry-run", "--", "-v")
    assert shown.returncode == 0 and not tools.log.exists() and not (tools.folder / "made").exists()
    subprocess.run(["bash", "-euc", shown.stdout], cwd=tools.folder, env=tools.environment, check=True)
    by_script = {file.name: file.read_text() for file in (tools.folder / "made").iterdir()}
    called = tools.log.read_text().splitlines()
    assert len(called) == {"aoc": 1, "v++": 2}[tool] and all(" -v " in f" {line} " for line in called)
    tools.log.unlink()
    done = build(tools, "--tool", tool, "--", "-v")
    assert done.returncode == 0 and f"made/gemm.{ending}: run it with --bitstream" in done.stdout
    assert {file.name: file.read_text() for file in (tools.folder / "made").iterdir()} == by_script
    assert tools.log.read_text().splitlines() == called
    bitstream = tools.folder / "made" / f"gemm.{ending}"
    (answer,) = kernels.ask([{"benchmark": "gemm", "class": "fpga", "bitstream": str(bitstream)}])
    assert answer["parameters"]["replications"] == 2 and answer["parameters"]["block_size"] == 256


@programs
@pytest.mark.parametrize(
    "variables, said",
    [
        ({"FAKE_CODE": "7"}, "v++ ended with 7"),
        ({"FAKE_LOST": ".xclbin"}, "v++ made no made/gemm.xclbin"),
        ({"PATH": "/nowhere"}, "v++ is not there"),
    ],
)
def test_a_tool_that_fails_leaves_no_sidecar(tools, one_error_line, variables, said):
    assert said in one_error_line(build(tools, "--tool", "v++", **variables), 3)
    assert not (tools.folder / "made" / "gemm.xclbin.toml").exists()


@programs
@pytest.mark.parametrize(
    "words, said",
    [
        (["gemm"], "nothing says whose compiler it is for; use --tool aoc or v++"),
        (["gemm", "--tool", "icc"], "there is no tool icc"),
        (["gemm", "--tool", "v++"], "rule platform-missing: multiply: v++ stops without a platform"),
        (["gemm", "--system", "u55c", "--tool-version", "2020.2"], "v++ 2020.2 has no platform of u55c; use"),
        (["gemm", "--system", "u55c", "--tool-version", "20.4"], "no rules for v++ 20.4; use one of 2020.2"),
        (
            ["ptrans", "--system", "520n_mx", "--variant", "channels"],
            "no package of 520n_mx with I/O channels",
        ),
        (["gemm", "--system", "u55c", "--target", "emulator"], "v++ makes nothing for emulator; use another"),
        (["gemm", "--tool", "aoc", "--target", "hw_emu"], "aoc makes nothing for hw_emu; use --tool v++"),
        (["gemm", "--system", "u55c", "--target", "fpga"], "there is no target fpga; use --target hw or"),
        (["nope", "--tool", "aoc"], "there is no benchmark 'nope'"),
        (["gemm", "--tool", "aoc", "--set", "size"], "--set size is no NAME=VALUE"),
        (["gemm", "--tool", "aoc", "--set", "lanes=3"], "gemm has no parameter lanes"),
        (["gemm", "--tool", "aoc", "--set", "block_size=100"], "make block_size a multiple of"),
        (["gemm", "--bitstream-id", "520n_single/gemm"], "--bitstream-id without --system"),
        (["gemm", "--system", "520n", "--bitstream-id", "x/y"], "520n has no bitstream x/y of gemm"),
        (["gemm", "--system", "520n"], "520n' has several bitstreams of gemm; choose with --bitstream-id"),
        (["gemm", "--system", "cpu"], "is no FPGA"),
        (["gemm", "--tool", "aoc", "--variant", "throughput"], "is nd-range; use --variant base"),
        (["ptrans", "--tool", "v++", "--variant", "dataflow"], "is dataflow; use --variant base or channels"),
        (["ptrans", "--tool", "v++", "--variant", "channels"], "use --tool aoc"),
        (["touch", "--tool", "v++", "--set", "memories=DX"], "memories=DX: no memories of a board"),
        (["touch", "--tool", "v++", "--set", "lanes=3"], "touch has no parameter lanes; use memories"),
        (["touch", "--tool", "aoc", "--set", "memories=DB"], "aoc links a kernel to one kind of memory"),
        (["touch", "--tool", "v++", "--variant", "base"], "touch is a kernel of no benchmark"),
        (["touch", "--tool", "v++", "--board", "u280_hbm"], "--board without --system"),
        (["touch", "--system", "cpu"], "is no FPGA"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(tools, one_error_line, words, said):
    tools.environment["FABRICMARK_SYSTEMS"] = str(tools.folder / "none")
    assert said in one_error_line(tools.run("build", *words, "--dry-run"), 2)


@programs
def test_the_command_lines_for_hls_cpp(tmp_path):
    """Whose ports are in the source, so that no configuration asks for them; kernels have the same names."""
    found = resolved("hpl", "u280_ddr", replications="2", transport="host").in_language(design.HLS)
    made = vitis.steps(found, "xilinx_u280", tmp_path, [])
    assert [command[command.index("-k") + 1] for command in made.commands[:-1]] == [
        "lu",
        "left",
        "top",
        "inner",
    ]
    assert all(str(KERNELS / "hpl" / "base.cpp") in command for command in made.commands[:-1])
    assert [file.name for file in made.files] == ["hpl.link.cfg"]
    assert not any("REPLICATIONS" in word or "-cl-" in word for command in made.commands for word in command)
    assert 'language = "HLS C++"' in made.sidecar.splitlines()
    opencl = steps("v++", tmp_path, "hpl", "u280_ddr", replications="2", transport="host")
    assert opencl.files[tmp_path / "hpl.link.cfg"] == made.files[tmp_path / "hpl.link.cfg"]
    assert "language" not in opencl.sidecar


@programs
@pytest.mark.parametrize(("words", "line"), [
    (("stream", "--tool", "aoc", "--language", "hls"), "aoc takes no HLS C++"),
    (("lbm", "--tool", "v++", "--language", "hls"), "lbm's variant base is not written in HLS C++"),
    (("touch", "--tool", "v++", "--language", "hls"), "touch's variant base is not written in HLS C++"),
    (("stream", "--tool", "v++", "--language", "vhdl"), "there is no language vhdl"),
])  # fmt: skip
def test_a_language_that_there_is_not_is_refused(run, one_error_line, words, line):
    assert line in one_error_line(run("build", *words, "--dry-run"), 2)
