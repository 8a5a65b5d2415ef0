"""OpenCL runtimes from PyPI: environment, and an installation that is done once and said aloud."""

import sys
from pathlib import Path

import pytest
from fabricmark.base import runtimes, xrt
from fabricmark.base.errors import FabricmarkError


@pytest.fixture
def fake_pip(place, monkeypatch):
    """A `python -m venv` and pip that only make the library, and note what they were asked for."""
    asked = []

    def run_or_fail(command, remedy):
        asked.append(command)
        if "pip" in command:
            name = next(
                key for key, runtime in runtimes.INSTALLABLE.items() if str(runtime.folder()) in command[0]
            )
            library = runtimes.INSTALLABLE[name].library_path()
            library.parent.mkdir(parents=True, exist_ok=True)
            library.touch()
        elif "-o" in command:
            Path(command[command.index("-o") + 1]).touch()

    monkeypatch.setattr(runtimes, "run_or_fail", run_or_fail)
    return asked


def test_install_once(fake_pip, capsys):
    assert runtimes.install("intel-cpu") is True
    assert fake_pip[0][:3] == [sys.executable, "-m", "venv"]
    assert fake_pip[1][-2:] == ["intel-opencl-rt==2026.2.0", "intel-cmplr-lib-rt==2026.2.0"]
    assert "intel-opencl-rt==2026.2.0" in capsys.readouterr().err
    assert runtimes.install("intel-cpu") is False  # and no network
    assert len(fake_pip) == 2
    assert capsys.readouterr().err == ""
    assert runtimes.installed_names() == ["system", "intel-cpu"]


def test_an_interrupted_installation_is_started_again(fake_pip):
    runtimes.install("fpga-emulator")
    runtime = runtimes.find("fpga-emulator")
    (runtime.folder() / "fabricmark-installed.txt").unlink()
    assert not runtime.installed()
    assert runtimes.install("fpga-emulator") is True


def test_other_pinned_versions_are_installed_anew(fake_pip):
    runtimes.install("intel-cpu")
    (runtimes.find("intel-cpu").folder() / "fabricmark-installed.txt").write_text("intel-opencl-rt==1\n")
    assert not runtimes.find("intel-cpu").installed()


def test_environment(fake_pip):
    runtimes.install("fpga-emulator")
    base = {
        "OCL_ICD_FILENAMES": "/other.so",
        "OPENCL_VENDOR_PATH": "/vendors",
        "LD_LIBRARY_PATH": "/mine",
        "PATH": "/bin",
    }
    found = runtimes.environment("fpga-emulator", base)
    library = runtimes.find("fpga-emulator").library_path()
    assert library.name == "libintelocl_emu.so"
    # Never two runtimes in one process, and the loader stays the system's.
    assert found == {
        "OCL_ICD_VENDORS": str(library),
        "OCL_ICD_FILENAMES": str(library),
        "LD_LIBRARY_PATH": "/mine",
        "PATH": "/bin",
    }
    assert base["OCL_ICD_FILENAMES"] == "/other.so"


@pytest.fixture
def plugin_sources(place, monkeypatch):
    """Sources of the plugin to change."""
    folder = place.folder / "plugin"
    folder.mkdir()
    (folder / "plugin.cpp").write_text("first")
    shared = runtimes.paths.root() / runtimes.ENTRY_POINTS
    shared.parent.mkdir(parents=True)
    shared.write_text("first")
    monkeypatch.setattr(runtimes.paths, "sycl_plugin", lambda: folder)
    return folder


def test_sycl_brings_a_plugin(fake_pip, plugin_sources):
    assert runtimes.install("sycl") is True
    assert "intel-sycl-rt==2026.1.2" in fake_pip[1]
    assert str(plugin_sources / "plugin.cpp") in fake_pip[2]
    found = runtimes.environment("sycl", {"PATH": "/bin"})
    plugin = runtimes.find("sycl").plugin_path()
    assert plugin.is_file() and found["FABRICMARK_SYCL"] == str(plugin)
    assert "FABRICMARK_SYCL" in runtimes.variables("sycl")  # for ranks on other hosts
    assert runtimes.install("sycl") is False
    # Another runtime of OpenCL is not seen through it.
    runtimes.install("intel-cpu")
    assert "FABRICMARK_SYCL" not in runtimes.environment("intel-cpu", found)
    assert "FABRICMARK_SYCL" not in runtimes.variables("intel-cpu")


@pytest.mark.parametrize("own", [True, False])
def test_a_changed_plugin_is_compiled_anew_and_nothing_downloaded(fake_pip, plugin_sources, own):
    runtimes.install("sycl")
    changed = plugin_sources / "plugin.cpp" if own else runtimes.paths.root() / runtimes.ENTRY_POINTS
    changed.write_text("second")
    with pytest.raises(FabricmarkError, match="runtimes install sycl"):
        runtimes.environment("sycl", {})
    fake_pip.clear()
    assert runtimes.install("sycl") is True
    assert len(fake_pip) == 1 and "-shared" in fake_pip[0]


def test_without_a_compiler_the_packages_are_kept(fake_pip, plugin_sources, monkeypatch):
    def no_compiler(command, remedy):
        if "-shared" in command:
            raise FabricmarkError("cannot start c++", remedy, 3)
        working(command, remedy)

    working = runtimes.run_or_fail
    with monkeypatch.context() as without:
        without.setattr(runtimes, "run_or_fail", no_compiler)
        with pytest.raises(FabricmarkError, match=r"install g\+\+ 12") as caught:
            runtimes.install("sycl")
    assert caught.value.exit_code == 3
    assert runtimes.find("sycl").has_packages() and not runtimes.find("sycl").installed()
    fake_pip.clear()
    assert runtimes.install("sycl") is True
    assert len(fake_pip) == 1


def test_system_environment_is_left_alone():
    base = {"OCL_ICD_VENDORS": "/etc/vendors"}
    assert runtimes.environment("system", base) == base


def test_not_installed(place):
    with pytest.raises(FabricmarkError, match="runtimes install intel-cpu") as caught:
        runtimes.environment("intel-cpu", {})
    assert caught.value.exit_code == 3


def test_unknown(place):
    with pytest.raises(FabricmarkError, match="use one of intel-cpu, fpga-emulator, sycl") as caught:
        runtimes.install("magic")
    assert caught.value.exit_code == 2


def test_pip_that_fails(place, monkeypatch):
    failing = place.folder / "python"
    place.add_program(failing, "print('no route to PyPI', file=sys.stderr); sys.exit(1)")
    monkeypatch.setattr(sys, "executable", str(failing))
    with pytest.raises(FabricmarkError, match="no route to PyPI") as caught:
        runtimes.install("intel-cpu")
    assert caught.value.exit_code == 3
    assert not runtimes.find("intel-cpu").installed()


def test_pip_without_the_library(place, monkeypatch):
    monkeypatch.setattr(runtimes, "run_or_fail", lambda command, remedy: None)
    with pytest.raises(FabricmarkError, match="is missing after pip"):
        runtimes.install("intel-cpu")
    assert not runtimes.find("intel-cpu").installed()


@pytest.fixture
def debian(place, monkeypatch):
    """The commands that an installation of XRT would run, on a system without it where one of the packages
    that it needs is installed; what it unpacks is there afterwards."""
    commands = []

    def run_or_fail(command, remedy, failure=""):
        commands.append(command)
        if command[0] == "sh":
            (Path(command[4]) / "libxrt1_2.13.deb").touch()
        if command[0] == "dpkg-deb":
            for name in (xrt.EMULATION, xrt.OPENCL):
                (xrt.unpacked() / name).parent.mkdir(parents=True, exist_ok=True)
                (xrt.unpacked() / name).with_suffix(".2.13.0").touch()
                (xrt.unpacked() / name).symlink_to((xrt.unpacked() / name).with_suffix(".2.13.0").name)

    monkeypatch.delenv("XILINX_XRT", raising=False)
    monkeypatch.setattr(xrt, "OF_SYSTEM", place.folder / "nothing")
    monkeypatch.setattr(xrt, "OF_AMD", place.folder / "nothing")
    monkeypatch.setattr(xrt, "_needed", lambda: ["libc6", "libprotobuf32"])
    monkeypatch.setattr(xrt, "_is_installed", lambda name: name == "libc6")
    monkeypatch.setattr(xrt.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(xrt.runtimes, "run_or_fail", run_or_fail)
    return commands


def test_xrt_is_unpacked_without_root(debian, monkeypatch):
    monkeypatch.setattr(xrt.os, "geteuid", lambda: 1000)
    assert xrt.find() is None and xrt.install() is True
    assert [command[0] for command in debian] == ["sh", "dpkg-deb"]
    assert debian[0][5:] == ["libxrt1", "libprotobuf32"] and debian[1][-1].endswith("/xrt")
    found = xrt.find()
    assert found.folder == xrt.unpacked().resolve() and found.version == (2, 13)
    assert xrt.install() is False and len(debian) == 2  # and no network


def test_xrt_is_installed_by_root_and_what_is_missing_then_is_named(debian, monkeypatch):
    monkeypatch.setattr(xrt.os, "geteuid", lambda: 0)
    with pytest.raises(FabricmarkError, match="libxrt1 brought no libxrt_swemu") as caught:
        xrt.install()
    assert debian[0][:2] == ["apt-get", "install"] and caught.value.exit_code == 3
    monkeypatch.setattr(xrt.shutil, "which", lambda name: None)
    with pytest.raises(FabricmarkError, match="there is no apt-get"):
        xrt.install()
    with pytest.raises(FabricmarkError, match="runtimes install xrt"):
        xrt.require()
