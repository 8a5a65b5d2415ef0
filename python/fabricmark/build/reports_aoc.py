"""Reports of Intel's tools: acl_quartus_report.txt, Quartus's log and summary, and aoc's reports in JSON.

Forms: acl_quartus_report.txt and reports/lib/json/*.json of aoc 17.1 and Quartus's fit.summary, as public
repositories have them; quartus_sh_compile.log has what adjust_plls.tcl of a board package prints.
"""

import re
from collections.abc import Iterator, Mapping

from fabricmark.build.tool_reports import Loop, Parser, Report, count, document

MHZ = 1e6
# In acl_quartus_report.txt and, behind the name of the script, in quartus_sh_compile.log.
FITTED = {"logic": "Logic utilization", "registers": "Registers", "bram": "RAM blocks", "dsps": "DSP blocks"}
SUMMARY = {
    "logic": r"Logic utilization \(in ALMs\)", "registers": "Total (?:dedicated logic )?registers",
    "bram": "Total RAM Blocks", "dsps": "Total DSP Blocks",
}  # fmt: skip
ELAPSED = re.compile(r"Elapsed time: (\d+):(\d\d):(\d\d)")
AREA = {"ALUTs": "aluts", "FFs": "registers", "RAMs": "bram", "DSPs": "dsps"}
KERNEL = "Kernel: "


def quartus(text: str, _name: str) -> Report:
    """`acl_quartus_report.txt`, or quartus_sh_compile.log, which has the same and the time."""
    clock = re.search(r"Actual clock freq: ([\d.]+)", text)
    if clock is None:
        raise ValueError("no line `Actual clock freq`")
    used, there = _used(text, FITTED)
    times = [[int(part) for part in found] for found in ELAPSED.findall(text)]
    longest = max((3600 * hours + 60 * minutes + rest for hours, minutes, rest in times), default=0)
    return Report(
        "quartus", clock_hz=float(clock[1]) * MHZ, resources=used, available=there, tools=_quartus(text),
        seconds=longest,
    )  # fmt: skip


def summary(text: str, _name: str) -> Report:
    """`top.fit.summary`: what lies on the chip; it has no clock."""
    if "Fitter Status : Successful" not in text:
        raise ValueError("the fitter did not succeed")
    used, there = _used(text, SUMMARY)
    return Report("fit.summary", resources=used, available=there, tools=_quartus(text))


def _quartus(text: str) -> str:
    version = re.search(r"Quartus Prime Version :? ?(\d+\.\d+(?:\.\d+)?)", text)
    return f"Quartus Prime {version[1]}" if version else ""


def _used(text: str, names: Mapping[str, str]) -> tuple[dict[str, int], dict[str, int]]:
    """What is used and what there is, as `Registers: 1,234` or `RAM blocks: 343 / 2,713 ( 13 % )`."""
    used, there = {}, {}
    for own, theirs in names.items():
        line = rf"{theirs}\s*:[ \t]*([\d,]+)(?: */ *([\d,]+))?(?: *\([^)\n]*\))?[ \t\r]*$"
        found = re.search(line, text, re.MULTILINE)
        if found is None:
            raise ValueError(f"no line of the {own}")
        used[own] = count(found[1])
        if found[2]:
            there[own] = count(found[2])
    return used, there


def info(text: str, _name: str) -> Report:
    """`info.json`: versions and the board."""
    rows = {one["name"]: one["data"][0] for one in document(text)["rows"]}
    target = rows["Target Family, Device, Board"]
    version = str(rows["AOC Version"]).partition(" ")[0]
    return Report("info.json", tools=f"Intel FPGA SDK for OpenCL {version}", shell=target.split(", ")[-1])


def loops(text: str, _name: str) -> Report:
    """`loops.json`: the interval of each loop, by kernel."""
    found = document(text)
    place = found["columns"].index("II") - 1  # the first column is the name
    loops_of = []
    for kernel in found["children"]:
        name = str(kernel["name"]).removeprefix(KERNEL)
        loops_of += list(_nested(kernel.get("children", []), name, place))
    return Report("loops.json", loops=tuple(loops_of))


def _nested(children: list, kernel: str, place: int) -> Iterator[Loop]:
    for one in children:
        said = str(one["data"][place])
        digits = re.fullmatch(r"(?:~|>=|>)?\s*(\d{1,9})", said)
        yield Loop(kernel, str(one["name"]), int(digits[1]) if digits else None)
        yield from _nested(one.get("children", []), kernel, place)


def area(text: str, _name: str) -> Report:
    """`area.json`: what aoc expects that the whole takes, before Quartus has placed it."""
    found = document(text)
    kinds = [AREA.get(name) for name in found["columns"][1:]]
    total = zip(kinds, found["total"], strict=False)
    return Report(
        "area.json", estimated={found["name"]: {kind: int(number) for kind, number in total if kind}}
    )


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


PARSERS: list[Parser] = [
    (lambda text: "Actual clock freq" in text or "Kernel fmax" in text or "ALUTs: " in text, quartus),
    (lambda text: "Fitter Status" in text, summary),
    (lambda text: _is_json(text) and '"AOC Version"' in text, info),
    (lambda text: _is_json(text) and '"II"' in text and '"Pipelined"' in text, loops),
    (lambda text: _is_json(text) and '"ALUTs"' in text, area),
]
