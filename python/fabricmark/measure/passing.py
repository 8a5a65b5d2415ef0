"""Options of `fabricmark run` that are the program's: after ` -- `, of an application without it, too."""

from collections.abc import Sequence
from difflib import get_close_matches

import typer

from fabricmark import models
from fabricmark.base import help

SETTINGS = {"ignore_unknown_options": True}
AFTER = "fabricmark.words_after"  # in the context: how many words stand after ` -- `


class Command(help.Command):
    """A command that keeps in mind how many words follow ` -- `."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        """As typer does; it takes the ` -- ` away."""
        ctx.meta[AFTER] = len(args) - args.index("--") - 1 if "--" in args else 0
        return super().parse_args(ctx, args)


def checked(context: typer.Context, name: str, extra: Sequence[str]) -> list[str]:
    """The words for the program `name`.

    Fails with the usual line (exit code 2) for an option before ` -- ` that `run` has not: only those of an
    application may stand there.
    """
    before = extra[: len(extra) - context.meta[AFTER]]
    if not models.traits(name).is_application:
        for word in before:
            if word.startswith("-") and word != "-":
                context.fail(_no_such(context, word.split("=")[0]))
    return list(extra)


def _no_such(context: typer.Context, option: str) -> str:
    known = [flag for parameter in context.command.params for flag in parameter.opts]
    near = get_close_matches(option, known, n=1)
    return f"No such option: {option}" + (f" Did you mean {near[0]}?" if near else "")
