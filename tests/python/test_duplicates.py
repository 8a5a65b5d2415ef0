"""No two source files share a run of more than 15 lines: what two need has one place.

Lines that say nothing by themselves neither count nor end a run: blank ones, braces and other punctuation,
includes and imports. Indentation does not count.
"""

import re
from itertools import takewhile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("bench", "kernels", "python", "src", "tests", "tools")
SUFFIXES = {".c", ".cl", ".cmake", ".cpp", ".h", ".hpp", ".py", ".sh"}
NAMES = {"CMakeLists.txt", "Makefile"}
MOST = 15
SAYS_NOTHING = re.compile(r"\W*|#\s*(include|pragma once)\b.*|(import|from)\s.*|namespace\s*[\w:]*\s*\{?")


def source_files(root):
    """Every source file of the project, built and generated ones aside."""
    found = [path for path in root.iterdir() if path.name in NAMES]
    for folder in FOLDERS:
        found += (root / folder).rglob("*")
    return sorted(p for p in found if p.is_file() and (p.name in NAMES or p.suffix in SUFFIXES))


def significant_lines(text):
    """(number, line without indentation) of every line that counts."""
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, line) for number, line in lines if not SAYS_NOTHING.fullmatch(line)]


def common_length(lines, others):
    """How many lines are equal from the start on."""
    pairs = zip(lines, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0][1] == pair[1][1], pairs))


def shared_runs(texts):
    """(file, line, other file, other line, length) of each run of more than MOST lines that two files share.

    `texts`: {name: text}. The same file does not count as its own copy.
    """
    windows = {}
    found = []
    lines_of = {name: significant_lines(text) for name, text in texts.items()}
    for name, lines in lines_of.items():
        covered = {}  # other file: the place in it where the run that was told last goes on
        for place in range(len(lines) - MOST):
            window = tuple(line for _, line in lines[place : place + MOST + 1])
            for other, start in windows.get(window, ()):
                if covered.get(other) != (place, start):
                    theirs = lines_of[other]
                    length = common_length(lines[place:], theirs[start:])
                    found.append((other, theirs[start][0], name, lines[place][0], length))
                covered[other] = (place + 1, start + 1)
        for place in range(len(lines) - MOST):
            window = tuple(line for _, line in lines[place : place + MOST + 1])
            windows.setdefault(window, []).append((name, place))
    return found


def read_all(root):
    return {str(path.relative_to(root)): path.read_text() for path in source_files(root)}


def test_no_two_files_share_a_run():
    found = shared_runs(read_all(REPOSITORY))
    told = [f"{one}:{at} and {other}:{there} share {length} lines" for one, at, other, there, length in found]
    assert not told, "\n".join(told)


def statements(count, first=0):
    return "".join(f"    value{number} = compute({number})\n" for number in range(first, first + count))


PLANTED = {
    "the bound": (15, 0),
    "one more": (16, 1),
    "many": (40, 1),
}


@pytest.mark.parametrize("count, expected", PLANTED.values(), ids=PLANTED)
def test_a_planted_copy_is_found_with_its_places(count, expected):
    texts = {
        "a.py": "def first():\n" + statements(count) + "    return 1\n",
        "b.py": "import os\n\n\ndef second():\n    x = 2\n" + statements(count) + "    return 2\n",
    }
    found = shared_runs(texts)
    assert len(found) == expected
    if found:
        assert found == [("a.py", 2, "b.py", 6, count)]


def test_a_copy_is_found_though_layout_and_imports_differ():
    plain = statements(20)
    spread = plain.replace("\n", "\n\n", 5).replace("    value7", "\n# \n  {\n    import sys\n        value7")
    (run,) = shared_runs({"a.py": plain, "b.py": spread})
    assert run[-1] == 20


def test_two_copies_in_two_files_are_both_found():
    texts = {name: statements(16) for name in ("a.cpp", "b.cpp", "c.cpp")}
    assert len(shared_runs(texts)) == 3
    apart = statements(16) + "    x = 1\n" + statements(16, 100)
    other = statements(16, 100) + "    y = 1\n" + statements(16)
    assert len(shared_runs({"a.cpp": apart, "b.cpp": other})) == 2


def test_a_copy_with_one_change_in_the_middle_is_not_a_run():
    changed = statements(24).replace("compute(12)", "compute(-12)")
    assert shared_runs({"a.py": statements(24), "b.py": changed}) == []


def test_what_is_looked_at(tmp_path):
    for name in ("src/a/one.cpp", "src/a/CMakeLists.txt", "kernels/b/two.cl", "docs/page.md", "build/x.cpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(statements(20))
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / "Makefile").write_text(statements(20))
    names = {str(path.relative_to(tmp_path)) for path in source_files(tmp_path)}
    assert names == {"Makefile", "kernels/b/two.cl", "src/a/CMakeLists.txt", "src/a/one.cpp"}
    assert len(shared_runs(read_all(tmp_path))) == 6


def test_the_project_is_looked_at_as_a_whole():
    names = set(read_all(REPOSITORY))
    assert {"Makefile", "src/runtime/result.cpp", "kernels/stream/base.cl", "bench/run.py"} <= names
    assert len(names) > 100
