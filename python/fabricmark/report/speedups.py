"""Scaling: the same benchmark on several numbers of ranks, as speed-up with its ideal line and as efficiency.

From result files only rates are compared (more ranks do more work). `fabricmark scale` knows more and says it
in scaling.json, whose runs are not counted twice. An emulator is left out: its ranks share one host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricmark.base.written import number
from fabricmark.report import families, tables
from fabricmark.report.groups import Group, field_text
from fabricmark.report.inputs import Scaling
from fabricmark.report.plots import MOST_SERIES, Plot, Series, slug

FEWEST_RANKS = 2
MODES = ("weak", "strong")
NORMALISED = ("per_replication", "per_bank", "per_100_mhz", "per_replication_100_mhz", "per_bank_100_mhz")


@dataclass(frozen=True)
class Line:
    """Speed-up over numbers of ranks, against the fewest, which come first."""

    name: str
    ranks: Sequence[int]
    speed_ups: Sequence[float]

    def efficiencies(self) -> list[float]:
        """Speed-up as a share of the growth of the ranks [%]."""
        return [
            100 * up * self.ranks[0] / ranks for up, ranks in zip(self.speed_ups, self.ranks, strict=True)
        ]


def speed_up_lines(groups: Sequence[Group]) -> list[Line]:
    """Rates of one benchmark's groups that differ in ranks and in what follows from them."""
    found: dict[tuple, dict[int, float]] = {}
    for group in groups:
        rest = tuple(item for item in group.coordinates.items() if item[0] not in ("ranks", "launch"))
        for metric, points in group.condensed:
            entry = metric.measurement
            if entry.kind == "emulated" or entry.better != "higher" or points > 1 or entry.best <= 0:
                continue
            key = (entry.name, tuple(entry.axes.items()), entry.unit, entry.kind, rest)
            rates = found.setdefault(key, {})
            ranks = group.runs[0].ranks
            rates[ranks] = max(entry.best, rates.get(ranks, 0.0))
    made = []
    long = {key: rates for key, rates in found.items() if len(rates) >= FEWEST_RANKS}
    several = len({key[0] for key in long}) > 1
    common = set.intersection(*(set(key[-1]) for key in long)) if long else set()
    for (name, axes, _, kind, rest), rates in long.items():
        what = families.axes_text(dict(axes))
        words = [families.words(name)] if several or not what else []
        words += [what] if what else []
        words += [field_text(*item) for item in rest if item not in common]
        ranks = sorted(rates)
        gained = [rates[count] / rates[ranks[0]] for count in ranks]
        made.append(Line(f"{', '.join(words)} ({kind})", ranks, gained))
    return made


def plots(groups: Sequence[Group]) -> list[Plot]:
    """Speed-up and efficiency of one benchmark; nothing where all runs had the same number of ranks."""
    changed = changed_with_ranks(groups)
    note = f"Beside the ranks, these differ: {', '.join(changed)}." if changed else ""
    return from_lines(f"{groups[0].benchmark}:", speed_up_lines(groups), note)


def changed_with_ranks(groups: Sequence[Group]) -> list[str]:
    """Parameters that differ between groups which nothing but their ranks tells apart."""
    alike: dict[tuple, list[Group]] = {}
    for group in groups:
        rest = tuple(item for item in group.coordinates.items() if item[0] not in ("ranks", "launch"))
        alike.setdefault(rest, []).append(group)
    names = dict.fromkeys(name for group in groups for name in group.fields if name.startswith("parameter "))
    differing = [
        name
        for name in names
        if any(len({str(group.fields.get(name)) for group in members}) > 1 for members in alike.values())
    ]
    return [families.words(name.removeprefix("parameter ")) for name in differing]


def of_document(scaling: Scaling) -> list[Plot]:
    """The plots of one scaling.json: weak and strong scaling each have their own."""
    document = scaling.document
    drawn: list[Plot] = []
    for mode in MODES:
        found = []
        for entry in document["series"]:
            ups = [
                (ranks, up)
                for ranks, up in zip(entry["ranks"], entry["speed_up"], strict=True)
                if up is not None
            ]
            if entry["mode"] == mode and len(ups) >= FEWEST_RANKS:
                found.append(Line(f"{_operation(entry)} ({entry['kind']})", *zip(*ups, strict=True)))
        drawn += from_lines(f"{document['benchmark']} on {document['device']}: {mode}", found)
    return drawn


def _operation(entry: Mapping) -> str:
    name = families.words(entry["name"])
    what = families.axes_text(entry["axes"])
    return f"{name}, {what}" if what else name


def from_lines(head: str, found: Sequence[Line], note: str = "") -> list[Plot]:
    """The two plots of these lines, with a note; none of no lines."""
    if not found:
        return []
    shown = found[:MOST_SERIES]
    left = f"{len(found) - MOST_SERIES} further lines are left out." if len(found) > MOST_SERIES else ""
    left = f"{note} {left}".strip()
    ranks = families.distinct(count for line in shown for count in line.ranks)
    fewest = "1 rank" if ranks[0] == 1 else f"{ranks[0]} ranks"
    mode = head.rpartition(" ")[2]
    part = f"{mode} scaling" if mode in MODES else ""
    family = part or "scaling"
    if len(ranks) == FEWEST_RANKS:
        return [of_two(head, family, shown, fewest, left)]
    ups = [Series(line.name, line.ranks, line.speed_ups, "line", i) for i, line in enumerate(shown)]
    shares = [Series(line.name, line.ranks, line.efficiencies(), "line", i) for i, line in enumerate(shown)]
    ups.append(Series("ideal", ranks, [count / ranks[0] for count in ranks], "dotted", None))
    shares.append(Series("ideal", ranks, [100] * len(ranks), "dotted", None))
    common = {"x_label": "ranks", "x_ticks": [(count, str(count)) for count in ranks], "left_out": left}
    return [
        Plot(
            slug=slug(head, "speed-up"),
            title=f"{head} scaling, speed-up",
            y_label=f"speed-up over {fewest}",
            series=ups,
            family=family,
            part=part,
            **common,
        ),
        Plot(
            slug=slug(head, "scaling-efficiency"),
            title=f"{head} scaling, efficiency",
            y_label="speed-up / ideal speed-up [%]",
            series=shares,
            unit="%",
            family=family,
            part=part,
            **common,
        ),
    ]


def of_two(head: str, family: str, found: Sequence[Line], fewest: str, left: str) -> Plot:
    """Two numbers of ranks: a bar each, as two points make no line."""
    most = found[0].ranks[-1]
    shares = [line.efficiencies()[-1] for line in found]
    hover = [
        f"{line.name}: {line.speed_ups[-1]:.3g} times {fewest}, {share:.0f} % of ideal"
        for line, share in zip(found, shares, strict=True)
    ]
    return Plot(
        slug=slug(head, "scaling-efficiency"),
        title=f"{head} scaling, efficiency of {most} ranks",
        x_label=f"speed-up of {most} ranks over {fewest} / ideal speed-up [%]",
        y_label="",
        series=[Series("efficiency", shares, range(len(found)), "bars", 0, hover)],
        rows=[line.name for line in found],
        left_out=left,
        unit="%",
        family=family,
        part=f"efficiency of {most} ranks",
        reference=100,
    )


def table(scaling: Scaling) -> str:
    """The metrics of a scaling.json as an HTML table, with the normalised ones."""
    rows = []
    for entry in scaling.document["series"]:
        for place, ranks in enumerate(entry["ranks"]):
            share = entry["efficiency"][place]
            values = [entry["best"][place], entry["median"][place], entry["speed_up"][place]]
            values += [entry[key][place] for key in NORMALISED]
            shown = [number(value) for value in values]
            shown.insert(3, tables.percent(None if share is None else 100 * share))
            cells = [tables.cell(_operation(entry), "th", scope="row"), tables.cell(entry["mode"])]
            cells += [tables.cell(entry["kind"]), tables.cell(ranks, classes="n")]
            cells += [tables.cell(value, classes="n") for value in shown]
            cells += [tables.cell(entry["unit"]), tables.cell(entry["verdicts"][place])]
            rows.append(f"<tr>{''.join(cells)}</tr>")
    headings = ["operation", "mode", "kind", "ranks", "best", "median", "speed-up", "efficiency"]
    headings += [families.words(key).replace("mhz", "MHz") for key in NORMALISED] + ["unit", "verdict"]
    document = scaling.document
    caption = f"{document['benchmark']} on {document['device']}: scaling ({document['ranks_kind']} ranks)"
    body = tables.table(caption, headings, rows[: tables.MOST_ROWS], range(3, 13))
    return f"<details><summary>{tables.text(caption)}: table</summary>{body}</details>"
