"""The one kind of error that a command shows: a single line with a cause and a remedy."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

BAD_USE = 2
ENVIRONMENT = 3
INTERRUPTED = 130  # what a shell says of a program that Ctrl-C ended


class FabricmarkError(Exception):
    """Ends a command with one line on standard error.

    `exit_code` is BAD_USE (2: the user's input) or ENVIRONMENT (3: not built, no launcher, no device).
    """

    def __init__(self, cause: str, remedy: str, exit_code: int = BAD_USE) -> None:
        super().__init__(f"{printable(cause)}; {printable(remedy)}")
        self.exit_code = exit_code


class SeveralErrors(FabricmarkError):
    """All that is wrong with one input: a line for each."""

    def __init__(self, errors: Sequence[FabricmarkError]) -> None:
        Exception.__init__(self, "\n".join(str(error) for error in errors))
        self.exit_code = max(error.exit_code for error in errors)


def in_lines(error: FabricmarkError) -> str:
    """`fabricmark: error: cause; remedy`, a line for each of several errors."""
    return "\n".join(f"fabricmark: error: {line}" for line in str(error).splitlines())


def check_known(name: object, known: Iterable[object], cause: str) -> None:
    """Raises FabricmarkError (2) with this cause for a name that is none of the known ones."""
    if name not in (names := list(known)):
        raise FabricmarkError(cause, f"use one of {', '.join(map(str, names))}")


@contextmanager
def refusing(what: str, remedy: str) -> Iterator[None]:
    """For a body that opens a file: what keeps it from that, after `cannot read FILE` as `what`."""
    try:
        yield
    except (OSError, ValueError, EOFError) as error:  # ValueError: a zero byte in its name, or no text
        why = getattr(error, "strerror", None) or error
        raise FabricmarkError(f"{what}: {why}", remedy) from error


def in_full(error: Exception) -> str:
    """What a library has raised, with its kind: some say nothing else."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def printable(text: object) -> str:
    """One line that any terminal can show: control characters and lone surrogates are escaped.

    Names come from result files and drivers; a file must not be able to move the reader's cursor.
    """
    line = " ".join(_decoded(str(text)).split())
    if line.isprintable():
        return line
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)


def _decoded(text: str) -> str:
    """Names of files as they are in UTF-8, whatever the locale; bytes that are no UTF-8 stay as they came."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a pair, from a result file
        return text
