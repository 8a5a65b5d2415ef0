"""`make bundle`: what is in it, what it refuses, how it starts programs; it runs where nothing else is."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import REPOSITORY

FOLDER = REPOSITORY / "packaging" / "bundle"
TOOL = FOLDER / "fabricmark_bundle.py"
MOST_BYTES = 60e6
NOBODY = 65534
OTHER_MPI = "usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3"
sys.path.append(str(FOLDER))

import archive  # noqa: E402
import binaries  # noqa: E402
import fabricmark_bundle as bundle  # noqa: E402
import smaller  # noqa: E402


def made(*words, **variables):
    return subprocess.run(
        [sys.executable, TOOL, *words], capture_output=True, text=True, check=False,
        env={**os.environ, **variables},
    )  # fmt: skip


def refusal(done):
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("bundle: error: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    said = refusal(made("--output", tmp_path / "file" / "below"))
    assert f"cannot create {tmp_path}/file/below" in said and "choose another --output" in said


def test_programs_that_are_not_built_are_named(tmp_path):
    said = refusal(made("--output", tmp_path / "o", "--build", tmp_path))
    assert f"{tmp_path} has no programs; run `make programs`" in said
    assert list((tmp_path / "o").iterdir()) == []


def test_a_program_of_another_processor_is_refused(tmp_path):
    (tmp_path / "bin").mkdir()
    of_arm = b"\x7fELF\x02\x01\x01" + bytes(11) + (183).to_bytes(2, "little")
    (tmp_path / "bin" / "fm_stream").write_bytes(of_arm)
    said = refusal(made("--output", tmp_path / "o", "--build", tmp_path))
    assert f"{tmp_path}/bin/fm_stream is none for x86-64" in said


def test_libraries_are_listed_and_a_missing_one_is_named(tmp_path, monkeypatch):
    found = binaries.libraries([Path(sys.executable).resolve()])
    assert "libc.so.6" in found and all(file.is_file() for file in found.values())
    (tmp_path / "ldd").write_text("#!/bin/sh\necho '  libfmt.so.9 => not found'\n")
    (tmp_path / "ldd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(binaries.Fault, match=r"needs the library libfmt\.so\.9, which is not found"):
        binaries.libraries([tmp_path / "program"])
    with pytest.raises(binaries.Fault, match=r"the library libnone.so.1 is not found; install it"):
        binaries.library("libnone.so.1", "install it")
    with pytest.raises(binaries.Fault, match="none-such-tool is missing; install it"):
        binaries.run("none-such-tool")


def test_a_bare_mpirun_gets_what_the_suite_gives_its_own(tmp_path, monkeypatch):
    assert "hwloc_base_binding_policy = none" in bundle.launcher_lines()
    monkeypatch.setattr(bundle, "OF_LAUNCHER", {("--oversubscribe",): "rmaps_base_oversubscribe = 1"})
    with pytest.raises(binaries.Fault, match="has --bind-to, which no line"):
        bundle.launcher_lines()


def test_files_of_packages_that_runs_need_stay():
    kept = ("numpy/linalg/linalg.py", "matplotlib/mpl-data/fonts/ttf/DejaVuSans.ttf",
            "PIL/_imaging.cpython-311.so",
            "pydantic-2.14.3.dist-info/licenses/LICENSE")  # fmt: skip
    gone = ("numpy/f2py/crackfortran.py", "numpy/tests/test_x.py", "a/b.pyi", "PIL/_avif.cpython-311.so")
    assert not [name for name in kept if bundle.UNUSED.search(name)]
    assert [name for name in gone if bundle.UNUSED.search(name)] == list(gone)
    modules = ("os.py", "json/decoder.py", "lib-dynload/_ctypes.cpython-311.so", "sqlite3/__init__.py")
    assert not [name for name in modules if bundle.UNUSED_MODULES.search(name)]
    assert smaller.OF_TARGET.match("LLVMInitializeAMDGPUTargetMC").group(1) == "AMDGPU"


def test_an_archive_has_the_same_bytes_of_the_same_files(tmp_path):
    folder = tmp_path / "one"
    (folder / "bin").mkdir(parents=True)
    shutil.copy("/bin/true", folder / "program")
    (folder / "bin" / "link").symlink_to("../program")
    (folder / ("long" * 30)).write_text("a name of more than a hundred letters")
    first = archive.packed(folder)
    os.utime(folder / "program", (1, 1))
    assert archive.packed(folder) == first
    archive.write(folder, tmp_path / "made.tar.xz")
    subprocess.run(["tar", "-xJf", "made.tar.xz", "--one-top-level=got"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "got" / "one" / "bin" / "link"], check=True)
    with tarfile.open(tmp_path / "made.tar.xz") as opened:
        assert {(entry.uid, entry.mtime) for entry in opened} == {(0, archive.ANY_DAY)}
    assert (tmp_path / "got" / "one" / ("long" * 30)).is_file()


@pytest.fixture(scope="module", name="place")
def small_bundle(tmp_path_factory):
    """The launcher with programs that show what they are given, and drivers of a host."""
    root = tmp_path_factory.mktemp("bundle")
    host = root / "vendors"
    host.mkdir()
    (host / "nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    (host / "pocl.icd").write_text("libpocl.so.2.9.0\n")
    for folder in ("libexec/link", "bin", "etc/OpenCL/vendors", "share/fabricmark"):
        (root / folder).mkdir(parents=True)
    values = {"GLIBC_MINOR": 0, "GLIBCXX_MINOR": 99, "POCL": '"lib/libpocl.so.2"', "VENDORS": f'"{host}"'}
    words = [f"-D{name}={value}" for name, value in values.items()]
    launcher = root / "libexec" / "launcher"
    subprocess.run(
        ["cc", "-static", "-Wall", "-Wextra", "-Werror", *words, "-o", launcher, FOLDER / "launcher.c"],
        check=True,
    )
    for name, real in {"fm_show": "env", "ld": "echo"}.items():
        shutil.copy(shutil.which(real), root / "libexec" / name)
    for link in ("bin/fm_show", "bin/fm_gone", "libexec/link/ld"):
        (root / link).symlink_to("../launcher" if "/link/" in link else "../libexec/launcher")
    return root


def shown(place, tmp_path, **variables):
    variables = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), **variables}
    done = subprocess.run(
        [place / "bin" / "fm_show"], env=variables, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def test_programs_find_the_bundles_parts_and_the_hosts_drivers(place, tmp_path):
    found = shown(place, tmp_path, OMPI_MCA_mca_base_component_path="/elsewhere", OPAL_PREFIX="/usr")
    assert found["PATH"] == f"{place}/libexec/link:{place}/bin:/usr/bin:/bin:{place}/libexec/tools"
    assert found["OPAL_PREFIX"] == f"{place}/mpi" and "OMPI_MCA_mca_base_component_path" not in found
    assert found["FABRICMARK_KERNELS"] == f"{place}/share/fabricmark/kernels"
    assert "LD_LIBRARY_PATH" not in found, "programs of the host would load the bundle's libraries"
    folder = Path(found["OCL_ICD_VENDORS"])
    drivers = {file.name: file.read_text().strip() for file in folder.iterdir()}
    assert drivers == {"00.icd": "libnvidia-opencl.so.1", "pocl.icd": f"{place}/lib/libpocl.so.2"}
    again = shown(place, tmp_path, PATH=found["PATH"])
    assert (again["PATH"], again["OCL_ICD_VENDORS"]) == (found["PATH"], str(folder))
    assert [file.name for file in tmp_path.iterdir()] == [folder.name], (
        "a second start leaves no second folder"
    )
    assert shown(place, tmp_path, OCL_ICD_VENDORS="/one/driver.so")["OCL_ICD_VENDORS"] == "/one/driver.so"


def test_a_folder_of_somebody_else_is_not_read(place, tmp_path):
    """In /tmp any user may have made the name before."""
    folder = Path(shown(place, tmp_path)["OCL_ICD_VENDORS"])
    folder.chmod(0o777)
    done = subprocess.run(
        [place / "bin" / "fm_show"], env={"TMPDIR": str(tmp_path)}, capture_output=True, text=True
    )
    assert f"OCL_ICD_VENDORS={place}/etc/OpenCL/vendors" in done.stdout
    assert done.stderr.startswith(f"bundle: {folder} ") and done.stderr.count("\n") == 1


def test_a_missing_program_is_named(place):
    done = subprocess.run([place / "bin" / "fm_gone"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"bundle: error: fm_gone is not in the bundle {place}; unpack it again, all of it\n"


def test_kernels_are_linked_without_a_compilers_libraries(place, tmp_path):
    words = [
        "-shared",
        "-o",
        "/c/tempfile_1.so",
        "-L/usr/lib",
        "/c/tempfile_1.so.o",
        "-lm",
        "--as-needed",
        "-lgcc_s",
    ]
    linked = lambda *words: subprocess.run(  # noqa: E731
        [place / "libexec" / "link" / "ld", *words],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    ).stdout.split()
    assert linked(*words) == ["-shared", "-o", "/c/tempfile_1.so", "/c/tempfile_1.so.o", "--as-needed"]
    # Of a compiler that the program calls, the host's does it.
    (tmp_path / "ld").write_text("#!/bin/sh\necho host $*\n")
    (tmp_path / "ld").chmod(0o755)
    assert linked("-o", "library.so", "-lm") == ["host", "-o", "library.so", "-lm"]


@pytest.fixture(scope="module", name="empty")
def unpacked(tmp_path_factory):
    """A root folder with the bundle and another Open MPI in its usual place; (folder, archive)."""
    if os.geteuid() != 0:
        pytest.skip("chroot needs root")
    output = tmp_path_factory.mktemp("made")
    done = made("--output", output)
    assert done.returncode == 0, done.stderr
    (file,) = output.glob("*.tar.xz")
    assert re.fullmatch(rf"bundle: {re.escape(str(file))} \([0-9.]+ MB\)\n", done.stdout)
    root = tmp_path_factory.mktemp("root")
    for name in ("opt", "proc", "dev/shm", "tmp", "usr/bin", "etc/openmpi", OTHER_MPI):
        (root / name).mkdir(parents=True)
    (root / "dev" / "null").touch()
    (root / "tmp").chmod(0o1777)
    root.chmod(0o755)
    subprocess.run(["tar", "-xJf", file, "-C", root / "opt"], check=True)
    (unpacked,) = (root / "opt").iterdir()
    unpacked.rename(root / "opt" / "bundle")
    for name in ("mca_btl_vader.so", "mca_pmix_ext3x.so", "mca_pml_ob1.so"):
        (root / OTHER_MPI / name).write_text("of another Open MPI")
    (root / "etc/openmpi/openmpi-mca-params.conf").write_text("pml = none-such\n")
    for name in ("mpirun", "orted"):
        (root / "usr/bin" / name).write_text("#!/none/such\n")
        (root / "usr/bin" / name).chmod(0o755)
    return root, file


def inside(root, *words, **variables):
    """In that root, as nobody, with /proc, /dev/null and /dev/shm alone."""
    mounts = (
        f"mount -t proc proc {root}/proc && mount --bind /dev/null {root}/dev/null && "
        f"mount -t tmpfs -o mode=1777 none {root}/dev/shm && "
        f'exec chroot --userspec={NOBODY}:{NOBODY} {root} "$@"'
    )
    variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", **variables}
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", mounts, "inside", *words],
        env=variables,
        capture_output=True,
        text=True,
    )


@pytest.mark.full
@pytest.mark.programs
def test_it_is_small_and_says_what_it_carries(empty):
    root, file = empty
    assert file.stat().st_size <= MOST_BYTES
    folder = root / "opt" / "bundle"
    said = json.loads((folder / "manifest.json").read_text())
    assert {"libpocl2", "libopenmpi3", "libc6", "dash", "binutils-x86-64-linux-gnu"} <= set(said["parts"])
    without = [name for name, part in said["parts"].items() if not (part["version"] and part["licence"])]
    assert without == [] and "numpy" in said["python_packages"]
    named = {name for part in said["parts"].values() for name in part["files"]} | set(said["changed"])
    libraries = {str(path.relative_to(folder)) for path in folder.rglob("*.so*") if not path.is_symlink()}
    own = {name for name in libraries if re.search("fabricmark|-packages/", name)}
    assert libraries - own <= named
    assert all((folder / part["licence"]).is_file() for part in said["parts"].values())


@pytest.mark.full
@pytest.mark.programs
def test_run_measures_and_reports_where_nothing_is(empty):
    root, _ = empty
    script = "mkdir -p /tmp/here && cd /tmp/here && /opt/bundle/run stream"
    options = "-- --repetitions 1 --size 65536"
    done = inside(root, "/opt/bundle/libexec/tools/sh", "-c", script, RUN_OPTIONS=options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 valid, 0 invalid, 0 failed, 0 skipped" in done.stdout
    assert "was not measured" not in done.stdout + done.stderr and "internal error" not in done.stderr
    results = [json.loads(file.read_text()) for file in root.glob("tmp/here/results/*/*.json")]
    assert sorted(result["run"]["exit_code"] for result in results) == [0, 0, 0]
    (page,) = root.glob("tmp/here/results/*/report.html")
    assert page.stat().st_size > 10_000


@pytest.mark.full
@pytest.mark.programs
@pytest.mark.parametrize("program", ["fm_gemm", "fm_hpl"])
def test_a_bare_mpirun_binds_no_threads(empty, program):
    """Under the bundle's Open MPI, with another one in its usual place."""
    root, _ = empty
    words = ["--size", "256", "--repetitions", "2", "-q"]
    done = inside(root, "/opt/bundle/bin/mpirun", "-n", "2", program, *words)
    assert done.returncode == 0 and "valid" in done.stdout, done.stdout + done.stderr
    code = "import os; print(sorted(os.sched_getaffinity(0)))"
    done = inside(root, "/opt/bundle/bin/mpirun", "-n", "2", "python3", "-c", code)
    assert done.stdout.splitlines() == [str(sorted(os.sched_getaffinity(0)))] * 2, done.stderr


@pytest.mark.full
@pytest.mark.programs
@pytest.mark.parametrize("name", ["fft", "hpl", "gemm", "random_access", "ptrans", "b_eff", "shallow_water"])
def test_every_kind_of_kernel_is_compiled_by_the_smaller_llvm(empty, name):
    root, _ = empty
    for variant in ("base",) if name == "b_eff" else ("base", "throughput"):
        done = inside(root, f"/opt/bundle/bin/fm_{name}", "--variant", variant, "--repetitions", "1", "-q")
        assert done.returncode == 0 and "valid" in done.stdout, done.stderr
