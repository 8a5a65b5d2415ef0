"""`make wheel`: all that predicts as one Python package, with nothing to compile where it is installed.

Beside the package it holds fabricmark-describe, which needs neither OpenCL nor MPI, with the shared libraries
that it was linked to, and what the two read: kernel.toml of each benchmark, systems and published data. It is
for this kind of processor, and this C library or a newer one.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
DESCRIBE = "fabricmark-describe"
LOADED = re.compile(r"^\s*(\S+) => (/\S+) ", re.MULTILINE)  # name and file of each library in what ldd prints
# The C library, which has to be that of the loader.
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread))\.so\.\d+")
SETUP = """from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class OneProgramForEveryPython(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(cmdclass={"bdist_wheel": OneProgramForEveryPython})
"""


def libraries(program: Path) -> dict[str, Path]:
    """The shared libraries of a program but for the C library's, by the names that it asks for."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {name: Path(file) for name, file in LOADED.findall(said) if not OF_THE_SYSTEM.fullmatch(name)}


def stage(folder: Path, program: Path) -> None:
    """The sources of the wheel: base/paths.py finds bin/, lib/ and share/fabricmark/ in the package."""
    package = folder / "python" / "fabricmark"
    shutil.copytree(
        REPOSITORY / "python" / "fabricmark", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(REPOSITORY / name, folder)
    (package / "bin").mkdir()
    shutil.copy(program, package / "bin")
    (package / "lib").mkdir()
    for name, file in libraries(program).items():
        shutil.copyfile(file, package / "lib" / name)
    share = package / "share" / "fabricmark"
    for name in ("systems", "data"):
        shutil.copytree(REPOSITORY / name, share / name)
    for file in (REPOSITORY / "kernels").rglob("kernel.toml"):
        place = share / file.relative_to(REPOSITORY)
        place.parent.mkdir(parents=True)
        shutil.copy(file, place)
    grafted = [f"graft python/fabricmark/{name}\n" for name in ("bin", "lib", "share")]
    (folder / "MANIFEST.in").write_text("".join(grafted))
    (folder / "setup.py").write_text(SETUP)


def make(output: Path, program: Path) -> Path:
    """The wheel. Ends this program with one line where the program is not built or pip fails."""
    if not program.is_file():
        sys.exit(f"wheel: error: {program} is not built; run `make build`")
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "made"
        stage(Path(scratch) / "sources", program)
        words = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
        done = subprocess.run(
            [sys.executable, "-m", *words, "--wheel-dir", made, Path(scratch) / "sources"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"wheel: error: pip failed: {done.stderr.strip().splitlines()[-1:]}")
        (file,) = made.glob("*.whl")
        output.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(file, output))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=REPOSITORY / "build" / "wheel", help="folder of it")
    parser.add_argument(
        "--build", type=Path, default=REPOSITORY / "build" / "release", help="where programs are"
    )
    options = parser.parse_args()
    print(f"wheel: {make(options.output, options.build / 'bin' / DESCRIBE)}")


if __name__ == "__main__":
    main()
