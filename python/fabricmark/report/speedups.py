"""Scaling: the same benchmark on several numbers of ranks, as speed-up with its ideal line and as efficiency.

From result files only rates are compared (more ranks do more work). `fabricmark scale` knows more and says it
in scaling.json, whose runs are not counted twice. What has an ideal `results.scaling` judges: no emulator,
and no ranks that share a device.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fabricmark.base.grouping import grouped
from fabricmark.base.terminal import counted, number, percent
from fabricmark.report import families, tables
from fabricmark.report.groups import Group, field_text
from fabricmark.report.inputs import Scaling
from fabricmark.report.plots import MOST_SERIES, Plot, Series, not_drawn, slug
from fabricmark.report.svg import text
from fabricmark.results.scaling import Point, devices_used, judged

FEWEST_RANKS = 2
MODES = ("weak", "strong")
SHARED = "Ranks that share a device have no ideal."
NORMALISED = ("per_replication", "per_bank", "per_100_mhz", "per_replication_100_mhz", "per_bank_100_mhz")


@dataclass(frozen=True)
class Line:
    """Speed-up over numbers of ranks, against the fewest, which come first.

    `efficiencies`: None where there is no ideal.
    """

    name: str
    ranks: Sequence[int]
    speed_ups: Sequence[float]
    efficiencies: Sequence[float | None]

    def shares(self) -> list[tuple[int, float]]:
        """(ranks, share of the ideal speed-up [%]) where there is one; nothing where only the fewest have."""
        pairs = zip(self.ranks, self.efficiencies, strict=True)
        known = [(ranks, 100 * share) for ranks, share in pairs if share is not None]
        return known if len(known) >= FEWEST_RANKS else []


def speed_up_lines(groups: Sequence[Group]) -> list[Line]:
    """Rates of one benchmark's groups that differ in ranks and in what follows from them."""
    found: dict[tuple, dict[int, Point]] = {}
    for group in groups:
        ranks = group.runs[0].ranks
        if ranks is None:  # of a log that does not say
            continue
        devices = devices_used(group.runs[0])
        rest = _rest(group)
        for metric, points in group.condensed:
            entry = metric.measurement
            if entry.kind == "emulated" or entry.better != "higher" or points > 1 or entry.best <= 0:
                continue
            key = (entry.name, tuple(entry.axes.items()), entry.unit, entry.kind, rest)
            points_of = found.setdefault(key, {})
            if ranks not in points_of or entry.best > points_of[ranks].best:
                points_of[ranks] = Point(ranks, devices, entry.best)
    made = []
    long = {key: points_of for key, points_of in found.items() if len(points_of) >= FEWEST_RANKS}
    several = len({key[0] for key in long}) > 1
    common = set.intersection(*(set(key[-1]) for key in long)) if long else set()
    for (name, axes, _, kind, rest), points_of in long.items():
        what = families.axes_text(dict(axes))
        words = [families.words(name)] if several or not what else []
        words += [what] if what else []
        words += [field_text(*item) for item in rest if item not in common]
        counts = sorted(points_of)
        first = points_of[counts[0]]
        pairs = [judged("weak", "higher", kind, first, points_of[count]) for count in counts]
        made.append(Line(f"{', '.join(words)} ({kind})", counts, *zip(*pairs, strict=True)))
    return made


def _rest(group: Group) -> tuple[tuple[str, object], ...]:
    """What tells a group from the others beside its ranks."""
    return tuple(item for item in group.coordinates.items() if item[0] not in ("ranks", "launch"))


def plots(groups: Sequence[Group]) -> list[Plot]:
    """Speed-up and efficiency of one benchmark; nothing where all runs had the same number of ranks."""
    changed = changed_with_ranks(groups)
    note = f"Beside the ranks, these differ: {', '.join(changed)}." if changed else ""
    return from_lines(f"{groups[0].benchmark}:", speed_up_lines(groups), note)


def changed_with_ranks(groups: Sequence[Group]) -> list[str]:
    """Parameters that differ between groups which nothing but their ranks tells apart."""
    alike = grouped((_rest(group), group) for group in groups)
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
            columns = zip(entry["ranks"], entry["speed_up"], entry["efficiency"], strict=True)
            known = [column for column in columns if column[1] is not None]
            if entry["mode"] == mode and len(known) >= FEWEST_RANKS:
                found.append(Line(f"{_operation(entry)} ({entry['kind']})", *zip(*known, strict=True)))
        drawn += from_lines(f"{document['benchmark']} on {document['device']}: {mode}", found)
    return drawn


def _operation(entry: Mapping) -> str:
    return families.metric_text(entry["name"], entry["axes"])


def from_lines(head: str, found: Sequence[Line], note: str = "") -> list[Plot]:
    """The two plots of these lines, with a note; one where nothing has an ideal; none of no lines."""
    if not found:
        return []
    shown = found[:MOST_SERIES]
    shared = SHARED if any(None in line.efficiencies for line in shown) else ""
    left = not_drawn(len(found) - MOST_SERIES, "{} further lines are left out.", shared)
    left = f"{note} {left}".strip()
    ranks = families.distinct(count for line in shown for count in line.ranks)
    fewest = counted(ranks[0], "rank")
    mode = head.rpartition(" ")[2]
    part = f"{mode} scaling" if mode in MODES else ""
    family = part or "scaling"
    if len(ranks) == FEWEST_RANKS:
        return [of_two(head, family, shown, fewest, left)]
    ups = [Series(line.name, line.ranks, line.speed_ups, "line", i) for i, line in enumerate(shown)]
    shares = [
        Series(line.name, [ranks for ranks, _ in known], [share for _, share in known], "line", i)
        for i, line in enumerate(shown)
        if (known := line.shares())
    ]
    ideal = families.distinct(count for line in shown for count, _ in line.shares())
    if ideal:
        ups.append(Series("ideal", ideal, [count / ranks[0] for count in ideal], "dotted", None))
        shares.append(Series("ideal", ideal, [100] * len(ideal), "dotted", None))
    common = {"x_label": "ranks", "x_ticks": [(count, str(count)) for count in ranks], "left_out": left}
    common |= {"family": family, "part": part}
    up = Plot(
        slug(head, "speed-up"), f"{head} scaling, speed-up", y_label=f"speed-up over {fewest}", series=ups,
        **common,
    )  # fmt: skip
    share = replace(
        up, slug=slug(head, "scaling-efficiency"), title=f"{head} scaling, efficiency", series=shares,
        y_label="speed-up / ideal speed-up [%]", unit="%",
    )  # fmt: skip
    return [up, share] if ideal else [up]


def of_two(head: str, family: str, found: Sequence[Line], fewest: str, left: str) -> Plot:
    """Two numbers of ranks: a bar each, as two points make no line."""
    most = found[0].ranks[-1]
    owned = [line for line in found if line.efficiencies[-1] is not None]
    shown = owned or found
    gained = [f"{line.name}: {line.speed_ups[-1]:.3g} times {fewest}" for line in shown]
    if owned:
        bars = [100 * line.efficiencies[-1] for line in shown]
        hover = [f"{words}, {share:.0f} % of ideal" for words, share in zip(gained, bars, strict=True)]
        what, over, unit, reference = "efficiency", " / ideal speed-up [%]", "%", 100
    else:
        bars, hover = [line.speed_ups[-1] for line in shown], gained
        what, over, unit, reference = "speed-up", "", "", 1
    return Plot(
        slug=slug(head, "scaling-efficiency" if owned else "speed-up"),
        title=f"{head} scaling, {what} of {most} ranks",
        x_label=f"speed-up of {most} ranks over {fewest}{over}",
        series=[Series(what, bars, range(len(shown)), "bars", 0, hover)],
        rows=[line.name for line in shown],
        left_out=left,
        unit=unit,
        family=family,
        part=f"{what} of {most} ranks",
        reference=reference,
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
            shown.insert(3, percent(share))
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
    return f"<details><summary>{text(caption)}: table</summary>{body}</details>"
