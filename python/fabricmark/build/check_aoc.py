"""The rules of aoc (rules/aoc.toml)."""

import re
from collections.abc import Iterator
from pathlib import Path

from fabricmark.build.check import Call, Finding, Script, call, ending

TOOL = "aoc"
DEFINITION = re.compile(r"[A-Za-z_]\w*(?:=.*)?", re.DOTALL)
LOCATION = re.compile(r'FM_LOCATION_\w+="([A-Za-z]+)(\d+)"')
SOURCES = (".cl", ".aoco", ".aocr")
STAGES = {"-march": ".aocx", "-rtl": ".aocr", "-c": ".aoco"}


def findings(script: Script) -> Iterator[Finding]:
    """All that aoc would refuse, and what it would choose itself."""
    for command in script.commands:
        if command[0] == TOOL:
            yield from _call(script, call(script, command))


def _call(script: Script, found: Call) -> Iterator[Finding]:
    yield from found.wrong
    values = {one.option.meaning: one.value for one in found.given if one.option}
    files = [one for one in found.inputs if ending(one) in SOURCES]
    if not files:
        yield script.finding("source-missing", " ".join(found.inputs) or "none")
    for file in files:
        if Path(file).stem.lower() in script.rules.reserved["sources"]:
            yield script.finding("source-name", file)
    for value in found.values("-D"):
        yield from _definition(script, value)
    stages = [stage for stage in STAGES if stage in values]
    if len(stages) > 1:
        yield script.finding("stages", " and ".join(stages))
    wanted = STAGES[stages[0]] if stages else ".aocx"
    if values.get("-o") and ending(values["-o"]) not in (wanted, ""):
        yield script.finding("output-ending", values["-o"])
    if "-march" not in values:
        yield from _board(script, values.get("-board", ""))


def _board(script: Script, name: str) -> Iterator[Finding]:
    known = script.board
    if not name:
        yield script.finding("board-missing", known.id if known else "no board")
        return
    if known is None:
        return
    platform = next((one for one in known.platforms if one.name == name), None)
    if platform is None:
        others = ", ".join(one.name for one in known.platforms)
        yield script.finding("board-unknown", f"{name} for {known.id}, which has {others}")
    elif script.uses_channels and not platform.io_channels:
        yield script.finding("io-channels", name)


def _definition(script: Script, value: str) -> Iterator[Finding]:
    if not DEFINITION.fullmatch(value):
        yield script.finding("definition-form", f"-D{value}")
    place = LOCATION.fullmatch(value)
    if place and script.board and int(place[2]) >= script.board.banks.get(place[1], 0):
        yield script.finding("memory-unknown", f"{place[1]}{place[2]} on {script.board.id}")
