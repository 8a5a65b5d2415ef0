"""Part of `make install`: the command `fabricmark` below PREFIX, what it imports, and man pages.

Runs on the Python that the command shall use; --packages copies from it what requirements.txt names, so that
neither the clone nor a package index is needed later.
"""

import argparse
import importlib.metadata
import shutil
import stat
import subprocess
import sys
from pathlib import Path

MAN_PAGES = Path(__file__).with_name("man_pages.py")
REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements.txt"
# For `pip install --editable` alone.
BUILD_ONLY = {"setuptools", "wheel"}
LAUNCHER = """#!{python}
import sys
from pathlib import Path

prefix = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(prefix / "share/fabricmark/python"), str(prefix / "lib/fabricmark/packages")]

from fabricmark.cli import app  # noqa: E402

app(prog_name="fabricmark")
"""


def needed_packages() -> list[str]:
    lines = [line.split("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines()]
    names = [line.split("==")[0] for line in lines if line]
    return [name for name in names if name not in BUILD_ONLY]


def copy_packages(target: Path) -> None:
    """Copies every file of the needed packages, but for their scripts, which name a Python of their own."""
    shutil.rmtree(target, ignore_errors=True)
    for name in needed_packages():
        try:
            files = importlib.metadata.files(name) or []
        except importlib.metadata.PackageNotFoundError:
            sys.exit(f"install: the Python package {name} is missing; run `make setup` first")
        for file in files:
            source = Path(file.locate())
            if ".." in file.parts or "__pycache__" in file.parts or not source.is_file():
                continue
            place = target / file
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)


def write_launcher(prefix: Path) -> Path:
    """The base Python, not the clone's environment, which may go."""
    python = Path(getattr(sys, "_base_executable", "") or sys.executable)
    command = prefix / "bin" / "fabricmark"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(LAUNCHER.format(python=python))
    command.chmod(command.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return command


def write_man_pages(prefix: Path) -> None:
    """By a process of its own, which imports what was installed."""
    done = subprocess.run([sys.executable, MAN_PAGES, prefix], check=False)
    if done.returncode:
        print("install: the man pages are not whole; the programs are", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefix", type=Path)
    parser.add_argument("--packages", action="store_true", help="copy the Python packages too")
    options = parser.parse_args()
    if options.packages:
        copy_packages(options.prefix / "lib" / "fabricmark" / "packages")
    command = write_launcher(options.prefix)
    write_man_pages(options.prefix)
    print(f"install: {command}")


if __name__ == "__main__":
    main()
