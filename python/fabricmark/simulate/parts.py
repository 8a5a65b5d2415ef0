"""`fabricmark simulate --by call`: where time goes, by call or phase and by rank or group of ranks."""

from statistics import fmean

from fabricmark.base import terminal
from fabricmark.base.terminal import Column, percent
from fabricmark.simulate.calls import Found

BY = "call"
MOST_GROUPS = 8
MODELLED = "modelled"


def groups(ranks: int) -> list[range]:
    """Each rank, or where there are more than MOST_GROUPS so many groups of ranks that follow each other."""
    each = -(-ranks // MOST_GROUPS)
    return [range(first, min(first + each, ranks)) for first in range(0, ranks, each)]


def words(group: range) -> str:
    """`rank 3`, `ranks 0 to 7`."""
    return f"rank {group[0]}" if len(group) == 1 else f"ranks {group[0]} to {group[-1]}"


def rows(found: Found) -> list[tuple[str, float, list[float]]]:
    """(part, its share of all ranks' time, seconds of each rank), the longest first; none without time."""
    spent = [[rank[part] for rank in found.about["spent"]] for part in range(len(found.parts))]
    total = sum(map(sum, spent))
    made = [(name, sum(own) / total, own) for name, own in zip(found.parts, spent, strict=True) if sum(own)]
    return sorted(made, key=lambda row: -row[1])


def show(found: Found) -> None:
    """Print the table of the own network: seconds of ranks in each part, waiting for others counted."""
    out = terminal.console()
    together = groups(found.setting.ranks)
    columns = [
        Column("call", key=True),
        *terminal.numbers("times a rank", "share", "mean [s]", "least [s]", "most [s]"),
        *terminal.numbers(*(f"{words(one)} [s]" for one in together)),
    ]
    table = []
    for name, share, own in rows(found):
        times = found.parts[name]
        by_group = [fmean(own[rank] for rank in group) for group in together]
        numbers = [times or None, fmean(own), min(own), max(own), *by_group]
        shown = [terminal.number(one) for one in numbers]
        table.append([name, shown[0], percent(share, digits=1), *shown[1:]])
    out.print()
    terminal.title(out, [f"{found.name} by {BY}", "own network", MODELLED])
    terminal.show(out, columns, table)
