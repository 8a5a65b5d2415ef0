"""Limits of the machine as the process has it, and remedies: each is tried by doing what it says."""

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from conftest import REPOSITORY
from stream_program import SHORT, only_error

pytestmark = pytest.mark.programs
NOBODY = 65534
SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
LARGE = ("--size", "2^27", "--repetitions", "2")  # three arrays of 512 MiB, on the host and on the device


def shell(stream, before, *words, **variables):
    """The program as a shell starts it after `before`."""
    command = f'{before} exec "$0" "$@"'
    return stream.start(*words, launcher=("bash", "-c", command), variables=variables)


def compiled(folder, name, text, *flags):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    source = folder / f"{name}.c"
    source.write_text(text)
    made = folder / name
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", made, *flags], check=True)
    return made


@pytest.fixture
def vendors(tmp_path):
    """A folder with the system's .icd files, to add to."""
    folder = tmp_path / "vendors"
    folder.mkdir()
    for file in SYSTEM_VENDORS.glob("*.icd"):
        shutil.copy(file, folder)
    return folder


def crashing(folder, vendors, call):
    """A vendor's library that ends who loads it, with its .icd file."""
    text = f"#include <stdlib.h>\n__attribute__((constructor)) static void boom(void) {{ {call}; }}\n"
    library = compiled(folder, "libcrash.so", text)
    (vendors / "bad.icd").write_text(f"{library}\n")
    return library


def test_a_limit_of_the_address_space_is_seen(stream, found):
    if found[0]["class"] != "cpu":
        pytest.skip("its memory is not the host's")
    done = shell(stream, "ulimit -v 3000000;", *LARGE)
    line = only_error(done, codes=(2,))
    assert "size = 134217728 needs" in line and "RLIMIT_AS" in line and "reduce size" in line
    # The remedy: a factor that the message names makes it run.
    assert shell(stream, "ulimit -v 3000000;", *SHORT).code == 0


def test_a_limit_of_a_control_group_is_seen(stream, found):
    """Needs a group that may be made: root, version 1 or 2."""
    root = Path("/sys/fs/cgroup")
    parent = root / "memory" if (root / "memory").is_dir() else root
    limit = "memory.limit_in_bytes" if parent != root else "memory.max"
    group = parent / f"fabricmark-{uuid.uuid4().hex[:8]}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no control group can be made")
    try:
        (group / limit).write_text(str(400 << 20))
        (group / "cgroup.procs").touch()
    except OSError:
        group.rmdir()
        pytest.skip("no memory controller")
    try:
        done = shell(stream, f"echo $$ > {group}/cgroup.procs;", *LARGE)
    finally:
        group.rmdir()
    line = only_error(done, codes=(2,))
    assert str(group) in line and "reduce size" in line


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_a_mask_of_one_processor_is_one_unit(stream, found):
    if "Portable" not in found[0]["platform"]:
        pytest.skip("the first device is not PoCL's")
    core = min(os.sched_getaffinity(0))
    done = stream.valid(*SHORT, launcher=("taskset", "-c", str(core)))
    assert done.document["environment"]["device"]["compute_units"] == 1
    assert done.document["parameters"]["replications"] == 1


@pytest.mark.parametrize("words", [(), ("--ranks", "2")])
def test_64_kib_of_stack_are_enough(stream, found, words):
    done = shell(stream, "ulimit -s 64;", *SHORT, *words)
    assert done.code == 0, done.errors


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(stream, found, tmp_path):
    variables = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "", "POCL_CACHE_DIR": "", "TMPDIR": str(tmp_path)}
    assert shell(stream, "", *SHORT, "--vector-width", "4", **variables).code == 0
    if "Portable" in found[0]["platform"]:
        (made,) = tmp_path.glob("fabricmark-pocl-*")
        assert any(made.iterdir()) and made.stat().st_mode & 0o77 == 0


def test_a_cache_that_the_user_names_is_the_remedy(stream, found, tmp_path):
    if "Portable" not in found[0]["platform"]:
        pytest.skip("the first device is not PoCL's")
    words = (*SHORT, "--platform", "0", "--vector-width", "4")
    line = only_error(shell(stream, "", *words, POCL_CACHE_DIR="/proc/nowhere"), codes=(3,))
    assert "/proc/nowhere" in line and "POCL_CACHE_DIR" in line
    assert shell(stream, "", *words, POCL_CACHE_DIR=str(tmp_path / "own")).code == 0


@pytest.mark.parametrize("call", ["abort()", "*(volatile int*)0 = 1"])
def test_a_runtime_that_ends_the_program_is_named(stream, found, tmp_path, vendors, call):
    library = crashing(tmp_path, vendors, call)
    line = only_error(stream.start("--list-devices", variables={"OCL_ICD_VENDORS": str(vendors)}), codes=(3,))
    assert str(library) in line and str(vendors / "bad.icd") in line and "OCL_ICD_VENDORS" in line
    (vendors / "bad.icd").unlink()  # the remedy
    done = stream.start("--list-devices", variables={"OCL_ICD_VENDORS": str(vendors)})
    assert done.code == 0, done.errors


def test_the_command_shows_what_the_program_says_of_a_broken_runtime(
    with_programs, tmp_path, vendors, one_error_line
):
    library = crashing(tmp_path, vendors, "abort()")
    line = one_error_line(with_programs.run("list", "--devices", OCL_ICD_VENDORS=str(vendors)), 3)
    assert str(library) in line and "OCL_ICD_VENDORS" in line


@pytest.mark.parametrize("versions", [False, True])
def test_a_library_that_is_no_loader_is_named(with_programs, stream, tmp_path, one_error_line, versions):
    """LD_LIBRARY_PATH may bring a libOpenCL of another package, with which the programs do not start."""
    folder = tmp_path / "libraries"
    folder.mkdir()
    text = "int clGetPlatformIDs(unsigned n, void* p, unsigned* c) { if (c) *c = 0; return -1001; }\n"
    flags = ["-Wl,-soname,libOpenCL.so.1"]
    if versions:
        (tmp_path / "map").write_text("OPENCL_1.0 { global: *; };\nOPENCL_1.2 { } OPENCL_1.0;\n")
        flags.append(f"-Wl,--version-script={tmp_path / 'map'}")
    made = compiled(folder, "libOpenCL.so.1", text, *flags)
    line = one_error_line(with_programs.run("list", "--devices", LD_LIBRARY_PATH=str(folder)), 3)
    assert "LD_LIBRARY_PATH" in line and str(made) in line
    # The remedy; a library in the current folder is none of theirs.
    assert shell(stream, f"cd {folder};", "--list-devices").code == 0


def test_another_loader_that_finds_nothing_is_named(stream, found, tmp_path):
    usual = next((file for file in Path("/usr/lib").glob("*/libOpenCL.so.1")), None)
    if usual is None:
        pytest.skip("no loader of the system to copy")
    other = shutil.copy(usual, tmp_path / "libOpenCL.so.1")
    (tmp_path / "none").mkdir()
    variables = {"LD_LIBRARY_PATH": str(tmp_path), "OCL_ICD_VENDORS": str(tmp_path / "none")}
    line = only_error(stream.start("--list-devices", variables=variables), codes=(3,))
    assert f"by '{other}', which comes from LD_LIBRARY_PATH" in line


def test_names_beyond_ascii_are_shown_without_a_locale():
    """An application of the kind that the command is."""
    program = (
        "import sys\n"
        "from fabricmark.base.errors import FabricmarkError\n"
        "from fabricmark.cli import OneLineErrors\n"
        "app = OneLineErrors()\n"
        "@app.command()\n"
        "def show(name: str):\n"
        "    print(name)\n"
        "    raise FabricmarkError(f'no results in {name}', 'name another folder')\n"
        "app()\n"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment = {**os.environ, **plain, "PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(
        [sys.executable, "-c", program, "Mäße".encode()], env=environment, capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert "no results in Mäße; name another folder" in done.stderr.decode("utf-8")
    assert b"udc" not in done.stderr
