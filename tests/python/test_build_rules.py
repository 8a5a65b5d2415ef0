"""Scripts of `fabricmark build` against the rules of the vendors' tools (rules/*.toml), and planted mistakes.

The rules are what the documents say; no tool of a vendor was there to ask.
"""

import re
from dataclasses import replace

import pytest
from conftest import REPOSITORY
from fabricmark import systems
from fabricmark.base import kernels
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import (
    aoc,
    check,
    check_aoc,
    check_icpx,
    check_vitis,
    command,
    design,
    icpx,
    rules,
    vitis,
)
from fabricmark.build.design import Design, Kernel, Memory
from fabricmark.build.steps import USUAL, How
from hpcc_settings import COMPILED, LINKED

programs = pytest.mark.programs
pytestmark = pytest.mark.usefixtures("of_the_repository")
TOOLS = {"aoc": aoc.steps, "v++": vitis.steps, "icpx": icpx.steps}
CODE = ("check_vitis.py", "check_aoc.py", "check_icpx.py")
# Arguments that HLS renames; kernels of ours that are known to have them.
RENAMED = {"fft.in", "fft.out", "random_access.table", "stage.after", "advance.after"}
BUFFERS = {"first": (0, 1), "second": (0, 1), "result": (0, 1)}
DDR = Memory("ddr", "host", 2, 2**34, 32)


def made_up(**changes):
    """A design of two replicas of a kernel on a U280 with DDR, of which no program is asked."""
    kernel = Kernel("stream", True, 2, BUFFERS, arguments=tuple((name, "buffer") for name in BUFFERS))
    given = {"DATA_TYPE": "float", "UNROLL": "1", "REPLICATIONS": "2"}
    file = REPOSITORY / "kernels" / "stream" / "base.cl"
    one = Design("stream", "base", file, {}, given, (kernel,), DDR, False, "u280_ddr")
    return replace(one, **changes)


def script(tool, tmp_path, found, how=USUAL):
    made = TOOLS[tool](found, None, tmp_path, [], how)
    return made, command.judged(tool, found, made, how)


def tools_of_boards():
    """Of each board the tool for its OpenCL C, else icpx."""
    return {name: one.tool for name, one in {**rules.boards_of("icpx"), **rules.boards()}.items()}


def all_designs():
    """Of each board and benchmark, each variant that can be built: as published, else as the default."""
    boards = tools_of_boards()
    seen = set()
    for file in sorted((REPOSITORY / "systems" / "bitstreams").glob("*.toml")):
        for name, one in systems.bitstreams(file.stem).items():
            if one.benchmark in kernels.benchmark_names():
                seen.add((one.board, one.benchmark, one.variant))
                yield one.board, one.benchmark, one.variant, f"{file.stem}/{name}"
    for board in boards:
        for benchmark in kernels.benchmark_names():
            for variant in kernels.kernel(benchmark).variants:
                if (board, benchmark, variant) not in seen:
                    yield board, benchmark, variant, None


def buildable():
    """(tool, design) of all of these that single work-items make up."""
    boards = tools_of_boards()
    for board, benchmark, variant, bitstream in all_designs():
        if kernels.kernel(benchmark).variants[variant]["style"] != design.STYLE:
            continue
        # By default there are as many replicas as banks: of HPL more than HBM has interfaces for.
        is_few = bitstream is None and "replications" in kernels.kernel(benchmark).parameters
        given = {"replications": "2"} if is_few else {}
        try:
            yield boards[board], design.resolve(benchmark, variant, board, bitstream, given)
        except FabricmarkError as error:
            # Defaults that do not fit the board, a bitstream's constraints: other tests are about these.
            assert re.search(r" does not hold with |choose with --bitstream-id| holds? ", str(error)), error


def refused(tool, found, version, target):
    """Why no script is written for a version; "" where one must be."""
    board = rules.board(tool, found.board)
    if tool == "v++" and found.uses_channels:
        return "use --tool aoc"
    if tool == "aoc" and found.uses_channels and not any(one.io_channels for one in board.platforms):
        return "with I/O channels"
    if not any(one.span.has(version) for one in board.platforms):
        return "has no platform of"
    return ""


@programs
def test_every_script_passes_for_each_board_and_version(tmp_path):
    """In process: each design is resolved once, and judged for each version and target of its tool."""
    judged, noted, limited = set(), set(), set()
    for tool, found in buildable():
        if tool == "icpx":  # as below
            continue
        for version in rules.load(tool).versions:
            for target in [one for one, able in command.TARGETS.items() if tool in able]:
                how = How(target, version=version)
                why = refused(tool, found, version, target)
                if why:
                    with pytest.raises(FabricmarkError, match=re.escape(why)):
                        script(tool, tmp_path, found, how)
                    continue
                made, said = script(tool, tmp_path, found, how)
                assert made.commands and (made.sidecar or target == "report")
                wrong = {one.rule for one in said if not one.is_note}
                if wrong == {"units-of-a-kernel"}:  # 32 replicas, of which 2023.2 says that there are 31
                    limited.add((found.board, found.benchmark, version))
                    continue
                assert not wrong, [one.text for one in said]
                noted |= {re.search(r": (\w+\.\w+) becomes", one.text)[1] for one in said}
                judged.add((found.board, found.benchmark, found.variant))
    assert noted <= RENAMED, noted - RENAMED
    assert {board for board, _, _ in judged} == set(rules.boards())
    assert {name for _, name, _ in judged} >= {"stream", "hpl", "shallow_water", "lbm", "tsunami", "b_eff"}
    thirty_two = {
        ("u280_hbm", "stream"),
        ("u280_hbm", "random_access"),
        ("u55c", "stream"),
        ("u55c", "random_access"),
    }
    assert limited == {(*one, "2023.2") for one in thirty_two}


def icpx_refused(found, version, target):
    """Why icpx gets no script, by the words of the error, or the rules that refuse it."""
    if target != "emulator" and found.board not in rules.boards_of("icpx"):
        return "no support package of", set()
    if target != "emulator" and found.uses_channels:
        return "with I/O channels", set()
    by_argument = found.memory.placement == "kernel" and any(
        kind == "buffer" for one in found.kernels for _, kind in one.arguments
    )
    is_placed = target != "emulator" and found.board in rules.boards_of("icpx") and by_argument
    return "", {"location-version"} if is_placed and version != "2024.0" else set()


@programs
def test_every_script_for_icpx_passes_for_each_board_and_version(tmp_path):
    """Those of kernels in SYCL C++: a board without a package for oneAPI has the emulator alone."""
    judged = set()
    for _, found in buildable():
        if not found.is_sycl:
            with pytest.raises(FabricmarkError, match=r"not written in SYCL C\+\+"):
                icpx.steps(found, None, tmp_path, [])
            continue
        if found.variant != "base" and not found.uses_channels:
            continue
        for version in rules.load("icpx").versions:
            for target in [one for one, able in command.TARGETS.items() if "icpx" in able]:
                how = How(target, version=version)
                cause, wrong = icpx_refused(found, version, target)
                if cause:
                    with pytest.raises(FabricmarkError, match=cause):
                        script("icpx", tmp_path, found, how)
                    continue
                made, said = script("icpx", tmp_path, found, how)
                assert made.commands and (made.sidecar or target == "report")
                assert {one.rule for one in said} == wrong, [one.text for one in said]
                judged.add((found.board, found.benchmark, found.variant, target))
    emulated = {(board, name) for board, name, _, target in judged if target == "emulator"}
    built = {(board, name) for board, name, _, target in judged if target == "hw"}
    five = {"stream", "random_access", "fft", "gemm", "b_eff"}
    assert {name for _, name in built} == five
    assert {name for _, name in emulated} == five | {"ptrans", "hpl"}  # over channels
    assert {board for board, _ in built} == set(rules.boards_of("icpx"))
    assert {board for board, _ in emulated} == set(tools_of_boards())
    assert ("520n", "b_eff", "channels", "emulator") in judged


@pytest.mark.parametrize("name", LINKED)
def test_published_settings_for_xilinx_pass(name):
    one = LINKED[name]
    lines = one.link_lines()
    names = re.findall(r"^nk=(\w+):[1-9]", "\n".join(lines), re.MULTILINE)
    common = ["-O3", "-t", "hw", "--platform", one.platform, "-R2", "--report_dir=reports"]
    commands = [
        ["v++", *common, "-c", "-j", "40", "--config", "c.ini", "-k", kernel, "-o", f"{kernel}.xo", "k.cl"]
        for kernel in names
    ]
    objects = [f"{kernel}.xo" for kernel in names]
    commands.append(["v++", *common, *one.options, "-l", "--config", "l.ini", "-o", "all.xclbin", *objects])
    files = {"c.ini": "\n".join(one.compiled), "l.ini": "\n".join(lines)}
    judged = check.Script(commands, files, rules.load("v++"), one.version, rules.board("v++", one.board))
    found = [finding.text for finding in check_vitis.findings(judged)]
    # A kernel that is linked without an instance is not compiled by this short form.
    assert [text for text in found if "nk=loopback" not in text and ": loopback:" not in text] == []


@pytest.mark.parametrize("name", COMPILED)
def test_published_settings_for_intel_pass(name):
    board, version, called, has_channels, options = COMPILED[name]
    line = ["aoc", "base.cl", "-DINTEL_FPGA", "-I.", *options, f"-board={called}", "-o", "base.aocx"]
    known = rules.board("aoc", board)
    judged = check.Script([line], {}, rules.load("aoc"), version, known, uses_channels=has_channels)
    assert [finding.text for finding in check_aoc.findings(judged)] == []


def changed(commands, files, old, new):
    """The script with one place of a command line or a configuration written otherwise."""
    text = "\n".join("\0".join(words) for words in commands)
    old_words, new_words = ("\0".join(part.split(" ")) for part in (old, new))
    if old_words in text:
        text = text.replace(old_words, new_words)
        return [[word for word in line.split("\0") if word] for line in text.split("\n")], files
    assert any(old in one for one in files.values()), old
    return commands, {name: one.replace(old, new) for name, one in files.items()}


# What is written wrong in the script of the design above, and the rule that names it.
MISTAKES = [
    ("--platform xilinx_u280_gen3x16_xdma_1_202211_1", "", "platform-missing"),
    (
        "xilinx_u280_gen3x16_xdma_1_202211_1",
        "xilinx_u250_gen3x16_xdma_4_1_202210_1",
        "platform-of-another-board",
    ),
    ("xilinx_u280_gen3x16_xdma_1_202211_1", "xilinx_u280_gen3x16_xdma_1_202310_1", "platform-too-new"),
    ("-l -t hw", "-l -t sw_emu", "targets-differ"),
    ("-t hw", "-t hardware", "target-unknown"),
    ("-c -t", "-t", "compile-or-link"),
    ("-k stream ", " ", "kernel-missing"),
    ("--kernel_frequency 300", "--kernel_frequncy 300", "option-unknown"),
    ("--kernel_frequency 300", "--kernel_frequency 300000000", "frequency-form"),
    ("--kernel_frequency 300", "--clock.freqHz 300:stream_1", "frequency-form"),
    ("--kernel_frequency 300", "--freqhz=300000000", "option-version"),
    ("-c -t", "-c --connectivity.nk stream:2 -t", "option-call"),
    ("FOLDER/stream.xo FOLDER", "FOLDER/stream.xo -o", "value-missing"),
    ("-o FOLDER/stream.xclbin", "-o FOLDER/stream.aocx", "output-ending"),
    ("FOLDER/stream.xo -o FOLDER/stream.xclbin", "FOLDER/copy.xo -o FOLDER/stream.xclbin", "object-not-made"),
    ("--config FOLDER/stream.link.cfg", "--config FOLDER/other.cfg", "config-not-written"),
    ("max_memory_ports", "max_memory_port", "key-unknown"),
    ("[connectivity]", "[conectivity]", "key-unknown"),
    ("nk=stream:2", "nk=stream", "nk-form"),
    ("nk=stream:2", "nk=stream:2:one.two.three", "nk-form"),
    ("nk=stream:2", "nk=streams:2", "kernel-not-compiled"),
    ("nk=stream:2", "nk=stream:2\nnk=stream:2", "kernel-twice"),
    ("sp=stream_2.first:DDR[1]", "sp=stream_3.first:DDR[1]", "unit-unknown"),
    ("sp=stream_2.first:DDR[1]", "sp=stream_2.first:DDR[2]", "bank-unknown"),
    ("sp=stream_2.first:DDR[1]", "sp=stream_2.first:DRAM[1]", "bank-unknown"),
    ("sp=stream_2.first:DDR[1]", "sp=stream_2.first:DDR[1:0]", "sp-form"),
    ("sp=stream_2.first:DDR[1]", "sp=stream_2.first.DDR[1]", "sp-form"),
    ("sp=stream_2.first:DDR[1]", "sp=stream_2.first:DDR[1]\nsp=stream_2.first:DDR[0]", "port-twice"),
    ("max_memory_ports=all", "\nsp=stream_2.first:DDR[1]", "key-unknown"),
    ("slr=stream_2:SLR1", "slr=stream_2:SLR3", "slr-unknown"),
    ("slr=stream_2:SLR1", "slr=stream_2:1", "slr-form"),
    ("slr=stream_2:SLR1", "slr=stream_1:SLR1", "slr-twice"),
    ("slr=stream_2:SLR1", "stream_connect=stream_1.out:stream_3.in", "unit-unknown"),
    ("slr=stream_2:SLR1", "stream_connect=stream_1.out", "connection-form"),
    ("slr=stream_2:SLR1", "sc=stream_1.a:stream_2.b\nsc=stream_1.a:stream_2.c", "connection-twice"),
]


@pytest.mark.parametrize("old, new, rule", MISTAKES)
def test_a_mistake_in_a_script_for_xilinx_is_refused_by_name(tmp_path, old, new, rule):
    made, said = script("v++", tmp_path, made_up())
    assert said == []
    files = {str(file): text for file, text in made.files.items()}
    old, new = (text.replace("FOLDER", str(tmp_path)) for text in (old, new))
    if rule == "value-missing":
        commands = [made.commands[0], [*made.commands[1], "--config"]]
    else:
        commands, files = changed([list(one) for one in made.commands], files, old, new)
    board = rules.board("v++", "u280_ddr")
    judged = check.Script(
        commands, files, rules.load("v++"), "2022.2", board, {"stream": check.Arguments(("first",))}
    )
    found = [one for one in check_vitis.findings(judged)]
    assert rule in [one.rule for one in found]
    with pytest.raises(FabricmarkError) as error:
        check.refuse([one for one in found if one.rule == rule])
    assert str(error.value).startswith(f"v++ 2022.2, rule {rule}: ") and "\n" not in str(error.value)
    assert "(https://docs." in str(error.value)


def test_ports_are_shared_where_memory_has_too_few(tmp_path):
    """32 replicas of three arrays are 96 masters, of which HBM takes 32: each gets one for all."""
    kernel = Kernel("stream", True, 16, dict.fromkeys(BUFFERS, tuple(range(16))))
    many = made_up(kernels=(kernel,), memory=Memory("hbm", "host", 32, 2**28), board="u280_hbm")
    made, said = script("v++", tmp_path, many)
    assert said == [] and not any(file.name.endswith("compile.cfg") for file in made.files)
    files = {str(file): text for file, text in made.files.items()} | {"own.cfg": vitis.PORTS}
    own = [[*one, "--config", "own.cfg"] if "-c" in one else one for one in made.commands]
    board = rules.board("v++", "u280_hbm")
    judged = check.Script(own, files, rules.load("v++"), "2022.2", board)
    assert [one.rule for one in check_vitis.findings(judged)] == ["hbm-masters"]
    (config,) = files.keys() - {"own.cfg"}
    apart = {**files, config: files[config].replace("stream_2.first:HBM[1]", "stream_2.first:HBM[2]")}
    judged = check.Script(made.commands, apart, rules.load("v++"), "2022.2", board)
    assert {one.rule for one in check_vitis.findings(judged)} == {"shared-port"}


def test_more_ports_than_a_bank_takes_are_found(tmp_path):
    kernel = Kernel("stream", True, 16, dict.fromkeys(BUFFERS, (0,) * 16))
    _, said = script("v++", tmp_path, made_up(kernels=(kernel,)))
    assert {one.rule for one in said} == {"ports-of-a-bank"}


def test_units_that_a_version_does_not_take_are_found(tmp_path):
    kernel = Kernel("stream", True, 32, dict.fromkeys(BUFFERS, tuple(range(32))))
    found = made_up(kernels=(kernel,), memory=Memory("hbm", "host", 32, 2**28), board="u280_hbm")
    rules_of = {
        version: {one.rule for one in script("v++", tmp_path, found, How(version=version))[1]}
        for version in ("2020.2", "2023.1", "2023.2")
    }
    assert rules_of == {"2020.2": set(), "2023.1": set(), "2023.2": {"units-of-a-kernel"}}


def test_an_slr_without_memory_and_a_name_that_is_reserved_are_found(tmp_path):
    kernel = Kernel("stream", True, 2, {"in": (0, 1), "Signal": (0, 1), "fine": (0, 1)})
    made, said = script("v++", tmp_path, made_up(kernels=(kernel,)))
    assert [(one.rule, one.is_note) for one in said] == [("reserved-name", True)] * 2
    check.refuse(said)  # a note stops nothing
    files = {str(file): re.sub(r"sp=stream_2.*\n", "", text) for file, text in made.files.items()}
    known = {"stream": check.Arguments(("fine",))}
    judged = check.Script(made.commands, files, rules.load("v++"), "2022.2", None, known)
    assert [one.rule for one in check_vitis.findings(judged)] == ["slr-without-memory"]


@pytest.mark.parametrize("platform, board, rule", [
    ("xilinx_u280_xdma_201920_3", "u280_hbm", None),
    ("/opt/xilinx/platforms/xilinx_u280_xdma_201920_3/xilinx_u280_xdma_201920_3.xpfm", "u280_hbm", None),
    ("$PLATFORM", "u280_hbm", None),
    ("xilinx_u55c_gen3x16_xdma_3_202210_1", "u280_hbm", "platform-of-another-board"),
])  # fmt: skip
def test_a_platform_of_ones_own_is_taken_unless_it_is_anothers(tmp_path, platform, board, rule):
    found = made_up(board=board)
    made = vitis.steps(found, platform, tmp_path, [])
    said = command.judged("v++", found, made, How())
    assert {one.rule for one in said} == ({rule} if rule else set())


FOR_INTEL = ["aoc", "-I", "kernels", "-DREPLICATIONS=4", "-board=p520_max_sg280l", "-o", "a.aocx", "base.cl"]
INTEL_MISTAKES = [
    (("-board=p520_max_sg280l",), (), "board-missing"),
    (("-board=p520_max_sg280l",), ("-board=p520_hpc_m210h",), "board-unknown"),
    (("-board=p520_max_sg280l",), ("-board=p520_hpc_sg280l",), "io-channels"),
    (("-board=p520_max_sg280l",), ("-board=",), "value-missing"),
    (("-board=p520_max_sg280l",), ("-board=p520_max_sg280l", "-board=p520_hpc_sg280l"), "option-twice"),
    (("base.cl",), ("kernel.cl",), "source-name"), (("base.cl",), (), "source-missing"),
    (("a.aocx",), ("a.xclbin",), "output-ending"), (("-I", "kernels"), ("-rtl",), "output-ending"),
    (("-I", "kernels"), ("-rtl", "-march=emulator"), "stages"),
    (("-I", "kernels"), ("-march=fpga",), "option-unknown"),
    (("-I", "kernels"), ("-fp-relax",), "option-unknown"),
    (("-I", "kernels"), ("-ffp-reassociate",), "option-version"),
    (("-DREPLICATIONS=4",), ("-D4=REPLICATIONS",), "definition-form"),
    (("-DREPLICATIONS=4",), ('-DFM_LOCATION_stream_first_0="HBM32"',), "memory-unknown"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, rule", INTEL_MISTAKES)
def test_a_mistake_in_a_script_for_intel_is_refused_by_name(old, new, rule):
    at = FOR_INTEL.index(old[0])
    line = [*FOR_INTEL[:at], *new, *FOR_INTEL[at + len(old) :]]
    board = rules.board("aoc", "520n")
    judged = check.Script([line], {}, rules.load("aoc"), "20.4", board, uses_channels=True)
    found = [one for one in check_aoc.findings(judged) if one.rule == rule]
    assert len(found) == 1 and found[0].text.startswith(f"aoc 20.4, rule {rule}: ")
    assert found[0].is_note == (rule == "board-missing")
    good = check.Script([FOR_INTEL], {}, rules.load("aoc"), "20.4", board, uses_channels=True)
    assert list(check_aoc.findings(good)) == []


FOR_ONEAPI = ["icpx", "-fsycl", "-fintelfpga", "-fPIC", "-shared", "-Xshardware",
              "-Xstarget=intel_s10sx_pac:pac_s10_usm", "-Xsclock=300MHz", "-I", "kernels", "-DUNROLL=4",
              "a.cpp", "-o", "a.so"]  # fmt: skip
TARGET = "-Xstarget=intel_s10sx_pac:pac_s10_usm"
ONEAPI_MISTAKES = [
    (("-fsycl",), (), "sycl-missing"), (("-fintelfpga",), (), "fpga-missing"),
    ((TARGET,), (), "target-missing"), ((TARGET,), ("-Xstarget=",), "value-missing"),
    ((TARGET,), ("-Xstarget=intel_s10sx_pac:pac_s10_ofs",), "target-unknown"),
    ((TARGET,), ("-Xstarget=intel_s10sx_pac:",), "target-form"),
    ((TARGET,), ("-Xsboard=intel_s10sx_pac:pac_s10_usm",), "target-form"),
    ((TARGET,), (TARGET, "-Xsboard=pac_s10_usm"), "target-twice"),
    ((TARGET,), (TARGET, "-Xstarget=Agilex7"), "option-twice"),
    (("-Xshardware",), (), "target-emulated"),
    (("-Xshardware",), ("-Xshardware", "-Xssimulation"), "stages"),
    (("-shared", "-Xshardware"), ("-fsycl-link=early",), "link-early"),
    (("-shared",), ("-fsycl-link=early",), "output-ending"),
    (("-shared",), ("-fsycl-link=late",), "option-unknown"), (("-shared",), (), "shared"),
    (("-fPIC",), (), "shared"), (("a.so",), ("a.aocx",), "output-ending"),
    (("a.cpp",), (), "source-missing"), (("a.cpp",), ("a.cl",), "source-missing"),
    (("-Xsclock=300MHz",), ("-Xsclock=300",), "clock-form"),
    (("-Xsclock=300MHz",), ("-Xsclok=300MHz",), "option-unknown"),
    (("-Xsclock=300MHz",), ("-Xsuse-2xclock",), "option-version"),
    (("-DUNROLL=4",), ("-D4=UNROLL",), "definition-form"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, rule", ONEAPI_MISTAKES)
def test_a_mistake_in_a_script_for_icpx_is_refused_by_name(old, new, rule):
    at = FOR_ONEAPI.index(old[0])
    line = [*FOR_ONEAPI[:at], *new, *FOR_ONEAPI[at + len(old) :]]
    board = rules.board("icpx", "pac_d5005")
    judged = check.Script([line], {}, rules.load("icpx"), "2023.1", board)
    found = [one for one in check_icpx.findings(judged) if one.rule == rule]
    assert len(found) == 1 and found[0].text.startswith(f"icpx 2023.1, rule {rule}: ")
    with pytest.raises(FabricmarkError, match=f"rule {rule}: "):
        check.refuse(found)
    good = check.Script([FOR_ONEAPI], {}, rules.load("icpx"), "2023.1", board)
    assert list(check_icpx.findings(good)) == []


# Of Intel's pages on compilation flags (2023.0, 2024.0) and of MeluXina's on the 520N MX.
ONEAPI_PUBLISHED = [
    ("2023.0", "", "icpx -fsycl -fintelfpga fpga_compile.cpp -o fpga_compile.fpga_emu"),
    ("2023.0", "", "icpx -fsycl -fintelfpga fpga_design.cpp -Xssimulation -Xstarget=Agilex -Xsghdl"),
    ("2023.0", "", "icpx -fsycl -fintelfpga -Xshardware -fsycl-link=early "
     "-Xstarget=1SG280LU3FS0E3VG fpga_design.cpp -o fpga_design_report.a"),
    ("2023.0", "", "icpx -fsycl -fintelfpga -Xshardware -fsycl-link=early fpga_compile.cpp -o report.a"),
    ("2024.0", "pac_d5005", "icpx -fsycl -fintelfpga -Xshardware "
     "-Xstarget=intel_s10sx_pac:pac_s10_usm kernel.cpp"),
    ("2023.2", "520n_mx", "icpx -fsycl -fintelfpga -qactypes -Xshardware -fsycl-link=early "
     "-Xsboard=p520_hpc_m210h_g3x16 vector_add.cpp -o vector_add_report.a"),
    ("2023.2", "520n_mx", "icpx -v -fsycl -fintelfpga -Xshardware -Xsboard=p520_hpc_m210h_g3x16 "
     "-DFPGA_HARDWARE vector_add.cpp -o vector_add.fpga"),
]  # fmt: skip


@pytest.mark.parametrize("version, board, line", ONEAPI_PUBLISHED)
def test_published_command_lines_for_icpx_pass(version, board, line):
    known = rules.board("icpx", board)
    judged = check.Script([line.split()], {}, rules.load("icpx"), version, known)
    assert [one.text for one in check_icpx.findings(judged) if not one.is_note] == []


def test_a_wrapper_of_wrong_memories_and_kernels_is_refused_by_name(tmp_path):
    """What the table of arguments says is in the text that icpx reads."""
    kernel = Kernel("stream", True, 2, BUFFERS, arguments=tuple((name, "buffer") for name in BUFFERS))
    memory = Memory("hbm", "kernel", 32, 2**28)
    found = made_up(kernels=(kernel,), memory=memory, board="520n_mx", is_sycl=True)
    made, said = script("icpx", tmp_path, found)
    assert said == []
    text = "".join(made.files.values())
    board = rules.board("icpx", "520n_mx")

    def rules_of(changed, version="2024.0", **more):
        of = check.Script(made.commands, {"w.cpp": changed}, rules.load("icpx"), version, board, **more)
        return [one.rule for one in check_icpx.findings(of)]

    assert rules_of(text.replace("decltype(stream_1)>, 1> first(", "decltype(stream_1)>, 32> first(")) == [
        "memory-unknown"
    ]
    assert rules_of(text.replace("single_task<stream_1_task>", "single_task<stream_0_task>")) == [
        "kernel-twice"
    ]
    assert rules_of(text, "2023.2") == ["location-version"]
    assert rules_of(text, uses_channels=True) == ["io-pipes"]


def test_a_clock_is_asked_for_in_the_form_of_the_version(tmp_path):
    def clock(**how):
        made = vitis.steps(made_up(clock_hz=370e6), None, tmp_path, [], How(**how))
        return {
            word for line in made.commands for at, word in enumerate(line) if "freq" in line[at - 1] + word
        }

    assert clock(version="2020.2") == {"--kernel_frequency", "370"}
    assert clock(version="2023.1", clock_mhz=250.0) == {"--kernel_frequency", "250"}
    assert clock(version="2023.2") >= {"--freqhz=370000000"}


def test_rounding_is_relaxed_as_published_and_as_the_version_calls_it(tmp_path):
    def options(bitstream, **how):
        found = made_up(board="520n", bitstream=bitstream, memory=Memory("ddr", "interleaved", 4, 2**33))
        (line,) = aoc.steps(found, None, tmp_path, [], How(**how)).commands
        return [word for word in line if word.startswith("-fp") or word.startswith("-ffp")]

    assert options("520n_single/stream", version="19.4") == ["-fpc", "-fp-relaxed"]
    assert options("520n_single/stream", version="22.4") == ["-ffp-contract=fast", "-ffp-reassociate"]
    assert options("", version="19.4") == [] and options("x", version="19.4", relaxed=False) == []


def test_versions_are_those_of_the_bitstream_where_the_rules_know_it():
    assert rules.version_of("v++", None, "Vitis 2020.2, XRT 2.9") == "2020.2"
    assert rules.version_of("v++", None, "Vitis 2019.2") == rules.load("v++").usual
    assert rules.version_of("aoc", "22.4", "Intel FPGA SDK for OpenCL 19.4.0") == "22.4"
    with pytest.raises(FabricmarkError, match=r"no rules for aoc 18\.1"):
        rules.version_of("aoc", "18.1", "")


@pytest.mark.parametrize("tool", rules.FILES)
def test_each_rule_has_its_page_and_each_version_its_forms(tool):
    known = rules.load(tool)
    assert known.usual in known.versions and sorted(known.versions, key=rules.key) == list(known.versions)
    assert all(one.source.startswith("https://") and one.said for one in known.rules.values())
    for name in known.variants:
        for version in known.versions:
            assert known.form(name, version)
    written = "".join((rules.FOLDER.parent / file).read_text() for file in ("check.py", *CODE))
    # No rule without code that says it.
    assert [name for name in known.rules if f'"{name}"' not in written] == []


def test_every_board_of_an_fpga_has_its_names():
    files = (REPOSITORY / "systems" / "boards").glob("*.toml")
    fpgas = {file.stem for file in files if systems.board(file.stem).device_class == design.FPGA}
    assert fpgas == set(tools_of_boards()) and all(one.platforms for one in rules.boards().values())
    assert all(one.platforms for one in rules.boards_of("icpx").values())
