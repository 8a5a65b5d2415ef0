"""Micro-benchmarks: which there are, and what a run of one needs. Their programs say it (docs/microbench.md).

The build asks each program that is one or several of them, and keeps the answer as a file. So no name stands
here: a new program is found by its file.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricmark.base import ended, paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError
from fabricmark.base.kernels import refused

GROUP = "micro"  # all that have a part in the short set
PREFIX = "fm_"
LONGEST_SECONDS = 60
REMEDY = "build again with `make build`"


@dataclass(frozen=True)
class Micro:
    """A micro-benchmark.

    `short_words`: of its command line in the short set; empty: it has no part in it. `usual_ranks`: those
    that it has without --ranks. `options`: (names, meaning) of each.
    """

    name: str
    summary: str
    short_words: tuple[str, ...]
    usual_ranks: int
    options: tuple[tuple[str, str], ...]

    @property
    def program(self) -> str:
        """As `fabricmark list` names it: `fm_latency`."""
        return PREFIX + self.name


def found() -> dict[str, Micro]:
    """By their programs' names; none where nothing is built. Raises FabricmarkError (3): a damaged file."""
    all_of_them = [one for file in sorted(paths.micro().glob("*.json")) for one in _read(file)]
    return {one.program: one for one in sorted(all_of_them, key=lambda one: one.name)}


def named(name: str) -> Micro | None:
    """One by its name, with or without fm_."""
    return found().get(PREFIX + name.removeprefix(PREFIX))


def short_set() -> list[Micro]:
    """Those of `fabricmark run micro`."""
    return [one for one in found().values() if one.short_words]


def takes_device(one: Micro, words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a run with these options works on a device.

    Raises FabricmarkError: the program's own for options that it does not take, 3 where it does not answer.
    """
    program = paths.program(one.name)
    try:
        done = subprocess.run(
            [program, "--plan", *words], env=environment, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
        return bool(refused(json.loads(done.stdout))["takes_device"])
    except (
        OSError,
        ValueError,
        subprocess.TimeoutExpired,
    ) as error:  # ValueError: a zero byte, too
        raise FabricmarkError(f"{program} --plan: {error}", REMEDY, ENVIRONMENT) from error
    except (KeyError, TypeError):
        words = done.stderr.decode("utf-8", "replace")
        said, remedy = ended.words(done.returncode, words), ended.remedy(done.returncode, words, REMEDY)
        raise FabricmarkError(f"{program} --plan {said}", remedy, ENVIRONMENT) from None


def _read(file) -> list[Micro]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        options = tuple((one["names"], one["meaning"]) for one in document["options"])
        return [
            Micro(one["name"], one["summary"], tuple(one["short_words"]), document["usual_ranks"], options)
            for one in document["programs"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FabricmarkError(f"{file} is damaged: {error!r}", REMEDY, ENVIRONMENT) from error
