"""What a run was asked to be: said to the program, which refuses to be another, and compared with its result.

The program compares device and ranks before it measures (`src/runtime/asked_for.hpp`). Its result is compared
again, so that no program that looks at nothing is taken at its word.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fabricmark.base import kernels, paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, printable
from fabricmark.base.terminal import counted

if TYPE_CHECKING:
    from fabricmark.measure.launch import Job

DEVICE, RANKS, LAUNCHER = VARIABLES = (
    "FABRICMARK_EXPECT_DEVICE",
    "FABRICMARK_EXPECT_RANKS",
    "FABRICMARK_LAUNCHER",
)
RESULT = "fabricmark-result/"
OTHER = ".other"  # ending of a result that is of another run than was asked for


def ranks(job: "Job") -> int:
    """How many: the options for the program count most, as they do for the program."""
    given = kernels.options(job.extra).get("--ranks", "")
    return int(given) if given.isascii() and given.isdecimal() else job.mpi or job.ranks


def variables(job: "Job", launcher: str | None) -> dict[str, str]:
    """What the program compares itself with. `launcher`: what starts its MPI processes."""
    said = {RANKS: str(ranks(job))}
    if launcher is not None:
        said[LAUNCHER] = Path(launcher).name
    name = job.device["name"] if job.device is not None else ""
    if name and not {"\0", "\ufffd"} & set(name):  # else it came through the listing as another
        said[DEVICE] = name
    return said


def check(job: "Job", file: Path) -> None:
    """Compare a result with what was asked for; what no result is, others judge.

    Raises FabricmarkError (3): the file then has an ending by which nobody takes it for a result.
    """
    try:
        document = json.loads(paths.content(file))
        if not document["schema"].startswith(RESULT):
            return
        found = next(_differences(job, document, file.name), None)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
    if found is not None:
        kept = file.with_name(file.name + OTHER)
        file.replace(kept)
        raise FabricmarkError(found, f"the result is not counted; it is kept as {kept}", ENVIRONMENT)


def _differences(job: "Job", document: Mapping, name: str) -> Iterator[str]:
    """In words, what of a result is not as asked for."""
    environment, wanted = document["environment"], ranks(job)
    count = environment["ranks"]["count"]
    if count != wanted:
        yield f"asked for {counted(wanted, 'rank')}, but {printable(name)} is of {count}"
    if job.device is not None:
        yield from _other_device(job.device, environment)
    yield from _other_kernel(kernels.options(job.extra), document["run"].get("kernel") or {})


def _other_device(asked: Mapping, environment: Mapping) -> Iterator[str]:
    pair = ("platform_index", "device_index")
    own = environment["device"]
    names = [own["name"], *(place["device"] for place in environment["ranks"]["placement"])]
    other = next((name for name in names if name != asked["name"]), None)
    if other is not None:
        yield f"asked for the device {asked['name']}, but the run was on {other}"
    if [own[key] for key in pair] != [asked[key] for key in pair]:
        where = ":".join(str(own[key]) for key in pair)
        yield f"asked for the device {':'.join(str(asked[key]) for key in pair)}, but the run was on {where}"


def _other_kernel(given: Mapping[str, str], kernel: Mapping) -> Iterator[str]:
    """A kernel of another file, or of another origin than the options for the program say."""
    own = next((given[word] for word in ("--kernel-file", "--bitstream") if given.get(word)), None)
    if not kernel:
        return
    if own is None:
        if kernel["origin"] == "file":
            yield f"asked for the suite's kernel, but the run's is {kernel['file']} of another's"
    elif kernel["file"] != Path(own).name or kernel["origin"] == "shipped":
        yield f"asked for the kernel {Path(own).name}, but the run's is {kernel['file']}, {kernel['origin']}"
