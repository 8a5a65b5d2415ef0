"""Options of `fabricmark run` that are the program's: after ` -- `, of an application without it, too."""

from collections.abc import Sequence

import click
from typer.core import TyperCommand

from fabricmark import models

SETTINGS = {"ignore_unknown_options": True}
AFTER = "fabricmark.words_after"  # in the context: how many words stand after ` -- `


class Command(TyperCommand):
    """A command that keeps in mind how many words follow ` -- `."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; it takes the ` -- ` away."""
        ctx.meta[AFTER] = len(args) - args.index("--") - 1 if "--" in args else 0
        return super().parse_args(ctx, args)


def checked(context: click.Context, name: str, extra: Sequence[str]) -> list[str]:
    """The words for the program `name`. Raises NoSuchOption for an option before ` -- ` that nobody has: of a
    benchmark `run` takes its own only there."""
    before = extra[: len(extra) - context.meta[AFTER]]
    if not models.traits(name).is_application:
        for word in before:
            if word.startswith("-") and word != "-":
                raise click.NoSuchOption(word.split("=")[0], ctx=context)
    return list(extra)
