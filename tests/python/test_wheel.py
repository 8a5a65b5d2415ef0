"""`make wheel`: what a package with nothing to compile predicts, and what it refuses."""

import email
import json
import os
import resource
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy
import pytest
from conftest import DESCRIBE, REPOSITORY, run_in_process

pytestmark = pytest.mark.programs
PREDICTIONS = {
    "a benchmark": ("predict", "stream", "--system", "noctua1", "--devices", "1,2,4", "--sensitivity"),
    "over a network": ("predict", "hpl", "--system", "noctua1", "--transport", "channels", "--devices", "25"),
    "a collective": ("predict", "allreduce", "--system", "noctua2", "--board", "u280_hbm", "--transport",
                     "accl-udp", "--devices", "8"),
    "what does not fit": ("predict", "gemm", "--system", "noctua1", "--bitstream-id", "520n_multi/gemm",
                          "--set", "size=60000"),
    "published values": ("validate",),
}  # fmt: skip
# What anybody tries first; the most seconds of a processor that each may take, from its start.
FIRST = {
    "a prediction": ("predict", "hpl", "--system", "cygnus", "--devices", "64"),
    "what there is": ("systems", "list"),
    "a report": ("report", "--examples"),
}
MOST_SECONDS = 1.5
# Without an argument too many: each asks for a program, or a library.
NEED_PROGRAMS = (
    "run stream", "run all", "run micro", "run fm_latency", "scale stream --devices 1,2", "calibrate", "tune",
    "verify lbm", "ab fm_stream fm_stream", "list --devices", "systems new", "mesh check bay:1000",
    "systems network here -- mpirun -n 2", "record --output program.trace -- ./program", "compress field.npy",
)  # fmt: skip
REMEDY = "in a clone of the repository run `make install PREFIX=...`, as a wheel only predicts"
# Several commands in one process: their words on standard input, code and errors of each on standard output.
SEVERAL = """
import contextlib, io, json, sys
from fabricmark.cli import app
found = []
for words in json.load(sys.stdin):
    with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()):
        try:
            app(words, prog_name="fabricmark")
        except SystemExit as ended:
            code = ended.code
    found.append([code, errors.getvalue()])
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module", name="wheel")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    words = [
        sys.executable,
        REPOSITORY / "packaging" / "wheel" / "fabricmark_wheel.py",
        "--output",
        folder,
        "--build",
        DESCRIBE.parents[1],
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.whl")
    assert done.stdout == f"wheel: {file}\n"
    return file


@pytest.fixture(scope="module", name="place")
def installed(wheel, tmp_path_factory):
    """An environment of its own with the wheel; what the wheel needs from an index is lent by this one."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], capture_output=True, check=True)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    words = [
        "pip",
        "--python",
        place / "bin" / "python",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    ]
    subprocess.run([sys.executable, "-m", *words], capture_output=True, check=True)
    return place


@pytest.fixture(scope="module", name="run")
def started(place):
    """Runs the command of the installed wheel, with none of this clone's variables and no compiler."""
    return lambda *words, **more: command(place, "fabricmark", *words, **more)


def command(place, program, *words, **more):
    """A program of the environment, in a folder with nothing in it, which is also home."""
    home = place.parent / "home"
    home.mkdir(exist_ok=True)
    bin_ = place / "bin"
    return subprocess.run(
        [bin_ / program, *words], cwd=home, capture_output=True, text=True, check=False, **more,
        env={"PATH": str(bin_), "HOME": str(home)},
    )  # fmt: skip


def test_what_is_in_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.endswith(".whl") and "-py3-none-manylinux_2_" in wheel.name
    # Also those that others are like, and what a kernel includes.
    share = "share/fabricmark/"
    kernels = sorted(path.relative_to(REPOSITORY) for path in (REPOSITORY / "kernels").rglob("*.*"))
    shipped = [Path(name.split(share)[1]) for name in names if share + "kernels/" in name]
    assert sorted(shipped) == kernels
    assert any(name.endswith("share/fabricmark/systems/noctua1.toml") for name in names)
    assert any(name.endswith("fabricmark/launchers/srun.toml") for name in names)
    assert not [name for name in names if name.endswith(".pyc") or "/src/" in name or "/tests/" in name]


def test_what_an_index_is_told(wheel):
    """The fields that an index checks, and a licence of each library."""
    archive = zipfile.ZipFile(wheel)
    (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    fields = email.message_from_bytes(archive.read(file))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert (fields["Name"], fields["Version"]) == ("fabricmark", project["version"])
    assert fields["License-Expression"] == "Apache-2.0" and fields["Summary"] == project["description"]
    assert fields["Description-Content-Type"] == "text/markdown"
    assert fields.get_payload().strip() == (REPOSITORY / "README.md").read_text().strip()
    assert sorted(fields.get_all("Requires-Dist")) == sorted(project["dependencies"])
    licences = fields.get_all("License-File")
    assert all(file.replace("METADATA", f"licenses/{one}") in archive.namelist() for one in licences)
    libraries = {Path(name).name for name in archive.namelist() if "/fabricmark/lib/" in name}
    if Path("/var/lib/dpkg/status").exists():
        assert {"LICENSE", *(f"licenses/{name}.txt" for name in libraries)} == set(licences)


def test_it_asks_for_no_newer_c_library_than_its_name_says(wheel, tmp_path):
    """As `auditwheel show` would see it."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    named = int(wheel.name.split("manylinux_2_")[1].split("_")[0])
    files = [*tmp_path.rglob("fabricmark/bin/*"), *tmp_path.rglob("fabricmark/lib/*")]
    asked = subprocess.run(["readelf", "--version-info", *files], capture_output=True, text=True, check=True)
    versions = {int(word.split(".")[1]) for word in asked.stdout.split() if word.startswith("GLIBC_2.")}
    assert files and named == max(versions)


@pytest.mark.parametrize("words", FIRST.values(), ids=FIRST)
def test_first_steps_are_quick_and_need_no_compiler(run, words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") > 5
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used <= MOST_SECONDS, f"{used:.2f} s"


@pytest.mark.parametrize("words", PREDICTIONS.values(), ids=PREDICTIONS)
def test_it_predicts_what_the_clone_predicts(run, tmp_path, words):
    theirs = run(*words)
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(REPOSITORY / "python")}
    ours = run_in_process(words, own, tmp_path, tmp_path)
    assert (theirs.returncode, theirs.stdout, theirs.stderr) == (ours.returncode, ours.stdout, ours.stderr)
    assert theirs.stdout or "; " in theirs.stderr


def test_its_program_brings_all_libraries_but_the_systems(wheel, tmp_path):
    """What a loader finds of them where the package is."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (program,) = tmp_path.rglob(f"bin/{DESCRIBE.name}")
    program.chmod(0o755)
    own = str(program.parents[1] / "lib")
    variables = {**os.environ, "LD_LIBRARY_PATH": own}
    found = subprocess.run(["ldd", program], env=variables, capture_output=True, text=True, check=True)
    lines = [line.split() for line in found.stdout.splitlines() if "=> /" in line]
    others = {name for name, _, file, _ in lines if not file.startswith(own)}
    assert len(lines) - len(others) >= 5 and others <= {"libc.so.6", "libm.so.6"}, found.stdout


def test_it_does_not_measure(place):
    """Each command that needs a program ends with one line, which says where to get it."""
    (place.parent / "home").mkdir(exist_ok=True)
    numpy.save(place.parent / "home" / "field.npy", numpy.zeros((8, 8), numpy.float32))
    asked = json.dumps([line.split() for line in NEED_PROGRAMS])
    found = json.loads(command(place, "python", "-c", SEVERAL, input=asked).stdout)
    said = dict(zip(NEED_PROGRAMS, found, strict=True))
    wrong = {line: one for line, one in said.items() if one[0] != 3 or not one[1].endswith(f"; {REMEDY}\n")}
    assert wrong == {}
    assert {errors.count("\n") for _, errors in found} == {1}


@pytest.mark.full
def test_pip_makes_the_same_of_a_clone(wheel):
    """`pip wheel .` and `pip install .` come to the module that `make wheel` is."""
    table = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["build-system"]
    assert (REPOSITORY / table["backend-path"][0] / f"{table['build-backend']}.py").is_file()
    code = f"import {table['build-backend']} as one, sys; print(one.build_wheel(sys.argv[1]))"
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY / table["backend-path"][0])}
    folder = wheel.parent / "by_pip"
    done = subprocess.run(
        [sys.executable, "-c", code, folder], env=variables, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{wheel.name}\n"), done.stderr
    names = [zipfile.ZipFile(file).namelist() for file in (wheel, folder / wheel.name)]
    assert names[0] == names[1]


def test_a_clone_without_the_program_says_so(tmp_path):
    words = [sys.executable, REPOSITORY / "packaging" / "wheel" / "fabricmark_wheel.py", "--build", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"wheel: error: {tmp_path}/bin/{DESCRIBE.name} is not built; run `make wheel`\n"
