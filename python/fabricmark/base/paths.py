"""Where things lie: kernels, systems and data; the programs; the cache."""

import errno
import os
import pwd
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, refusing

OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
SECONDS_FOR_A_READER = 10
MOST_LINKS = 40
PACKAGE = Path(__file__).resolve().parents[1]
OF_WHEEL = PACKAGE / "share" / "fabricmark"  # only where packaging/wheel has made the package


def root() -> Path:
    """What holds kernels/, systems/ and data/: FABRICMARK_ROOT, else two folders above the package, else
    share/fabricmark within it.

    That is a clone, PREFIX/share/fabricmark, or what a wheel has brought (packaging/wheel).

    Raises FabricmarkError (3) when that folder holds no kernels.
    """
    return _root(os.environ.get("FABRICMARK_ROOT"))


@lru_cache
def _root(given: str | None) -> Path:
    folder = Path(given) if given else OF_WHEEL if OF_WHEEL.is_dir() else PACKAGE.parents[1]
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


def is_wheel() -> bool:
    """Whether `root` came with pip: without programs that measure."""
    return root() == OF_WHEEL


def examples() -> Path:
    """Folder of results that come with Fabricmark, and of what is known of the machine that they are of."""
    return root() / "data" / "examples"


def kernels() -> Path:
    """Folder of the kernels: FABRICMARK_KERNELS, as the programs have it, else that of `root`."""
    return _path(os.environ.get("FABRICMARK_KERNELS") or f"{root()}/kernels")


def include_options(source: Path) -> list[str]:
    """Where a compiler looks for what a kernel file includes.

    A file that several benchmarks share, by its path from one of them, includes what that one has.
    """
    folders = [kernels()]
    if ".." in source.parts:
        folders.insert(0, Path(*source.parts[: source.parts.index("..")]))
    return [word for folder in folders for word in ("-I", str(folder))]


@lru_cache
def _path(text: str) -> Path:
    """Models ask for that of the kernels each time: a path takes long to make."""
    return Path(text)


def describe() -> Path:
    """Path of the program that reads kernel.toml, as `program`."""
    return _built("fabricmark-describe")


def describe_variables() -> dict[str, str]:
    """Of its environment: where its libraries lie, which a wheel brings (packaging/wheel)."""
    if not is_wheel():
        return {}
    own, others = PACKAGE / "lib", os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{own}:{others}" if others else str(own)}


def simgrid() -> Path:
    """Path of the program that asks SimGrid, as `program`: there only where SimGrid is."""
    return _built("fabricmark-simgrid")


def mesh_tool() -> Path:
    """Path of the program that reads, makes and refines meshes, as `program`."""
    return _built("fabricmark-mesh")


def program(name: str) -> Path:
    """Path of the program fm_<name>: in a clone the built one, else the installed one.

    FABRICMARK_PRESET chooses the CMake preset of the build (default release).

    Raises FabricmarkError (3) when it is not there.
    """
    return _built(f"fm_{name}")


def codec_library() -> Path:
    """Path of the library that compresses, as `program`."""
    return _built("libfabricmark_codec.so", "lib", "library")


def record_library() -> Path:
    """Path of the library that records the MPI calls of programs, as `program`."""
    return _built("libfabricmark-record.so", "lib", "library")


def _built(name: str, place: str = "bin", kind: str = "program") -> Path:
    path = (_build() if is_clone() else root().parents[1]) / place / name
    if not os.access(path, os.R_OK if kind == "library" else os.X_OK) or not path.is_file():
        cause = (
            f"the {kind} {name} did not come with pip" if is_wheel() else f"the {kind} {path} is not built"
        )
        raise missing(cause)
    return path


def missing(cause: str) -> FabricmarkError:
    """The error (3) for what only a build makes, with what to do in a clone, an installation, a wheel."""
    if is_clone():
        remedy = "run `make build`"
    elif is_wheel():
        remedy = "in a clone of the repository run `make install PREFIX=...`, as a wheel only predicts"
    else:
        remedy = "install again with `make install PREFIX=...`"
    return FabricmarkError(cause, remedy, ENVIRONMENT)


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


def _of_card() -> Path:
    return root() / ("src/card" if is_clone() else "card")


def card_functions() -> Path:
    """OpenCL's functions, which are compiled beside kernels of the emulated card."""
    return _of_card() / "builtins.cl"


def card_headers() -> Path:
    """The folder of HLS C++'s headers for kernels of the emulated card."""
    return _of_card() / "hls"


def card() -> Path:
    """Path of the emulated card, as `program`."""
    return _built("fabricmark-card")


def xrt_repair() -> Path:
    """Path of the library that is preloaded with Debian's XRT, as `program`."""
    return _built("libfabricmark-xrt-repair.so", "lib", "library")


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
    with refusing(f"cannot create {path}", "choose another --output"):
        path.mkdir(parents=True, exist_ok=True)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file (a text as UTF-8) that is either wholly there or not at all, even after a kill.

    As the programs do (`src/base/atomic_file.hpp`), and the only way in which this package writes: of a link
    the file is replaced that it leads to; a device, a pipe or a stream of this process (/dev/stdout, also as
    `-`) is written into, never replaced. Creates the folder. Raises FabricmarkError (2; 3: the disk is full).
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if (stream := _own_stream(path)) is not None:
            sys.stdout.flush()
            _write_through(os.dup(stream), data)
        elif _is_special(path):
            _write_through(_opened_special(path), data)
        else:
            _replace(_linked(path), data)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in its name
        number = getattr(error, "errno", None)
        why = getattr(error, "strerror", None) or error
        if number in OF_THE_DISK:
            remedy = "free some space or name another place"
            raise FabricmarkError(f"cannot write {path}: {why}", remedy, ENVIRONMENT) from error
        raise FabricmarkError(f"cannot write {path}: {why}", "choose a writable place") from error


@contextmanager
def written_by_name(path: Path) -> Iterator[Path]:
    """Another name for a library that writes a file by itself, whose content goes to `path` at the end, as
    `write_atomically` has it."""
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / path.name
        yield made
        write_atomically(path, made.read_bytes())


def _replace(path: Path, data: bytes) -> None:
    """Beside the file first, then in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # temporary files are private; results are meant to be read
        os.replace(temporary, path)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise


def _is_special(path: Path) -> bool:
    """Whether a path, or what its links lead to, is there and neither file nor folder."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    return not stat.S_ISREG(mode)


def _opened_special(path: Path) -> int:
    """A device or pipe, open for writing. A pipe waits for its reader, but not for ever."""
    give_up = time.monotonic() + SECONDS_FOR_A_READER
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            is_waiting = error.errno == errno.ENXIO and stat.S_ISFIFO(path.stat().st_mode)
            if not is_waiting or time.monotonic() > give_up:
                raise
            time.sleep(0.1)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


def _write_through(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(data)


def _own_stream(path: Path) -> int | None:
    """The stream that a path like /dev/stdout or /dev/fd/3 stands for.

    Opened by its name, a file would be written into from its start again.
    """
    known = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}
    name = os.path.normpath(path)
    folder, _, number = name.rpartition("/")
    if folder in ("/dev/fd", "/proc/self/fd") and number.isascii() and number.isdecimal():
        return int(number)
    return known.get(name)


def is_standard_output(path: Path) -> bool:
    """Whether what is written to a path goes there: `-` or, for example, /dev/stdout.

    OneLineErrors lets nothing else be printed beside it.
    """
    return _own_stream(path) == 1


def _linked(path: Path) -> Path:
    """Where the links of a path lead, of which the last one may lead to nothing yet."""
    for _ in range(MOST_LINKS):
        if not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
