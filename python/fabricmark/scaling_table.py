"""The tables of `fabricmark scale`: one for each mode, kind of time and unit."""

import itertools
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fabricmark import report
from fabricmark.errors import printable
from fabricmark.report import NOTHING, VERDICT_STYLES, figure
from fabricmark.scaling import Series

MEANING = {
    "weak": "each rank's share stays the same",
    "strong": "the total stays the same",
}
NORMALISED = {
    "per\nreplication": "per_replication",
    "per\nbank": "per_bank",
    "per\n100 MHz": "per_100_mhz",
    "per\nreplication\nat 100 MHz": "per_replication_100_mhz",
    "per bank\nat 100 MHz": "per_bank_100_mhz",
}
LONGEST_OPERATION = 14  # of STREAM; longer ones are wrapped
FOOTNOTE = (
    "speed-up and efficiency: of the best, over the fewest ranks. per replication, bank, 100 MHz: the best "
    "of all ranks together, divided as in Table 3.6 and Fig. 4.16 of the dissertation on HPCC FPGA; - where "
    "that is not known (--banks, --kernel-mhz) or does not apply."
)


def show(benchmark: str, about: Mapping[str, object], found: Sequence[Series]) -> None:
    """Print every series."""
    console = Console() if sys.stdout.isatty() else Console(width=report.PIPED_COLUMNS)
    for (mode, kind), entries in itertools.groupby(found, lambda entry: (entry.mode, entry.kind)):
        words = f"{benchmark}, {mode} scaling ({MEANING[mode]}), {kind}, {about['ranks_kind']} ranks"
        console.print(_table(f"{words}, {about['device']}", list(entries)))
        console.print()
    console.print(Text(FOOTNOTE, style="dim"))


def _table(title: str, entries: Sequence[Series]) -> Table:
    drawn = Table(
        title=Text(printable(title), style="bold"), title_justify="left", box=None, padding=(0, 1, 0, 0)
    )
    drawn.add_column("operation", min_width=LONGEST_OPERATION)
    for name in ("ranks", "best", "median"):
        drawn.add_column(name, justify="right", no_wrap=True)
    drawn.add_column("unit", no_wrap=True)
    for name in ("speed-up", "efficiency"):
        drawn.add_column(name, justify="right", no_wrap=True)
    for name in NORMALISED:
        drawn.add_column(name, justify="right", no_wrap=True)
    drawn.add_column("verdict", no_wrap=True)
    for entry in entries:
        for place in range(len(entry.ranks)):
            drawn.add_row(*_cells(entry, place))
    return drawn


def _cells(entry: Series, place: int) -> list[Text | str]:
    efficiency, verdict = entry.efficiency[place], entry.verdicts[place]
    return [
        Text(printable(entry.operation) if place == 0 else ""),
        str(entry.ranks[place]),
        figure(entry.best[place]),
        figure(entry.median[place]),
        Text(printable(entry.unit)),
        figure(entry.speed_up[place]),
        NOTHING if efficiency is None else f"{efficiency:.0%}",
        *(figure(getattr(entry, key)[place]) for key in NORMALISED.values()),
        Text(verdict, style=VERDICT_STYLES.get(verdict, "yellow")),
    ]
