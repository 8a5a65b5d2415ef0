"""The tables of `fabricmark scale`: one for each mode, kind of time and unit."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from fabricmark.base import terminal
from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import Column, number, percent
from fabricmark.report.run_tables import KIND_STYLES, VERDICT_STYLES
from fabricmark.results.scaling import Series

MEANING = {
    "weak": "each rank's share stays the same",
    "strong": "the total stays the same",
}
NORMALISED = {
    "per replication": "per_replication",
    "per bank": "per_bank",
    "per 100 MHz": "per_100_mhz",
    "per replication at 100 MHz": "per_replication_100_mhz",
    "per bank at 100 MHz": "per_bank_100_mhz",
}
COLUMNS = (
    Column("operation", key=True),
    Column("kind", once=True),
    Column("ranks", key=True, right=True),
    Column("devices", right=True),
    *terminal.numbers("best", "median", "modelled", "error", "±"),
    Column("unit", once=True),
    *terminal.numbers("speed-up", "efficiency", *NORMALISED),
    Column("verdict", once=True),
)
MEANINGS = {
    "speed-up": "speed-up, efficiency: of the best, over the fewest ranks.",
    "error": "error: modelled / best - 1.",
    "±": "±: 90 % within this share of the model, as rows of one's own leave it.",
    "devices": "devices: fewer than ranks, which then share them and are not judged against ideal scaling.",
    "normalised": "per replication, bank, 100 MHz: the best of all ranks together, divided as in Table 3.6 "
    "and Fig. 4.16 of the dissertation on HPCC FPGA; - where that is not known (--banks, --kernel-mhz) or "
    "does not apply.",
}


def show(benchmark: str, about: Mapping[str, object], found: Sequence[Series]) -> None:
    """Print every series."""
    out = terminal.console()
    there: set[str] = set()
    for (mode, kind), entries in grouped(((entry.mode, entry.kind), entry) for entry in found).items():
        words = [f"{benchmark}, {mode} scaling ({MEANING[mode]})", f"{about['ranks_kind']} ranks"]
        terminal.title(out, [*words, f"on {about['device']}"])
        rows = [_cells(entry, place, kind) for entry in entries for place in range(len(entry.ranks))]
        there |= terminal.show(out, COLUMNS, rows)
        out.print()
    there |= {"normalised"} if there & NORMALISED.keys() else set()
    terminal.say(out, " ".join(words for name, words in MEANINGS.items() if name in there), "dim")


def _modelled(entry: Series, place: int) -> list[terminal.Cell]:
    """The model's value, its error and its error bar; nothing where there is none."""
    value = entry.modelled[place] if entry.modelled else None
    width = entry.half_width[place] if entry.half_width else None
    if value is None:
        return [terminal.NOTHING] * 3
    return [number(value), percent(value / entry.best[place] - 1, signed=True), percent(width, digits=1)]


def _cells(entry: Series, place: int, kind: str) -> list[terminal.Cell]:
    verdict = entry.verdicts[place]
    return [
        entry.operation,
        Text(kind, style=KIND_STYLES[kind]),
        str(entry.ranks[place]),
        "" if entry.devices[place] == entry.ranks[place] else str(entry.devices[place]),
        number(entry.best[place]),
        number(entry.median[place]),
        *_modelled(entry, place),
        entry.unit,
        number(entry.speed_up[place]),
        percent(entry.efficiency[place]),
        *(number(getattr(entry, key)[place]) for key in NORMALISED.values()),
        Text(verdict, style=VERDICT_STYLES.get(verdict, "yellow")),
    ]
