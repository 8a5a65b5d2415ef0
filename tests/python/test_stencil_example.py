"""The stencil of docs/stencils.md: exactly its three files are built and run in a copy of the sources."""

import json
import re
import sys

import pytest
from test_contributing import ROOT, configure, copy, execute, ninja_commands, run

PAGE = (ROOT / "docs" / "stencils.md").read_text()
FILES = dict(
    re.findall(
        r"`((?:src/apps|kernels)/heat/[\w.]+)`[^`]*?(?:`[^`\n]+`[^`]*?)*```\w+\n(.*?)```", PAGE, re.DOTALL
    )
)
FABRICMARK = (sys.executable, "-m", "fabricmark")
__all__ = ["copy"]  # a fixture: the copy of the sources


def test_the_example_is_three_files():
    assert list(FILES) == ["kernels/heat/cell.h", "kernels/heat/kernel.toml", "src/apps/heat/heat.cpp"]
    assert sum(text.count("\n") for text in FILES.values()) <= 80


@pytest.fixture(scope="module")
def program(copy):
    """Builds the example's program, and runs it: its digest."""
    for name, text in FILES.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text)
    configure(copy)
    build = copy / "build/release"
    for command in ninja_commands(build, "fm_heat"):
        if "fm_heat" in command:
            execute(command, build)

    def digest(*words):
        made = run(
            build / "bin/fm_heat", *GRID, *words, "--json", "-", cwd=copy,
            FABRICMARK_KERNELS=str(copy / "kernels"),
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        result = json.loads(made.stdout)
        assert {verdict["status"] for verdict in result["verdicts"]} == {"passed"}
        (note,) = [note for note in result["notes"] if note.startswith("digest")]
        return note

    return digest


GRID = ("--columns", 40, "--rows", 24, "--steps", 13, "--repetitions", 1, "--exact", "true")


@pytest.mark.programs
def test_the_example_has_the_same_bits_on_a_cpu_and_on_a_ring_of_boards(copy, program, tmp_path):
    system = tmp_path / "noctua1.json"
    exported = run(*FABRICMARK, "systems", "export", "noctua1", "--output", system, cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    ring = ("--variant", "dataflow", "--ranks", 3, "--transport", "channels", "--system", system)
    assert program() == program("--variant", "base") == program(*ring) == program("--ranks", 2)


@pytest.mark.programs
def test_the_example_is_inspected(copy, program):
    done = run(*FABRICMARK, "inspect", "heat", cwd=copy, FABRICMARK_KERNELS=str(copy / "kernels"))
    assert done.returncode == 0, done.stderr
    assert "advance" in done.stdout
