"""How a check is shown: what is slower, suspect or broken, a row each, and one closing line."""

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from fabricmark.base import terminal
from fabricmark.base.errors import printable
from fabricmark.base.terminal import NOTHING, Column, counted, number, percent
from fabricmark.sites import check
from fabricmark.sites.check import BROKEN, PASSED, SLOWER, STATES, SUSPECT, Row, Verdict

ALWAYS = (PASSED, SLOWER, BROKEN)  # counted even where there is none
STYLES = {SLOWER: "bold red", BROKEN: "bold red", SUSPECT: "yellow"}
MOST_ROWS = 60
COLUMNS = (
    Column("metric", key=True),
    Column("node", key=True),
    Column("state"),
    *terminal.numbers("slower by", "95 % interval", "tonight", "baseline"),
    Column("unit", once=True),
    *terminal.numbers("nights of it", "by chance once in"),
    Column("why", prose=True),
)


def show(found: Verdict, faults: Sequence[str], console: Console | None = None) -> None:
    """Print what needs somebody, the worst first; faults of the history go to standard error."""
    out = console or terminal.console()
    for line in faults:
        print(f"fabricmark: warning: left out of the history: {printable(line)}", file=sys.stderr)
    told = [row for row in found.rows if row.state in STYLES and not _is_told(row, found.together)]
    told = sorted([*found.together, *told], key=_importance)
    if told:
        terminal.show(out, COLUMNS, [_cells(row) for row in told[:MOST_ROWS]])
    if len(told) > MOST_ROWS:
        terminal.say(out, f"and {len(told) - MOST_ROWS} more: --junit has all")
    out.print(Text(closing(found)), soft_wrap=True)


def _is_told(row: Row, together: Sequence[Row]) -> bool:
    """Whether a row of all nodes says the same: its node lost no more than that and the tolerance."""
    for one in together:
        if one.series.metric == row.series.metric and row.state == SLOWER:
            return (row.loss or 0.0) <= (one.loss or 0.0) + max(check.TOLERANCE, row.found or 0.0)
    return False


def _importance(row: Row) -> tuple:
    order = (SLOWER, BROKEN, SUSPECT)
    return order.index(row.state), -(row.loss or 0.0), row.series.label, row.series.node


def _cells(row: Row) -> list[terminal.Cell]:
    return [
        row.series.label,
        row.series.node,
        Text(row.state, style=STYLES.get(row.state, "")),
        percent(row.loss, digits=1),
        NOTHING if row.interval is None else interval(row.interval),
        number(row.value),
        number(row.reference),
        row.series.unit,
        str(row.over) if row.loss is not None else NOTHING,
        NOTHING if row.chance is None else f"{nights(row.chance)}",
        row.reason or NOTHING,
    ]


def interval(ends: tuple[float, float]) -> str:
    """`1.2 % to 3.4 %`"""
    low, high = (percent(end, digits=1) for end in ends)
    return f"{low} to {high}"


def losses_found(shares: Iterable[float]) -> list[str]:
    """`losses found from 2.0 % to 3.4 % on`, of the smallest that are found; nothing where none is known."""
    known = sorted(shares)
    if not known:
        return []
    low, high = (percent(max(share, check.TOLERANCE), digits=1) for share in (known[0], known[-1]))
    return [f"losses found from {low} on" if low == high else f"losses found from {low} to {high} on"]


def nights(count: float) -> str:
    """`3e+06 nights` beyond what anybody waits for."""
    return f"{count:.2g} nights" if count < 1e9 else "1e+09 nights or more"


def closing(found: Verdict) -> str:
    """`passed 40, slower 1, broken 0; ...`: the one line that a mail's subject needs."""
    counts = {state: found.count(state) for state in STATES}
    told = ", ".join(f"{state} {count}" for state, count in counts.items() if count or state in ALWAYS)
    metrics = {row.series.metric for row in found.rows if row.series.metric}
    nodes = {row.series.node for row in found.rows}
    of_base = counted(found.of_base, "night")
    over = f"evidence of {found.over} nights" if found.over > 1 else "evidence of tonight alone"
    parts = [
        told,
        f"{counted(len(metrics), 'metric')} on {counted(len(nodes), 'node')} against "
        f"{found.against} ({of_base}, {over})",
    ]
    parts += losses_found(row.found for row in found.rows if row.found is not None)
    return printable("; ".join(parts))
