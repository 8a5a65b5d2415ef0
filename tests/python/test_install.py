"""`make install`: programs, kernels, systems and the command work from PREFIX alone."""

import json
import os
import shutil
import subprocess
import tomllib

import fabricmark
import pytest
import simulated_runs
import test_outside_transports as outside
from conftest import REPOSITORY
from stream_program import mpirun

BUILD = REPOSITORY / "build" / "release"
pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation, from the build that is there."""
    tools = f"{REPOSITORY / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    cmake = shutil.which("cmake", path=tools)
    folder = tmp_path_factory.mktemp("install") / "prefix"
    done = subprocess.run(
        [cmake, "--install", BUILD, "--prefix", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


# Calls the program that it stands before, with one pass in place of as many as are asked for.
ONE_PASS = """#!/bin/bash
words=()
while (($#)); do
  words+=("$1")
  if [[ $1 == --passes ]]; then words+=(1); shift; fi
  shift
done
exec "$0-of-many-passes" "${words[@]}"
"""


@pytest.fixture
def soon_calibrated(prefix):
    """The installed fm_calibrate measures in one pass where the command asks for several."""
    program = prefix / "bin" / "fm_calibrate"
    aside = program.rename(f"{program}-of-many-passes")
    program.write_text(ONE_PASS)
    program.chmod(0o755)
    yield
    aside.rename(program)


@pytest.fixture
def run(prefix, tmp_path):
    """Runs an installed program in a folder of its own, with none of this clone's variables."""
    kept = ("PATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    # One home for all, so that the device is measured once.
    environment |= {"HOME": str(prefix.with_name("home"))}

    def start(program, *words):
        command = [prefix / "bin" / program, *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    return start


def test_the_installed_command_runs_and_reports(run, prefix, tmp_path, soon_calibrated):
    done = run("fabricmark", "run", "stream", "--", "--size", "4096", "--repetitions", "2")
    assert done.returncode == 0, done.stderr
    (limits,) = (prefix.with_name("home") / ".cache/fabricmark/calibration").glob("*.json")
    assert json.loads(limits.read_text())["passes"] == 1, "measured by the installed program"
    files = list((tmp_path / "results").rglob("*.json"))
    assert len(files) == 1
    assert json.loads(files[0].read_text())["run"]["exit_code"] == 0
    done = run("fabricmark", "report", "results", "--full", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert "triad" in done.stdout
    assert (tmp_path / "page.html").stat().st_size > 0


def test_every_benchmark_and_system_is_installed(run, prefix):
    listed = run("fabricmark", "list").stdout
    rooms = [REPOSITORY / "src" / room for room in ("benchmarks", "apps")]
    for folder in (folder for room in rooms for folder in room.iterdir()):
        if folder.is_dir() and folder.name != "common":
            assert folder.name in listed
            assert os.access(prefix / "bin" / f"fm_{folder.name}", os.X_OK)
    for file in (BUILD / "micro").glob("*.json"):
        for micro in json.loads(file.read_text())["programs"]:
            assert f"fm_{micro['name']} " in listed
            assert os.access(prefix / "bin" / f"fm_{micro['name']}", os.X_OK)
    assert "noctua2" in run("fabricmark", "systems", "list").stdout
    assert (
        "share/fabricmark/python/fabricmark/launchers/srun.toml"
        in run("fabricmark", "list", "--launchers").stdout
    )


def test_installed_programs_take_the_installed_kernels(run, prefix):
    """And not those of the clone that they were built in, which still is there."""
    file = prefix / "share" / "fabricmark" / "kernels" / "gemm" / "kernel.toml"
    text = file.read_text()
    summary = tomllib.loads(text)["summary"]
    file.write_text(text.replace(summary, "a changed summary", 1))
    try:
        assert "a changed summary" in run("fm_gemm", "--help").stdout
        assert "a changed summary" in run("fabricmark", "list").stdout
    finally:
        file.write_text(text)


def test_a_program_of_others_sends_from_device_to_device(prefix, tmp_path):
    """The example of docs/messages.md, with what is installed and nothing of the clone's build."""
    tools = f"{REPOSITORY / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    cmake = shutil.which("cmake", path=tools)
    example = REPOSITORY / "docs" / "examples" / "messages"
    for words in (("-S", example, "-B", ".", f"-DCMAKE_PREFIX_PATH={prefix}"), ("--build", ".")):
        done = subprocess.run([cmake, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    environment = {**os.environ, "FABRICMARK_CACHE": str(prefix.with_name("home"))}
    ways = [(["./messages"], "4 ranks, sum 10, as it has to be")]
    if "WITH_MPI" in (tmp_path / "compile_commands.json").read_text():
        ways.append(([*mpirun(2), "./messages", "mpi"], "2 ranks, sum 3, as it has to be"))
    for command, expected in ways:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
        assert "protocols over host: " in done.stdout


def test_pkg_config_finds_the_library_of_messages(prefix, tmp_path):
    """By the command of docs/messages.md, in the folder of the example; PREFIX is none that CMake knew."""
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not there")
    page = (REPOSITORY / "docs" / "messages.md").read_text()
    compiled = next(line for line in page.splitlines() if line.startswith("c++ "))
    shutil.copy(REPOSITORY / "docs" / "examples" / "messages" / "main.cpp", tmp_path)
    variables = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    variables |= {"LD_LIBRARY_PATH": str(prefix / "lib"), "FABRICMARK_CACHE": str(prefix.with_name("home"))}
    for line, said in (
        ("pkg-config --modversion fabricmark", fabricmark.__version__),
        (compiled, ""),
        ("./messages", "4 ranks, sum 10, as it has to be"),
    ):
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


def test_a_transport_of_ones_own_is_compiled_with_what_is_installed(prefix, tmp_path):
    """The example of CONTRIBUTING.md, as its next sentence says."""
    place = outside.written(tmp_path / "folder")
    command = outside.COMMAND.replace("build/release/include", f"{prefix}/share/fabricmark/include")
    done = subprocess.run(["bash", "-c", command], cwd=place.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    system = simulated_runs.exported(tmp_path, change=outside.named(outside.NAME))
    small = outside.RUNS["b_eff"]
    outside.modelled(outside.run("b_eff", outside.NAME, system, *small, folders=[place], built=prefix))


def test_a_program_that_was_taken_away_is_named(run, prefix):
    program = prefix / "bin" / "fm_hpl"
    aside = program.rename(prefix / "fm_hpl")
    try:
        done = run("fabricmark", "run", "hpl")
    finally:
        aside.rename(program)
    assert done.returncode == 3
    assert "install again" in done.stderr
    assert str(REPOSITORY) not in done.stderr


def test_man_pages_come_from_the_help_texts(run, prefix):
    folder = prefix / "share" / "man" / "man1"
    page = (folder / "fm_stream.1").read_text()
    assert "\\-\\-repetitions" in page and "Sustainable memory bandwidth" in page
    programs = [
        file.name for file in (prefix / "bin").iterdir() if file.name.startswith(("fm_", "fabricmark"))
    ]
    assert sorted(file.stem for file in folder.iterdir()) == sorted(programs)
