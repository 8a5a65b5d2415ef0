"""The rules of icpx for FPGAs (rules/icpx.toml)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from fabricmark.build.check import Call, Finding, Script, call, ending

TOOL = "icpx"
DEFINITION = re.compile(r"[A-Za-z_]\w*(?:\([\w, ]*\))?(?:=.*)?", re.DOTALL)  # of a function, too
CLOCK = re.compile(r"\d+(?:\.\d+)?(?:[KMG]?Hz|[munp]?s)")
STAGES = ("-Xsemulator", "-Xssimulation", "-Xshardware")
TARGET = re.compile(r"[\w./$~-]+:\w+")  # a package, or its folder, and a variant
FAMILY = re.compile(r"\w+")
LOCATED = re.compile(r"fm::located<.*, (\d+)> ")
TASK = re.compile(r"single_task<(\w+)>")
SOURCES = (".cpp", ".cc", ".cxx", ".o", ".a")


def findings(script: Script) -> Iterator[Finding]:
    """All that icpx would refuse, and what it would choose itself."""
    for command in script.commands:
        if command[0] == TOOL:
            yield from _call(script, call(script, command))
    for text in script.files.values():
        yield from _wrapper(script, text)


def _call(script: Script, found: Call) -> Iterator[Finding]:
    yield from found.wrong
    values = {one.option.name: one.value for one in found.given if one.option}
    for value in found.values("-D"):
        if not DEFINITION.fullmatch(value):
            yield script.finding("definition-form", f"-D{value}")
    if "-fsycl" not in values:
        yield script.finding("sycl-missing", "no -fsycl")
    if "-fintelfpga" not in values:
        yield script.finding("fpga-missing", "no -fintelfpga")
    if not [one for one in found.inputs if ending(one) in SOURCES]:
        yield script.finding("source-missing", " ".join(found.inputs) or "none")
    yield from _stage(script, values)
    yield from _output(script, values)
    if "-Xsclock" in values and not CLOCK.fullmatch(values["-Xsclock"]):
        yield script.finding("clock-form", values["-Xsclock"])


def _stage(script: Script, values: Mapping[str, str]) -> Iterator[Finding]:
    stages = [one for one in STAGES if one in values]
    if len(stages) > 1:
        yield script.finding("stages", " and ".join(stages))
    is_early = values.get("-fsycl-link") == "early"
    if is_early and "-Xshardware" not in values:
        yield script.finding("link-early", "no -Xshardware")
    named = [one for one in ("-Xstarget", "-Xsboard") if one in values]
    if len(named) > 1:
        yield script.finding("target-twice", " and ".join(f"{one}={values[one]}" for one in named))
    if "-Xshardware" in values:
        yield from _board(script, named[0] if named else "", values)
    elif named and not stages:
        yield script.finding("target-emulated", f"{named[0]}={values[named[0]]}")


def _board(script: Script, option: str, values: Mapping[str, str]) -> Iterator[Finding]:
    if not option:
        rule = "target-default" if values.get("-fsycl-link") == "early" else "target-missing"
        yield script.finding(rule, script.board.id if script.board else "no board")
        return
    name = values[option]
    form = FAMILY if option == "-Xsboard" else TARGET
    if not form.fullmatch(name) and not FAMILY.fullmatch(name):
        yield script.finding("target-form", f"{option}={name}")
        return
    known = script.board
    if known is None:
        return
    platform = next((one for one in known.platforms if one.name == name), None)
    if platform is None:
        others = ", ".join(one.name for one in known.platforms)
        yield script.finding("target-unknown", f"{name} for {known.id}, which has {others}")
    elif script.uses_channels and not platform.io_channels:
        yield script.finding("io-pipes", name)


def _output(script: Script, values: Mapping[str, str]) -> Iterator[Finding]:
    """A library takes two options, and each kind of output has its ending; a program may have any."""
    file = values.get("-o", "")
    is_report = values.get("-fsycl-link") == "early"
    is_library = "-shared" in values or ending(file) == ".so"
    if is_library and not is_report and not {"-shared", "-fPIC"} <= values.keys():
        missing = [one for one in ("-shared", "-fPIC") if one not in values]
        yield script.finding("shared", f"no {' and no '.join(missing)}")
    wanted = ".a" if is_report else ".so" if is_library else ""
    if wanted and file and ending(file) != wanted:
        yield script.finding("output-ending", file)


def _wrapper(script: Script, text: str) -> Iterator[Finding]:
    """What the written source asks of the tool: memories by number, and kernels' names."""
    numbers = [int(one) for one in LOCATED.findall(text)]
    taken = script.rules.limit("located_arguments", script.version)
    if taken is not None and len(numbers) > taken:
        yield script.finding("location-version", f"fm::located, {len(numbers)} times")
    most = max(script.board.banks.values(), default=0) if script.board else 0
    for number in sorted({one for one in numbers if script.board and one >= most}):
        yield script.finding("memory-unknown", f"{number} on {script.board.id if script.board else ''}")
    for name, count in Counter(TASK.findall(text)).items():
        if count > 1:
            yield script.finding("kernel-twice", name)
