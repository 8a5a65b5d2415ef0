"""What several commands take on their lines: which system, and what of it (systems/choice.py)."""

from typing import Annotated, Any

import typer

from fabricmark import systems
from fabricmark.base import choices, transports


def system(of: str = "", *, more: str = "") -> Any:
    """An option that is a system. `of`: what of it counts; `more`: what else it takes."""
    meaning = f"{f'{of}: a' if of else 'A'} name of `fabricmark systems list`, or a file{more}."
    return typer.Option(autocompletion=choices.completed(systems.names), help=meaning)


Board = Annotated[
    str | None,
    typer.Option(
        help="Which of the system's kinds of devices (default: the first that has what is asked for)."
    ),
]
BitstreamId = Annotated[
    str | None, typer.Option(metavar="FILE/NAME", help="Which bitstream, where the system has several.")
]
Transport = Annotated[str | None, typer.Option(help=f"The way between devices: {transports.SOME}")]
Profile = Annotated[str, choices.one_of(systems.PROFILES, "Which values of the system.")]
