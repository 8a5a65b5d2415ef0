"""`make wheel`: what a package with nothing to compile predicts, and what it refuses."""

import os
import subprocess
import sys
import zipfile

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


@pytest.fixture(scope="module", name="wheel")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    words = [
        sys.executable,
        REPOSITORY / "tools" / "wheel.py",
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


@pytest.fixture(scope="module", name="run")
def installed(wheel, tmp_path_factory):
    """Runs the command of the installed wheel, with none of this clone's variables."""
    site = tmp_path_factory.mktemp("installed")
    words = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run([sys.executable, "-m", *words], capture_output=True, check=True)
    return lambda *words: command(site, site.parent, *words)


def command(site, home, *words):
    """The command from a folder of packages; home and folder hold nothing."""
    return subprocess.run(
        [sys.executable, "-m", "fabricmark", *words], cwd=home, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(site)},
    )  # fmt: skip


def test_what_is_in_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.endswith(".whl") and "-py3-none-linux" in wheel.name
    # Also those that others are like.
    kernels = sorted(path.parent.name for path in (REPOSITORY / "kernels").rglob("kernel.toml"))
    shipped = [name for name in names if name.endswith("kernel.toml")]
    assert sorted(name.split("/")[-2] for name in shipped) == kernels
    assert any(name.endswith("share/fabricmark/systems/noctua1.toml") for name in names)
    assert any(name.endswith("fabricmark/launchers/srun.toml") for name in names)
    assert not [name for name in names if name.endswith((".cl", ".cpp", ".pyc"))]


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


def test_it_does_not_measure(run):
    done = run("run", "stream")
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    assert "as a wheel only predicts" in done.stderr
