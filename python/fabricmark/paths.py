"""Where things lie: the repository, the built programs, the cache."""

import os
import tempfile
from pathlib import Path

from fabricmark.errors import ENVIRONMENT, FabricmarkError


def root() -> Path:
    """The repository: FABRICMARK_ROOT, or the folder this package was installed from in editable mode.

    Raises FabricmarkError (3) when that folder holds no src/benchmarks.
    """
    given = os.environ.get("FABRICMARK_ROOT")
    folder = Path(given) if given else Path(__file__).resolve().parents[2]
    if not (folder / "src" / "benchmarks").is_dir():
        raise FabricmarkError(
            f"{folder} is not a Fabricmark repository (no src/benchmarks)",
            "set FABRICMARK_ROOT to a clone of the repository",
            ENVIRONMENT,
        )
    return folder


def program(name: str) -> Path:
    """Path of the built program fm_<name>; FABRICMARK_PRESET chooses the CMake preset (default release).

    Raises FabricmarkError (3) when it is not built.
    """
    preset = os.environ.get("FABRICMARK_PRESET", "release")
    path = root() / "build" / preset / "bin" / f"fm_{name}"
    if not os.access(path, os.X_OK) or not path.is_file():
        raise FabricmarkError(f"the program {path} is not built", "run `make build`", ENVIRONMENT)
    return path


def cache() -> Path:
    """Folder of the user's cache (not created here)."""
    given = os.environ.get("FABRICMARK_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fabricmark"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file (a text as UTF-8) that is either wholly there or not at all, even after a kill.

    Creates the folder. Raises FabricmarkError (2) when the place cannot be written.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        os.chmod(temporary, 0o644)  # temporary files are private; results are meant to be read
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise FabricmarkError(f"cannot write {path}: {error.strerror}", "choose a writable place") from error
