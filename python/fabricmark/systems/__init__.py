"""Systems as data: boards, networks, bitstreams and the systems made of them, from systems/*.toml.

A value is published (`value` with its `source`), fitted (`fitted` with the reasoning, `inferred`), or both.
The profile "published" takes what a document prints and nothing else; "fitted" takes the fitted value where
there is one. docs/systems.md describes the files.
"""

from pathlib import Path

from fabricmark.base.errors import FabricmarkError
from fabricmark.models import Board
from fabricmark.models.machine import Bitstream, Network
from fabricmark.systems import build, files
from fabricmark.systems.files import user_folder
from fabricmark.systems.sourced_value import PROFILES, SourcedValue
from fabricmark.systems.system import System

__all__ = [
    "PROFILES", "SourcedValue", "System", "bitstreams", "board", "kinds", "load", "names", "network",
    "user_folder",
]  # fmt: skip


def names() -> list[str]:
    """Systems of the user's folder and of the repository."""
    return sorted(files.listed("system"))


def load(name_or_path: str | Path, profile: str = "fitted", board: str | None = None) -> System:
    """The system of a name or a file. `board`: which of its kinds of devices, by default the first.

    The id of a board is a system, too: that board alone with all its bitstreams. Raises FabricmarkError (2)
    in one line with file, line, cause and remedy.
    """
    _check_profile(profile)
    if _is_board(name_or_path):
        return build.alone(str(name_or_path), build.Source(profile))
    return build.system(_path("system", name_or_path), profile, board)


def kinds(name_or_path: str | Path, profile: str = "fitted") -> list[System]:
    """The same as each of its kinds of devices has it. Raises FabricmarkError (2)."""
    _check_profile(profile)
    if _is_board(name_or_path):
        return [build.alone(str(name_or_path), build.Source(profile))]
    return build.kinds(_path("system", name_or_path), profile)


def board(name_or_path: str | Path, profile: str = "fitted") -> Board:
    """The board of an id or a file. Raises FabricmarkError (2)."""
    return build.board(*_file("board", name_or_path, profile))[0]


def network(name_or_path: str | Path, profile: str = "fitted") -> Network:
    """The network of an id or a file. Raises FabricmarkError (2)."""
    return build.network(*_file("network", name_or_path, profile))[0]


def bitstreams(name_or_path: str | Path, profile: str = "fitted") -> dict[str, Bitstream]:
    """All bitstreams of a file of them, by name. Raises FabricmarkError (2)."""
    found = build.bitstreams(*_file("bitstreams", name_or_path, profile))[1]
    return {name: one for name, (one, _) in found.items()}


def _is_board(name_or_path: str | Path) -> bool:
    """Whether it names a board by itself and no system."""
    return str(name_or_path) not in files.listed("system") and str(name_or_path) in files.listed("board")


def _file(kind: str, name_or_path: str | Path, profile: str) -> tuple[Path, build.Source]:
    _check_profile(profile)
    path = _path(kind, name_or_path)
    near = path.parent.parent if path.parent.name == files.FOLDERS[kind] else path.parent
    return path, build.Source(profile, near)


def _path(kind: str, name_or_path: str | Path) -> Path:
    """The file; a text with a slash or the ending .toml is a path, others are names."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith(".toml"):
        return Path(text)
    try:
        return files.find(kind, text)
    except KeyError as error:
        raise FabricmarkError(f"there is no {kind} {text}", f"{error.args[0]}, or name a file") from None


def _check_profile(profile: str) -> None:
    if profile not in PROFILES:
        raise FabricmarkError(f"there is no profile {profile}", f"use one of {', '.join(PROFILES)}")
