"""A folder as one .tar.xz: the same bytes of the same files, whoever packs them, and when."""

import io
import lzma
import os
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from binaries import is_elf
from fabricmark.base import paths
from fabricmark.base.errors import refusing

PRESET = 9  # 64 MB of memory for who unpacks it
ANY_DAY = 1704067200  # 2024-01-01, of every file; SOURCE_DATE_EPOCH is another
X86 = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": PRESET}]  # makes code a tenth smaller
PLAIN = [{"id": lzma.FILTER_LZMA2, "preset": PRESET}]
# Code is cut into parts of about so much: they are packed at the same time, and alike files stay together.
PART_BYTES = 100e6


def _entry(path: Path, name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", ANY_DAY))
    is_executable = path.is_dir() or os.access(path, os.X_OK) or path.suffix == ".so"
    entry.mode = 0o755 if is_executable else 0o644
    if path.is_symlink():
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
    elif path.is_dir():
        entry.type = tarfile.DIRTYPE
    else:
        entry.size = path.stat().st_size
    return entry


def packed(folder: Path) -> bytes:
    """The archive of a folder, with its name before all others. Each part is a stream of xz by itself."""
    files = sorted(folder.rglob("*"))
    code = [file for file in files if file.is_file() and not file.is_symlink() and is_elf(file)]
    of_code = set(code)
    parts: list[tuple[list, bytes]] = []
    content = io.BytesIO()

    def end_part(filters: list) -> None:
        if content.tell():
            parts.append((filters, content.getvalue()))
            content.seek(0)
            content.truncate()

    def add(path: Path) -> None:
        entry = _entry(path, str(Path(folder.name, path.relative_to(folder))))
        content.write(entry.tobuf(tarfile.GNU_FORMAT))
        if entry.isreg():
            content.write(path.read_bytes())
            content.write(bytes(-content.tell() % tarfile.BLOCKSIZE))

    for file in code:
        if content.tell() + file.stat().st_size > PART_BYTES:
            end_part(X86)
        add(file)
    end_part(X86)
    for file in [folder, *(file for file in files if file not in of_code)]:
        add(file)
    content.write(bytes(2 * tarfile.BLOCKSIZE))
    end_part(PLAIN)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = [pool.submit(lzma.compress, part, filters=filters) for filters, part in parts]
        return b"".join(job.result() for job in jobs)


def write(folder: Path, target: Path) -> None:
    """Raises FabricmarkError where the file cannot be written."""
    paths.write_atomically(target, packed(folder))


def check_writable(target: Path) -> None:
    """Before the work: raises FabricmarkError where the file could not be written."""
    paths.make_folder(target.parent)
    with (
        refusing(f"cannot write {target}", "choose another --output"),
        tempfile.TemporaryFile(dir=target.parent),
    ):
        pass
