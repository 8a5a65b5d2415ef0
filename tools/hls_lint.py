#!/usr/bin/env python3
"""Refuses in kernels of HLS C++ what Vitis HLS does not synthesise, though it is C++ that a compiler takes.

Clang parses the sources against tests/hls_stub, with `__SYNTHESIS__` as Vitis does, and looks for the
patterns below in its syntax tree, where templates are instantiated. Without files: all of them.
Exit codes: 0 nothing found, 1 findings, 2 bad use, 3 no clang-tidy that can do it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE = "base.cpp"  # of a kernel that is OpenCL C, too: compiled with the parameters of its kernel.toml
PLACES = (
    f"kernels/*/{BASE}",
    "kernels/*/dataflow.cpp",
    "kernels/common/*/dataflow.cpp",
    "docs/examples/*/dataflow.cpp",
    "tests/kernels/*/dataflow.cpp",
)
SUPPRESSION = "NOLINT"  # a comment with it keeps clang-tidy silent

STD = "::std::"
ARRAY = "declare an array of fixed size"
LOOP = "write a loop with a stack of fixed size"
CALL = "call the function by its name, or take it as a template parameter"
RESULT = "return a value that says what went wrong"

HEAP_FUNCTIONS = ["malloc", "calloc", "realloc", "free", "alloca", "aligned_alloc", "posix_memalign"]
HEAP_FUNCTIONS += ["memalign", "reallocarray", "valloc", "strdup", "strndup"]
HEAP_FUNCTIONS += [f"__builtin_{name}" for name in HEAP_FUNCTIONS]
HEAP_OPERATORS = ["operator new", "operator new[]", "operator delete", "operator delete[]"]
# Of std, what allocates without a std::allocator among its template arguments.
HEAP_TYPES = ["function", "any", "unique_ptr", "shared_ptr", "weak_ptr", "valarray", "thread"]


def names(words: list[str], scope: str = "::") -> str:
    return "hasAnyName(" + ", ".join(f'"{scope}{word}"' for word in words) + ")"


def of_class(matcher: str) -> str:
    return f"hasUnqualifiedDesugaredType(recordType(hasDeclaration(cxxRecordDecl({matcher}))))"


def allocates() -> str:
    """A class of std with an allocator, as containers and strings have, or one of HEAP_TYPES."""
    allocator = of_class('hasName("::std::allocator")')
    container = f"classTemplateSpecializationDecl(hasAnyTemplateArgument(refersToType({allocator})))"
    return f"qualType({of_class(f'anyOf({container}, {names(HEAP_TYPES, STD)})')})"


def through_pointer() -> str:
    """A callee that is not known by its name: p(), (*p)(), r() of a reference, (object.*p)()."""
    function = "ignoringParens(functionType())"
    pointer = f"hasType(hasUnqualifiedDesugaredType(pointerType(pointee({function}))))"
    reference = f"declRefExpr(to(varDecl(hasType(references(qualType({function}))))))"
    followed = f'hasOperatorName("*"), hasUnaryOperand(ignoringParenImpCasts(expr({pointer})))'
    member = 'binaryOperator(hasAnyOperatorName(".*", "->*"))'
    # A function that is a template argument is known once the template is instantiated.
    known = 'anyOf(unaryOperator(hasOperatorName("&")), declRefExpr(to(nonTypeTemplateParmDecl())))'
    callee = f"anyOf({pointer}, {reference}, unaryOperator({followed}), {member}), unless({known})"
    return f"callee(expr(ignoringParenImpCasts(expr({callee}))))"


# Name of the check: what clang's syntax tree has there, what it is called, and what to write instead.
CHECKS = {
    "new": ("cxxNewExpr()", "heap: new", ARRAY),
    "delete": ("cxxDeleteExpr()", "heap: delete", ARRAY),
    "heap-function": (
        f"declRefExpr(to(functionDecl({names(HEAP_FUNCTIONS + HEAP_OPERATORS)})))",
        "heap: a function that allocates or frees",
        ARRAY,
    ),
    "heap-type": (f"typeLoc(loc({allocates()}))", "heap: a type that allocates", ARRAY),
    "heap-value": (
        f"expr(anyOf(callExpr(hasType({allocates()})), cxxConstructExpr(hasType({allocates()}))))",
        "heap: a type that allocates",
        ARRAY,
    ),
    "array-size": ("varDecl(hasType(variableArrayType()))", "array of variable size", ARRAY),
    "virtual": (
        "cxxMethodDecl(isVirtual(), unless(isImplicit()))",
        "virtual function",
        "choose by a template parameter or a switch",
    ),
    "virtual-base": (
        "cxxRecordDecl(hasDirectBase(isVirtual()))",
        "virtual base class",
        "derive from it without virtual",
    ),
    "throw": ("cxxThrowExpr()", "exception: throw", RESULT),
    "try": ("cxxTryStmt()", "exception: try", RESULT),
    "function-pointer": (f"callExpr({through_pointer()})", "call through a function pointer", CALL),
}
RECURSION = "misc-no-recursion"
DIAGNOSTIC = re.compile(r"^(.+?):(\d+):\d+: (?:warning|error|fatal error): (.*) \[([\w.,-]+)\]$")


class Problem(Exception):
    """What keeps the lint from running: one line with its remedy, and the exit code."""

    def __init__(self, text: str, code: int):
        super().__init__(text)
        self.code = code


def configuration() -> str:
    """What clang-tidy looks for; JSON is YAML too."""
    checks = [
        {
            "Name": name,
            "Query": f'match {matcher}.bind("found")',
            "Diagnostic": [{"BindName": "found", "Message": f"{what}; {remedy}", "Level": "Warning"}],
        }
        for name, (matcher, what, remedy) in CHECKS.items()
    ]
    return json.dumps({"Checks": f"-*,{RECURSION},custom-*", "CustomChecks": checks})


def run_tidy(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [tool, "--experimental-custom-checks", f"--config={configuration()}", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=ROOT)
    except OSError as error:
        raise Problem(f"{tool}: {error.strerror}; make setup-also-dev installs clang-tidy", 3) from error


def default_tidy() -> str:
    """clang-tidy beside this Python, else in PATH."""
    beside = Path(sys.executable).with_name("clang-tidy")
    return str(beside) if beside.exists() else shutil.which("clang-tidy") or "clang-tidy"


def check_tidy(tool: str) -> None:
    """Raises Problem where the tool lacks a check: it would find nothing and say nothing."""
    listed = run_tidy(tool, "--list-checks").stdout.split()
    missing = {RECURSION, *(f"custom-{name}" for name in CHECKS)} - set(listed)
    if missing:
        text = (
            f"{tool} does not know {', '.join(sorted(missing))}; make setup-also-dev installs one that does"
        )
        raise Problem(text, 3)


def shown(file: str) -> str:
    """The path as a reader of this checkout names it."""
    path = Path(os.path.normpath(ROOT / file))
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def explained(text: str, checks: str) -> str:
    if RECURSION in checks:
        function = re.sub(r"^.*?'(.*?)(<.*)?'.*$", r"\1", text)  # without template arguments
        return f"recursion: {function} comes to call itself; {LOOP}"
    if "clang-diagnostic" in checks:
        return f"does not compile: {text}; see kernels/common/dataflow.hpp for what there is"
    return text


def suppressions(source: Path) -> list[tuple[str, int, str]]:
    """Comments, in the source and the headers beside it, that would hide a finding."""
    beside = [file for file in sorted(source.parent.iterdir()) if file.suffix in {".h", ".hpp"}]
    return [
        (shown(str(file)), number, f"{SUPPRESSION}: hides what is refused; write what is not refused")
        for file in [source, *beside]
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if SUPPRESSION in line
    ]


def definitions(source: Path) -> list[str]:
    """The parameters of the build with their values for FPGAs, where the source is a base kernel's."""
    file = source.parent / "kernel.toml"
    if source.name != BASE or not file.is_file():
        return []
    found = []
    for name, said in tomllib.loads(file.read_text(encoding="utf-8"))["parameters"].items():
        value = said["default"]
        value = value.get("fpga") if isinstance(value, dict) else value
        if said["stage"] == "build" and str(value).isalnum():  # others are formulas
            found.append(f"-D{name.upper()}={value}")
    return found


def lint(sources: list[Path], tool: str) -> list[str]:
    """The findings in the sources and in what they include of this project, as lines `file:line: text`."""
    check_tidy(tool)
    language = ["-x", "c++", "-std=c++14", "-D__SYNTHESIS__"]
    # Kernels that several benchmarks share include the cell of each: here that of one of them.
    cells = sorted((ROOT / "kernels").glob("*/cell.h"))[:1]
    places = [
        word
        for folder in (ROOT / "kernels", *(cell.parent for cell in cells))
        for word in ("-I", str(folder))
    ]
    places += ["-isystem", str(ROOT / "tests" / "hls_stub")]
    found = [part for source in sources for part in suppressions(source.resolve())]
    groups: dict[tuple[str, ...], list[str]] = {}
    for source in sources:
        groups.setdefault(tuple(definitions(source)), []).append(str(source.resolve()))
    words = [
        [tool, "--quiet", "--header-filter=.*", *files, "--", *language, *places, *given]
        for given, files in groups.items()
    ]
    for done in [run_tidy(*one) for one in words]:
        found += findings_of(done, tool)
    return [f"{file}:{number}: {text}" for file, number, text in sorted(set(found))]


def findings_of(done: subprocess.CompletedProcess[str], tool: str) -> list[tuple[str, int, str]]:
    """What clang-tidy said. Raises Problem where it failed and said nothing that is known."""
    found = []
    for line in done.stdout.splitlines():
        if parts := DIAGNOSTIC.match(line):
            file, number, text, checks = parts.groups()
            found.append((shown(file), int(number), explained(text, checks)))
    if done.returncode and not found:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise Problem(
            f"{tool} ended with {done.returncode}: {lines[-1] if lines else 'no word'}; run it alone", 3
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="hls_lint.py", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "files", nargs="*", type=Path, help="sources; none: all kernels of HLS C++ in the checkout"
    )
    parser.add_argument("--clang-tidy", default=default_tidy(), help="default: %(default)s")
    options = parser.parse_args(arguments)
    files = options.files or sorted(file for place in PLACES for file in ROOT.glob(place))
    try:
        for file in files:
            if not file.is_file():
                raise Problem(f"{file}: no such file; name the sources of dataflow kernels", 2)
        findings = lint(files, options.clang_tidy) if files else []
    except Problem as problem:
        print(f"hls_lint: error: {problem}", file=sys.stderr)
        return problem.code
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
