"""Names of benchmarks stand in their own rooms only: what else has to know one asks its model (`TRAITS`)."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from conftest import REPOSITORY

NAMES = sorted(file.parent.name for file in (REPOSITORY / "kernels").glob("*/kernel.toml"))
WORDS = re.compile(rf"\b(?:fm_)?({'|'.join(NAMES)})\b")
# A user reads them, no code does.
EXAMPLES = {
    "for example stream", "run `fabricmark run stream`", "of the kernel in the pipeline of host_transfer",
    "The base, quoted: 'fm_stream --size 1000'.",
    "write a program of the suite with its options, for example 'fm_stream --size 1000'",
}  # fmt: skip
# Comparisons of the suite as a whole, which choose benchmarks as a user does: a command that any program
# would do for, the points at which each model is asked, and fields of several to be compressed.
CHOOSING = {"codec.py", "compare.py", "models.py", "same_results.py"}


def is_room(file: Path) -> bool:
    """models/<benchmark>/*.py or models/<benchmark>.py, tools/<benchmark>_*.py and cases/<benchmark>.py."""
    if file.parent.name in NAMES:
        return file.parents[1].name == "models"
    own = file.stem in NAMES or any(file.stem.startswith(f"{name}_") for name in NAMES)
    return own and file.parent.name in ("models", "tools", "cases")


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each string that is no docstring, and of what is imported."""
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value
        elif isinstance(node, ast.Import | ast.ImportFrom):
            parts = ".".join([getattr(node, "module", None) or "", *(alias.name for alias in node.names)])
            for name in parts.split("."):
                own = [one for one in NAMES if name == one or name.startswith(f"_{one}_")]
                yield from ((node.lineno, one) for one in own)


# What a C++ or OpenCL source is made of, as far as names go; comments and strings hide what stands in them.
TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'
    r"'(?:\\.|[^'\\\n])+'|[A-Za-z_]\w*|::",
    re.DOTALL,
)
# C++ has streams of its own, so that a variable may be called so: as a benchmark it is a namespace only.
COMMON_WORDS = {"stream"}
WITH_STREAMS = ("src/board/", "src/card/", "src/microbench/")
SOURCES = {".cpp", ".hpp", ".cl", ".h"}


@cache
def snake_case(identifier: str) -> str:
    """RandomAccess and kRandomAccess are random_access."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", identifier).lower()
    return parted.removeprefix("k_")


def source_names(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, token and name of each benchmark that a source knows.

    That is a string in which the name is a word, as in the path of an include, or fm_<name>; and an
    identifier that is the name.
    """
    tokens = [found for found in TOKENS.finditer(text) if not found.group().startswith(("//", "/*", "'"))]

    def line_of(found: re.Match[str]) -> int:
        return text.count("\n", 0, found.start()) + 1

    for i, found in enumerate(tokens):
        token = found.group()
        if token.endswith('"'):
            yield from ((line_of(found), token, name) for name in WORDS.findall(token))
            continue
        name = snake_case(token)
        if name not in NAMES:
            continue
        before, after = (tokens[j].group() if 0 <= j < len(tokens) else "" for j in (i - 1, i + 1))
        is_scope = after == "::" or before == "namespace"
        if is_scope or name not in COMMON_WORDS:
            yield line_of(found), token, name


def own_names(place: str, text: str) -> set[str]:
    """The benchmarks whose room a source is: by its folder; a peer in bench/ says it in its first line.

    Dataflow kernels have streams, and say so, as do those that move what is in them.
    """
    folder = re.match(r"(?:src/benchmarks|src/apps|kernels)/(\w+)/", place)
    peer = re.match(r"// The peer of fm_(\w+)", text) if place.startswith("bench/") else None
    common = COMMON_WORDS if place.startswith(WITH_STREAMS) else set()
    return {found[1] for found in (folder, peer) if found} | common


def source_faults(root: Path) -> list[str]:
    """File, line and text of each benchmark's name outside its rooms, of C++ and OpenCL sources."""
    files = [file for folder in ("src", "bench", "kernels") for file in sorted((root / folder).rglob("*"))]
    sources = {file: file.read_text(encoding="utf-8") for file in files if file.suffix in SOURCES}
    assert sources, f"no source in {root}"
    return [
        f"{file.name}: line {line}: {token}"
        for file, text in sources.items()
        for line, token, name in source_names(text)
        if name not in own_names(file.relative_to(root).as_posix(), text)
    ]


def faults(*folders: Path) -> list[str]:
    """File, line and text of each benchmark's name outside its rooms."""
    return [
        f"{file.name}: line {line}: {text}"
        for folder in folders
        for file in sorted(folder.rglob("*.py"))
        if not is_room(file)
        for line, text in strings(ast.parse(file.read_text(encoding="utf-8")))
        if WORDS.search(text)
    ]


def texts(found: Sequence[str]) -> set[str]:
    return {fault.split(": ", 2)[2] for fault in found}


def test_no_code_outside_their_rooms_knows_a_benchmark():
    found = faults(REPOSITORY / "python" / "fabricmark", REPOSITORY / "tools")
    assert len(NAMES) > 7
    assert [fault for fault in found if texts([fault]) - EXAMPLES] == []
    assert texts(found) == EXAMPLES  # all are still there


def test_no_comparison_knows_the_benchmark_of_another():
    found = faults(REPOSITORY / "bench")
    assert {fault.partition(":")[0] for fault in found} == CHOOSING


def test_no_source_outside_their_rooms_knows_a_benchmark():
    assert source_faults(REPOSITORY) == []


@pytest.mark.parametrize(
    "line",
    [
        'TABLE = {"hpl": 1}',
        'def f(name):\n    return name == "b_eff"',
        'HELP = "squares for hpl and ptrans"',
        'def f(n):\n    return f"{n} rows of gemm"',
        "from fabricmark.models import stream",
        "def f():\n    from fabricmark.models.hpl.measured import fit",
        "import fabricmark.models.fft",
        'COMMAND = [program("fm_stream")]',
    ],
)
def test_a_name_elsewhere_is_found(tmp_path, line):
    (tmp_path / "new.py").write_text(line)
    assert len(faults(tmp_path)) == 1


def test_names_in_comments_and_parts_of_words_are_none(tmp_path):
    (tmp_path / "new.py").write_text('"""Of hpl."""\nimport numpy as np  # as stream\nX = "openstream"\n')
    assert faults(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        'if (name == "stream") return 2;',
        'run("fm_gemm", {});',
        'const auto text = R"(the\nhpl run)";',
        '#include "benchmarks/b_eff/content.hpp"',
        "stream::Problem problem;",
        "namespace fabricmark::fft {}",
        "bool is_first = kind == Kind::kRandomAccess;",
        "const int gemm = 2;",
    ],
)
@pytest.mark.parametrize("place", ["runtime", "benchmarks/ptrans", "benchmarks/common"])
def test_a_name_in_a_source_elsewhere_is_found(tmp_path, place, line):
    (tmp_path / "src" / place).mkdir(parents=True)
    (tmp_path / "src" / place / "new.cpp").write_text(f"\n{line}\n")
    (fault,) = source_faults(tmp_path)
    assert fault.startswith("new.cpp: line 2: ")


def test_other_words_in_a_source_are_none(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "new.cpp").write_text(
        "// Of hpl.\n/* stream::Problem */\n#include <fftw3.h>\n"
        "std::ofstream stream(file);\n_mm_stream_ps(to, from);\nstd::random_access_iterator_tag tag;\n"
        'const char* text = "openstream"; const char mark = \'"\';\n'
    )
    assert source_faults(tmp_path) == []


def test_a_peer_knows_its_own_benchmark_only(tmp_path):
    (tmp_path / "bench").mkdir()
    peer = tmp_path / "bench" / "blas.cpp"
    peer.write_text('// The peer of fm_gemm on a CPU.\nconst char* of = "gemm";\n')
    assert source_faults(tmp_path) == []
    peer.write_text('// The peer of fm_hpl on a CPU.\nconst char* of = "gemm";\n')
    assert len(source_faults(tmp_path)) == 1
