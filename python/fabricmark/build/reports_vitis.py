"""Reports of AMD's tools: csynth of HLS, system_estimate, kernel_util, the log of v++, xclbinutil's text.

Forms: as public repositories have them, of Vitis 2019.2 to 2023.2; what xclbinutil prints and dumps as XRT's
source writes it. Of kernel_util no published one was found.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from xml.etree import ElementTree

from fabricmark.build.tool_reports import Loop, Parser, Report, count, document

HLS = re.compile(r"== (Vitis|Vivado) HLS Report for '([^']+)'")
MHZ = 1e6
# As the tools name what a chip has, by the names of sidecars. A block of 36 Kib is two of 18.
IN_HLS = {"LUT": "logic", "FF": "registers", "BRAM_18K": "bram_18k", "URAM": "uram", "DSP": "dsps",
          "DSP48E": "dsps"}  # fmt: skip
IN_ESTIMATE = {"LUT": "logic", "FF": "registers", "BRAM": "bram_18k", "URAM": "uram", "DSP": "dsps"}
IN_UTIL = {"LUT": "logic", "REG": "registers", "BRAM": "bram", "URAM": "uram", "DSP": "dsps"}
ELAPSED = re.compile(r"\[v\+\+ 60-791\] Total elapsed time: (\d+)h (\d+)m (\d+)s")
VERSION = re.compile(r"\bv\+\+ v(\d{4}\.\d+(?:\.\d+)?)")
CLOCK = re.compile(r"Name:\s+(\S+)\s+Index:\s+\d+\s+Type:\s+(\w+)\s+Frequency:\s+([\d.]+) MHz")
ACHIEVED = re.compile(
    r"Type:\s+SCALABLE\s+Default Freq:.*\s+Requested Freq:.*\s+Achieved Freq:\s+([\d.]+) MHz"
)
# Of v++'s summary of a link: words between lengths of fields (protobuf, without a published schema).
GENERATED_BY = re.compile(r"--generatedByVersion (\d{4}\.\d+)")
LINKED_FOR = re.compile(r"vpl -t hw\w* -f ([\w./-]{1,200})[^\n]*")
ASKED = re.compile(r"--kernel_frequency (?:0:)?(\d{1,4})\b")
OF_KERNELS = "DATA"  # the clock that a kernel with one clock runs at


def csynth(text: str, name: str) -> Report:
    """`*_csynth.rpt`: what HLS expects of a function and its loops."""
    header = HLS.search(text)
    kernel = header[2] if header else name
    version = re.search(r"\* Version:\s+(\d{4}\.\d+\S*)", text)
    timing = re.search(r"\|\s*ap_clk\s*\|\s*[\d.]+ ?ns\s*\|\s*([\d.]+) ?ns", text)
    if timing is None:
        raise ValueError("no clock ap_clk")
    rows = _rows(text.partition("== Utilization Estimates")[2])
    names = [IN_HLS.get(cell, "") for cell in next(rows, [])]
    total = next((row for row in rows if row[0] == "Total"), None)
    if total is None or len(total) != len(names):
        raise ValueError("no line Total of the resources")
    counts = {one: count(cell) if cell != "-" else 0 for one, cell in zip(names, total, strict=True) if one}
    return Report(
        "csynth",
        tools=f"{header[1]} HLS {version[1]}" if header and version else "",
        estimated_hz={kernel: 1e9 / float(timing[1])} if float(timing[1]) > 0 else {},
        estimated={kernel: counts},
        loops=tuple(_loops(text.partition("== Utilization Estimates")[0], kernel)),
    )


def _rows(text: str) -> Iterator[list[str]]:
    """The cells of the lines of tables that are drawn with bars."""
    for line in text.splitlines():
        if line.strip().startswith("|"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def _loops(text: str, kernel: str) -> Iterator[Loop]:
    for row in _rows(text.partition("* Loop:")[2]):
        # name, latency twice, latency of an iteration, interval reached and wanted, trips, whether pipelined
        if len(row) == 8 and re.match(r"[-+]+ ?\S", row[0]) and row[7] in ("yes", "no", "rewind", "enable"):
            reached, wanted = (count(cell) if cell.isdigit() else None for cell in row[4:6])
            yield Loop(kernel, row[0].lstrip("-+ ").replace(" ", ""), reached, wanted)


def csynth_xml(text: str, name: str) -> Report:
    """`*_csynth.xml`: the same for programs."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("entities, which no report has")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"no XML: {error}") from error
    kernel = root.findtext("UserAssignments/TopModelName") or name
    period = root.findtext("PerformanceEstimates/SummaryOfTimingAnalysis/EstimatedClockPeriod")
    area = root.find("AreaEstimates/Resources")
    if period is None or area is None:
        raise ValueError("no EstimatedClockPeriod or no Resources")
    counts = {IN_HLS[one.tag]: count(one.text or "") for one in area if one.tag in IN_HLS}
    loops = root.find("PerformanceEstimates/SummaryOfLoopLatency")
    found = tuple(_xml_loops(loops, kernel)) if loops is not None else ()
    tools = f"HLS {version}" if (version := root.findtext("ReportVersion/Version")) else ""
    hertz = {kernel: 1e9 / float(period)} if float(period) > 0 else {}
    return Report("csynth", tools=tools, estimated_hz=hertz, estimated={kernel: counts}, loops=found)


def _xml_loops(parent: ElementTree.Element, kernel: str) -> Iterator[Loop]:
    for one in parent:
        if one.find("TripCount") is None and one.find("Latency") is None:
            continue  # what a loop has beside its loops
        interval = one.findtext("PipelineII")
        yield Loop(kernel, one.tag, count(interval) if interval and interval.isdigit() else None)
        yield from _xml_loops(one, kernel)


def system_estimate(text: str, _name: str) -> Report:
    """`system_estimate_*.xtxt`: the same of all kernels of a container."""
    target = re.search(r"Target Device:\s+(\S+)", text)
    version = VERSION.search(text)
    estimated, hertz = {}, {}
    for row in _columns(text, "Area Information"):
        if row["Module Name"] == row["Kernel Name"]:
            estimated[row["Kernel Name"]] = {
                own: count(row[theirs]) for theirs, own in IN_ESTIMATE.items() if theirs in row
            }
    for row in _columns(text, "Timing Information"):
        if row["Module Name"] == row["Kernel Name"]:
            hertz[row["Kernel Name"]] = float(row["Estimated Frequency"]) * MHZ
    if not estimated or not hertz:
        raise ValueError("no kernel with its area and clock")
    return Report(
        "system_estimate",
        tools=f"Vitis {version[1]}" if version else "",
        shell=target[1].replace(":", "_").replace(".", "_") if target else "",
        estimated_hz=hertz,
        estimated=estimated,
    )


def _columns(text: str, heading: str) -> Iterator[Mapping[str, str]]:
    """The rows of a table whose columns are as wide as the dashes below their names."""
    lines = iter(text.partition(heading)[2].splitlines()[1:])
    names, dashes = next(lines, ""), next(lines, "")
    places = [found.span() for found in re.finditer(r"-+", dashes)]
    if not places:
        raise ValueError(f"no table {heading}")
    ends = [start for start, _ in places[1:]]
    spans = list(zip([start for start, _ in places], [*ends, None], strict=True))
    columns = [names[start:end].strip() for start, end in spans]
    for line in lines:
        if not line.strip() or line.startswith("---"):
            return
        yield dict(zip(columns, [line[start:end].strip() for start, end in spans], strict=True))


def kernel_util(text: str, _name: str) -> Report:
    """`kernel_util_routed.rpt`: what lies on the chip, of the platform and of all kernels."""
    rows = [row for row in _rows(text) if row[0]]
    if not rows or rows[0][0] != "Name":
        raise ValueError("no table of the utilization")
    names = [IN_UTIL.get(cell, "") for cell in rows[0]]
    by_name = {row[0]: row for row in rows[1:] if len(row) == len(names)}

    def counts(row: list[str]) -> dict[str, int]:
        cells = zip(names, row, strict=True)
        return {one: int(float(cell.partition("[")[0].replace(",", ""))) for one, cell in cells if one}

    platform, used = counts(by_name["Platform"]), counts(by_name["Used Resources"])
    return Report("kernel_util", resources={one: platform[one] + used[one] for one in used})


def log(text: str, _name: str) -> Report:
    """What v++ prints: its version, and how long each of its calls took."""
    version = VERSION.search(text)
    times = [[int(part) for part in found] for found in ELAPSED.findall(text)]
    if not times:
        raise ValueError("no line `Total elapsed time`: v++ did not end")
    seconds = sum(3600 * hours + 60 * minutes + rest for hours, minutes, rest in times)
    return Report("log of v++", tools=f"Vitis {version[1]}" if version else "", seconds=seconds)


def link_summary(text: str, _name: str) -> Report:
    """`.xclbin.link_summary` of v++: its version, the platform, and the clock that was asked for."""
    version, linked = GENERATED_BY.search(text), LINKED_FOR.search(text)
    if version is None or linked is None:
        raise ValueError("no call of vpl, or no version of v++")
    platform = PurePath(linked[1]).name.removesuffix(".xpfm")
    asked = ASKED.search(linked[0])
    hertz = float(asked[1]) * MHZ if asked else 0
    return Report("summary of a link", tools=f"Vitis {version[1]}", shell=platform, asked_hz=hertz)


def xclbin_info(text: str, _name: str) -> Report:
    """`xclbinutil --info`, or the file `.xclbin.info` that v++ writes."""
    platform = re.search(r"Platform VBNV:\s+(\S+)", text)
    made_by = re.search(r"Command:\s+(\S+)\s+Version:\s+(\d{4}\.\d+)", text)
    clocks = {kind: float(hertz) * MHZ for _, kind, hertz in reversed(CLOCK.findall(text))}
    achieved = ACHIEVED.search(text)
    hertz = float(achieved[1]) * MHZ if achieved else clocks.get(OF_KERNELS, 0)
    if platform is None or not hertz:
        raise ValueError("no platform or no clock of kernels")
    tools = f"Vitis {made_by[2]}" if made_by else ""
    return Report("xclbin", tools=tools, shell=platform[1], clock_hz=hertz)


def clock_section(text: str, _name: str) -> Report:
    """The section CLOCK_FREQ_TOPOLOGY of an .xclbin, as `xclbinutil --dump-section` writes it."""
    clocks = document(text)["clock_freq_topology"]["m_clock_freq"]
    hertz = [float(one["m_freq_Mhz"]) * MHZ for one in clocks if one["m_type"] == OF_KERNELS]
    if not hertz:
        raise ValueError("no clock of the type DATA")
    return Report("xclbin", clock_hz=hertz[0])


PARSERS: list[Parser] = [
    (lambda text: '"clock_freq_topology"' in text, clock_section),
    (lambda text: "system_link --xo " in text and ".link_summary" in text, link_summary),
    (lambda text: "xclbin Information" in text or "Platform VBNV:" in text, xclbin_info),
    (lambda text: "<TopModelName>" in text or "<AreaEstimates>" in text, csynth_xml),
    (lambda text: "Timing Information (MHz)" in text or "Design Name:" in text, system_estimate),
    (lambda text: bool(HLS.search(text)) or "== Performance Estimates" in text, csynth),
    (lambda text: "User Budget" in text, kernel_util),
    (lambda text: "[v++ 60-" in text, log),
]
