"""Proofs of `rtl/formal`, of totals by induction and of two whole ends to a depth; faults break them."""

import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from common import BUILD, FAULTS, ROOT, RTL, SOURCES, Failure, Options, Task, once, run

TOOLS = ("yosys", "yosys-smtbmc", "yosys-abc", "z3")
FOLDER = RTL / "formal"
SMALL = {"DEPTH": 4, "PACKET": 2, "RETURNED": 2}
# Faults that lie in what a proof has of the RTL, and that break what it holds.
OF_TOTALS = (1, 3, 4, 5, 7, 8, 9, 10, 11, 19, 20)
OF_PAIR: dict[int, dict[str, int]] = {
    **{fault: {} for fault in (1, 3, 5, 6, 12)},
    11: {"LOSES": 1},
    18: {"STALLS": 1},
    21: {"FALLS": 1},
}
DEPTH, DEEP = 20, 30  # of the whole pair, in cycles
DISTURBED = {"frames lost": {"LOSES": 1}, "link falls": {"FALLS": 1}, "wire stalls": {"STALLS": 1}}
SHOWN = {
    "no credit and a full buffer": {"SHOW": 1},
    "a packet closed by its time-out": {"SHOW": 2},
    "words of a second epoch": {"SHOW": 3, "FALLS": 1},
}
READ = "read_verilog -sv -formal -DFM_ANY_HEADER_CRC"
PREPARE = "proc; flatten; opt -fast; memory_collect; memory_dff; memory_map; opt -fast; async2sync; dffunmap"
TO_GATES = "setundef -undriven -anyseq; techmap; opt_clean; dffunmap; aigmap; opt_clean"
# Takes longer and gives half as many gates, which depth is worth.
TO_FEW_GATES = (
    "opt -full; setundef -undriven -anyseq; techmap; opt -full -nodffe -nosdff; dffunmap; "
    "abc -g AND -fast; opt_clean"
)


def elaborate(top: str, parameters: tuple[tuple[str, int], ...], write: str) -> Path:
    """What yosys writes of a proof; `{}` in `write` stands for its place without an ending."""
    folder = BUILD / "formal"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "_".join([top, *(f"{name.lower()}{number}" for name, number in parameters)])
    files = [f"{file}" for file in (*sorted(SOURCES.glob("fm_cl_*.sv")), *sorted(FOLDER.glob("*.sv")))]
    sets = " ".join(f"-set {name} {number}" for name, number in parameters)
    change = f"chparam {sets} {top}; " if sets else ""
    script = f"{READ} -I{SOURCES} {' '.join(files)}; {change}hierarchy -check -top {top}; {PREPARE}; "
    run(["yosys", "-q", "-p", script + write.format(place)], f"yosys, {place.name}")
    return place


@once
def formula(top: str, parameters: tuple[tuple[str, int], ...]) -> Path:
    place = elaborate(top, parameters, "opt_clean; write_smt2 -wires {}.smt2")
    return place.with_suffix(".smt2")


@once
def gates(top: str, parameters: tuple[tuple[str, int], ...]) -> Path:
    mapping = TO_GATES if parameters else TO_FEW_GATES
    write = f"chformal -cover -remove; {mapping}; write_aiger -zinit {{}}.aig"
    return elaborate(top, parameters, write).with_suffix(".aig")


def solve(words: list[object], file: Path) -> str:
    """What the solver says, which ends with its verdict."""
    texts = ["yosys-smtbmc", "--noprogress", "-s", "z3", *(str(word) for word in words), str(file)]
    done = subprocess.run(texts, capture_output=True, text=True, check=False)
    if not re.search(r"Status: (PASSED|FAILED)", done.stdout):
        raise Failure(f"{' '.join(texts[1:])}: {(done.stdout + done.stderr).strip()[-1000:]}")
    return done.stdout


def proves(words: list[object], top: str, parameters: dict[str, int]) -> None:
    said = solve(words, formula(top, tuple(parameters.items())))
    if "Status: PASSED" not in said:
        raise Failure(f"{top}, {parameters}: {said.strip()[-600:]}")


def refutes(fault: int) -> None:
    """Raises Failure where the proof of the totals holds in spite of a fault."""
    said = solve(["-t", 12], formula("credit_totals", (*SMALL.items(), ("FAULT", fault))))
    if "Assert failed in credit_totals" not in said:
        raise Failure(f"the proof of the totals holds with fault {fault}")


def pair(depth: int, changes: dict[str, int], holds: bool) -> None:
    """Raises Failure where two ends break an assertion within so many cycles, or should and do not."""
    file = gates("link_pair", tuple(changes.items()))
    said = run(["yosys-abc", "-c", f"read_aiger {file}; fold; strash; bmc3 -F {depth}"], "yosys-abc")
    breaks = re.search(r"Output \d+ .*was asserted in frame", said) is not None
    if breaks == (f"No output asserted in {depth} frames" in said):
        raise Failure(f"yosys-abc said neither that two ends hold nor where not: {said.strip()[-500:]}")
    if breaks == holds:
        raise Failure(f"two ends, {changes}, {depth} cycles: {said.strip()[-300:]}")


def number_of_parts() -> int:
    text = (FOLDER / "credit_totals.sv").read_text()
    return int(re.findall(r"PARTS = (\d+)", text)[0])


def documented() -> None:
    """Raises Failure where the table of planted faults tells of others than the proofs have to see."""
    text = (ROOT / "docs" / "credit_link.md").read_text()
    rows = re.findall(r"^\| (\d+) \|[^|]*\|([^|]*)\|([^|]*)\|$", text, re.MULTILINE)
    told = [(int(fault), "x" in totals, "x" in pair) for fault, totals, pair in rows]
    if told != [(fault, fault in OF_TOTALS, fault in OF_PAIR) for fault in FAULTS]:
        raise Failure("docs/credit_link.md has another table of planted faults")


def tasks(options: Options) -> Iterator[Task]:
    totals = "credit_totals"
    yield Task("planted faults in the docs", documented)
    yield Task("totals, first cycles", partial(proves, ["-t", 3], totals, SMALL))
    for part in range(number_of_parts()):
        yield Task(f"totals, part {part}", partial(proves, ["-i", "-t", 1], totals, SMALL | {"PART": part}))
    yield Task("totals, covers", partial(proves, ["-c", "-t", 10], totals, SMALL))
    for fault in OF_TOTALS:
        yield Task(f"totals, fault {fault}", partial(refutes, fault))
    yield Task(f"pair, {DEPTH} cycles", partial(pair, DEPTH, {}, True))
    yield Task(f"pair, {DEEP} cycles", partial(pair, DEEP, {}, True), is_full=True)
    for name, change in DISTURBED.items():
        yield Task(f"pair, {name}, {DEPTH} cycles", partial(pair, DEPTH, change, True), is_full=True)
    for name, change in SHOWN.items():
        yield Task(f"pair, {name}", partial(pair, 40, change, False))
    for fault, change in OF_PAIR.items():
        yield Task(f"pair, fault {fault}", partial(pair, DEPTH, {"FAULT": fault} | change, False))
