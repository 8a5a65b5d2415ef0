"""Files and command lines of a build: as a script that a shell takes, or carried out."""

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

END = "END"
CLANG = "clang-15"
NOT_THERE = "load the vendor's tools into the environment, or see what would run with --dry-run"


@dataclass(frozen=True)
class How:
    """What a script is written for. None: what the board, the bitstream and the rules of the tool say.

    `target`: of the tool's. `platform`: the board, as the tool names it. `version`: of the tool. `clock_mhz`:
    the clock that is asked for. `relaxed`: whether sums may be rounded in another order.
    """

    target: str = "hw"
    platform: str | None = None
    version: str | None = None
    clock_mhz: float | None = None
    relaxed: bool | None = None


USUAL = How()


@dataclass(frozen=True)
class Steps:
    """`notes`: what is made, in words. `files` are needed by the commands, `bitstream` is what they make, and
    `sidecar` the text of the file beside it, "" for none. `remedy`: where the tool is not there."""

    tool: str
    notes: Sequence[str]
    files: Mapping[Path, str]
    commands: Sequence[Sequence[str]]
    bitstream: Path
    sidecar: str
    remedy: str = NOT_THERE

    @property
    def sidecar_file(self) -> Path:
        """Where the programs look for it."""
        return self.bitstream.with_name(self.bitstream.name + ".toml")


def script(steps: Steps) -> str:
    """The same as a shell script."""
    lines = [f"# {note}" for note in steps.notes]
    lines += [shlex.join(["mkdir", "-p", str(steps.bitstream.parent)])]
    for file, text in steps.files.items():
        lines += _written(file, text)
    lines += [shlex.join(command) for command in steps.commands]
    if steps.sidecar:
        lines += _written(steps.sidecar_file, steps.sidecar)
    return "\n".join(lines) + "\n"


def _written(file: Path, text: str) -> list[str]:
    return [f"cat > {shlex.quote(str(file))} << '{END}'", text.rstrip("\n"), END]


def carry_out(steps: Steps) -> None:
    """Write the files and run the commands; the sidecar comes last, when the bitstream is there.

    Raises FabricmarkError: 3 where the tool is not there or fails, 2 where a file cannot be written.
    """
    if shutil.which(steps.tool) is None:
        raise FabricmarkError(f"{steps.tool} is not there", steps.remedy, ENVIRONMENT)
    paths.make_folder(steps.bitstream.parent)
    for file, text in steps.files.items():
        paths.write_atomically(file, text)
    for command in steps.commands:
        print(shlex.join(command), flush=True)
        done = subprocess.run(command, check=False)
        if done.returncode != 0:
            cause = f"{steps.tool} ended with {done.returncode}"
            raise FabricmarkError(cause, "see what it printed above", ENVIRONMENT)
    if not steps.bitstream.is_file():
        raise FabricmarkError(f"{steps.tool} made no {steps.bitstream}", "see what it printed", ENVIRONMENT)
    if steps.sidecar:
        paths.write_atomically(steps.sidecar_file, steps.sidecar)
