"""What programs and libraries need to be loaded: the files, and the Debian packages these came with."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

DPKG = Path("/var/lib/dpkg/info")
X86_64 = 62  # e_machine
LOADED = re.compile(r"^\s*(\S+) => (/\S+) ", re.MULTILINE)  # name and file of each library in what ldd prints
MISSING = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
CACHED = re.compile(r"^\s*(\S+) \(.*x86-64.*\) => (/\S+)$", re.MULTILINE)  # of the loader, by `ldconfig -p`
# The C library, which has to be that of the loader, and what comes with the compiler.
OF_LIBC = re.compile(r"(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|resolv|util))\.so\.\d+")
OF_GCC = re.compile(r"lib(stdc\+\+|gcc_s)\.so\.\d+")


class Fault(Exception):
    """What keeps a bundle from being made, with its remedy, in one line."""


def run(*words: str | Path, folder: Path | None = None) -> str:
    """What a tool prints. Raises Fault where it is missing or fails."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    except FileNotFoundError as error:
        raise Fault(f"{words[0]} is missing; install it (`make setup`)") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        raise Fault(f"{words[0]} failed: {lines[-1]}; all of it: {' '.join(map(str, words[:8]))} ...")
    return done.stdout


def is_elf(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(4) == b"\x7fELF"


def check_machine(file: Path) -> None:
    """Raises Fault for a program or library of another kind of processor."""
    header = file.read_bytes()[:20]
    machine = int.from_bytes(header[18:20], "little")
    if header[:4] != b"\x7fELF" or header[4] != 2 or machine != X86_64:
        raise Fault(f"{file} is none for x86-64; bundles are for that alone: build on such a machine")


def libraries(files: Iterable[Path]) -> dict[str, Path]:
    """All shared libraries that some files need, by the names that they ask for, with the C library's.

    Raises Fault for one that is not there.
    """
    found: dict[str, Path] = {}
    for file in files:
        said = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
        # What lies beside a part that is loaded by name, such as those of PoCL, is loaded before it.
        absent = [name for name in MISSING.findall(said) if not file.with_name(name).is_file()]
        if absent:
            raise Fault(f"{file} needs the library {absent[0]}, which is not found; install its package")
        found |= {name: Path(place) for name, place in LOADED.findall(said)}
    return found


@cache
def _of_loader() -> dict[str, Path]:
    tool = shutil.which("ldconfig") or "/sbin/ldconfig"
    return {name: Path(place) for name, place in reversed(CACHED.findall(run(tool, "-p")))}


def library(name: str, remedy: str) -> Path:
    """The file that the loader takes for a name. Raises Fault where there is none."""
    known = _of_loader()
    beside = (folder / name for folder in sorted({file.parent for file in known.values()}))
    place = known.get(name) or next((file for file in beside if file.is_file()), None)
    if place is None:
        raise Fault(f"the library {name} is not found; {remedy}")
    return place


def symbols(file: Path, *, defined: bool) -> set[str]:
    """Names that a library or program has, or asks others for."""
    said = run("nm", "-D", "--format=posix", "--defined-only" if defined else "--undefined-only", file)
    return {line.split()[0].split("@")[0] for line in said.splitlines() if line}


def _without_usr(path: str | Path) -> str:
    """/lib may lead to /usr/lib, and a package may have either."""
    return str(path).removeprefix("/usr")


def packages(files: Iterable[Path]) -> dict[Path, tuple[str, str]]:
    """Name and version of the Debian package of each file that came with one."""
    files = list(files)
    lists = sorted(DPKG.glob("*.list"))
    if not files or not lists:
        return {}
    asked = {_without_usr(file.resolve()) for file in files}
    owners: dict[str, str] = {}  # by reading its lists: dpkg-query takes a minute for so many
    for one in lists:
        here = asked.intersection(map(_without_usr, one.read_text(errors="replace").splitlines()))
        owners |= dict.fromkeys(here, one.stem)
    found = {file: owners.get(_without_usr(file.resolve())) for file in files}
    names = sorted({name for name in found.values() if name})
    shown = run("dpkg-query", "--show", "--showformat", "${binary:Package} ${Package} ${Version}\n", *names)
    versions = {}
    for line in shown.splitlines():
        full, name, version = line.split()
        versions[full] = versions[name] = versions[full.split(":")[0]] = version
    return {file: (name.split(":")[0], versions[name.split(":")[0]]) for file, name in found.items() if name}


def licence(package: str) -> Path | None:
    """The licence of a Debian package; else None."""
    text = Path("/usr/share/doc", package, "copyright")
    return text if text.is_file() else None
