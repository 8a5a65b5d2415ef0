#!/usr/bin/env python3
"""Prepares this checkout; a second run finds everything in place and does nothing.

In this order: what the system must offer (tools/packages.toml; installed by apt when root, else checked), the
Python environment in .venv, and where nothing on the system offers OpenCL, Intel's CPU runtime in .runtimes.
Exit codes: 0 ready, 2 bad use, 3 something is missing and the last line says how to get it.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYSTEM = Path("/")
VENV = ROOT / ".venv"
STAMP = VENV / "fabricmark-setup.stamp"
# Lies in .venv from its first moment until its first success: what an interrupted run leaves is not repaired
# but made again.
UNFINISHED = VENV / "fabricmark-setup.unfinished"
LOG = ROOT / "build" / "setup.log"
# What apt could not get last time: as long as all of it can be done without, later runs do not ask again.
APT_FAILED = ROOT / "build" / "setup-apt.failed"
OLDEST_PYTHON = (3, 11)
ALSO = ("bench", "bundle", "dev", "docs", "full", "rtl", "simgrid")  # what more there is to prepare for
# Packages that a group needs besides those of runs.
MORE_REQUIREMENTS = {
    "dev": "requirements-dev.txt",
    "docs": "requirements-docs.txt",
    "full": "requirements-dev.txt",
    "rtl": "requirements-rtl.txt",
}
POCL = "pocl-opencl-icd"
FALLBACK_RUNTIME = "intel-cpu"

NETWORK_FAILURES = (
    r"Temporary failure (?:in name resolution|resolving)|Name or service not known|No route to host|"
    r"Network is unreachable|Connection (?:refused|timed out|reset)|Read timed out|Could not connect|"
    r"Cannot connect to proxy|CERTIFICATE_VERIFY_FAILED|from versions: none"
)


class Problem(Exception):
    """What keeps the set-up from finishing, with its remedy, in one line; main prints it and exits with 3."""


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


def run(*command: str) -> tuple[bool, str]:
    """Whether the command succeeded, and what it printed."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, text=True, errors="replace", cwd=ROOT, **streams)
    return done.returncode == 0, done.stdout


def run_logged(*command: str) -> tuple[bool, str]:
    """The same, with all that was printed kept in build/setup.log for the day it fails."""
    succeeded, output = run(*command)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"$ {shlex.join(command)}\n{output}\n{'done' if succeeded else 'FAILED'}\n\n")
    return succeeded, output


def failure(what: str, output: str, remedy: str) -> Problem:
    """One line for a failed apt-get or pip: the network if that was the cause, else its own first error."""
    network = re.search(NETWORK_FAILURES, output)
    if network:
        return Problem(f"{what} could not reach its server ({network.group(0)}); {remedy}")
    lines = [line.strip() for line in output.splitlines() if re.match(r"\s*(ERROR|E|error):", line)]
    cause = lines[0] if lines else (output.strip().splitlines() or ["no message"])[-1]
    return Problem(f"{what} failed ({cause}); all its output is in {LOG.relative_to(ROOT)}")


# ------------------------------------------------------------------------------------------------- the system


def read_packages(groups: set[str]) -> dict[str, dict]:
    """The tables of packages.toml that belong to `groups`, by package name."""
    import tomllib  # not at the top: Python 3.9 has to get as far as the line that says it is too old

    with (ROOT / "tools" / "packages.toml").open("rb") as file:
        packages = tomllib.load(file)
    return {name: package for name, package in packages.items() if package.get("group", "build") in groups}


def folders(kind: str) -> list[Path]:
    """Where compiler and linker look for headers (kind "include") or libraries (kind "lib") by themselves."""
    prefixes = [SYSTEM / "usr", SYSTEM / "usr/local", SYSTEM / "usr/local/cuda", SYSTEM / "opt/rocm"]
    for variable in ("CMAKE_PREFIX_PATH", "CONDA_PREFIX"):
        prefixes += [Path(entry) for entry in os.environ.get(variable, "").split(":") if entry]
    found = [place for prefix in prefixes for place in (prefix / kind, *prefix.glob(f"{kind}/*-linux-gnu*"))]
    if kind == "lib":
        found += [prefix / "lib64" for prefix in prefixes]
    variables = ("CPATH", "CPLUS_INCLUDE_PATH") if kind == "include" else ("LIBRARY_PATH", "LD_LIBRARY_PATH")
    for variable in variables:
        found += [Path(entry) for entry in os.environ.get(variable, "").split(":") if entry]
    return found


def search_path() -> str:
    """PATH without .venv: what set-up itself put there must not count as the system's."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if Path(entry) != VENV / "bin")


def new_enough(tool: str, minimum: str) -> bool:
    option = "-dumpfullversion" if "g++" in Path(tool).name else "--version"
    version = re.search(r"\d+(\.\d+)*", run(tool, option)[1])
    found, needed = (
        [int(part) for part in text.split(".")] for text in (version.group(0) if version else "0", minimum)
    )
    return found >= needed


def includes(compiler: str, header: str | None) -> bool:
    return not header or run(compiler, "-E", "-x", "c++", "-include", header, os.devnull)[0]


def is_present(name: str, package: dict) -> bool:
    """Whether one probe of the package is found, or dpkg has it where it was not looked for."""
    if package.get("override") and os.environ.get(package["override"]):
        return True
    minimum = package.get("minimum")
    for tool in package.get("tool", []):
        path = shutil.which(tool, path=search_path())
        if path and (not minimum or new_enough(path, minimum)) and includes(path, package.get("includes")):
            return True
        if path and minimum and "pypi" not in package:
            say(f"{path} is older than {minimum}")
    for key, kind in (("header", "include"), ("library", "lib")):
        if any((place / file).exists() for file in package.get(key, []) for place in folders(kind)):
            return True
    if "module" in package:
        # find_spec, because importing ensurepip would cost more than all the other checks.
        return all(importlib.util.find_spec(module) for module in package["module"])
    return not minimum and dpkg_has(name)


def dpkg_has(name: str) -> bool:
    if not shutil.which("dpkg-query"):
        return False
    return run("dpkg-query", "-W", "-f=${Status}", name) == (True, "install ok installed")


def opencl_drivers() -> list[str]:
    """The drivers that the OpenCL loader finds here, as files or names; stale entries do not count."""
    named = os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OPENCL_VENDOR_PATH")
    vendors = Path(named or SYSTEM / "etc/OpenCL/vendors")
    files = sorted(vendors.glob("*.icd")) if vendors.is_dir() else [vendors] if vendors.is_file() else []
    names = [file.read_text().strip() if file.suffix == ".icd" else str(file) for file in files]
    names += [name for name in os.environ.get("OCL_ICD_FILENAMES", "").split(":") if name]
    return [name for name in names if name and loadable(name)]


def loadable(library: str) -> bool:
    """Whether the library is there: images often keep the .icd file of a driver that only the host had."""
    if "/" in library:
        return Path(library).exists()
    if any((place / library).exists() for place in folders("lib")):
        return True
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def has_cpu_driver(drivers: list[str]) -> bool:
    return any(re.search(r"pocl|intelocl(?!_emu)", name) for name in drivers)


def apt_install(names: list[str]) -> Problem | None:
    """Installs Debian packages; a failure is returned, not raised: some packages can be done without."""
    say(f"apt-get install {' '.join(names)}")
    os.environ.update(DEBIAN_FRONTEND="noninteractive", LC_ALL="C")
    options = ["-qq", "-o", "DPkg::Lock::Timeout=120"]
    # A failed update is no failure yet: the lists that are there may do.
    _, updated = run_logged("apt-get", "update", *options)
    succeeded, output = run_logged("apt-get", "install", "-y", "--no-install-recommends", *options, *names)
    importlib.invalidate_caches()
    if succeeded:
        return None
    again = f"apt-get update && apt-get install {' '.join(names)}"
    return failure(
        "apt-get", output + updated, f"connect to the network or mend the package sources, then: {again}"
    )


def remedy(missing: dict[str, dict]) -> str:
    """How to get the missing packages by hand, in one line."""
    if shutil.which("apt-get"):
        return f"sudo apt-get install {' '.join(missing)}"
    parts = []
    for name, package in missing.items():
        probes = [probe for key in ("tool", "header", "library", "module") for probe in package.get(key, [])]
        minimum = f" {package['minimum']} or newer" if "minimum" in package else ""
        parts.append(f"{probes[0]}{minimum} (Debian: {name})")
    return f"install with this system's package manager: {', '.join(parts)}"


def prepare_system(groups: set[str]) -> list[str]:
    """Makes sure of compiler, tools, headers and libraries; returns what PyPI has to add, as requirements."""

    def look() -> tuple[dict[str, dict], dict[str, dict]]:
        missing = {name: package for name, package in packages.items() if not is_present(name, package)}
        return missing, {name: p for name, p in missing.items() if "pypi" not in p and "optional" not in p}

    packages = read_packages(groups)
    missing, required = look()
    problem = None
    if os.geteuid() == 0 and shutil.which("apt-get"):
        # PoCL is wanted beside a GPU's driver too: it is the platform that every result can be compared on.
        wanted = [*missing] if has_cpu_driver(opencl_drivers()) else [*missing, POCL]
        tried = APT_FAILED.exists() and APT_FAILED.read_text().split() == wanted
        if wanted and (required or not tried):
            problem = apt_install(wanted)
            missing, required = look()
            # One that the system does not know keeps apt from all others.
            needed = [name for name in wanted if name in required]
            if problem and needed and needed != wanted:
                problem = apt_install(needed)
                missing, required = look()
            if problem:
                APT_FAILED.write_text(" ".join(wanted))
    if required:
        raise problem or Problem(remedy(required))
    lost = {name: package for name, package in missing.items() if "optional" in package}
    if lost:
        consequences = ", ".join(sorted({package["optional"] for package in lost.values()}))
        say(f"note: no {', '.join(lost)}: {consequences}; to change that: {remedy(lost)}")
    return [package["pypi"] for package in missing.values() if "pypi" in package]


# ------------------------------------------------------------------------------------- the Python environment


def base_python() -> str:
    """The interpreter to make .venv with: never .venv's own, which a rebuild takes away."""
    return getattr(sys, "_base_executable", None) or sys.executable


def requirements(groups: set[str]) -> list[Path]:
    """What `make run` needs of Python packages, and what one of the groups needs besides."""
    more = [ROOT / file for group, file in MORE_REQUIREMENTS.items() if group in groups]
    return [ROOT / "requirements.txt", *more]


def fingerprint(files: list[Path], from_pypi: list[str]) -> str:
    """Hash of what .venv is made from: its place (its scripts name it), the Python behind it, contents."""
    parts = [str(VENV), os.path.realpath(venv_python()), *from_pypi]
    for path in (*files, ROOT / "pyproject.toml", Path(__file__).resolve()):
        if path.exists():
            parts += [path.name, path.read_text(encoding="utf-8")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def stamped() -> dict[str, str]:
    """What the stamp says of a finished .venv: its `place`, and the hash of each group that it holds."""
    try:
        return dict(line.split(" ", 1) for line in STAMP.read_text().splitlines() if " " in line)
    except OSError:
        return {}


def venv_python() -> str:
    return str(VENV / "bin" / "python")


def is_usable() -> bool:
    """Whether .venv can be kept: finished once, at this place, with a Python that runs and is not too old."""
    if UNFINISHED.exists() or not os.access(venv_python(), os.X_OK):
        return False
    check = f"import sys, pip; print(sys.version_info >= {OLDEST_PYTHON}, sys.prefix)"
    moved = STAMP.exists() and stamped().get("place") != str(VENV)
    return not moved and run(venv_python(), "-c", check) == (True, f"True {VENV}\n")


def make_venv() -> None:
    if VENV.is_symlink() or VENV.is_file():
        raise Problem(f"{VENV.name} is not a folder of this checkout; remove it and run again")
    if VENV.exists():
        say(".venv is incomplete or was made elsewhere: making it again")
        shutil.rmtree(VENV)
    version = "{}.{}".format(*sys.version_info)
    say(f"making .venv with Python {version}")
    VENV.mkdir()
    UNFINISHED.touch()
    succeeded, output = run_logged(base_python(), "-m", "venv", str(VENV))
    if not succeeded:
        raise failure("python3 -m venv", output, "name another Python: make PYTHON=python3.12")


def pip_install(*arguments: str) -> None:
    pip = [venv_python(), "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
    # Python compiles what it imports; compiling all beforehand takes half of pip's time.
    succeeded, output = run_logged(*pip, "install", "--no-compile", *arguments)
    if not succeeded:
        raise failure(
            "pip", output, "connect to the network or name a mirror in PIP_INDEX_URL, then run again"
        )


def prepare_python(groups: set[str], from_pypi: list[str]) -> None:
    """Makes or updates .venv: pinned requirements, then this project itself as an editable install."""
    files = requirements(groups)
    group = next((group for group in MORE_REQUIREMENTS if group in groups), "run")
    finished = not UNFINISHED.exists() and os.access(venv_python(), os.X_OK)
    if finished and stamped().get(group) == fingerprint(files, from_pypi):
        return
    if not is_usable():
        make_venv()
    if from_pypi:
        say(f"pip install {' '.join(from_pypi)} (the system has none, or an older one)")
    say(f"pip install -r {files[-1].name}")
    pip_install("-r", str(files[-1]), *from_pypi)
    say("pip install this project (editable)")
    # No isolation: pip would otherwise fetch the build backend anew, unpinned and from the network.
    pip_install("--no-build-isolation", "--no-deps", "--editable", str(ROOT))
    # The packages of a group come on top of those of runs, and leave those of other groups in place.
    held = {"place": str(VENV), "run": fingerprint(requirements(set()), from_pypi)}
    for other in MORE_REQUIREMENTS:
        current = fingerprint(requirements({other}), from_pypi)
        if other == group or stamped().get(other) == current:
            held[other] = current
    STAMP.write_text("".join(f"{name} {value}\n" for name, value in held.items()))
    UNFINISHED.unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------------- OpenCL


def fallback_library() -> Path:
    return ROOT / ".runtimes" / FALLBACK_RUNTIME / "lib" / "libintelocl.so"


def print_environment() -> None:
    """Shell commands for programs that are started without the `fabricmark` command, such as unit tests."""
    library = fallback_library()
    if library.exists() and not opencl_drivers():
        # Not its folder in LD_LIBRARY_PATH: that holds a loader of its own, which finds no device.
        for variable in ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"):
            print(f"export {variable}={shlex.quote(str(library))}")


def prepare_opencl() -> None:
    """Where no OpenCL platform is registered: Intel's CPU runtime from PyPI, which needs no root."""
    stamp = ROOT / ".runtimes" / FALLBACK_RUNTIME / "fabricmark-setup.stamp"
    # The pinned versions stand in runtimes.py: the command that installs them is asked again when it changes.
    wanted = hashlib.sha256((ROOT / "python/fabricmark/base/runtimes.py").read_bytes()).hexdigest()
    known = fallback_library().exists() and stamp.exists() and stamp.read_text() == wanted
    if known or opencl_drivers():
        return
    if not fallback_library().exists():
        say(f"no OpenCL platform here: installing Intel's CPU runtime into .runtimes/{FALLBACK_RUNTIME}")
    succeeded, output = run_logged(str(VENV / "bin/fabricmark"), "runtimes", "install", FALLBACK_RUNTIME)
    if not succeeded:
        way_out = f"connect to the network and run again, or: sudo apt-get install {POCL}"
        raise failure("installing an OpenCL runtime", output, way_out)
    stamp.write_text(wanted)


def forget_moved_builds() -> None:
    """Removes build folders that CMake made for another place: it would go on building the sources there."""
    for cache in ROOT.glob("build/*/CMakeCache.txt"):
        text = cache.read_text(errors="replace")
        home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", text, re.MULTILINE)
        if home and not (os.path.exists(home.group(1)) and os.path.samefile(home.group(1), ROOT)):
            say(f"{cache.parent.relative_to(ROOT)} was made elsewhere: removing it")
            shutil.rmtree(cache.parent)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="setup.py", description=__doc__.split("\n\n")[0])
    parser.add_argument("--also", choices=ALSO, help="also what such targets of make, or SimGrid, need")
    parser.add_argument("--skip-system", action="store_true", help="make .venv only, check nothing else")
    parser.add_argument("--build-only", action="store_true", help="only what compiling needs")
    parser.add_argument("--environment", action="store_true", help="only print shell variables for OpenCL")
    options = parser.parse_args(arguments)
    if options.environment:
        print_environment()
        return 0
    try:
        if sys.version_info < OLDEST_PYTHON:
            version = "{}.{}".format(*sys.version_info)
            raise Problem(f"Python {version} is older than 3.11; name a newer one: make PYTHON=python3.12")
        LOG.unlink(missing_ok=True)
        forget_moved_builds()
        groups = {"build", options.also} - {None}
        from_pypi = [] if options.skip_system else prepare_system(groups)
        if options.build_only and not from_pypi:
            return 0
        prepare_python(groups, from_pypi)
        if not options.skip_system:
            prepare_opencl()
    except (Problem, OSError) as error:
        text = str(error)
        if isinstance(error, OSError):
            text = f"{error.strerror}: {error.filename}; correct that and run again"
        elif text.startswith("sudo "):  # a line by itself, to be copied
            text = f"packages are missing; install them, then run again:\n{text}"
        print(f"setup: error: {text}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
