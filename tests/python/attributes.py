"""What a vendor's compiler sees of a kernel: attributes of its arrays, and what stands before its loops."""

import os
import re
import subprocess
from dataclasses import dataclass
from math import prod
from pathlib import Path

COMPILER = os.environ.get("CXX", "g++")
VENDORS = {"aoc": ["-DINTELFPGA_CL"], "v++": ["-D__xilinx__"], "other": []}
# What each one knows of what the dialect header may write, beside OpenCL's own.
LOOP_WORDS = {
    "aoc": {"unroll", "ivdep", "loop_coalesce", "nofusion", "disable_loop_pipelining"},
    "v++": {"opencl_unroll_hint", "xcl_pipeline_loop"},
    "other": set(),
}
ARRAY_WORDS = {
    "aoc": {"register", "numbanks", "bankwidth", "aligned"},
    "v++": {"xcl_array_partition", "aligned"},
    "other": {"aligned"},
}
BYTES = {"uchar": 1, "half": 2, "int": 4, "uint": 4, "float": 4, "ulong": 8, "long": 8, "double": 8}

PARENTHESES = r"\([^()]*\)"
for _ in range(5):  # within each other
    PARENTHESES = rf"\((?:[^()]|{PARENTHESES})*\)"
ATTRIBUTE = rf"__attribute__\s*{PARENTHESES}"
MARK = rf"(?:^[ \t]*\#pragma[^\n]*$|{ATTRIBUTE})"
LOOP = re.compile(rf"((?:{MARK}\s*)*)\b(for|while)\s*\(([^;)]*)", re.MULTILINE)
ARRAY = re.compile(
    rf"\b(?!return\b)([a-z]\w*)\s+(\w+)((?:\[[^\]]+\])+)((?:\s*{ATTRIBUTE})*)\s*(?:=\s*\{{[^}}]*\}}\s*)?;"
)
STRAY = re.compile(rf"{MARK}\s*(?!\s*(?:{MARK}|for\b|while\b|;|__kernel\b))(\S[^\n]*)", re.MULTILINE)
KERNEL = re.compile(r"__kernel void (\w+)\(")


@dataclass(frozen=True)
class Array:
    kernel: str
    type: str
    name: str
    dimensions: tuple[int, ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Loop:
    """`index`: what its head declares, as "row"; `marks` in their order."""

    kernel: str
    index: str
    marks: tuple[str, ...]


def beside(file):
    """Where else includes are looked up: lbm/../common/stencil/base.cl includes what lbm has."""
    parts = Path(file).parts
    return ["-I", str(Path(*parts[: parts.index("..")]))] if ".." in parts else []


def preprocessed(kernels, file, definitions, vendor):
    """The text that the compiler behind the preprocessor sees. The folder `kernels` may be a changed copy."""
    given = [f"-D{name}={value}" for name, value in definitions.items() if not name.startswith("-")]
    command = [COMPILER, "-E", "-P", "-x", "c", "-I", ".", *beside(file), *VENDORS[vendor], *given, file]
    done = subprocess.run(command, cwd=kernels, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def number(text):
    """The value of an expression of whole numbers, as C has it; None for anything else."""
    if not re.fullmatch(r"[\d\s()+*/%<>u-]+", text):
        return None
    return eval(re.sub(r"(\d)u\b", r"\1", text).replace("/", "//"))


def _words(text):
    """Attributes or a pragma, one by one, with their expressions as numbers."""
    found = []
    for pragma, attribute in re.findall(rf"\#pragma ([^\n]*)|__attribute__\s*({PARENTHESES})", text):
        parts = [pragma.strip()] if pragma else _split(attribute[1:-1].strip()[1:-1])
        found += [re.sub(r"\(\s*([^()]*(?:\([^()]*\)[^()]*)*)\)", _numbers, part) for part in parts]
    return tuple(found)


def _split(text):
    return [part.strip() for part in re.findall(rf"\w+\s*(?:{PARENTHESES})?", text)]


def _numbers(match):
    parts = [part.strip() for part in match[1].split(",")]
    return f"({', '.join(part if number(part) is None else str(number(part)) for part in parts)})"


def _places(text):
    """(position, name) of the kernels; what stands before the first one is of functions that they call."""
    return [(0, ""), *((match.start(), match[1]) for match in KERNEL.finditer(text))]


def _kernel_at(places, position):
    return [name for start, name in places if start <= position][-1]


def arrays(text):
    places = _places(text)
    return [
        Array(_kernel_at(places, match.start()), match[1], match[2],
              tuple(number(size) or 0 for size in re.findall(r"\[([^\]]+)\]", match[3])), _words(match[4]))
        for match in ARRAY.finditer(text)
    ]  # fmt: skip


def loops(text):
    places = _places(text)
    return [
        Loop(
            _kernel_at(places, match.start(2)), (match[3].split("=")[0].split() or [""])[-1], _words(match[1])
        )
        for match in LOOP.finditer(text)
    ]


def faults(text, vendor):
    """What cannot be right, a line each: words that the vendor has not, marks that stand at nothing, names
    that are no array's, dimensions that there are not, banks that do not fit."""
    found = [f"left over: {name}" for name in sorted(set(re.findall(r"\bFM_\w+", text)))]
    names = {one.name for one in arrays(text)} | set(re.findall(r"restrict (\w+)", text))
    for match in STRAY.finditer(re.sub(ARRAY, "an_array;", text)):
        if not re.match(r"(static|inline|typedef|channel|\})", match[1]) and "EXTENSION" not in match[0]:
            found.append(f"at nothing: {match[0].strip()}")
    for loop in loops(text):
        for mark in loop.marks:
            if re.match(r"\w+", mark)[0] not in LOOP_WORDS[vendor]:
                found.append(f"{loop.kernel}, loop over {loop.index}: {mark} is nothing of {vendor}'s")
            for name in re.findall(r"array\((\w+)\)", mark):
                found += [] if name in names else [f"{loop.kernel}: ivdep of {name}, which is no array"]
    for array in arrays(text):
        found += [f"{array.kernel}, {array.name}: {what}" for what in _array_faults(array, vendor)]
    return found


def _array_faults(array, vendor):
    values = {}
    for attribute in array.attributes:
        word, rest = re.fullmatch(r"(\w+)(.*)", attribute).groups()
        arguments = [part.strip() for part in rest.strip("() ").split(",")]
        if word not in ARRAY_WORDS[vendor]:
            yield f"{attribute} is nothing of {vendor}'s"
        elif word == "xcl_array_partition":
            yield from _partition_faults(array, attribute, arguments)
        elif rest:
            values[word] = number(arguments[0])
            if not values[word] or values[word] & (values[word] - 1):
                yield f"{attribute} is no power of two"
    if values.get("numbanks") and values.get("bankwidth"):
        width = BYTES.get(array.type, values["bankwidth"])
        if values["bankwidth"] % width:
            yield f"banks of {values['bankwidth']} bytes for elements of {width}"
        elif values["numbanks"] * values["bankwidth"] > prod(array.dimensions) * width:
            yield f"{values['numbanks']} banks for {prod(array.dimensions)} elements"


def _partition_faults(array, attribute, arguments):
    dimension = number(arguments[-1])
    if dimension is None or dimension > len(array.dimensions):
        yield f"{attribute} of an array with {len(array.dimensions)} dimensions"
    elif arguments[0] == "cyclic" and not 1 < (number(arguments[1]) or 0) <= array.dimensions[dimension - 1]:
        yield f"{attribute} of {array.dimensions[dimension - 1]} elements"
    elif arguments[0] not in ("complete", "cyclic"):
        yield f"{attribute} is of no known kind"
