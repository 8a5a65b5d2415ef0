"""One line for each benchmark and device: what the report says before anything else."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fabricmark import report
from fabricmark.models._sweep import HEADLINES
from fabricmark.reporting import families
from fabricmark.reporting.groups import Figure, Group, field_text, worst_verdict


@dataclass(frozen=True)
class Headline:
    """The headline metric of a benchmark on a device: that of the best of its groups of runs.

    `verdict`: the worst of all these groups. `group`: the best one, of `groups`.
    """

    benchmark: str
    device: str
    kind: str
    group: Group
    groups: int
    figure: Figure
    verdict: str


def metric_of(group: Group) -> Figure | None:
    """The best point of a group's headline metric; of an unknown benchmark its first rate."""
    found = [figure for figure, _ in group.condensed]
    name, axes = HEADLINES.get(group.benchmark, (None, {}))
    chosen = [
        figure
        for figure in found
        if figure.measurement.name == name and axes.items() <= dict(figure.measurement.axes).items()
    ]
    chosen = chosen or [figure for figure in found if figure.measurement.better == "higher"][:1] or found[:1]
    return best(chosen) if chosen else None


def best(figures: Sequence[Figure]) -> Figure:
    """The largest rate or the shortest time."""
    sign = 1 if figures[0].measurement.better == "higher" else -1
    return max(figures, key=lambda figure: sign * figure.row.best)


def make(groups: Sequence[Group]) -> list[Headline]:
    """Headlines in the order of the groups; a valid group stands for its device before one that is not."""
    by_device: dict[tuple, list[tuple[Group, Figure]]] = {}
    for group in groups:
        figure = metric_of(group)
        if figure is not None:
            device = group.runs[0].device
            key = (group.benchmark, device["name"], device["platform"], group.fields["host"], figure.row.kind)
            by_device.setdefault(key, []).append((group, figure))
    made = []
    for (benchmark, device, _, _, kind), found in by_device.items():
        candidates = [entry for entry in found if entry[0].verdict() == "valid"] or found
        chosen = best([figure for _, figure in candidates])
        group = next(group for group, figure in candidates if figure is chosen)
        verdicts = Counter(run.verdict() for other, _ in found for run in other.runs)
        made.append(Headline(benchmark, device, kind, group, len(found), chosen, worst_verdict(verdicts)))
    return made


def run_text(entry: Headline) -> str:
    """`2 ranks (best of 3)`: what beside the device tells the run from others."""
    told = [field_text(*item) for item in entry.group.coordinates.items() if item[0] != "device"]
    told = told or [field_text("kernel", entry.group.fields["kernel"])]
    return ", ".join(told) + (f" (best of {entry.groups})" if entry.groups > 1 else "")


def reason(entry: Headline) -> str | None:
    """Why a headline is better than its limit; None where it is not."""
    above = report.reason_above(entry.group.known, [entry.figure.row])
    return None if above is None else f"{entry.benchmark}, {above}"


def metric_text(figure: Figure) -> str:
    """`bandwidth, triad`."""
    entry = figure.measurement
    where = families.axes_text(entry.axes)
    return f"{families.words(entry.name)}, {where}" if where else families.words(entry.name)
