"""Kernels that are wrong on purpose, as changes of the shipped ones, and how to run them.

A benchmark's wrong kernels stand in its own test file as a table of `Wrong`; `tests` makes the tests of it.
`check_found` runs one in a copy of kernels/ and asks that the program does not call its result valid.
"""

import re
import shutil
from dataclasses import dataclass

import pytest
from stream_program import KERNELS, on_a_device

# State that outlives a kernel. OpenCL C 1.2 has none, so this is PoCL's and clang's way: constants that the
# compiler is told to put where they can be written. They are zeros at first.
STATE = """
#define STATE(type, name, count)                                                       \\
  __constant type name##_kept[count] __attribute__((section(".data"))) = {0};          \\
  static inline volatile __global type* name##_kept_pointer() {                        \\
    return (volatile __global type*)(ulong)&name##_kept[0];                            \\
  }
#define KEPT(name) (name##_kept_pointer())
"""


@dataclass(frozen=True)
class Wrong:
    """A kernel that does less than it should.

    `changes` are pairs of old and new text, where each old text stands exactly once in the file: that of the
    variant with the headers of its own folder in their places, or `file` below kernels/. With `source` the
    whole file is that text instead. `state` names what outlives a call: (type, name, count), for
    `KEPT(name)[i]` in the new text. Each entry point has its own.
    """

    variant: str
    changes: tuple[tuple[str, str], ...] = ()
    source: str | None = None
    file: str = ""
    state: tuple[tuple[str, str, int], ...] = ()
    options: tuple = ()
    ranks: int = 1

    def text(self, shipped):
        text = self.source if self.source is not None else shipped
        for old, new in self.changes:
            assert text.count(old) == 1, (old, text.count(old))
            text = text.replace(old, new)
        if not self.state:
            return text
        return STATE + "".join(f"STATE({', '.join(map(str, kept))})\n" for kept in self.state) + text


def with_own_headers(path):
    """A kernel's text with the headers of its own folder in the places where it includes them."""
    own = re.compile(rf'^#include "{path.parent.name}/(\w+\.h)"$', re.MULTILINE)
    return own.sub(lambda found: with_own_headers(path.parent / found[1]), path.read_text())


def install(wrong, benchmark, folder):
    """The folder of a copy of kernels/ in which the benchmark's kernel is the wrong one."""
    kernels = folder / "kernels"
    shutil.copytree(KERNELS, kernels)
    path = kernels / (wrong.file or f"{benchmark}/{wrong.variant}.cl")
    if not path.is_file() and not wrong.changes and wrong.source is None:
        return kernels  # as shipped, by the kernels of the benchmark that it is like
    path.write_text(wrong.text(with_own_headers(path)))
    return kernels


def run(program, wrong, folder, *words):
    """How the program ends with the wrong kernel: a `Done`."""
    benchmark = program.program.name.removeprefix("fm_")
    words = (*words, *wrong.options, "--variant", wrong.variant, "--ranks", wrong.ranks)
    return program.run(*words, variables={"FABRICMARK_KERNELS": str(install(wrong, benchmark, folder))})


def check_found(program, wrong, folder, *words):
    """The wrong kernel compiles, runs, and its result is invalid; returns the names of the failed checks."""
    done = run(program, wrong, folder, *words)
    assert done.code == 1, (done.code, done.errors, done.output)
    return {v["name"] for v in done.document["verdicts"] if v["status"] == "failed"}


def tests(benchmark, wrong, words, fits, shipped=(), quick=None):
    """What a test file is to name: the fixture `program`, the test of each wrong kernel, that of the shipped.

    `wrong`: kernels by what is wrong with them, of which those outside of `quick` are for the full selection;
    `fits(what, failed)`: whether these failed checks are those expected.
    """

    @pytest.fixture(scope="module")
    def program(tmp_path_factory):
        return on_a_device(tmp_path_factory, benchmark)

    slow = set() if quick is None else set(wrong) - quick
    names = [pytest.param(what, marks=[pytest.mark.full] * (what in slow)) for what in wrong]

    @pytest.mark.parametrize("what", names)
    def found(program, tmp_path, what):
        failed = check_found(program, wrong[what], tmp_path, *words)
        assert fits(what, failed), failed

    def valid(program, tmp_path):
        for number, right in enumerate(shipped):
            assert run(program, right, tmp_path / str(number), *words).code == 0

    return program, found, valid
