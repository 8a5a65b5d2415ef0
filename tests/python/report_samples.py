"""Reports of the vendors' tools in short: in the form of published ones, with their numbers.

Where each was found is said beside it; the texts are written here.
"""

import json

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
# A link of Vitis 2019.2 for a U280, in short, with lengths made up: fields of protobuf.
LINKED = (
    "\n\x16v++_link_vadd.hw\x12$e37765f9-6484-4024-9525-21166c877425\x32ZR/x/vadd.hw.xclbin.link_summary "
    "\x12\x18Fri Oct 30 11:46:40 2020\x1a\x1ev++ -t hw --config design.cfg -l -ovadd.hw.xclbin vadd.hw.xo *"
    "\x12\x1csystem_link --xo /x/vadd.hw.xo --xpfm /opt/xilinx/platforms/x.xpfm --target hw*"
    "\x12\x0crtd2SystemDiagram --generatedByName v++ --generatedByVersion 2019.2 --generatedByChangeList 1 *"
    "\x12\x0bvpl -t hw -f xilinx_u280_xdma_201920_3 -g --kernel_frequency 140 -s *\x02-t*\x02hw"
    "\x12\x18Fri Oct 30 11:47:27 2020"
)
FILES = {
    "acl_quartus_report.txt": QUARTUS, "info.json": INFO, "loops.json": LOOPS, "area.json": AREA,
    "top.fit.summary": SUMMARY, "bias_csynth.rpt": CSYNTH, "bias_csynth.xml": CSYNTH_XML,
    "mmult_csynth.rpt": CSYNTH_2019, "system_estimate_tree.xtxt": ESTIMATE, "v++.log": LOG,
    "clock.json": CLOCKS, "a.xclbin.info": XCLBIN, "kernel_util_routed.rpt": UTIL,
    "vadd.xclbin.link_summary": LINKED,
}  # fmt: skip
