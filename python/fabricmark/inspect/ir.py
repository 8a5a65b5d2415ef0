"""LLVM 15's textual IR, as far as the analysis reads it: functions, blocks, instructions, types, places."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

NAME = r'(?:[%@](?:[\w.$-]+|"[^"]*"))'
_NAMES = re.compile(NAME)
_ASSIGNED = re.compile(rf"({NAME}) = (.*)")
_METADATA = re.compile(r"(?:, !\w+ !\d+)+$")
_PLACE = re.compile(r"!dbg !(\d+)")
_LOOP = re.compile(r"!llvm\.loop !(\d+)")
_WORDS = re.compile(r"(?:tail |musttail |notail )?([a-z_]+)")


@dataclass(frozen=True)
class Place:
    """A line of a source file."""

    file: str
    line: int


@dataclass
class Instruction:
    """`name`: of its value, "" for none; `text`: what follows the opcode; `place`: of metadata."""

    name: str
    opcode: str
    text: str
    operands: list[str]
    block: str = ""
    place: int | None = None
    loop: int | None = None


@dataclass
class Block:
    """A straight piece of code and the blocks that may follow."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)
    successors: list[str] = field(default_factory=list)


@dataclass
class Function:
    """A kernel. `arguments`: their texts by name; `defined`: the instruction of each value."""

    name: str
    arguments: dict[str, str]
    blocks: dict[str, Block]
    defined: dict[str, Instruction] = field(default_factory=dict)


@dataclass
class Module:
    """A kernel file's IR. `arrays`: types of local memory; those, `structs` and `metadata` by name."""

    functions: list[Function]
    arrays: dict[str, str]
    structs: dict[str, str]
    metadata: dict[int, str]

    def place(self, number: int | None) -> Place | None:
        """Where an instruction stands in the source."""
        text = self.metadata.get(number, "") if number is not None else ""
        line = re.search(r"line: (\d+)", text)
        if not text.startswith("!DILocation") or line is None:
            return None
        return Place(self._file(text), int(line.group(1)))

    def _file(self, text: str) -> str:
        for _ in range(len(self.metadata)):
            file = re.search(r"file: !(\d+)", text)
            if file:
                made = self.metadata.get(int(file.group(1)), "")
                name, folder = (re.search(rf'{key}: "([^"]*)"', made) for key in ("filename", "directory"))
                return os.path.join(folder.group(1) if folder else "", name.group(1)) if name else ""
            scope = re.search(r"scope: !(\d+)", text)
            if not scope:
                return ""
            text = self.metadata.get(int(scope.group(1)), "")
        return ""

    def loop_places(self, number: int | None) -> tuple[Place | None, Place | None]:
        """First and last line of a loop, by its metadata."""
        text = self.metadata.get(number, "") if number is not None else ""
        places = [self.place(int(one)) for one in re.findall(r"!(\d+)", text)[1:]]
        known = [one for one in places if one is not None]
        return (known[0], known[-1]) if known else (None, None)


def parse(text: str) -> Module:
    """The module that `text` prints."""
    module = Module([], {}, {}, {})
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("define"):
            function = _function(line, lines)
            module.functions += [function] if " spir_kernel " in line else []  # others are inlined
        elif line.startswith("%"):
            name, _, body = line.partition(" = type ")
            module.structs[name] = body
        elif line.startswith("@"):
            found = re.match(rf"({NAME}) = .*?\b(?:global|constant) (.*)", line)
            if found:
                module.arrays[found.group(1)] = leading_type(found.group(2))
        elif line.startswith("!"):
            found = re.match(r"!(\d+) = (?:distinct )?(.*)", line)
            if found:
                module.metadata[int(found.group(1))] = found.group(2)
    return module


def _function(header: str, lines) -> Function:
    name = re.search(rf"({NAME})\(", header)
    inside = header[name.end() : header.rindex(")")] if name else ""
    inside = inside[: _closing(header[name.end() - 1 :]) - 1] if name else ""
    arguments = {_NAMES.findall(one)[-1]: one for one in split(inside) if _NAMES.search(one)}
    function = Function(name.group(1)[1:] if name else "", arguments, {})
    block = Block("%entry")
    pending = ""
    for line in lines:
        if line == "}":
            break
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        label = re.match(r'([\w.$-]+|"[^"]*"):', line)
        if label:
            block = Block("%" + label.group(1))
            function.blocks[block.name] = block
            continue
        if not function.blocks:
            function.blocks[block.name] = block
        pending = f"{pending} {line.strip()}" if pending else line.strip()
        if pending.startswith("switch") and "]" not in pending:
            continue
        _add(function, block, pending)
        pending = ""
    return function


def _add(function: Function, block: Block, line: str) -> None:
    place, loop = _PLACE.search(line), _LOOP.search(line)
    plain = _METADATA.sub("", line)
    assigned = _ASSIGNED.match(plain)
    name, body = assigned.groups() if assigned else ("", plain)
    word = _WORDS.match(body)
    opcode = word.group(1) if word else ""
    rest = body[word.end() :].strip() if word else body
    made = Instruction(
        name, opcode, rest, _NAMES.findall(rest), block.name,
        int(place.group(1)) if place else None, int(loop.group(1)) if loop else None,
    )  # fmt: skip
    block.instructions.append(made)
    if name:
        function.defined[name] = made
    if opcode in ("br", "switch"):
        block.successors += re.findall(rf"label ({NAME})", rest)


def _closing(text: str) -> int:
    """Where the bracket that `text` begins with ends."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}>")
        if depth == 0:
            return place
    return len(text)


def split(text: str) -> list[str]:
    """The parts of a list with commas, which may hold such lists themselves."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def leading_type(text: str) -> str:
    """The type that `text` begins with."""
    if text[:1] in "[<{":
        return text[: _closing(text) + 1]
    if text.startswith("ptr addrspace("):
        return text[: text.index(")") + 1]
    return re.split(r"[ ,)]", text, maxsplit=1)[0]


SCALARS = {"half": 2, "float": 4, "double": 8, "ptr": 8}


@dataclass(frozen=True)
class Layout:
    """How types lie in memory."""

    structs: Mapping[str, str]

    def size(self, kind: str) -> int:
        """Bytes from one element of an array of it to the next."""
        return self._of(kind)[0]

    def _of(self, kind: str) -> tuple[int, int]:
        """Bytes and alignment."""
        if kind.startswith("["):
            count, element = array_of(kind)
            size, alignment = self._of(element)
            return count * size, alignment
        if kind.startswith("<"):
            count, element = vector_of(kind)
            lanes = 1 << (count - 1).bit_length()
            return (lanes * self.size(element),) * 2
        if kind.startswith(("%", "{")):
            _, end, alignment = self.offsets(kind)
            return -(-end // alignment) * alignment, alignment
        if kind.startswith("i"):
            size = -(-int(kind[1:]) // 8)
            return size, size
        return (SCALARS["ptr" if kind.startswith("ptr") else kind],) * 2

    def members(self, kind: str) -> list[str]:
        """Types of a struct's members."""
        body = self.structs[kind] if kind.startswith("%") else kind
        return split(body.strip("<>")[1:-1])

    def leaves(self, kind: str) -> tuple[int, ...]:
        """Bytes before each member of a struct that is none itself, of those within it, too."""
        if not kind.startswith(("%", "{")):
            return (0,)
        starts = zip(self.offsets(kind)[0], self.members(kind), strict=True)
        return tuple(start + one for start, member in starts for one in self.leaves(member))

    def offsets(self, kind: str) -> tuple[list[int], int, int]:
        """Bytes before each member of a struct, and up to the end of the last one; alignment."""
        found, end, alignment = [], 0, 1
        for size, own in map(self._of, self.members(kind)):
            found.append(-(-end // own) * own)
            end, alignment = found[-1] + size, max(alignment, own)
        return found, end, alignment


def array_of(kind: str) -> tuple[int, str]:
    """Elements of an array type, and their type."""
    count, _, element = kind[1:-1].partition(" x ")
    return int(count), element


def vector_of(kind: str) -> tuple[int, str]:
    """Lanes of a vector type, 1 for a scalar, and their type."""
    return array_of(kind) if kind.startswith("<") else (1, kind)
