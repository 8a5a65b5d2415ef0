"""Whether a vendor's tool would take a script: its command lines and configurations against rules/*.toml.

What is found has the name of its rule, and one line. check_vitis.py and check_aoc.py have what only one tool
knows; here is what a command line is to both.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabricmark.base.errors import FabricmarkError
from fabricmark.build.accl import Port
from fabricmark.build.rules import Board, Option, Rules


@dataclass(frozen=True)
class Finding:
    """What is wrong, with the rule that it breaks. `is_note`: the tool goes on all the same. `remedy`: what
    to do, where the rule says it."""

    rule: str
    text: str
    is_note: bool = False
    remedy: str = ""


@dataclass(frozen=True)
class Arguments:
    """What is known of a kernel beside the script: its buffers, in order."""

    buffers: Sequence[str] = ()


@dataclass(frozen=True)
class Script:
    """Commands and the text of the files that they read. `kernels`: what is known of each, by name; empty
    where nothing is. `board`: the one that it is for. `uses_channels`: channels between boards. `objects`: of
    kernels that somebody else compiled, by name. `ports`: of streams, by kernel; empty where none is known.
    """

    commands: Sequence[Sequence[str]]
    files: Mapping[str, str]
    rules: Rules
    version: str
    board: Board | None = None
    kernels: Mapping[str, Arguments] = field(default_factory=dict)
    uses_channels: bool = False
    objects: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, Mapping[str, Port | str]] = field(default_factory=dict)

    def finding(self, rule: str, detail: str) -> Finding:
        """The line of one: tool, version, rule, what is there and what holds, with the vendor's page."""
        one = self.rules.rules[rule]
        text = f"{self.rules.tool} {self.version}, rule {rule}: {detail}: {one.said} ({one.source})"
        return Finding(rule, text, one.is_note, one.remedy)


@dataclass(frozen=True)
class Word:
    """An option of a command line with its value; `option` None for an input."""

    option: Option | None
    value: str


def words(script: Script, command: Sequence[str]) -> Iterator[Word | Finding]:
    """A command line, word by word, and what is wrong with a word by itself."""
    rest = list(command[1:])
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            yield Word(None, word)
            continue
        if any(word.startswith(family) for family in script.rules.families):
            if "=" not in word and rest and not rest[0].startswith("-") and not word.startswith("-cl-"):
                rest.pop(0)
            continue
        option, value = _option(script.rules, word)
        if option is None:
            yield script.finding("option-unknown", word)
            continue
        if value is None and option.takes in ("separate", "joined"):
            if not rest:
                yield script.finding("value-missing", word)
                continue
            value = rest.pop(0)
        if (value is None and option.takes == "equals") or value == "":
            yield script.finding("value-missing", word)
            continue
        if not option.span.has(script.version):
            yield script.finding("option-version", word)
        if option.values and value not in option.values:
            yield script.finding("option-unknown", word)
        yield Word(option, value or "")


@dataclass(frozen=True)
class Call:
    """A command line: its options with their values, its inputs, and what is wrong with its words."""

    given: Sequence[Word]
    inputs: Sequence[str]
    wrong: Sequence[Finding]

    def values(self, of: str) -> Iterator[str]:
        """Those of an option that may stand there several times."""
        return (one.value for one in self.given if one.option and one.option.name == of)


def call(script: Script, command: Sequence[str]) -> Call:
    """A command line in its parts, and an option among what is wrong that stands there more often than once
    where it must not."""
    found = list(words(script, command))
    given = [one for one in found if isinstance(one, Word) and one.option is not None]
    inputs = [one.value for one in found if isinstance(one, Word) and one.option is None]
    wrong = [one for one in found if isinstance(one, Finding)]
    counts = Counter(one.option for one in given if one.option)
    twice = [one.name for one, count in counts.items() if one.once and count > 1]
    return Call(given, inputs, [*wrong, *(script.finding("option-twice", name) for name in twice)])


def _option(rules: Rules, word: str) -> tuple[Option | None, str | None]:
    """The option that a word begins with, and its value where the word has one."""
    if word in rules.options:
        return rules.options[word], None
    name, equals, value = word.partition("=")
    found = rules.options.get(name)
    if equals and found and found.takes in ("separate", "equals", "any"):
        return found, value
    for one in rules.options.values():
        if one.takes == "joined" and word.startswith(one.name):
            return one, word[len(one.name) :]
    return None, None


def refuse(findings: Sequence[Finding]) -> None:
    """Raises FabricmarkError (2) with the first that is no note, and how many there are."""
    wrong = [one for one in findings if not one.is_note]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        remedy = wrong[0].remedy or "change the design or the options"
        raise FabricmarkError(f"{wrong[0].text}{more}", f"{remedy}, or print it as it is with --no-check")


def ending(file: str) -> str:
    """The last part of a file's name, as `.xo`."""
    return Path(file).suffix
