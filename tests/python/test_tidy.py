"""What clang-tidy is asked of all sources at once is found in each of them."""

import json
import shutil

import pytest
import tidy as tool
from conftest import REPOSITORY

FINDING = "int* nowhere_{} = 0;\n"  # modernize-use-nullptr


@pytest.fixture(name="tidy")
def tidy_of_a_small_project(monkeypatch, tmp_path):
    if shutil.which("clang-tidy") is None and not (REPOSITORY / ".venv/bin/clang-tidy").exists():
        pytest.skip("no clang-tidy")
    monkeypatch.setenv("PATH", f"{REPOSITORY / '.venv/bin'}:/usr/bin:/bin")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    shutil.copy(REPOSITORY / ".clang-tidy", tmp_path)
    build = tmp_path / "build"
    build.mkdir()

    def run(sources, *words):
        entries = []
        for name, text in sources.items():
            path = tmp_path / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            command = f"g++ -Wno-restrict -std=c++20 -o {name}.o -c {path}"
            entries.append({"directory": str(build), "command": command, "file": str(path)})
        (build / "compile_commands.json").write_text(json.dumps(entries))
        monkeypatch.setattr("sys.argv", ["tidy.py", "-p", str(build), "-j", "2", *words])
        return tool.main()

    return run


@pytest.mark.parametrize("words", [(), ("--each",)], ids=["at once", "each"])
def test_a_finding_in_any_source_is_said(tidy, capsys, words):
    sources = {f"base/{number}.cpp": FINDING.format(number) for number in range(20)}
    assert tidy(sources, *words) == 1
    said = capsys.readouterr().out
    assert all(f"/src/base/{number}.cpp:1:" in said for number in range(20))
    assert "20 sources in 20 files" in said if words else "20 sources in 2 files" in said


def test_sources_without_findings_pass(tidy, capsys):
    assert tidy({"base/a.cpp": "int a;\n", "device/sycl/plugin/b.cpp": FINDING.format(0)}) == 0
    assert "1 sources in 1 files, nothing found" in capsys.readouterr().out


def test_only_a_source_by_itself_shows_what_it_does_not_include(tidy):
    sources = {"base/a.cpp": "#include <string>\n", "base/b.cpp": "std::string text;\n"}
    assert tidy(sources) == 0
    assert tidy(sources, "--each") == 1
