"""tools/setup.py on systems made of files, where apt-get, dpkg-query, python3 and pip only keep a record."""

import ast
import importlib.util
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = tomllib.loads((REPOSITORY / "tools" / "packages.toml").read_text())

APT = """
echo "apt-get $*" >>"$RECORD"
[ -z "$APT_FAILS" ] || { echo "E: $APT_FAILS" >&2; exit 100; }
[ "$1" = install ] || exit 0
for word in "$@"; do
  [ "$word" != "$APT_LACKS" ] || { echo "E: Unable to locate package $word" >&2; exit 100; }
done
for word in "$@"; do cp -r "$SHELF/$word/." "$SYSTEM" 2>/dev/null; done
exit 0
"""
DPKG = 'for name in $DPKG_HAS; do [ "$name" != "$3" ] || printf "install ok installed"; done'
# Stands for the interpreter that makes .venv and, copied there, for the one inside.
PYTHON = """
echo "python $*" >>"$RECORD"
case "$*" in
  "-m venv "*) mkdir -p "$3/bin"; ln -s "$0" "$3/bin/python"; printf '%s' "$FABRICMARK" >"$3/bin/fabricmark"
               chmod +x "$3/bin/fabricmark" ;;
  "-c "*) echo "True ${0%/bin/python}" ;;
  *" install "*) [ -z "$PIP_FAILS" ] || { echo "$PIP_FAILS"; exit 1; } ;;
esac
"""
FABRICMARK = """#!/bin/sh
PATH=/usr/bin:/bin
echo "fabricmark $*" >>"$RECORD"
mkdir -p .runtimes/$3/lib && touch .runtimes/$3/lib/libintelocl.so
"""

# What could reach the set-up from the surroundings of this test.
VARIABLES = [
    "CXX",
    "OCL_ICD_VENDORS",
    "OPENCL_VENDOR_PATH",
    "OCL_ICD_FILENAMES",
    "CMAKE_PREFIX_PATH",
    "CONDA_PREFIX",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "APT_FAILS",
    "APT_LACKS",
    "PIP_FAILS",
    "DPKG_HAS",
    "DEBIAN_FRONTEND",
    "LC_ALL",
]


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n")
    path.chmod(0o755)


class Machine:
    """A system below one folder; every package of packages.toml is in place until a test takes it away."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.root, self.system, self.record = folder / "a checkout", folder / "system", folder / "record"
        self.programs = self.system / "usr" / "bin"
        (self.root / "tools").mkdir(parents=True)
        for name in ("setup.py", "packages.toml"):
            shutil.copy(REPOSITORY / "tools" / name, self.root / "tools")
        (self.root / "requirements.txt").write_text("numpy==1\n")
        (self.root / "requirements-dev.txt").write_text("-r requirements.txt\npytest==1\n")
        (self.root / "requirements-rtl.txt").write_text("-r requirements.txt\ncocotb==1\n")
        (self.root / "pyproject.toml").write_text("[project]\n")
        (self.root / "python" / "fabricmark" / "base").mkdir(parents=True)
        (self.root / "python" / "fabricmark" / "base" / "runtimes.py").write_text("VERSION = 1\n")
        for name, package in PACKAGES.items():
            self.put_on_shelf(name, package)
            shutil.copytree(folder / "shelf" / name, self.system, dirs_exist_ok=True)
        write_program(self.programs / "apt-get", APT)
        write_program(self.programs / "dpkg-query", DPKG)
        write_program(folder / "python", PYTHON)
        self.register_driver("libpocl.so.2", "pocl.icd")
        for variable in VARIABLES:
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("PATH", str(self.programs))
        monkeypatch.setenv("RECORD", str(self.record))
        monkeypatch.setenv("SHELF", str(folder / "shelf"))
        monkeypatch.setenv("SYSTEM", str(self.system))
        monkeypatch.setenv("FABRICMARK", FABRICMARK)
        script = self.root / "tools" / "setup.py"
        specification = importlib.util.spec_from_file_location("setup_of_test", script)
        self.module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.module)
        monkeypatch.setattr(self.module, "SYSTEM", self.system)
        monkeypatch.setattr(self.module, "base_python", lambda: str(folder / "python"))
        self.be_root(False)

    def put_on_shelf(self, name, package):
        shelf = self.folder / "shelf" / name
        shelf.mkdir(parents=True)
        for tool in package.get("tool", [])[:1]:
            write_program(shelf / "usr" / "bin" / tool, f"echo version {package.get('minimum', 1)}.1")
        for key, kind in (("header", "include"), ("library", "lib/x86_64-linux-gnu")):
            for file in package.get(key, []):
                (shelf / "usr" / kind / file).parent.mkdir(parents=True, exist_ok=True)
                (shelf / "usr" / kind / file).touch()

    def be_root(self, yes):
        self.monkeypatch.setattr(self.module.os, "geteuid", lambda: 0 if yes else 1000)

    def take_away(self, *names):
        for name in names:
            for file in (self.folder / "shelf" / name).rglob("*"):
                if file.is_file():
                    (self.system / file.relative_to(self.folder / "shelf" / name)).unlink()

    def register_driver(self, library, icd):
        (self.system / "usr/lib" / library).touch()
        vendors = self.system / "etc/OpenCL/vendors"
        vendors.mkdir(parents=True, exist_ok=True)
        (vendors / icd).write_text(library + "\n")

    def forget_drivers(self):
        shutil.rmtree(self.system / "etc/OpenCL/vendors")

    def setup(self, *arguments):
        """Exit code, and the commands that were run."""
        self.record.write_text("")
        code = self.module.main(list(arguments))
        return code, self.record.read_text().replace(str(self.root), "ROOT").splitlines()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def installs(commands):
    return [command for command in commands if " install " in command]


def test_first_run_makes_the_environment_and_the_second_does_nothing(machine, capsys):
    code, commands = machine.setup()
    assert code == 0
    assert commands[0] == "python -m venv ROOT/.venv"
    assert commands[1].endswith("install --no-compile -r ROOT/requirements.txt")
    assert commands[2].endswith("install --no-compile --no-build-isolation --no-deps --editable ROOT")
    assert len(commands) == 3
    capsys.readouterr()
    assert machine.setup() == (0, [])
    assert capsys.readouterr() == ("", "")


def test_root_installs_exactly_what_is_missing(machine, capsys):
    machine.be_root(True)
    machine.take_away("libfmt-dev", "cmake", "openmpi-bin")
    code, commands = machine.setup()
    assert code == 0
    assert commands[0].startswith("apt-get update")
    assert commands[1].startswith("apt-get install -y --no-install-recommends")
    assert commands[1].endswith(" cmake openmpi-bin libfmt-dev")
    assert "setup: apt-get install cmake openmpi-bin libfmt-dev" in capsys.readouterr().out
    assert "cmake==" not in " ".join(commands)
    assert machine.setup() == (0, [])


def test_root_adds_pocl_where_only_a_gpu_has_opencl(machine):
    machine.be_root(True)
    machine.forget_drivers()
    machine.register_driver("libnvidia-opencl.so.1", "nvidia.icd")
    assert machine.setup()[1][1].endswith(f" {machine.module.POCL}")


def test_user_gets_the_exact_command(machine, capsys):
    machine.take_away("g++", "libxxhash-dev", "libmuparser-dev", "cmake")
    assert machine.setup() == (3, [])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "sudo apt-get install g++ libmuparser-dev libxxhash-dev"


def test_peers_are_asked_for_by_bench_only(machine, capsys):
    machine.take_away("hpcc")
    assert machine.setup()[0] == 0
    assert "hpcc" not in capsys.readouterr().out
    assert machine.setup("--also", "bench")[0] == 0
    assert "hpcc" in capsys.readouterr().out


AMDS = "libxrt1", "clang-15"


def test_amds_runtime_is_asked_for_by_tests_only(machine, capsys):
    """As root it is installed, which is said; else what is lost."""
    machine.take_away(*AMDS)
    assert machine.setup()[0] == 0
    assert "libxrt1" not in capsys.readouterr().out
    assert machine.setup("--also", "dev")[0] == 0
    assert "no libxrt1, clang-15: tests then skip AMD's XRT; to change that: " in capsys.readouterr().out
    machine.be_root(True)
    code, commands = machine.setup("--also", "dev")
    assert code == 0 and installs(commands)[0].endswith(" libxrt1 clang-15")
    assert "setup: apt-get install libxrt1 clang-15" in capsys.readouterr().out
    assert machine.setup("--also", "dev") == (0, [])


def test_a_package_that_there_is_not_keeps_no_other_one_away(machine, capsys):
    """As on a distribution without AMD's runtime."""
    machine.be_root(True)
    machine.take_away("libfmt-dev", *AMDS)
    machine.monkeypatch.setenv("APT_LACKS", "libxrt1")
    code, commands = machine.setup("--also", "dev")
    assert code == 0 and installs(commands)[1].endswith(" libfmt-dev")
    assert "no libxrt1, clang-15: tests then skip AMD's XRT" in capsys.readouterr().out


@pytest.mark.parametrize("old", [False, True])
def test_cmake_comes_from_pypi_when_missing_or_old(machine, old):
    machine.take_away("cmake", "ninja-build")
    if old:
        write_program(machine.programs / "cmake", "echo cmake version 3.22.1")
    code, commands = machine.setup()
    assert code == 0
    assert commands[1].endswith(f"{PACKAGES['cmake']['pypi']} {PACKAGES['ninja-build']['pypi']}")
    # What set-up itself put into .venv is not taken for the system's, even when .venv is activated.
    write_program(machine.root / ".venv/bin/cmake", "echo cmake version 3.31.6")
    machine.monkeypatch.setenv("PATH", f"{machine.root}/.venv/bin:{machine.programs}")
    assert machine.setup() == (0, [])


def test_without_mpi_it_goes_on_and_says_what_is_lost(machine, capsys):
    machine.take_away("libopenmpi-dev", "openmpi-bin")
    assert machine.setup()[0] == 0
    note = "note: no libopenmpi-dev, openmpi-bin: ranks then share one process; "
    assert note + "to change that: sudo apt-get install libopenmpi-dev openmpi-bin" in capsys.readouterr().out


def test_a_wrapper_of_mpi_without_its_header_is_not_enough(machine):
    wrapper = machine.programs / "mpicxx"
    write_program(wrapper, 'case "$*" in *"-include mpi.h"*) exit 1; esac')  # as openmpi-bin alone leaves it
    machine.be_root(True)
    assert installs(machine.setup()[1])[0].endswith(" libopenmpi-dev")
    write_program(wrapper, 'case "$*" in *"-include mpi.h"*) exit 0; esac; exit 1')
    assert not installs(machine.setup()[1])


def test_user_without_opencl_gets_intels_runtime(machine):
    machine.forget_drivers()
    code, commands = machine.setup()
    assert code == 0
    assert commands[-1] == "fabricmark runtimes install intel-cpu"
    assert machine.setup() == (0, [])
    (machine.root / "python" / "fabricmark" / "base" / "runtimes.py").write_text("VERSION = 2\n")
    assert machine.setup() == (0, ["fabricmark runtimes install intel-cpu"])


def test_environment_names_the_runtime_only_where_nothing_else_is(machine, capsys):
    machine.forget_drivers()
    machine.setup()
    capsys.readouterr()
    assert machine.setup("--environment") == (0, [])
    shell = capsys.readouterr().out + 'echo "$OCL_ICD_VENDORS"'
    answer = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True)
    assert answer.stdout.strip() == f"{machine.root}/.runtimes/intel-cpu/lib/libintelocl.so"
    (machine.system / "etc/OpenCL/vendors").mkdir(parents=True)
    machine.register_driver("libpocl.so.2", "pocl.icd")
    machine.setup("--environment")
    assert capsys.readouterr().out == ""


def test_a_driver_that_is_gone_is_no_driver(machine):
    vendors = machine.system / "etc/OpenCL/vendors"
    (vendors / "pocl.icd").write_text("/nowhere/libpocl.so.2\n")
    (vendors / "nvidia.icd").write_text("libnothing-of-this-name.so.1\n")
    assert machine.module.opencl_drivers() == []


@pytest.mark.parametrize("variable", ["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"])
def test_drivers_named_by_variables_count(machine, variable):
    machine.forget_drivers()
    library = machine.folder / "libintelocl.so"
    library.touch()
    machine.monkeypatch.setenv(variable, str(library))
    assert machine.module.opencl_drivers() == [str(library)]
    assert machine.module.has_cpu_driver([str(library)])
    assert not machine.module.has_cpu_driver(["libintelocl_emu.so"])


def test_other_distributions_are_told_names(machine, capsys):
    machine.take_away("g++", "opencl-clhpp-headers")
    (machine.programs / "apt-get").unlink()
    (machine.programs / "dpkg-query").unlink()
    assert machine.setup() == (3, [])
    message = capsys.readouterr().err
    assert "g++ 12 or newer (Debian: g++), CL/opencl.hpp (Debian: opencl-clhpp-headers)" in message
    assert "sudo" not in message and message.count("\n") == 1


def test_what_came_another_way_counts(machine):
    machine.take_away("g++", "libfmt-dev", "nlohmann-json3-dev", "libgtest-dev")
    machine.monkeypatch.setenv("CXX", "/opt/compiler/bin/c++")
    prefix = machine.folder / "own software"
    for header in ("fmt/core.h", "nlohmann/json.hpp"):
        (prefix / "include" / header).parent.mkdir(parents=True)
        (prefix / "include" / header).touch()
    machine.monkeypatch.setenv("CMAKE_PREFIX_PATH", str(prefix))
    machine.monkeypatch.setenv("DPKG_HAS", "libgtest-dev")
    assert machine.setup()[0] == 0


def test_apt_without_network_ends_in_one_line(machine, capsys):
    machine.be_root(True)
    machine.take_away("libfmt-dev")
    machine.monkeypatch.setenv("APT_FAILS", "Temporary failure resolving 'mirror'")
    assert machine.setup()[0] == 3
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "Temporary failure resolving" in message and "apt-get install libfmt-dev" in message


def test_apt_without_network_is_not_asked_again_for_what_can_be_done_without(machine):
    machine.be_root(True)
    machine.take_away("openmpi-bin")
    machine.monkeypatch.setenv("APT_FAILS", "Temporary failure resolving 'mirror'")
    code, commands = machine.setup()
    assert code == 0 and commands[1].endswith(" openmpi-bin")
    assert machine.setup() == (0, [])


def test_pip_without_network_ends_in_one_line_and_the_next_run_starts_over(machine, capsys):
    text = "WARNING: [Errno -3] Temporary failure in name resolution\nERROR: No matching distribution"
    machine.monkeypatch.setenv("PIP_FAILS", text)
    assert machine.setup()[0] == 3
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "Temporary failure in name resolution" in message and "connect to the network" in message
    machine.monkeypatch.delenv("PIP_FAILS")
    code, commands = machine.setup()
    assert (code, commands[0]) == (0, "python -m venv ROOT/.venv")
    assert machine.setup() == (0, [])


def test_other_failures_of_pip_give_its_own_words(machine, capsys):
    machine.monkeypatch.setenv("PIP_FAILS", "Collecting x\nERROR: Invalid requirement: 'x=='\nmore")
    assert machine.setup()[0] == 3
    assert "pip failed (ERROR: Invalid requirement: 'x==')" in capsys.readouterr().err
    assert "Collecting x" in (machine.root / "build/setup.log").read_text()


@pytest.mark.parametrize("damage", ["no python", "no stamp", "moved", "empty"])
def test_a_broken_environment_is_made_again(machine, damage):
    venv = machine.root / ".venv"
    machine.setup()
    if damage == "no python":
        (venv / "bin/python").unlink()
    elif damage == "no stamp":
        (venv / "fabricmark-setup.stamp").unlink()
        (venv / "fabricmark-setup.unfinished").touch()
    elif damage == "moved":
        stamp = venv / "fabricmark-setup.stamp"
        stamp.write_text("place /elsewhere/.venv\nrun hash of the files there\n")
    else:
        shutil.rmtree(venv)
        venv.mkdir()
    code, commands = machine.setup()
    assert (code, commands[0]) == (0, "python -m venv ROOT/.venv")
    assert (venv / "fabricmark-setup.stamp").exists() and not (venv / "fabricmark-setup.unfinished").exists()


def test_changed_requirements_are_installed_into_the_environment_there_is(machine):
    machine.setup("--also", "dev")
    (machine.root / "requirements-dev.txt").write_text("-r requirements.txt\npytest==2\n")
    assert machine.setup() == (0, [])
    code, commands = machine.setup("--also", "dev")
    assert code == 0
    assert not any("-m venv" in command for command in commands)
    assert len(installs(commands)) == 2
    assert machine.setup("--also", "dev") == (0, [])


def test_tests_need_more_packages_than_runs(machine):
    machine.setup()
    code, commands = machine.setup("--also", "dev")
    assert code == 0
    assert installs(commands)[0].endswith("-r ROOT/requirements-dev.txt")
    # Both kinds of targets find their packages now.
    assert machine.setup() == (0, [])
    assert machine.setup("--also", "dev") == (0, [])


def test_packages_of_the_rtl_leave_those_of_tests_in_place(machine):
    machine.setup("--also", "dev")
    code, commands = machine.setup("--also", "rtl")
    assert code == 0
    assert installs(commands)[0].endswith("-r ROOT/requirements-rtl.txt")
    for group in ("dev", "rtl"):
        assert machine.setup("--also", group) == (0, [])
    # What has changed is installed again, and only that.
    (machine.root / "requirements-dev.txt").write_text("-r requirements.txt\npytest==2\n")
    assert machine.setup("--also", "rtl") == (0, [])
    assert len(installs(machine.setup("--also", "dev")[1])) == 2
    assert machine.setup("--also", "rtl") == (0, [])


def test_builds_of_another_place_are_removed(machine):
    for preset, home in (("release", machine.root), ("debug", machine.folder), ("tsan", "/nowhere")):
        (machine.root / "build" / preset).mkdir(parents=True)
        cache = machine.root / "build" / preset / "CMakeCache.txt"
        cache.write_text(f"A:STRING=1\nCMAKE_HOME_DIRECTORY:INTERNAL={home}\n")
    assert machine.setup()[0] == 0
    assert sorted(folder.parent.name for folder in machine.root.glob("build/*/CMakeCache.txt")) == ["release"]


def test_python_that_cannot_make_environments(machine, capsys):
    machine.monkeypatch.setattr(machine.module.importlib.util, "find_spec", lambda name: None)
    assert machine.setup() == (3, [])
    assert capsys.readouterr().err.endswith("sudo apt-get install python3-venv\n")


def test_old_python_is_told_so(machine, capsys):
    # The script has to be readable to the oldest Python that is to get this message.
    ast.parse((REPOSITORY / "tools" / "setup.py").read_text(), feature_version=(3, 9))
    machine.monkeypatch.setattr(machine.module, "OLDEST_PYTHON", (99, 0))
    assert machine.setup() == (3, [])
    assert "make PYTHON=" in capsys.readouterr().err


def test_every_package_can_be_looked_for():
    for name, package in PACKAGES.items():
        assert any(key in package for key in ("tool", "header", "library", "module")), name
        assert "==" in package.get("pypi", "=="), f"{name}: not pinned"
    assert os.access(REPOSITORY / "tools" / "setup.py", os.X_OK)


@pytest.mark.parametrize("has_cmake", [True, False])
def test_what_compiling_needs_is_a_venv_only_where_the_system_has_no_cmake(machine, has_cmake):
    if not has_cmake:
        machine.take_away("cmake")
    assert machine.setup("--build-only")[0] == 0
    assert (machine.root / ".venv").exists() != has_cmake
    assert machine.setup("--build-only") == (0, [])
