"""Reports of the vendors' tools, as they become clock, resources and intervals of a sidecar.

The texts are short ones of our own, in the form of published reports and with their numbers; where each was
found is said beside it. No vendor's tool was there.
"""

import json
import random
import tomllib
from pathlib import Path

import pytest
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.build import bitstreams, sidecars, tool_reports
from fabricmark.build.tool_reports import Loop

pytestmark = pytest.mark.usefixtures("of_the_repository")
# github.com/fingersnail/fccm-ttm-experiments-vlab, acl_quartus_report.txt and conv3-64/reports/lib/json.
QUARTUS = """ALUTs: 107051
Registers: 124,820
Logic utilization: 82,696 / 427,200 ( 19 % )
I/O pins: 305 / 826 ( 37 % )
DSP blocks: 1 / 1,518 ( < 1 % )
Memory bits: 2,635,032 / 55,562,240 ( 5 % )
RAM blocks: 343 / 2,713 ( 13 % )
Actual clock freq: 234
Kernel fmax: 234.85
"""
INFO = json.dumps({"name": "Info", "rows": [
    {"name": "Target Family, Device, Board", "data": ["Arria 10, 10AX115S2F45I2SGES, dcp_bsp:pac_a10"]},
    {"name": "AOC Version", "data": ["17.1.1 Build 273"]},
]})  # fmt: skip
LOOPS = json.dumps({"columns": ["", "Pipelined", "II", "Bottleneck", "Details"], "children": [
    {"name": "Kernel: weight_loader", "data": ["", "", ""]},
    {"name": "Kernel: convolution_0_0_0", "data": ["", "", ""], "children": [
        {"name": "convolution_0_0_0.B1", "data": ["Yes", "~3", "II"], "children": [
            {"name": "Fully unrolled loop", "data": ["n/a", "n/a", "n/a"]}]}]},
]})  # fmt: skip
AREA = json.dumps({"columns": ["", "ALUTs", "FFs", "RAMs", "DSPs", "Details"], "name": "Kernel System",
                   "total": [246188, 486089, 946, 320], "children": []})  # fmt: skip
# The project of a game for the DE10-Nano (its README), Quartus 20.1.
SUMMARY = """Fitter Status : Successful - Sun Mar 14 10:00:00 2021
Quartus Prime Version : 20.1.0 Build 711 06/05/2020 SJ Lite Edition
Logic utilization (in ALMs) : 4,778 / 41,910 ( 11 % )
Total registers : 2196
Total RAM Blocks : 338 / 553 ( 61 % )
Total DSP Blocks : 0 / 112 ( 0 % )
"""
# github.com/wzh0715/HybridAcc, SDA/solution1/syn/report, Vitis HLS 2023.2.
CSYNTH = """== Vitis HLS Report for 'ConvertBias_BN_Pipeline_VITIS_LOOP_7_1'
* Version:        2023.2 (Build 4023990 on Oct 11 2023)
== Performance Estimates
    |  Clock |  Target  | Estimated| Uncertainty|
    |ap_clk  |  10.00 ns|  1.520 ns|     2.70 ns|
        * Loop:
        |                  |  Latency (cycles) | Iteration|  Initiation Interval  | Trip |          |
        |     Loop Name    |   min   |   max   |  Latency |  achieved |   target  | Count| Pipelined|
        +------------------+---------+---------+----------+-----------+-----------+------+----------+
        |- VITIS_LOOP_7_1  |       16|       16|         2|          1|          1|    16|       yes|
== Utilization Estimates
|         Name        | BRAM_18K|  DSP |    FF   |   LUT  | URAM|
|Multiplexer          |        -|     -|        -|    2340|    -|
|Total                |        0|     0|       42|    2424|    0|
|Available            |     2688|  5952|  1743360|  871680|  640|
"""
CSYNTH_XML = """<profile><ReportVersion><Version>2023.2</Version></ReportVersion>
<UserAssignments><TopModelName>ConvertBias_BN_Pipeline_VITIS_LOOP_7_1</TopModelName></UserAssignments>
<PerformanceEstimates><SummaryOfTimingAnalysis><EstimatedClockPeriod>1.520</EstimatedClockPeriod>
</SummaryOfTimingAnalysis><SummaryOfLoopLatency><VITIS_LOOP_7_1><TripCount>16</TripCount><Latency>16</Latency>
<PipelineII>1</PipelineII><InstanceList></InstanceList></VITIS_LOOP_7_1></SummaryOfLoopLatency>
</PerformanceEstimates><AreaEstimates><Resources><FF>42</FF><LUT>2424</LUT><BRAM_18K>0</BRAM_18K><DSP>0</DSP>
<URAM>0</URAM></Resources></AreaEstimates></profile>
"""
# A README with the excerpt of a report of Vivado HLS 2019.2, of a product of matrices: no header, and DSP48E.
CSYNTH_2019 = """== Performance Estimates
    |  Clock |  Target  | Estimated| Uncertainty|
    |ap_clk  | 10.00 ns | 6.329 ns |   2.70 ns  |
        * Loop:
        N/A
== Utilization Estimates
|       Name      | BRAM_18K| DSP48E|   FF   |  LUT  | URAM|
|Instance         |        0|    160|   36240|  35929|    -|
|Total            |       96|    160|   36272|  36092|    0|
"""
# The log of a project on decision trees, which holds its system_estimate of a U250.
ESTIMATE = """Version:    v++ v2020.2 (64-bit)
Design Name:             pi_container
Target Device:           xilinx:u250:xdma:201830.2

Timing Information (MHz)
Compute Unit  Kernel Name  Module Name    Target Frequency  Estimated Frequency
------------  -----------  -------------  ----------------  -------------------
krnl_Tree_1   krnl_Tree    evaluateSplit  300.300293        213.492737
krnl_Tree_1   krnl_Tree    krnl_Tree      300.300293        213.492737

Area Information
Compute Unit  Kernel Name  Module Name    FF     LUT    DSP  BRAM  URAM
------------  -----------  -------------  -----  -----  ---  ----  ----
krnl_Tree_1   krnl_Tree    evaluateSplit  8068   10619  0    1     0
krnl_Tree_1   krnl_Tree    krnl_Tree      22036  31772  0    5     0
-------------------------------------------------------------------------------
"""
# github.com/janethamrani/codec, JXLENC/README.md: what v++ 2021.2 printed.
LOG = """****** v++ v2021.2 (64-bit)
INFO: [v++ 60-1306] Additional information associated with this v++ compile can be found at:
INFO: [v++ 60-791] Total elapsed time: 0h 8m 26s
"""
# github.com/nqdtan/vck5000_vivado_ulp, xclbin_generator/clock_freq_topology.json.
CLOCKS = json.dumps({"clock_freq_topology": {"m_count": "2", "m_clock_freq": [
    {"m_freq_Mhz": "100", "m_type": "KERNEL", "m_name": "KERNEL_CLK"},
    {"m_freq_Mhz": "300", "m_type": "DATA", "m_name": "DATA_CLK"},
]}})  # fmt: skip
# As XRT's reportClocks and reportXOCC write it (src/runtime_src/tools/xclbinutil); the numbers are made up.
XCLBIN = """xclbin Information
   Platform VBNV:          xilinx_u280_gen3x16_xdma_1_202211_1
Scalable Clocks
---------------
   Name:      DATA_CLK
   Index:     0
   Type:      DATA
   Frequency: 256 MHz

   Name:      KERNEL_CLK
   Index:     1
   Type:      KERNEL
   Frequency: 500 MHz

System Clocks
------
Generated By
------------
   Command:       v++
   Version:       2022.2 - 2022-10-13-12:09:39
"""
# No published one was found: as AMD describes it, the numbers made up.
UTIL = """| Name                | LUT              | LUTAsMem | REG             | BRAM         | URAM | DSP |
| Platform            |  100 [  1.00%]   | 1 [ 0 %] |  20 [  0.1%]    | 3 [  0.1%]   |  0   | 4   |
| User Budget         | 9900 [100.00%]   | 1        | 980             | 97           | 10   | 96  |
|    Used Resources   |   11 [  0.11%]   | 1        |  12             | 1            |  1   | 0   |
"""
FILES = {
    "acl_quartus_report.txt": QUARTUS, "info.json": INFO, "loops.json": LOOPS, "area.json": AREA,
    "top.fit.summary": SUMMARY, "bias_csynth.rpt": CSYNTH, "bias_csynth.xml": CSYNTH_XML,
    "mmult_csynth.rpt": CSYNTH_2019, "system_estimate_tree.xtxt": ESTIMATE, "v++.log": LOG,
    "clock.json": CLOCKS, "a.xclbin.info": XCLBIN, "kernel_util_routed.rpt": UTIL,
}  # fmt: skip


def read(tmp_path, name, text=None):
    file = tmp_path / name
    file.write_text(FILES[name] if text is None else text)
    return tool_reports.read(file, bitstreams.PARSERS)


def test_what_quartus_reports_is_read(tmp_path):
    found = read(tmp_path, "acl_quartus_report.txt")
    assert found.clock_hz == 234e6
    assert found.resources == {"logic": 82696, "registers": 124820, "bram": 343, "dsps": 1}
    assert found.available == {"logic": 427200, "bram": 2713, "dsps": 1518}
    log = "".join(f"Info: adjust_plls.tcl: {line}\n" for line in QUARTUS.splitlines())
    log += "Info: Elapsed time: 00:31:02\nInfo: Elapsed time: 02:33:15\n"
    assert read(tmp_path, "quartus_sh_compile.log", log) == tool_reports.Report(
        "quartus", clock_hz=234e6, resources=found.resources, available=found.available, seconds=9195
    )
    summary = read(tmp_path, "top.fit.summary")
    assert summary.resources == {"logic": 4778, "registers": 2196, "bram": 338, "dsps": 0}
    assert summary.tools == "Quartus Prime 20.1.0" and not summary.clock_hz


def test_what_aoc_reports_is_read(tmp_path):
    assert read(tmp_path, "info.json").tools == "Intel FPGA SDK for OpenCL 17.1.1"
    assert read(tmp_path, "info.json").shell == "dcp_bsp:pac_a10"
    assert read(tmp_path, "loops.json").loops == (
        Loop("convolution_0_0_0", "convolution_0_0_0.B1", 3),
        Loop("convolution_0_0_0", "Fully unrolled loop", None),
    )
    estimated = {"aluts": 246188, "registers": 486089, "bram": 946, "dsps": 320}
    assert read(tmp_path, "area.json").estimated == {"Kernel System": estimated}


def test_what_hls_reports_is_read(tmp_path):
    kernel = "ConvertBias_BN_Pipeline_VITIS_LOOP_7_1"
    counts = {"bram_18k": 0, "dsps": 0, "registers": 42, "logic": 2424, "uram": 0}
    for name, wanted in (("bias_csynth.rpt", 1), ("bias_csynth.xml", None)):
        found = read(tmp_path, name)
        assert found.tools.startswith("Vitis HLS 2023.2") and found.estimated == {kernel: counts}
        assert found.estimated_hz[kernel] == pytest.approx(657.9e6, rel=1e-4)
        assert found.loops == (Loop(kernel, "VITIS_LOOP_7_1", 1, wanted),)
    older = read(tmp_path, "mmult_csynth.rpt")
    assert older.estimated == {
        "mmult": {"bram_18k": 96, "dsps": 160, "registers": 36272, "logic": 36092, "uram": 0}
    }
    assert older.loops == () and older.estimated_hz["mmult"] == pytest.approx(158e6, rel=1e-3)


def test_what_the_compiler_reports_of_all_kernels_is_read(tmp_path):
    found = read(tmp_path, "system_estimate_tree.xtxt")
    assert found.estimated == {
        "krnl_Tree": {"logic": 31772, "registers": 22036, "bram_18k": 5, "uram": 0, "dsps": 0}
    }
    assert found.estimated_hz == {"krnl_Tree": pytest.approx(213.492737e6)}
    assert (found.tools, found.shell) == ("Vitis 2020.2", "xilinx_u250_xdma_201830_2")
    log = read(tmp_path, "v++.log")
    assert (log.seconds, log.tools) == (506, "Vitis 2021.2")


def test_what_lies_in_a_container_is_read(tmp_path):
    assert read(tmp_path, "clock.json").clock_hz == 300e6
    found = read(tmp_path, "a.xclbin.info")
    assert (found.clock_hz, found.tools) == (256e6, "Vitis 2022.2")
    assert found.shell == "xilinx_u280_gen3x16_xdma_1_202211_1"
    achieved = XCLBIN.replace(
        "Generated By",
        "   Name:           clk\n   Type:           SCALABLE\n   Default Freq:   300 MHz\n"
        "   Requested Freq: 300 MHz\n   Achieved Freq:  251.5 MHz\n\nGenerated By",
    )
    assert read(tmp_path, "b.xclbin.info", achieved).clock_hz == 251.5e6
    used = {"logic": 111, "registers": 32, "bram": 4, "uram": 1, "dsps": 4}
    assert read(tmp_path, "kernel_util_routed.rpt").resources == used


def command(*words):
    bitstreams.import_command([Path(word) for word in words[:-1]], words[-1])


def test_reports_are_written_to_the_sidecar_and_shown_as_a_table(tmp_path, capsys):
    reports = tmp_path / "made" / "lib" / "json"
    reports.mkdir(parents=True)
    for name in ("info.json", "loops.json", "area.json"):
        (reports / name).write_text(FILES[name])
    (tmp_path / "made" / "acl_quartus_report.txt").write_text(QUARTUS)
    (tmp_path / "v++.log").write_text(LOG)
    bitstream = tmp_path / "gemm.aocx"
    before = (
        'benchmark = "gemm"\nvariant = "base"\nboard = "520n"\n[parameters]\nunroll = 8\nx = true\ny = "a"\n'
    )
    sidecars.of(bitstream).write_text(before)
    command(tmp_path / "made", tmp_path / "v++.log", bitstream)
    shown = capsys.readouterr().out
    assert "clock 234 MHz" in shown and "convolution_0_0_0.B1" in shown and "0.14 h" in shown
    values = tomllib.loads(sidecars.of(bitstream).read_text())
    assert values == {
        **tomllib.loads(before), "clock_hz": 234e6, "tools": "Intel FPGA SDK for OpenCL 17.1.1",
        "shell": "dcp_bsp:pac_a10",
        "resources": {"logic": 82696, "registers": 124820, "bram": 343, "dsps": 1},
    }  # fmt: skip
    more = tomllib.loads((tmp_path / "gemm.aocx.synthesis.toml").read_text())
    assert more["seconds"] == 506 and more["loops"][0] == {
        "kernel": "convolution_0_0_0", "name": "convolution_0_0_0.B1", "interval": 3,
    }  # fmt: skip
    once = sidecars.of(bitstream).read_text()
    command(tmp_path / "made", bitstream)
    assert sidecars.of(bitstream).read_text() == once
    capsys.readouterr()
    bitstreams.table_command([bitstream], None, tmp_path / "rows.csv")
    shown = capsys.readouterr().out
    assert "82696 (9 %)" in shown and "343 (3 %)" in shown and "234.00" in shown
    assert (tmp_path / "rows.csv").read_text().splitlines()[1].startswith("gemm.aocx,gemm,520n,82696 (9 %)")


def test_tables_are_those_of_the_publication(capsys):
    """Meyer 2024, Table 4.7: 659200 are 51 %, 7714 are 85 %, at 186 MHz after 12.25 h."""
    bitstreams.table_command(None, "u280_ddr_multi", None)
    (line,) = [one for one in capsys.readouterr().out.splitlines() if "u280_ddr_multi/gemm" in one]
    expected = "u280_ddr_multi/gemm gemm 659200 (51 %) 1139 (56 %) 7714 (85 %) 186.00 12.25 h"
    assert " ".join(line.split()) == expected


def test_measured_figures_go_before_estimates(tmp_path):
    found = tool_reports.merged([read(tmp_path, "acl_quartus_report.txt"), read(tmp_path, "top.fit.summary")])
    assert found.resources["logic"] == 82696 and found.clock_hz == 234e6
    both = tool_reports.merged([read(tmp_path, "bias_csynth.rpt"), read(tmp_path, "bias_csynth.xml")])
    assert len(both.loops) == 1 and both.clock_hz == 0  # an estimate is no clock that a design runs at


@pytest.mark.parametrize("name, lost, said", [
    ("acl_quartus_report.txt", "Actual clock freq: 234", "no line `Actual clock freq`"),
    ("acl_quartus_report.txt", "RAM blocks: 343 / 2,713 ( 13 % )", "no line of the bram"),
    ("top.fit.summary", "Successful", "the fitter did not succeed"),
    ("bias_csynth.rpt", "|ap_clk  |  10.00 ns|  1.520 ns|     2.70 ns|", "no clock ap_clk"),
    ("bias_csynth.rpt", "|Total                |        0|     0|       42|    2424|    0|", "no line Total"),
    ("bias_csynth.xml", "</profile>", "no XML"), ("bias_csynth.xml", "<FF>42</FF>", None),
    ("system_estimate_tree.xtxt", "krnl_Tree_1   krnl_Tree    krnl_Tree      300", "no kernel with its area"),
    ("v++.log", "Total elapsed", "v++ did not end"), ("clock.json", '"DATA"', "Expecting value"),
    ("a.xclbin.info", "Platform VBNV:", "no platform"), ("loops.json", '"II"', "known"),
    ("kernel_util_routed.rpt", "Used Resources", "Used Resources is missing"),
    ("info.json", '"AOC Version"', "known"), ("area.json", '"total"', "Expecting property name"),
])  # fmt: skip
def test_a_damaged_report_ends_in_one_line(tmp_path, name, lost, said):
    assert lost in FILES[name]
    text = FILES[name].replace(lost, "")
    if said is None:
        assert read(tmp_path, name, text).estimated  # what a report lacks is not made up
        return
    with pytest.raises(FabricmarkError) as error:
        read(tmp_path, name, text)
    assert said in str(error.value) and str(tmp_path / name) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name, old, new", [
    ("acl_quartus_report.txt", "82,696", "82,69x"), ("acl_quartus_report.txt", "234", "9" * 400),
    ("bias_csynth.rpt", "2424", "-1"), ("bias_csynth.xml", "2424", "9" * 30),
    ("bias_csynth.xml", "<profile>", '<!DOCTYPE a [<!ENTITY b "c">]><profile>'),
    ("v++.log", "0h 8m", "99999999h 8m"), ("clock.json", '"300"', '"NaN"'), ("clock.json", '"300"', '"-3"'),
    ("loops.json", '"~3"', '"0"'), ("loops.json", '["Yes", "~3", "II"]', "7"),
    ("area.json", "246188", "1e400"),
    ("system_estimate_tree.xtxt", "31772", "many "), ("info.json", '"17.1.1 Build 273"', "[]"),
])  # fmt: skip
def test_a_number_that_cannot_be_is_refused(tmp_path, name, old, new):
    assert old in FILES[name]
    try:
        found = read(tmp_path, name, FILES[name].replace(old, new))
    except FabricmarkError as error:
        assert "not a whole report" in str(error) and "\n" not in str(error)
    else:  # of info.json any version is taken for words
        assert name == "info.json" and found.shell


def test_no_damage_ends_in_anything_but_one_line(tmp_path):
    """Bytes that are changed, lost and doubled, in every kind of report, with a seed."""
    chance = random.Random(29)
    file = tmp_path / "report"
    for text in FILES.values():
        whole = text.encode()
        for _ in range(80):
            data = bytearray(whole)
            for _ in range(chance.randint(1, 6)):
                at = chance.randrange(len(data)) if data else 0
                way = chance.randrange(4)
                if way == 0:
                    data[at : at + 1] = bytes([chance.randrange(256)])
                elif way == 1:
                    del data[at : at + chance.randint(1, 40)]
                elif way == 2:
                    data[at:at] = data[at : at + chance.randint(1, 40)]
                else:
                    data = data[: at + 1]
            file.write_bytes(data)
            try:
                found = tool_reports.read(file, bitstreams.PARSERS)
            except FabricmarkError as error:
                assert "\n" not in str(error)
            else:
                assert tomllib.loads("\n".join(sidecars._synthesis(found)))


def test_what_is_no_report_is_refused(tmp_path):
    for name, data, said in (
        ("empty", b"", "no report that is known"), ("binary", bytes(range(256)), "no report that is known"),
        ("deep.json", b'{"II" "Pipelined"' + b"[" * 100000, "not a whole report"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FabricmarkError, match=said):
            tool_reports.read(tmp_path / name, bitstreams.PARSERS)
    with pytest.raises(FabricmarkError, match="cannot be read"):
        tool_reports.read(tmp_path / "none", bitstreams.PARSERS)
    with pytest.raises(FabricmarkError, match="no report in this folder"):
        list(bitstreams._named([tmp_path]))
    with pytest.raises(FabricmarkError, match="build the bitstream with"):
        command(_written(tmp_path, "v++.log"), tmp_path / "none.xclbin")
    (tmp_path / "b.xclbin.toml").write_text('variant = "base"\n')
    with pytest.raises(FabricmarkError, match="names no benchmark"):
        command(_written(tmp_path, "v++.log"), tmp_path / "b.xclbin")
    with pytest.raises(FabricmarkError, match="no bitstream"):
        bitstreams.table_command(None, None, None)


def _written(folder, name):
    (folder / name).write_text(FILES[name])
    return folder / name


def test_names_of_others_cannot_break_the_files(tmp_path):
    name = 'a"\n[x]\\\x7f\x1b'
    loops, estimated = (Loop(name, name, 1),), {name: {"logic": 1}}
    report = tool_reports.Report("csynth", tools=name, loops=loops, estimated=estimated)
    sidecars.of(tmp_path / "a.xclbin").write_text('benchmark = "gemm"\n[parameters]\n')
    _, beside = sidecars.write(tmp_path / "a.xclbin", report)
    assert tomllib.loads(beside.read_text())["loops"] == [{"kernel": name, "name": name, "interval": 1}]
    assert sidecars.load(tmp_path / "a.xclbin").values["tools"] == name


def test_programs_know_all_that_stands_in_a_sidecar():
    """The loader of the programs refuses a key that it does not know (src/runtime/sidecar.cpp)."""
    loader = (REPOSITORY / "src" / "runtime" / "sidecar.cpp").read_text()
    assert all(f'"{name}"' in loader for name in [*sidecars.KEYS, *tool_reports.RESOURCES])
