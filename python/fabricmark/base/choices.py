"""What may be chosen: shown in the help of an option, and completed by the shell."""

from collections.abc import Callable, Sequence
from typing import Any

import typer

from fabricmark.base import kernels, micro, runtimes
from fabricmark.base.errors import FabricmarkError

WIDEST = 60  # columns that the values of an option may take beside its name
Names = Callable[[], Sequence[str]]


def completed(names: Names) -> Callable[[str], list[str]]:
    """What completes a word: the names that begin with it; none where they cannot be found out."""

    def complete(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except (FabricmarkError, OSError):
            return []

    return complete


def one_of(names: Sequence[str], meaning: str, *flags: str) -> Any:
    """An option with a fixed set of values; `flags`: its own, where they are not those of its parameter."""
    metavar = f"[{'|'.join(names)}]"
    if len(metavar) > WIDEST:
        metavar, meaning = "WHICH", f"{meaning} One of {', '.join(names)}."
    return typer.Option(*flags, metavar=metavar, autocompletion=completed(lambda: names), help=meaning)


def document(flag: str, meaning: str) -> Any:
    """An option that is a file to be written, or standard output."""
    return typer.Option(flag, metavar="FILE|-", help=meaning)


def runtime(meaning: str, *, every: bool = False) -> Any:
    """--runtime; `every`: also all of them."""
    return one_of([*runtimes.names(), *(["all"] if every else [])], meaning)


def benchmark(meaning: str, *more: str) -> Any:
    """An argument that is a benchmark or one of `more`."""
    names = completed(lambda: [*kernels.benchmark_names(), *more])
    return typer.Argument(autocompletion=names, help=meaning)


def program(meaning: str, *more: str) -> Any:
    """An argument that is a benchmark, a micro-benchmark or one of `more`."""
    names = completed(lambda: [*kernels.benchmark_names(), *micro.found(), *more])
    return typer.Argument(autocompletion=names, help=meaning)
