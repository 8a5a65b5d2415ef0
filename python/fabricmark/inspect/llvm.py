"""From OpenCL C or HLS C++ to simplified LLVM IR: clang 15 as a program, and the passes of its LLVM.

The kernel is compiled as a vendor's tool sees it: with its macros, inlined, with the marked loops unrolled,
and with arrays that only constants index turned into registers. Nothing is vectorised and no loop is changed
further.
"""

import ctypes
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import BAD_USE, ENVIRONMENT, FabricmarkError
from fabricmark.build.steps import CLANG
from fabricmark.inspect import hls

COMPILER = CLANG
PACKAGE = CLANG
LIBRARY = "libLLVM-15.so.1"  # the compiler needs it, so that its package brings it
LONGEST_SECONDS = 120
# A loop that is to be unrolled more often than this moves a window on: left as it is, and known by its form.
MOST_COPIES = 200
# In whose words a loop that shall be a pipeline is marked; Intel's tool makes one of every loop.
MARKING_MACRO, MARK = "__xilinx__", "xcl_pipeline_loop"
DEEPEST = 5  # parentheses within a number of copies
TARGET = "spir64-unknown-unknown"
# What clang does not know of the vendors' attributes becomes an annotation, which stands in the IR.
KEPT_ATTRIBUTES = (
    "xcl_array_partition", "numbanks", "bankwidth", "bank_bits", "max_replicates", "private_copies",
)  # fmt: skip
KEPT_WORDS = ("register", "doublepump", "singlepump")
LANGUAGE = ("-x", "cl", "-cl-std=CL1.2", "-target", TARGET, "-Wno-everything")
HLS_SUFFIX = ".cpp"
HLS_LANGUAGE = (
    "-x", "c++", "-std=c++14", "-D__SYNTHESIS__", "-target", TARGET, "-fno-exceptions", "-Wno-everything",
)  # fmt: skip
TO_IR = (
    "-S", "-emit-llvm", "-O2", "-Xclang", "-disable-llvm-passes", "-gline-tables-only", "-Xclang",
    "-opaque-pointers", "-fno-discard-value-names", "-ffp-contract=off", "-o", "-", "-",
)  # fmt: skip
PASSES = (
    "always-inline,function(sroa,early-cse,simplifycfg,instcombine,simplifycfg,"
    "loop-simplify,lcssa,loop(loop-rotate,indvars),simplifycfg,instcombine,"
    "loop-unroll<O2;no-peeling;no-runtime;no-upperbound>,"
    "sroa,early-cse<memssa>,instcombine,simplifycfg,sroa,"
    "loop-unroll<O2;no-peeling;no-runtime;no-upperbound>,sroa,"
    "gvn<no-pre;no-load-pre;no-split-backedge-load-pre>,loop-mssa(licm),"
    "early-cse<memssa>,instcombine,simplifycfg<hoist-common-insts>,early-cse,dse,adce),globaldce"
)
PASS_OPTIONS = ("-unroll-threshold=1", "-unroll-partial-threshold=1", "-pragma-unroll-threshold=1000000")


@dataclass(frozen=True)
class Pragma:
    """`#pragma ivdep` before a loop: whose dependences it takes away, "" for all, up to which distance."""

    file: str
    line: int
    array: str
    distance: int | None


@dataclass(frozen=True)
class Compiled:
    """A kernel file: its IR, and what the IR cannot hold.

    That is pragmas, annotations of arrays by name, and where loops shall be pipelines: file, line of the mark
    and line of the loop.
    """

    text: str
    pragmas: tuple[Pragma, ...]
    annotations: Mapping[str, tuple[str, ...]]
    marks: tuple[tuple[str, int, int], ...] = ()

    def is_marked(self, file: str, line: int) -> bool:
        """Whether the source asks for a pipeline of the loop that begins here."""
        return any(file == marked and first <= line <= last for marked, first, last in self.marks)


def is_present() -> bool:
    """Whether compiler and library are there."""
    try:
        return shutil.which(COMPILER) is not None and _library() is not None
    except OSError:
        return False


def ensure() -> None:
    """Install the compiler where it is missing: by apt-get when root. Raises FabricmarkError (3)."""
    if is_present():
        return
    remedy = f"sudo apt-get install {PACKAGE}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise FabricmarkError(f"inspect needs {COMPILER}, which is not installed", remedy, ENVIRONMENT)
    print(f"installing {PACKAGE} by apt-get, once", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "env": environment, "check": False}
    options = ["-qq", "-o", "DPkg::Lock::Timeout=120"]
    subprocess.run(["apt-get", "update", *options], **quiet)
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *options, PACKAGE], **quiet)
    if not is_present():
        raise FabricmarkError(f"apt-get could not install {PACKAGE}", remedy, ENVIRONMENT)


def compile_kernel(
    source: Path, vendor_macro: str, definitions: Mapping[str, str], includes: Path | None = None
) -> Compiled:
    """The kernels of a file, each as one function. `definitions`: of the build, as a run has them.
    `vendor_macro`: of what the vendor's tool is known by; HLS C++ is AMD's alone.

    Raises FabricmarkError: 2 where the source is refused, 3 where clang is missing.
    """
    ensure()
    given = [f"-D{name}={value}" for name, value in sorted(definitions.items())]
    kept = [f"-D{name}(...)=annotate(FM_INSPECT_TEXT({name} __VA_ARGS__))" for name in KEPT_ATTRIBUTES]
    kept += [f'-D{name}=annotate("{name}")' for name in KEPT_WORDS]
    spelled = ["-DFM_INSPECT_TEXT_EXPANDED(...)=#__VA_ARGS__",
               "-DFM_INSPECT_TEXT(...)=FM_INSPECT_TEXT_EXPANDED(__VA_ARGS__)"]  # fmt: skip
    folders = ["-I", str(includes)] if includes else paths.include_options(source)
    if source.suffix == HLS_SUFFIX:
        return _compile_hls(source, [*folders, *given])
    preprocess = ["-E", *LANGUAGE, *folders, str(source), *spelled, *kept, *given]
    expanded = _clang([*preprocess, f"-D{vendor_macro}=1"], source)
    is_marking = vendor_macro == MARKING_MACRO
    marking = expanded if is_marking else _clang([*preprocess, f"-D{MARKING_MACRO}=1"], source)
    text = without_long_unrolling(expanded)
    made = _clang([*LANGUAGE, *TO_IR], source, text)
    annotations, plain = _without_annotations(made)
    optimized = _optimized(_all_inlined(plain))
    return Compiled(optimized, tuple(_pragmas(expanded)), annotations, tuple(_marks(marking)))


def _compile_hls(source: Path, options: list[str]) -> Compiled:
    """The same of HLS C++, in which pragmas say what attributes say in OpenCL C."""
    expanded = _clang(["-E", *HLS_LANGUAGE, *options, str(source)], source)
    found = hls.directives(expanded)
    made = _clang([*HLS_LANGUAGE, *TO_IR], source, hls.unrolled(expanded, found, number, MOST_COPIES))
    # What stands behind the arguments of C++'s functions and not of C's.
    made = re.sub(r"^(define .*?) unnamed_addr\b", r"\1", made, flags=re.M)
    made = re.sub(r"^(define .*?) comdat(?:\(\$[^)]*\))?", r"\1", made, flags=re.M)
    kernels = re.sub(
        r"^define dso_local spir_func void", "define dso_local spir_kernel void", made, flags=re.M
    )
    places = {one.loop: _place(expanded, one.loop) for one in found if one.loop is not None}
    marks = [(*places[one.loop], places[one.loop][1]) for one in found if one.word == "pipeline" and one.loop]
    pragmas = [
        Pragma(*places[one.loop], one.settings.get("variable", ""), None)
        for one in found
        if one.word == "dependence" and one.loop is not None and "false" in one.settings.values()
    ]
    passes = f"{PASSES},function(memcpyopt,sroa,instcombine)"  # structs that are copied as a whole
    return Compiled(
        _optimized(_all_inlined(kernels), passes), tuple(pragmas), hls.partitions(found), tuple(marks)
    )


def _place(expanded: str, place: int) -> tuple[str, int]:
    """The file and line that a place of preprocessed source comes from."""
    *_, (file, line, _) = _lines(expanded[: place + 1])
    return file, line


def without_long_unrolling(text: str) -> str:
    """Preprocessed source without the unrolling of windows, whose copies would grow with its square."""

    def kept(match: re.Match) -> str:
        return match.group(0) if number(match.group("count")) <= MOST_COPIES else ""

    inner = r"[^()]*"
    for _ in range(DEEPEST):
        inner = rf"[^()]*(?:\({inner}\)[^()]*)*"
    hints = rf"__attribute__\(\(opencl_unroll_hint\((?P<count>{inner})\)\)\)"
    return re.sub(r"#pragma unroll (?P<count>\S.*)", kept, re.sub(hints, kept, text))


def number(expression: str) -> int:
    """The value of an expression of whole numbers. 0 for what is none."""
    plain = re.sub(r"(?<=[0-9a-fA-F])[uUlL]+", "", expression)
    if "**" in plain or not re.fullmatch(r"[0-9a-fA-FxX+\-*/%<>()\s]+", plain):
        return 0
    try:
        return int(eval(plain.replace("/", "//"), {"__builtins__": {}}))  # digits and operators only
    except (SyntaxError, ZeroDivisionError, TypeError, ValueError, NameError):
        return 0


def _clang(arguments: list[str], source: Path, text: str | None = None) -> str:
    """One start of the compiler. Raises FabricmarkError: 2 with its first error, 3 without an answer."""
    try:
        done = subprocess.run(
            [COMPILER, *arguments], input=text, stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True, text=True, errors="replace", timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FabricmarkError(f"{COMPILER}: {error}", f"install {PACKAGE} again", ENVIRONMENT) from error
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error:" in line] or done.stderr.splitlines()
        cause = errors[0] if errors else f"{COMPILER} ended with {done.returncode}"
        raise FabricmarkError(f"{source}: {cause}", "correct the kernel or its parameters", BAD_USE)
    return done.stdout


def _lines(expanded: str) -> Iterator[tuple[str, int, str]]:
    """Preprocessed source: the file and line that each line comes from, and the line."""
    file, line = "", 0
    for text in expanded.splitlines():
        marker = re.match(r'# (\d+) "([^"]*)"', text)
        if marker:
            file, line = marker.group(2), int(marker.group(1))
        else:
            yield file, line, text
            line += 1


def _marks(expanded: str) -> Iterator[tuple[str, int, int]]:
    """Where the source asks for a pipeline, and where the loop stands that it means."""
    asked = 0
    for file, line, text in _lines(expanded):
        asked = asked or (line if MARK in text else 0)
        if asked and re.search(r"\b(for|while|do)\b", text):
            yield file, asked, line
            asked = 0


def _pragmas(expanded: str) -> Iterator[Pragma]:
    """The ivdep pragmas of preprocessed source, with the lines that they stand at in the files."""
    for file, line, text in _lines(expanded):
        pragma = re.match(r"\s*#pragma ivdep((?:\s+(?:array|safelen)\s*\(.*\))*)\s*$", text)
        if pragma:
            array = re.search(r"array\((\w+)\)", pragma.group(1))
            distance = re.search(r"safelen\((.*?)\)\s*(?:array|$)", pragma.group(1))
            name = array.group(1) if array else ""
            yield Pragma(file, line, name, number(distance.group(1)) if distance else None)


def _without_annotations(text: str) -> tuple[dict[str, tuple[str, ...]], str]:
    """What arrays are annotated with, and the IR without that, which would keep them in memory."""
    strings = {
        name: value.replace("\\00", "")
        for name, value in re.findall(r'^(@[\w.]+) = .*? c"([^"]*)"', text, re.MULTILINE)
    }
    found: dict[str, tuple[str, ...]] = {}
    function = ""
    lines = []
    for line in text.splitlines():
        if line.startswith("define"):
            match = re.search(r"@([\w.]+)\(", line)
            function = match.group(1) if match else ""
        local = re.search(r"call void @llvm\.var\.annotation\S*\(ptr (%[\w.]+), ptr (@[\w.]+)", line)
        if local:
            key = local.group(1)[1:]
            found[f"{function}.{key}"] = (
                *found.get(f"{function}.{key}", ()),
                strings.get(local.group(2), ""),
            )
            continue
        if line.startswith("@llvm.global.annotations"):
            entry = r"\(ptr addrspace\(\d\) @([\w.]+) to ptr\)|ptr (@[\w.]+)"
            _global_annotations(line, entry, strings, found)
            continue
        lines.append(line)
    return found, "\n".join(lines) + "\n"


def _global_annotations(line: str, entry: str, strings: Mapping[str, str], found: dict) -> None:
    """Those of arrays of a kernel's local memory: pairs of an array and a text."""
    array = ""
    for owner, text in re.findall(entry, line):
        if owner:
            array = owner
        elif array and strings.get(text, "").split(" ")[0] in (*KEPT_ATTRIBUTES, *KEPT_WORDS):
            found[array] = (*found.get(array, ()), strings[text])


def _all_inlined(text: str) -> str:
    """The IR with all functions but kernels marked for inlining, and unrolling without a count as full."""
    text = text.replace('"llvm.loop.unroll.enable"', '"llvm.loop.unroll.full"')
    functions = r"^(define (?!.*\bspir_kernel\b).*?\))( [^)]*\{)$"
    return re.sub(functions, r"\1 alwaysinline\2", text, flags=re.MULTILINE)


@functools.cache
def _library() -> ctypes.CDLL:
    """LLVM's C interface; its options can be set once only. Raises OSError where there is none."""
    library = ctypes.CDLL(LIBRARY)
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    signatures = {
        "LLVMContextCreate": (pointer, []),
        "LLVMContextDispose": (None, [pointer]),
        "LLVMCreateMemoryBufferWithMemoryRangeCopy": (pointer, [text, ctypes.c_size_t, text]),
        "LLVMParseIRInContext": (ctypes.c_int, [pointer, pointer, pointer, pointer]),
        "LLVMCreatePassBuilderOptions": (pointer, []),
        "LLVMDisposePassBuilderOptions": (None, [pointer]),
        "LLVMRunPasses": (pointer, [pointer, text, pointer, pointer]),
        "LLVMGetErrorMessage": (text, [pointer]),
        "LLVMPrintModuleToString": (pointer, [pointer]),
        "LLVMDisposeMessage": (None, [pointer]),
        "LLVMDisposeModule": (None, [pointer]),
        "LLVMParseCommandLineOptions": (None, [ctypes.c_int, ctypes.POINTER(text), text]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    words = [b"inspect", *(option.encode() for option in PASS_OPTIONS)]
    library.LLVMParseCommandLineOptions(len(words), (text * len(words))(*words), None)
    return library


def _optimized(text: str, passes: str = PASSES) -> str:
    """IR after the passes. Raises FabricmarkError (3) for what LLVM does not take."""
    library = _library()
    content = text.encode()
    context = library.LLVMContextCreate()
    module, message = ctypes.c_void_p(), ctypes.c_char_p()
    try:
        buffer = library.LLVMCreateMemoryBufferWithMemoryRangeCopy(content, len(content), b"kernel")
        if library.LLVMParseIRInContext(context, buffer, ctypes.byref(module), ctypes.byref(message)):
            raise _refused(message.value)
        options = library.LLVMCreatePassBuilderOptions()
        error = library.LLVMRunPasses(module, passes.encode(), None, options)
        library.LLVMDisposePassBuilderOptions(options)
        if error:
            raise _refused(library.LLVMGetErrorMessage(error))
        printed = library.LLVMPrintModuleToString(module)
        result = ctypes.string_at(printed).decode("utf-8", "replace")
        library.LLVMDisposeMessage(printed)
        return result
    finally:
        if module:
            library.LLVMDisposeModule(module)
        library.LLVMContextDispose(context)


def _refused(message: bytes | None) -> FabricmarkError:
    text = (message or b"no message").decode("utf-8", "replace").splitlines()[0]
    return FabricmarkError(f"LLVM 15: {text}", f"install {PACKAGE} again", ENVIRONMENT)
