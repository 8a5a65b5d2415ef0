"""The Python package with all that predicts, and nothing to compile where it is installed.

`make wheel`, `pip wheel .` and `pip install .` in a clone end here: pyproject.toml names this module as
the build backend. Beside the modules a wheel holds fabricmark-describe, which needs neither OpenCL nor MPI,
with the shared libraries that it was linked to and their licences, and what both read: kernels, systems and
data. It is for this kind of processor, and this C library or a newer one. Editable installs, which set-up
makes, are those of setuptools.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import build_meta

get_requires_for_build_editable = build_meta.get_requires_for_build_editable
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable
build_editable = build_meta.build_editable

REPOSITORY = Path(__file__).resolve().parents[2]
DESCRIBE = "fabricmark-describe"
LOADED = re.compile(r"^\s*(\S+) => (/\S+) ", re.MULTILINE)  # name and file of each library in what ldd prints
# The C library, which has to be that of the loader.
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread))\.so\.\d+")
C_LIBRARY = re.compile(rb"GLIBC_(\d+)\.(\d+)")  # versions of symbols that a file asks for
SETUP = """from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class OneProgramForEveryPython(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return ("py3", "none", "{platform}")


setup(cmdclass={{"bdist_wheel": OneProgramForEveryPython}})
"""
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def libraries(program: Path) -> dict[str, Path]:
    """The shared libraries of a program but for the C library's, by the names that it asks for."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {name: Path(file) for name, file in LOADED.findall(said) if not OF_THE_SYSTEM.fullmatch(name)}


def platform(files: list[Path]) -> str:
    """The tag of a wheel with these files: the oldest C library that has all they ask for (PEP 600)."""
    versions = [(int(a), int(b)) for file in files for a, b in C_LIBRARY.findall(file.read_bytes())]
    kind = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not kind.startswith("linux_") or not versions:
        return kind
    return "manylinux_{}_{}_".format(*max(versions)) + kind.removeprefix("linux_")


def licence(file: Path) -> Path | None:
    """The licence of a library that came as a Debian package; else None."""
    if not shutil.which("dpkg-query"):
        return None
    words = ["dpkg-query", "--search", f"*/{file.resolve().name}"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    texts = [Path("/usr/share/doc", line.split(":")[0], "copyright") for line in said.splitlines()]
    return next((text for text in texts if text.is_file()), None)


def stage(folder: Path, program: Path) -> None:
    """The sources of the wheel: base/paths.py finds bin/, lib/ and share/fabricmark/ in the package."""
    package = folder / "python" / "fabricmark"
    shutil.copytree(
        REPOSITORY / "python" / "fabricmark", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("LICENSE", "README.md"):
        shutil.copy(REPOSITORY / name, folder)
    (package / "bin").mkdir()
    shutil.copy(program, package / "bin")
    (package / "lib").mkdir()
    (folder / "licenses").mkdir()
    for name, file in libraries(program).items():
        shutil.copyfile(file, package / "lib" / name)
        text = licence(file)
        if text is None:
            print(f"wheel: the licence of {file} was not found; add it before you publish", file=sys.stderr)
        else:
            shutil.copyfile(text, folder / "licenses" / f"{name}.txt")
    share = package / "share" / "fabricmark"
    for name in ("kernels", "systems", "data"):
        shutil.copytree(REPOSITORY / name, share / name)
    (share / "rtl").mkdir()
    shutil.copy(REPOSITORY / "rtl" / "resources.toml", share / "rtl")  # what links take of a chip
    _write_project(folder, platform([program, *(package / "lib").iterdir()]))


def _write_project(folder: Path, tag: str) -> None:
    """pyproject.toml with the licences of the libraries, and setuptools as its backend; the wheel's tag."""
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    text = re.sub(r"\[build-system\].*?(?=\n\[)", "", text, count=1, flags=re.DOTALL)
    text = text.replace('license-files = ["LICENSE"]', 'license-files = ["LICENSE", "licenses/*"]')
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    grafted = [f"graft python/fabricmark/{name}\n" for name in ("bin", "lib", "share")]
    (folder / "MANIFEST.in").write_text("".join(grafted))
    (folder / "setup.py").write_text(SETUP.format(platform=tag))


def make(output: Path, program: Path) -> Path:
    """The wheel. Ends this program with one line where the program is not built or setuptools fails."""
    if not program.is_file():
        sys.exit(f"wheel: error: {program} is not built; run `make wheel`")
    with tempfile.TemporaryDirectory() as scratch:
        made, sources = Path(scratch) / "made", Path(scratch) / "sources"
        made.mkdir()
        stage(sources, program)
        done = subprocess.run(
            [sys.executable, "-c", BUILD, made], cwd=sources, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"wheel: error: setuptools failed: {done.stderr.strip().splitlines()[-1:]}")
        (file,) = made.glob("*.whl")
        output.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(file, output))


def program_of(build: Path) -> Path:
    return build / "bin" / DESCRIBE


def built() -> Path:
    """The folder of the build that the environment names, as base/paths.py has it."""
    return REPOSITORY / "build" / os.environ.get("FABRICMARK_PRESET", "release")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """What pip calls."""
    return make(Path(wheel_directory), program_of(built())).name


def build_sdist(sdist_directory, config_settings=None):
    """What a package index would have pip compile: it cannot."""
    sys.exit("wheel: error: there is no source package; clone the repository, then `make wheel`")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=REPOSITORY / "build" / "wheel", help="folder of it")
    parser.add_argument("--build", type=Path, default=built(), help="where programs are")
    options = parser.parse_args()
    print(f"wheel: {make(options.output, program_of(options.build))}")


if __name__ == "__main__":
    main()
