"""Commands that a reader may try next, as words after `fabricmark`; each runs as it is printed."""

import os
import re
import shlex
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fabricmark import models
from fabricmark.base import kernels, runtimes
from fabricmark.base.errors import FabricmarkError
from fabricmark.results import Result

Words = tuple[str, ...]

MORE_REPETITIONS = 4  # times as many, where repetitions differ
STARTED_AT = re.compile(r"-\d{8}T\d+Z-(?P<rest>.*)")  # in the name of a result file, before its runtime
# What `fabricmark run` says itself, and how long was measured: neither is of the problem that a run is about.
OF_THE_RUN = (
    "--json", "--platform", "--device", "--ranks", "--fields",
    "--repetitions", "--warmup", "--min-time", "--max-time",
)  # fmt: skip
UNCHECKED = "--skip-validation"


def invoked() -> list[str]:
    """How this command was called, so that a line that begins with it works here: `.venv/bin/fabricmark`."""
    called = Path(sys.argv[0])
    if called.parts[-2:] == ("fabricmark", "__main__.py"):
        return [Path(sys.executable).name, "-m", "fabricmark"]
    if called.name != "fabricmark" or not called.exists():
        return ["fabricmark"]
    found = shutil.which("fabricmark")
    if found is not None and os.path.samefile(found, called):
        return ["fabricmark"]
    return [called.as_posix() if not called.is_absolute() else _near(called)]


def _near(path: Path) -> str:
    """From this folder, where it lies below it."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def line(words: Sequence[str]) -> str:
    """As a shell takes it."""
    return " ".join(quoted(words))


def quoted(words: Sequence[str]) -> list[str]:
    """The words of that line."""
    return [shlex.quote(word) for word in (*invoked(), *words)]


def is_here(result: Result) -> bool:
    """Whether the result is of this host, so that its run can be repeated."""
    return not result.writer and result.document["environment"]["host"]["name"] == socket.gethostname()


def table_of(result: Result) -> Words:
    """All of its benchmark that lies beside it."""
    if result.writer:  # of a log
        return ("report", _near(result.path.absolute()), "--full")
    return ("report", _near(result.path.absolute().parent), "--benchmark", result.benchmark)


def again(result: Result, devices: int, *more: str) -> Words:
    """The same run once more, with `more` options; where it cannot be started here, its table.

    `devices`: how many the results are of: with several it names its own.
    """
    if not is_here(result) or result.document["run"]["class"] != "base":
        return table_of(result)
    words = ["run", result.benchmark]
    ranks = result.document["environment"]["ranks"]
    if ranks["kind"] != "single":
        words += ["--mpi" if ranks["kind"] == "mpi" else "--ranks", str(ranks["count"])]
    words += _of_device(result) if devices > 1 else []
    rest = [*_paired(word for word in _own_options(result) if _name(word) not in more), *more]
    return (*words, *(["--", *rest] if rest else []))


def _of_device(result: Result) -> list[str]:
    """The options that choose its device; its runtime stands in the name that `run` gives a file. None where
    it ran without them, as between hosts."""
    words: list[str] = []
    if "--platform" not in result.document["run"]["command"]:
        return words
    started = STARTED_AT.search(result.path.name)
    rest = started["rest"] if started else ""
    named = [name for name in runtimes.names() if rest.startswith(f"{name}-")]
    if named:
        words += ["--runtime", max(named, key=len)]
    device = result.device
    return [*words, "--platform", str(device["platform_index"]), "--device", str(device["device_index"])]


def _name(option: str) -> str:
    return option.partition("=")[0].partition(" ")[0]


def _own_options(result: Result) -> Iterator[str]:
    """Its program's options, `--name value` as one word, and what else it was given."""
    left = list(result.document["run"]["command"][1:])
    while left:
        word = left.pop(0)
        if word.startswith("--") and "=" not in word and left and not left[0].startswith("--"):
            word = f"{word} {left.pop(0)}"
        if _name(word) not in OF_THE_RUN:
            yield word


def _paired(words: Iterable[str]) -> Iterator[str]:
    """Options and their values as words of their own."""
    for word in words:
        if word.startswith("--") and " " in word:
            yield from word.split(" ", 1)
        else:
            yield word


def more_repetitions(result: Result, devices: int) -> Words:
    """The same run with more repetitions; once more where the program has no such option."""
    if result.benchmark not in kernels.benchmark_names():
        return again(result, devices)
    count = result.document["repetitions"]["count"] * MORE_REPETITIONS
    return again(result, devices, "--repetitions", str(count))


def checked(result: Result, devices: int) -> Words:
    """The same run with its checks."""
    words = again(result, devices)
    return tuple(word for word in words if word != UNCHECKED)


def faster(result: Result, devices: int) -> tuple[str, Words]:
    """(why, command) that may bring a run nearer to its limit: the kernel for speed, its parameters, or else
    what its table says."""
    run = result.document["run"]
    try:
        variants = kernels.kernel(result.benchmark).variants
    except FabricmarkError:  # no benchmark of this suite, or nothing is built
        variants = {}
    if is_here(result) and run["class"] == "base" and not models.traits(result.benchmark).is_host_code:
        fast = kernels.OPTIMIZED
        if run["variant"] != fast and fast in variants:
            return f"the {fast} kernel may do more", again(result, devices, "--variant", fast)
        classes = variants.get(run["variant"], {}).get("tuned", {}).values()
        if any(result.device["class"] in by_class for by_class in classes):
            return "its parameters are not tuned", ("tune", "--kernels", result.benchmark)
    return "", table_of(result)
