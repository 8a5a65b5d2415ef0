"""Imports go down only: docs/architecture.md says which rooms there are and what each one uses."""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
from conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "architecture.md"
PACKAGE = REPOSITORY / "python" / "fabricmark"
HEADINGS = ["room", "what it knows", "what it uses"]
NEEDS_NO_ROOM = ("__init__.py", "__main__.py")  # of the package: its version, a call of the command


def rooms(page: str, heading: str) -> dict[str, list[str]]:
    """The table below a heading: each room, from the top one down, with the rooms that it uses.

    Rooms are folders (`base/`) or files (`cli.py`), between backticks in the first and the last column.
    """
    section = re.split(r"^## ", page.partition(f"## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in lines]
    assert cells and cells[0] == HEADINGS, f"no table of rooms below '{heading}'"
    found: dict[str, list[str]] = {}
    for name, _, uses in cells[2:]:
        found[name.strip("`")] = re.findall(r"`([^`]+)`", uses)
    return found


def room_of(file: str, known: Iterable[str]) -> str | None:
    """The room of a file, whose path begins where those of the rooms do; of two the inner one."""
    holding = [room for room in known if file == room or (room.endswith("/") and file.startswith(room))]
    return max(holding, key=len, default=None)


def faults(known: Mapping[str, list[str]], used: Mapping[str, set[str]]) -> list[str]:
    """What page and files disagree about, a line each. `used`: what each file imports or includes."""
    order = list(known)
    found = [
        f"the page: {room} uses {other}, which stands in no row below it"
        for room, uses in known.items()
        for other in uses
        if other not in order[order.index(room) + 1 :]
    ]
    needed: set[tuple[str, str]] = set()
    for file, others in used.items():
        room = room_of(file, known)
        found += [] if room else [f"{file}: in no room of the page"]
        for other in sorted(others):
            target = room_of(other, known)
            if None in (room, target) or target == room:
                continue
            needed.add((room, target))
            found += [] if target in known[room] else [f"{file} uses {other}: {room} may not use {target}"]
    found += [
        f"the page: {room} uses {other}, but no file does"
        for room, uses in known.items()
        for other in uses
        if (room, other) not in needed
    ]
    return found


def imports(*folders: Path) -> dict[str, set[str]]:
    """The modules of the package, which lies in these folders, that each of its modules imports, by path."""
    files = {file.relative_to(folder).as_posix(): file for folder in folders for file in folder.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name in sorted(files.keys() - set(NEEDS_NO_ROOM)):
        paths = ["/".join(dotted.split(".")[1:]) for dotted in _imported(files[name])]
        modules = {file for path in paths for file in (f"{path}.py", f"{path}/__init__.py".lstrip("/"))}
        found[name] = modules & (files.keys() - set(NEEDS_NO_ROOM))
    return found


@cache
def _imported(file: Path) -> list[str]:
    """What a module may import: `from a.b import c` names the module a.b and, where it is one, a.b.c."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: line {node.lineno}: an import relative to its own file"
            names += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.split(".")[0] == PACKAGE.name]


def includes(*folders: Path) -> dict[str, set[str]]:
    """The files of src/ that each of its files includes; the folders hold src/, and paths begin with it."""
    found: dict[str, set[str]] = {}
    for folder in folders:
        for file in sorted((folder / "src").rglob("*.[ch]pp")):
            named = re.findall(r'^#include "([^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
            known = {
                f"src/{name}" for name in named if any((place / "src" / name).exists() for place in folders)
            }
            found[file.relative_to(folder).as_posix()] = known
    return found


@pytest.fixture
def python_rooms() -> dict[str, list[str]]:
    return rooms(PAGE.read_text(encoding="utf-8"), "Rooms of the Python package")


def test_the_python_package_imports_down_only(python_rooms):
    assert faults(python_rooms, imports(PACKAGE)) == []


@pytest.mark.parametrize(
    ("module", "line", "fault"),
    [
        ("base/up.py", "from fabricmark.results import Result", "base/up.py uses results/__init__.py"),
        ("models/up.py", "def f():\n    from fabricmark import systems", "models/ may not use systems/"),
        ("report/side.py", "import fabricmark.compare.ab", "report/ may not use compare/"),
        ("measure/back.py", "from fabricmark import cli", "measure/ may not use cli.py"),
        ("attic/new.py", "", "attic/new.py: in no room"),
    ],
)
def test_an_import_that_goes_up_is_found(python_rooms, tmp_path, module, line, fault):
    (tmp_path / module).parent.mkdir()
    (tmp_path / module).write_text(line)
    found = faults(python_rooms, imports(PACKAGE, tmp_path))
    assert len(found) == 1 and fault in found[0]


def test_a_page_that_points_up_or_says_too_much_is_found(python_rooms):
    used = imports(PACKAGE)
    up = {**python_rooms, "base/": [*python_rooms["base/"], "report/"]}
    assert any("base/ uses report/, which stands in no row below" in fault for fault in faults(up, used))
    more = {**python_rooms, "compare/": [*python_rooms["compare/"], "systems/"]}
    assert faults(more, used) == ["the page: compare/ uses systems/, but no file does"]


@pytest.fixture
def source_rooms() -> dict[str, list[str]]:
    return rooms(PAGE.read_text(encoding="utf-8"), "Rooms of the C++ sources")


def test_the_sources_include_down_only(source_rooms):
    used = includes(REPOSITORY)
    assert len(used) > 150 and sum(map(len, used.values())) > 400
    assert faults(source_rooms, used) == []


@pytest.mark.parametrize(
    ("file", "included", "fault"),
    [
        ("base/up.hpp", "device/device.hpp", "src/base/ may not use src/device/"),
        ("runtime/up.cpp", "transport/transport.hpp", "src/runtime/ may not use src/transport/"),
        ("power/side.cpp", "device/device.hpp", "src/power/ may not use src/device/"),
        ("attic/new.cpp", "base/error.hpp", "src/attic/new.cpp: in no room"),
    ],
)
def test_an_include_that_goes_up_is_found(source_rooms, tmp_path, file, included, fault):
    (tmp_path / "src" / file).parent.mkdir(parents=True)
    (tmp_path / "src" / file).write_text(f'#include "{included}"\n')
    found = faults(source_rooms, includes(REPOSITORY, tmp_path))
    assert len(found) == 1 and fault in found[0]


def users_of_opencl(*folders: Path) -> list[str]:
    """The files of src/ that name OpenCL's types, functions or headers outside the room of devices.

    The library of messages takes handles of its users, and calls nothing.
    """
    # Not the names of extensions, which stand in the text of kernels.
    calls = r"(?<!\w)cl::|(?<!\w)cl[A-Z][a-z]\w*\("
    names = calls + r"|<CL/|(?<!\w)cl_(?!khr_)[a-z]"
    found: list[str] = []
    for folder in folders:
        for file in sorted((folder / "src").rglob("*.[ch]pp")):
            name = file.relative_to(folder).as_posix()
            pattern = calls if name.startswith("src/messages/") else names
            text = re.sub(r"//.*", "", file.read_text())
            if re.search(pattern, text) and not name.startswith("src/device/"):
                found.append(name)
    return found


def test_opencl_is_known_to_the_room_of_devices_only():
    assert users_of_opencl(REPOSITORY) == []


@pytest.mark.parametrize(
    "line", ["cl::Event event;", "#include <CL/cl.h>", "cl_event done;", "clFinish(queue);"]
)
def test_a_use_of_opencl_elsewhere_is_found(tmp_path, line):
    for room in ("transport", "messages"):
        (tmp_path / "src" / room).mkdir(parents=True)
        (tmp_path / "src" / room / "fast.cpp").write_text(line)
    of_messages = ["src/messages/fast.cpp"] if "(" in line or "::" in line else []
    assert users_of_opencl(tmp_path) == [*of_messages, "src/transport/fast.cpp"]


def users_of_mpi(*folders: Path) -> list[str]:
    """The files of src/ that name MPI's types, functions or header; texts that a user reads may name them."""
    pattern = re.compile(r"(?<!\w)MPI_[A-Z]|<mpi\.h>")
    files = [(folder, file) for folder in folders for file in sorted((folder / "src").rglob("*.[ch]pp"))]
    texts = {
        file.relative_to(folder).as_posix(): re.sub(r'"(?:\\.|[^"\\\n])*"', '""', file.read_text())
        for folder, file in files
    }
    return [name for name, text in texts.items() if pattern.search(text)]


def test_mpi_is_known_to_one_communicator_only():
    """Others but pass on a communicator of their user. Its own calls are made for who measures them."""
    names = (
        "communicator_mpi.cpp",
        "library_calls_mpi.cpp",
        "mpi_ranks.hpp",
        "mpi_world.cpp",
        "mpi_world.hpp",
    )
    passing = ("include/fabricmark/messages_mpi.hpp", "mpi_ranks.cpp")
    expected = [f"src/messages/{name}" for name in passing] + [f"src/runtime/{name}" for name in names]
    # The recorder stands between programs of others and MPI: it is no user.
    found = [name for name in users_of_mpi(REPOSITORY) if not name.startswith("src/record/")]
    assert found == expected


@pytest.mark.parametrize("line", ["MPI_Barrier(MPI_COMM_WORLD);", "#include <mpi.h>", "MPI_Request request;"])
def test_a_use_of_mpi_elsewhere_is_found(tmp_path, line):
    (tmp_path / "src" / "transport").mkdir(parents=True)
    (tmp_path / "src" / "transport" / "fast.cpp").write_text(line)
    assert users_of_mpi(tmp_path) == ["src/transport/fast.cpp"]
