"""What starts the processes of MPI: each launcher is a TOML file, ours or a site's; and which one is used."""

import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

from fabricmark.base import paths, toml_file
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known

if TYPE_CHECKING:
    from fabricmark.measure.launch import Job

FOLDERS = "FABRICMARK_LAUNCHERS"  # a site's, with colons between
SHIPPED = paths.PACKAGE / "launchers"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
SECONDS_FOR_VERSION = 30
# Of each group of arguments: what may stand in braces, and one of it has to.
PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "always": (),
    "as_root": (),
    "ranks": ("ranks",),
    "hosts": ("hosts", "host_count"),
    "ranks_per_host": ("ranks_per_host", "host_count"),
    "variable": ("variable",),
}


@dataclass(frozen=True)
class Launcher:
    """What a file says, by the names of its keys (schemas/launcher-1.schema.json)."""

    name: str
    file: Path
    summary: str
    programs: Sequence[str]
    order: int
    arguments: Mapping[str, Sequence[str]]
    inside: Sequence[str] = ()
    version_says: Sequence[str] = ()
    version_lacks: Sequence[str] = ()
    if_singletons: str = ""

    def options(self, job: "Job", variables: Sequence[str]) -> list[str]:
        """The command line between the launcher's program and the job's; `variables`: to pass on by name.

        Raises FabricmarkError (2) where the file does not say how the job's processes are placed.
        """
        per_host = job.ranks_per_host
        hosts = len(job.hosts) or math.ceil((job.mpi or 1) / (per_host or 1))
        placed = {"hosts": ",".join(job.hosts), "host_count": hosts, "ranks_per_host": per_host}
        times: dict[str, list[dict]] = {
            "always": [{}],
            "ranks": [{"ranks": job.mpi}],
            "hosts": [placed] if job.hosts else [],
            "ranks_per_host": [placed] if per_host else [],
            "variable": [{"variable": name} for name in variables],
            "as_root": [{}] if os.geteuid() == 0 else [],
        }
        for group in ("hosts", "ranks_per_host"):
            if times[group] and group not in self.arguments:
                cause = f"{self.name} cannot place by {group}: no arguments.{group} in {self.file}"
                raise FabricmarkError(cause, f"leave {group} out, or choose another launcher")
        return [
            word.format(**values)
            for group, words in self.arguments.items()
            for values in times[group]
            for word in words
        ]


@dataclass(frozen=True)
class Candidate:
    """A launcher on this machine: its program, "" where there is none; `fault`: why it is not used, or ""."""

    launcher: Launcher
    program: str
    fault: str

    @property
    def program_name(self) -> str:
        return Path(self.program).name

    def command(self, job: "Job", variables: Sequence[str]) -> list[str]:
        """Start of the command line that starts the processes of a job. Raises as `Launcher.options`."""
        return [self.program, *self.launcher.options(job, variables)]


def names() -> list[str]:
    """In the order in which they are tried. Raises FabricmarkError as `known`."""
    return list(known())


def known() -> dict[str, Launcher]:
    """All launchers, in the order in which they are tried; of one name the first folder's counts.

    Raises FabricmarkError (2) for a folder or file of a site's that is wrong.
    """
    files: dict[str, Path] = {}
    own = [Path(folder) for folder in os.environ.get(FOLDERS, "").split(os.pathsep) if folder]
    for folder in [*own, SHIPPED]:
        try:
            found = sorted(name for name in os.listdir(folder) if name.endswith(".toml") and name[0] != ".")
        except OSError as error:
            cause = f"{FOLDERS}: {folder} cannot be read: {error.strerror}"
            raise FabricmarkError(cause, "name folders of launcher files, with colons between") from error
        for name in found:
            files.setdefault(name, folder / name)
    every = sorted(map(read, files.values()), key=lambda one: (one.order, one.name))
    return {one.name: one for one in every}


def read(file: Path) -> Launcher:
    """A checked file. Raises FabricmarkError (2) that names file, key and remedy."""
    if not NAME.fullmatch(file.stem):
        raise FabricmarkError(f"{file}: no name of a launcher", "use letters, digits, '_' and '-'")
    document = toml_file.load(file, "launcher-1")
    for key, text in toml_file.leaves(document):
        if isinstance(text, str) and not text.isprintable():
            cause = f"{file}: {key}: {text!r} has unprintable characters"
            raise FabricmarkError(cause, "write a plain text")
    for group, words in document["arguments"].items():
        check_placeholders(f"{file}: arguments.{group}", words, PLACEHOLDERS[group])
    return Launcher(file.stem, file, **document)


def check_placeholders(place: str, words: Sequence[str], allowed: Sequence[str]) -> None:
    """Raises FabricmarkError (2) for braces around anything else, or where there are none."""
    known = " or ".join(f"{{{name}}}" for name in allowed)
    found: list[str] = []
    for position, word in enumerate(words):
        try:
            for _, name, format_, conversion in Formatter().parse(word):
                rest = (f"!{conversion}" if conversion else "") + (f":{format_}" if format_ else "")
                found += [] if name is None else [name + rest]
        except ValueError as error:
            raise FabricmarkError(f"{place}[{position}]: {error}", "write {{ and }} for braces") from error
        for name in found:
            if name not in allowed:
                cause = f"{place}[{position}]: unknown placeholder {{{name}}}"
                raise FabricmarkError(cause, f"use {known}" if known else "this group has none")
    if allowed and not found:
        raise FabricmarkError(f"{place}: no placeholder", f"say where {known} stands")


def candidates(environment: Mapping[str, str]) -> Iterator[Candidate]:
    """All launchers as they are found here, in their order. Raises FabricmarkError as `known` and `look`."""
    return (look(launcher, environment) for launcher in known().values())


def look(launcher: Launcher, environment: Mapping[str, str], *, is_named: bool = False) -> Candidate:
    """Whether a launcher can be used here; one that `is_named` also outside of its allocations.

    Raises FabricmarkError (3) where its program does not even say its version.
    """
    path = environment.get("PATH", os.defpath)
    program = next((found for name in launcher.programs if (found := shutil.which(name, path=path))), "")
    fault = ""
    if not program:
        fault = f"no {' or '.join(launcher.programs)} in PATH"
    elif launcher.inside and not is_named and not any(name in environment for name in launcher.inside):
        fault = f"{' or '.join(launcher.inside)} is not set"
    else:
        fault = _version_fault(launcher, program, environment)
    return Candidate(launcher, program, fault)


def _version_fault(launcher: Launcher, program: str, environment: Mapping[str, str]) -> str:
    """What tells a program from this launcher's, or ""."""
    if not launcher.version_says and not launcher.version_lacks:
        return ""
    try:
        done = subprocess.run(
            [program, "--version"], env=environment, capture_output=True, timeout=SECONDS_FOR_VERSION,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        remedy = "repair the MPI installation"
        raise FabricmarkError(f"{program} --version: {error}", remedy, ENVIRONMENT) from error
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    other = next((text for text in launcher.version_lacks if text in said), None)
    if other is not None:
        return f"{program} --version says {other}"
    if launcher.version_says and not any(text in said for text in launcher.version_says):
        return f"{program} --version does not say {' or '.join(launcher.version_says)}"
    return ""


def find(environment: Mapping[str, str]) -> Candidate | None:
    """The launcher that is used where nobody names one; None: there is none. Raises as `candidates`."""
    return next((one for one in candidates(environment) if not one.fault), None)


def require(environment: Mapping[str, str], name: str | None = None) -> Candidate:
    """The launcher of this name, or else the first that can be used here.

    Raises FabricmarkError: 2 for an unknown name or a wrong file, 3 where it cannot be used, or none can.
    """
    if name is not None:
        every = known()
        check_known(name, every, f"there is no launcher {name!r}")
        one = look(every[name], environment, is_named=True)
        if one.fault:
            cause, remedy = f"no launcher {name}: {one.fault}", "load its module, or leave out the name"
            raise FabricmarkError(cause, remedy, ENVIRONMENT)
        return one
    faults: dict[str, None] = {}
    for one in candidates(environment):
        if not one.fault:
            return one
        faults[one.fault] = None
    remedy = "install Open MPI (openmpi-bin) or use --ranks for ranks in one process"
    raise FabricmarkError(f"no MPI launcher: {', '.join(faults)}", remedy, ENVIRONMENT)
