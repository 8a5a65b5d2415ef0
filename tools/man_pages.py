"""Man pages of the programs and of the command, made from their own help: part of `make install`.

One parser for both, as CLI11 and the command's help have the same form: headings that end with a colon, and
below them a line for each option, indented by two, whose text goes on further in. Programs are asked
(`--help`); of the command one page has all that it can do, which is asked of its code below the prefix.
Nothing but Python is needed. SOURCE_DATE_EPOCH sets the date, for builds that shall be the same each time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

COMMAND = "fabricmark"
PROGRAMS = ("fm_*", "fabricmark-*")
# Of programs that no person starts, and that have no options.
ALONE = {
    "fabricmark-card": "the emulated card that AMD's XRT starts; see docs/xrt.md",
    "fm_omb": "the program behind fm_latency, fm_bw and all others that are named as those of OMB",
    "fabricmark-describe": "what kernel.toml says and what collective operations take, as JSON: reads "
    '{"requests": [...]} and writes {"answers": [...]}; see docs/describe.md',
}
EXIT_CODES = (
    ("0", "all results are valid"),
    ("1", "a result is INVALID, or a comparison found a loss"),
    ("2", "bad use: an option, a file or a name"),
    ("3", "the environment: no device, no program, a rank that failed, no room"),
)
ITEM = re.compile(r"^  (?! )(.*?)(?:  +(.*))?$")  # an option or a command, and what it means
USAGE = "Usage: "
WIDTH = 100_000  # of a help text that nobody has broken into lines
CONTEXT = {"terminal_width": WIDTH, "max_content_width": WIDTH}


@dataclass
class Section:
    """What stands below a heading: items with what they mean."""

    title: str
    items: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Help:
    """A help text: what it is of, its usage line, paragraphs, and sections."""

    usage: str = ""
    paragraphs: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """Its first sentence without the full stop."""
        return self.paragraphs[0].rstrip(".") if self.paragraphs else ""


def parse(text: str) -> Help:
    """The parts of a help text. Lines that are neither heading nor item go on with what stands above."""
    found = Help()
    is_open = False  # whether a paragraph goes on
    for line in text.splitlines():
        item = ITEM.match(line)
        if not line.strip():
            is_open = False
        elif line.startswith(USAGE):
            found.usage = line.removeprefix(USAGE).strip()
        elif not line.startswith(" ") and line.endswith(":"):
            found.sections.append(Section(line[:-1]))
        elif found.sections and item:
            found.sections[-1].items.append((item[1], item[2] or ""))
        elif found.sections and found.sections[-1].items:
            name, said = found.sections[-1].items[-1]
            found.sections[-1].items[-1] = (name, f"{said} {line.strip()}".strip())
        elif is_open:
            found.paragraphs[-1] += f" {line.strip()}"
        else:
            found.paragraphs.append(line.strip())
            is_open = True
    found.sections = [section for section in found.sections if section.items]
    return found


def roff(text: str) -> str:
    """Words as roff takes them: nothing in them is a request or an escape of its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{text}" if text.startswith(".") else text


def option(text: str) -> str:
    """`--size N` with the option in bold and its value in italics."""
    return re.sub(
        r"(?<![\w-])(-[\w-]+)|(?<=[ ])([^-\s,/][^\s]*)",
        lambda found: f"\\fB{roff(found[1])}\\fR" if found[1] else f"\\fI{roff(found[2])}\\fR",
        text,
    )


def _paragraphs(found: Help) -> list[str]:
    """With a request between each two."""
    return [line for paragraph in found.paragraphs for line in (".PP", roff(paragraph))][1:]


def _sections(found: Help, macro: str) -> Iterator[str]:
    for section in found.sections:
        yield f"{macro} {roff(section.title.upper() if macro == '.SH' else section.title)}"
        for name, said in section.items:
            yield from (".TP", option(name) if name.startswith("-") else f"\\fB{roff(name)}\\fR", roff(said))


def page(name: str, found: Help, version: str, date: str, more: Sequence[str] = ()) -> str:
    """The page of a program. `more`: lines of roff between its options and its exit codes."""
    lines = [
        f'.TH {roff(name.upper())} 1 "{date}" "Fabricmark {roff(version)}" "Fabricmark"',
        ".SH NAME",
        f"{roff(name)} \\- {roff(found.summary[:1].lower() + found.summary[1:])}",
        ".SH SYNOPSIS",
        f".B {roff(found.usage or name)}",
        ".SH DESCRIPTION",
    ]
    lines += [*_paragraphs(found), *_sections(found, ".SH"), *more]
    if name not in ALONE:
        lines.append(".SH EXIT STATUS")
        for code, meaning in EXIT_CODES:
            lines += [".TP", f".B {code}", roff(meaning)]
    others = f"\\fB{COMMAND}\\fR(1)" if name != COMMAND else "\\fBfm_stream\\fR(1) and the other programs"
    lines += [".SH SEE ALSO", f"{others}, the documentation in share/doc/fabricmark", ""]
    return "\n".join(lines)


def of_program(program: Path) -> Help | None:
    """What a program says of itself; None where it has no help."""
    if program.name in ALONE:
        return Help(paragraphs=[ALONE[program.name]])
    variables = {**os.environ, "COLUMNS": str(WIDTH)}
    try:
        done = subprocess.run(
            [program, "--help"], capture_output=True, text=True, check=False, timeout=60, env=variables
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def of_command() -> tuple[Help, list[str]]:
    """The command's help, and lines of roff with a section for each of its commands."""
    import typer
    from fabricmark.base import help as groups
    from fabricmark.cli import app

    top = typer.main.get_command(app)
    context = typer.Context(top, info_name=COMMAND, **CONTEXT)
    lines: list[str] = []
    for name in groups.in_doors(top.list_commands(context)):
        lines += _of_one(top.commands[name], [name], context)
    return parse(top.get_help(context)), lines


def _of_one(command, words: list[str], parent) -> list[str]:
    """The section of a command, and of those below it."""
    context = type(parent)(command, info_name=words[-1], parent=parent, **CONTEXT)
    found = parse(command.get_help(context))
    lines = [f".SH {roff(' '.join([COMMAND, *words]).upper())}", f".B {roff(found.usage)}", ".PP"]
    lines += [*_paragraphs(found), *_sections(found, ".SS")]
    for name, below in getattr(command, "commands", {}).items():
        lines += _of_one(below, [*words, name], context)
    return lines


def write(prefix: Path, version: str) -> list[Path]:
    """Pages of all programs below the prefix, and of the command; the files. A program without help is named
    on standard error."""
    folder = prefix / "share" / "man" / "man1"
    folder.mkdir(parents=True, exist_ok=True)
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(seconds), UTC) if seconds else datetime.now(UTC)
    date = f"{now:%Y-%m-%d}"
    written = []
    for program in sorted({file for name in PROGRAMS for file in (prefix / "bin").glob(name)}):
        found = of_program(program)
        if found is None:
            print(f"install: {program.name} has no help, so no man page", file=sys.stderr)
            continue
        file = folder / f"{program.name}.1"
        file.write_text(page(program.name, found, version, date), encoding="utf-8")
        written.append(file)
    found, more = of_command()
    file = folder / f"{COMMAND}.1"
    file.write_text(page(COMMAND, found, version, date, more), encoding="utf-8")
    return [*written, file]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=Path, help="where bin/ and share/fabricmark/ are")
    prefix = parser.parse_args().prefix
    sys.path[:0] = [str(prefix / "share/fabricmark/python"), str(prefix / "lib/fabricmark/packages")]
    from fabricmark import __version__

    print(f"install: {len(write(prefix, __version__))} man pages")


if __name__ == "__main__":
    main()
