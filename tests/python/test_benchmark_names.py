"""Names of benchmarks stand in their own rooms only: what else has to know one asks its model (`TRAITS`)."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import REPOSITORY

NAMES = sorted(file.parent.name for file in (REPOSITORY / "kernels").glob("*/kernel.toml"))
WORDS = re.compile(rf"\b({'|'.join(NAMES)})\b")
# A user reads them, no code does.
EXAMPLES = {
    "for example stream", "run `fabricmark run stream`", "of the kernel in the pipeline of host_transfer",
}  # fmt: skip


def is_room(file: Path) -> bool:
    """models/<benchmark>.py, models/_<benchmark>_*.py and tools/<benchmark>_*.py."""
    stem = file.stem.removeprefix("_")
    own = stem in NAMES or any(stem.startswith(f"{name}_") for name in NAMES)
    return own and file.parent.name in ("models", "tools")


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each string that is no docstring, and of what is imported."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value
        elif isinstance(node, ast.Import | ast.ImportFrom):
            parts = ".".join([getattr(node, "module", None) or "", *(alias.name for alias in node.names)])
            for name in parts.split("."):
                own = [one for one in NAMES if name == one or name.startswith(f"_{one}_")]
                yield from ((node.lineno, one) for one in own)


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


@pytest.mark.parametrize(
    "line",
    [
        'TABLE = {"hpl": 1}',
        'def f(name):\n    return name == "b_eff"',
        'HELP = "squares for hpl and ptrans"',
        'def f(n):\n    return f"{n} rows of gemm"',
        "from fabricmark.models import stream",
        "def f():\n    from fabricmark.models._hpl_measured import fit",
        "import fabricmark.models.fft",
    ],
)
def test_a_name_elsewhere_is_found(tmp_path, line):
    (tmp_path / "new.py").write_text(line)
    assert len(faults(tmp_path)) == 1


def test_names_in_comments_and_parts_of_words_are_none(tmp_path):
    (tmp_path / "new.py").write_text('"""Of hpl."""\nimport numpy as np  # as stream\nX = "fm_stream"\n')
    assert faults(tmp_path) == []
