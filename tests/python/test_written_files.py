"""One way of writing files, in Python and in the programs: what is no plain file is never replaced by one."""

import ast
import csv
import os
import shlex
import stat
import subprocess
import threading

import pytest
import samples
from conftest import MESH_TOOL, REPOSITORY, one_error_line
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError

PACKAGE = REPOSITORY / "python" / "fabricmark"


def by_python(path):
    try:
        paths.write_atomically(path, "content\n")
    except FabricmarkError as error:
        return str(error)
    return ""


def by_program(path):
    done = subprocess.run([MESH_TOOL, "generate", "bay:2", path], capture_output=True, text=True, timeout=60)
    return "" if done.returncode == 0 else done.stderr


@pytest.fixture(params=[by_python, pytest.param(by_program, marks=pytest.mark.programs)])
def write(request):
    """Writes a file: "" or the line that says why not."""
    return request.param


def is_written(path):
    return path.stat().st_size > 0 and "old" not in path.read_text()


def test_a_file_is_replaced_and_a_folder_made(write, tmp_path):
    for path in (tmp_path / "a", tmp_path / "b" / "c" / "d"):
        for _ in range(2):
            assert write(path) == "" and is_written(path)
        assert [one.name for one in path.parent.iterdir() if one.is_file()] == [path.name]


def test_a_link_leads_to_the_file_that_is_replaced(write, tmp_path):
    target = tmp_path / "there" / "target"
    target.parent.mkdir()
    target.write_text("old")
    (tmp_path / "nearer").symlink_to("there/target")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nearer")
    assert write(link) == "" and link.is_symlink() and is_written(target)
    target.unlink()
    assert write(link) == "" and link.is_symlink() and is_written(target)


def test_a_pipe_is_written_into(write, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to("pipe")
    for path in (pipe, link):
        read = []
        reader = threading.Thread(target=lambda read=read: read.append(pipe.read_text()))
        reader.start()
        assert write(path) == ""
        reader.join()
        assert read[0] and stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink()


def test_a_device_is_written_into(write, tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        device.symlink_to("/dev/null")
    said = write(device)
    if "ermission" in said or "not permitted" in said:
        pytest.skip("a file system without devices")
    assert said == "" and stat.S_ISCHR(device.stat().st_mode)
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    assert "No space left on device; free some space" in write(full) and full.is_symlink()


def test_a_folder_is_refused(write, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    (tmp_path / "round").symlink_to("round")
    for path in (tmp_path, link, tmp_path / "round"):
        assert "cannot write" in write(path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "round"]


def test_standard_output_goes_on_where_it_is(place):
    place.write("a.json", samples.result())
    command = shlex.join(place.command("report", "results", "--csv", "/dev/stdout"))
    script = f"(echo first; {command}) > out.txt"
    done = subprocess.run(
        ["bash", "-c", script], env=place.environment, cwd=place.folder, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    lines = (place.folder / "out.txt").read_text().splitlines()
    assert lines[0] == "first" and any("triad" in line and line.count(",") > 5 for line in lines), lines


def test_outputs_of_a_command_replace_nothing_else(place):
    place.write("a.json", samples.result())
    target = place.folder / "target.txt"
    link = place.folder / "link.csv"
    link.symlink_to(target)
    assert place.run("report", "results", "--csv", link).returncode == 0
    assert link.is_symlink() and "stream" in target.read_text()
    one_error_line(place.run("report", "results", "--csv", place.results), 2)


@pytest.mark.programs
@pytest.mark.parametrize("words", ["report results", "validate", "predict stream --system noctua1"])
def test_a_dash_is_standard_output_alone(place, words):
    """Not a file of that name, and nothing but the rows."""
    place.environment["FABRICMARK_ROOT"] = str(REPOSITORY)
    place.write("a.json", samples.result())
    done = place.run(*words.split(), "--csv", "-")
    assert done.returncode == 0 and not (place.folder / "-").exists()
    heading, *rows = csv.reader(done.stdout.splitlines())
    assert rows and {len(row) for row in rows} == {len(heading)}


# Places that write without it, each with what they write: (file, function) -------------------------------

ALLOWED = {
    ("base/paths.py", "_replace"),  # it
    ("base/paths.py", "_write_through"),
    ("cli.py", "__call__"),  # to the device that takes everything
    ("report/run_tables.py", "save_svg"),
    ("mesh/formats.py", "_write_ugrid"),  # a library of others, into a folder that is gone at the end
}
WRITERS = {
    "write_text",
    "write_bytes",
    "touch",
    "to_csv",
    "tofile",
    "savetxt",
    "imsave",
    "NamedTemporaryFile",
}
WRITERS |= {"mkstemp", "copyfile", "copy2", "copytree", "imwrite", "to_json", "to_excel"}
MOVERS = {"replace", "rename", "renames", "move", "copy", "link", "symlink"}
MODES = set("wax+")


def writes(call):
    """Whether a call writes a file by itself."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = getattr(function.value, "id", "") if isinstance(function, ast.Attribute) else ""
    if name in WRITERS:
        return True
    if owner in ("os", "shutil") and name in (
        "replace",
        "rename",
        "renames",
        "move",
        "copy",
        "link",
        "symlink",
    ):
        return True
    if owner in ("numpy", "np") and name in ("save", "savez", "savez_compressed"):
        return True
    words = [*call.args, *(word.value for word in call.keywords if word.arg in ("mode", "flags"))]
    if name in ("open", "fdopen", "Dataset", "ZipFile", "TarFile"):
        if owner == "os" and name == "open":
            return any("O_CREAT" in ast.unparse(word) or "O_TRUNC" in ast.unparse(word) for word in words)
        texts = [
            word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)
        ]
        return any(len(text) <= 3 and MODES & set(text) for text in texts)
    if name == "savefig":  # into memory only
        return getattr(call.args[0], "id", "") != "buffer"
    return False


def found_in(source):
    """(line, function) of each call that writes."""
    found = []

    def visit(node, function):
        for child in ast.iter_child_nodes(node):
            inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
            if isinstance(child, ast.Call) and writes(child):
                found.append((child.lineno, function))
            visit(child, inner)

    visit(ast.parse(source), "")
    return found


def test_no_place_of_the_package_writes_by_itself():
    others = {
        (str(path.relative_to(PACKAGE)), function, line)
        for path in PACKAGE.rglob("*.py")
        for line, function in found_in(path.read_text())
    }
    assert {(name, function) for name, function, _ in others} - ALLOWED == set(), sorted(others)


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w')", "path.open('a')", "open(path, mode='xb')", "path.write_text(x)",
        "path.write_bytes(x)", "figure.savefig(path)", "numpy.save(path, x)",
        "frame.to_csv(path)", "os.replace(a, b)",
        "shutil.copy(a, b)", "os.open(path, os.O_WRONLY | os.O_CREAT)", "netCDF4.Dataset(path, 'w')",
    ],
)  # fmt: skip
def test_the_rule_sees_it(line):
    assert found_in(f"def f():\n    {line}\n") == [(2, "f")]
    assert not found_in(
        "open(path)\npath.open('rb')\nfigure.savefig(buffer, format='png')\n'a'.replace('a', 'b')"
    )


def test_the_programs_write_by_the_one_function():
    """No other file of the sources opens one for writing."""
    # What programs of others have preloaded knows nothing of the suite, and writes as whole.
    own = {"base/atomic_file.cpp", "record/written.cpp"}
    sources = REPOSITORY / "src"
    for path in sources.rglob("*.[ch]pp"):
        text = path.read_text()
        name = str(path.relative_to(sources))
        words = [word for word in ("ofstream", "fopen(", "O_CREAT", "mkstemp(") if word in text]
        # Room that is tried, files that compilers and runtimes read, and memory that processes share.
        assert not words or name in own | SCRATCH, (name, words)


SCRATCH = {"device/folders.cpp", "card/memory.cpp"}
