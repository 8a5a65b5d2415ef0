"""Where things lie: kernels, systems and data; the programs; the cache."""

import errno
import os
import pwd
import stat
import tempfile
from pathlib import Path

from fabricmark.base.errors import ENVIRONMENT, FabricmarkError


def root() -> Path:
    """What holds kernels/, systems/ and data/: FABRICMARK_ROOT, else two folders above the package.

    That is a clone or PREFIX/share/fabricmark.

    Raises FabricmarkError (3) when that folder holds no kernels.
    """
    given = os.environ.get("FABRICMARK_ROOT")
    folder = Path(given) if given else Path(__file__).resolve().parents[3]
    if not (folder / "kernels").is_dir():
        raise FabricmarkError(
            f"{folder} holds no Fabricmark (no folder kernels)",
            "set FABRICMARK_ROOT to a clone of the repository or to PREFIX/share/fabricmark",
            ENVIRONMENT,
        )
    return folder


def is_clone() -> bool:
    """Whether `root` is a clone, with build folders of its own, and not an installation."""
    return (root() / "src").is_dir()


def kernels() -> Path:
    """Folder of the kernels: FABRICMARK_KERNELS, as the programs have it, else that of `root`."""
    return Path(os.environ.get("FABRICMARK_KERNELS") or root() / "kernels")


def describe() -> Path:
    """Path of the program that reads kernel.toml, as `program`."""
    return _built("fabricmark-describe")


def mesh_tool() -> Path:
    """Path of the program that reads, makes and refines meshes, as `program`."""
    return _built("fabricmark-mesh")


def program(name: str) -> Path:
    """Path of the program fm_<name>: in a clone the built one, else the installed one.

    FABRICMARK_PRESET chooses the CMake preset of the build (default release).

    Raises FabricmarkError (3) when it is not there.
    """
    return _built(f"fm_{name}")


def _built(name: str) -> Path:
    if is_clone():
        folder = _build() / "bin"
        remedy = "run `make build`"
    else:
        folder = root().parents[1] / "bin"
        remedy = "install again with `make install PREFIX=...`"
    path = folder / name
    if not os.access(path, os.X_OK) or not path.is_file():
        raise FabricmarkError(f"the program {path} is not built", remedy, ENVIRONMENT)
    return path


def micro() -> Path:
    """Folder of the files that say which micro-benchmarks there are: of the build, or installed."""
    return _build() / "micro" if is_clone() else root() / "micro"


def _build() -> Path:
    return root() / "build" / os.environ.get("FABRICMARK_PRESET", "release")


def runtimes() -> Path:
    """Folder of the OpenCL runtimes from PyPI: in a clone `.runtimes`, else the user's own.

    An installation may belong to somebody else.
    """
    return root() / ".runtimes" if is_clone() else cache() / "runtimes"


def sycl_plugin() -> Path:
    """Folder with the sources of the plugin that is compiled for SYCL."""
    return root() / ("src/device/sycl/plugin" if is_clone() else "sycl")


def cache() -> Path:
    """Folder of the user's cache (not created here). Raises FabricmarkError (3) where there is no home."""
    given = os.environ.get("FABRICMARK_CACHE")
    return Path(given) if given else _users("XDG_CACHE_HOME", ".cache") / "fabricmark"


def configuration() -> Path:
    """Folder of the user's configuration (not created here). Raises FabricmarkError (3) without a home."""
    return _users("XDG_CONFIG_HOME", ".config") / "fabricmark"


def _users(variable: str, usual: str) -> Path:
    """The folder that a variable of the XDG standard names, which asks to ignore one that is not absolute."""
    given = os.environ.get(variable, "")
    return Path(given) if os.path.isabs(given) else _home() / usual


def _home() -> Path:
    given = os.environ.get("HOME", "")
    if os.path.isabs(given):
        return Path(given)
    try:  # without HOME, as in a service: never the folder that the command happens to run in
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        cause = "HOME is not set, and the user has no account that names a home folder"
        raise FabricmarkError(cause, "set HOME", ENVIRONMENT) from None


def content(path: Path) -> bytes:
    """Content of a regular file. Raises OSError, also for a pipe or device, which a reader could wait for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(number, "not a regular file", str(path))
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """A folder for results, with those above it. Raises FabricmarkError (2) when it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in its name
        why = getattr(error, "strerror", None) or error
        raise FabricmarkError(f"cannot create {path}: {why}", "choose another --output") from error


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
