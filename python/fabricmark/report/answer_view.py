"""The answer on a terminal: at most MOST_LINES lines of COLUMNS columns, commands as they are typed."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from fabricmark.base import terminal
from fabricmark.base.errors import printable
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import percent
from fabricmark.report import next_steps
from fabricmark.report.answer import Answer, Share
from fabricmark.report.run_tables import VERDICT_STYLES

MOST_LINES, COLUMNS = 25, 80
FEWEST_ROWS = 4  # of bars, whatever else there is to say
FEWEST_PROSE = 1  # lines of what has neither
MOST_OF_ONE, CUT = 2, " ..."  # lines of what is worth a look
NARROWEST_BAR, WIDEST_BAR = 6, 40
BLOCKS = ("█", "░")
LETTERS = ("#", ".")  # where the terminal has no blocks
JOINED_SLASH = f"{terminal.JOINED}/{terminal.JOINED}"  # no line is broken between the two kernels
HEADINGS = ("benchmark", "best", "share of the limit", "", "model error", "verdict")


def lines(found: Answer, out: Console, more: Sequence[str], *, room: int = MOST_LINES) -> list[Text]:
    """All but the closing line, in at most `room` lines less that one. `more`: what else there is to see."""
    style = "bold green" if found.counts.has_passed else "bold red"
    device = f" on {found.devices[0]}" if len(found.devices) == 1 else ""
    head = _wrapped([Text(printable(found.counts.verdict() + device), style=style)], out)
    tail = _wrapped([Text(printable(found.kernels).replace(" / ", JOINED_SLASH))], out)
    tail += [*_worries(found, out), *_wrapped([Text(printable(one)) for one in more], out)]
    left = room - 1 - len(head) - len(tail)
    return [*head, *_shares(found, out, max(left, FEWEST_ROWS)), *tail]


def show(found: Answer, out: Console, more: Sequence[str], others: int) -> None:
    """Print all but the closing line; `others`: lines of others that stand between."""
    for line in lines(found, out, more, room=MOST_LINES - others):
        out.print(line, soft_wrap=True)


def closing(found: Answer, out: Console) -> Text:
    """The last line."""
    words = found.counts.closing()
    width = min(out.width, COLUMNS)
    style = "green" if found.counts.has_passed else "red"
    return Text(f" {words} ".center(width, "=") if len(words) + 4 <= width else words, style=style)


def _wrapped(texts: Iterable[Text], out: Console) -> list[Text]:
    return [line for text in texts if text.plain for line in terminal.wrapped(text, out.width)]


def _shares(found: Answer, out: Console, room: int) -> list[Text]:
    """Bars of what has a limit or a model, in the order of the answer, and the others in sentences."""
    drawn, numbers = found.drawn, found.numbers
    legend = [f"device {place}: {name}" for name, place in numbers.items()]
    if drawn and not numbers and len(found.devices) > 1:
        legend = [f"on {drawn[0].headline.device}"]
    head = terminal.packed([Text(printable(one), style="dim") for one in legend], out.width)
    left = room - len(head) - (len(drawn) + 1 if drawn else 0)
    prose = _without(found.others, found.devices, out, max(left, FEWEST_PROSE))
    rows = max(room - len(prose) - len(head) - 1, FEWEST_ROWS)
    shown = drawn if len(drawn) <= rows else drawn[: rows - 1]
    lines = [*head, *(_bars(shown, numbers, out) if shown else [])]
    if len(shown) < len(drawn):
        lines.append(Text(f"and {len(drawn) - len(shown)} more", style="yellow"))
    return [*lines, *prose]


def _bars(shares: Sequence[Share], numbers: Mapping[str, str], out: Console) -> list[Text]:
    """A heading and a line each; `numbers`: of devices, where there are several."""
    cells = [_cells(share) for share in shares]
    headings = list(HEADINGS)
    if numbers:
        cells = [
            [row[0], numbers[share.headline.device], *row[1:]]
            for row, share in zip(cells, shares, strict=True)
        ]
        headings.insert(1, "device")
    place = headings.index("share of the limit")
    right = (place - 1, place + 1, place + 2)  # columns of numbers
    widths = [max(cell_len(text) for text in column) for column in zip(headings, *cells, strict=True)]
    widths[place] = 0
    fixed = sum(widths) + 2 * (len(widths) - 1)
    widths[place] = min(max(out.width - fixed, NARROWEST_BAR), WIDEST_BAR)
    headings[place] = headings[place] if widths[place] >= len(headings[place]) else "limit"[: widths[place]]
    full, empty = BLOCKS if (out.encoding or "").lower().startswith("utf") else LETTERS
    named = [
        _set(word, width, right=at in right)
        for at, (word, width) in enumerate(zip(headings, widths, strict=True))
    ]
    lines = [Text("  ".join(named).rstrip(), style="dim")]
    for share, row in zip(shares, cells, strict=True):
        line = Text()
        for number, (word, width) in enumerate(zip(row, widths, strict=True)):
            line.append("  " if number else "")
            if number == place:
                line.append(_bar(share, width, full, empty))
            elif number == len(row) - 1:
                line.append(word, style=_style(share))
            else:
                line.append(_set(word, width, right=number in right))
        line.rstrip()
        lines.append(line)
    return lines


def _style(share: Share) -> str:
    verdict = share.headline.verdict
    return "yellow" if share.is_doubtful else VERDICT_STYLES.get(verdict.split()[0], "yellow")


def _cells(share: Share) -> list[str]:
    return [
        share.headline.benchmark, share.value, "", percent(share.share) if share.share is not None else "",
        share.error, share.verdict,
    ]  # fmt: skip


def _set(word: str, width: int, *, right: bool = False) -> str:
    gap = " " * max(width - cell_len(word), 0)
    return gap + word if right else word + gap


def _bar(share: Share, width: int, full: str, empty: str) -> str:
    if share.share is None:
        return _set("no limit", width)
    filled = min(round(share.share * width), width)
    return full * filled + empty * (width - filled)


def _without(shares: Sequence[Share], devices: Sequence[str], out: Console, most: int) -> list[Text]:
    """What has neither limit nor model, by verdict and why: with values and devices where `most` lines hold
    these, else names alone."""

    def told(about: Callable[[Share], tuple], name: Callable[[Share], str]) -> list[Text]:
        alike = grouped((about(share), name(share)) for share in shares)
        heads = [", ".join(printable(part) for part in parts) for parts in alike]
        named = [", ".join(dict.fromkeys(names)) for names in alike.values()]
        return _wrapped([Text(f"{head}: {names}") for head, names in zip(heads, named, strict=True)], out)

    in_full = told(lambda share: (*_why(share), *_place(share, devices)), _named)
    return in_full if len(in_full) <= most else told(_why, lambda share: printable(share.headline.benchmark))


def _why(share: Share) -> tuple[str, str]:
    return share.verdict, f"no limit ({share.unlimited})"


def _place(share: Share, devices: Sequence[str]) -> list[str]:
    return [f"on {share.headline.device}"] if len(devices) > 1 else []


def _named(share: Share) -> str:
    words = printable(f"{share.headline.benchmark} {share.value}")
    return words.replace(" ", terminal.JOINED)  # no line is broken within one


def _worries(found: Answer, out: Console) -> list[Text]:
    lines = []
    for number, worry in enumerate(found.worries, 1):
        lines += _shortened(_wrapped([Text(printable(f"{number}. {worry.sentence}"))], out))
        lines += [Text(line, style="cyan") for line in command(worry.words, out.width)]
    if not lines:
        return _wrapped([Text(found.models)], out)
    more = (
        f"worth a look, {len(found.worries)} of {found.found}"
        if found.found > len(found.worries)
        else "worth a look"
    )
    head = "; ".join(filter(None, (found.models, more)))
    return [*_wrapped([Text(head, style="bold")], out), *lines]


def _shortened(lines: Sequence[Text]) -> list[Text]:
    """The cause of a failure may be long; the table has all of it."""
    if len(lines) <= MOST_OF_ONE:
        return list(lines)
    last = lines[MOST_OF_ONE - 1].plain
    return [*lines[: MOST_OF_ONE - 1], Text(last[: max(len(last) - len(CUT), 0)] + CUT)]


def command(words: Sequence[str], width: int) -> list[str]:
    """A command on lines that a shell takes together: broken between words, after a backslash."""
    indent, end = "   ", " \\"
    whole = next_steps.line(words)
    if len(indent) + len(whole) <= width:
        return [indent + whole]
    lines: list[str] = []
    for word in next_steps.quoted(words):
        if lines and len(lines[-1]) + 1 + len(word) + len(end) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{indent}{'  ' if lines else ''}{word}")
    return [line + end for line in lines[:-1]] + lines[-1:]
