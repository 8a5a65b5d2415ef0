"""What compilers must see through in the function of a cell (kernels/common/stencil/window.h)."""

import re

import pytest
from conftest import REPOSITORY

# All headers beside such a function.
CELLS = [
    path
    for cell in (REPOSITORY / "kernels").glob("*/cell.h")
    if "stencil/window.h" in cell.read_text()
    for path in cell.parent.glob("*.h")
]
# A function that is called takes its window from memory, and computes what only special cells need: tsunamis
# took seven times as long.
CALLED = re.compile(r"^static (?:inline )?(?!inline)[\w ]*?\b(?!fm_next)(\w+)\(", re.MULTILINE)


def test_both_are_there():
    assert {path.parent.name for path in CELLS} >= {"lbm", "tsunami"}


@pytest.mark.parametrize("path", CELLS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_a_cell_calls_is_inlined(path):
    assert not CALLED.findall(path.read_text())


def test_a_function_that_may_be_called_is_seen():
    said = "static inline real made(const fm_window one) {\nstatic inline fm_numbers fm_next(const int a) {"
    assert CALLED.findall(said) == ["made"]
    assert not CALLED.findall(said.replace("static inline real", "FM_INLINE real"))
