"""The application of a command whose every error is one line."""

import codecs
import contextlib
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException

from fabricmark.base import paths
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError

INTERRUPTED = 130
READER_GONE = 141  # what a shell says of a program that SIGPIPE ended
NO_OUTPUT = "send the output elsewhere; results that are already in files are kept"


class OneLineErrors(typer.Typer):
    """A Typer application whose every error is one line `fabricmark: error: cause; remedy`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115 (None where it was closed)
        if sys.stdout is None:
            sys.exit(fail(FabricmarkError("standard output is closed", NO_OUTPUT, ENVIRONMENT)))
        for stream in (sys.stdout, sys.stderr):
            _speak_utf8(stream)
        words = (args[0] if args else kwargs.get("args")) or sys.argv[1:]
        try:
            with contextlib.ExitStack() as stack:
                if _is_for_a_document(words):  # which is written past what follows (`paths.write_atomically`)
                    nothing = open(os.devnull, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
                    stack.enter_context(contextlib.redirect_stdout(stack.enter_context(nothing)))
                code = super().__call__(*args, standalone_mode=False, **kwargs)
            sys.stdout.flush()
        except TyperException as error:
            help_line = "see `fabricmark --help`; a program's own options go after ` -- `"
            code = fail(FabricmarkError(error.format_message().rstrip("."), help_line))
        except FabricmarkError as error:
            code = fail(error)
        except (KeyboardInterrupt, typer.Abort):
            code = fail(FabricmarkError("interrupted", "start it again", INTERRUPTED))
        except SystemExit as ended:  # rich's, where a reader such as `head` has gone
            code = READER_GONE if isinstance(ended.__context__, BrokenPipeError) else ended.code
        except OSError as error:
            code = unwritten(error)
        except Exception as error:
            if os.environ.get("FABRICMARK_DEBUG"):
                raise
            code = fail(internal(error))
        sys.exit(code if isinstance(code, int) else 0)


def _is_for_a_document(words: Sequence[str]) -> bool:
    """Whether an option's file is standard output: tables and lines beside the document would spoil it."""
    own = words[: words.index("--")] if "--" in words else words
    apart = [part for word in own for part in (word.split("=", 1) if word.startswith("--") else [word])]
    return any(
        option.startswith("--") and paths.is_standard_output(Path(file)) for option, file in pairwise(apart)
    )


def _speak_utf8(stream: Any) -> None:
    """Without a locale Python may know ASCII only; names are bytes, which terminals show as UTF-8."""
    if codecs.lookup(stream.encoding or "utf-8").name == "ascii" and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def internal(error: Exception) -> FabricmarkError:
    """What no check has foreseen, as one line; bad input shall not get here."""
    cause = f"internal error: {type(error).__name__}: {error}"
    remedy = "please report it with what FABRICMARK_DEBUG=1 in the environment prints"
    return FabricmarkError(cause, remedy, ENVIRONMENT)


def fail(error: FabricmarkError) -> int:
    """Print the one line of an error and hand back its exit code."""
    print(f"fabricmark: error: {error}", file=sys.stderr)
    return error.exit_code


def unwritten(error: OSError) -> int:
    """Say what could not be written and hand back the exit code; a reader that has gone knows it already."""
    # What is left in the buffer must not fail once more at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    cause = f"cannot write {error.filename or 'standard output'}: {error.strerror}"
    return fail(FabricmarkError(cause, NO_OUTPUT, ENVIRONMENT))
