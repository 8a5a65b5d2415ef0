"""What `--help` of the command looks like: options under headings, and a word for the value of each.

A command with few options keeps them in one list. Words for values stand beside an option where it is
declared (`metavar`), or here where several commands share it; else its type says it.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from fabricmark.base.grouping import grouped

FEW = 7  # options, --help among them, that need no headings
OTHERS = "Options"
HEADINGS = {
    "Problem": "--set --sweep --mesh --scaling --mode --parameter --parameter-is --bytes --sizes --algorithm "
    "--grid --steps --elements --longitude --latitude --columns --rows --variable --positive --hump --okada "
    "--compute-scale --with",
    "System and device": "--system --board --runtime --platform --device --profile --vendor --banks",
    "Kernel": "--bitstream-id --config --variant --language --emulate --backend --both --kernel-mhz --tool "
    "--tool-version --target --clock --relaxed",
    "Ranks and transport": "--ranks --mpi --launcher --devices --transport --topology --placement --fail "
    "--ranks-per-port --oversubscription --background --collectives",
    "Model": "--program --closed-form --calibrate --sensitivity --reach --enough --beyond --from --next-run "
    "--simgrid --confirm --splits --fit --by --data",
    "Jobs": "--tasks --nodes --scheduler --option --resume --site",
    "Measurement": "--again --pairs --max-pairs --until-clear --min-effect --metric --statistic --ignore "
    "--seed",
    "Description": "--like --source --ask --force",
    "What is normal": "--against --history --evidence --false-alarms --tolerance --at-once --allow-missing",
    "Which results": "--examples --reference --benchmark --filter --sort",
    "Search": "--budget --top",
    "Output": "--output --csv --markdown --html --png --svg --plot --picture --json --junit --perflog "
    "--perfetto --timeline --pictures --full --quiet --check --dry-run --help",
}  # fmt: skip
# Commands by what a user does, as the front page has them.
DOORS = {
    "Measure": "list run report scale calibrate tune verify runtimes compare ab",
    "Develop": "build inspect bitstreams record",
    "Predict": "predict simulate explore validate systems",
    "Operate": "campaign check baseline history cluster reframe",
    "Data": "mesh bathymetry maps compress decompress",
}
COMMANDS = "Commands"
# Of options that several commands share, or whose type says too little.
VALUES = {
    "--algorithm": "NAME",
    "--bitstream": "FILE",
    "--board": "NAME",
    "--by": "WHAT",
    "--bytes": "SIZE",
    "--clock": "MHZ",
    "--data": "FOLDER",
    "--depth": "METRES",
    "--device": "INDEX|NAME",
    "--devices": "N,N|N..M",
    "--enough": "NAME",
    "--from": "FILE",
    "--ignore": "NAME,NAME",
    "--json": "FILE|-",
    "--kernel-mhz": "MHZ",
    "--kernels": "NAME,NAME",
    "--like": "NAME|FILE",
    "--mesh": "FILE|bay:N",
    "--metric": "NAME[,axis=value]",
    "--min-effect": "SHARE",
    "--night": "NAME",
    "--node": "NAME",
    "--note": "TEXT",
    "--output": "FOLDER",
    "--parameter": "NAME",
    "--platform": "INDEX|NAME",
    "--png": "FOLDER",
    "--reach": "RATE",
    "--set": "NAME=VALUE",
    "--source": "TEXT",
    "--sweep": "NAME=A:B[:STEP]",
    "--system": "NAME|FILE",
    "--threshold": "SHARE",
    "--tool": "NAME",
    "--topology": "CABLES",
    "--transport": "NAME",
    "--variant": "KIND",
}
OF_TYPES = {int: "N", float: "X", Path: "FILE", list[Path]: "FILE"}
PROGRAM_OPTIONS = "-- OPTIONS OF THE PROGRAM"


class Command(TyperCommand):
    """A command whose options stand under headings, each with a word for its value."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] NAME [-- OPTIONS OF THE PROGRAM]`"""
        name_values(self)
        arguments = [one for one in self.get_params(ctx) if isinstance(one, TyperArgument)]
        return [self.options_metavar or "", *map(usage, arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """As typer does, but for the headings of many options."""
        name_values(self)
        records = [(one, one.get_help_record(ctx)) for one in self.get_params(ctx)]
        told = [(one, (record[0], in_words(record[1]))) for one, record in records if record]
        named = [(usage(one), record[1]) for one, record in told if isinstance(one, TyperArgument)]
        options = [(heading(one), record) for one, record in told if isinstance(one, TyperOption)]
        parts = grouped(options)
        if len(options) <= FEW:
            parts = {OTHERS: [record for _, record in options]}
        order = [*HEADINGS, OTHERS]
        for title in ["Arguments", *sorted(parts, key=order.index)]:
            rows = named if title == "Arguments" else parts[title]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class Group(TyperGroup):
    """A command with commands, each with the first sentence of its help, whole."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Those of the whole command stand under the doors of the front page."""
        names = self.list_commands(ctx)
        parts = {COMMANDS: names} if ctx.parent else grouped((_door(name), name) for name in in_doors(names))
        for title, part in parts.items():
            with formatter.section(title):
                formatter.write_dl([(name, first_sentence(self.commands[name])) for name in part])


def name_values(command: TyperCommand) -> None:
    """Give each argument and option that has none a word for its value; only who asks for help needs it."""
    for one in command.params:
        if one.metavar is None and isinstance(one, TyperArgument):
            one.metavar = PROGRAM_OPTIONS if one.name == "extra" else str(one.name).upper()
        elif one.metavar is None and isinstance(one, TyperOption) and not one.is_flag:
            one.metavar = value(one)


def _door(command: str) -> str:
    return next((title for title, names in DOORS.items() if command in names.split()), COMMANDS)


def in_doors(commands: Sequence[str]) -> list[str]:
    """Commands in the order of the doors, those behind none last."""
    order = " ".join(DOORS.values()).split()
    return sorted(commands, key=lambda name: order.index(name) if name in order else len(order))


def first_sentence(command: Any) -> str:
    """What a command does; after a semicolon stands what else is to know."""
    return (command.help or "").split("\n\n")[0].replace("\n", " ").split("; exit code")[0].rstrip(".")


def heading(option: TyperOption) -> str:
    """The heading that an option stands under where there are many: its own, or that of its name."""
    named = next((title for title, names in HEADINGS.items() if option.opts[0] in names.split()), OTHERS)
    return option.rich_help_panel or named


def in_words(text: str) -> str:
    """`[1 to 50]` for `[1<=x<=50]`, as typer has ranges."""
    text = re.sub(r"(\S+)<=x<=([^];]+)", r"\1 to \2", text)
    return re.sub(r"x<=([^];]+)", r"at most \1", re.sub(r"x>=([^];]+)", r"at least \1", text))


def usage(argument: TyperArgument) -> str:
    """`NAME` of an argument; `[NAME]` where it may be left out, `FILE...` where there may be several."""
    name = str(argument.metavar or argument.name)
    name += "..." if argument.nargs != 1 and name.isupper() and " " not in name else ""
    is_marked = argument.required or name.startswith("[") or name.endswith("]")
    return name if is_marked else f"[{name}]"


def value(option: TyperOption) -> str | None:
    """A word for an option's value: its choices, what all commands call it, or its type's; None: typer's."""
    descriptor = option.type_descriptor
    if descriptor.is_choice:
        return f"[{'|'.join(map(str, descriptor.choices or ()))}]"
    return VALUES.get(option.opts[0]) or OF_TYPES.get(descriptor.annotation)


class App(typer.Typer):
    """A Typer application whose commands are `Command`s, and which is a `Group` of them."""

    def __init__(self, *args: Any, cls: type[TyperGroup] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, cls=cls or Group, **kwargs)

    def command(self, *args: Any, cls: type[TyperCommand] | None = None, **kwargs: Any) -> Callable:
        """As typer's."""
        return super().command(*args, cls=cls or Command, **kwargs)


def options_of(command: Any, words: Sequence[str] = ()) -> list[tuple[Sequence[str], TyperOption]]:
    """Every option of a command and of the commands below it, with the words that lead there."""
    name_values(command)
    own = [(words, one) for one in command.params if isinstance(one, TyperOption)]
    for name, below in getattr(command, "commands", {}).items():
        own += options_of(below, [*words, name])
    return own
