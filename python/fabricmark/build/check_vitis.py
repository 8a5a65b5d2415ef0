"""The rules of v++ (rules/vitis.toml): what is compiled and linked, and the linker's configuration."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabricmark.build.accl import BITS, Port
from fabricmark.build.check import Finding, Script, Word, ending, words
from fabricmark.build.rules import key

TOOL = "v++"
BEYOND_MHZ = 2000  # no kernel runs at more: a number above it was meant in Hz
LEAST_HZ = 1_000_000
NAME = r"[A-Za-z_]\w*"
UNITS = re.compile(rf"({NAME}):(\d+)(?::({NAME}(?:[.,]{NAME})*))?")
PLACE = re.compile(rf"({NAME})\.({NAME}):([A-Za-z]+)(?:\[(\d+)(?::(\d+))?\])?(?:\.\d+)?")
SLR = re.compile(rf"({NAME}):SLR(\d+)")
STREAM = re.compile(rf"({NAME})\.({NAME}):({NAME})\.({NAME})(?::\d+)?")
MADE_IN = re.compile(r"_(20\d\d)([1-9])[01]_\d")  # of a platform's name: the release that made it
FAMILY = re.compile(r"(?:^|/)xilinx_([a-z0-9-]+)_")
ONE_PORT, ALL_PORTS = "hls.max_memory_ports", "all"
SAID = "FM_ONE_PORT"  # to sources in HLS C++


@dataclass
class Call:
    """A call of v++, with what its configurations add. `values`: by the long name of an option."""

    letter: str
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    inputs: list[str] = field(default_factory=list)

    def one(self, name: str) -> str:
        """The last value of an option; "" for none."""
        found = self.values.get(name)
        return found[-1] if found else ""


@dataclass(frozen=True)
class Place:
    """A port of a compute unit and the banks that it reaches."""

    unit: str
    port: str
    kind: str
    banks: Sequence[int]


def findings(script: Script) -> Iterator[Finding]:
    """All that v++ would refuse, and what it would change."""
    calls = []
    for command in script.commands:
        if command[0] != TOOL:
            continue
        call = Call("c" if {"-c", "--compile"} & set(command) else "l")
        if bool({"-c", "--compile"} & set(command)) == bool({"-l", "--link"} & set(command)):
            yield script.finding("compile-or-link", " ".join(command[:4]))
        for word in words(script, command):
            if isinstance(word, Finding):
                yield word
            else:
                yield from _taken(script, call, word)
        yield from _of_one_call(script, call)
        calls.append(call)
    yield from _together(script, calls)
    for call in calls:
        if call.letter == "l":
            yield from _linked(script, call, calls)
    yield from _reserved(script)


def _taken(script: Script, call: Call, word: Word) -> Iterator[Finding]:
    if word.option is None:
        call.inputs.append(word.value)
        return
    if word.option.calls and call.letter not in word.option.calls:
        yield script.finding("option-call", word.option.name)
    call.values[word.option.meaning].append(word.value)
    if word.option.name == "--config":
        if word.value not in script.files:
            yield script.finding("config-not-written", word.value)
        else:
            yield from _configured(script, call, script.files[word.value])


def _configured(script: Script, call: Call, text: str) -> Iterator[Finding]:
    """A configuration: `KEY=VALUE` of a section is the option --SECTION.KEY."""
    section = ""
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
            continue
        name, equals, value = line.partition("=")
        full = f"--{section}.{name.strip()}" if section else f"--{name.strip()}"
        is_family = any(full.startswith(family) for family in script.rules.families)
        option = script.rules.options.get(full)
        if not equals or (option is None and not is_family):
            yield script.finding("key-unknown", f"{line} in [{section}]")
        elif option is not None:
            if not option.span.has(script.version):
                yield script.finding("option-version", full)
            yield from _taken(script, call, Word(option, value.strip()))


def _of_one_call(script: Script, call: Call) -> Iterator[Finding]:
    what = call.one("--kernel") or call.one("--output") or "v++"
    platform = call.one("--platform")
    if not platform:
        yield script.finding("platform-missing", what)
    else:
        yield from _platform(script, platform)
    target = call.one("--target")
    if target and target not in script.rules.targets:
        yield script.finding("target-unknown", target)
    if call.letter == "c" and not call.one("--kernel") and any(ending(one) == ".cl" for one in call.inputs):
        # Without a name all kernels of a file of OpenCL C are compiled; of C++ there is none without it.
        yield script.finding("kernel-missing", what)
    wanted = {"c": ".xo", "l": ".xclbin"}[call.letter]
    if call.one("--output") and ending(call.one("--output")) not in (wanted, ".xsa"):
        yield script.finding("output-ending", call.one("--output"))
    yield from _frequency(script, call)


def _platform(script: Script, platform: str) -> Iterator[Finding]:
    family, made = FAMILY.search(platform), MADE_IN.search(platform)
    board = script.board
    if board is not None and family and family[1] != board.family:
        yield script.finding("platform-of-another-board", f"{platform} for {board.id}")
    if made and key(f"{made[1]}.{made[2]}") > key(script.version):
        yield script.finding("platform-too-new", platform)


def _frequency(script: Script, call: Call) -> Iterator[Finding]:
    for value in call.values.get("--kernel_frequency", ()):
        for part in value.split("|"):  # by the index of a clock
            mhz = part.rpartition(":")[2]
            if not re.fullmatch(r"\d+(\.\d+)?", mhz) or not 0 < float(mhz) <= BEYOND_MHZ:
                yield script.finding("frequency-form", f"--kernel_frequency {value}")
    for name in ("--freqhz", "--clock.freqHz", "--clock.freqhz", "--hls.clock"):
        for value in call.values.get(name, ()):
            hertz = re.fullmatch(r"(\d+)(MHz)?", value.partition(":")[0], re.IGNORECASE)
            if hertz is None or (not hertz[2] and int(hertz[1]) < LEAST_HZ):
                yield script.finding("frequency-form", f"{name} {value}")


def _together(script: Script, calls: Sequence[Call]) -> Iterator[Finding]:
    for name, rule in (("--platform", "platforms-differ"), ("--target", "targets-differ")):
        found = dict.fromkeys(one.one(name) for one in calls if one.one(name))
        if len(found) > 1:
            yield script.finding(rule, " and ".join(found))
    made = {call.one("--output") for call in calls if call.letter == "c"}
    for call in calls:
        for file in call.inputs if call.letter == "l" and made else ():
            if ending(file) == ".xo" and file not in made and file not in script.objects.values():
                yield script.finding("object-not-made", file)


def _linked(script: Script, call: Call, calls: Sequence[Call]) -> Iterator[Finding]:
    units: dict[str, str] = {}
    compiled = {one.one("--kernel") for one in calls if one.letter == "c"} - {""}
    for value in call.values.get("--connectivity.nk", ()):
        found = UNITS.fullmatch(value)
        names = re.split("[.,]", found[3]) if found and found[3] else None
        if found is None or (names is not None and len(names) != int(found[2])):
            yield script.finding("nk-form", value)
            continue
        kernel, number = found[1], int(found[2])
        if kernel in units.values():
            yield script.finding("kernel-twice", value)
        is_there = kernel in compiled or script.objects.get(kernel) in call.inputs
        if compiled and not is_there:
            yield script.finding("kernel-not-compiled", kernel)
        most = script.rules.limit("units_of_a_kernel", script.version)
        if most is not None and number > most:
            yield script.finding("units-of-a-kernel", f"{value}, at most {most}")
        units |= dict.fromkeys(names or [f"{kernel}_{i + 1}" for i in range(number)], kernel)
    places: list[Place] = []
    for value in call.values.get("--connectivity.sp", ()):
        yield from _place(script, value, units, places)
    yield from _ports(script, units, places, _shared(calls))
    yield from _regions(script, call, units, places)
    yield from _streams(script, call, units)


def _place(script: Script, value: str, units: Mapping[str, str], places: list[Place]) -> Iterator[Finding]:
    found = PLACE.fullmatch(value)
    if found is None:
        yield script.finding("sp-form", value)
        return
    unit, port, kind, first, last = found.groups()
    if unit not in units:
        yield script.finding("unit-unknown", value)
    begin = int(first or 0)
    end = int(last) if last is not None else begin
    there = script.board.banks.get(kind, 0) if script.board else end + 1
    if kind == "HOST":
        there = 1
    if end < begin:
        yield script.finding("sp-form", value)
    elif end >= there:
        which = f"{script.board.id} has {there} of {kind}" if script.board else ""
        yield script.finding("bank-unknown", f"{value}, {which}")
    places.append(Place(unit, port, kind, range(begin, end + 1)))


def _shared(calls: Sequence[Call]) -> frozenset[str]:
    """Kernels whose arguments all have one port: those that are compiled without a port for each. In HLS C++
    the source says it, unless it is told otherwise."""
    return frozenset(
        one.one("--kernel") for one in calls
        if one.letter == "c" and one.one(f"--{ONE_PORT}") != ALL_PORTS and one.inputs
        and not (ending(one.inputs[0]) == ".cpp" and not any(SAID in word for word in one.values["--define"]))
    )  # fmt: skip


def _ports(
    script: Script, units: Mapping[str, str], places: Sequence[Place], shared: frozenset[str]
) -> Iterator[Finding]:
    twice = [one for one, count in Counter((p.unit, p.port) for p in places).items() if count > 1]
    for unit, port in twice:
        yield script.finding("port-twice", f"{unit}.{port}")
    ports: dict[tuple[str, str], Place] = {}
    for place in places:
        is_argument = not place.port.startswith("m_axi_")
        name = "" if is_argument and units.get(place.unit) in shared else place.port
        other = ports.setdefault((place.unit, name), place)
        if (other.kind, other.banks) != (place.kind, place.banks) and name == "":
            detail = f"{place.unit}.{other.port} and .{place.port} share a port"
            yield script.finding("shared-port", detail)
    masters = sum(place.kind == "HBM" for place in ports.values())
    most = script.rules.limit("hbm_masters", script.version)
    if most is not None and masters > most:
        yield script.finding("hbm-masters", f"{masters} ports, at most {most}")
    of_banks = Counter(
        f"{place.kind}[{bank}]" for place in ports.values() if place.kind != "HBM" for bank in place.banks
    )
    most = script.rules.limit("ports_of_a_bank", script.version)
    for bank, number in of_banks.items():
        if most is not None and number > most:
            yield script.finding("ports-of-a-bank", f"{number} at {bank}, at most {most}")


def _regions(
    script: Script, call: Call, units: Mapping[str, str], places: Sequence[Place]
) -> Iterator[Finding]:
    seen: set[str] = set()
    placed = {place.unit for place in places}
    for value in call.values.get("--connectivity.slr", ()):
        found = SLR.fullmatch(value)
        if found is None:
            yield script.finding("slr-form", value)
            continue
        unit, number = found[1], int(found[2])
        if unit not in units:
            yield script.finding("unit-unknown", value)
        if unit in seen:
            yield script.finding("slr-twice", unit)
        seen.add(unit)
        if script.board is not None and number >= script.board.slrs:
            yield script.finding("slr-unknown", f"{value}, {script.board.id} has {script.board.slrs}")
        known = script.kernels.get(units.get(unit, ""))
        if known is not None and known.buffers and unit not in placed:
            yield script.finding("slr-without-memory", unit)


def _streams(script: Script, call: Call, units: Mapping[str, str]) -> Iterator[Finding]:
    ends: Counter[str] = Counter()
    given = [*call.values.get("--connectivity.stream_connect", ()), *call.values.get("--connectivity.sc", ())]
    for value in given:
        found = STREAM.fullmatch(value)
        if found is None:
            yield script.finding("connection-form", value)
            continue
        for unit in (found[1], found[3]):
            if unit not in units:
                yield script.finding("unit-unknown", value)
        ends.update([f"{found[1]}.{found[2]}", f"{found[3]}.{found[4]}"])
        yield from _joined(script, value, [(units.get(found[i], ""), found[i + 1]) for i in (1, 3)])
    for name, number in ends.items():
        if number > 1:
            yield script.finding("connection-twice", name)
    yield from _open(script, units, ends)


def _joined(script: Script, value: str, ends: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    """Both ends are ports of streams, the first one writes, and they pass words of the same form."""
    found: list[Port | str] = []
    for (kernel, port), writes in zip(ends, (True, False), strict=True):
        known = script.ports.get(kernel)
        if known is None:
            continue
        if port not in known:
            yield script.finding("connection-port", f"{value}, {kernel} has no {port}")
            continue
        one = known[port]
        found.append(one)
        if isinstance(one, Port) and one.writes != writes:
            yield script.finding("connection-direction", f"{value}, {kernel}.{port}")
    bits = [BITS.get(one, 0) if isinstance(one, str) else one.bits for one in found]
    if len(found) < len(ends):
        return
    are_types = all(isinstance(one, str) for one in found)
    if (are_types and found[0] != found[1]) or (not are_types and all(bits) and bits[0] != bits[1]):
        yield script.finding("connection-words", value)
    elif not are_types and any(isinstance(one, str) and one not in BITS for one in found):
        yield script.finding("connection-words", f"{value}, whose words have neither keep nor last")


def _open(script: Script, units: Mapping[str, str], ends: Mapping[str, int]) -> Iterator[Finding]:
    """Streams of kernels of ours that nobody is at the other end of: such a kernel waits for ever."""
    for unit, kernel in units.items():
        for port, kind in script.ports.get(kernel, {}).items():
            if isinstance(kind, str) and f"{unit}.{port}" not in ends:
                yield script.finding("connection-open", f"{unit}.{port}")


def _reserved(script: Script) -> Iterator[Finding]:
    reserved = script.rules.reserved_names()
    for kernel, known in script.kernels.items():
        for name in known.buffers:
            if name.lower() in reserved:
                ending_ = script.rules.reserved["renamed_to"]
                yield script.finding("reserved-name", f"{kernel}.{name} becomes {name}{ending_}")
